package morse

import (
	"cmp"
	"errors"
	"math"
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

// checks test the table, and the pairs and chains in every convention.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "entries", Of: entriesAreProved},
		{Name: "sorted numbers", Of: numbersAreSorted},
		{Name: "refusals", Of: refusals},
		{Name: "conformance", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{}, 160) }},
		{Name: "homology", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{only: homology, tile: 2}, 160) }},
		{Name: "cohomology", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{only: cohomology, tile: 2}, 160) }},
		{Name: "room", Of: roomIsLimited},
		{Name: "larger images", Of: largerImages},
		{Name: "directions", Of: directionsAreChosen},
		{Name: "cells of the forests", Of: forestsAreLeftOut},
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
		{grid.Shape{D: 1, H: 9, W: 10}, byte256, bench.Conditions{Memory: 2_105_000},
			"90 voxels × 60 bytes, as for noise, and 182 places of the box × 18 bytes"},
		{grid.Shape{D: 2, H: 9, W: 5}, byte256, bench.Conditions{Memory: 2_130_000},
			"90 voxels × 230 bytes, as for noise, and 702 places of the box × 18 bytes"},
		{grid.Shape{D: 2, H: 9, W: 5}, byte256, bench.Conditions{Time: 360_000, Memory: 2_131_000}, ""},
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

// A reduction ends when its columns and their log take more than the limit of memory. One that is accepted has room for
// noise, and the memory of its answer.
func roomIsLimited(t *testing.T) {
	in := gridtest.Drawn(t, grid.Shape{D: 11, H: 12, W: 13}, grid.Uint8, 200, 7)
	do := func(i Implementation, memory int64) (out pairs.Answer, err error) {
		j, err := i.Setup(in, bench.Conditions{Memory: memory})
		if err != nil {
			return out, err
		}
		if err := j.Do(nil); err != nil {
			return out, err
		}
		return j.Out()
	}
	var much bench.TooMuch
	if err := (Implementation{}).CanDo(in, bench.Conditions{Memory: 1}); !errors.As(err, &much) {
		t.Fatal(err)
	}
	for _, i := range []Implementation{{}, {only: homology}, {only: cohomology}} {
		least, enough := int64(1), much.Need
		for enough-least > 1 {
			memory := (least + enough) / 2
			switch _, err := do(i, memory); {
			case err == nil:
				enough = memory
			case errors.As(err, new(bench.TooMuch)) && strings.Contains(err.Error(), "pairs of dimension 1"):
				least = memory
			default:
				t.Fatalf("%d bytes: %v", memory, err)
			}
		}
		out, err := do(i, enough)
		if err != nil {
			t.Fatalf("%+v in %d bytes: %v", i, enough, err)
		}
		took := int64(tableBytes + placeBytes*14*15*16 + keyBytes*len(out.Chains.Words))
		if enough == much.Need || enough < took {
			t.Errorf("%+v needs %d bytes of %d; table, box and chains alone take %d", i, enough, much.Need, took)
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

// Images of many tiles are confirmed in both directions. The reductions of binary ones change over.
func largerImages(t *testing.T) {
	for _, name := range []string{
		"noise/shape=23x22x21/levels=256/type=uint8/seed=1", "noise/shape=24x24x24/levels=2/type=uint8/seed=1",
		"noise/shape=24x24x24/levels=3/type=uint8/seed=2", "grf/shape=40x41x42/levels=256/type=uint8/smooth=2/seed=1",
		"checkerboard/shape=9x8x7/type=uint8", "constant/shape=5x6x7/type=uint8", "noise/shape=40x1x9/levels=4/type=uint8/seed=1",
	} {
		f := opened(t, name)
		for _, c := range []ecc.Convention{{}, {Vertices: true}} {
			for _, i := range []Implementation{{}, {only: homology, tile: 3}, {only: cohomology, tile: 3}, {only: homology, tile: 1}, {only: cohomology, tile: 1}} {
				if err := pairstest.Answers(i, f, c); err != nil {
					t.Errorf("%s in %+v, %+v: %v", name, c, i, err)
				}
			}
		}
	}
}

// opened returns an image in memory.
func opened(t *testing.T, name string) *grid.Field {
	t.Helper()
	src, err := datasets.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Binary noise is reduced in cohomology, and noise of many levels in homology.
func directionsAreChosen(t *testing.T) {
	for name, dual := range map[string]bool{
		"noise/shape=40x40x40/levels=2/type=uint8/seed=1": true, "noise/shape=40x40x40/levels=60000/type=uint16/seed=1": false,
	} {
		out, err := bench.Answer[grid.Source, pairs.Answer](Implementation{}, opened(t, name), bench.Conditions{})
		if err != nil || out.Chains.Dual != dual {
			t.Errorf("%s: cohomology %v, %v", name, out.Chains.Dual, err)
		}
	}
}

// No column has a cell of the forests.
func forestsAreLeftOut(t *testing.T) {
	f := opened(t, "noise/shape=20x21x22/levels=256/type=uint8/seed=1")
	times, err := pairs.ReadTimes(f, false)
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(f.Shape(), times, f.Ladder().Len(), ecc.Convention{})
	b.findStars(1)
	low, high := b.growForest(), b.growDual()
	edges, squares := low.cells(), high.cells()
	for _, r := range []*reduction{
		b.newReduction(false, squares, edges, low.parent, 3), b.newReduction(true, edges, squares, high.parent, 3),
	} {
		r.run(len(edges), math.MaxInt)
		if len(r.versions) <= len(edges) {
			t.Errorf("%d versions of %d columns: none was displaced", len(r.versions), len(edges))
		}
		for _, v := range r.versions {
			if slices.ContainsFunc(v.keys[1:], r.inForest) {
				t.Fatalf("cohomology %v, column %d: a cell of a forest", r.dual, v.column)
			}
		}
	}
}
