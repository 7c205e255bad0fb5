package betti

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/flood"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

func TestChecks(t *testing.T) { checktest.Run(t, slices.Concat(checks(), curvesChecks())...) }

// checks cover the transport of answers about parts of an image: joined and encoded slabs, shares
// and their cost, sets, and shared images. They also cover the names of sets and the laws.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "fills and reductions", Of: fillsAreReduced},
		{Name: "slabs that are joined", Of: func(t *testing.T) { slabsAreJoined(t, 100) }},
		{Name: "slabs that are not of one image", Of: slabsAreRefused},
		{Name: "slabs that nobody wrote", Of: bytesAreRefused},
		{Name: "slabs that are unlike", Of: slabsAreUnlike},
		{Name: "shares that lie", Of: sharesAreHeld},
		{Name: "shares that are merged", Of: sharesAreMerged},
		{Name: "shares of several pieces", Of: sharesAreChained},
		{Name: "costs of shares", Of: shareCosts},
		{Name: "sets of an image", Of: setsShow},
		{Name: "views that there are not", Of: viewsAreRefused},
		{Name: "shared images", Of: sharedIsAttached},
		{Name: "laws of wrong numbers", Of: lawsTell},
		{Name: "what is known of solids", Of: solidsAreKnown},
		{Name: "names of sets", Of: namesAreRead},
		{Name: "smaller sets", Of: smallerAreNamed},
		{Name: "thresholds", Of: thresholdsAre},
		{Name: "views in slabs", Of: viewsAreInSlabs},
		{Name: "slices that stand upright", Of: slicesStand},
		{Name: "laws of views", Of: viewsAreHeld},
		{Name: "a voxel less", Of: oneVoxelLess},
		{Name: "a cut at a slice", Of: cutIsBounded},
		{Name: "estimates of laws", Of: estimatesGrow},
		{Name: "numbers", Of: numbersAre},
		{Name: "numbers in conventions", Of: numbersAreTurned},
		{Name: "images that are read in parts", Of: partsAreRead},
		{Name: "images that are not read", Of: unreadIsTold},
		{Name: "sets of every type", Of: setsOfTypes},
		{Name: "what is said beside numbers", Of: restIsSaid},
	}
}

// spots returns an image of 256 levels without a pattern.
func spots(t *testing.T, shape grid.Shape) *grid.Field {
	rng := rand.New(rand.NewPCG(1, 9))
	return gridtest.Image(t, shape, grid.Uint8, grid.Identity(grid.Uint8), func(int64) float64 { return float64(rng.IntN(256)) })
}

// Flood fill agrees with the reductions of the complex of cells.
func fillsAreReduced(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 1, H: 1, W: 1}, {D: 1, H: 9, W: 70}, {D: 2, H: 5, W: 62}, {D: 7, H: 6, W: 63}, {D: 6, H: 3, W: 64}, {D: 5, H: 1, W: 130}, {D: 9, H: 9, W: 9}} {
		f := spots(t, shape)
		for _, at := range []float32{-1, 25, 80, 150, 230, 255} {
			in := &Image{f, at}
			numbers, err := ByFlooding(in, ecc.Convention{})
			if err != nil {
				t.Fatal(err)
			}
			if d, err := reduced(in, numbers, nil); d != nil || err != nil {
				t.Errorf("%v at %v: %v, %v", shape, at, d, err)
			}
		}
	}
}

// randomComponents returns random components of a slab between two slices, numbered in the order of
// their lists.
func randomComponents(rng *rand.Rand, first, last int) Components {
	c := Components{Inner: rng.Int64N(5)}
	next := int32(1)
	list := func(n int) []int32 {
		if n < 0 {
			return nil
		}
		numbers := make([]int32, n)
		for i := range numbers {
			if numbers[i] = rng.Int32N(next + 1); numbers[i] == next {
				next++
			}
		}
		return numbers
	}
	c.First, c.Last = list(first), list(last)
	return c
}

// Slabs joined in any order equal the filled slab, and can be read back.
func slabsAreJoined(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range times {
		n := 1 + rng.IntN(5)
		var slabs []Slab
		at := [2]int{-1, -1}
		if rng.IntN(2) == 0 { // it also shares a slice with the first
			at = [2]int{rng.IntN(12), rng.IntN(3)}
		}
		for i := range n {
			next := [2]int{rng.IntN(12), rng.IntN(3)}
			if i == n-1 && rng.IntN(2) == 0 {
				next = [2]int{-1, -1}
			}
			slabs = append(slabs, Slab{randomComponents(rng, at[0], next[0]), randomComponents(rng, at[1], next[1])})
			at = next
		}
		want, err := Chain(slabs)
		if err != nil {
			t.Fatal(err)
		}
		for len(slabs) > 1 {
			i := rng.IntN(len(slabs) - 1)
			both, err := Join(slabs[i], slabs[i+1])
			if err != nil {
				t.Fatal(err)
			}
			slabs = append(append(slabs[:i:i], both), slabs[i+2:]...)
		}
		if !reflect.DeepEqual(slabs[0], want) {
			t.Fatalf("joined %+v, filled %+v", slabs[0], want)
		}
		b, err := want.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var again Slab
		if err := again.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(again, want) {
			t.Fatalf("%+v, was %+v (%v)", again, want, err)
		}
		for i := range b {
			if again.UnmarshalBinary(b[:i]) == nil {
				t.Fatalf("%d of %d bytes are read", i, len(b))
			}
		}
		if again.UnmarshalBinary(append(slices.Clone(b), 0)) == nil {
			t.Fatal("more bytes are read")
		}
	}
}

// Slabs without a shared slice are rejected, and more components than numbers. No slabs merge to an
// empty one.
func slabsAreRefused(t *testing.T) {
	a := Slab{Set: Components{Last: []int32{1, 2}}}
	b := Slab{Set: Components{First: []int32{1}}}
	many := Components{Last: []int32{math.MaxInt32 - 1}}
	rest := func(s Slab) Slab { return Slab{Rest: s.Set} }
	for what, both := range map[string][2]Slab{"set": {a, b}, "rest": {rest(a), rest(b)}, "many": {{Set: many}, {Set: Components{First: []int32{1}}}}} {
		if _, err := Join(both[0], both[1]); err == nil || (what != "many") != errors.Is(err, errShared) {
			t.Errorf("%s, joined: %v", what, err)
		}
		if _, err := Chain(both[:]); err == nil || (what != "many") != errors.Is(err, errShared) {
			t.Errorf("%s, filled: %v", what, err)
		}
	}
	if s, err := Chain(nil); err != nil || !reflect.DeepEqual(s, Slab{}) {
		t.Errorf("of no slabs: %+v, %v", s, err)
	}
}

// Bytes of no slab are rejected, including bytes that differ little from a slab's.
func bytesAreRefused(t *testing.T) {
	long := slices.Repeat([]byte{0xff}, 8)
	for _, c := range []struct {
		bytes []byte
		want  *Slab
	}{
		{make([]byte, 6), &Slab{}},
		{[]byte{5, 2, 1, 3, 0, 1, 7, 0, 0}, &Slab{Set: Components{5, []int32{0}, []int32{1, 1}}, Rest: Components{Inner: 7}}},
		{[]byte{5, 2, 2, 3, 0, 1, 7, 0, 0}, nil},                                                         // no outside
		{[]byte{5, 2, 1, 4, 0, 1, 7, 0, 0}, nil},                                                         // one is missing
		{[]byte{5, 2, 1, 9, 0, 1, 7, 0, 0}, nil},                                                         // more than there are bytes
		{slices.Concat(long, []byte{0x7f, 0, 0, 0, 0, 0}), &Slab{Set: Components{Inner: math.MaxInt64}}}, // the most
		{slices.Concat(long, []byte{0xff, 1, 0, 0, 0, 0, 0}), nil},
	} {
		var s Slab
		if err := s.UnmarshalBinary(c.bytes); (err == nil) != (c.want != nil) || err == nil && !reflect.DeepEqual(s, *c.want) {
			t.Errorf("%v is %+v (%v), want %+v", c.bytes, s, err, c.want)
		}
	}
}

// CompareSlab finds a difference in any list, in the set and in the complement, if the list is needed.
func slabsAreUnlike(t *testing.T) {
	c := Components{3, []int32{1, 2, 1}, []int32{2, 0}}
	others := map[string]Components{
		"components of the %s that come to no shared slice: want 3, got 4": {4, c.First, c.Last}, "components of the %s in the first slice: want 3, got 2": {3, c.First[:2], c.Last},
		"components of the %s in the last slice: want 2, got 0": {3, c.First, nil}, "component of the %s in the first slice, 3 of 3: want 1, got 2": {3, []int32{1, 2, 2}, c.Last},
		"component of the %s in the last slice, 2 of 2: want 0, got 1": {3, c.First, []int32{2, 1}},
	}
	for said, other := range others {
		for _, is := range []struct{ flat, vertices, set, rest bool }{{false, false, true, true}, {false, true, true, true}, {true, false, true, false}, {true, true, false, true}} {
			for of, both := range map[string][2]Slab{"set": {{c, c}, {other, c}}, "rest": {{c, c}, {c, other}}} {
				want := ""
				if is.set && of == "set" || is.rest && of == "rest" {
					want = fmt.Sprintf(said, of)
				}
				got := ""
				if d := both[0].firstDifference(both[1], is.flat, is.vertices); d != nil {
					got = d.String()
				}
				if got != want {
					t.Errorf("flat %v, vertices %v: %q, want %q", is.flat, is.vertices, got, want)
				}
			}
		}
	}
	if d := (Slab{c, c}).firstDifference(Slab{c, c}, false, false); d != nil {
		t.Errorf("what is the same is unlike: %v", d)
	}
}

// A liar describes a slab with one error.
type liar struct{ lie func(*Slab) }

func (l liar) Slab(p Piece, threads int) (Slab, error) {
	s, err := floodSlab(p, threads)
	if err == nil {
		l.lie(&s)
	}
	return s, err
}

// counted counts nothing; its Euler characteristics are not used here.
type counted struct {
	bench.Implementation[grid.Source, ecc.VCEC]
	in grid.Source
}

func (counted) About() bench.About                        { return bench.About{Name: "counted"} }
func (counted) CanDo(grid.Source, bench.Conditions) error { return nil }
func (c counted) Setup(in grid.Source, _ bench.Conditions) (bench.Job[ecc.VCEC], error) {
	return counted{in: in}, nil
}
func (counted) Do(*bench.Trace) error             { return nil }
func (counted) Poison()                           {}
func (counted) Out() (ecc.VCEC, error)            { return nil, nil }
func (counted) Close() error                      { return nil }
func (counted) Begin()                            {}
func (counted) Add(in grid.Source, _ int64) error { return nil }

// shareOf returns the share of an image's sets, from an implementation that may lie, and the
// verdict of flood fill.
func shareOf(t *testing.T, in grid.Source, by Slabber, c ecc.Convention, of grid.Span) (*Share, string) {
	w, _, share := InShare(bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{counted{}}}, by, in, c, of, fingerprint.Derived("a"), 2)
	if _, err := bench.Answer(w.Impls[0], in, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 1}}); err != nil {
		t.Fatal(err)
	}
	if laws := w.Policy.Laws; laws[0].Independent || !laws[1].Independent {
		t.Error("the fingerprint of a share alone says that it is right")
	}
	d, err := w.Policy.Laws[1].Check(in, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		return share, ""
	}
	return share, d.Where
}

// Flood fill verifies the components of a share in every list.
func sharesAreHeld(t *testing.T) {
	in, err := Sets(spots(t, grid.Shape{D: 9, H: 18, W: 17}), grid.Numbers(170, 130), ecc.Convention{})
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(*Slab){
		"": func(*Slab) {}, "set 1: components of the set that come to no shared slice": func(s *Slab) { s.Set.Inner++ }, "set 1: components of the rest that come to no shared slice": func(s *Slab) { s.Rest.Inner-- },
		"set 1: component of the set in the first slice": func(s *Slab) { s.Set.First[len(s.Set.First)-1]++ },
		"set 1: components of the set in the last slice": func(s *Slab) { s.Set.Last = s.Set.Last[1:] },
		"set 1: component of the rest in the last slice": func(s *Slab) { s.Rest.Last[0] ^= 1 },
	} {
		share, said := shareOf(t, in, liar{lie}, ecc.Convention{}, grid.Span{Lo: 3, Hi: 7})
		if len(share.Slabs) != 2 {
			t.Fatalf("%d slabs of 2 sets", len(share.Slabs))
		}
		if name == "" && said != "" || len(said) < len(name) || said[:len(name)] != name {
			t.Errorf("%q, want %q", said, name)
		}
	}
}

// The shares of an image, cut in any way, merge to the whole, in each convention.
func sharesAreMerged(t *testing.T) {
	honest := liar{func(*Slab) {}}
	for _, shape := range []grid.Shape{{D: 9, H: 9, W: 7}, {D: 1, H: 30, W: 9}, {D: 2, H: 5, W: 5}} {
		f := spots(t, shape)
		n := shape.Slices()
		for _, c := range []ecc.Convention{{}, {Vertices: true}} {
			in, err := Sets(f, grid.Numbers(170, 60, 130), ecc.Convention{})
			if err != nil {
				t.Fatal(err)
			}
			var want []Numbers
			var chi []int64
			for _, at := range []float32{60, 130, 170} {
				numbers, err := ByFlooding(&Image{f, at}, c)
				if err != nil {
					t.Fatal(err)
				}
				want, chi = append(want, numbers), append(chi, numbers.B0-numbers.B1+numbers.B2)
			}
			for _, cuts := range [][]int64{{0, n}, {0, 1, n}, {0, n - 1, n}, {0, n / 3, n / 2, n}} {
				var m Merging
				for i, lo := range cuts[:len(cuts)-1] {
					share, said := shareOf(t, in, honest, c, grid.Span{Lo: lo, Hi: cuts[i+1]})
					if said != "" {
						t.Errorf("%v, %+v, slices from %d on: %s", shape, c, lo, said)
					}
					if lo == cuts[i+1] {
						continue
					}
					if err := m.Add(share.Slabs); err != nil {
						t.Fatal(err)
					}
				}
				if got, d := m.Numbers(chi, shape.D == 1, c.Vertices); d != nil || !slices.Equal(got, want) {
					t.Errorf("%v cut at %v, %+v: %v (%v), want %v", shape, cuts, c, got, d, want)
				}
			}
		}
	}
	var m Merging
	one := Slab{Set: Components{Inner: 1}}
	if err := errors.Join(m.Add([]Slab{one}), m.Add([]Slab{one})); err != nil {
		t.Fatal(err)
	}
	if m.Add([]Slab{one, one}) == nil {
		t.Error("slabs of more sets are added")
	}
	if n, d := m.Numbers([]int64{2}, false, false); d != nil || n[0] != (Numbers{B0: 2}) {
		t.Error(n, d)
	}
	m.filled[0].Set.Inner++
	if _, d := m.Numbers([]int64{2}, false, false); d == nil {
		t.Error("what is filled is another number")
	}
	for i, slab := range []*Slab{&m.joined[0], &m.filled[0]} { // one has a component that the next slab lacks
		slab.Set.Last = []int32{outsideNumber}
		if err := m.Add([]Slab{one}); !errors.Is(err, errShared) {
			t.Errorf("slabs that do not share a slice are added in one of two ways, %d: %v", i, err)
		}
		slab.Set.Last = nil
	}
}

// The pieces of a share give the same slabs as one piece, both from the implementation and by flood
// fill. A failure in any piece is returned. Pieces with different components in a shared slice are
// an error.
func sharesAreChained(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 9, H: 7, W: 8}, {D: 1, H: 20, W: 9}, {D: 5, H: 5, W: 4}} {
		in, err := Sets(spots(t, shape), grid.Numbers(170, 60), ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		n := shape.Slices()
		for _, c := range []ecc.Convention{{}, {Vertices: true}} {
			for _, of := range []grid.Span{{Lo: 0, Hi: n}, {Lo: 0, Hi: 1}, {Lo: 0, Hi: n - 1}, {Lo: 1, Hi: n}, {Lo: 2, Hi: n - 2}} {
				want, said := shareOf(t, in, liar{func(*Slab) {}}, c, of)
				if said != "" {
					t.Errorf("%v, %v: %s", shape, of, said)
				}
				more := liar{func(s *Slab) {
					s.Set.Last, s.Rest.Last = append(s.Set.Last, outsideNumber), append(s.Rest.Last, outsideNumber)
				}}
				s := &Share{by: more, c: c, flat: shape.D == 1, cores: 2, whole: n, begins: of.Lo == 0, next: max(0, of.Lo-1)}
				pieces := 0
				if err := eachApart(in, of, 2, false, func(piece *grid.Field, times int64) error {
					pieces += int(max(0, times))
					return s.see(piece, times)
				}); errors.Is(err, errShared) != (pieces > 1) {
					t.Errorf("%v, %v: %d pieces, of which one has more components than the next: %v", shape, of, pieces, err)
				}
				for fails := -1; fails < 4; fails++ {
					by := failing{new(int), fails}
					s := &Share{by: by, c: c, flat: shape.D == 1, cores: 2, whole: n, begins: of.Lo == 0, next: max(0, of.Lo-1)}
					err := eachApart(in, of, 2, false, s.see)
					if slabs := *by.slabs; fails >= 0 && slabs > fails {
						if !errors.Is(err, errFailing) {
							t.Errorf("%v, %v: slab %d of %d fails: %v", shape, of, fails, slabs, err)
						}
						continue
					}
					if err != nil || !reflect.DeepEqual(s.Slabs, want.Slabs) || !reflect.DeepEqual(s.filled, want.Slabs) {
						t.Errorf("%v, %v, %+v in pieces: %+v, filled %+v, want %+v (%v)", shape, of, c, s.Slabs, s.filled, want.Slabs, err)
					}
				}
			}
		}
	}
}

// failing fails for one slab, and counts the slabs.
type failing struct {
	slabs *int
	at    int
}

var errFailing = errors.New("no more slabs")

func (f failing) Slab(p Piece, threads int) (Slab, error) {
	if *f.slabs++; *f.slabs == f.at+1 {
		return Slab{}, errFailing
	}
	return floodSlab(p, threads)
}

// In addition to a curve's cost, a share needs bits and runs of each voxel of a piece, twice, and
// the lists of a slab's ends. For vertices it also needs the complement. A part file has the
// components of two planes for each set.
func shareCosts(t *testing.T) {
	shape := grid.Shape{D: 500, H: 400, W: 300}
	plane := shape.SliceVoxels()
	s := gridtest.VastOf(shape, grid.Uint8)
	of := grid.Span{Lo: 100, Hi: 200}
	cost := func(sets int64, c ecc.Convention, of grid.Span) ecc.Cost {
		l, err := grid.Affine(0, 1, sets+1)
		if err != nil {
			t.Fatal(err)
		}
		counted := gridtest.Vast{Size: shape, Of: grid.Uint8, Levels: l}
		got, beside := ShareOf(s, counted, c, of, 3), ecc.ShareOf(counted, c, of, 3)
		if want := ecc.ShareOf(s, c, of, 3).Reads; got.Reads != want {
			t.Errorf("%d sets: reads %d bytes, want %d", sets, got.Reads, want)
		}
		return ecc.Cost{Memory: got.Memory - beside.Memory, Part: got.Part - beside.Part}
	}
	l, err := grid.Affine(0, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	piece := grid.PieceSlices(gridtest.Vast{Size: shape, Of: grid.Uint8, Levels: l}, of) * plane
	slabs := min(4, (piece/plane-1)/flood.LeastPlanes+1)
	want := 2 * (piece*21/8 + (36*slabs+16)*plane)
	if got := cost(1, ecc.Convention{}, of); got.Memory != want || got.Part != 6*plane {
		t.Errorf("a set takes %d bytes and a part of %d, want %d and %d", got.Memory, got.Part, want, 6*plane)
	}
	if got := cost(5, ecc.Convention{}, of); got.Memory != want || got.Part != 5*6*plane {
		t.Errorf("5 sets take %d bytes and a part of %d, want %d and %d", got.Memory, got.Part, want, 5*6*plane)
	}
	if got := cost(1, ecc.Convention{Vertices: true}, of).Memory; got != want+2*(piece+piece/2) {
		t.Errorf("where voxels are vertices a set takes %d bytes, want %d", got, want+2*(piece+piece/2))
	}
	if got := cost(1, ecc.Convention{Superlevel: true}, of).Memory; got >= want {
		t.Errorf("of superlevel sets a view is counted: %d bytes, want less than %d", got, want)
	}
	if got := ShareOf(s, s, ecc.Convention{}, grid.Span{Lo: 7, Hi: 7}, 3); got != ecc.ShareOf(s, ecc.Convention{}, grid.Span{Lo: 7, Hi: 7}, 3) {
		t.Errorf("no slices cost %+v", got)
	}
}

// A voxel's value is the number of sets without it, for every type. NaN is in no set.
func setsShow(t *testing.T) {
	at := []float64{1.5, -2, 7}
	four, err := grid.Affine(0, 1, 4) // in none of three sets to all of them
	if err != nil {
		t.Fatal(err)
	}
	for _, superlevel := range []bool{false, true} {
		for _, typ := range grid.Types() {
			f, err := grid.Trusted(grid.Shape{D: 2, H: 2, W: 4}, typ, grid.NewBuffer(16*typ.Size()), grid.Identity(typ))
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(16) {
				switch data := f.Data(); typ {
				case grid.Uint8:
					data[i] = byte(i)
				case grid.Uint16:
					grid.Values[uint16](data)[i] = uint16(i * 4000)
				case grid.Int16:
					grid.Values[int16](data)[i] = int16(i) - 5
				case grid.Float32:
					grid.Values[float32](data)[i] = float32(i) - 4.5
				}
			}
			s, err := Sets(f, grid.Numbers(at...), ecc.Convention{Superlevel: superlevel})
			if err != nil {
				t.Fatal(err)
			}
			if s.Type() != grid.Uint8 || s.Ladder().Key() != four.Key() || grid.Step(s) != grid.Step(f) || grid.CachedBytes(s) != grid.CachedBytes(f) {
				t.Errorf("%v: %v of %d levels", typ, s.Type(), s.Ladder().Len())
			}
			got := grid.NewBuffer(16)
			if err := errors.Join(s.ReadSlab(got[:8], 0, 1), s.ReadSlab(got[8:], 1, 2)); err != nil {
				t.Fatal(err)
			}
			for i, v := range f.Floats() {
				n := byte(0)
				for _, a := range at {
					if float64(v) > a != superlevel && float64(v) != a {
						n++
					}
				}
				if got[i] != n {
					t.Errorf("%v, superlevel %v: %v is in all but %d sets, want %d", typ, superlevel, v, got[i], n)
				}
			}
			if s.ReadSlab(got, 1, 3) == nil || s.ReadSlab(got[:7], 0, 1) == nil {
				t.Errorf("%v: what is not there is read", typ)
			}
		}
	}
	if got := Growing(grid.Numbers(3, -1, 3, 8), false); !slices.Equal(got, []int{1, 0, 2, 3}) {
		t.Errorf("sublevel sets grow in the order %v", got)
	}
	if got := Growing(grid.Numbers(3, -1, 7, 8), true); !slices.Equal(got, []int{3, 2, 0, 1}) {
		t.Errorf("superlevel sets grow in the order %v", got)
	}
	bad, err := grid.Trusted(grid.Shape{D: 2, H: 1, W: 1}, grid.Float32, []byte{0, 0, 0, 0, 0, 0, 0xc0, 0x7f}, grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Sets(bad, grid.Numbers(at...), ecc.Convention{})
	if err != nil {
		t.Fatal(err)
	}
	var infinite *grid.NotFiniteError
	if err := s.ReadSlab(grid.NewBuffer(2), 0, 2); !errors.As(err, &infinite) || infinite.Count != 1 || infinite.First != 1 {
		t.Error(err)
	}
	if _, err := Sets(bad, make([]grid.Number, MostSets), ecc.Convention{}); err != nil {
		t.Error(err)
	}
	if _, err := Sets(bad, make([]grid.Number, MostSets+1), ecc.Convention{}); err == nil {
		t.Error("256 sets")
	}
	// A slice larger than the read size is read at once.
	f := gridtest.Image(t, grid.Shape{D: 1, H: 1, W: setsBytes/4 + 1}, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return float64(i & 1) })
	s, err = Sets(f, grid.Numbers(0.5), ecc.Convention{})
	if err != nil {
		t.Fatal(err)
	}
	if dst := make([]byte, f.Shape().W); s.ReadSlab(dst, 0, 1) != nil || dst[0] != 0 || dst[1] != 1 || dst[len(dst)-1] != 0 {
		t.Errorf("a long slice is %v", dst[:2])
	}
}

// A shared image is attached as the same image with the same threshold.
func sharedIsAttached(t *testing.T) {
	in, err := Inputs{}.Open("betti/at=40/of=between/shape=43x11x7/levels=200/step=0.1/seed=20")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "shared")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (Inputs{}).Share(in, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if size := (Inputs{}).Size(in); int64(len(data)) > size {
		t.Errorf("%d bytes are more than the %d announced", len(data), size)
	}
	again, err := Inputs{}.Attach(data)
	if err != nil || again.Threshold != in.Threshold || again.Shape() != in.Shape() {
		t.Fatal(again, err)
	}
	a, errA := grid.Load(in.Source)
	b, errB := grid.Load(again.Source)
	if errA != nil || errB != nil || !bytes.Equal(a.Data(), b.Data()) {
		t.Errorf("another image is attached (%v, %v)", errA, errB)
	}
	for n := range 64 {
		if _, err := (Inputs{}).Attach(data[:n]); err == nil {
			t.Errorf("attached %d bytes", n)
		}
	}
}

// An image closed to a ring has no Betti numbers here.
func viewsAreRefused(t *testing.T) {
	in := &Image{spots(t, grid.Shape{D: 3, H: 3, W: 3}), 100}
	for _, c := range []ecc.Convention{{Periodic: grid.Axes{X: true}}, {Periodic: grid.Axes{Z: true}, Vertices: true}} {
		if _, err := (viewer{in: c}).view(in); err == nil {
			t.Errorf("%+v is not refused", c)
		}
	}
	for _, c := range []ecc.Convention{{}, {Vertices: true}, {Superlevel: true}, {Masked: true}} {
		if _, err := (viewer{in: c}).view(in); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Laws accept a right answer and reject a wrong one within their bounds. They make no statement if
// the image is unreadable or a derived question has no answer.
func lawsTell(t *testing.T) {
	in := &Image{spots(t, grid.Shape{D: 5, H: 6, W: 7}), 110}
	right, err := ByFlooding(in, ecc.Convention{})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(in *Image) (Numbers, error) { return ByFlooding(in, ecc.Convention{}) }
	for _, l := range laws() {
		if d, err := l.Check(in, right, answer); d != nil || err != nil && !errors.Is(err, verify.ErrNotApplicable) {
			t.Errorf("%s of a right answer: %v, %v", l.Name, d, err)
		}
		if l.Calls > 0 {
			if d, err := l.Check(in, right, func(*Image) (Numbers, error) { return Numbers{}, gridtest.ErrUnread }); d != nil || err == nil {
				t.Errorf("%s of who answers nothing else: %v, %v", l.Name, d, err)
			}
		}
		unread := func(*Image) (Numbers, error) { return Numbers{}, gridtest.ErrUnread }
		if d, err := l.Check(in.viewOf(gridtest.Unread{Source: in.Source}), right, unread); d != nil || err == nil {
			t.Errorf("%s of an image that is not read: %v, %v", l.Name, d, err)
		}
	}
	for _, by := range []int64{-1, 1} { // laws that check the numbers themselves
		for i := range 3 {
			wrong := right
			*[]*int64{&wrong.B0, &wrong.B1, &wrong.B2}[i] += by
			for _, l := range laws() {
				d, err := l.Check(in, wrong, answer)
				if errors.Is(err, verify.ErrNotApplicable) || slices.Contains([]string{"cut at a shared slice", "one voxel less"}, l.Name) || strings.HasPrefix(l.Name, "superlevel") || strings.HasPrefix(l.Name, "voxels as") {
					continue
				}
				if d == nil || err != nil {
					t.Errorf("%s of number %d, wrong by %d: %v, %v", l.Name, i, by, d, err)
				}
			}
		}
	}
	for _, by := range []int64{-1000, 1000} {
		for i := range 3 {
			wrong := right
			*[]*int64{&wrong.B0, &wrong.B1, &wrong.B2}[i] += by
			for name, check := range map[string]func(*Image, Numbers, ask) (*verify.Diff, error){"cut": cut, "one voxel less": oneLess} {
				if d, err := check(in, wrong, answer); d == nil || err != nil {
					t.Errorf("%s of number %d, wrong by %d: %v, %v", name, i, by, d, err)
				}
			}
		}
	}
}

// eachApart calls f for each slab and for each shared slice of EachJoined.
func eachApart(s grid.Source, of grid.Span, slices int64, closed bool, f func(piece *grid.Field, times int64) error) error {
	return grid.EachJoined(s, of, slices, closed, func(p grid.Piece) error {
		if err := f(p.Field, p.Times); err != nil || p.Shared == nil {
			return err
		}
		return f(p.Shared, -p.Times)
	})
}
