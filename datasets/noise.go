package datasets

import (
	"eccbench/datasets/random"
	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

func noiseGenerator() generator {
	return newGenerator("noise", "uniform noise: every voxel on a random level, independent of all others",
		"noise/shape=512x512x512/levels=1024/type=float32/seed=7", []Param{
			shapeParam(), levelsParam(), typeParam(),
			{"lo", "0", "float32: the lowest level"},
			{"step", "the power of two that keeps values below 1", "float32: the distance between levels"},
			seedParam(),
		}, readNoise)
}

// readNoise makes uniform noise. The level of a voxel is ⌊u·levels/2³²⌋ for the random word u at
// its coordinates. It depends only on these and the seed: a smaller image is the corner of a larger
// one.
func readNoise(r *reading) maker {
	shape := r.shape()
	n, s := r.scale()
	p, isa := random.NewLattice(r.seed(), random.NoiseStream), r.isa
	return func() (grid.Source, error) {
		s.Prepare()
		return newNoise(shape, s, n, p, isa), nil
	}
}

// newNoise makes noise with an instruction set.
func newNoise(shape grid.Shape, s random.Scale, n int64, p random.Lattice, isa string) *image {
	m := &image{shape: shape, scale: s}
	if n == 1 {
		m.period = 1
	}
	m.levels = func(dst []uint32, x, y, z int64) {
		p.Fill(dst, x, y, z)
		for i, u := range dst {
			dst[i] = uint32(uint64(u) * uint64(n) >> 32)
		}
	}
	v := vectors.ForISA(isa)
	m.values = random.NoiseRows(&v, n, s, p)
	return m
}
