package gpu

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/counting"
)

// BatchOnDevice counts a resident batch of images with one launch (kernels/ecc/extrema_batch.h).
// Each image has its own table.
type BatchOnDevice struct {
	Open resident.Opener
	// PTX returns the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)
}

// About describes the method.
func (BatchOnDevice) About() bench.About {
	return bench.OnDevice("extrema-gpu-batch",
		"all images resident and counted in one launch, each as by extrema-gpu; files are read while "+
			"others are uploaded", "doc/proofs/extrema.md")
}

// CanDo rejects a batch that does not fit the device, or a warp's counters.
func (o BatchOnDevice) CanDo(in grid.Batch, c bench.Conditions) error {
	if err := (OnDevice{Open: o.Open}).CanDo(in, c); err != nil {
		return err
	}
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	if most := parts(in.Image(), max(in.Image().D, in.Image().H), 1, false); in.Images > math.MaxInt32/most {
		return fmt.Errorf("%d images of %v: more than %d parts", in.Images, in.Image(), math.MaxInt32)
	}
	// An image's totals are int32, and a voxel changes one by at most ±9.
	if n := in.Image().Voxels(); n > math.MaxInt32/9 {
		return fmt.Errorf("images of %v: of more than %d voxels the changes may not fit the kernels' integers", in.Image(),
			math.MaxInt32/9)
	}
	levels := in.Ladder().Len()
	if most := (d.Info().SharedOptIn-warpShared)/4 - spare; in.Type() != grid.Uint8 && levels > most {
		return fmt.Errorf("%d levels: a warp of %s has room for %d counters of its own", levels, d.Info().Name, most)
	}
	return resident.Fits(d, 2*guard(in)+grid.TotalBytes(in)+12*levels+4*levels*in.Images, "the resident batch")
}

// warpShared is the shared memory of a warp without its counters.
const warpShared = 2 << 10

// A division is the division of a batch into parts for warps.
type division struct {
	segment int64 // slices that a warp processes
	parts   int64 // per image
}

// divide chooses the length of segments. Warps take parts in turn and should end at the same time,
// but short segments read more slices twice. A narrow image is no wider than a warp.
func divide(s grid.Shape, images, blocks, voxels int64, narrow bool) division {
	n, _, _ := cells.Stack(s)
	best, least := division{n, parts(s, n, voxels, narrow)}, math.Inf(1)
	for length := n; length >= 1; length-- {
		each := parts(s, length, voxels, narrow)
		if images*each > math.MaxInt32 { // limit of the kernels' integers
			break
		}
		turns, rest := images*each/blocks, images*each%blocks
		cost := float64(turns)
		if rest > 0 {
			cost += 0.5 + 0.5*float64(rest)/float64(blocks)
		}
		if cost *= float64(length + 2); cost < least {
			best, least = division{length, each}, cost
		}
	}
	return best
}

// parts returns the number of parts of an image for a segment length, for the kernels for narrow
// images or for the others.
func parts(s grid.Shape, segment, voxels int64, narrow bool) int64 {
	n, h, w := cells.Stack(s)
	up := func(a, b int64) int64 { return (a + b - 1) / b }
	switch {
	case s.D == 1 && narrow:
		return up(n, 2*voxels*segment)
	case s.D == 1:
		return up(w, 2*columns) * up(n, voxels*segment)
	case narrow:
		return up(h, 2*voxels) * up(n, segment)
	}
	return up(w, columns) * up(h+1, 2*voxels) * up(n, segment)
}

var _ bench.DeviceJob = (*batchJob)(nil)

// A batchJob is a batch bound to the kernels.
type batchJob struct {
	placed
	batch grid.Batch
}

// Setup loads the kernels and allocates the images. It also copies the images, unless the scope
// includes the copy.
func (o BatchOnDevice) Setup(in grid.Batch, c bench.Conditions) (bench.Job[[]ecc.VCEC], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	j := &batchJob{place(d, in, c), in}
	return bench.Ready(j, j.setup(o.PTX))
}

func (j *batchJob) open(ptx func(string) ([]byte, error), what kind) (*march, error) {
	s := j.batch.Image()
	k := what.kernel(j.in, s, ptx)
	k.Module, k.Images, k.Threads = fmt.Sprintf("ecc_extrema_batch_%v", j.in.Type()), j.batch.Images, 32
	narrow := false
	switch {
	case what.values:
		k.Method, k.Counters = "extrema_batch_single", j.in.Ladder().Len()
	case s.W%4 != 0:
		k.Method = "extrema_batch_unaligned"
	case s.W <= columns:
		k.Method, narrow = "extrema_batch_narrow", true
	default:
		k.Method = "extrema_batch"
	}
	k.Timed = j.timed
	c, err := counting.Open(j.On, k)
	if err != nil {
		return nil, err
	}
	by := divide(s, j.batch.Images, c.Blocks(), what.voxels, narrow)
	j.last = &march{Counter: c, length: int32(by.segment), parts: by.parts}
	return j.last, nil
}

func (j *batchJob) setup(ptx func(string) ([]byte, error)) (err error) {
	if j.in.Type() != grid.Uint8 {
		if j.single, err = j.open(ptx, kindNamed(single)); err != nil {
			return err
		}
	}
	k := kindNamed(pairs)
	if s, ok := k.scaling(j.in.Type(), j.in.Ladder()); ok {
		j.scaling = s
		if j.levels, err = j.open(ptx, k); err != nil {
			return err
		}
	}
	return j.allocate("images")
}

func (j *batchJob) Do(trace *bench.Trace) error {
	if j.upload {
		if err := j.put(trace); err != nil {
			return err
		}
	}
	defer trace.Span("count")()
	m, s := j.last, j.batch.Image()
	return j.On.Do(func() error {
		// A part that is a whole image stores its table instead of adding to it. For uint8 several
		// values may have one level, so it has to add.
		stored, begin := int32(0), m.Begin
		if m.parts == 1 && j.in.Type() != grid.Uint8 {
			stored, begin = 1, m.Start
		}
		if err := begin(); err != nil {
			return err
		}
		n, h, w := cells.Stack(s)
		err := m.Count(m.Stream, j.at, s.Voxels(), int32(j.batch.Images), int32(w), int32(h), int32(n), m.length, stored,
			j.scaling.scale, j.scaling.offset, j.scaling.bias)
		if err != nil {
			return err
		}
		return m.End()
	})
}

// Out returns a curve per image.
func (j *batchJob) Out() ([]ecc.VCEC, error) {
	levels := j.in.Ladder().Len()
	tables := j.last.Tables()
	out := make([]ecc.VCEC, j.batch.Images)
	dense := make([]int64, levels)
	for i := range out {
		for k, v := range tables[int64(i)*levels : int64(i+1)*levels] {
			dense[k] = int64(v)
		}
		out[i] = ecc.FromDense(dense)
	}
	return out, nil
}

func (j *batchJob) Launches() int64 { return j.last.Launches() }
