// Package rows makes a step of the gradient vector flow for rows of voxels: in Go, and in vector
// instructions with the same rounding.
package rows

import "eccbench/internal/isa"

// A Step is one step of Count rows of N values of a component. Neighbour rows begin at their first
// voxel. Strides are the distances of rows, in values. The destination does not overlap the rest:
//
//	sum = (V(x−1) + V(x+1)) + (North + South)     and, of a volume, + (Below + Above)
//	Dst = V + (Mu·(sum − sides·V) − (V − V0)·B)   with 4 sides of a pixel, 6 of a voxel
//
// Each operation is rounded separately.
type Step struct {
	V            []float32 // begins with the neighbour before the first voxel, and holds the one behind the last
	North, South []float32
	Below, Above []float32 // nil in a plane
	V0, B        []float32
	Dst          []float32

	N, Count                       int
	DstStride, Stride, FieldStride int // of Dst; of V and its neighbours; of V0 and B
	Mu                             float32
}

// A Kernel takes a step.
type Kernel func(*Step)

// Available lists the instruction sets of this program on this machine, the fastest first.
func Available() []string { return isa.Available(assembled) }

// Choose returns the kernel of an instruction set, or the fastest for "".
func Choose(asked string) (Kernel, error) {
	name, err := isa.Choose(asked, Available())
	if err != nil {
		return nil, err
	}
	return kernel(name), nil
}

// Pixel is the step of one value of a plane, from its neighbours.
func Pixel(u, before, after, north, south, v0, b, mu float32) float32 {
	sum := float32(float32(before+after) + float32(north+south))
	return float32(u + float32(float32(mu*float32(sum-float32(4*u)))-float32(float32(u-v0)*b)))
}

// Voxel returns the next value of one voxel of a volume.
func Voxel(u, before, after, north, south, below, above, v0, b, mu float32) float32 {
	sum := float32(float32(float32(before+after)+float32(north+south)) + float32(below+above))
	return float32(u + float32(float32(mu*float32(sum-float32(6*u)))-float32(float32(u-v0)*b)))
}

// Portable is the kernel in Go.
func Portable(s *Step) {
	for r := range s.Count {
		at := r * s.Stride
		before, here, after := s.V[at:][:s.N], s.V[at+1:][:s.N], s.V[at+2:][:s.N]
		north, south := s.North[at:][:s.N], s.South[at:][:s.N]
		v0, b, dst := s.V0[r*s.FieldStride:][:s.N], s.B[r*s.FieldStride:][:s.N], s.Dst[r*s.DstStride:][:s.N]
		if s.Below == nil {
			for x, u := range here {
				dst[x] = Pixel(u, before[x], after[x], north[x], south[x], v0[x], b[x], s.Mu)
			}
			continue
		}
		below, above := s.Below[at:][:s.N], s.Above[at:][:s.N]
		for x, u := range here {
			dst[x] = Voxel(u, before[x], after[x], north[x], south[x], below[x], above[x], v0[x], b[x], s.Mu)
		}
	}
}
