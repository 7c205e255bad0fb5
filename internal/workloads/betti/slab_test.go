package betti

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// randomComponents are those of a slab between slices of some components, numbered as they are
// listed.
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

// Slabs that are joined in any order are those that are filled, and are read as they were
// written.
func TestJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		n := 1 + rng.IntN(5)
		var slabs []Slab
		at := [2]int{-1, -1}
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
	}
	a := Slab{Set: Components{Last: []int32{1, 2}}}
	b := Slab{Set: Components{First: []int32{1}}}
	if _, err := Join(a, b); !errors.Is(err, errShared) {
		t.Error(err)
	}
	if _, err := Chain([]Slab{a, b}); !errors.Is(err, errShared) {
		t.Error(err)
	}
}

// Bytes that nobody wrote are an error, and what is read is written as it was.
func FuzzSlab(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		b, _ := Slab{randomComponents(rng, 4, 7), randomComponents(rng, -1, 3)}.AppendBinary(nil)
		f.Add(b)
	}
	f.Add([]byte{0, 2, 0, 0, 0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Slab
		if s.UnmarshalBinary(b) != nil {
			return
		}
		again, err := s.AppendBinary(nil)
		var same Slab
		if err != nil || same.UnmarshalBinary(again) != nil || !reflect.DeepEqual(s, same) {
			t.Errorf("%v is written as %v (%v)", b, again, err)
		}
		if len(again) > len(b) || len(again) == len(b) && !bytes.Equal(again, b) {
			t.Errorf("%v is written as %v", b, again)
		}
	})
}

// A liar says what a slab has, but for one thing.
type liar struct{ lie func(*Slab) }

func (l liar) Slab(p Piece, threads int) (Slab, error) {
	s, err := floodSlab(p, threads)
	if err == nil {
		l.lie(&s)
	}
	return s, err
}

// counted counts nothing; what it says of characteristics is not asked for here.
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

// What is said of the components of a share is held to flood fill, in every list.
func TestShareIsVerified(t *testing.T) {
	s, err := grid.NewField(grid.Shape{D: 9, H: 18, W: 17}, grid.Uint8, noise(9*18*17), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	in, err := Sets(s, []float64{170, 130}, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(*Slab){
		"nothing": func(*Slab) {}, "set": func(s *Slab) { s.Set.Inner++ }, "rest": func(s *Slab) { s.Rest.Inner-- },
		"first":  func(s *Slab) { s.Set.First[len(s.Set.First)-1]++ },
		"fewer":  func(s *Slab) { s.Set.Last = s.Set.Last[1:] },
		"inside": func(s *Slab) { s.Rest.Last[0] ^= 1 },
	} {
		w, _, share := InShare(bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{counted{}}}, liar{lie}, in, ecc.Convention{}, grid.Span{Lo: 3, Hi: 7}, fingerprint.Derived("a"), 2)
		if _, err := bench.Answer(w.Impls[0], in, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 1}}); err != nil {
			t.Fatal(err)
		}
		if len(share.Slabs) != 2 {
			t.Fatalf("%d slabs of 2 sets", len(share.Slabs))
		}
		d, err := w.Policy.Laws[1].Check(in, nil, nil)
		if (d == nil) != (name == "nothing") || err != nil {
			t.Errorf("%s: %v %v", name, d, err)
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
}

func noise(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 9))
	b := grid.NewBuffer(int64(n))
	for i := range b {
		b[i] = byte(rng.IntN(256))
	}
	return b
}

// Sets show how many of them do not have a voxel, of every type, and NaN is in none.
func TestSets(t *testing.T) {
	at := []float64{1.5, -2, 7}
	for _, superlevel := range []bool{false, true} {
		for _, typ := range grid.Types() {
			data := grid.NewBuffer(16 * typ.Size())
			switch typ {
			case grid.Float32:
				for i := range grid.Values[float32](data) {
					grid.Values[float32](data)[i] = float32(i) - 4.5
				}
			case grid.Int16:
				for i := range grid.Values[int16](data) {
					grid.Values[int16](data)[i] = int16(i) - 5
				}
			default:
				for i := range data {
					data[i] = byte(i) * byte(2-typ.Size())
				}
			}
			f, err := grid.Trusted(grid.Shape{D: 2, H: 2, W: 4}, typ, data, grid.Identity(typ))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Sets(f, at, superlevel)
			if err != nil {
				t.Fatal(err)
			}
			got := grid.NewBuffer(16)
			if err := s.ReadSlab(got, 0, 2); err != nil {
				t.Fatal(err)
			}
			for i := range got {
				v, n := 0., byte(0)
				switch typ {
				case grid.Uint8:
					v = float64(data[i])
				case grid.Int16:
					v = float64(grid.Values[int16](data)[i])
				case grid.Uint16:
					v = float64(grid.Values[uint16](data)[i])
				case grid.Float32:
					v = float64(grid.Values[float32](data)[i])
				}
				for _, a := range at {
					if v > a != superlevel && v != a {
						n++
					}
				}
				if got[i] != n {
					t.Errorf("%v, superlevel %v: %v is in all but %d sets, want %d", typ, superlevel, v, got[i], n)
				}
			}
		}
	}
	bad, err := grid.Trusted(grid.Shape{D: 2, H: 1, W: 1}, grid.Float32, []byte{0, 0, 0, 0, 0, 0, 0xc0, 0x7f}, grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Sets(bad, at, false)
	if err != nil {
		t.Fatal(err)
	}
	var infinite *grid.NotFiniteError
	if err := s.ReadSlab(grid.NewBuffer(2), 0, 2); !errors.As(err, &infinite) || infinite.Count != 1 || infinite.First != 1 {
		t.Error(err)
	}
	if _, err := Sets(bad, make([]float64, MostSets+1), false); err == nil {
		t.Error("256 sets")
	}
}
