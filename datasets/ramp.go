package datasets

import (
	"math/bits"

	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

func rampGenerator() generator {
	return newGenerator("ramp", "levels that ascend in row-major order: voxel i of n is on level ⌊i·levels/n⌋",
		"ramp/shape=256x256x256/levels=1024/type=float32",
		[]Param{shapeParam(), levelsParam(), typeParam()}, readRamp)
}

func readRamp(r *reading) maker {
	shape := r.shape()
	t := r.elementType()
	n := uint64(r.levels(t))
	return func() (grid.Source, error) {
		s, err := random.NewScale(t, int64(n), 0, 1)
		if err != nil {
			return nil, err
		}
		s.Prepare()
		m := &image{shape: shape, scale: s}
		if n == 1 {
			m.period = 1
		}
		voxels := uint64(shape.Voxels())
		rise, rest := n/voxels, n%voxels
		m.levels = func(dst []uint32, x, y, z int64) {
			hi, lo := bits.Mul64(uint64((z*shape.H+y)*shape.W+x), n)
			level, carry := bits.Div64(hi, lo, voxels)
			for i := range dst {
				dst[i] = uint32(level)
				level += rise
				if carry += rest; carry >= voxels {
					carry -= voxels
					level++
				}
			}
		}
		return m, nil
	}
}
