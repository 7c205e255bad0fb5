package cuda

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"eccbench/internal/device"
)

//go:embed testdata
var testdata embed.FS

func kernels(t testing.TB) []byte {
	t.Helper()
	ptx, err := testdata.ReadFile("testdata/kernels.ptx")
	if err != nil {
		t.Fatal(err)
	}
	return ptx
}

// build compiles a stand-in library, once in a process. Every copy has its own state.
func build(t testing.TB, source string, flags ...string) (path string) {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("ECCBENCH_REQUIRE_FAKE") == "1" {
		skip = t.Fatalf
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		skip("the stand-in for the driver needs gcc: %v", err)
	}
	if _, err := openLibrary("/"); strings.Contains(err.Error(), "not supported") {
		skip("%v", err)
	}
	once, _ := libraries.LoadOrStore(fmt.Sprint(source, flags), sync.OnceValues(func() ([]byte, error) { return compile(gcc, source, flags) }))
	library, err := once.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "lib.so")
	if err := os.WriteFile(path, library, 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// libraries are the stand-ins that were compiled, by their source and flags.
var libraries sync.Map

func compile(gcc, source string, flags []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "eccbench-fake-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, testdata); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "lib.so")
	args := append([]string{"-O1", "-fPIC", "-shared", "-pthread", "-o", path, filepath.Join(dir, "testdata", source)}, flags...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", source, err, out)
	}
	return os.ReadFile(path)
}

// A fake is a stand-in for the driver under a test's control.
type fake struct {
	path    string
	library uintptr
}

// newFake makes the stand-in the driver that Load opens. At the end of the test
// nothing may be left in it.
func newFake(t testing.TB, flags ...string) *fake {
	t.Helper()
	f := &fake{path: build(t, "fakecuda.c", flags...)}
	var err error
	if f.library, err = openLibrary(f.path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ECCBENCH_LIBCUDA", f.path)
	t.Cleanup(func() { f.empty(t) })
	return f
}

// empty checks that every object was freed explicitly, every call was made in a context, and no
// thread kept one.
func (f *fake) empty(t testing.TB) {
	t.Helper()
	for _, key := range []string{"contexts", "modules", "buffers", "pinned", "arrays", "textures", "streams", "events", "used", "wrong_context", "freed_with_context", "kept_context"} {
		if n := f.get(key); n != 0 {
			t.Errorf("the driver counts %d %s at the end, want 0", n, key)
		}
	}
}

func (f *fake) set(key string, v int64) {
	name := append([]byte(key), 0)
	invoke(lookup(f.library, "fake_set"), uintptr(unsafe.Pointer(&name[0])), uintptr(v))
}

func (f *fake) get(key string) int64 {
	name := append([]byte(key), 0)
	return int64(invoke(lookup(f.library, "fake_get"), uintptr(unsafe.Pointer(&name[0]))))
}

// fail makes the call after skip more of that name return the code, once.
func (f *fake) fail(call string, code, skip int) {
	name := append([]byte(call), 0)
	invoke(lookup(f.library, "fake_fail"), uintptr(unsafe.Pointer(&name[0])), uintptr(code), uintptr(skip))
}

// log is the calls since the last log.
func (f *fake) log() []string {
	text := invoke(lookup(f.library, "fake_log"))
	return strings.Fields(cstring(*(**byte)(unsafe.Pointer(&text))))
}

// start opens the first device.
func start(t testing.TB) device.Device {
	t.Helper()
	drv, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	dev, err := drv.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// startClosed is start with a close at the end of the test.
func startClosed(t testing.TB) device.Device {
	t.Helper()
	dev := start(t)
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// try uses every part of a device and returns all errors. It closes all that it opens.
func try(dev device.Device, ptx []byte) (err error) {
	var open []interface{ Close() error }
	defer func() {
		for _, o := range slices.Backward(open) {
			err = errors.Join(err, o.Close())
		}
	}()
	do := func(what string, e error) bool {
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", what, e))
		}
		return e == nil
	}
	keep := func(what string, o interface{ Close() error }, e error) bool {
		if do(what, e) {
			open = append(open, o)
		}
		return e == nil
	}
	const n = 1000
	s, e := dev.NewStream("main")
	if !keep("NewStream", s, e) {
		return
	}
	began, e := dev.NewEvent("began")
	if !keep("NewEvent", began, e) {
		return
	}
	ended, e := dev.NewEvent("ended")
	if !keep("NewEvent", ended, e) {
		return
	}
	buf, e := dev.Alloc("words", 4*n)
	if !keep("Alloc", buf, e) {
		return
	}
	pin, e := dev.AllocPinned("host", 4*n)
	if !keep("AllocPinned", pin, e) {
		return
	}
	reg, e := dev.Register("mapped", make([]byte, 4*n))
	if !keep("Register", reg, e) {
		return
	}
	m, e := dev.LoadModule("kernels", ptx)
	if !keep("LoadModule", m, e) {
		return
	}
	f, e := m.Function("fill")
	if !do("Function", e) {
		return
	}
	arr, e := dev.AllocArray("image", device.ArrayLayout{Texel: device.Float32, Width: 10, Height: 10, Depth: 10})
	if !keep("AllocArray", arr, e) {
		return
	}
	tex, e := arr.NewTexture("fetch", device.Sampling{})
	if !keep("NewTexture", tex, e) {
		return
	}
	_, _, e = dev.Memory()
	do("Memory", e)
	do("AllowShared", f.AllowShared(min(100<<10, dev.Info().SharedOptIn)))
	_, e = f.Occupancy(128, min(100<<10, dev.Info().SharedOptIn))
	do("Occupancy", e)
	do("FlushL2", dev.FlushL2(s))
	do("Fill", s.Fill(buf, 0, 4*n, 1))
	do("Fill32", s.Fill32(buf, 0, n, 1))
	do("Copy", s.Copy(pin, 0, buf, 0, 4*n))
	do("Copy", s.Copy(buf, 0, pin, 0, 4*n))
	do("Copy", s.Copy(buf, 0, reg, 0, 4*n))
	do("Copy", s.Copy(buf, 0, buf, 2*n, 2*n))
	do("CopySlices", s.CopySlices(arr, 0, 10, buf, 0))
	do("CopySlices", s.CopySlices(arr, 0, 10, pin, 0))
	do("Do", dev.Do(func() error {
		return errors.Join(
			s.Record(began),
			s.Launch(f, device.Launch{Grid: device.Dim{X: 4}, Block: device.Dim{X: 256}}, buf, uint32(7), uint64(n)),
			s.Record(ended))
	}))
	do("WaitFor", s.WaitFor(ended))
	_, e = s.Done()
	do("Stream.Done", e)
	do("Event.Wait", ended.Wait())
	_, e = ended.Done()
	do("Event.Done", e)
	if e == nil {
		_, e = ended.Since(began)
		do("Since", e)
	}
	got := make([]byte, 4*n)
	do("Upload", s.Upload(buf, 0, got[:4]))
	do("Download", s.Download(got, buf, 0))
	if err == nil && (got[0] != 0 || got[4] != 7 || got[4*n-4] != 7) {
		err = fmt.Errorf("the kernel's answer is %d %d %d, want 0 7 7", got[0], got[4], got[4*n-4])
	}
	return
}
