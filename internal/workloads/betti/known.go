package betti

import (
	"strconv"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// knownNumbers returns the numbers that follow from an input's name: the solids at their first level, and
// the full box. It does not know repeated inputs, and of rolled inputs it knows only serpents.
func knownNumbers(input string, in *Image) (Numbers, bool) {
	level, image, err := parse(input)
	if err != nil {
		return Numbers{}, false
	}
	n, err := datasets.ParseName(image)
	if err != nil {
		return Numbers{}, false
	}
	if at, err := sublevelSet(in.Source, level); err != nil || at.Threshold != in.Threshold {
		return Numbers{}, false // the image does not match its name
	}
	if !n.FromFiles() && in.Threshold >= in.Ladder().Value(in.Ladder().Len()-1) {
		return Numbers{B0: 1}, true
	}
	if n.Get("repeat") != "" {
		return Numbers{}, false
	}
	if roll := n.Get("roll"); roll != "" {
		return rolled(n, in.Shape(), roll)
	}
	return solid(n, in.Source)
}

// rolled returns the numbers of a serpent that is cut at a slice and whose parts change places. The
// last slice of an even number is empty, so that the parts do not touch there. If one part is
// empty, there is one component.
func rolled(n datasets.Name, s grid.Shape, roll string) (Numbers, bool) {
	by, err := strconv.ParseInt(roll, 10, 64)
	if n.Generator != "serpent" || s.Dim() != 3 || s.D%2 != 0 || err != nil || by < 1 || by >= s.D {
		return Numbers{}, false
	}
	if by == s.D-1 {
		return Numbers{B0: 1}, true
	}
	return Numbers{B0: 2}, true
}

// solid returns the numbers of a solid inside its box.
func solid(n datasets.Name, in grid.Source) (Numbers, bool) {
	s := in.Shape()
	flat := s.Dim() == 2
	switch n.Generator {
	case "point", "ball", "serpent", "ramp":
		return Numbers{B0: 1}, true
	case "shell":
		return pierced(1, flat), true
	case "torus":
		return Numbers{B0: 1, B1: 1}, true
	case "links":
		return Numbers{B0: 2, B1: 2}, true
	case "drills":
		return pierced(count(n), true), true
	case "cavities":
		return pierced(count(n), flat), true
	case "sponge":
		return sponge(s)
	case "dots":
		return Numbers{B0: half(s.W) * half(s.H) * half(s.D)}, true
	case "checkerboard":
		return checkerboard(s, in)
	}
	return Numbers{}, false
}

// pierced returns the numbers of a piece with count holes through it, or with count cavities.
func pierced(count int64, through bool) Numbers {
	if through {
		return Numbers{B0: 1, B1: count}
	}
	return Numbers{B0: 1, B2: count}
}

// count returns the number of holes in a name.
func count(n datasets.Name) int64 {
	v, err := strconv.ParseInt(n.Get("count"), 10, 64)
	if err != nil {
		panic("betti: " + n.String() + " says no count") // its generator includes the count
	}
	return v
}

// sponge returns the numbers of a Menger sponge or Sierpiński carpet whose side is a power of 3. A
// carpet has eight times the holes of the previous one plus one. A sponge consists of 20 copies of
// the previous one, which meet in 24 squares that are carpets:
//
//	χ(S') = 20·χ(S) − 24·χ(C),
//
// where χ(C) is 1 minus the holes of a carpet. All shared corners and edges lie within these
// squares and meet there.
func sponge(s grid.Shape) (Numbers, bool) {
	if s.W != s.H || s.Dim() == 3 && s.D != s.W {
		return Numbers{}, false
	}
	holes, chi, side := int64(0), int64(1), int64(1)
	for ; side < s.W; side *= 3 {
		chi, holes = 20*chi-24*(1-holes), 8*holes+1
	}
	if side != s.W {
		return Numbers{}, false
	}
	if s.Dim() == 2 {
		return Numbers{B0: 1, B1: holes}, true
	}
	return Numbers{B0: 1, B1: 1 - chi}, true
}

func half(n int64) int64 { return (n + 1) / 2 }

// checkerboard returns the numbers of the voxels with an even sum of coordinates. The voxels meet
// at edges, except in a single line. Every other voxel inside the box is a cavity, or a hole in 2D,
// because its neighbours are even. The remaining number follows from the Euler characteristic,
// whose closed form counts cells.
func checkerboard(s grid.Shape, in grid.Source) (Numbers, bool) {
	v, ok := ecc.KnownCurve("checkerboard/shape="+s.String()+"/type="+in.Type().String(), in)
	long := 0
	for _, side := range []int64{s.W, s.H, s.D} {
		if side > 1 {
			long++
		}
	}
	if long < 2 {
		return Numbers{B0: half(max(s.W, s.H, s.D))}, ok
	}
	if s.Dim() == 2 {
		return Numbers{1, 1 - v.At(0), 0}, ok
	}
	b2 := half(max(0, s.W-2) * max(0, s.H-2) * max(0, s.D-2))
	return Numbers{1, 1 + b2 - v.At(0), b2}, ok
}
