package files

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"eccbench/datasets/element"
	"eccbench/internal/grid"
)

// openRaw describes a file that consists of little-endian voxels.
func openRaw(in fileInput) (*fileBody, error) {
	if in.Shape == (grid.Shape{}) || !in.typed() {
		return nil, errors.New("a raw file contains neither its shape nor its type; give both")
	}
	if err := in.Shape.Check(); err != nil {
		return nil, err
	}
	b := &fileBody{shape: in.Shape, stored: in.Stored(), truth: in.Other == "bool"}
	if in.OneSlice {
		b.axes = 3
	}
	if b.stored == 0 {
		return nil, fmt.Errorf("unknown element type %v; want one of %s",
			cmp.Or(in.Other, in.Type.String()), strings.Join(element.TypeNames(), ", "))
	}
	if b.bytes() != in.size && !in.unsized {
		return nil, fmt.Errorf("the file has %d bytes but %v %v needs %d; correct the shape or the type",
			in.size, b.shape, b.stored, b.bytes())
	}
	return b, nil
}
