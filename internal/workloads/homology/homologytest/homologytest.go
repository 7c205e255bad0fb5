// Package homologytest has the common parts of tests of homology kernels.
package homologytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/resident"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/homology"
	"eccbench/kernels/hosttest"
)

// An Implementation answers about complexes.
type Implementation = bench.Implementation[*homology.Problem, homology.Groups]

// EliminationConfirms checks that elimination of the boundary matrices, as the only witness, confirms right answers to the
// adversarial inputs. Planted faults (make faults) must fail it.
func EliminationConfirms(t *testing.T, i Implementation) {
	w := judgedtest.Thinned(homology.Workload(i))
	w.Policy.Known = nil
	w = judgedtest.WithLaws(w, func(law string) bool { return strings.HasPrefix(law, "elimination") })
	n := judgedtest.Alone(t, w, true, 0)
	if n.Refused = 0; !n.All() {
		t.Errorf("right answers of %s are found %+v", i.About().Name, n)
	}
}

// OnHost are the kernels of a module, compiled for the host, on a stand-in for a device. A
// fault is planted in them, or none, "".
func OnHost(t *testing.T, module, fault string) resident.Opener {
	t.Helper()
	driver := devicetest.New(1, hosttest.Modules(t, fault, module))
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// Open is the problem of a complex that people name, over 2.
func Open(t *testing.T, name string) *homology.Problem {
	t.Helper()
	name, err := homology.NameOf(name, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := homology.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Differs reports how kernels differ from cores. They must repeatedly give the same groups,
// overwrite a poisoned answer, and reject the same complexes in the same words.
func Differs(t *testing.T, kernels, cores Implementation, p *homology.Problem, scope bench.Scope, times int) error {
	t.Helper()
	c := bench.Conditions{Setting: bench.Setting{Scope: scope, Threads: 2}}
	want, refused := bench.Answer(cores, p, c)
	if err := kernels.CanDo(p, c); refused != nil || err != nil {
		if fmt.Sprint(err) != fmt.Sprint(refused) {
			return fmt.Errorf("the kernels: %v, cores: %v", err, refused)
		}
		return nil
	}
	j, err := kernels.Setup(p, c)
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
		if got, _ := j.Out(); slices.Equal(got.Betti, want.Betti) {
			return fmt.Errorf("%v after the output was overwritten", got)
		}
		if err := j.Do(nil); err != nil {
			return err
		}
		if got, err := j.Out(); err != nil || !slices.Equal(got.Betti, want.Betti) {
			return fmt.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	return nil
}

// Faults requires that each planted fault of a module's kernels shows in one of the complexes.
func Faults(t *testing.T, module string, kernels func(resident.Opener) Implementation, cores Implementation, list map[string]*homology.Problem, faults ...string) {
	for _, fault := range faults {
		t.Run(fault, func(t *testing.T) {
			i := kernels(OnHost(t, module, fault))
			for _, p := range list {
				if Differs(t, i, cores, p, bench.Kernel, 1) != nil {
					return
				}
			}
			t.Error("no answer differs")
		})
	}
}
