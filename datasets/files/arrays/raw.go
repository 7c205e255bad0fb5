package arrays

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// openRaw describes a file that consists of little-endian voxels.
func openRaw(in format.Input) (*format.Body, error) {
	if in.Shape == (grid.Shape{}) || !in.Typed() {
		return nil, errors.New("a raw file contains neither its shape nor its type; give both")
	}
	if err := in.Shape.Check(); err != nil {
		return nil, err
	}
	b := &format.Body{Shape: in.Shape, Stored: in.Stored(), Truth: in.Other == "bool"}
	if in.OneSlice {
		b.Axes = 3
	}
	if b.Stored == 0 {
		return nil, fmt.Errorf("unknown element type %v; want one of %s",
			cmp.Or(in.Other, in.Type.String()), strings.Join(element.TypeNames(), ", "))
	}
	if extra := in.Size - b.Bytes(); extra != 0 && !in.Unsized {
		advice := ""
		if extra > 0 {
			advice = fmt.Sprintf(", or name the file in a MetaImage header (.mhd) with HeaderSize = %d if it starts with a "+
				"header", extra)
		}
		return nil, fmt.Errorf("the file has %d bytes but %v %v needs %d; correct the shape or the type%s",
			in.Size, b.Shape, b.Stored, b.Bytes(), advice)
	}
	return b, nil
}
