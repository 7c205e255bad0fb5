package betti

import (
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A voxelSet is a set of voxels in a box by the definition. It shares no code with the program.
type voxelSet struct {
	s  grid.Shape
	in map[[3]int64]bool
}

// components counts the components of the set, or of its complement in a box with one more voxel on
// each side.
func (v voxelSet) components(inside, corners bool) (n int64) {
	margin := [3]int64{1, 1, 1}
	if v.s.Dim() == 2 {
		margin[0] = 0
	}
	seen := map[[3]int64]bool{}
	var fill func(p [3]int64)
	fill = func(p [3]int64) {
		seen[p] = true
		for k := range int64(27) {
			d := [3]int64{k/9 - 1, k/3%3 - 1, k%3 - 1}
			q := [3]int64{p[0] + d[0], p[1] + d[1], p[2] + d[2]}
			if far := d[0]*d[0] + d[1]*d[1] + d[2]*d[2]; far == 0 || far > 1 && !corners || seen[q] || v.in[q] != inside {
				continue
			}
			if q[0] < -margin[0] || q[0] >= v.s.D+margin[0] || q[1] < -1 || q[1] > v.s.H || q[2] < -1 || q[2] > v.s.W {
				continue
			}
			fill(q)
		}
	}
	for z := -margin[0]; z < v.s.D+margin[0]; z++ {
		for y := int64(-1); y <= v.s.H; y++ {
			for x := int64(-1); x <= v.s.W; x++ {
				if p := [3]int64{z, y, x}; !seen[p] && v.in[p] == inside {
					n++
					fill(p)
				}
			}
		}
	}
	return n
}

// characteristic counts each cell once: all faces of voxels that are top cells, or the cubes
// spanned by vertices.
func (v voxelSet) characteristic(vertices bool) (chi int64) {
	cells := map[[3]int64]bool{} // at half steps: vertices have even coordinates, voxels odd ones
	for p := range v.in {
		for k := range int64(27) {
			d := [3]int64{k/9 - 1, k/3%3 - 1, k%3 - 1}
			if v.s.Dim() == 2 && d[0] != 0 {
				continue
			}
			cell := [3]int64{2*p[0] + d[0], 2*p[1] + d[1], 2*p[2] + d[2]}
			if !vertices {
				cells[cell] = true
				continue
			}
			all := true
			for m := range int64(8) {
				q := p
				for axis := range q {
					if m>>axis&1 == 1 {
						q[axis] += d[axis]
					}
				}
				all = all && v.in[q]
			}
			if all {
				cells[cell] = true
			}
		}
	}
	for cell := range cells {
		odd := cell[0]&1 + cell[1]&1 + cell[2]&1
		if !vertices && v.s.Dim() == 2 {
			odd += 2 // a pixel is a square with even coordinates
		} else if !vertices {
			odd += 3
		}
		chi += 1 - 2*(odd&1)
	}
	return chi
}

// numbers returns the Betti numbers by the definition.
func (v voxelSet) numbers(vertices bool) Numbers {
	b0, enclosed, chi := v.components(true, !vertices), v.components(false, vertices)-1, v.characteristic(vertices)
	if v.s.Dim() == 2 {
		return Numbers{B0: b0, B1: b0 - chi}
	}
	return NewNumbers(b0, enclosed, chi)
}

// setAt returns the set of an image at a value within a mask.
func setAt(f *grid.Field, mask []byte, value float32, superlevel bool) voxelSet {
	v := voxelSet{f.Shape(), map[[3]int64]bool{}}
	for i, x := range f.Floats() {
		if mask[i] != 0 && (superlevel && x >= value || !superlevel && x <= value) {
			n := int64(i)
			v.in[[3]int64{n / (v.s.H * v.s.W), n / v.s.W % v.s.H, n % v.s.W}] = true
		}
	}
	return v
}

// maskedImages returns small images with a mask: random ones, one of all voxels and one of none.
func maskedImages(t *testing.T) (list []struct {
	image  *grid.Field
	mask   []byte
	masked grid.Source
}) {
	rng := rand.New(rand.NewPCG(51, 6))
	for _, f := range fewLevels(t) {
		for _, share := range []int{0, 1, 3, 6, 8} { // eighths
			mask := make([]byte, f.Shape().Voxels())
			for i := range mask {
				if rng.IntN(8) < share {
					mask[i] = byte(1 + rng.IntN(255))
				}
			}
			within, err := grid.Trusted(f.Shape(), grid.Uint8, mask, grid.Identity(grid.Uint8))
			if err != nil {
				t.Fatal(err)
			}
			s, err := views.Mask(f, within)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, struct {
				image  *grid.Field
				mask   []byte
				masked grid.Source
			}{f, mask, s})
		}
	}
	return list
}

// Numbers of masked images by views and by flood fill agree with the definition, at levels and
// other values. The shares describe the same sets.
func TestMaskedNumbers(t *testing.T) {
	for _, m := range maskedImages(t) {
		for _, c := range everyConvention() {
			c.Masked = true
			for _, value := range []float32{-1, 0, 1.5, 3, 5, 9} {
				in := &Image{m.masked, Threshold(m.masked, grid.Numbers(float64(value))[0], c.Superlevel)}
				want := setAt(m.image, m.mask, value, c.Superlevel).numbers(c.Vertices)
				if got, err := ByFlooding(in, c); err != nil || got != want {
					t.Fatalf("%v %+v at %v: flood fill says %v, the definition %v (%v)", m.image.Shape(), c, value, got, want, err)
				}
				w := InConvention(Workload(bench.FromFunc(func(view *Image) (Numbers, error) { return ByFlooding(view, ecc.Convention{}) })), c)
				if got, err := bench.Answer(w.Impls[0], in, bench.Conditions{}); err != nil || got != want {
					t.Fatalf("%v %+v at %v: views say %v, the definition %v (%v)", m.image.Shape(), c, value, got, want, err)
				}
				sets, err := Sets(m.masked, grid.Numbers(float64(value)), c)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := ByFlooding(&Image{Source: sets}, ecc.Convention{Vertices: c.Vertices}); err != nil || got != want {
					t.Fatalf("%v %+v at %v: shares say %v, the definition %v (%v)", m.image.Shape(), c, value, got, want, err)
				}
			}
		}
	}
}

// Curves of masked images by views agree with the definition, and the laws detect an error in any
// number.
func TestMaskedCurves(t *testing.T) {
	for n, m := range maskedImages(t) {
		for _, c := range everyConvention() {
			c.Masked = true
			want, before := Curves{}, Numbers{}
			for i := range m.image.Ladder().Len() {
				level := i
				if c.Superlevel {
					level = m.image.Ladder().Len() - 1 - i
				}
				n := setAt(m.image, m.mask, m.image.Ladder().Value(level), c.Superlevel).numbers(c.Vertices)
				if n != before {
					want = append(want, Change{level, n.Minus(before)})
				}
				before = n
			}
			if c.Superlevel {
				slices.Reverse(want)
			}
			view := curvesViewer{bench.FromFunc(func(view grid.Source) (Curves, error) { return filledCurves(view, ecc.Convention{}) }), c}
			if got, err := bench.Answer(view, m.masked, bench.Conditions{}); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v %+v: views say %v, the definition %v (%v)", m.image.Shape(), c, got, want, err)
			}
			if d, err := united(m.masked, want, fingerprint.Draw(1).WithConvention(c)); d != nil || err != nil {
				t.Fatalf("%v %+v: %v is the definition and refuted: %v (%v)", m.image.Shape(), c, want, d, err)
			}
			if len(want) == 0 {
				continue
			}
			wrong := slices.Clone(want)
			at := &wrong[n%len(wrong)].Numbers // χ is unchanged: only unions detect the error
			at.B0, at.B1 = at.B0+1, at.B1+1
			if d, err := united(m.masked, wrong, fingerprint.Draw(1).WithConvention(c)); d == nil || err != nil {
				t.Fatalf("%v %+v: %v is not the definition and no law says so (%v)", m.image.Shape(), c, wrong, err)
			}
			if d, err := Unions(ecc.Convention{Superlevel: c.Superlevel, Vertices: c.Vertices, Masked: true}).Check(m.masked, want, nil); d != nil || err != nil {
				t.Fatalf("%v (%v)", d, err)
			}
		}
	}
}

// A sublevel set within a mask is the set of the image with a greater value outside the mask, a
// superlevel set with a lesser one.
func TestMaskedIsReplaced(t *testing.T) {
	for _, m := range maskedImages(t) {
		for _, c := range everyConvention() {
			replaced := gridtest.Image(t, m.image.Shape(), grid.Int16, grid.Identity(grid.Int16), func(i int64) float64 {
				switch {
				case m.mask[i] != 0:
					return float64(m.image.Floats()[i])
				case c.Superlevel:
					return -1
				}
				return 6
			})
			for value := range 6 {
				want, err := ByFlooding(&Image{replaced, float32(value)}, c)
				if err != nil {
					t.Fatal(err)
				}
				within := c
				within.Masked = true
				if got, err := ByFlooding(&Image{m.masked, float32(value)}, within); err != nil || got != want {
					t.Fatalf("%v %+v at %v: %v, with other values outside %v (%v)", m.image.Shape(), c, value, got, want, err)
				}
			}
		}
	}
}
