package fullsweep_test

import (
	"fmt"
	"slices"
	"testing"

	"eccbench/impls/cpu"
	"eccbench/impls/fullsweep"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/source"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, fullsweep.Implementation{Open: ecctest.Device(t)})
}

func TestSuiteCatchesPlantedFaults(t *testing.T) {
	open := ecctest.Device(t)
	ecctest.CatchesPlanted(t, "ecc_fullsweep", func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return fullsweep.Implementation{Open: open, PTX: ptx}
	})
}

func TestKernelsOnHost(t *testing.T) {
	ecctest.RunOnHost(t, "ecc_fullsweep", source.Faults("ecc_fullsweep"), func(open resident.Opener) bench.Implementation[grid.Source, ecc.VCEC] {
		return fullsweep.Implementation{Open: open}
	})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, fullsweep.Implementation{Open: ecctest.Device(f)})
}

// The image that is counted is the one that was given, put there once or by each call.
func TestUploadsOnStandIn(t *testing.T) {
	for _, name := range []string{"noise/shape=9x7x23/type=uint8/seed=1", "noise/shape=33x40/type=uint8/levels=5/seed=3"} {
		streamed, field := ecctest.Open(t, name)
		want, _ := ecctest.Answer(t, cpu.Implementation{}, field, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
		for scope, in := range map[bench.Scope]grid.Source{bench.Device: field, bench.E2E: field, bench.File: streamed} {
			t.Run(fmt.Sprintf("%s/%v", name, scope), func(t *testing.T) {
				got, parts := ecctest.Answer(t, fullsweep.Implementation{Open: ecctest.StandIn(t)}, in, bench.Conditions{Setting: bench.Setting{Scope: scope, Threads: 2}})
				if !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				if _, uploads := parts["upload"]; uploads != (scope != bench.Device) {
					t.Errorf("the parts are %v", parts)
				}
			})
		}
	}
}
