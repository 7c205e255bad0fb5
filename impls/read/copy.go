package read

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// ToDevice copies an image from pinned memory of the host to a device and does nothing else. It is
// the ceiling of work that begins on the host and counts on a device. An image larger than two
// windows is copied in parts; each part is added up on the device during the next copy, except the
// last part, which stays until after the clock stops.
type ToDevice struct {
	Open resident.Opener

	window int64 // bytes in place of windowBytes, for tests
}

// windowBytes is the greatest size of a part on the device. It exceeds the caches, so that nothing
// of a part is left in them when its memory is written again.
const windowBytes = 512 << 20

// piece is the bytes of a copy.
const piece = 32 << 20

// About describes the method.
func (ToDevice) About() bench.About {
	return bench.OnDevice("copy-gpu",
		"copies the image from pinned memory to the device: the ceiling of a device fed by the host",
		"one stream, pieces of 32 MiB", bench.E2E)
}

// cut returns the number of words of an image, and of a window on the device. The device has one or
// two windows.
func (c ToDevice) cut(in grid.Source) (words, window int64) {
	words, window = padded(in)/8, windowBytes/8
	if c.window > 0 {
		window = c.window / 8
	}
	if words <= 2*window { // it is there as a whole
		window = words
	}
	return words, window
}

// CanDo rejects images that do not fit the device.
func (c ToDevice) CanDo(in grid.Source, conditions bench.Conditions) error {
	d, err := c.Open(conditions.Device)
	if err != nil {
		return err
	}
	words, window := c.cut(in)
	return resident.Fits(d, 8*min(words, 2*window), "the image, or two parts of it,")
}

// Setup pins the image on the host.
func (c ToDevice) Setup(in grid.Source, conditions bench.Conditions) (bench.Job[uint64], error) {
	d, err := c.Open(conditions.Device)
	if err != nil {
		return nil, err
	}
	a, err := newAdder(d)
	if err != nil {
		return nil, err
	}
	j := &copyJob{adder: a}
	j.words, j.window = c.cut(in)
	return bench.Ready(j, j.setup(in))
}

var _ bench.DeviceJob = (*copyJob)(nil)

type copyJob struct {
	*adder
	words   int64 // of the image
	window  int64 // of a part, but for the last, which may be shorter
	copying device.Stream
	windows []*window
	place   *resident.Place // the image where it is, or nil
	host    device.Pinned   // else a copy of it
	refill  func() error    // makes the copy anew with each Do, or nil
	earlier device.Buffer   // the sum of the parts before the last
	last    device.Buffer   // the sum of the last
	sums    device.Pinned   // both on the host
}

// A window is device memory for every second part of the image.
type window struct {
	words        device.Buffer
	copied, free device.Event // the part is there; it was added up
}

func (j *copyJob) setup(in grid.Source) error {
	j.copying = j.NewStream("copying")
	for k := range min(2, j.parts()) {
		j.windows = append(j.windows, &window{j.NewBuffer(fmt.Sprintf("part %d of the image", k), 8*j.window),
			j.NewEvent("part copied"), j.NewEvent("part added up")})
	}
	j.earlier, j.last = j.NewBuffer("sum of the earlier parts", 8), j.NewBuffer("sum of the last part", 8)
	j.sums = j.NewPinned("sums on the host", 16)
	if err := j.Err(); err != nil {
		return err
	}
	if err := j.stream.Fill(j.earlier, 0, 8, 0); err != nil {
		return err
	}
	return j.pin(in)
}

// pin pins the image in place, or a copy of it whose slices are whole words.
func (j *copyJob) pin(in grid.Source) error {
	size := grid.SliceBytes(in)
	if size%8 == 0 {
		j.place = resident.Own(&j.Objects, func() (*resident.Place, error) {
			return resident.Pin(j.On, in, min(piece, 8*j.window))
		})
		if j.place != nil {
			return nil
		}
	}
	j.host = j.NewPinned("image on the host", 8*j.words)
	if err := j.Err(); err != nil {
		return err
	}
	clear(j.host.Data())
	whole := padded(in) / in.Shape().Slices()
	fill := func() error {
		return grid.EachSlab(in, func(slab []byte, lo, _ int64) error {
			spread(j.host.Data()[lo*whole:], slab, size, whole)
			return nil
		})
	}
	if _, ok := in.(*grid.Field); ok && grid.TotalBytes(in) <= largestRefilled {
		j.refill = fill
		return nil
	}
	return fill()
}

// largestRefilled bounds the images that each Do copies to pinned memory again if they cannot be
// pinned in place. A larger one is copied once: one core copies slower than the device, and would
// be the ceiling.
const largestRefilled = 4 << 20

// pinnedAt returns the pinned memory and the offset of the image's bytes from off on.
func (j *copyJob) pinnedAt(off int64) (device.Memory, int64) {
	if j.place != nil {
		return j.place.At(off)
	}
	return j.host, off
}

// parts returns the number of parts of the image.
func (j *copyJob) parts() int64 { return (j.words + j.window - 1) / j.window }

// windowOf returns the window of part k, its start, and its length in words.
func (j *copyJob) windowOf(k int64) (w *window, at, words int64) {
	return j.windows[k%2], k * j.window, min(j.window, j.words-k*j.window)
}

func (j *copyJob) Do(trace *bench.Trace) error {
	defer trace.Span("copy")()
	return j.On.Do(func() error {
		if j.refill != nil {
			if err := j.refill(); err != nil {
				return err
			}
		}
		if j.parts() > 1 {
			if err := j.stream.Fill(j.earlier, 0, 8, 0); err != nil {
				return err
			}
		}
		for k := range j.parts() {
			if err := j.copy(k); err != nil {
				return err
			}
		}
		return errors.Join(j.stream.Wait(), j.copying.Wait())
	})
}

// copy adds the copy of part k to the stream, and its addition on the device unless it is the last
// part.
func (j *copyJob) copy(k int64) error {
	w, from, words := j.windowOf(k)
	if k > 1 {
		if err := j.copying.WaitFor(w.free); err != nil {
			return err
		}
	}
	for at := int64(0); at < 8*words; at += piece {
		host, off := j.pinnedAt(8*from + at)
		if err := j.copying.Copy(w.words, at, host, off, min(piece, 8*words-at)); err != nil {
			return err
		}
	}
	if k == j.parts()-1 {
		return nil
	}
	if err := errors.Join(j.copying.Record(w.copied), j.stream.WaitFor(w.copied)); err != nil {
		return err
	}
	return errors.Join(j.add(w.words, words, j.earlier), j.stream.Record(w.free))
}

// Out adds the last part on the device, and returns the sum of all parts.
func (j *copyJob) Out() (uint64, error) {
	w, _, words := j.windowOf(j.parts() - 1)
	s := j.stream
	err := errors.Join(
		s.Fill(j.last, 0, 8, 0),
		j.add(w.words, words, j.last),
		s.Copy(j.sums, 0, j.earlier, 0, 8),
		s.Copy(j.sums, 8, j.last, 0, 8),
		s.Wait(),
	)
	both := j.sums.Data()
	return binary.LittleEndian.Uint64(both) + binary.LittleEndian.Uint64(both[8:]), err
}

// Poison overwrites the image on the device and the sum of its earlier contents.
func (j *copyJob) Poison() {
	// A device that cannot be written to fails at the next call, with the reason.
	s := j.stream
	for _, w := range j.windows {
		_ = s.Fill(w.words, 0, w.words.Bytes(), 0x5a)
	}
	if j.parts() > 1 {
		_ = s.Fill(j.earlier, 0, 8, 0x5a)
	}
	_ = s.Wait()
}

// Elapsed is unknown: the job times a copy from the host.
func (j *copyJob) Elapsed() (time.Duration, error) { return 0, resident.ErrUntimed }
