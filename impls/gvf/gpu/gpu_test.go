package gpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/gvf"
	"eccbench/kernels/hosttest"
)

// onHost are the kernels, compiled for the host, with a defect or none, on a stand-in for a
// device.
func onHost(t *testing.T, fault string) resident.Opener {
	return standIn(t, fault, 8, 1024, "gvf_start", "gvf_plain", "gvf_blocked", "gvf_resident")
}

// standIn opens a stand-in with some modules, and the given numbers of multiprocessors and of
// threads per block.
func standIn(t *testing.T, fault string, multiprocessors, threads int, modules ...string) resident.Opener {
	driver := standInDriver(t, 1, fault, modules...)
	driver.Multiprocessors(multiprocessors)
	driver.ThreadsPerBlock(threads)
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// standInDriver returns a driver with the given number of stand-ins.
func standInDriver(t *testing.T, devices int, fault string, modules ...string) *devicetest.Driver {
	return devicetest.New(devices, hosttest.Modules(t, fault, modules...))
}

// tiled are problems of several tiles in each direction, whole and partial, in 2D and 3D, and one
// that fits registers.
var tiled = []string{
	"gvf/steps=11/mu=80/boundary=1/of=noise/shape=232x37/type=uint16/levels=1024/seed=3", "gvf/steps=7/mu=80/boundary=0/of=noise/shape=132x45x11/type=uint8/seed=1",
	"gvf/steps=10/mu=80/boundary=1/of=noise/shape=128x128/type=uint8/seed=1",
}

// asked returns the problems for the kernels: all adversarial ones, and all kinds of tiles with all
// ways to divide steps into passes.
func asked() []string {
	list := slices.Concat(tiled, gvf.Steps().Adversarial)
	for i, image := range []string{
		"noise/shape=68x45x11/type=uint8/seed=1", "noise/shape=57x44x9/type=int16/levels=500/seed=2", "grf/shape=116x41x6/levels=1024/type=float32/smooth=1/seed=4",
		"noise/shape=115x50/type=float32/levels=1024/seed=4", "noise/shape=340x9/type=uint8/seed=6", "noise/shape=56x40x2/type=uint8/seed=7",
		"noise/shape=112x3/type=uint8/seed=8", "noise/shape=64x192/type=float32/levels=64/seed=1", "noise/shape=128x64/type=uint8/seed=1",
	} {
		for boundary := range 2 {
			list = append(list, fmt.Sprintf("gvf/steps=%d/mu=80/boundary=%d/of=%s", 1+(7*i+4*boundary)%16, boundary, image))
		}
	}
	return list
}

// wrong returns the first error in the answers of an implementation to a problem, run several times
// in a scope.
func wrong(t *testing.T, i bench.Implementation[*gvf.Problem, gvf.Flow], p *gvf.Problem, scope bench.Scope, times int) error {
	t.Helper()
	want, err := gvf.Define(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := bench.Conditions{Setting: bench.Setting{Scope: scope}}
	if err := i.CanDo(p, c); err != nil {
		return err
	}
	j, err := i.Setup(p, c)
	if err != nil {
		return err
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range times {
		j.Poison()
		if err := j.Do(nil); err != nil {
			return err
		}
		got, err := j.Out()
		if err != nil {
			return err
		}
		if d := gvf.Steps().Policy.Agree(p, want, got); d != nil {
			return fmt.Errorf("%v (%s)", d, d.Context)
		}
	}
	return nil
}

func problemOf(t testing.TB, name string) *gvf.Problem {
	t.Helper()
	kind, _, _ := strings.Cut(name, "/")
	p, err := gvf.Inputs(kind).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// The kernels have the bits of the plain loop. On the host every launch is a process, so few steps
// run there, and 16 bits only for some problems.
func TestKernelsOnHost(t *testing.T) {
	testKernels(t, onHost(t, ""), slices.DeleteFunc(asked(), func(name string) bool {
		p := problemOf(t, name)
		return p.Steps > 5 && !slices.Contains(tiled, name)
	}), 1)
}

func TestKernelsOnDevice(t *testing.T) {
	again := len(asked())
	if testing.Short() {
		again = 3
	}
	testKernels(t, ecctest.Device(t), asked(), again)
}

// hurry reduces the steps of a problem on the host if each step is a launch.
func (i Implementation) hurry(p *gvf.Problem) {
	if i.method.name != "blocked-gpu" {
		p.Steps = min(p.Steps, 3)
	}
}

func testKernels(t *testing.T, open resident.Opener, names []string, again int) {
	t.Helper()
	onlySome := again < len(names)
	for k, name := range names {
		for n, i := range bySteps(open) {
			if onlySome && (n+k)%3 > 0 && !slices.Contains(tiled, name) {
				continue
			}
			times := 1
			if k < again {
				times = 2
			}
			p, formats := problemOf(t, name), append(i.method.formats, gvf.Float32)
			if onlySome && !slices.Contains(tiled, name) {
				formats = []gvf.Storage{gvf.Float32}
			}
			for _, storage := range formats {
				p.Storage = storage
				if onlySome {
					i.hurry(p)
				}
				scopes := i.About().Scopes
				if problem := wrong(t, i, p, scopes[k%len(scopes)], times); problem != nil {
					t.Errorf("%s, %v, %s: %v", i.About().Name, storage, name, problem)
				}
			}
		}
	}
}

// Images of many tiles, more than run at a time.
func TestLargeOnDevice(t *testing.T) {
	open := ecctest.Device(t)
	for _, name := range []string{
		"gvf/steps=13/mu=80/boundary=0/of=noise/shape=300x100x130/type=uint8/seed=1", "gvf/steps=21/mu=80/boundary=1/of=noise/shape=1500x700/type=uint8/seed=1",
		"gvf/steps=512/mu=80/boundary=0/of=noise/shape=512x512/type=uint8/seed=1", "gvf/steps=515/mu=80/boundary=1/of=noise/shape=512x512/type=float32/levels=1024/seed=1",
	} {
		for _, i := range bySteps(open) {
			for _, storage := range append(i.method.formats, gvf.Float32) {
				p := problemOf(t, name)
				p.Storage = storage
				if problem := wrong(t, i, p, bench.Kernel, 3); problem != nil {
					t.Errorf("%s, %v, %s: %v", i.About().Name, storage, name, problem)
				}
			}
		}
	}
}

// A field that is given flows as the image's gradient does.
func TestFieldsOnHost(t *testing.T) { testFields(t, onHost(t, "")) }

func TestFieldsOnDevice(t *testing.T) { testFields(t, ecctest.Device(t)) }

func testFields(t *testing.T, open resident.Opener) {
	t.Helper()
	for _, image := range []string{"noise/shape=33x9/type=uint8/seed=5", "noise/shape=20x9x6/type=uint8/seed=5"} {
		p := problemOf(t, "gvf/steps=7/mu=50/boundary=0/of="+image)
		f, err := gvf.Define(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range bySteps(open) {
			for _, scope := range i.About().Scopes {
				if problem := wrong(t, i, p.Flowing(f.V, 5), scope, 2); problem != nil {
					t.Errorf("%s, %s, %s: %v", i.About().Name, scope, image, problem)
				}
			}
		}
	}
}

// Tests of each kind of kernels see each of its faults.
func TestFaultsAreSeenOnHost(t *testing.T) {
	seen := func(i Implementation, name string) bool {
		p := problemOf(t, name)
		i.hurry(p)
		return wrong(t, i, p, bench.Kernel, 1) != nil
	}
	for _, fault := range []string{"border", "fused", "edge", "ring"} {
		for _, i := range bySteps(onHost(t, fault)) {
			method := i.About().Name
			for k, name := range tiled {
				has := fault == "border" || fault == "fused" || method == "blocked-gpu" && k < 2 || method != "texture" && fault == "edge"
				if got := seen(i, name); got != has {
					t.Errorf("%s, %s, fault %s: seen %v", method, name, fault, got)
				}
			}
		}
	}
	for _, i := range bySteps(onHost(t, "")) {
		if !slices.ContainsFunc(tiled, func(name string) bool { return seen(faulty(i, OldBuffer), name) }) {
			t.Errorf("%s: nobody sees %s", i.About().Name, OldBuffer)
		}
	}
}

// faulty is an implementation with a fault.
func faulty(i Implementation, f Fault) Implementation {
	i.fault = f
	return i
}

// bySteps lists the implementations that compute steps.
func bySteps(open resident.Opener) []Implementation {
	return []Implementation{Global(open), GlobalShared(open), Texture(open), TextureShared(open), Blocked(open)}
}
