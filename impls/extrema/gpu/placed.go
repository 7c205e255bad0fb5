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

// A placed is the device side of an image or a batch: its memory, and its kernels. If the ladder
// allows, these are the kernels that compare levels. If a value is no level, the kernels for single
// values are used instead.
type placed struct {
	resident.Objects
	in             grid.Source
	upload         bool // each Do copies the image
	threads        int  // threads that read the image for the copy
	timed          bool // by events around the launch
	feed           *resident.Feed
	memory         device.Buffer // the image, between two guards
	at             uint64        // address of the image that is counted
	strays         device.Buffer
	strayed        device.Pinned // strays on the host
	scaling        scaling
	levels, single *march // either may be nil
	last           *march // the one of the last Do
}

// place prepares a placed for some conditions; allocate makes its memory.
func place(d device.Device, in grid.Source, c bench.Conditions) placed {
	return placed{Objects: resident.NewObjects(d), in: in,
		upload: c.Scope == bench.E2E || c.Scope == bench.File, threads: c.Threads,
		timed: c.Scope == bench.Kernel}
}

// allocate allocates the memory after the kernels were loaded. It also copies the image, unless
// each Do copies it.
func (p *placed) allocate(what string) error {
	edge, size := guard(p.in), grid.TotalBytes(p.in)
	p.memory = p.NewBuffer(what, 2*edge+size)
	p.strays, p.strayed = p.NewBuffer("strays", 8), p.NewPinned("strays on the host", 8)
	if err := p.Err(); err != nil {
		return err
	}
	p.at = p.memory.Address() + uint64(edge)
	// The second guard begins with the word that contains the image's end; the image is copied
	// later.
	s, outside, end := p.stream(), outsideWord(p.in), (edge+size)&^3
	if err := errors.Join(s.Fill32(p.memory, 0, edge/4, outside), s.Fill32(p.memory, end, (2*edge+size-end)/4, outside),
		s.Fill(p.strays, 0, p.strays.Bytes(), 0)); err != nil {
		return err
	}
	if p.upload {
		p.feed = p.NewFeed(p.in, 0, p.threads)
		return p.Err()
	}
	return p.put(nil)
}

// outsideWord returns the content of the guards, in words. For 16-bit types it is the first level,
// which the sliced kernels treat as a voxel without changes. It is at least the least value of the
// type, because the bias that pairs of values are shifted by must not carry.
func outsideWord(in grid.Source) uint32 {
	if in.Type().Size() != 2 {
		return 0
	}
	least := grid.Identity(in.Type()).Value(0)
	lo := uint32(uint16(int32(max(least, in.Ladder().Value(0)))))
	return lo<<16 | lo
}

// put copies the image to the device, or enqueues the copy on the stream of the kernels. It then
// selects the kernels that compare levels, if every value equals a level.
func (p *placed) put(trace *bench.Trace) error {
	var err error
	switch s := p.stream(); {
	case !p.upload:
		err = resident.Stage(p.On, s, p.memory, guard(p.in), p.in)
	case trace != nil:
		err = p.feed.Upload(s, p.memory, guard(p.in), trace)
	default: // without a separate timing
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

// stream returns the stream for the copy: that of the kernels that read the image first.
func (p *placed) stream() device.Stream {
	if p.single != nil {
		return p.single.Stream
	}
	return p.levels.Stream
}

// strays names the kernel that counts the values that equal no level.
func strays(t grid.Type) string { return fmt.Sprintf("ecc_extrema_strays_%v", t) }

// straying counts the values that equal no level, after the copy.
func (p *placed) straying() (n int64, err error) {
	s := p.single.Stream
	err = p.On.Do(func() error {
		if err := p.single.Run(strays(p.in.Type()), p.strays, p.at, p.in.Shape().Voxels()); err != nil {
			return err
		}
		return s.Copy(p.strayed, 0, p.strays, 0, p.strays.Bytes())
	})
	if err = errors.Join(err, s.Wait()); err != nil {
		return 0, err
	}
	if n = int64(binary.LittleEndian.Uint64(p.strayed.Data())); n != 0 {
		err = s.Fill(p.strays, 0, p.strays.Bytes(), 0) // reset for the next image
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

// Sensors returns the readings of the device's sensors at the last call of Flags.
func (p *placed) Sensors() []string { return p.last.Sensors() }

// Flags reports the kernels for single values, which are slower, if they are used.
func (p *placed) Flags() []string {
	flags := p.last.Flags()
	if p.last == p.single {
		flags = append(flags, "kernel=single")
	}
	return flags
}

func (p *placed) Close() error {
	return errors.Join(p.Objects.Close(), resident.CloseEach(p.marches()))
}
