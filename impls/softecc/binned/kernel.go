package binned

import (
	"gonum.org/v1/gonum/floats"

	"eccbench/internal/isa"
)

// lanes is the number of values of a vector, lead the number of values before a row.
const (
	lanes = 16
	lead  = 16
)

// A value is the type of Y: float32, or float64 for a caller's float64 image.
type value interface{ float32 | float64 }

// A step is a strip of two consecutive planes of Y. Rows are stride values apart; voxel x of row r
// is value (r+1)·stride + lead + x. Values outside the image are +∞, or −∞ if its cells are
// excluded. There is a row before and after the strip, and a vector before and after each row.
type step[T value] struct {
	below, above        []T
	owed                []int32 // by row and x, stride apart: changes from the plane before, then of this one
	handed              [2][]int32
	rows, width, stride int64
	out                 []uint8 // int8 by row and x, width apart: the changes of the plane below; nil for none
}

// A kernel holds the functions of an instruction set.
type kernel[T value] struct {
	step func(*step[T])
	// tilt sets dst to Y of a row: see softecc.Tilt.
	tilt func(dst, row []T, of T, along []T)
	// place sets a row of shared values to those of a row, at least where there is a change.
	place func(row []shared, k *Nodes, y []T, changes []uint8)
	// dots sets out to the dot products of each column of all places with their taps, and adds adds
	// the first column of each place, g times, to its taps.
	dots func(out, nodes []float64, from []int32, table []float64, apart int)
	adds func(nodes, g []float64, from []int32, table []float64, apart int)
}

// inGo returns the functions in Go.
func inGo[T value]() kernel[T] {
	return kernel[T]{portable[T], tilted[T, T], placeRow[T], dotColumns, addColumns}
}

// available lists the instruction sets of this program on this machine, the fastest first.
func available() []string { return isa.Available(assembled) }

// choose returns the requested kernel, or the fastest for "".
func choose(asked string) (kernel[float32], error) {
	name, err := isa.Choose(asked, available())
	if err != nil || name == isa.Portable {
		return inGo[float32](), err
	}
	return vector(name), nil
}

// above reports, as 1 or 0, whether a > b.
func above[T value](a, b T) int32 {
	if a > b {
		return 1
	}
	return 0
}

// portable computes the change of each voxel of the lower plane: doc/proofs/extrema.md has the
// method. Along each row it compares the voxels v, their minima y with the next row, z with the
// next plane and yz with both. It passes the changes of yz to z, and changes of y and z to v. Among
// equal values the first in the order of softecc.First gets them.
func portable[T value](s *step[T]) {
	w := s.width
	toV, toZ := s.handed[0][:w], s.handed[1][:w] // passed to the next row's v and z
	clear(toV)
	clear(toZ)
	for r := range s.rows + 1 {
		at := r*s.stride + lead
		v0, w0 := s.below[at:][:w+1], s.above[at:][:w+1]
		v1, w1 := s.below[at+s.stride:][:w+1], s.above[at+s.stride:][:w+1]
		counted := r > 0
		var owed []int32
		var out []uint8
		if counted {
			owed = s.owed[(r-1)*s.stride:][:w]
			if s.out != nil {
				out = s.out[(r-1)*w:][:w]
			}
		}
		pv, pu := s.below[at-1], s.below[at+s.stride-1]
		pz, pzu := min(pv, s.above[at-1]), min(pu, s.above[at+s.stride-1])
		v, u := v0[0], v1[0]
		z, zu := min(v, w0[0]), min(u, w1[0])
		y, yz := min(v, u), min(z, zu)
		// falls from the voxel before
		fv, fy, fz, fyz := above(pv, v), above(min(pv, pu), y), above(pz, z), above(min(pz, pzu), yz)
		for x := range w {
			nv, nu := v0[x+1], v1[x+1]
			nz, nzu := min(nv, w0[x+1]), min(nu, w1[x+1])
			ny, nyz := min(nv, nu), min(nz, nzu)
			gv, gy, gz, gyz := above(v, nv), above(y, ny), above(z, nz), above(yz, nyz)

			ownY, ownYZ, ownZ := above(v, u)-1, above(z, zu)-1, above(v, z)-1 // all bits where v, z and v are first
			dy, dyz := gy-fy, gyz-fyz
			dz := toZ[x] + gz - fz - dyz&ownYZ
			dv := toV[x] - gv + fv + dy&ownY + dz&ownZ
			toV[x], toZ[x] = dy&^ownY, -(dyz &^ ownYZ)
			if counted {
				dv += owed[x]
				owed[x] = dz &^ ownZ
				if out != nil {
					out[x] = uint8(int8(dv))
				}
			}
			v, u, z, zu, y, yz = nv, nu, nz, nzu, ny, nyz
			fv, fy, fz, fyz = gv, gy, gz, gyz
		}
	}
}

func placeRow[T value](row []shared, k *Nodes, y []T, changes []uint8) {
	for x, c := range changes {
		if c != 0 {
			row[x/8].set(x%8, k.place(float64(y[x])))
		}
	}
}

func dotColumns(out, nodes []float64, from []int32, table []float64, apart int) {
	for j, first := range from {
		for i := range columns {
			out[i*len(from)+j] = floats.Dot(nodes[first:][:taps], table[j*apart+i*taps:][:taps])
		}
	}
}

func addColumns(nodes, g []float64, from []int32, table []float64, apart int) {
	for j, first := range from {
		floats.AddScaled(nodes[first:][:taps], g[j], table[j*apart:][:taps])
	}
}
