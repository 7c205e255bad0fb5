package cuda

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"eccbench/internal/device"
)

// The sizes and offsets agree with cuda.h and nvml.h on 64-bit systems.
func TestStructsAreLaidOutAsInC(t *testing.T) {
	var cd copyDescriptor
	var rd resourceDescriptor
	var td textureDescriptor
	for name, c := range map[string]struct{ got, want uintptr }{
		"array":            {unsafe.Sizeof(arrayDescriptor{}), 40},
		"array flags":      {unsafe.Offsetof(arrayDescriptor{}.flags), 32},
		"copy":             {unsafe.Sizeof(cd), 200},
		"copy memory":      {unsafe.Offsetof(cd.from.memory), 32},
		"copy from pitch":  {unsafe.Offsetof(cd.from.pitch), 72},
		"copy to":          {unsafe.Offsetof(cd.to), 88},
		"copy to array":    {unsafe.Offsetof(cd.to) + unsafe.Offsetof(cd.to.array), 144},
		"copy width":       {unsafe.Offsetof(cd.width), 176},
		"resource":         {unsafe.Sizeof(rd), 144},
		"resource array":   {unsafe.Offsetof(rd.array), 8},
		"resource flags":   {unsafe.Offsetof(rd.flags), 136},
		"texture":          {unsafe.Sizeof(td), 104},
		"texture flags":    {unsafe.Offsetof(td.flags), 16},
		"texture border":   {unsafe.Offsetof(td.border), 40},
		"process":          {unsafe.Sizeof(processInfo{}), 24},
		"process memory":   {unsafe.Offsetof(processInfo{}.memory), 8},
		"process instance": {unsafe.Offsetof(processInfo{}.instance), 16},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
}

func TestDevices(t *testing.T) {
	f := newFake(t)
	f.set("devices", 2)
	drv, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	list, err := drv.Devices()
	if err != nil {
		t.Fatal(err)
	}
	want := device.Info{
		Index: 1, Count: 2, Name: "Fake GPU B", UUID: "GPU-01122334-4556-6778-899a-abbccddeef00", PCI: "0000:3c:00.0", Driver: "12.8", Major: 9,
		Memory: 1 << 36, L2: 1 << 20, L2Persisting: 4 << 20, Shared: 48 << 10, SharedOptIn: 227 << 10, SharedPerSM: 228 << 10, SharedReserved: 1024,
		Registers: 65536, SMs: 132, Warp: 32, ThreadsPerBlock: 1024, ThreadsPerSM: 2048, BlocksPerSM: 32, CopyEngines: 3,
		Clock: 1980000, MemoryClock: 3201000, BusBits: 6144, Texture2D: [2]int64{131072, 65536}, Texture3D: [3]int64{16384, 16384, 16384}, ECC: true,
	}
	if len(list) != 2 || !reflect.DeepEqual(list[1], want) {
		t.Errorf("devices are\n%+v, want the second to be\n%+v", list, want)
	}
	dev, err := drv.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	if dev.Info() != list[1] {
		t.Errorf("the open device is %+v, want %+v", dev.Info(), list[1])
	}
	if err := try(dev, kernels(t)); err != nil {
		t.Error(err)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	if _, err := drv.Open(2); err == nil || !strings.Contains(err.Error(), "device 2: the driver shows 2") {
		t.Errorf("opening a device that is not there: %v", err)
	}
}

func TestFakeParts(t *testing.T) {
	newFake(t)
	dev := startClosed(t)
	testParts(t, dev)
}

// Kernels' parameters and the newer clock are not in every driver.
func TestOlderDriver(t *testing.T) {
	f := newFake(t, "-DWITHOUT_PARAM_INFO", "-DOLD_ELAPSED")
	f.set("version", minVersion)
	testParts(t, startClosed(t))
}

// Buffers of more than 4 GiB are addressed beyond the first 4.
func TestSizesAre64Bit(t *testing.T) {
	newFake(t)
	dev := startClosed(t)
	s := must(dev.NewStream("main"))(t)
	defer s.Close()
	buf := must(dev.Alloc("large", 5<<30))(t)
	defer buf.Close()
	want := []byte("beyond 4 GiB")
	check(t, s.Upload(buf, 5<<30-int64(len(want)), want))
	got := make([]byte, len(want))
	check(t, s.Download(got, buf, 5<<30-int64(len(want))))
	if string(got) != string(want) {
		t.Errorf("read %q, want %q", got, want)
	}
	free, total, err := dev.Memory()
	check(t, err)
	if total-free != 5<<30 {
		t.Errorf("%d bytes are in use, want %d", total-free, int64(5<<30))
	}
}

// Held is the greatest total of buffers and arrays. It excludes memory pinned on the host, and the
// buffer that flushes the cache.
func TestHeld(t *testing.T) {
	newFake(t)
	dev := startClosed(t)
	s := must(dev.NewStream("main"))(t)
	defer s.Close()
	a := must(dev.Alloc("a", 1000))(t)
	b := must(dev.Alloc("b", 200))(t)
	pinned := must(dev.AllocPinned("pinned", 1<<20))(t)
	check(t, dev.FlushL2(s), a.Close(), a.Close())
	texels := must(dev.AllocArray("texels", device.ArrayLayout{Width: 4, Height: 3, Depth: 2, Texel: device.Float32}))(t)
	if held := dev.AllocatedBytes(); held != 1200 {
		t.Errorf("held %d bytes, want 1200", held)
	}
	c := must(dev.Alloc("c", 2000))(t)
	if held := dev.AllocatedBytes(); held != 2000+200+96 {
		t.Errorf("held %d bytes with an array, want 2296", held)
	}
	check(t, b.Close(), c.Close(), pinned.Close(), texels.Close())
}

func TestFlushL2(t *testing.T) {
	f := newFake(t)
	dev := startClosed(t)
	s := must(dev.NewStream("main"))(t)
	defer s.Close()
	f.log()
	check(t, dev.FlushL2(s), dev.FlushL2(s))
	want := []string{"cuCtxResetPersistingL2Cache", "cuMemAlloc_v2", "cuMemsetD32Async", "cuCtxResetPersistingL2Cache", "cuMemsetD32Async"}
	if got := f.log(); !slices.Equal(got, want) {
		t.Errorf("calls are %v, want %v", got, want)
	}
	if used := f.get("used"); used != 2*dev.Info().L2 {
		t.Errorf("%d bytes are written, want twice the cache of %d", used, dev.Info().L2)
	}
}

func TestFlushL2WithoutPersistingLines(t *testing.T) {
	f := newFake(t)
	f.set("persisting", 0)
	dev := startClosed(t)
	s := must(dev.NewStream("main"))(t)
	defer s.Close()
	f.log()
	check(t, dev.FlushL2(s), dev.ResetPersistingL2())
	if got := f.log(); slices.Contains(got, "cuCtxResetPersistingL2Cache") {
		t.Errorf("calls are %v: there is nothing to reset", got)
	}
}

func TestThousandCycles(t *testing.T) {
	f := newFake(t)
	ptx := kernels(t)
	threads, goroutines := 0, 0
	for i := range 1000 {
		dev := start(t)
		if err := errors.Join(try(dev, ptx), dev.Close()); err != nil {
			t.Fatalf("cycle %d: %v", i, err)
		}
		f.empty(t)
		if t.Failed() {
			t.Fatalf("cycle %d", i)
		}
		if i == 100 {
			threads, goroutines = countThreads(t), runtime.NumGoroutine()
		}
	}
	if n := countThreads(t); n > threads+8 {
		t.Errorf("the process has %d threads, %d after the first 100 cycles", n, threads)
	}
	if n := runtime.NumGoroutine(); n > goroutines+8 {
		t.Errorf("the process has %d goroutines, %d after the first 100 cycles", n, goroutines)
	}
}

func countThreads(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestConcurrentUse(t *testing.T) {
	newFake(t)
	dev := startClosed(t)
	ptx := kernels(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := try(dev, ptx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A wait for the device does not block other calls.
func TestWaitingStopsNobody(t *testing.T) {
	f := newFake(t)
	dev := startClosed(t)
	s := must(dev.NewStream("main"))(t)
	defer s.Close()
	b := newBuffer(t, dev, "words", 4)
	f.set("slow_us", 1) // so that there is something to wait for
	f.set("held", 1)
	check(t, s.Fill(b, 0, 4, 0))
	var waited atomic.Bool
	done := make(chan error)
	go func() {
		err := s.Wait()
		waited.Store(true)
		done <- err
	}()
	for f.get("waiting") == 0 && !waited.Load() {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		_, _, err := dev.Memory()
		check(t, err)
	}
	if waited.Load() {
		t.Error("other calls waited until the wait was over")
	}
	f.set("held", 0)
	check(t, <-done)
}

func TestDo(t *testing.T) {
	newFake(t)
	dev := startClosed(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ids := [4]int{3: threadID()}
	check(t, dev.Do(func() error {
		ids[0] = threadID()
		return dev.Do(func() error {
			ids[1] = threadID()
			_, _, err := dev.Memory()
			return err
		})
	}))
	check(t, dev.Do(func() error { ids[2] = threadID(); return nil }))
	if ids[0] != ids[1] || ids[0] != ids[2] || ids[0] != ids[3] {
		t.Errorf("functions ran on the threads %v, want the caller's, the last", ids)
	}
	want := errors.New("mine")
	if err := dev.Do(func() error { return want }); err != want {
		t.Errorf("Do returns %v, want %v", err, want)
	}
	if err := dev.Do(dev.Close); err == nil || !strings.Contains(err.Error(), "closed within Do") {
		t.Errorf("closing within Do: %v", err)
	}
	func() {
		defer func() {
			if r := fmt.Sprint(recover()); !strings.Contains(r, "on purpose") {
				t.Errorf("recovered %q, want the panic of the function", r)
			}
		}()
		dev.Do(func() error { panic("on purpose") })
	}()
	check(t, dev.Do(func() error { return nil }))
	func() {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			dev.Do(func() error { runtime.Goexit(); return nil })
		}()
		<-ended
	}()
	check(t, dev.Do(func() error { return nil }))
}

// A function that ends its goroutine must not leave its caller waiting forever.
func TestThreadEndsWithItsGoroutine(t *testing.T) {
	th := newThread()
	if err := th.run(func() error { runtime.Goexit(); return nil }); err == nil {
		t.Error("a function that did not return is no error")
	}
	if err := th.run(func() error { return nil }); !errors.Is(err, errThreadEnded) {
		t.Errorf("a call of a thread that ended: %v", err)
	}
	th.stop()
}
