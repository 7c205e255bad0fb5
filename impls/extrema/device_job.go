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
	upload         bool
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
}

func (j *deviceJob) open(ptx func(string) ([]byte, error), k kind) (*march, error) {
	c, err := resident.Open(j.d, k.kernel(j.in, ptx))
	if err != nil {
		return nil, err
	}
	m := &march{c, int32(k.segment(j.in.Shape(), c.Blocks()))}
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
	s := j.single.Stream
	var n [8]byte
	err = errors.Join(s.Fill(j.strays, 0, 8, 0),
		j.single.Run(fmt.Sprintf("ecc_extrema_strays_%v", j.in.Type()), j.strays, j.image(), j.in.Shape().Voxels()),
		s.Download(n[:], j.strays, 0))
	j.last = j.levels
	if binary.LittleEndian.Uint64(n[:]) > 0 {
		j.last = j.single
	}
	return err
}

func (j *deviceJob) Do(trace *bench.Trace) error {
	if j.upload {
		if err := j.put(trace); err != nil {
			return err
		}
	}
	defer trace.Span("count")()
	return j.d.Do(func() error {
		if err := j.Enqueue(); err != nil {
			return err
		}
		return j.last.End()
	})
}

// Enqueue adds the count to the stream.
func (j *deviceJob) Enqueue() error {
	c := j.last
	if err := c.Begin(); err != nil {
		return err
	}
	n, h, w := ecc.Stack(j.in.Shape())
	return c.Count(c.Stream, j.image(), int32(w), int32(h), int32(n), c.length, j.scaling.scale, j.scaling.offset, j.scaling.bias)
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
