package extrema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/ecc"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

var _ bench.DeviceJob = (*deviceJob)(nil)

// A deviceJob is an image bound to the kernels: those that compare levels where its
// ladder allows, and those for singles where a value of the image does not stand on
// it.
type deviceJob struct {
	d              device.Device
	in             grid.Source
	shape          grid.Shape // of the image that is counted
	at             uint64     // where it is
	upload         bool
	timed          bool          // by events around the launch
	handsOver      bool          // kernels that can bring the curve to the host do
	memory         device.Buffer // the image between two guards
	strays         device.Buffer
	scaling        scaling
	levels, single *march // either may be nil
	last           *march // that of the last Do
}

// A march is kernels with the length of their segments.
type march struct {
	*resident.Counter
	length int32
	hands  bool   // the kernels take where to hand over
	ready  uint64 // the image that the launch is prepared for
}

func (j *deviceJob) open(ptx func(string) ([]byte, error), k kind) (*march, error) {
	kernel := k.kernel(j.in, j.shape, ptx)
	kernel.HandsOver, kernel.Timed = j.handsOver && k.hands, j.timed
	m := &march{hands: k.hands}
	if kernel.HandsOver && k.name == "" && small(j.shape) && j.shape.W%4 == 0 {
		var share smallShare
		share, kernel.Method = shareSmall(j.shape, int64(j.d.Info().SMs))
		m.length, kernel.Blocks, kernel.Threads = int32(share.segment), share.blocks, 32*share.warps
	}
	var err error
	if m.Counter, err = resident.Open(j.d, kernel); err != nil {
		return nil, err
	}
	if m.length == 0 {
		m.length = int32(k.segment(j.shape, m.Blocks()))
	}
	j.last = m
	return m, nil
}

func (j *deviceJob) setup(ptx func(string) ([]byte, error)) (err error) {
	if j.in.Type() != grid.Uint8 {
		if j.single, err = j.open(ptx, single()); err != nil {
			return err
		}
	}
	if k, s, ok := fastest(j.in, j.d.Info().SharedOptIn); ok {
		j.scaling = s
		if j.levels, err = j.open(ptx, k); err != nil {
			return err
		}
	}
	edge, size := guard(j.in), grid.TotalBytes(j.in)
	if j.memory, err = j.d.Alloc("image", 2*edge+size); err != nil {
		return err
	}
	j.at = j.memory.Address() + uint64(edge)
	if j.strays, err = j.d.Alloc("strays", 8); err != nil {
		return err
	}
	if err = errors.Join(j.last.Stream.Fill(j.memory, 0, edge, 0), j.last.Stream.Fill(j.memory, edge+size, edge, 0)); err != nil {
		return err
	}
	if j.upload {
		return nil // each Do does it
	}
	return j.put(nil)
}

// put copies the image to the device, and takes the kernels that compare levels
// where every value of it stands on the ladder.
func (j *deviceJob) put(trace *bench.Trace) error {
	var err error
	if j.upload {
		err = resident.UploadTraced(j.last.Stream, j.memory, guard(j.in), j.in, trace)
	} else {
		err = resident.Stage(j.d, j.last.Stream, j.memory, guard(j.in), j.in)
	}
	if err != nil {
		return err
	}
	if j.levels == nil || j.single == nil {
		return nil
	}
	n, err := straying(j.single.Counter, j.strays, j.at, j.in)
	j.last = j.levels
	if n > 0 {
		j.last = j.single
	}
	return err
}

// straying counts the values of resident images that do not stand on their ladder.
func straying(c *resident.Counter, count device.Buffer, images uint64, in grid.Source) (int64, error) {
	var n [8]byte
	err := errors.Join(c.Stream.Fill(count, 0, 8, 0),
		c.Run(fmt.Sprintf("ecc_extrema_strays_%v", in.Type()), count, images, in.Shape().Voxels()),
		c.Stream.Download(n[:], count, 0))
	return int64(binary.LittleEndian.Uint64(n[:])), err
}

func (j *deviceJob) Do(trace *bench.Trace) error {
	if j.upload {
		if err := j.put(trace); err != nil {
			return err
		}
	}
	defer trace.Span("count")()
	return j.d.Do(j.count)
}

// count counts the image, and returns when its curve is on the host.
func (j *deviceJob) count() error {
	m := j.last
	if !m.HandsOver() {
		if err := j.Enqueue(); err != nil {
			return err
		}
		return m.End()
	}
	if m.ready != j.at {
		m.Prepare(j.parameters()...)
		m.ready = j.at
	}
	return m.HandOver()
}

// parameters are the kernels' own, without where to hand over.
func (j *deviceJob) parameters() []any {
	n, h, w := ecc.Stack(j.shape)
	return []any{j.at, int32(w), int32(h), int32(n), j.last.length, j.scaling.scale, j.scaling.offset, j.scaling.bias}
}

// Enqueue adds the count to the stream.
func (j *deviceJob) Enqueue() error {
	m := j.last
	if err := m.Begin(); err != nil {
		return err
	}
	image := j.parameters()
	if m.hands {
		image = append(image, uint64(0), uint64(0)) // nowhere
	}
	return m.Count(m.Stream, image...)
}

func (j *deviceJob) Out() (ecc.VCEC, error) { return ecc.FromDense(j.last.Changes()), nil }

func (j *deviceJob) marches() []*march {
	var list []*march
	for _, m := range []*march{j.levels, j.single} {
		if m != nil {
			list = append(list, m)
		}
	}
	return list
}

func (j *deviceJob) Poison() {
	for _, c := range j.marches() {
		c.Poison()
	}
}

func (j *deviceJob) Cool() error                     { return j.last.Cool() }
func (j *deviceJob) Elapsed() (time.Duration, error) { return j.last.Elapsed() }
func (j *deviceJob) Device() string                  { return j.last.Device() }
func (j *deviceJob) UUIDs() []string                 { return j.last.UUIDs() }
func (j *deviceJob) Flags() []string                 { return j.last.Flags() }

func (j *deviceJob) Close() error {
	errs := []error{resident.CloseAll(j.memory, j.strays)}
	for _, c := range j.marches() {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
