package pairs

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// An Implementation computes the persistence pairs of an image in a convention. In returns it for another convention.
type Implementation interface {
	bench.Implementation[grid.Source, Answer]
	In(ecc.Convention) Implementation
}

// Workload returns the workload of the persistence pairs for some implementations. The first is the reference.
func Workload(impls ...Implementation) bench.Workload[grid.Source, Answer] {
	w := bench.Workload[grid.Source, Answer]{
		Name: Name, Question: question(), Inputs: fields.Inputs{}, Policy: policy(), Encode: Encode, Decode: Decode,
	}
	for _, impl := range impls {
		w.Impls = append(w.Impls, impl)
	}
	w.Reference = bench.NameOfFirst(w.Impls)
	return w
}

// InConvention returns the workload in another convention. Implementations that are no Implementation of this package,
// such as those of peers, are left out.
func InConvention(w bench.Workload[grid.Source, Answer], c ecc.Convention) bench.Workload[grid.Source, Answer] {
	if c == (ecc.Convention{}) {
		return w
	}
	var impls []bench.Implementation[grid.Source, Answer]
	for _, impl := range w.Impls {
		if i, ok := impl.(Implementation); ok {
			impls = append(impls, i.In(c))
		}
	}
	w.Impls, w.Policy = impls, verify.Policy[grid.Source, Answer]{Distance: distance, Laws: witnesses(c), Weak: weak}
	return w
}

func question() bench.Question {
	return bench.Question{
		Doc: "the persistence pairs of the sublevel sets of an image, over the field of two elements",
		Small: []string{
			"noise/shape=32x32x32/levels=256/type=uint8/seed=1", "grf/shape=64x64x64/levels=256/type=uint8/smooth=2/seed=1",
			"grf/shape=61x67x71/levels=1024/type=float32/smooth=2/seed=1", "noise/shape=512x512/levels=256/type=uint8/seed=1",
		},
		// In addition to those of Betti curves: ties, binary images whose reductions are long, and voxels between and
		// above levels.
		Adversarial: slices.Concat(betti.CurvesWorkload().Adversarial, []string{
			"noise/shape=17x16x15/levels=2/type=uint8/seed=21", "noise/shape=24x24x24/levels=3/type=uint8/seed=22",
			"noise/shape=61x59/levels=2/type=uint8/seed=23", "grf/shape=40x39x38/levels=4/type=uint8/smooth=2/seed=24",
			"ramp/shape=9x8x7/levels=3/type=uint16",
		}),
		// Reductions of one direction are long for some of these, of the other one for others.
		Long: []string{
			"noise/shape=128x128x128/levels=2/type=uint8/seed=31", "noise/shape=131x127x129/levels=6/type=uint8/seed=32",
			"grf/shape=160x150x140/levels=256/type=uint8/smooth=3/seed=33", "noise/shape=2048x2047/levels=65536/type=uint16/seed=34",
		},
	}
}

// Absent is the time of a voxel that is in no set: masked, or above the last level of the ladder.
const Absent = math.MaxUint32

// mostBox is the largest number of voxels of an image with a layer around it: three numbers of 32 bits for each name
// its edges, and its squares.
const mostBox = math.MaxUint32 / 3

// Supported returns the reason why the pairs of an image are not defined in a convention, or its numbers too large.
func Supported(in grid.Source, c ecc.Convention) error {
	if c.Periodic != (grid.Axes{}) {
		return errors.New("periodic axes are not supported: pairs are of images with a border")
	}
	if n := in.Ladder().Len(); n >= Absent {
		return fmt.Errorf("ladder %v: times of voxels are numbers below %d", in.Ladder(), uint32(Absent))
	}
	if n := Box(in.Shape()).Voxels(); n > mostBox {
		return fmt.Errorf("shape %v: %d voxels with a layer around it, at most %d are supported", in.Shape(), n, mostBox)
	}
	return nil
}

// Box returns the shape of an image with a layer of one voxel around it, in the plane for a 2D image.
func Box(s grid.Shape) grid.Shape {
	s.H, s.W = s.H+2, s.W+2
	if s.Dim() == 3 {
		s.D += 2
	}
	return s
}

// ReadTimes reads the time of each voxel: its level, counted from the last one for superlevel sets, or Absent.
func ReadTimes(in grid.Source, superlevel bool) ([]uint32, error) {
	times, size, n := make([]uint32, in.Shape().Voxels()), in.Type().Size(), in.Ladder().Len()
	convert := grid.ToLevels(in)
	err := grid.EachSlab(in, func(slab []byte, lo, _ int64) error {
		to := times[lo*in.Shape().SliceVoxels():][:int64(len(slab))/size]
		convert(to, slab)
		for i, level := range to {
			switch {
			case int64(level) >= n:
				to[i] = Absent
			case superlevel:
				to[i] = uint32(n-1) - level
			}
		}
		return nil
	})
	return times, err
}
