package files

import (
	"errors"
	"fmt"
	"slices"

	"eccbench/datasets/element"
)

// like returns an error unless a slice has the shape, type and scale of the first.
func (b *fileBody) like(first *fileBody) error {
	switch {
	case b.shape != first.shape || b.stored != first.stored:
		return fmt.Errorf("%v of %v, where the first slice is %v of %v; want slices of one shape and type",
			b.shape, b.stored, first.shape, first.stored)
	case b.bits != first.bits:
		return errors.New("not as many bits of each voxel count as in the first slice; save them alike")
	case b.big != first.big || b.otherSign != first.otherSign:
		return errors.New("its byte order differs from that of the first slice; save all slices in one byte order")
	}
	return nil
}

// A valueScale converts a stored value to stored·slope + inter.
type valueScale struct{ slope, inter float64 }

func (b *fileBody) scale() valueScale {
	if !b.scaled {
		return valueScale{1, 0}
	}
	return valueScale{b.slope, b.inter}
}

// scaledBy returns an error unless an image has a scale.
func (b *fileBody) scaledBy(want valueScale) error {
	if got := b.scale(); got != want {
		return fmt.Errorf("its values are scaled by %v and %v, where %v and %v were expected; save the slices alike",
			got.slope, got.inter, want.slope, want.inter)
	}
	return nil
}

// setScales sets the scale of a volume, or the scales of its slices if they differ.
func (b *fileBody) setScales(scales []valueScale) {
	b.slope, b.inter = scales[0].slope, scales[0].inter
	b.scaled, b.scales = scales[0] != valueScale{1, 0}, nil
	if slices.ContainsFunc(scales, func(s valueScale) bool { return s != scales[0] }) {
		b.scaled, b.scales = true, scales
	}
}

// scaleSlices returns the values of stored voxels whose slices have different scales. Int8 values
// were widened.
func (b *fileBody) scaleSlices(data []byte) []float64 {
	values := make([]float64, 0, b.shape.Voxels())
	size := len(data) / len(b.scales)
	for i, s := range b.scales {
		values = append(values, element.Rescaled(data[i*size:][:size], b.stored, s.slope, s.inter)...)
	}
	return values
}
