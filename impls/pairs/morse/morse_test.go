package morse

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/bench/benchtest"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/pairs/pairstest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the table, and the pairs and chains in every convention.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "entries", Of: entriesAreProved},
		{Name: "sorted numbers", Of: numbersAreSorted},
		{Name: "refusals", Of: refusals},
		{Name: "cohomology", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{}, 400) }},
		{Name: "homology", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{homology: true}, 400) }},
		{Name: "turns", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{turn: 1}, 40) }},
		benchtest.Calls(Implementation{}, func(t *testing.T) (grid.Source, map[string]grid.Source) {
			in := gridtest.Drawn(t, grid.Shape{D: 3, H: 4, W: 5}, grid.Uint8, 9, 3)
			return in, map[string]grid.Source{gridtest.ErrUnread.Error(): gridtest.Unread{Source: in}}
		}, "forests", "gradient", "read", "reduction"),
	}
}

func refusals(t *testing.T) {
	for _, c := range []struct {
		shape  grid.Shape
		ladder grid.Ladder
		given  bench.Conditions
		want   string // "" if it is accepted
	}{
		{grid.Shape{D: 1, H: 9, W: 10}, byte256, bench.Conditions{Time: 35_999}, "90 voxels × 400 ns"},
		{grid.Shape{D: 1, H: 9, W: 10}, byte256, bench.Conditions{Time: 36_000}, ""},
		{grid.Shape{D: 2, H: 9, W: 5}, byte256, bench.Conditions{Time: 359_999}, "90 voxels × 4000 ns"},
		{grid.Shape{D: 2, H: 9, W: 5}, byte256, bench.Conditions{Memory: 22_000}, "of 90 voxels"},
		{grid.Shape{D: 2, H: 9, W: 5}, byte256, bench.Conditions{Time: 360_000, Memory: 23_000}, ""},
		{grid.Shape{D: 600, H: 600, W: 600}, grid.Identity(grid.Float32), bench.Conditions{}, ""},
		{grid.Shape{D: 700, H: 700, W: 700}, grid.Identity(grid.Float32), bench.Conditions{}, "names of cells have more than 64 bits"},
		{grid.Shape{D: 700, H: 700, W: 700}, byte256, bench.Conditions{}, ""},
	} {
		in := leveled{gridtest.VastOf(c.shape, grid.Float32), c.ladder}
		if err := (Implementation{}).CanDo(in, c.given); err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %+v: %v, want %q", c.shape, c.given, err, c.want)
		}
	}
}

var byte256 = grid.Identity(grid.Uint8)

// leveled is an image with another ladder.
type leveled struct {
	grid.Source
	ladder grid.Ladder
}

func (l leveled) Ladder() grid.Ladder { return l.ladder }

// Numbers are sorted by the bits from one on, and keep their order otherwise.
func numbersAreSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 40 {
		list := make([]uint64, n*n)
		for i := range list {
			list[i] = rng.Uint64() >> rng.IntN(64)
			if n%2 > 0 {
				list[i] &= 1<<50 | 1<<20 | 3
			}
		}
		for _, from := range []uint{0, 5, 21, 60} {
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b uint64) int { return cmp.Compare(a>>from, b>>from) })
			if got := sortFrom(slices.Clone(list), from); !slices.Equal(got, want) {
				t.Fatalf("%d numbers from bit %d: %x, want %x", n*n, from, got, want)
			}
		}
	}
}
