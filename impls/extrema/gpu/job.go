package gpu

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/counting"
)

var _ bench.DeviceJob = (*deviceJob)(nil)

// A deviceJob is an image bound to the kernels.
type deviceJob struct {
	placed
	shape     grid.Shape // of the image that is counted
	small     bool       // use the kernels for small images, if there are any
	handsOver bool       // use kernels that hand the curve over to the host, if there are any
}

// A march is a loaded kernel with its segment length.
type march struct {
	*counting.Counter
	length int32
	parts  int64  // per image of a batch
	hands  bool   // the kernel has parameters for handing over
	ready  uint64 // address of the image for which the launch is prepared
}

func (j *deviceJob) open(ptx func(string) ([]byte, error), k kind) (*march, error) {
	kernel := k.kernel(j.in, j.shape, ptx)
	kernel.HandsOver, kernel.Timed = j.handsOver && k.hands, j.timed
	m := &march{hands: k.hands}
	if kernel.HandsOver && k.name == pairs && j.small && j.shape.W%4 == 0 {
		share := shareSmall(j.shape, int64(j.On.Info().SMs))
		kernel.Method = "extrema" + smallInfix(j.shape)
		m.length, kernel.Blocks, kernel.Threads = int32(share.segment), share.blocks, 32*share.warps
	}
	var err error
	if m.Counter, err = counting.Open(j.On, kernel); err != nil {
		return nil, err
	}
	if m.length == 0 {
		m.length = int32(k.segment(j.shape, j.in.Type(), m.Blocks()))
	}
	j.last = m
	return m, nil
}

func (j *deviceJob) setup(ptx func(string) ([]byte, error)) (err error) {
	if j.in.Type() != grid.Uint8 {
		if j.single, err = j.open(ptx, kindNamed(single)); err != nil {
			return err
		}
	}
	if k, s, ok := fastest(j.in, j.On.Info().SharedOptIn, j.shape.Dim() == 3 && !j.small); ok {
		j.scaling = s
		if j.levels, err = j.open(ptx, k); err != nil {
			return err
		}
	}
	return j.allocate("image")
}

func (j *deviceJob) Do(trace *bench.Trace) error {
	if j.upload {
		if err := j.put(trace); err != nil {
			return err
		}
	}
	defer trace.Span("count")()
	return j.count()
}

// count counts the image, and returns when the curve is on the host.
func (j *deviceJob) count() error {
	m := j.last
	if !m.HandsOver() {
		return j.On.Do(func() error {
			if err := j.Enqueue(); err != nil {
				return err
			}
			return m.End()
		})
	}
	if m.ready != j.at {
		m.Prepare(j.parameters()...)
		m.ready = j.at
	}
	return m.HandOver()
}

// parameters returns the kernels' own parameters, without those for handing over.
func (j *deviceJob) parameters() []any {
	n, h, w := cells.Stack(j.shape)
	return []any{j.at, int32(w), int32(h), int32(n), j.last.length, j.scaling.scale, j.scaling.offset, j.scaling.bias}
}

// Enqueue enqueues the count on the stream.
func (j *deviceJob) Enqueue() error {
	m := j.last
	if err := m.Begin(); err != nil {
		return err
	}
	image := j.parameters()
	if m.hands {
		image = append(image, uint64(0), uint64(0)) // do not hand over
	}
	return m.Count(m.Stream, image...)
}

func (j *deviceJob) Out() (ecc.VCEC, error) { return ecc.FromDense(j.last.Changes()), nil }
