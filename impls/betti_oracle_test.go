package impls_test

import (
	"fmt"
	"testing"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// TestBettiAgainstGudhi and TestBettiAgainstScikitImage compare the numbers of sets in all
// conventions with two independent programs.
func TestBettiAgainstGudhi(t *testing.T) {
	againstBetti(t, "gudhi", []string{
		"noise/shape=16x15x14/levels=100/type=uint8/seed=1", "noise/shape=9x21x8/levels=100/type=float32/seed=2", "noise/shape=70x5x9/levels=100/type=int16/seed=3",
		"grf/shape=24x25x26/levels=100/type=uint8/smooth=1/seed=4", "noise/shape=40x37/levels=100/type=uint16/seed=5",
		"drills/shape=13x9x8/type=uint8", "cavities/shape=9x9x9/type=uint8", "serpent/shape=9x9x9/type=uint8", "sponge/shape=9x9x9/type=uint8",
	})
}

func TestBettiAgainstScikitImage(t *testing.T) {
	againstBetti(t, "skimage", []string{
		"noise/shape=64x65x63/levels=100/type=uint8/seed=1", "noise/shape=131x40x33/levels=100/type=float32/seed=2",
		"grf/shape=96x80x72/levels=100/type=uint8/smooth=2/seed=4", "noise/shape=400x370/levels=100/type=uint16/seed=5",
		"links/shape=64x48x48/type=uint8", "sponge/shape=27x27x27/type=uint8", "sponge/shape=81x81/type=uint8",
	})
}

func againstBetti(t *testing.T, tool string, images []string) {
	t.Helper()
	all, files := saved(t, images...)
	set := impls.All(impls.Devices())
	w := set.Betti
	for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
		construction, side := "T", ""
		if c.Vertices {
			construction = "V"
		}
		if c.Superlevel {
			side = ">"
		}
		curves := map[string][]betti.Curves{} // of implementations
		for _, impl := range betti.CurvesInConvention(set.BettiCurves, c).Impls {
			for _, f := range all {
				conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
				if impl.CanDo(f, conditions) != nil {
					continue
				}
				got, err := bench.Answer(impl, grid.Source(f), conditions)
				if err != nil {
					t.Fatal(err)
				}
				curves[impl.About().Name] = append(curves[impl.About().Name], got)
			}
		}
		if len(curves["duality"]) < len(all) {
			t.Fatal("duality refuses some")
		}
		for _, level := range []float32{0, 12, 31, 50, 69, 90} {
			var want [][3]int64
			oracle(t, &want, "betti", append([]string{tool, construction, fmt.Sprintf("%s%v", side, level)}, files...)...)
			if want == nil && c.Vertices {
				t.Run(construction+side, func(t *testing.T) { t.Skip(oldGudhi) })
				break
			}
			if len(want) != len(files) {
				t.Fatalf("%s answered %d of %d volumes", tool, len(want), len(files))
			}
			for name, list := range curves {
				if len(list) < len(all) {
					continue // it takes small images
				}
				for i, curves := range list {
					var got betti.Numbers
					betti.LinesOf(all[i], curves, c).Each(func(at float32, n betti.Numbers) {
						if at <= level && !c.Superlevel || at >= level && c.Superlevel {
							got = n
						}
					})
					if w := want[i]; got != (betti.Numbers{B0: w[0], B1: w[1], B2: w[2]}) {
						t.Errorf("%s, %s%v of %s, curves by %s: %v, %s %v", construction, side, level, images[i], name, got, tool, w)
					}
				}
			}
			for _, impl := range betti.InConvention(w, c).Impls {
				for i, f := range all {
					in := &betti.Image{Source: f, Threshold: level}
					conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
					if impl.CanDo(in, conditions) != nil {
						continue // it takes small images
					}
					got, err := bench.Answer(impl, in, conditions)
					if err != nil {
						t.Fatal(err)
					}
					if w := want[i]; got != (betti.Numbers{B0: w[0], B1: w[1], B2: w[2]}) {
						t.Errorf("%s, %s%v of %s by %s: %v, %s %v", construction, side, level, images[i], impl.About().Name, got, tool, w)
					}
				}
			}
		}
	}
}
