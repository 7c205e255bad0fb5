package cuda

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"eccbench/internal/device"
)

// realDriver is the machine's driver. Without one the test is skipped, or fails
// with ECCBENCH_REQUIRE_DEVICE=1.
func realDriver(t *testing.T) *Driver {
	t.Helper()
	drv, err := Load()
	if err == nil {
		return drv
	}
	if os.Getenv("ECCBENCH_REQUIRE_DEVICE") == "1" || !device.IsUnavailable(err) {
		t.Fatal(err)
	}
	t.Skip(err)
	return nil
}

func realDevice(t *testing.T) device.Device {
	t.Helper()
	drv := realDriver(t)
	dev, err := drv.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, dev)
	return dev
}

func TestRealDevices(t *testing.T) {
	drv := realDriver(t)
	list := must(drv.Devices())(t)
	for i, d := range list {
		t.Logf("driver of CUDA %s: %+v", drv.Version(), d)
		if d.Index != i || d.Name == "" || len(d.UUID) != 40 || len(d.PCI) < 12 || d.Memory < 1<<28 || d.SMs < 1 || d.Major < 5 || d.Warp != 32 ||
			d.L2 <= 0 || d.SharedOptIn < d.Shared || d.ThreadsPerBlock < 512 || d.BusBits <= 0 || d.MemoryClock <= 0 || d.Texture3D[2] < 2048 {
			t.Errorf("device %d is %+v", i, d)
		}
		if one, err := device.Choose(list, d.UUID); err != nil || one != d {
			t.Errorf("choosing %s: %+v, %v", d.UUID, one, err)
		}
	}
	if len(list) == 0 {
		t.Error("no devices and no error")
	}
}

// All devices of the machine at the same time.
func TestRealEventsAcrossDevices(t *testing.T) {
	drv := realDriver(t)
	var devices []device.Device
	for i := range must(drv.Devices())(t) {
		dev := must(drv.Open(i))(t)
		closeAtEnd(t, dev)
		devices = append(devices, dev)
	}
	testAcross(t, devices)
	t.Logf("%d devices", len(devices))
}

func TestRealParts(t *testing.T) { testParts(t, realDevice(t)) }

func TestRealFlushL2(t *testing.T) {
	dev := realDevice(t)
	s := newStream(t, dev, "main")
	check(t, dev.FlushL2(s), dev.FlushL2(s), dev.ResetPersistingL2(), s.Wait())
}

// Copies in two streams overlap with a kernel in a third, and events time them.
func TestRealStreams(t *testing.T) {
	const n = 64 << 20
	dev := realDevice(t)
	var streams [2]device.Stream
	var ends [2][2]device.Event
	in, out := must(dev.AllocPinned("in", n))(t), must(dev.AllocPinned("out", n))(t)
	closeAtEnd(t, in)
	closeAtEnd(t, out)
	copy(in.Data(), pattern(n))
	buf := newBuffer(t, dev, "buffer", n)
	for i := range streams {
		streams[i] = newStream(t, dev, "half")
		for j := range ends[i] {
			ends[i][j] = must(dev.NewEvent("end"))(t)
			closeAtEnd(t, ends[i][j])
		}
	}
	for range 3 {
		clear(out.Data())
		for i, s := range streams {
			at := int64(i) * n / 2
			check(t, s.Record(ends[i][0]), s.Copy(buf, at, in, at, n/2), s.Copy(out, at, buf, at, n/2), s.Record(ends[i][1]))
		}
		for i, s := range streams {
			check(t, ends[i][1].Wait(), s.Wait())
			d := must(ends[i][1].Since(ends[i][0]))(t)
			t.Logf("stream %d copied %d bytes there and back in %v", i, n/2, d)
			if d <= 0 || d > 10*time.Second {
				t.Errorf("stream %d took %v", i, d)
			}
		}
		if !bytes.Equal(in.Data(), out.Data()) {
			t.Fatal("the bytes came back changed")
		}
	}
}

// The cost of each call, for measurements.
func TestRealOverhead(t *testing.T) {
	dev := realDevice(t)
	overhead(t, dev)
}

func TestFakeOverhead(t *testing.T) {
	newFake(t)
	overhead(t, startClosed(t))
}

func overhead(t *testing.T, dev device.Device) {
	const n = 1000
	s := newStream(t, dev, "main")
	spin := kernel(t, dev, "spin")
	began, ended := must(dev.NewEvent("began"))(t), must(dev.NewEvent("ended"))(t)
	closeAtEnd(t, began)
	closeAtEnd(t, ended)
	measure := func(what string, f func() error) {
		t.Helper()
		check(t, f(), s.Wait())
		start := time.Now()
		for range n {
			check(t, f())
		}
		t.Logf("%s: %v", what, time.Since(start)/n)
		check(t, s.Wait())
	}
	nothing := func() error { return nil }
	launch := func() error { return s.Launch(spin, device.Launch{}, uint64(0)) }
	measure("Do of nothing", func() error { return dev.Do(nothing) })
	measure("launch", launch)
	check(t, dev.Do(func() error {
		measure("launch within Do", launch)
		return nil
	}))
	measure("launch and wait", func() error { return errors.Join(launch(), s.Wait()) })
	timed := func() error { return errors.Join(s.Record(began), launch(), s.Record(ended)) }
	for what, f := range map[string]func() error{"apart": timed, "within Do": func() error { return dev.Do(timed) }} {
		var least time.Duration
		for range 20 {
			check(t, f(), ended.Wait())
			if d := must(ended.Since(began))(t); least == 0 || d < least {
				least = d
			}
		}
		t.Logf("events around a launch of nothing, %s: %v", what, least)
	}
}

func TestRealThousandCycles(t *testing.T) {
	dev := realDevice(t) // keeps the primary context, so that free memory can be asked
	drv := realDriver(t)
	ptx := kernels(t)
	cycle := func() {
		d, err := drv.Open(0)
		check(t, err, try(d, ptx), d.Close())
	}
	for range 10 {
		cycle()
	}
	before, _, err := dev.Memory()
	check(t, err)
	threads := countThreads(t)
	start := time.Now()
	for range 1000 {
		cycle()
	}
	after, _, err := dev.Memory()
	check(t, err)
	t.Logf("1000 cycles in %v, %d bytes free before and %d after, %d threads before and %d after", time.Since(start), before, after, threads, countThreads(t))
	if before != after {
		t.Errorf("%d bytes were free, %d are after 1000 cycles; other programs on the device change that, too", before, after)
	}
	if n := countThreads(t); n > threads+16 {
		t.Errorf("there were %d threads, there are %d after 1000 cycles", threads, n)
	}
}

// The same with the context itself made and destroyed. The first context of each round reports the
// free memory.
func TestRealContextCycles(t *testing.T) {
	drv := realDriver(t)
	var first int64
	for i := range 30 {
		dev := must(drv.Open(0))(t)
		free, _, err := dev.Memory()
		check(t, err, try(dev, kernels(t)), dev.Close())
		switch {
		case i == 2:
			first = free
		case i > 2 && free < first-(1<<20):
			t.Fatalf("%d bytes were free in round 2, %d in round %d", first, free, i)
		}
	}
}

// A kernel that writes to an invalid address loses the context of its process, so it runs in a
// process of its own.
func TestRealStickyError(t *testing.T) {
	if os.Getenv("ECCBENCH_TEST_CHILD") == "1" {
		stickyChild(t)
		return
	}
	realDriver(t)
	program, err := os.Executable()
	check(t, err)
	for _, name := range []string{"stray", "crash"} {
		cmd := exec.Command(program, "-test.run=^TestRealStickyError$", "-test.v")
		cmd.Env = append(os.Environ(), "ECCBENCH_TEST_CHILD=1", "ECCBENCH_TEST_KERNEL="+name)
		out, err := cmd.CombinedOutput()
		t.Logf("%s:\n%s", name, out)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another process is not disturbed.
	check(t, try(realDevice(t), kernels(t)))
}

func stickyChild(t *testing.T) {
	dev := start(t)
	s := must(dev.NewStream("main"))(t)
	b := must(dev.Alloc("words", 4000))(t)
	name := os.Getenv("ECCBENCH_TEST_KERNEL")
	args := []any{uint64(0x100)}
	if name == "crash" {
		args = nil
	}
	check(t, s.Launch(forgotten(t, dev, name), device.Launch{}, args...))
	err := s.Wait()
	t.Logf("waiting: %v", err)
	var e *Error
	if !errors.As(err, &e) || !device.IsSticky(err) || !strings.Contains(err.Error(), name) {
		t.Fatalf("the error is %v, want a sticky one that names the kernel", err)
	}
	later := s.Fill(b, 0, 4, 0)
	t.Logf("later: %v", later)
	var lost *LostError
	if !errors.As(later, &lost) || lost.First != e {
		t.Errorf("the error of a later call is %v", later)
	}
	t.Logf("closing: %v", dev.Close())
	again, err := must(Load())(t).Open(0)
	t.Logf("opening again in the same process: %v", err)
	if err == nil {
		t.Logf("and using it: %v, closing: %v", try(again, kernels(t)), again.Close())
	}
}
