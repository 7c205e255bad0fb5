// Package naive implements the definition: for every level, it counts the cells of the sublevel set
// from scratch (Wang et al. 2022, section 2.3). For n voxels and m levels with voxels it needs
// O(m·n) time on one core. It is the reference for inputs that it can afford, and deliberately
// simple.
package naive

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

// nsPerVoxelLevel is the estimated time per voxel and level: 2.5 to 3 ns on server cores of 2022 to
// 2025, and 5.3 ns in 2D.
func nsPerVoxelLevel(s grid.Shape) int64 {
	if s.Dim() == 2 {
		return 6
	}
	return 3
}

// Implementation is the naive implementation.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("naive", "every level counted from scratch, O(m·n), one core",
		"Wang et al. 2022, section 2.3")
}

// CanDo rejects an input that needs more time or memory than the conditions allow.
func (Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	if err := in.Ladder().CheckIndexed(); err != nil {
		return err
	}
	n := in.Shape().Voxels()
	m := min(n, in.Ladder().Len()) // other levels have no voxel
	ns := nsPerVoxelLevel(in.Shape())
	estimate := quantity.Seconds(float64(n) * float64(m) * float64(ns) * 1e-9)
	if err := c.Allow(estimate, "%d voxels × %d levels × %d ns", n, m, ns); err != nil {
		return err
	}
	return c.AllowMemory(memory(in), "4 bytes for each of %d voxels, 9 for each of %d levels", n, in.Ladder().Len())
}

func memory(in grid.Source) int64 {
	return 4*in.Shape().Voxels() + 9*in.Ladder().Len() + grid.SliceBytes(in)
}

// Setup allocates a level per voxel, and per level a change and a flag.
func (Implementation) Setup(in grid.Source, _ bench.Conditions) (bench.Job[ecc.VCEC], error) {
	return &job{
		in:      in,
		convert: grid.NewConverter(in.Type(), in.Ladder()),
		slice:   grid.NewBuffer(grid.SliceBytes(in)),
		levels:  make([]int32, in.Shape().Voxels()),
		changes: make([]int64, in.Ladder().Len()),
		occurs:  make([]bool, in.Ladder().Len()),
	}, nil
}

type job struct {
	in      grid.Source
	convert grid.Converter
	slice   []byte
	levels  []int32
	changes []int64
	occurs  []bool // whether a level has voxels
}

func (j *job) Do(trace *bench.Trace) error {
	n, h, w := cells.Stack(j.in.Shape())
	end := trace.Span("read")
	for z := range n {
		if err := j.in.ReadSlab(j.slice, z, z+1); err != nil {
			return err
		}
		j.convert.Convert(j.levels[z*h*w:], j.slice)
	}
	end()
	defer trace.Span("count")()
	clear(j.occurs)
	for _, level := range j.levels {
		if int(level) < len(j.occurs) {
			j.occurs[level] = true
		}
	}
	var before int64
	for level := range j.changes {
		if !j.occurs[level] {
			j.changes[level] = 0 // the sublevel set is that of the previous level
			continue
		}
		chi := cells.CharacteristicOfLevels(j.levels, h, w, int64(level))
		j.changes[level] = chi - before
		before = chi
	}
	return nil
}

func (j *job) Poison() {
	bench.PoisonEach(j.changes)
}

func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.changes), nil }

func (j *job) Close() error { return nil }
