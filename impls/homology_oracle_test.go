package impls_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/workloads/homology"
)

// TestHomologyAgainstGudhi holds the Betti numbers over two fields to GUDHI's simplex tree.
func TestHomologyAgainstGudhi(t *testing.T) {
	names := []string{
		"rp2", "klein", "torus/order=random/seed=2", "sphere/dim=4", "moore/n=6", "lens/p=3/q=1", "dodecahedral/tenths=3", "join/with=moore,n=4/of=moore/n=6",
		"kuhn/shape=13x12x11/drills=4/cavities=30/order=random", "five/shape=9x10x8/drills=2/cavities=9", "voxels/at=127/of=noise/shape=8x9x10/type=uint8/seed=3", "voxels/at=127/cut=five/of=grf/shape=12x12x12/type=uint8/seed=3",
		"random/vertices=14/dim=3/count=90/seed=2", "random/vertices=12/dim=5/count=30/seed=3", "random/vertices=40/dim=1/count=60/seed=3",
	}
	for _, ring := range []homology.Ring{2, 3, 5} {
		var files []string
		var all []*homology.Problem
		for i, name := range names {
			name, err := homology.Of(name, ring)
			if err != nil {
				t.Fatal(err)
			}
			p, err := homology.Inputs{}.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for d, tops := range p.Tops {
				for at := 0; at < len(tops); at += d + 1 {
					fmt.Fprintln(&text, strings.Trim(fmt.Sprint(tops[at:at+d+1]), "[]"))
				}
			}
			path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.txt", i))
			if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			all, files = append(all, p), append(files, path)
		}
		var want [][]int64
		oracle(t, &want, "homology", append([]string{ring.String()}, files...)...)
		if len(want) != len(files) {
			t.Fatalf("GUDHI answered %d of %d complexes", len(want), len(files))
		}
		answered := 0
		for _, impl := range impls.All(impls.Devices()).Homology.Impls {
			for i, p := range all {
				conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}, Time: 5e9}
				if impl.CanDo(p, conditions) != nil {
					continue
				}
				got, err := bench.Answer(impl, p, conditions)
				if err != nil {
					t.Fatal(err)
				}
				if answered++; !slices.Equal(got.Betti, want[i]) {
					t.Errorf("%s of %s over %v: %v, GUDHI has %v", impl.About().Name, names[i], ring, got, want[i])
				}
			}
		}
		if answered < len(names) {
			t.Errorf("%d answers over %v", answered, ring)
		}
	}
}
