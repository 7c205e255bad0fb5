package images

import (
	"bytes"
	"image/png"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
)

// A picture has the middle slice, lighter where the field is stronger, and arrows that point
// along it where it is not 0.
func TestDrawField(t *testing.T) {
	s := grid.Shape{D: 3, H: 4, W: 8}
	f := gvf.Flow{V: [][]float32{make([]float32, s.Voxels()), make([]float32, s.Voxels()), make([]float32, s.Voxels())}}
	for y := range s.H { // the right half of the middle slice goes along x
		for x := s.W / 2; x < s.W; x++ {
			f.V[0][(s.H+y)*s.W+x] = 0.5
		}
		f.V[1][y*s.W] = 9 // other slices are invisible
	}
	var b bytes.Buffer
	if err := drawField(&b, s, f); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := m.Bounds().Size(); size.X != 1024 || size.Y != 512 {
		t.Fatalf("%v", size)
	}
	count := map[uint32]int{}
	for v := range 512 {
		for u := range 1024 {
			r, _, blue, _ := m.At(u, v).RGBA()
			switch {
			case r != blue && u < 500: // an arrow of the right half may reach across the middle
				t.Fatalf("an arrow where the field is 0, at %d, %d", u, v)
			case r != blue:
				count[1]++
			case (r > 0) != (u >= 512):
				t.Fatalf("%d at %d, %d", r, u, v)
			}
		}
	}
	if count[1] < 1000 {
		t.Errorf("%d pixels of arrows", count[1])
	}
	for _, s := range []grid.Shape{{D: 1, H: 1, W: 1}, {D: 1, H: 3000, W: 1}} { // zeros, long and thin
		b.Reset()
		f := gvf.Flow{V: [][]float32{make([]float32, s.Voxels()), make([]float32, s.Voxels())}}
		if err := drawField(&b, s, f); err != nil || b.Len() == 0 {
			t.Error(s, err)
		}
	}
}
