package resident

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
)

// A reading is a source that records its readers.
type reading struct {
	grid.Source
	reads atomic.Int64
	read  func(lo int64) error // before slices from lo on are read
}

func (r *reading) ReadSlab(dst []byte, lo, hi int64) error {
	r.reads.Add(1)
	if r.read != nil {
		if err := r.read(lo); err != nil {
			return err
		}
	}
	return r.Source.ReadSlab(dst, lo, hi)
}

// target is a part of device memory with guards around it, and two streams.
type target struct {
	s, other device.Stream
	buffer   device.Buffer
}

const edge = 13

func newTarget(t *testing.T, d device.Device, in grid.Source) *target {
	t.Helper()
	s, err := d.NewStream("uploading")
	if err != nil {
		t.Fatal(err)
	}
	other, err := d.NewStream("checking")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc("image", grid.TotalBytes(in)+2*edge)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { CloseAll(b, s, other) })
	return &target{s, other, b}
}

// check compares the memory with the image.
func (to *target) check(t *testing.T, in grid.Source) {
	t.Helper()
	to.checkSlices(t, in, in.Shape().Slices())
}

// checkSlices compares the memory with the first n slices of the image and checks that no others
// are there.
func (to *target) checkSlices(t *testing.T, in grid.Source, n int64) {
	t.Helper()
	image, got := grid.NewBuffer(n*grid.SliceBytes(in)), make([]byte, to.buffer.Bytes())
	err := errors.Join(in.ReadSlab(image, 0, n), to.other.Download(got, to.buffer, 0))
	around := bytes.Repeat([]byte{0x11}, edge)
	none := bytes.Repeat([]byte{0x11}, int(grid.TotalBytes(in))-len(image))
	if err != nil || !bytes.Equal(got, slices.Concat(around, image, none, around)) {
		t.Errorf("the image is not what came (%v)", err)
	}
}

func (to *target) clear() error { return to.s.Fill(to.buffer, 0, to.buffer.Bytes(), 0x11) }

func open(t *testing.T, name string) grid.Source {
	t.Helper()
	in, err := datasets.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func standIn(t *testing.T) device.Device {
	t.Helper()
	d, err := standIns(t, 1)("0")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The bytes are the same in pieces of every size, with any number of goroutines, in repeated
// uploads, and from memory pinned in place.
func TestFeed(t *testing.T) {
	for _, name := range []string{
		"noise/shape=7x9x131/type=float32/seed=1", "noise/shape=7x9x131/type=uint8/seed=1", "noise/shape=37x129/type=uint16/seed=1",
		"noise/shape=1x1/type=uint8/seed=1", "noise/shape=512x600/type=float32/seed=1",
	} {
		streamed := open(t, name)
		field, err := grid.Load(streamed)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []grid.Source{streamed, field} {
			for _, bytes := range []int64{1, 1000, 5000, 1 << 20, 0} {
				for _, threads := range []int{0, 1, 3, 100} {
					t.Run(fmt.Sprintf("%s/%T/%d/%d", name, in, bytes, threads), func(t *testing.T) {
						d := standIn(t)
						to := newTarget(t, d, in)
						f, err := NewFeed(d, in, bytes, threads)
						if err != nil {
							t.Fatal(err)
						}
						defer f.Close()
						for range 3 {
							var trace bench.Trace
							if err := errors.Join(to.clear(), f.Upload(to.s, to.buffer, edge, &trace)); err != nil {
								t.Fatal(err)
							}
							to.check(t, in)
							parts := trace.Spans()
							if _, read := parts["read into pinned memory"]; parts["upload"] <= 0 || read == f.Whole() {
								t.Errorf("the parts are %v, pinned where it is: %v", parts, f.Whole())
							}
						}
						if err := errors.Join(to.clear(), f.Upload(to.s, to.buffer, edge, nil)); err != nil {
							t.Fatal(err)
						}
						to.check(t, in)
					})
				}
			}
		}
	}
}

// An image is pinned in place if its memory is large and begins at a page, but not for a single
// upload.
func TestFeedPinsInPlace(t *testing.T) {
	d := standIn(t)
	in := open(t, "noise/shape=512x600/type=float32/seed=1")
	data := grid.NewBuffer(grid.TotalBytes(in) + 1<<16)
	page := -int(uintptrOf(data)) & (1<<16 - 1)
	for at, want := range map[int]bool{page: true, page + 4: false} {
		mem := data[at : at+int(grid.TotalBytes(in))]
		if err := in.ReadSlab(mem, 0, in.Shape().Slices()); err != nil {
			t.Fatal(err)
		}
		field, err := grid.Trusted(in.Shape(), in.Type(), mem, in.Ladder())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			make func(device.Device, grid.Source, int64, int) (*Feed, error)
			want bool
		}{{NewFeed, want}, {NewStages, false}} {
			f, err := c.make(d, field, 0, 2)
			if err != nil || f.Whole() != c.want {
				t.Fatalf("pinned where it is, at %d: %v, %v, want %v", at-page, f.Whole(), err, c.want)
			}
			to := newTarget(t, d, in)
			if err := errors.Join(to.clear(), f.Upload(to.s, to.buffer, edge, nil)); err != nil {
				t.Fatal(err)
			}
			to.check(t, in)
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Several pieces are read at the same time.
func TestFeedReadsAhead(t *testing.T) { synctest.Test(t, feedReadsAhead) }

func feedReadsAhead(t *testing.T) {
	const ahead = 3
	d := standIn(t)
	var met sync.WaitGroup
	met.Add(ahead)
	in := &reading{Source: open(t, "noise/shape=8x8x30/type=uint8/seed=1")}
	in.read = func(lo int64) error {
		if lo >= ahead {
			return nil
		}
		met.Done()
		all := make(chan struct{})
		go func() {
			met.Wait()
			close(all)
		}()
		select {
		case <-all:
			return nil
		case <-time.After(time.Second): // when all wait
			return errors.New("nobody else reads")
		}
	}
	f, err := NewFeed(d, in, 1, ahead)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	to := newTarget(t, d, in)
	if err := errors.Join(to.clear(), f.Upload(to.s, to.buffer, edge, nil)); err != nil {
		t.Fatal(err)
	}
	in.read = nil
	to.check(t, in)
}

// breaking is a stream that fails at its nth copy, at once, or once the device gets
// there.
type breaking struct {
	device.Stream
	copies, at int
	late       func() error
}

var errBroken = errors.New("broken")

func (b *breaking) Copy(to device.Memory, at int64, from device.Memory, off, n int64) error {
	if b.copies++; b.copies == b.at {
		if b.late == nil {
			return errBroken
		}
		return b.late()
	}
	return b.Stream.Copy(to, at, from, off, n)
}

// An error in the middle of an upload ends it. The first error is returned, no goroutine reads on,
// no copy is in progress, and nothing leaks. The feed can be used again.
func TestFeedFails(t *testing.T) {
	const pieces = 40
	for _, at := range []int{1, 2, 7, pieces - 1, pieces} {
		for _, what := range []string{"read", "copy", "later"} {
			t.Run(fmt.Sprintf("%s %d", what, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { feedFails(t, what, pieces, at) })
			})
		}
	}
}

// feedFails fails at one of several pieces.
func feedFails(t *testing.T, what string, pieces, at int) {
	const ahead = 4
	before := runtime.NumGoroutine()
	d := standIn(t)
	in := &reading{Source: open(t, fmt.Sprintf("noise/shape=8x8x%d/type=uint8/seed=1", pieces))}
	f, err := NewFeed(d, in, 1, ahead)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	to := newTarget(t, d, in)
	stream := &breaking{Stream: to.s}
	want := "broken"
	switch what {
	case "read":
		in.read = func(lo int64) error {
			if lo == int64(at-1) {
				return errBroken
			}
			return nil
		}
	case "copy":
		stream.at = at
	case "later":
		m, err := d.LoadModule("m", []byte(".entry fails() {}"))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		kernel, err := m.Function("fails")
		if err != nil {
			t.Fatal(err)
		}
		stream.at, want = at, "the kernel failed"
		stream.late = func() error { return to.s.Launch(kernel, device.Launch{}) }
	}
	if err := errors.Join(to.clear(), to.s.Wait()); err != nil {
		t.Fatal(err)
	}
	var trace bench.Trace
	if err := f.Upload(stream, to.buffer, edge, &trace); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if n := in.reads.Load(); n > int64(at+2*ahead) {
		t.Errorf("%d pieces were read, the %dth failed", n, at)
	}
	synctest.Wait() // for goroutines about to end
	// A goroutine that runs unrelated finalizers is counted while it does.
	left := func() int { return runtime.NumGoroutine() - before }
	for n := 0; n < 100000 && left() > 0; n++ {
		runtime.Gosched()
	}
	if n := left(); n > 0 {
		t.Errorf("%d goroutines are left of an upload", n)
	}
	in.read = nil
	to.checkSlices(t, in, int64(at-1))
	if what == "later" {
		return // of its stream nothing can be expected
	}
	if err := errors.Join(to.clear(), f.Upload(to.s, to.buffer, edge, nil)); err != nil {
		t.Fatal(err)
	}
	to.check(t, in)
}

// poor is a device whose pinned memory is exhausted after a number of allocations.
type poor struct {
	device.Device
	left int
}

func (p *poor) AllocPinned(name string, bytes int64) (device.Pinned, error) {
	if p.left--; p.left < 0 {
		return nil, errBroken
	}
	return p.Device.AllocPinned(name, bytes)
}

func (p *poor) Register(string, []byte) (device.Pinned, error) { return nil, errBroken }

// Pinned memory is freed if later allocations fail: standIns counts the remaining memory.
func TestFeedWithoutPinnedMemory(t *testing.T) {
	in := open(t, "noise/shape=8x8x30/type=uint8/seed=1")
	for left := range 3 {
		if f, err := NewFeed(&poor{standIn(t), left}, in, 1, 3); !errors.Is(err, errBroken) {
			t.Errorf("%d pieces of three can be pinned: %v, %v", left, f, err)
		}
	}
	whole := make([]byte, 2<<20)
	whole = whole[-int(uintptrOf(whole))&(1<<16-1):]
	field, err := grid.Trusted(grid.Shape{D: 1, H: 1 << 10, W: 1 << 10}, grid.Uint8, whole[:1<<20], in.Ladder())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewFeed(&poor{standIn(t), 9}, field, 0, 3); !errors.Is(err, errBroken) {
		t.Errorf("an image that cannot be pinned: %v", err)
	}
	f, err := NewFeed(&poor{standIn(t), 9}, field.Repeating(1023), 0, 3)
	if err != nil || f.Whole() {
		t.Fatalf("one at several addresses that cannot be pinned: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A part of an image that is pinned in place is copied through stages: a driver pins no page twice.
func TestFeedOfCutImage(t *testing.T) {
	const side, planes = 128, 130
	streamed := open(t, fmt.Sprintf("noise/shape=%dx%dx%d/type=uint8/seed=1", side, side, planes))
	data := grid.NewBuffer(grid.TotalBytes(streamed))
	if err := streamed.ReadSlab(data, 0, planes); err != nil {
		t.Fatal(err)
	}
	in, err := grid.Trusted(streamed.Shape(), streamed.Type(), data, streamed.Ladder())
	if err != nil {
		t.Fatal(err)
	}
	d := standIn(t)
	whole, err := NewFeed(d, in, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !whole.Whole() {
		t.Fatal("the image is not pinned where it is")
	}
	stream, err := d.NewStream("upload")
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []int64{planes, planes - 1, 65} {
		cut := views.Crop(in, 0, end)
		f, err := NewFeed(d, cut, 0, 2)
		if err != nil {
			t.Fatalf("the first %d planes: %v", end, err)
		}
		if f.Whole() {
			t.Errorf("the first %d planes are pinned twice", end)
		}
		to, err := d.Alloc("image", grid.TotalBytes(cut))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, grid.TotalBytes(cut))
		if err := errors.Join(f.Upload(stream, to, 0, nil), stream.Download(got, to, 0)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, data[:len(got)]) {
			t.Errorf("the first %d planes arrive as others", end)
		}
		if err := errors.Join(to.Close(), f.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(whole.Close(), stream.Close()); err != nil {
		t.Error(err)
	}
}

// The pinned memory of a feed is bounded, but for two slices.
func TestFeedIsBounded(t *testing.T) {
	d := standIn(t)
	for name, want := range map[string]struct {
		threads int
		stages  []int64
	}{
		"noise/shape=1024x1024x9/type=uint8/seed=1":   {4, []int64{8 << 20, 8 << 20}},
		"noise/shape=1024x1024x100/type=uint8/seed=1": {100, slices.Repeat([]int64{8 << 20}, mostAhead)},
		"noise/shape=1000x1000x9/type=uint8/seed=1":   {1, []int64{8e6, 8e6}},
		"noise/shape=16384x10000x9/type=uint8/seed=1": {16, []int64{16384e4, 16384e4}},
	} {
		f, err := NewFeed(d, open(t, name), 0, want.threads)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, s := range f.stages {
			got = append(got, s.piece.Bytes())
		}
		if !slices.Equal(got, want.stages) {
			t.Errorf("%s by %d goroutines: pinned pieces of %d bytes, want %d", name, want.threads, got, want.stages)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// registering records the sizes of memory pinned in place.
type registering struct {
	device.Device
	bytes []int
}

func (r *registering) Register(name string, mem []byte) (device.Pinned, error) {
	r.bytes = append(r.bytes, len(mem))
	return r.Device.Register(name, mem)
}

// Each piece of a periodic image is pinned once: rows of 2 KiB, where row 600 repeats the first.
func TestFeedOfRepeatedImage(t *testing.T) {
	const row, cycle, rows = 2 << 10, 600, 1500
	streamed := open(t, fmt.Sprintf("noise/shape=512x%d/type=float32/seed=1/repeat=%d", rows, cycle))
	loaded, err := grid.Load(streamed)
	if err != nil {
		t.Fatal(err)
	}
	in := loaded.Repeating(cycle)
	for slices, want := range map[int64]int64{
		1: cycle, 7: cycle + 7, 60: cycle, 450: cycle + 450, 600: cycle, 900: rows, 1000: rows, 1500: rows,
	} {
		d := &registering{Device: standIn(t)}
		f, err := NewFeed(d, in, slices*row, 2)
		if err != nil || !f.Whole() || len(d.bytes) != 1 || d.bytes[0] != int(want*row) {
			t.Fatalf("pieces of %d rows: %v, pinned %d, want %d", slices, err, d.bytes, want*row)
		}
		to := newTarget(t, d, in)
		for range 2 {
			if err := errors.Join(to.clear(), f.Upload(to.s, to.buffer, edge, nil)); err != nil {
				t.Fatal(err)
			}
			to.check(t, in)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Any rows of a pinned image come from their place, and rows of a periodic image in parts.
func TestPlaceOfRepeatedImage(t *testing.T) {
	const row, cycle, rows = 2 << 10, 600, 1500
	streamed := open(t, fmt.Sprintf("noise/shape=512x%d/type=float32/seed=1/repeat=%d", rows, cycle))
	loaded, err := grid.Load(streamed)
	if err != nil {
		t.Fatal(err)
	}
	for in, repeats := range map[*grid.Field]bool{loaded: false, loaded.Repeating(cycle): true} {
		d := standIn(t)
		p, err := Pin(d, in, row)
		if err != nil {
			t.Fatal(err)
		}
		to := newTarget(t, d, in)
		for _, of := range [][2]int64{{0, rows}, {0, cycle}, {1, cycle + 1}, {cycle - 1, 2*cycle + 1}, {cycle, 2 * cycle}, {1499, 1500}, {7, 7}} {
			lo, n, parts := of[0]*row, (of[1]-of[0])*row, int64(0)
			err := p.Each(lo, n, func(from device.Memory, at, done, n int64) error {
				parts++
				return to.s.Copy(to.buffer, done, from, at, n)
			})
			got := make([]byte, n)
			if err := errors.Join(err, to.s.Download(got, to.buffer, 0)); err != nil {
				t.Fatal(err)
			}
			want := min(n, 1)
			if repeats && n > 0 {
				want = (of[1]-1)/cycle - of[0]/cycle + 1
			}
			if !bytes.Equal(got, loaded.Data()[lo:lo+n]) || parts != want {
				t.Errorf("rows %v, which repeat %v: in %d parts, want %d; the bytes are right: %v", of, repeats, parts, want, bytes.Equal(got, loaded.Data()[lo:lo+n]))
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func uintptrOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(&mem[0])) }

// If a copy of an image pinned in place fails, no other copy is in progress.
func TestFeedInPlaceFails(t *testing.T) {
	const at = 7
	d := standIn(t)
	in := open(t, "noise/shape=512x600/type=float32/seed=1")
	mem := grid.NewBuffer(grid.TotalBytes(in) + 1<<16)
	mem = mem[-int(uintptrOf(mem))&(1<<16-1):][:grid.TotalBytes(in)]
	if err := in.ReadSlab(mem, 0, in.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	field, err := grid.Trusted(in.Shape(), in.Type(), mem, in.Ladder())
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFeed(d, field, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	to := newTarget(t, d, in)
	err = errors.Join(to.clear(), to.s.Wait(), f.Upload(&breaking{Stream: to.s, at: at}, to.buffer, edge, nil))
	if !f.Whole() || !errors.Is(err, errBroken) {
		t.Errorf("pinned where it is: %v, error %v", f.Whole(), err)
	}
	to.checkSlices(t, in, at-1)
}
