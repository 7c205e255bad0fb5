package binned_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/softecc/binned"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc"
	"eccbench/kernels/hosttest"
)

// asked are problems for the kernels: all that are adversarial, rows at any place of a word,
// more columns than a warp has, more rows than it marches through, and all ways to add up.
func asked() []string {
	list := slices.Clone(softecc.Workload().Adversarial)
	list = append(list, "softecc/m=5/lambda=100/alpha=100/dir=1/of=noise/shape=1x1/type=uint8/seed=5")
	for _, image := range []string{
		"noise/shape=133x70x3/type=uint8/seed=1", "noise/shape=132x5x4/type=int16/levels=500/seed=2", "noise/shape=300x37/type=uint16/levels=1024/seed=3",
		"noise/shape=5x33x7/type=float32/levels=1024/seed=4", "between/shape=33x34x5/levels=300/seed=5", "noise/shape=9x8x7/type=uint16/seed=6",
		"noise/shape=9x8x7/levels=64/type=float32/step=1e-13/seed=3", "noise/shape=9x8x7/levels=64/type=float32/step=1e27/seed=3",
	} {
		for _, alpha := range []int{0, 200} {
			list = append(list, fmt.Sprintf("softecc/m=5/lambda=300/alpha=%d/dir=3/of=%s", alpha, image))
		}
	}
	return list
}

// wrong is what is wrong with the answers on a device to a problem that is asked so often in a
// scope; refused is that the device cannot answer it.
func wrong(t *testing.T, open resident.Opener, p *softecc.Problem, scope bench.Scope, times int) (problem error, refused bool) {
	t.Helper()
	i, c := binned.OnDevice{Open: open}, bench.Conditions{Setting: bench.Setting{Scope: scope}}
	want, err := softecc.Define(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.CanDo(p, c); err != nil {
		return err, true
	}
	j, err := i.Setup(p, c)
	if err != nil {
		return err, false
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range times {
		j.Poison()
		if err := j.Do(nil); err != nil {
			return err, false
		}
		got, err := j.Out()
		if err != nil {
			return err, false
		}
		if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
			return fmt.Errorf("%v", d), false
		}
	}
	return nil, false
}

func problemOf(t *testing.T, name string) *softecc.Problem {
	t.Helper()
	p := open(t, name)
	t.Cleanup(func() { grid.Close(p) })
	return p
}

// onHost are the kernels, compiled for the host, on a stand-in for a device.
func onHost(t *testing.T) resident.Opener {
	driver := devicetest.New(1, hosttest.Modules(t, "", "softecc_curve", "softecc_uint8", "softecc_int16", "softecc_uint16", "softecc_float32"))
	return ecctest.Closing(t, resident.Once(func() (device.Driver, error) { return driver, nil }))
}

// The kernels give the definition's answer wherever they do not refuse, which they do of
// vertices, and of sigmoids that are too steep for bins. On the host tens of thousands of bins take long, and
// a launch is the like of another: only some problems are asked again.
func TestKernelsOnHost(t *testing.T) {
	testKernels(t, onHost(t), 3, slices.DeleteFunc(asked(), func(name string) bool {
		return strings.Contains(name, "/lambda=1000/alpha=100/")
	}))
}

func TestKernelsOnDevice(t *testing.T) { testKernels(t, ecctest.Device(t), len(asked()), asked()) }

func testKernels(t *testing.T, open resident.Opener, again int, names []string) {
	t.Helper()
	refusals := 0
	for i, name := range names {
		times := 1
		if i < again {
			times = 2
		}
		scopes := (binned.OnDevice{}).About().Scopes
		problem, refused := wrong(t, open, problemOf(t, name), scopes[i%len(scopes)], times)
		if strings.Contains(name, "/vertices=1/") {
			if !refused || !strings.Contains(problem.Error(), "vertices") {
				t.Errorf("%s: %v, want it refused", name, problem)
			}
		} else if refused {
			refusals++
			t.Logf("%s: refused: %v", name, problem)
		} else if problem != nil {
			t.Errorf("%s: %v", name, problem)
		}
	}
	if refusals > 1 {
		t.Errorf("%d problems of %d were refused", refusals, len(names))
	}
}

// Thresholds that no voxel is near see all changes or none.
func TestKernelsFarOnHost(t *testing.T) { testFar(t, onHost(t)) }

func TestKernelsFarOnDevice(t *testing.T) { testFar(t, ecctest.Device(t)) }

func testFar(t *testing.T, open resident.Opener) {
	t.Helper()
	for _, image := range []string{"noise/shape=1x1/type=uint8/seed=5", "between/shape=24x20x6/levels=64/seed=3"} {
		for _, away := range []float64{-1e5, 1e5} {
			p := problemOf(t, "softecc/m=5/lambda=200/alpha=300/dir=3/of="+image)
			for i := range p.Tau {
				p.Tau[i] += away
			}
			if problem, _ := wrong(t, open, p, bench.Device, 1); problem != nil {
				t.Errorf("%s, thresholds %g away: %v", image, away, problem)
			}
		}
	}
}
