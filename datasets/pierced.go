package datasets

import "eccbench/internal/grid"

// Solids with known numbers of tunnels and cavities.

// countParam is the parameter for the number of holes.
func countParam() Param {
	return Param{"count", "as many as fit", "how many holes, the first ones along rows"}
}

// count reads the number of holes, at most the number of places.
func (r *reading) count(places int64, s grid.Shape) int64 {
	return r.integer("count", places, 0, places, ", the places in shape "+s.String())
}

// odds returns the number of odd places inside an axis, without its ends.
func odds(n int64) int64 { return max(0, n-1) / 2 }

func drillsGenerator() generator {
	return newGenerator("drills", "0 in a box with a lattice of straight holes of one voxel along z; 1 in the holes",
		"drills/shape=64x64x64/type=uint8/count=100",
		[]Param{shapeParam(), typeParam(), countParam()}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			count, period := r.count(odds(s.W)*odds(s.H), s), int64(1)
			if s.Dim() == 2 {
				period = 0
			}
			return solid(s, t, period, func(x, y, _ int64) bool {
				return x&y&1 == 0 || x == s.W-1 || y/2*odds(s.W)+x/2 >= count
			})
		})
}

func cavitiesGenerator() generator {
	return newGenerator("cavities", "0 in a box with a lattice of single inner voxels of 1",
		"cavities/shape=64x64x64/type=uint8/count=1000",
		[]Param{shapeParam(), typeParam(), countParam()}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			planes := odds(s.D)
			if s.Dim() == 2 {
				planes = 1
			}
			count := r.count(odds(s.W)*odds(s.H)*planes, s)
			return solid(s, t, 0, func(x, y, z int64) bool {
				if x&y&1 == 0 || x == s.W-1 || y == s.H-1 {
					return true
				}
				if s.Dim() == 3 && z&1 == 0 {
					return true
				}
				return (z/2*odds(s.H)+y/2)*odds(s.W)+x/2 >= count
			})
		})
}

func serpentGenerator() generator {
	return newGenerator("serpent",
		"0 along one path through every second row and plane that never touches itself; 1 elsewhere",
		"serpent/shape=64x64x64/type=uint8", []Param{shapeParam(), typeParam()}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			return solid(s, t, 0, serpent(s))
		})
}

// serpent fills the even rows of the even planes with one path. The end of a row whose halved
// number is even is joined to the next row, and its start to the previous one. A plane is left at
// the end of its path, and the next plane goes back along it.
func serpent(s grid.Shape) predicate {
	last := (s.H - 1) / 2 // row of a plane, halved
	side := func(row int64) int64 {
		if row%2 == 0 {
			return s.W - 1
		}
		return 0
	}
	return func(x, y, z int64) bool {
		switch {
		case z%2 == 0 && y%2 == 0:
			return true
		case z%2 == 0:
			return y+1 < s.H && x == side(y/2)
		case y%2 == 0 && z+1 < s.D && z/2%2 == 0:
			return y/2 == last && x == side(last)
		}
		return z+1 < s.D && y == 0 && x == 0
	}
}

func spongeGenerator() generator {
	return newGenerator("sponge",
		"0 in a Menger sponge, a Sierpiński carpet in 2D, with a step for each power of 3 in "+
			"the shortest axis; 1 in the removed parts",
		"sponge/shape=81x81x81/type=uint8", []Param{shapeParam(), typeParam()}, func(r *reading) maker {
			s, t := r.shape(), r.elementType()
			return solid(s, t, 0, func(x, y, z int64) bool {
				for left := shortest(s); left >= 3; left /= 3 {
					middle := 0
					for _, c := range [3]int64{x, y, z} {
						if c%3 == 1 {
							middle++
						}
					}
					if middle >= 2 {
						return false
					}
					x, y, z = x/3, y/3, z/3
				}
				return true
			})
		})
}
