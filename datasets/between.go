package datasets

import (
	"math"

	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

func betweenGenerator() generator {
	return newGenerator("between",
		"float32 noise on the levels, one rounding away, between them and below all: values as in real files",
		"between/shape=101x67/levels=200/step=0.1/seed=7", []Param{
			shapeParam(), {"levels", "1024", "number of levels; at most 16777216"},
			{"lo", "0", "the lowest level"},
			{"step", "the power of two that keeps values below 1", "the distance between levels"},
			seedParam(),
		}, readBetween)
}

// readBetween makes noise. Half of the voxels are on a level, and an eighth each has one of the
// other kinds of values. No value is above the last level.
func readBetween(r *reading) maker {
	shape := r.shape()
	n, s := r.scale()
	seed := r.seed()
	at, off := random.NewLattice(seed, random.BetweenStream), random.NewLattice(seed, random.BesideStream)
	_, step, _ := s.Ladder.Affinity()
	return func() (grid.Source, error) {
		s.Prepare()
		m := &image{shape: shape, scale: s}
		m.values = func(dst []byte, y, z int64, _ *random.RowBuffer) {
			values := grid.Values[float32](dst)
			levels, kinds := make([]uint32, len(values)), make([]uint32, len(values))
			at.Fill(levels, 0, y, z)
			off.Fill(kinds, 0, y, z)
			for i, u := range kinds {
				values[i] = neighbourValue(s.Ladder, step, int64(uint64(levels[i])*uint64(n)>>32), u)
			}
		}
		return m, nil
	}
}

// neighbourValue returns a value by the last bits of word: level k, the next float32 above or below it, a
// value between it and the level below, or one below all levels. The conversions prevent fused
// operations, which some machines have.
func neighbourValue(l grid.Ladder, step float64, k int64, word uint32) float32 {
	v := l.Value(k)
	part := float64(word>>3) / (1 << 29)
	switch word & 7 {
	case 0:
		if k+1 < l.Len() {
			v = math.Nextafter32(v, math.MaxFloat32)
		}
	case 1:
		v = math.Nextafter32(v, -math.MaxFloat32)
	case 2:
		if k > 0 {
			v = float32(float64(v) - float64(part*(float64(v)-float64(l.Value(k-1)))))
		}
	case 3:
		v = float32(max(float64(l.Value(0))-float64(3*part*step), -math.MaxFloat32))
		if word>>3%32 == 0 {
			v = -math.MaxFloat32 // far below
		}
	}
	return v + 0 // not −0
}
