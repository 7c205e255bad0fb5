package gvf

import (
	"errors"
	"fmt"
	"slices"

	"eccbench/internal/grid"
)

// WithMask returns the flow of an image within the parts of a mask. Nothing flows between voxels of
// different mask values; the field is 0 where the mask is 0.
func (p *Problem) WithMask(mask grid.Source) (*Problem, error) {
	if mask.Shape() != p.Shape() {
		return nil, fmt.Errorf("the mask is %v and the image %v; want a mask of the same shape", mask.Shape(), p.Shape())
	}
	f, err := grid.Load(mask)
	if err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	return p.WithinParts(f.Marks())
}

// WithinParts is WithMask for a mask given by its marks (see grid.Field.Marks), one for each voxel.
func (p *Problem) WithinParts(mask []float32) (*Problem, error) {
	q := p.Flowing(p.V0, p.Steps)
	q.Mask = mask
	if !slices.ContainsFunc(q.Mask, func(v float32) bool { return v != 0 }) {
		return nil, errors.New("the mask is 0 everywhere: nothing of the image is left")
	}
	return q, nil
}

// maskable rejects problems that are not defined within a mask.
func (p *Problem) maskable() error {
	switch {
	case p.Mask == nil:
		return nil
	case p.Tol != 0:
		return errors.New("a steady state needs a whole image: with a mask, give a number of steps")
	case p.Boundary != Replicate:
		return fmt.Errorf("a mask goes with the boundary replicate, not %v: what is across its border is not looked at",
			p.Boundary)
	}
	return nil
}

// inside reports whether a voxel is part of the image.
func (p *Problem) inside(i int) bool { return p.Mask == nil || p.Mask[i] != 0 }

// A Seam is a voxel with a neighbour of another mask value.
type Seam struct {
	At     int64
	Inside bool
	// Neighbours are its neighbours before and after it along x, y and z. The voxel itself replaces a
	// neighbour across a border of the image or the mask.
	Neighbours [6]int64
}

// findSeams returns the seams of the mask, in the order of voxels.
func (p *Problem) findSeams() (list []Seam) {
	if p.Mask == nil {
		return nil
	}
	s := p.Shape()
	sizes, strides := [3]int64{s.W, s.H, s.D}, [3]int64{1, s.W, s.W * s.H}
	for i := range s.Voxels() {
		z, y, x := s.Coordinates(i)
		one := Seam{At: i, Inside: p.Mask[i] != 0}
		seam := false
		for a, at := range [3]int64{x, y, z} {
			for side, to := range [2]int64{at - 1, at + 1} {
				j := i + (to-at)*strides[a]
				switch {
				case to < 0 || to >= sizes[a]:
					j = i
				case p.Mask[j] != p.Mask[i]:
					j, seam = i, true
				}
				one.Neighbours[2*a+side] = j
			}
		}
		if seam {
			list = append(list, one)
		}
	}
	return list
}

// SeamsOf are the seams of voxels lo ≤ i < hi.
func (p *Problem) SeamsOf(lo, hi int64) []Seam {
	list := p.seams()
	first := func(i int64) int {
		at, _ := slices.BinarySearchFunc(list, i, func(s Seam, i int64) int { return int(s.At - i) })
		return at
	}
	return list[first(lo):first(hi)]
}

// mend sets V0 at the seams of a gradient computed across them, from the image f.
func (p *Problem) mend(v0 [][]float32, f []float32) {
	for _, s := range p.seams() {
		for c := range v0 {
			v0[c][s.At] = 0
			if s.Inside {
				v0[c][s.At] = 0.5 * float32(f[s.Neighbours[2*c+1]]-f[s.Neighbours[2*c]])
			}
		}
	}
}

// gradientWithin is the gradient by its definition. Beyond a border of the image or the mask, f is
// the value of the voxel itself.
func (p *Problem) gradientWithin(f []float32) [][]float32 {
	s := p.Shape()
	v0 := p.zeros().V
	sizes, strides := [3]int64{s.W, s.H, s.D}, [3]int64{1, s.W, s.W * s.H}
	for i, here := range p.Mask {
		if here == 0 {
			continue
		}
		z, y, x := s.Coordinates(int64(i))
		for c, at := range []int64{x, y, z}[:len(v0)] {
			value := func(to int64) float32 {
				if to < 0 || to >= sizes[c] {
					return f[i]
				}
				if j := int64(i) + (to-at)*strides[c]; p.Mask[j] == here {
					return f[j]
				}
				return f[i]
			}
			v0[c][i] = 0.5 * float32(value(at+1)-value(at-1))
		}
	}
	return v0
}

// sweepWithin takes a step of rows lo ≤ r < hi within the mask, by its definition.
func sweepWithin[T float32 | float64](p *Problem, next, v, v0, b []T, lo, hi int64) {
	s, mu := p.Shape(), T(p.Mu)
	for i := lo * s.W; i < hi*s.W; i++ {
		here := p.Mask[i]
		if here == 0 {
			next[i] = 0
			continue
		}
		z, y, x := s.Coordinates(i)
		beside := func(at, n, stride int64) T {
			pair := [2]T{v[i], v[i]}
			if at > 0 && p.Mask[i-stride] == here {
				pair[0] = v[i-stride]
			}
			if at < n-1 && p.Mask[i+stride] == here {
				pair[1] = v[i+stride]
			}
			return pair[0] + pair[1]
		}
		sum, sides := T(beside(x, s.W, 1)+beside(y, s.H, s.W)), T(4)
		if s.D > 1 {
			sum, sides = T(sum+beside(z, s.D, s.W*s.H)), 6
		}
		u := v[i]
		laplacian := T(sum - T(sides*u))
		next[i] = T(u + T(T(mu*laplacian)-T(T(u-v0[i])*b[i])))
	}
}
