package datasets

import (
	"bytes"
	"testing"

	"eccbench/internal/grid"
)

// The variants of a stored image are in the same folder.
func TestStoredVariants(t *testing.T) {
	names, err := Variants("noise/shape=16x16/levels=256/type=uint8/seed=1/path=/a/b", 2)
	if err != nil || len(names) != 2 || names[1] != "noise/shape=16x16/levels=256/type=uint8/seed=2/path=/a/b" {
		t.Error(names, err)
	}
}

func TestPhantom(t *testing.T) {
	for _, name := range []string{"phantom/shape=60x50x40/type=float32", "phantom/shape=120x90/type=uint8/smooth=2"} {
		s := openNamed(t, name)
		data := load(t, s)
		part := grid.NewBuffer(7 * grid.SliceBytes(s))
		if err := s.ReadSlab(part, 11, 18); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(part, data[11*grid.SliceBytes(s):][:len(part)]) {
			t.Errorf("%s: a slab alone has other bytes", name)
		}
		levels := make([]int32, s.Shape().Voxels())
		grid.NewConverter(s.Type(), s.Ladder()).Convert(levels, data)
		var count [phantomLabels]int
		for _, k := range levels {
			count[k]++
		}
		for label, n := range count {
			if n == 0 {
				t.Errorf("%s: no voxel with label %d: %v", name, label, count)
			}
		}
		if levels[0] != phantomAir || float64(count[phantomAir]) < 0.15*float64(len(levels)) {
			t.Errorf("%s: air in %d of %d voxels", name, count[phantomAir], len(levels))
		}
	}
}
