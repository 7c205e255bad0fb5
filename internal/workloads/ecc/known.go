package ecc

import (
	"strconv"

	"eccbench/datasets"
	"eccbench/internal/grid"
)

// KnownCurve returns the VCEC that follows from an input's name (a closed form). It covers solids of
// known topology in a box that the background fills, lattices whose cells can be counted, and
// images whose sublevel sets are all contractible. Seeded, rolled and repeated inputs have none.
func KnownCurve(name string, in grid.Source) (VCEC, bool) {
	n, err := datasets.ParseName(name)
	if err != nil || n.Get("roll")+n.Get("repeat") != "" && n.Generator != "constant" {
		return nil, false
	}
	s := in.Shape()
	switch n.Generator {
	case "constant", "point", "ball", "ramp", "serpent":
		return VCEC{{0, 1}}, true
	case "shell":
		if s.Dim() == 3 {
			return solid(2), true
		}
		return solid(0), true
	case "drills", "cavities":
		holes, err := strconv.ParseInt(n.Get("count"), 10, 64)
		if n.Generator == "drills" || s.Dim() == 2 {
			holes = -holes
		}
		return solid(1 + holes), err == nil
	case "torus", "links":
		return solid(0), true
	case "dots":
		if s.Voxels() > 1 {
			return solid(half(s.W) * half(s.H) * half(s.D)), true
		}
		return solid(1), true
	case "checkerboard":
		return solid(checkerboard(s)), true
	}
	return nil, false
}

// solid is the VCEC of a set of Euler characteristic chi at level 0, in a box that level 1 fills.
func solid(chi int64) VCEC { return FromDense([]int64{chi, 1 - chi}) }

func half(n int64) int64 { return (n + 1) / 2 }

// checkerboard returns the Euler characteristic of the voxels with an even sum of coordinates. Any
// cell inside the box belongs to two adjacent voxels, one of them even. So the set is the full box
// (χ = 1) minus the odd voxels, and minus their squares, edges and corners that no other voxel has.
func checkerboard(s grid.Shape) int64 {
	odd := func(a, b, c, at int64) int64 { // number of odd voxels in an a×b×c grid whose origin has the parity of at
		n := a * b * c
		if at%2 == 0 {
			return n / 2
		}
		return half(n)
	}
	sizes := [3]int64{s.D, s.H, s.W}
	missing := -odd(s.D, s.H, s.W, 0)
	// For each side, edge and corner of the box, fix one, two or three axes at either end. The sign
	// is that of the remaining dimension.
	for mask := 1; mask < 8; mask++ {
		for end := range 8 {
			if end&^mask != 0 {
				continue
			}
			left := [3]int64{1, 1, 1}
			var at, fixed int64
			for axis, n := range sizes {
				switch {
				case mask>>axis&1 == 0:
					left[axis] = n
				case end>>axis&1 == 1:
					at += n - 1
					fixed++
				default:
					fixed++
				}
			}
			n := odd(left[0], left[1], left[2], at)
			if fixed == 2 {
				n = -n
			}
			missing += n
		}
	}
	return 1 - missing
}
