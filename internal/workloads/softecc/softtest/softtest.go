// Package softtest is the shared test suite of implementations of soft curves on a device.
package softtest

import (
	"fmt"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc"
	"eccbench/kernels/hosttest"
)

// An Implementation runs on the device that an opener returns.
type Implementation func(resident.Opener) bench.Implementation[*softecc.Problem, softecc.Answer]

// OnHost returns a stand-in for a device with modules compiled for the host.
func OnHost(t *testing.T, modules ...string) resident.Opener {
	driver := devicetest.New(1, hosttest.Modules(t, "", modules...))
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// Inputs returns problems for the kernels: all adversarial ones, and rows at any position of a word.
// Some have more columns than a warp, or more rows than a warp processes. All ways to sum are
// included.
func Inputs() []string {
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

// Run compares an implementation with the definition on problems that it does not reject, each in
// one of its scopes. The first again problems are repeated.
func Run(t *testing.T, of Implementation, open resident.Opener, again int, names []string) (refused map[string]error) {
	t.Helper()
	refused = map[string]error{}
	scopes := of(open).About().Scopes
	for i, name := range names {
		times := 1
		if i < again {
			times = 2
		}
		p := Open(t, name)
		if err := of(open).CanDo(p, bench.Conditions{Setting: bench.Setting{Scope: scopes[i%len(scopes)]}}); err != nil {
			refused[name] = err
			continue
		}
		if err := wrong(t, of(open), p, scopes[i%len(scopes)], times); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return refused
}

// Far compares an implementation with the definition at thresholds far from all voxels, which count
// all changes or none.
func Far(t *testing.T, of Implementation, open resident.Opener) {
	t.Helper()
	for _, image := range []string{"noise/shape=1x1/type=uint8/seed=5", "between/shape=24x20x6/levels=64/seed=3"} {
		for _, away := range []float64{-1e5, 1e5} {
			p := Open(t, "softecc/m=5/lambda=200/alpha=300/dir=3/of="+image)
			for i := range p.Tau {
				p.Tau[i] += away
			}
			if err := wrong(t, of(open), p, bench.Device, 1); err != nil {
				t.Errorf("%s, thresholds %g away: %v", image, away, err)
			}
		}
	}
}

// Offset compares an implementation with the definition for values far from 0, and for thresholds
// between two float32 numbers.
func Offset(t *testing.T, of Implementation, open resident.Opener) {
	t.Helper()
	const base, levels = 1 << 20, 16
	l, err := grid.Affine(base, 1, levels)
	if err != nil {
		t.Fatal(err)
	}
	image := gridtest.Image(t, grid.Shape{D: 5, H: 12, W: 37}, grid.Float32, l, func(i int64) float64 { return base + float64(i*i%31%levels) })
	p := &softecc.Problem{Source: image, Lambda: 3, Alpha: 0.25, V: [3]float64{1, -2, 0.5}}
	for k := range levels {
		p.Tau, p.G = append(p.Tau, base+float64(k)+0.06), append(p.G, float64(k%5)-1.5)
	}
	if err := wrong(t, of(open), p, bench.Kernel, 1); err != nil {
		t.Error(err)
	}
}

// Open returns the problem of a name, open until the test ends.
func Open(t *testing.T, name string) *softecc.Problem {
	t.Helper()
	p, err := softecc.Inputs().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { grid.Close(p) })
	return p
}

// wrong returns the first error of the answers to a problem computed several times in a scope.
func wrong(t *testing.T, i bench.Implementation[*softecc.Problem, softecc.Answer], p *softecc.Problem, scope bench.Scope, times int) error {
	t.Helper()
	want, err := softecc.Define(p)
	if err != nil {
		t.Fatal(err)
	}
	j, err := i.Setup(p, bench.Conditions{Setting: bench.Setting{Scope: scope}})
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
		if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
			return fmt.Errorf("%v", d)
		}
	}
	return nil
}
