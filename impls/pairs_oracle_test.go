package impls_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// TestPairsAgainstGudhi compares pairs by dimension, value of birth and value of death, in all conventions.
func TestPairsAgainstGudhi(t *testing.T) {
	all, files := saved(t,
		"noise/shape=16x15x14/levels=100/type=uint8/seed=1", "noise/shape=9x21x8/levels=4/type=float32/seed=2", "noise/shape=13x11x12/levels=2/type=uint8/seed=3",
		"grf/shape=24x23x22/levels=100/type=int16/smooth=1/seed=4", "noise/shape=40x37/levels=100/type=uint16/seed=5", "noise/shape=31x33/levels=2/type=uint8/seed=6",
		"links/shape=24x12x12/type=uint8", "shell/shape=12x13x14/type=uint8", "sponge/shape=9x9x9/type=uint8",
	)
	set := impls.All(impls.Devices())
	for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
		construction, sets := "T", "sublevel"
		if c.Vertices {
			construction = "V"
		}
		if c.Superlevel {
			sets = "superlevel"
		}
		var want [][][3]*float64
		oracle(t, &want, "pairs", append([]string{construction, sets}, files...)...)
		if want == nil && c.Vertices {
			t.Run(construction+sets, func(t *testing.T) { t.Skip(oldGudhi) })
			continue
		}
		for i, f := range all {
			for _, impl := range pairs.InConvention(set.Pairs, c).Impls {
				conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
				if impl.CanDo(f, conditions) != nil {
					continue
				}
				out, err := bench.Answer(impl, grid.Source(f), conditions)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := spansOf(f, out), spansOfOracle(want[i]); !slices.Equal(got, want) {
					t.Errorf("%s, %s %s of image %d: %d pairs, want %d", impl.About().Name, construction, sets, i, len(got), len(want))
				}
			}
		}
	}
}

// spansOf lists the dimensions, births and deaths of pairs, in order. +Inf is no death.
func spansOf(f *grid.Field, out pairs.Answer) (list [][3]float64) {
	values := f.Floats()
	for _, p := range out.Pairs {
		death := math.Inf(1)
		if p.Death != pairs.Never {
			death = float64(values[p.Death])
		}
		list = append(list, [3]float64{float64(p.Dim), float64(values[p.Birth]), death})
	}
	return sortedSpans(list)
}

func spansOfOracle(all [][3]*float64) (list [][3]float64) {
	for _, p := range all {
		death := math.Inf(1)
		if p[2] != nil {
			death = *p[2]
		}
		list = append(list, [3]float64{*p[0], *p[1], death})
	}
	return sortedSpans(list)
}

func sortedSpans(list [][3]float64) [][3]float64 {
	slices.SortFunc(list, func(a, b [3]float64) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
	})
	return list
}
