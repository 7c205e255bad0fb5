package definition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/bench/benchtest"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
	"eccbench/internal/workloads/pairs/pairstest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the pairs and chains in every convention, and images whose pairs are known.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "conformance", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{}, 160) }},
		{Name: "known pairs", Of: pairsAreKnown},
		{Name: "columns", Of: columnsAreReduced},
		{Name: "refusals", Of: refusals},
		benchtest.Calls(Implementation{}, func(t *testing.T) (grid.Source, map[string]grid.Source) {
			in := gridtest.Drawn(t, grid.Shape{D: 3, H: 4, W: 5}, grid.Uint8, 9, 3)
			return in, map[string]grid.Source{gridtest.ErrUnread.Error(): gridtest.Unread{Source: in}}
		}, "chains", "pairs", "read"),
	}
}

// answer returns the answer about an image in a convention.
func answer(t *testing.T, in grid.Source, c ecc.Convention) pairs.Answer {
	t.Helper()
	out, err := bench.Answer(bench.Implementation[grid.Source, pairs.Answer](Implementation{c}), in, bench.Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// byValue formats pairs as dimensions and the values of their voxels.
func byValue(f *grid.Field, list []pairs.Pair) string {
	var all []string
	for _, p := range list {
		death := "never"
		if p.Death != pairs.Never {
			death = fmt.Sprint(f.Floats()[p.Death])
		}
		all = append(all, fmt.Sprintf("%d:%v–%s", p.Dim, f.Floats()[p.Birth], death))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// The pairs of images that can be followed by hand, by value and by voxel.
func pairsAreKnown(t *testing.T) {
	for _, c := range []struct {
		shape  grid.Shape
		values []uint8
		in     ecc.Convention
		want   string
	}{
		// Two minima meet at 2, in both constructions.
		{grid.Shape{D: 1, H: 1, W: 3}, []uint8{0, 2, 1}, ecc.Convention{}, "[{0 0 -1} {0 2 1}]"},
		{grid.Shape{D: 1, H: 1, W: 3}, []uint8{0, 2, 1}, ecc.Convention{Vertices: true}, "[{0 0 -1} {0 2 1}]"},
		// From the greatest value down there is one maximum.
		{grid.Shape{D: 1, H: 1, W: 3}, []uint8{0, 2, 1}, ecc.Convention{Superlevel: true}, "[{0 1 -1}]"},
		// Of equal values the first voxel is the older one.
		{grid.Shape{D: 1, H: 1, W: 3}, []uint8{1, 2, 1}, ecc.Convention{}, "[{0 0 -1} {0 2 1}]"},
		{grid.Shape{D: 1, H: 1, W: 5}, []uint8{0, 1, 0, 1, 0}, ecc.Convention{}, "[{0 0 -1} {0 2 1} {0 4 3}]"},
		// Voxels meet at a corner as top cells, and not as vertices.
		{grid.Shape{D: 1, H: 2, W: 2}, []uint8{0, 3, 2, 1}, ecc.Convention{}, "[{0 0 -1}]"},
		{grid.Shape{D: 1, H: 2, W: 2}, []uint8{0, 3, 2, 1}, ecc.Convention{Vertices: true}, "[{0 0 -1} {0 3 2}]"},
		// A ring is closed by its last voxel, and filled by the middle. Without the middle it has a hole for good.
		{grid.Shape{D: 1, H: 3, W: 3}, []uint8{0, 0, 0, 0, 9, 0, 0, 0, 1}, ecc.Convention{Vertices: true}, "[{0 0 -1} {1 8 4}]"},
		{grid.Shape{D: 1, H: 3, W: 3}, []uint8{1, 2, 3, 4, 9, 5, 6, 7, 8}, ecc.Convention{}, "[{0 0 -1} {1 7 4}]"},
		{grid.Shape{D: 1, H: 3, W: 3}, []uint8{1, 2, 3, 4, 9, 5, 6, 7, 8}, ecc.Convention{Superlevel: true}, "[{0 4 -1}]"},
	} {
		f := gridtest.OfBytes(t, c.shape, slices.Clone(c.values)...)
		if got := fmt.Sprint(answer(t, f, c.in).Pairs); got != c.want {
			t.Errorf("%v in %+v: %s, want %s", c.values, c.in, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"shell/shape=12x12x12/type=uint8": "0:0–never 2:0–1", "shell/shape=12x12/type=uint8": "0:0–never 1:0–1",
		"torus/shape=16x16x16/type=uint8": "0:0–never 1:0–1", "links/shape=24x12x12/type=uint8": "0:0–1 0:0–never 1:0–1 1:0–1",
		"constant/shape=4x3x5/type=uint8": "0:0–never", "checkerboard/shape=3x3/type=uint8": "0:0–never",
	} {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := byValue(f, answer(t, f, ecc.Convention{}).Pairs); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	masked := gridtest.Image(t, grid.Shape{D: 1, H: 3, W: 3}, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return float64(i) })
	grid.Values[float32](masked.Data())[4] = grid.Absent
	if got := fmt.Sprint(answer(t, masked, ecc.Convention{Masked: true}).Pairs); got != "[{0 0 -1} {1 7 -1}]" {
		t.Errorf("a ring around a masked voxel: %s", got)
	}
}

// Columns are reduced to pivots that differ, by the columns that are named.
func columnsAreReduced(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for range 200 {
		columns := make([][]uint32, 1+rng.IntN(12))
		for i := range columns {
			for row := range uint32(10) {
				if rng.IntN(3) == 0 {
					columns[i] = append(columns[i], row)
				}
			}
			rng.Shuffle(len(columns[i]), func(a, b int) { columns[i][a], columns[i][b] = columns[i][b], columns[i][a] })
		}
		before := make([]uint32, len(columns)) // bits of rows
		for i, column := range columns {
			for _, row := range column {
				before[i] |= 1 << row
			}
		}
		pivot, added := reduce(columns)
		seen, after := map[int]bool{}, make([]uint32, len(columns))
		for i, column := range columns {
			for _, row := range column {
				after[i] |= 1 << row
			}
			want := before[i]
			for _, by := range added[i] {
				want ^= after[by]
			}
			if after[i] != want {
				t.Fatalf("column %d is %b, want %b", i, after[i], want)
			}
			if len(column) == 0 && pivot[i] != none || len(column) > 0 && (pivot[i] != int(slices.Max(column)) || seen[pivot[i]]) {
				t.Fatalf("pivot %d of %v", pivot[i], column)
			}
			seen[pivot[i]] = len(column) > 0
		}
	}
}

func refusals(t *testing.T) {
	for _, c := range []struct {
		shape string
		given bench.Conditions
		want  string // "" if it is accepted
	}{
		{"262145x1", bench.Conditions{}, "262145 voxels: matrices are for at most 262144"}, {"262144x1", bench.Conditions{}, ""},
		{"10x9", bench.Conditions{Time: 899_999}, "90 voxels × 10 µs"}, {"10x9", bench.Conditions{Time: 900_000}, ""},
		{"10x9x1", bench.Conditions{Memory: 134_999}, "1500 bytes for each of 90 voxels"}, {"10x9", bench.Conditions{Memory: 135_000}, ""},
		{"5x9x2", bench.Conditions{Time: 26_999_999}, "90 voxels × 300 µs"}, {"5x9x2", bench.Conditions{Time: 27_000_000, Memory: 585_000}, ""},
	} {
		in, err := datasets.Open("constant/shape=" + c.shape + "/type=uint8")
		if err != nil {
			t.Fatal(err)
		}
		if err := (Implementation{}).CanDo(in, c.given); err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %+v: %v, want %q", c.shape, c.given, err, c.want)
		}
	}
	in := gridtest.VastOf(grid.Shape{D: 1, H: 1, W: 9}, grid.Uint8)
	if err := (Implementation{ecc.Convention{Periodic: grid.Axes{X: true}}}).CanDo(in, bench.Conditions{}); errors.Is(err, nil) {
		t.Error("a periodic image is accepted")
	}
}
