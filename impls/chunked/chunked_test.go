package chunked_test

import (
	"fmt"
	"slices"
	"testing"

	"eccbench/impls/chunked"
	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, chunked.Implementation{Open: ecctest.Device(t)})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, chunked.Implementation{Open: ecctest.Device(f)})
}

func TestSuiteCatchesPlantedFaults(t *testing.T) {
	open := ecctest.Device(t)
	ecctest.CatchesPlanted(t, "ecc_fullsweep", func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return chunked.Implementation{Open: open, PTX: ptx}
	})
}

// Slabs of 1 KiB, so that most images have several. Only faults at the edges of slabs are planted
// here; fullsweep, which shares the kernels, has the others.
func TestKernelsOnHost(t *testing.T) {
	ecctest.RunOnHost(t, "ecc_fullsweep", []string{"halo", "slab"}, func(open resident.Opener) bench.Implementation[grid.Source, ecc.VCEC] {
		return chunked.WithSlabs(chunked.Implementation{Open: open}, 1<<10)
	})
}

// Long and short slabs, read ahead or copied in place, give the curve of the image in repeated
// calls.
func TestSlabsOnStandIn(t *testing.T) {
	for _, name := range []string{
		"noise/shape=9x7x23/type=uint8/seed=1", "noise/shape=5x4x1/type=uint8/seed=2", "noise/shape=33x40/type=uint8/levels=5/seed=3",
		"noise/shape=128x128x64/type=uint8/seed=4",
	} {
		streamed, field := ecctest.Open(t, name)
		want, _ := ecctest.Answer(t, cpu.Implementation{}, field, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
		bytes := []int64{1, 3 * grid.SliceBytes(field), 10 * grid.SliceBytes(field), 1 << 20}
		large := grid.TotalBytes(field) >= 1<<20
		if large {
			bytes = bytes[2:3]
		}
		for _, slab := range bytes {
			for _, threads := range []int{1, 3} {
				for in, c := range map[grid.Source]bench.Conditions{
					field: {Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}, streamed: {Setting: bench.Setting{Scope: bench.File, Threads: threads}},
				} {
					if large && (in != field || threads > 1) {
						continue // the stand-in takes seconds
					}
					t.Run(fmt.Sprintf("%s/%d/%d/%v", name, slab, threads, c.Scope), func(t *testing.T) {
						got, parts := ecctest.Answer(t, chunked.WithSlabs(chunked.Implementation{Open: ecctest.StandIn(t)}, slab), in, c)
						if !slices.Equal(got, want) {
							t.Errorf("%v, want %v", got, want)
						}
						if _, whole := parts["copy and count"]; whole != large {
							t.Errorf("copied from where it is: %v; the parts are %v", whole, parts)
						}
					})
				}
			}
		}
	}
}
