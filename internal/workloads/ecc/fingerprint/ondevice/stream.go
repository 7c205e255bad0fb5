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

// Of is the sum over the cells of an image, which so many goroutines bring to the device in
// pieces, as the kernels look at those before.
func Of(d device.Device, in grid.Source, k fingerprint.Key, threads int) (fingerprint.Sum, error) {
	return of(d, in, k, threads, slabBytes)
}

func of(d device.Device, in grid.Source, k fingerprint.Key, threads int, bytes int64) (fingerprint.Sum, error) {
	p := fingerprint.Prepare(in.Type(), in.Ladder(), k)
	return p.By(in, func(in grid.Source) (sum fingerprint.Sum, err error) {
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
	there  int64 // slices that are there, from that one on
	next   int64 // position that was not looked at yet
}

// pass passes an image through memory of about so many bytes. One whose first slice comes after
// the last one too is there at once, and so is a 2D image.
func (o *Looker) pass(in grid.Source, threads int, bytes int64) (sum fingerprint.Sum, err error) {
	s := &slab{Looker: o, size: grid.SliceBytes(in), next: -1}
	s.room = in.Shape().Slices()
	if in.Shape().Dim() == 3 && o.rings&4 == 0 {
		s.room = min(s.room, max(2, bytes/s.size))
	}
	feed, err := resident.NewStages(o.d, in, 0, threads)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, feed.Close()) }()
	const word = 4 // of which kernels of bytes read all, where the image ends within one
	end := s.room * s.size
	if s.memory, err = o.d.Alloc("slab", grid.CeilDiv(end, word)*word); err != nil {
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
	err = o.d.Do(func() error { return errors.Join(s.look(o.shape.D), o.end()) })
	if err := errors.Join(err, o.stream.Wait()); err != nil {
		return nil, err
	}
	return o.sum(), nil
}

// take adds to the stream what is to be done with a piece of the image. Where there is no more
// room it has been looked at, and the last slice moves to the beginning.
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

// look looks at the positions before one.
func (s *slab) look(to int64) error {
	from := s.next
	s.next = to
	return s.add(s.memory, s.first, from, to)
}

// An Eye takes fingerprints on a device that is in use anyway.
type Witness struct {
	// Device is that device, nil for none.
	Device func() device.Device
}

// linkBytes is what a link brings to a device in a nanosecond, at least.
const linkBytes = 8

// Work estimates the time that Of takes, rather more than less, on so many cores, and whether
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

// Of is the fingerprint of an image.
func (e Witness) Of(in grid.Source, k fingerprint.Key, threads int) (fingerprint.Sum, error) {
	return Of(e.Device(), in, k, threads)
}
