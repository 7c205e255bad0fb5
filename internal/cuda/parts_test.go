package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"eccbench/internal/device"
)

// must is the value, or the end of the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// closeAtEnd closes an object of a test, before the device.
func closeAtEnd(t *testing.T, o interface{ Close() error }) {
	t.Helper()
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

// testParts tests each part of a device, be it real or not.
func testParts(t *testing.T, dev device.Device) {
	t.Run("everything", func(t *testing.T) { check(t, try(dev, kernels(t))) })
	t.Run("copies", func(t *testing.T) { testCopies(t, dev) })
	t.Run("fill", func(t *testing.T) { testFill(t, dev) })
	t.Run("arguments", func(t *testing.T) { testArguments(t, dev) })
	t.Run("events", func(t *testing.T) { testEvents(t, dev) })
	t.Run("shared memory", func(t *testing.T) { testShared(t, dev) })
	t.Run("launch too large", func(t *testing.T) { testLaunchTooLarge(t, dev) })
	t.Run("textures", func(t *testing.T) { testTextures(t, dev) })
	t.Run("compiler", func(t *testing.T) { testCompiler(t, dev) })
	t.Run("out of memory", func(t *testing.T) { testOutOfMemory(t, dev) })
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*131 + i>>8)
	}
	return b
}

func kernel(t *testing.T, dev device.Device, name string) device.Function {
	t.Helper()
	m := must(dev.LoadModule("kernels", kernels(t)))(t)
	closeAtEnd(t, m)
	return must(m.Function(name))(t)
}

func newStream(t *testing.T, dev device.Device, name string) device.Stream {
	t.Helper()
	s := must(dev.NewStream(name))(t)
	closeAtEnd(t, s)
	return s
}

func newBuffer(t *testing.T, dev device.Device, name string, n int64) device.Buffer {
	t.Helper()
	b := must(dev.Alloc(name, n))(t)
	closeAtEnd(t, b)
	return b
}

// Go memory and pinned memory, there, across and back, over two streams.
func testCopies(t *testing.T, dev device.Device) {
	const n = 1 << 20
	want := pattern(n)
	one, two := newStream(t, dev, "one"), newStream(t, dev, "two")
	ready := must(dev.NewEvent("ready"))(t)
	closeAtEnd(t, ready)
	a, b := newBuffer(t, dev, "a", n+1), newBuffer(t, dev, "b", n)
	in, out := must(dev.AllocPinned("in", n))(t), must(dev.AllocPinned("out", n))(t)
	closeAtEnd(t, in)
	closeAtEnd(t, out)
	if in.Bytes() != n || len(in.Data()) != n || in.Address() == 0 || a.Bytes() != n+1 || a.Address() == 0 {
		t.Errorf("pinned memory of %d bytes at %#x, a buffer of %d at %#x", in.Bytes(), in.Address(), a.Bytes(), a.Address())
	}
	copy(in.Data(), want)
	check(t,
		one.Copy(a, 1, in, 0, n),
		one.Record(ready),
		two.WaitFor(ready),
		two.Copy(b, 0, a, 1, n/2),
		two.Copy(b, n/2, a, 1+n/2, n/2),
		two.Copy(out, 0, b, 0, n),
		two.Wait())
	if !bytes.Equal(out.Data(), want) {
		t.Error("pinned memory came back changed")
	}
	got := make([]byte, n)
	check(t, one.Fill(b, 0, n, 0xee), one.Upload(b, 3, want[:n-3]), one.Download(got, b, 0))
	if !bytes.Equal(got[3:], want[:n-3]) || got[0] != 0xee || got[2] != 0xee {
		t.Error("Go memory came back changed")
	}
	check(t, one.Copy(b, 0, a, 0, 0), one.Upload(b, n, nil), one.Download(nil, b, 0))
}

func testFill(t *testing.T, dev device.Device) {
	s := newStream(t, dev, "main")
	b := newBuffer(t, dev, "words", 64)
	got := make([]byte, 64)
	check(t, s.Fill(b, 0, 64, 0x11), s.Fill(b, 5, 3, 0x22), s.Fill32(b, 8, 2, 0x04030201), s.Download(got, b, 0))
	want := bytes.Repeat([]byte{0x11}, 64)
	copy(want[5:], []byte{0x22, 0x22, 0x22, 1, 2, 3, 4, 1, 2, 3, 4})
	if !bytes.Equal(got, want) {
		t.Errorf("filled to %x, want %x", got, want)
	}
}

func testArguments(t *testing.T, dev device.Device) {
	const n = 1000
	s := newStream(t, dev, "main")
	y, x := newBuffer(t, dev, "y", 4*n), newBuffer(t, dev, "x", 4*n)
	in := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(in[4*i:], math.Float32bits(float32(i)))
	}
	check(t, s.Upload(y, 0, in), s.Upload(x, 0, in))
	axpy := kernel(t, dev, "axpy")
	shape := device.Launch{Grid: device.Dim{X: (n + 255) / 256}, Block: device.Dim{X: 256}}
	check(t, s.Launch(axpy, shape, y, x.Address(), float32(-2.5), int32(n-1)), s.Download(in, y, 0))
	for i := range n {
		got, want := math.Float32frombits(binary.LittleEndian.Uint32(in[4*i:])), float32(i)*-1.5
		if i == n-1 {
			want = n - 1 // beyond the length that was passed
		}
		if got != want {
			t.Fatalf("y[%d] = %v, want %v", i, got, want)
		}
	}
	if at := axpy.Attributes(); at.Registers <= 0 || at.MaxThreads < 256 || at.Code < 70 || at.Binary < 70 {
		t.Errorf("attributes are %+v", at)
	}
}

func testEvents(t *testing.T, dev device.Device) {
	s := newStream(t, dev, "main")
	began, ended := must(dev.NewEvent("began"))(t), must(dev.NewEvent("ended"))(t)
	closeAtEnd(t, began)
	closeAtEnd(t, ended)
	if _, err := ended.Since(began); err == nil {
		t.Error("the time between events that were not recorded is no error")
	}
	spin := kernel(t, dev, "spin")
	check(t, s.Wait(), dev.Do(func() error {
		return errors.Join(s.Record(began), s.Launch(spin, device.Launch{}, uint64(2_000_000)), s.Record(ended))
	}))
	// The queries race with the kernel, so the first result is arbitrary.
	for i := 0; ; i++ {
		done, err := ended.Done()
		check(t, err)
		if done {
			break
		}
		if i > 1e7 {
			t.Fatal("the event is never reached")
		}
	}
	check(t, ended.Wait(), s.Wait())
	if done, err := s.Done(); err != nil || !done {
		t.Errorf("the stream is done: %v, %v", done, err)
	}
	// 2 million cycles are 2 ms at 1 GHz; the stand-in takes 1 ms.
	d, err := ended.Since(began)
	if err != nil || d < 500*time.Microsecond || d > 50*time.Millisecond {
		t.Errorf("the kernel took %v, %v", d, err)
	}
}

func testShared(t *testing.T, dev device.Device) {
	const large = 64 << 10
	if dev.Info().SharedOptIn < large+16 {
		t.Skipf("the device has %d bytes of shared memory for a block", dev.Info().SharedOptIn)
	}
	s := newStream(t, dev, "main")
	out := newBuffer(t, dev, "out", 4)
	f := kernel(t, dev, "shared")
	if f.Attributes().Shared != 16 {
		t.Errorf("the kernel has %d bytes of static shared memory, want 16", f.Attributes().Shared)
	}
	shape := device.Launch{Shared: large}
	if err := s.Launch(f, shape, out, uint32(large)); !device.IsLaunchTooLarge(err) {
		t.Errorf("launch with 64 KiB of shared memory that was not allowed: %v", err)
	}
	few, err := f.Occupancy(32, 16<<10)
	check(t, err, f.AllowShared(large), s.Launch(f, shape, out, uint32(large)))
	got := make([]byte, 4)
	check(t, s.Download(got, out, 0))
	if v := binary.LittleEndian.Uint32(got); v != large {
		t.Errorf("the kernel read %d from its shared memory, want %d", v, large)
	}
	if one, err := f.Occupancy(32, large); err != nil || one < 1 || one >= few {
		t.Errorf("occupancy is %d with 64 KiB and %d with 16 KiB, %v", one, few, err)
	}
	if err := f.AllowShared(dev.Info().SharedOptIn + 1); err == nil {
		t.Error("more shared memory than the device has is allowed")
	}
}

func testLaunchTooLarge(t *testing.T, dev device.Device) {
	s := newStream(t, dev, "main")
	for name, block := range map[string]device.Dim{"spin": {X: 2048}, "greedy": {X: 64, Y: 4}} {
		f := kernel(t, dev, name)
		args := []any{uint64(0)}
		if name == "greedy" {
			args = nil
		}
		err := s.Launch(f, device.Launch{Block: block}, args...)
		var e *Error
		if !device.IsLaunchTooLarge(err) || device.IsSticky(err) || !errors.As(err, &e) || e.Call != "cuLaunchKernel" || !strings.Contains(e.Object, name) {
			t.Errorf("%s in blocks of %v: %v", name, block, err)
		}
		check(t, s.Launch(f, device.Launch{Block: device.Dim{X: 32}}, args...), s.Wait())
	}
}

func testCompiler(t *testing.T, dev device.Device) {
	m := must(dev.LoadModule("kernels", kernels(t)))(t)
	closeAtEnd(t, m)
	t.Logf("log: %q", m.Log())
	var e *Error
	_, err := m.Function("missing")
	if !errors.As(err, &e) || e.Code != 500 || e.Object != `kernel "missing" of module "kernels"` {
		t.Errorf("a kernel that is not there: %v", err)
	}
	bad := bytes.Replace(kernels(t), []byte("mov.u32"), []byte("garbage"), 1)
	_, err = dev.LoadModule("broken", bad)
	if !errors.As(err, &e) || e.Call != "cuModuleLoadDataEx" || e.Name != "CUDA_ERROR_INVALID_PTX" || !strings.Contains(e.Log, "garbage") ||
		!strings.Contains(err.Error(), `module "broken"`) || !strings.Contains(err.Error(), "garbage") || strings.Contains(err.Error(), "\n") {
		t.Errorf("code that is wrong: %v", err)
	}
	if !device.IsCodeRefused(err) {
		t.Errorf("code that is wrong is not blamed: %v", err)
	}
	if _, err := dev.LoadModule("machine", []byte("\x7fELF, but no machine code"+strings.Repeat("\x00", 100))); !device.IsCodeRefused(err) || device.IsSticky(err) {
		t.Errorf("machine code that is none: %v", err)
	}
	if _, err := dev.LoadModule("empty", nil); err == nil {
		t.Error("a module of nothing loads")
	}
	check(t, try(dev, kernels(t)))
}

func testOutOfMemory(t *testing.T, dev device.Device) {
	_, total, err := dev.Memory()
	check(t, err)
	_, err = dev.Alloc("everything twice", 2*total)
	var e *Error
	if !device.IsOutOfMemory(err) || device.IsSticky(err) || !errors.As(err, &e) || e.Call != "cuMemAlloc_v2" || !strings.Contains(err.Error(), `buffer "everything twice" (`) {
		t.Errorf("more memory than there is: %v", err)
	}
	check(t, try(dev, kernels(t)))
}

// Streams of two devices wait for each other's events, and each device is called
// with its own context current.
func TestEventsAcrossDevices(t *testing.T) {
	f := newFake(t)
	f.set("devices", 2)
	drv := must(Load())(t)
	var devices []device.Device
	for i := range 2 {
		dev := must(drv.Open(i))(t)
		closeAtEnd(t, dev)
		devices = append(devices, dev)
	}
	testAcross(t, devices)
}

func testAcross(t *testing.T, devices []device.Device) {
	const n = 1 << 10
	lead := newStream(t, devices[0], "lead")
	start, end := must(devices[0].NewEvent("start"))(t), must(devices[0].NewEvent("end"))(t)
	closeAtEnd(t, start)
	closeAtEnd(t, end)
	check(t, lead.Record(start))
	var hosts []device.Pinned
	for i, dev := range devices {
		s, done := newStream(t, dev, "part"), must(dev.NewEvent("done"))(t)
		closeAtEnd(t, done)
		b, host := newBuffer(t, dev, "words", n), must(dev.AllocPinned("host", n))(t)
		closeAtEnd(t, host)
		hosts = append(hosts, host)
		check(t, s.WaitFor(start), s.Fill(b, 0, n, byte(i+1)), s.Copy(host, 0, b, 0, n), s.Record(done), lead.WaitFor(done))
	}
	check(t, lead.Record(end), lead.Wait())
	for i, host := range hosts {
		if host.Data()[0] != byte(i+1) || host.Data()[n-1] != byte(i+1) {
			t.Errorf("device %d: %d … %d came back, want %d", i, host.Data()[0], host.Data()[n-1], i+1)
		}
	}
	if took, err := end.Since(start); err != nil || took <= 0 {
		t.Errorf("all took %v, %v", took, err)
	}
}
