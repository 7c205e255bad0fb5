package impls_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// known are complexes of all kinds and dimensions.
var known = []string{
	"rp2", "klein", "torus/order=random/seed=2", "sphere/dim=4", "moore/n=6", "lens/p=3/q=1", "dodecahedral/tenths=3", "join/with=moore,n=4/of=moore/n=6",
	"kuhn/shape=13x12x11/drills=4/cavities=30/order=random", "five/shape=9x10x8/drills=2/cavities=9", "voxels/at=127/of=noise/shape=8x9x10/type=uint8/seed=3", "voxels/at=127/cut=five/of=grf/shape=12x12x12/type=uint8/seed=3",
	"random/vertices=14/dim=3/count=90/seed=2", "random/vertices=12/dim=5/count=30/seed=3", "random/vertices=40/dim=1/count=60/seed=3",
}

// opened opens the complexes of names over a ring.
func opened(t *testing.T, names []string, ring homology.Ring) (all []*homology.Problem) {
	t.Helper()
	for _, name := range names {
		name, err := homology.NameOf(name, ring)
		if err != nil {
			t.Fatal(err)
		}
		p, err := homology.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// holdGroups compares the Betti numbers of implementations with numbers of another program.
func holdGroups(t *testing.T, all []*homology.Problem, want [][]int64, by string) {
	t.Helper()
	if len(want) != len(all) {
		t.Fatalf("%s answered %d of %d complexes", by, len(want), len(all))
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
				t.Errorf("%s of complex %d over %v: %v, %s has %v", impl.About().Name, i, p.Over, got, by, want[i])
			}
		}
	}
	if answered < len(all) {
		t.Errorf("%d answers", answered)
	}
}

// TestHomologyAgainstGudhi compares the Betti numbers over three fields with GUDHI's simplex tree.
func TestHomologyAgainstGudhi(t *testing.T) {
	for _, ring := range []homology.Ring{2, 3, 5} {
		var files []string
		all := opened(t, known, ring)
		for i, p := range all {
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
			files = append(files, path)
		}
		var want [][]int64
		oracle(t, &want, "homology", append([]string{ring.String()}, files...)...)
		holdGroups(t, all, want, "GUDHI")
	}
}

// TestHomologyAgainstPhat compares the Betti numbers over 2 with PHAT. It pairs the columns of the
// whole boundary matrix; the unpaired ones count.
func TestHomologyAgainstPhat(t *testing.T) {
	phat, err := exec.LookPath("phat")
	if err != nil {
		t.Skip("PHAT is not installed; Debian has it in phat-utils")
	}
	all := opened(t, known, 2)
	var want [][]int64
	for i, p := range all {
		// Columns are simplices by dimension, rows their faces; both have the same numbers.
		faces := simplicial.NewFaces(p.Complex, 1)
		var text strings.Builder
		var dims []int
		begin := int64(0)
		for d := range faces.Vertices {
			for s := range faces.Count(d) {
				fmt.Fprint(&text, d)
				var rows []int64
				if d > 0 {
					for _, f := range faces.Boundary[d][s*int64(d+1) : (s+1)*int64(d+1)] {
						rows = append(rows, begin+int64(f))
					}
				}
				slices.Sort(rows)
				for _, row := range rows {
					fmt.Fprint(&text, " ", row)
				}
				text.WriteByte('\n')
				dims = append(dims, d)
			}
			begin = int64(len(dims)) - faces.Count(d)
		}
		in, out := filepath.Join(t.TempDir(), "matrix"), filepath.Join(t.TempDir(), fmt.Sprint("pairs", i))
		if err := os.WriteFile(in, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(phat, "--ascii", in, out).CombinedOutput(); err != nil {
			t.Fatalf("PHAT: %v: %s", err, said)
		}
		said, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		betti := slices.Clone(p.Counts())
		for _, column := range strings.Fields(string(said))[1:] { // after how many pairs there are
			at, err := strconv.Atoi(column)
			if err != nil || at >= len(dims) {
				t.Fatalf("PHAT wrote %q: %v", column, err)
			}
			betti[dims[at]]--
		}
		want = append(want, betti)
	}
	holdGroups(t, all, want, "PHAT")
}
