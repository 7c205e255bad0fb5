package format

import (
	"errors"
	"fmt"
	"slices"

	"eccbench/datasets/element"
)

// CheckLike returns an error unless a slice has the format, shape and type of the first, and a position if that has
// one.
func (b *Body) CheckLike(first *Body) error {
	switch {
	case b.Format != first.Format:
		return fmt.Errorf("a %s file, where the first slice is a %s file; want slices of one format", b.Format, first.Format)
	case b.Place == nil && first.Place != nil:
		return errors.New("it has no position, unlike the first slice; convert it first: dcm2niix -z y FOLDER")
	case b.Place != nil && first.Place == nil:
		return errors.New("it has a position, unlike the first slice; convert it first: dcm2niix -z y FOLDER")
	case b.Shape != first.Shape || b.Stored != first.Stored:
		return fmt.Errorf("%v of %v, where the first slice is %v of %v; want slices of one shape and type",
			b.Shape, b.Stored, first.Shape, first.Stored)
	case b.Bits != first.Bits:
		return errors.New("not as many bits of each voxel count as in the first slice; save them alike")
	case b.Big != first.Big || b.OtherSign != first.OtherSign:
		return errors.New("its byte order differs from that of the first slice; save all slices in one byte order")
	}
	return nil
}

// A Scale converts a stored value to stored·slope + inter.
type Scale struct{ Slope, Inter float64 }

func (b *Body) Scale() Scale {
	if !b.Scaled {
		return Scale{1, 0}
	}
	return Scale{b.Slope, b.Inter}
}

// ScaledBy returns an error unless an image has a scale.
func (b *Body) ScaledBy(want Scale) error {
	if got := b.Scale(); got != want {
		return fmt.Errorf("its values are scaled by %v and %v, where %v and %v were expected; save the slices alike",
			got.Slope, got.Inter, want.Slope, want.Inter)
	}
	return nil
}

// SetScales sets the scale of a volume, or the scales of its slices if they differ.
func (b *Body) SetScales(scales []Scale) {
	b.Slope, b.Inter = scales[0].Slope, scales[0].Inter
	b.Scaled, b.scales = scales[0] != Scale{1, 0}, nil
	if slices.ContainsFunc(scales, func(s Scale) bool { return s != scales[0] }) {
		b.Scaled, b.scales = true, scales
	}
}

// scaleSlices returns the values of stored voxels whose slices have different scales. Int8 values
// were widened.
func (b *Body) scaleSlices(data []byte) []float64 {
	values := make([]float64, 0, b.Shape.Voxels())
	size := len(data) / len(b.scales)
	for i, s := range b.scales {
		values = append(values, element.Rescaled(data[i*size:][:size], b.Stored, s.Slope, s.Inter)...)
	}
	return values
}
