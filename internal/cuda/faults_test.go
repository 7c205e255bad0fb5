package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"eccbench/internal/device"
)

// Without a driver that will do, the reason is one line.
func TestUnavailable(t *testing.T) {
	for name, c := range map[string]struct {
		flags   []string
		prepare func(*fake)
		env     string
		want    string
	}{
		"old driver":     {prepare: func(f *fake) { f.set("version", 11040) }, want: "the NVIDIA driver is too old: it supports CUDA 11.4, this needs 11.8"},
		"no symbol":      {flags: []string{"-DcuTexObjectCreate=gone"}, want: "the NVIDIA driver of CUDA 12.8 has no cuTexObjectCreate: "},
		"no suffix":      {flags: []string{"-DcuMemAlloc_v2=cuMemAlloc"}, want: "has no cuMemAlloc_v2"},
		"old, no symbol": {flags: []string{"-DcuTexObjectCreate=gone"}, prepare: func(f *fake) { f.set("version", 10000) }, want: "supports CUDA 10.0"},
		"no version":     {flags: []string{"-DcuDriverGetVersion=gone"}, want: "is no CUDA driver: it has no cuDriverGetVersion"},
		"no device":      {prepare: func(f *fake) { f.set("devices", 0) }, want: "no usable NVIDIA device: "},
		"none visible":   {prepare: func(f *fake) { f.set("devices", 0) }, env: "7", want: `(CUDA_ERROR_NO_DEVICE, 100), with CUDA_VISIBLE_DEVICES="7"`},
		"count fails":    {prepare: func(f *fake) { f.fail("cuDeviceGetCount", 999, 0) }, want: "cuDeviceGetCount: unknown error (CUDA_ERROR_UNKNOWN, 999)"},
		"version fails":  {prepare: func(f *fake) { f.fail("cuDriverGetVersion", 1, 0) }, want: "no usable NVIDIA driver: "},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.flags...)
			if c.prepare != nil {
				c.prepare(f)
			}
			if c.env != "" {
				t.Setenv("CUDA_VISIBLE_DEVICES", c.env)
			}
			_, err := Load()
			wantUnavailable(t, err, c.want)
		})
	}
	t.Run("no library", func(t *testing.T) {
		t.Setenv("ECCBENCH_LIBCUDA", filepath.Join(t.TempDir(), "libcuda.so.1"))
		_, err := Load()
		wantUnavailable(t, err, "no NVIDIA driver: ")
	})
	t.Run("no shared library", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "libcuda.so.1")
		if err := os.WriteFile(path, []byte("two\nlines"), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Setenv("ECCBENCH_LIBCUDA", path)
		_, err := Load()
		wantUnavailable(t, err, "no NVIDIA driver: ")
	})
}

func wantUnavailable(t *testing.T, err error, want string) {
	t.Helper()
	if !device.IsUnavailable(err) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with %q that says unavailable", err, want)
	}
}

// Each call fails once, at each place where it is made. The error is complete, nothing leaks, and
// the next try works.
func TestEveryCallFails(t *testing.T) {
	runtime.LockOSThread() // whose context stays when it cannot be popped
	defer runtime.UnlockOSThread()
	f := newFake(t)
	f.set("slow_us", 1) // so that there is something to wait for
	ptx := kernels(t)
	whole := func() error {
		drv, err := Load()
		if err != nil {
			return err
		}
		drv.lib.looks = 1
		dev, err := drv.Open(0)
		if err != nil {
			return err
		}
		return errors.Join(try(dev, ptx), dev.Close())
	}
	f.log()
	check(t, whole())
	calls := f.log()
	count := map[string]int{}
	for _, call := range calls {
		count[call]++
	}
	for s := range symbolCount {
		if s != cuGetErrorName && s != cuGetErrorString && count[symbols[s].names[0]] == 0 {
			t.Errorf("%s is never called", symbols[s].names[0])
		}
	}
	const code = 400 // neither sticky nor expected of any call
	for call, n := range count {
		for skip := range n {
			f.fail(call, code, skip)
			err := whole()
			if err == nil {
				t.Errorf("%s fails the %d. time and nobody notices", call, skip+1)
				continue
			}
			found := find(err, call)
			if found == nil || found.Code != code || found.Name != "CUDA_ERROR_INVALID_HANDLE" || found.Text != "invalid resource handle" || found.Object == "" {
				t.Errorf("%s fails the %d. time: %v", call, skip+1, err)
			} else if text := found.Error(); text != fmt.Sprintf("%s: %s: invalid resource handle (CUDA_ERROR_INVALID_HANDLE, 400)", found.Object, call) {
				t.Errorf("the text of %#v is %q", found, text)
			}
			leaked := f.get("buffers") + f.get("pinned") + f.get("registered") + f.get("arrays") + f.get("textures") + f.get("streams") + f.get("events") + f.get("modules") + f.get("contexts")
			// An object whose release fails stays until its context is released.
			frees := strings.Contains(call, "Free") || strings.Contains(call, "Destroy") || strings.Contains(call, "Unload") || strings.Contains(call, "Unregister")
			if call != "cuDevicePrimaryCtxRelease_v2" && leaked != 0 {
				t.Errorf("%s fails the %d. time: %d objects are left", call, skip+1, leaked)
			}
			if with := f.get("freed_with_context"); with != 0 && !frees && call != "cuDevicePrimaryCtxRelease_v2" {
				t.Errorf("%s fails the %d. time: %d objects went with the context", call, skip+1, with)
			}
			f.set("freed_with_context", 0)
			if call == "cuCtxSetCurrent" { // the thread could not let go
				f.set("kept_context", 0)
			}
			if call == "cuDevicePrimaryCtxRelease_v2" {
				invoke(lookup(f.library, call), 0)
			}
			f.fail("", 0, 0)
			if call == "cuCtxPopCurrent_v2" {
				var popped uintptr
				invoke(lookup(f.library, call), uintptr(unsafe.Pointer(&popped)))
			}
			if err := whole(); err != nil {
				t.Fatalf("after %s failed: %v", call, err)
			}
		}
	}
}

// find returns the error of a call from the joined errors.
func find(err error, call string) *Error {
	var e *Error
	switch u := err.(type) {
	case *Error:
		if u.Call == call {
			return u
		}
	case interface{ Unwrap() []error }:
		for _, one := range u.Unwrap() {
			if e = find(one, call); e != nil {
				return e
			}
		}
	case interface{ Unwrap() error }:
		return find(u.Unwrap(), call)
	}
	return nil
}

// forgotten opens a kernel of a module and leaves the module open.
func forgotten(t *testing.T, dev device.Device, name string) device.Function {
	t.Helper()
	return must(must(dev.LoadModule("kernels", kernels(t)))(t).Function(name))(t)
}

// After an error that loses the context, every call reports it and the call that caused it.
func TestStickyErrors(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		lose func(*testing.T, *fake, device.Device, device.Stream) error
	}{
		"crash": {719, func(t *testing.T, f *fake, dev device.Device, s device.Stream) error {
			check(t, s.Launch(forgotten(t, dev, "crash"), device.Launch{}))
			return s.Wait()
		}},
		"stray": {700, func(t *testing.T, f *fake, dev device.Device, s device.Stream) error {
			check(t, s.Launch(forgotten(t, dev, "stray"), device.Launch{}, uint64(64)))
			return s.Wait()
		}},
		"bad memory": {214, func(t *testing.T, f *fake, dev device.Device, s device.Stream) error {
			b, err := dev.Alloc("b", 4)
			check(t, err, s.Fill(b, 0, 4, 0))
			f.set("async_lost", 214)
			return s.Wait() // the buffer is closed with the device
		}},
		"lost device": {46, func(t *testing.T, f *fake, dev device.Device, s device.Stream) error {
			f.fail("cuMemGetInfo_v2", 46, 0)
			_, _, err := dev.Memory()
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			dev := start(t)
			s := must(dev.NewStream("main"))(t)
			b := must(dev.Alloc("words", 4000))(t)
			err := c.lose(t, f, dev, s)
			var e *Error
			if !errors.As(err, &e) || e.Code != c.code || !device.IsSticky(err) {
				t.Fatalf("the error is %v, want code %d and sticky", err, c.code)
			}
			if c.code == 719 && !strings.Contains(e.Object, `stream "main" after kernel "crash"`) {
				t.Errorf("the error is %v, want it to name the last kernel", err)
			}
			_, allocErr := dev.Alloc("more", 4)
			_, _, memErr := dev.Memory()
			_, doneErr := s.Done()
			for what, err := range map[string]error{
				"Alloc": allocErr, "Memory": memErr, "Done": doneErr, "Fill": s.Fill(b, 0, 4, 0), "Upload": s.Upload(b, 0, make([]byte, 4)),
				"Wait": s.Wait(), "FlushL2": dev.FlushL2(s), "Close": b.Close(),
			} {
				var lost *LostError
				if !errors.As(err, &lost) || lost.First.Code != c.code || !device.IsSticky(err) || !strings.Contains(err.Error(), "the context is lost since "+lost.First.Error()) {
					t.Errorf("%s in a lost context: %v", what, err)
				}
			}
			if err := b.Close(); err != nil {
				t.Errorf("closing again: %v", err)
			}
			// Close reports the open objects, and nothing else.
			if err := dev.Close(); err == nil || !strings.Contains(err.Error(), `stream "main"`) || !strings.Contains(err.Error(), "not closed before its device") || strings.Contains(err.Error(), "lost") {
				t.Errorf("closing the device: %v", err)
			}
			f.set("freed_with_context", 0)
			f.empty(t)
			dev = start(t)
			check(t, try(dev, kernels(t)), dev.Close())
		})
	}
}

// The first error that loses the context is kept, not the last.
func TestFirstStickyErrorStays(t *testing.T) {
	f := newFake(t)
	dev := start(t).(*context)
	dev.code(cuMemGetInfo, 1, dev)
	dev.code(cuMemGetInfo, 700, dev)
	dev.code(cuMemGetInfo, 719, dev)
	if first := dev.lost.Load(); first == nil || first.Code != 700 {
		t.Errorf("the context is lost since %v, want code 700", first)
	}
	check(t, dev.Close())
	f.empty(t)
}

// Errors of several goroutines name the first.
func TestStickyErrorUnderConcurrency(t *testing.T) {
	f := newFake(t)
	dev := start(t)
	var wg sync.WaitGroup
	first := make(chan string, 64)
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				if i == 0 && j == 50 {
					f.set("async_lost", 700)
				}
				if err := try(dev, nil); err != nil {
					var lost *LostError
					if errors.As(err, &lost) {
						first <- lost.First.Error()
						return
					}
				}
				s, err := dev.NewStream("s")
				if err != nil {
					continue
				}
				e, err := dev.NewEvent("e")
				if err == nil {
					s.Record(e)
					s.Wait()
					e.Close()
				}
				s.Close()
			}
		})
	}
	wg.Wait()
	close(first)
	var all []string
	for s := range first {
		all = append(all, s)
	}
	if len(all) != 8 || len(slices.Compact(all)) != 1 {
		t.Errorf("the first errors are %q, want one for each goroutine, all the same", all)
	}
	dev.Close()
	f.set("freed_with_context", 0)
}

// Objects that were not closed are named, and freed.
func TestCloseNamesWhatIsLeft(t *testing.T) {
	newFake(t)
	dev := start(t)
	buf := must(dev.Alloc("image", 1<<20))(t)
	must(dev.AllocPinned("host", 5))(t)
	arr := must(dev.AllocArray("texels", device.ArrayLayout{Texel: device.Uint8, Width: 4, Height: 4}))(t)
	must(arr.NewTexture("fetch", device.Sampling{}))(t)
	s := must(dev.NewStream("main"))(t)
	must(dev.NewEvent("began"))(t)
	must(dev.LoadModule("kernels", kernels(t)))(t)
	closed := must(dev.Alloc("closed", 1))(t)
	check(t, closed.Close(), closed.Close(), dev.FlushL2(s))
	err := dev.Close()
	want := []string{`module "kernels"`, `event "began"`, `stream "main"`, `texture "fetch"`, `array "texels" (16 B)`, `pinned memory "host" (5 B)`, `buffer "image" (1.00 MiB)`}
	for i := range want {
		want[i] += ": not closed before its device"
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("closing says\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
	check(t, dev.Close(), buf.Close())
}

// Memory that one device has pinned is known to all of the driver, until it is closed.
func TestPinnedMemoryOfAnotherDevice(t *testing.T) {
	f := newFake(t)
	f.set("devices", 2)
	driver := must(Load())(t)
	dev, other := must(driver.Open(0))(t), must(driver.Open(1))(t)
	closeAtEnd(t, dev)
	closeAtEnd(t, other)
	host := must(dev.AllocPinned("host", 64))(t)
	there := must(dev.Register("there", make([]byte, 64)))(t)
	s, b := newStream(t, other, "main"), newBuffer(t, other, "words", 64)
	copy(host.Data(), pattern(64))
	check(t, s.Copy(b, 0, host, 0, 64), s.Copy(there, 0, b, 0, 64), s.Wait())
	if !bytes.Equal(there.Data(), pattern(64)) {
		t.Error("pinned memory came back changed")
	}
	check(t, host.Close(), there.Close())
	if err := s.Copy(b, 0, host, 0, 64); err == nil || !strings.Contains(err.Error(), "used after it was closed") {
		t.Errorf("memory that is closed is copied: %v", err)
	}
}

func TestMisuse(t *testing.T) {
	f := newFake(t)
	f.set("devices", 2)
	dev := startClosed(t)
	other := must(must(Load())(t).Open(1))(t)
	closeAtEnd(t, other)
	s, foreign := newStream(t, dev, "main"), newStream(t, other, "foreign")
	b, theirs := newBuffer(t, dev, "words", 64), newBuffer(t, other, "theirs", 64)
	host := must(dev.AllocPinned("host", 64))(t)
	closeAtEnd(t, host)
	closed := must(dev.Alloc("closed", 64))(t)
	check(t, closed.Close())
	mine, ended := must(dev.NewEvent("mine"))(t), must(dev.NewEvent("ended"))(t)
	closeAtEnd(t, mine)
	check(t, ended.Close())
	fill := kernel(t, dev, "fill")
	arr := must(dev.AllocArray("texels", device.ArrayLayout{Texel: device.Float32, Width: 4, Height: 4, Depth: 2}))(t)
	closeAtEnd(t, arr)
	closedStream := must(dev.NewStream("closed"))(t)
	check(t, closedStream.Close())
	gone := must(dev.LoadModule("gone", kernels(t)))(t)
	goneFill := must(gone.Function("fill"))(t)
	check(t, gone.Close())
	second := func(_ any, err error) error { return err }
	one := device.Launch{}
	f.log()
	for want, err := range map[string]error{
		`buffer "none": a size of 0 bytes`:                                                                          second(dev.Alloc("none", 0)),
		`pinned memory "less": a size of -1 bytes`:                                                                  second(dev.AllocPinned("less", -1)),
		`array "a": no texel type "rgb"`:                                                                            second(dev.AllocArray("a", device.ArrayLayout{Texel: "rgb", Width: 1, Height: 1})),
		`array "a": a shape of 1 × 0 × 0`:                                                                           second(dev.AllocArray("a", device.ArrayLayout{Texel: device.Uint8, Width: 1})),
		`16385 × 1 × 1 texels, device 0 (Fake GPU A) has at most 16384 × 16384 × 16384`:                             second(dev.AllocArray("a", device.ArrayLayout{Texel: device.Uint8, Width: 16385, Height: 1, Depth: 1})),
		`texture "t": no exterior "wrap"`:                                                                           second(arr.NewTexture("t", device.Sampling{Exterior: "wrap"})),
		`texture "t": a border of 1`:                                                                                second(arr.NewTexture("t", device.Sampling{Border: 1})),
		`buffer "words" (64 B): 8 bytes at 57 are not within its 64`:                                                s.Fill(b, 57, 8, 0),
		`buffer "words" (64 B): -1 bytes at 0`:                                                                      s.Fill(b, 0, -1, 0),
		`buffer "words" (64 B): 1 bytes at -1`:                                                                      s.Upload(b, -1, []byte{1}),
		`buffer "words" (64 B): 9223372036854775807 bytes at 9223372036854775807`:                                   s.Copy(b, 1<<63-1, host, 0, 1<<63-1),
		`filling 1 words at byte 2`:                                                                                 s.Fill32(b, 2, 1, 0),
		`filling 4611686018427387904 words at byte 0`:                                                               s.Fill32(b, 0, 1<<62, 0),
		`pinned memory "host" (64 B): a copy from pinned memory "host" (64 B), neither of which`:                    s.Copy(host, 0, host, 0, 1),
		`buffer "closed" (64 B): used after it was closed`:                                                          s.Fill(closed, 0, 1, 0),
		`buffer "theirs" (64 B): of another device than device 0 (Fake GPU A)`:                                      s.Fill(theirs, 0, 1, 0),
		`device 0 (Fake GPU A): a memory of another driver, or none`:                                                s.Fill(nil, 0, 1, 0),
		`stream "foreign": of another device than device 0`:                                                         dev.FlushL2(foreign),
		`device 0 (Fake GPU A): a stream of another driver, or none`:                                                dev.FlushL2(nil),
		`stream "closed": used after it was closed`:                                                                 closedStream.Wait(),
		`device 0 (Fake GPU A): a event of another driver, or none`:                                                 s.Record(nil),
		`device 1 (Fake GPU B): a event of another driver, or none`:                                                 foreign.WaitFor(nil),
		`event "mine": of another device than device 1 (Fake GPU B)`:                                                foreign.Record(mine),
		`event "ended": used after it was closed`:                                                                   foreign.WaitFor(ended),
		`array "texels" (128 B): 2 slices at 1 are not within its 2`:                                                s.CopySlices(arr, 1, 2, host, 0),
		`buffer "words" (64 B): 128 bytes at 0 are not within its 64`:                                               s.CopySlices(arr, 0, 2, b, 0),
		`launching kernel "fill" of module "kernels": 2 arguments, it has 3 parameters`:                             s.Launch(fill, one, b, uint32(1)),
		`launching kernel "fill" of module "kernels": argument 1 is a uint64 of 8 bytes, the parameter has 4`:       s.Launch(fill, one, b, uint64(1), uint64(1)),
		`launching kernel "fill" of module "kernels": argument 2: a int cannot be passed`:                           s.Launch(fill, one, b, uint32(1), 1),
		`launching kernel "fill" of module "kernels": argument 0: buffer "theirs" (64 B): of another device`:        s.Launch(fill, one, theirs, uint32(1), uint64(1)),
		`launching kernel "fill" of module "kernels": argument 0: buffer "closed" (64 B): used after it was closed`: s.Launch(fill, one, closed, uint32(1), uint64(1)),
		`launching kernel "fill" of module "kernels": {-1 0 0} blocks`:                                              s.Launch(fill, device.Launch{Grid: device.Dim{X: -1}}, b, uint32(1), uint64(1)),
		`launching kernel "fill" of module "kernels": {4294967296 0 0} blocks`:                                      s.Launch(fill, device.Launch{Grid: device.Dim{X: 1 << 32}}, b, uint32(1), uint64(1)),
		`module "gone": used after it was closed`:                                                                   s.Launch(goneFill, one, b, uint32(1), uint64(1)),
		`device 0 (Fake GPU A): the kernel is nil or of another device`:                                             s.Launch(nil, one),
		`device 1 (Fake GPU B): the kernel is nil or of another`:                                                    foreign.Launch(fill, one, b, uint32(1), uint64(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if calls := f.log(); len(calls) != 0 {
		t.Errorf("misuse reached the driver: %v", calls)
	}
	if closed.Address() != 0 {
		t.Error("a closed buffer has an address")
	}
	check(t, other.Do(func() error { return try(dev, kernels(t)) }))
}

func TestUseAfterDevice(t *testing.T) {
	newFake(t)
	dev := start(t)
	s := must(dev.NewStream("main"))(t)
	check(t, s.Close(), dev.Close())
	_, err := dev.Alloc("late", 1)
	for _, err := range []error{err, dev.FlushL2(s), dev.Do(func() error { return nil })} {
		if !errors.Is(err, errThreadEnded) {
			t.Errorf("a call of a closed device: %v", err)
		}
	}
	check(t, dev.Close())
}

// The error blames the code of an invalid module, but not if memory is short. Neither loses the
// device.
func TestCodeIsBlamed(t *testing.T) {
	f := newFake(t)
	dev := startClosed(t)
	for code, blamed := range map[int]bool{200: true, 209: true, 218: true, 222: true, 2: false, 400: false} {
		f.fail("cuModuleLoadDataEx", code, 0)
		_, err := dev.LoadModule("kernels", kernels(t))
		if err == nil || device.IsCodeRefused(err) != blamed || device.IsSticky(err) {
			t.Errorf("code %d: %v", code, err)
		}
		check(t, try(dev, kernels(t)))
	}
	f.fail("cuMemHostRegister_v2", 712, 0)
	if _, err := dev.Register("pages", make([]byte, 1)); !device.IsRegistered(err) || device.IsSticky(err) {
		t.Errorf("memory that is registered already: %v", err)
	}
	f.fail("cuMemAlloc_v2", 209, 0)
	if _, err := dev.Alloc("a", 1); err == nil || device.IsCodeRefused(err) {
		t.Errorf("memory that was refused: %v", err)
	}
	f.set("machine", 1)
	check(t, must(dev.LoadModule("machine", []byte("\x7fELF...")))(t).Close())
}
