package datasets

import (
	"fmt"
	"math/big"
	"testing"

	"eccbench/internal/grid"
)

func TestRamp(t *testing.T) {
	for _, c := range []struct {
		shape  string
		params string
		levels int64
	}{
		{"1x1", "type=uint8", 256}, {"7x5", "type=uint8", 256}, {"7x5x3", "type=uint8/levels=3", 3},
		{"16x16", "type=uint8", 256}, {"31x29x23", "type=int16/levels=1000", 1000},
		{"7x5", "levels=16777216", 1 << 24}, {"1500x3", "levels=1", 1}, {"1500x3", "type=uint16", 65536},
	} {
		s := openNamed(t, "ramp/shape="+c.shape+"/"+c.params)
		n := s.Shape().Voxels()
		for i, got := range imageLevels(t, s) {
			if want := int64(i) * c.levels / n; int64(got) != want {
				t.Fatalf("ramp %s %s: voxel %d is on level %d, want %d", c.shape, c.params, i, got, want)
			}
		}
	}
}

// TestRampFar reads the far end of an image whose products exceed 64 bits.
func TestRampFar(t *testing.T) {
	shape := grid.Shape{D: 1 << 30, H: 1 << 20, W: 8}
	s := openNamed(t, fmt.Sprintf("ramp/shape=%v/levels=16777216", shape))
	m := s.(*image)
	dst := make([]uint32, 8)
	for _, z := range []int64{0, 1 << 29, 1<<30 - 1} {
		y := shape.H - 1
		m.levels(dst, 0, y, z)
		for x, got := range dst {
			want := big.NewInt((z*shape.H+y)*shape.W + int64(x))
			want.Mul(want, big.NewInt(1<<24)).Div(want, big.NewInt(shape.Voxels()))
			if int64(got) != want.Int64() {
				t.Errorf("z %d x %d: level %d, want %v", z, x, got, want)
			}
		}
	}
}
