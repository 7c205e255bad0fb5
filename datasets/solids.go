package datasets

import (
	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

// A solid is an image of two levels: 0 inside and 1 outside. Distances are between centres of
// voxels, in half voxels. They are integers, so that the middle of an even axis is exact.

// A predicate reports whether the voxel at (x, y, z) is inside.
type predicate func(x, y, z int64) bool

// solid returns the maker of a solid's source; period is that of image.
func solid(shape grid.Shape, t grid.Type, period int64, inside predicate) maker {
	return func() (grid.Source, error) {
		ladder, err := grid.Affine(0, 1, 2)
		if err != nil {
			return nil, err
		}
		s := random.Scale{Typ: t, Ladder: ladder}
		s.Prepare()
		return &image{shape: shape, scale: s, period: period, levels: func(dst []uint32, x, y, z int64) {
			for i := range dst {
				dst[i] = 1
				if inside(x+int64(i), y, z) {
					dst[i] = 0
				}
			}
		}}, nil
	}
}

func constantGenerator() generator {
	return newGenerator("constant", "every voxel is 0, the only level",
		"constant/shape=64x64x64/type=uint8", []Param{shapeParam(), typeParam()}, func(r *reading) maker {
			shape, t := r.shape(), r.elementType()
			return func() (grid.Source, error) {
				ladder, err := grid.Affine(0, 1, 1)
				s := random.Scale{Typ: t, Ladder: ladder}
				return &image{shape: shape, scale: s, period: 1, levels: func(dst []uint32, _, _, _ int64) { clear(dst) }}, err
			}
		})
}

func pointGenerator() generator {
	return newGenerator("point", "0 in the voxel at the middle (⌊size/2⌋ on each axis), 1 elsewhere",
		"point/shape=64x64x64/type=uint8", []Param{shapeParam(), typeParam()}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			return solid(s, t, 0, func(x, y, z int64) bool { return x == s.W/2 && y == s.H/2 && z == s.D/2 })
		})
}

func dotsGenerator() generator {
	return newGenerator("dots",
		"0 where every coordinate is even, 1 elsewhere: ⌈W/2⌉·⌈H/2⌉·⌈D/2⌉ voxels that do not touch",
		"dots/shape=64x64x64/type=uint8", []Param{shapeParam(), typeParam()}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			return solid(s, t, evenPeriod(s), func(x, y, z int64) bool { return (x|y|z)&1 == 0 })
		})
}

func checkerboardGenerator() generator {
	return newGenerator("checkerboard", "0 where x+y+z is even, 1 elsewhere",
		"checkerboard/shape=64x64x64/type=uint8", []Param{shapeParam(), typeParam()}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			return solid(s, t, evenPeriod(s), func(x, y, z int64) bool { return (x+y+z)&1 == 0 })
		})
}

// evenPeriod is the period of a pattern that alternates from slice to slice. An odd number of
// slices has a seam that moves with each rotation.
func evenPeriod(s grid.Shape) int64 {
	if s.Slices()%2 == 0 {
		return 2
	}
	return 0
}

func ballGenerator() generator {
	return newGenerator("ball", "0 within a ball, a disc in 2D, at the middle of the image, 1 elsewhere",
		"ball/shape=64x64x64/type=uint8/radius=20", []Param{
			shapeParam(), typeParam(),
			{"radius", "3/8 of the shortest axis", "whole voxels, at most half the shortest axis"},
		}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			return solid(s, t, 0, ball(s, r.radius(s)))
		})
}

// shortest returns the length of the shortest axis of the image.
func shortest(s grid.Shape) int64 {
	if s.Dim() == 2 {
		return min(s.H, s.W)
	}
	return min(s.D, s.H, s.W)
}

// radius reads the radius of a ball that fits into the image.
func (r *reading) radius(s grid.Shape) int64 {
	m := shortest(s)
	if m < 3 {
		r.reject("shape=%v: want at least 3 voxels on every axis, for a radius of 1", s)
		return 1
	}
	return r.integer("radius", m*3/8, 1, m/2, ", half the shortest axis of shape "+s.String())
}

// ball contains the voxels within radius of the middle of the image.
func ball(s grid.Shape, radius int64) predicate {
	reach := 2 * radius
	return func(x, y, z int64) bool {
		dx, dy, dz := 2*x-(s.W-1), 2*y-(s.H-1), 2*z-(s.D-1)
		return dx*dx+dy*dy+dz*dz <= reach*reach
	}
}

func shellGenerator() generator {
	return newGenerator("shell", "0 between two spheres, circles in 2D, at the middle of the image, 1 elsewhere",
		"shell/shape=64x64x64/type=uint8/radius=20/thickness=3", []Param{
			shapeParam(), typeParam(),
			{"radius", "3/8 of the shortest axis", "of the outer sphere, whole voxels, at most half the shortest axis"},
			{"thickness", "2", "whole voxels, at least 2 and less than the radius"},
		}, readShell)
}

func readShell(r *reading) maker {
	s, t := r.shape(), r.elementType()
	radius := r.radius(s)
	thickness := int64(2)
	if radius < 3 {
		r.reject("shape=%v with radius=%d: want a radius of at least 3, for a thickness of 2 and a hollow", s, radius)
	} else {
		thickness = r.integer("thickness", 2, 2, radius-1, ", so that the hollow is open")
	}
	outer, hollow := ball(s, radius), ball(s, radius-thickness)
	return solid(s, t, 0, func(x, y, z int64) bool { return outer(x, y, z) && !hollow(x, y, z) })
}

// maxTorus limits the outer radius of a torus, so that fourth powers in half voxels fit an int64.
const maxTorus = 1 << 13

func torusGenerator() generator {
	return newGenerator("torus", "3D: 0 within a solid torus around z at the middle of the image, 1 elsewhere",
		"torus/shape=64x64x32/type=uint8/radius=16/tube=6", []Param{
			shapeParam(), typeParam(),
			{"tube", "1/8 of the shortest axis, at least 2", "radius of the tube, whole voxels, at least 2"},
			{"radius", "1/4 of the shortest axis, at least tube+2",
				"from the middle to the middle of the tube, whole voxels, at least tube+2"},
		}, readTorus)
}

func readTorus(r *reading) maker {
	s, t := r.shape(), r.elementType()
	if !r.solid3(s, 12, 12, 4, "a torus of radius 4 and tube 2") {
		return nil
	}
	m := min(shortest(s), 2*maxTorus)
	across := min(s.W, s.H) / 2
	tube := r.integer("tube", max(2, m/8), 2, min(s.D/2, across/2-1, maxTorus/4), ", so that it fits shape "+s.String())
	radius := r.integer("radius", max(tube+2, m/4), tube+2, min(across, maxTorus)-tube,
		", so that it has a hole and fits shape "+s.String())
	in := torus(radius, tube)
	return solid(s, t, 0, func(x, y, z int64) bool { return in(2*x-(s.W-1), 2*y-(s.H-1), 2*z-(s.D-1)) })
}

// torus reports whether a voxel is in a solid torus: √(a²+b²) is within tube of radius. The
// arguments are offsets from its centre in half voxels, the last one along its axis. With q = a² +
// b² + c² + (2·radius)² − (2·tube)² the condition is q ≤ 4·radius·√(a²+b²).
func torus(radius, tube int64) func(a, b, c int64) bool {
	reach := 2 * (radius + tube)
	return func(a, b, c int64) bool {
		if max(a, -a, b, -b) > reach || max(c, -c) > 2*tube {
			return false
		}
		ab := a*a + b*b
		q := ab + c*c + 4*(radius*radius-tube*tube)
		return q*q <= 16*radius*radius*ab
	}
}

func linksGenerator() generator {
	return newGenerator("links", "3D: 0 within two linked solid tori, the links of a chain, 1 elsewhere",
		"links/shape=64x48x48/type=uint8/radius=16/tube=4", []Param{
			shapeParam(), typeParam(),
			{"tube", "1/16 of the shortest axis, at least 1", "radius of the tubes, whole voxels"},
			{"radius", "the largest that fits",
				"of each link, from its middle to that of its tube, whole voxels, at least 2·tube+2"},
		}, readLinks)
}

// readLinks makes two tori with centres one radius apart along x. The tube of each passes through
// the centre of the other. The first one's axis is z, the second one's y. Their tubes are radius −
// 2·tube ≥ 2 apart, more than the diagonal of a voxel.
func readLinks(r *reading) maker {
	s, t := r.shape(), r.elementType()
	if !r.solid3(s, 14, 10, 10, "two links of radius 4 and tube 1") {
		return nil
	}
	m := min(shortest(s), 2*maxTorus)
	most := func(tube int64) int64 {
		return min((s.W-2*tube)/3, min(s.H, s.D)/2-tube, maxTorus-tube)
	}
	tubes := min((s.W-6)/8, (min(s.H, s.D)/2-2)/3, maxTorus/4)
	tube := r.integer("tube", max(1, m/16), 1, tubes, ", so that two links fit shape "+s.String())
	radius := r.integer("radius", most(tube), 2*tube+2, most(tube),
		", so that the links are apart and fit shape "+s.String())
	in := torus(radius, tube)
	return solid(s, t, 0, func(x, y, z int64) bool {
		dx, dy, dz := 2*x-(s.W-1), 2*y-(s.H-1), 2*z-(s.D-1)
		return in(dx+radius, dy, dz) || in(dx-radius, dz, dy)
	})
}

// solid3 checks that a 3D image has room for the smallest solid of a kind.
func (r *reading) solid3(s grid.Shape, w, h, d int64, least string) bool {
	if s.W < w || s.H < h || s.D < d {
		r.reject("shape=%v: want at least %dx%dx%d, for %s", s, w, h, d, least)
	}
	return r.err == nil
}
