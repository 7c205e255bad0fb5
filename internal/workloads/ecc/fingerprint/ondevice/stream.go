package ondevice

import (
	"errors"
	"time"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// slabBytes is the memory of the device that an image passes through, but for two slices.
const slabBytes = 1 << 30

// Compute returns the sum over the cells of an image. The given number of goroutines copies pieces to
// the device while the kernels run on the pieces before.
func Compute(d device.Device, in grid.Source, k fingerprint.Key, threads int) (fingerprint.Sum, error) {
	return compute(d, in, k, threads, slabBytes)
}

func compute(d device.Device, in grid.Source, k fingerprint.Key, threads int, bytes int64) (fingerprint.Sum, error) {
	p := fingerprint.Prepare(in.Type(), in.Ladder(), k)
	return p.OverPeriods(in, func(in grid.Source) (sum fingerprint.Sum, err error) {
		o, err := open(d, p, in, k.Convention())
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, o.Close()) }()
		return o.pass(in, threads, bytes)
	})
}

// A slab is slices in the device's memory, of an image that passes through it.
type slab struct {
	*Looker
	memory device.Buffer
	size   int64 // of a slice, in bytes
	room   int64 // slices that there is room for
	first  int64 // slice at the beginning
	there  int64 // slices in memory, from first on
	next   int64 // the first position that is not done
}

// pass streams an image through a slab of about the given bytes. A 2D image, and one that is
// periodic along its slices, is in memory as a whole.
func (o *Looker) pass(in grid.Source, threads int, bytes int64) (sum fingerprint.Sum, err error) {
	s := &slab{Looker: o, size: grid.SliceBytes(in), next: -1}
	s.room = in.Shape().Slices()
	if in.Shape().Dim() == 3 && o.rings&4 == 0 {
		s.room = min(s.room, max(2, bytes/s.size))
	}
	feed, err := resident.NewStages(o.On, in, 0, threads)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, feed.Close()) }()
	const word = 4 // kernels of bytes read whole words at the end of the image
	end := s.room * s.size
	if s.memory, err = o.On.Alloc("slab", grid.CeilDiv(end, word)*word); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.memory.Close()) }()
	if err := o.stream.Fill(s.memory, end, s.memory.Bytes()-end, 0); err != nil {
		return nil, err
	}
	if err := o.begin(); err != nil {
		return nil, err
	}
	if err := feed.Each(o.stream, nil, s.take); err != nil {
		return nil, err
	}
	err = o.On.Do(func() error { return errors.Join(s.look(o.shape.D), o.end()) })
	if err := errors.Join(err, o.stream.Wait()); err != nil {
		return nil, err
	}
	return o.sum(0), nil
}

// take appends a piece of the image to the slab. If the slab is full, its positions are computed
// first, and its last slice moves to the beginning.
func (s *slab) take(p resident.Piece) error {
	for done := int64(0); p.Lo+done < p.Hi; {
		if s.there == s.room {
			last := s.first + s.there - 1
			if err := errors.Join(s.look(last), s.stream.Copy(s.memory, 0, s.memory, (s.there-1)*s.size, s.size)); err != nil {
				return err
			}
			s.first, s.there = last, 1
		}
		n := min(s.room-s.there, p.Hi-p.Lo-done)
		if err := s.stream.Copy(s.memory, s.there*s.size, p.From, p.Off+done*s.size, n*s.size); err != nil {
			return err
		}
		s.there += n
		done += n
	}
	return nil
}

// look adds the kernels for the positions before to.
func (s *slab) look(to int64) error {
	from := s.next
	s.next = to
	return s.add(s.memory, 1, s.first, from, to)
}

// A Witness computes fingerprints on a device that is already in use.
type Witness struct {
	// Device returns the device, or nil.
	Device func() device.Device
}

// linkBytes is the least rate of a link to a device, in bytes per nanosecond.
const linkBytes = 8

// Work estimates the time of Compute on the given number of cores, rather high, and reports whether
// there is a device.
func (e Witness) Work(in grid.Source, k fingerprint.Key, threads int) (time.Duration, bool) {
	d, l := e.Device(), in.Ladder()
	if d == nil || !countable(in.Shape()) || !fingerprint.Tabled(l) || !l.Indexed() && !hasRoom(d) {
		return 0, false
	}
	voxel := in.Type().Size() * 1000 / linkBytes // picoseconds
	if _, whole := in.(*grid.Field); !whole {
		voxel += 3000 / int64(max(1, threads))
	}
	levels := int64(0)
	if l.Indexed() {
		levels = 40 * l.Len() * int64(k.Functions()) / int64(max(1, threads))
	}
	return time.Duration(voxel*grid.LookedAt(in)/1000+levels)*time.Nanosecond + 5*time.Millisecond, true
}

// Compute returns the fingerprint of an image.
func (e Witness) Compute(in grid.Source, k fingerprint.Key, threads int) (fingerprint.Sum, error) {
	return Compute(e.Device(), in, k, threads)
}
