package blocked

import (
	"math"

	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// A Fault is a defect that tests plant to show that it is detected.
type Fault string

// The faults are typical mistakes in implementations of this kind.
const (
	OldBuffer Fault = "the field of one step less after an odd number"
	BorderOff Fault = "the neighbour beyond a border off by one"
	Fused     Fault = "multiplications fused with additions"
	LostEdge  Fault = "a component lost at the edge of a tile"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{OldBuffer, BorderOff, Fused, LostEdge} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{f} }

func (f Fault) kernel(right rows.Kernel) rows.Kernel {
	if f == Fused {
		return fused
	}
	return right
}

func (f Fault) cut(right cut) cut {
	if f == LostEdge { // small images have no tile edge otherwise
		right.columns = lead
	}
	return right
}

func (f Fault) steps(right int) int {
	if f == OldBuffer {
		right -= right % 2
	}
	return right
}

func (f Fault) boundary(right gvf.Boundary, n int) gvf.Boundary {
	if f == BorderOff && n > 2 {
		return gvf.Third - right
	}
	return right
}

// lost returns the number of columns that a tile omits at its end, unless the row ends there.
func (f Fault) lost(p pass, level, end, w int) int {
	if f == LostEdge && level == p.depth && p.component == 1 && end < w {
		return 1
	}
	return 0
}

// fused is a kernel with fused multiply-adds.
func fused(s *rows.Step) {
	for r := range s.Count {
		at := r * s.Stride
		for x := range s.N {
			i, k := at+x, r*s.FieldStride+x
			u := s.V[i+1]
			sum, sides := (s.V[i]+s.V[i+2])+(s.North[i]+s.South[i]), 4.0
			if s.Below != nil {
				sum, sides = sum+(s.Below[i]+s.Above[i]), 6
			}
			laplacian := float32(math.FMA(-sides, float64(u), float64(sum)))
			rest := float32(math.FMA(-float64(u-s.V0[k]), float64(s.B[k]), float64(float32(s.Mu*laplacian))))
			s.Dst[r*s.DstStride+x] = u + rest
		}
	}
}
