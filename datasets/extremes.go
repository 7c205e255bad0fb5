package datasets

import (
	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

func extremesGenerator() generator {
	return newGenerator("extremes",
		"random noise of the lowest and highest levels: detects programs that give the outside the last level",
		"extremes/shape=101x67/type=uint8/lowest=0/highest=2/seed=7", []Param{
			shapeParam(), levelsParam(), typeParam(),
			{"lowest", "1", "how many of the lowest levels occur"},
			{"highest", "1", "how many of the highest levels occur"},
			seedParam(),
		}, readExtremes)
}

// readExtremes makes noise on the first and the last levels of a ladder, all equally likely.
func readExtremes(r *reading) maker {
	shape := r.shape()
	t := r.elementType()
	n := r.levels(t)
	lowest := r.integer("lowest", min(1, n-1), 0, n, ", the number of levels")
	least, of := int64(0), ", what else there is of levels"
	if lowest == 0 {
		least, of = 1, of+", and not 0 of both"
	}
	highest := r.integer("highest", 1, least, n-lowest, of)
	p := random.NewLattice(r.seed(), random.ExtremesStream)
	return func() (grid.Source, error) {
		s, err := random.NewScale(t, n, 0, evenStep(n))
		if err != nil {
			return nil, err
		}
		s.Prepare()
		m := &image{shape: shape, scale: s}
		if lowest+highest == 1 {
			m.period = 1
		}
		m.levels = func(dst []uint32, x, y, z int64) {
			p.Fill(dst, x, y, z)
			for i, u := range dst {
				k := int64(uint64(u) * uint64(lowest+highest) >> 32)
				if k >= lowest {
					k += n - lowest - highest
				}
				dst[i] = uint32(k)
			}
		}
		return m, nil
	}
}
