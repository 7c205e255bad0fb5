package gpu

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

// A placed is what an image, or a batch, has on a device: its memory, and the
// kernels that it is bound to. Those are the ones that compare levels where its
// ladder allows, and those for singles where a value does not stand on it.
type placed struct {
	d              device.Device
	in             grid.Source
	upload         bool // by each Do
	threads        int  // that read the image for it
	timed          bool // by events around the launch
	feed           *resident.Feed
	memory         device.Buffer // between two guards
	at             uint64        // where the image is that is counted
	strays         device.Buffer
	strayed        device.Pinned // strays on the host
	scaling        scaling
	levels, single *march // either may be nil
	last           *march // that of the last Do
}

// place is what an image gets on a device under some conditions; allocate makes it.
func place(d device.Device, in grid.Source, c bench.Conditions) placed {
	return placed{d: d, in: in, upload: c.Scope == bench.E2E || c.Scope == bench.File, threads: c.Threads, timed: c.Scope == bench.Kernel}
}

// allocate allocates the memory once the kernels are there, and copies the image unless
// each Do does it.
func (p *placed) allocate(what string) (err error) {
	edge, size := guard(p.in), grid.TotalBytes(p.in)
	if p.memory, err = p.d.Alloc(what, 2*edge+size); err != nil {
		return err
	}
	p.at = p.memory.Address() + uint64(edge)
	if p.strays, err = p.d.Alloc("strays", 8); err != nil {
		return err
	}
	if p.strayed, err = p.d.AllocPinned("strays on the host", p.strays.Bytes()); err != nil {
		return err
	}
	// The second begins with the word that the image ends in, which comes later.
	s, outside, end := p.stream(), outsideWord(p.in), (edge+size)&^3
	if err = errors.Join(s.Fill32(p.memory, 0, edge/4, outside), s.Fill32(p.memory, end, (2*edge+size-end)/4, outside), s.Fill(p.strays, 0, p.strays.Bytes(), 0)); err != nil {
		return err
	}
	if p.upload {
		p.feed, err = resident.NewFeed(p.d, p.in, 0, p.threads)
		return err
	}
	return p.put(nil)
}

// outsideWord returns what is in the memory around an image, in words: the first level of 16-bit
// types, which the sliced kernels take for a voxel that changes nothing; or their least
// value where that is more, for what pairs of values are shifted by must not carry.
func outsideWord(in grid.Source) uint32 {
	if in.Type().Size() != 2 {
		return 0
	}
	least := grid.Identity(in.Type()).Value(0)
	lo := uint32(uint16(int32(max(least, in.Ladder().Value(0)))))
	return lo<<16 | lo
}

// put copies the image to the device, or adds the copy to the stream of the kernels that
// count it, and takes those that compare levels where every value of it stands on the
// ladder.
func (p *placed) put(trace *bench.Trace) error {
	var err error
	switch s := p.stream(); {
	case !p.upload:
		err = resident.Stage(p.d, s, p.memory, guard(p.in), p.in)
	case trace != nil:
		err = p.feed.Upload(s, p.memory, guard(p.in), trace)
	default: // nobody asks how long it takes by itself
		err = p.feed.Add(s, p.memory, guard(p.in))
	}
	if err != nil {
		return err
	}
	if p.levels == nil || p.single == nil {
		return nil
	}
	n, err := p.straying()
	p.last = p.levels
	if n > 0 {
		p.last = p.single
	}
	return err
}

// stream is what the image is copied by: that of the kernels that look at it first.
func (p *placed) stream() device.Stream {
	if p.single != nil {
		return p.single.Stream
	}
	return p.levels.Stream
}

// strays is the kernel that counts the values that do not stand on a ladder.
func strays(t grid.Type) string { return fmt.Sprintf("ecc_extrema_strays_%v", t) }

// straying counts the values that do not stand on their ladder, when the image is there.
func (p *placed) straying() (n int64, err error) {
	s := p.single.Stream
	err = p.d.Do(func() error {
		if err := p.single.Run(strays(p.in.Type()), p.strays, p.at, p.in.Shape().Voxels()); err != nil {
			return err
		}
		return s.Copy(p.strayed, 0, p.strays, 0, p.strays.Bytes())
	})
	if err = errors.Join(err, s.Wait()); err != nil {
		return 0, err
	}
	if n = int64(binary.LittleEndian.Uint64(p.strayed.Data())); n != 0 {
		err = s.Fill(p.strays, 0, p.strays.Bytes(), 0) // as it was, for the next image
	}
	return n, err
}

func (p *placed) marches() []*march {
	var list []*march
	for _, m := range []*march{p.levels, p.single} {
		if m != nil {
			list = append(list, m)
		}
	}
	return list
}

func (p *placed) Poison() {
	for _, m := range p.marches() {
		m.Poison()
	}
}

func (p *placed) Cool() error                     { return p.last.Cool() }
func (p *placed) Elapsed() (time.Duration, error) { return p.last.Elapsed() }
func (p *placed) Device() string                  { return p.last.Device() }
func (p *placed) UUIDs() []string                 { return p.last.UUIDs() }
func (p *placed) DeviceMemory() int64             { return p.last.DeviceMemory() }

// Sensors is what the device's sensors showed at the last Flags.
func (p *placed) Sensors() []string { return p.last.Sensors() }

// Flags names the kernels for values as such, which are slower, where they are taken.
func (p *placed) Flags() []string {
	flags := p.last.Flags()
	if p.last == p.single {
		flags = append(flags, "kernel=single")
	}
	return flags
}

func (p *placed) Close() error {
	errs := []error{resident.CloseAll(p.memory, p.strays, p.strayed)}
	if p.feed != nil {
		errs = append(errs, p.feed.Close())
	}
	for _, m := range p.marches() {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
