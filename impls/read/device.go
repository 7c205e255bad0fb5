package read

import (
	"encoding/binary"
	"errors"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// OnDevice reads an image in a device's memory (kernels/read/memread.cu).
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.OnDevice("memread-gpu", "reads every byte of the resident image once: the ceiling of a device",
		"STREAM-like read, 16 bytes a thread, four in flight", bench.Kernel, bench.Device)
}

// CanDo rejects an image that does not fit the device.
func (o OnDevice) CanDo(in grid.Source, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	return resident.Fits(d, padded(in), "the resident image")
}

// padded is the size of the image with each slice filled up to whole words, as
// the sum takes them.
func padded(in grid.Source) int64 {
	return (grid.SliceBytes(in) + 7) / 8 * 8 * in.Shape().Slices()
}

// Setup copies the image to the device.
func (o OnDevice) Setup(in grid.Source, c bench.Conditions) (bench.Job[uint64], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	j, err := bind(d, in, true, c.Scope == bench.Kernel)
	if err != nil {
		return nil, err // and no job in the interface
	}
	return j, nil
}

// bind makes the job of an image on a device. The kernel hands the sum over, between two events if
// timed, or leaves it for Bring.
func bind(d device.Device, in grid.Source, handsOver, timed bool) (*deviceJob, error) {
	a, err := newAdder(d)
	if err != nil {
		return nil, err
	}
	j := &deviceJob{adder: a, words: padded(in) / 8}
	if err := j.setup(in, handsOver, timed); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

var _ bench.DeviceJob = (*deviceJob)(nil)

type deviceJob struct {
	*adder
	words      int64
	image, sum device.Buffer
	result     device.Pinned
	over       *resident.Handover // in place of sum and result, or nil
	shape      device.Launch
	prepared   []any // the parameters of the kernel
}

func (j *deviceJob) setup(in grid.Source, handsOver, timed bool) error {
	j.shape = j.adder.shape(j.words)
	j.image = j.NewBuffer("image", 8*j.words)
	if handsOver {
		j.over = resident.NewHandover(&j.Objects, j.stream, 8, timed)
	} else {
		j.sum, j.result = j.NewBuffer("sum", 8), j.NewPinned("sum on the host", 8)
	}
	if err := j.Err(); err != nil {
		return err
	}
	j.prepared = []any{j.image, j.words, uint64(0), uint64(0), j.sum}
	if handsOver {
		table, word := j.over.Parameters()
		j.prepared = []any{j.image, j.words, table, word, j.over.Total()}
	}
	return j.fill(in)
}

func (j *deviceJob) launch() error { return j.stream.Launch(j.kernel, j.shape, j.prepared...) }

// fill copies the image slice by slice where slices are no whole words, else in
// slabs.
func (j *deviceJob) fill(in grid.Source) error {
	size := grid.SliceBytes(in)
	if size%8 == 0 {
		return resident.Stage(j.Objects.On, j.stream, j.image, 0, in)
	}
	whole := padded(in) / in.Shape().Slices()
	return grid.EachSlab(in, func(slab []byte, lo, hi int64) error {
		words := make([]byte, (hi-lo)*whole)
		spread(words, slab, size, whole)
		return j.stream.Upload(j.image, lo*whole, words)
	})
}

// spread copies slices of size bytes to places that are apart bytes from each other.
func spread(to, slab []byte, size, apart int64) {
	for i := range int64(len(slab)) / size {
		copy(to[i*apart:], slab[i*size:(i+1)*size])
	}
}

func (j *deviceJob) Do(trace *bench.Trace) error {
	defer trace.Span("read")()
	return j.over.Run(j.launch)
}

// Enqueue adds the read to the stream.
func (j *deviceJob) Enqueue() error { return errors.Join(j.stream.Fill(j.sum, 0, 8, 0), j.launch()) }

// Bring adds the copy of the sum to the host.
func (j *deviceJob) Bring() error { return j.stream.Copy(j.result, 0, j.sum, 0, 8) }

func (j *deviceJob) On() device.Device     { return j.Objects.On }
func (j *deviceJob) Stream() device.Stream { return j.stream }

func (j *deviceJob) Elapsed() (time.Duration, error) { return j.over.Elapsed() }

// value returns the sum on the host.
func (j *deviceJob) value() []byte {
	if j.over != nil {
		return j.over.Data()
	}
	return j.result.Data()
}

func (j *deviceJob) Poison() {
	if j.over != nil {
		j.over.Poison(0xa5)
		return
	}
	binary.LittleEndian.PutUint64(j.result.Data(), 1<<63|0x5a5a5a5a)
}

func (j *deviceJob) Out() (uint64, error) { return binary.LittleEndian.Uint64(j.value()), nil }
