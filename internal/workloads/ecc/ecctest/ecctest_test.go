package ecctest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

// The definition, its dual and the enumeration of all cells agree at levels from the first to the
// last of every case.
func TestDefinitions(t *testing.T) {
	for _, c := range Cases(t) {
		want := ecc.Enumerate(c.Field)
		step := 1 + c.Field.Ladder().Len()/64
		for level := int64(0); level < c.Field.Ladder().Len(); level += step {
			chi, err := cells.Characteristic(c.Field, level)
			if err != nil {
				t.Fatal(err)
			}
			dual, err := cells.DualCharacteristic(c.Field, level)
			if err != nil {
				t.Fatal(err)
			}
			if chi != want.At(level) || dual != chi+1 {
				t.Fatalf("%s, level %d: definition %d, dual %d, enumeration %d", c.Name, level, chi, dual, want.At(level))
			}
		}
	}
}

// small draws an image of a few voxels and levels, in any shape.
func small(t *rapid.T) *grid.Field {
	side := rapid.Int64Range(1, 6)
	s := grid.Shape{D: side.Draw(t, "D"), H: side.Draw(t, "H"), W: side.Draw(t, "W")}
	n := int(s.Voxels())
	data := rapid.SliceOfN(rapid.Uint8Range(0, rapid.Uint8Range(0, 9).Draw(t, "top")), n, n).Draw(t, "levels")
	f, err := grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// enumerated answers by the enumeration, of float32 images on the ladder of every float32 too.
func enumerated(s grid.Source) (ecc.VCEC, error) {
	f, err := grid.Load(s)
	if err != nil || f.Ladder().Indexed() {
		if err != nil {
			return nil, err
		}
		return ecc.Enumerate(f), nil
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(f.Floats())))
	l, err := grid.Table(distinct)
	if err != nil {
		return nil, err
	}
	if f, err = grid.Trusted(f.Shape(), f.Type(), f.Data(), l); err != nil {
		return nil, err
	}
	v := ecc.Enumerate(f)
	for i, s := range v {
		v[i].Level = grid.Identity(grid.Float32).Level(distinct[s.Level])
	}
	return v, nil
}

// floats shows an image of small integers as one of float32 values, a part of them between
// levels.
func floats(t *rapid.T, f *grid.Field) *grid.Field {
	data := grid.NewBuffer(4 * f.Shape().Voxels())
	for i, v := range f.Floats() {
		grid.Values[float32](data)[i] = v - float32(i%3)/4
	}
	l, err := grid.Affine(0, 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	g, err := grid.NewField(f.Shape(), grid.Float32, data, l)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The laws are theorems: the enumeration keeps each on any image, so a law that
// contradicts an implementation is right.
func TestLawsHold(t *testing.T) {
	for _, law := range ecc.Laws() {
		t.Run(law.Name, func(t *testing.T) {
			tried := 0
			rapid.Check(t, func(t *rapid.T) {
				f := small(t)
				if rapid.Bool().Draw(t, "float32") {
					f = floats(t, f)
				}
				d, err := law.Check(f, ecc.Enumerate(f), enumerated)
				if d != nil {
					t.Fatalf("%v\n%s", d, d.Context)
				}
				if err == nil {
					tried++
				}
			})
			if tried == 0 {
				t.Fatal("the law applied to no image")
			}
		})
	}
}

// Each law notices an answer that is off by one change, by one level, or that
// belongs to an image whose first voxel is another.
func TestLawsNotice(t *testing.T) {
	f := Cases(t)[slices.IndexFunc(Cases(t), func(c Case) bool { return c.Name == "noise/shape=16x15x14/type=float32/levels=3/seed=10" })].Field
	right := ecc.Enumerate(f)
	// An implementation that is wrong in a way that depends on where things are.
	wrong := func(s grid.Source) (ecc.VCEC, error) {
		g, err := grid.Load(s)
		if err != nil {
			return nil, err
		}
		v, err := enumerated(g)
		if err != nil {
			return nil, err
		}
		if g.Floats()[0] == f.Floats()[0] {
			v[0].Change++
			v[len(v)-1].Change--
		}
		return v, nil
	}
	answer, err := wrong(f)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(answer, right) {
		t.Fatal("the planted answer is right")
	}
	noticed := 0
	for _, law := range ecc.Laws() {
		d, err := law.Check(f, answer, wrong)
		if err != nil {
			t.Errorf("%s: %v", law.Name, err)
		}
		if d != nil {
			noticed++
		} else if law.Independent {
			t.Errorf("%s does not notice", law.Name)
		}
	}
	if noticed < 5 {
		t.Errorf("%d of %d laws notice", noticed, len(ecc.Laws()))
	}
}

// Each law that asks for another image rejects an implementation that answers only the image
// itself. Each applies to a float32 image of few levels.
func TestLawsNoticeWhatTheyAskFor(t *testing.T) {
	for _, name := range []string{"noise/shape=9x8x7/type=float32/levels=5/seed=1", "noise/shape=9x8/type=float32/levels=5/seed=1", "between/shape=9x8x7/levels=9/seed=1"} {
		_, f := Open(t, name)
		right := ecc.Enumerate(f)
		asked, smaller := 0, 0
		wrong := func(s grid.Source) (ecc.VCEC, error) {
			if asked++; s.Shape().Voxels() < f.Shape().Voxels() {
				smaller++
			}
			v, err := enumerated(s)
			if err == nil {
				v[0].Change += s.Shape().Voxels() // which do not cancel where images are taken from each other
			}
			return v, err
		}
		for _, law := range ecc.Laws() {
			if d, err := law.Check(f, right, enumerated); d != nil || err != nil && (law.Name != "flip of the columns" || f.Shape().D > 1) {
				t.Errorf("%s: %s: %v (%v)", name, law.Name, d, err)
			}
			asked, smaller = 0, 0
			d, err := law.Check(f, right, wrong)
			if law.Calls > 0 != (asked > 0) && err == nil || asked > 0 && d == nil {
				t.Errorf("%s: %s asked %d times: %v (%v)", name, law.Name, asked, d, err)
			}
			if strings.HasSuffix(law.Name, "pieces") != (smaller > 4) && law.Name != "axes closed to rings" {
				t.Errorf("%s: %s asked of %d smaller images", name, law.Name, smaller)
			}
		}
	}
}

// The change of one voxel is at least −3 in 2D and −7 in 3D, where it joins all its corners. So it
// fits a small signed integer.
func TestRangeOfOneVoxelsChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		shape grid.Shape
		lo    int64
	}{{grid.Shape{D: 1, H: 3, W: 3}, -3}, {grid.Shape{D: 3, H: 3, W: 3}, -7}} {
		var lo, hi int64
		for range 4000 {
			density := rng.IntN(10)
			data := make([]byte, c.shape.Voxels())
			for i := range data {
				z, y, x := c.shape.Coordinates(int64(i))
				corner := (z != 1 || c.shape.D == 1) && y != 1 && x != 1
				if rng.IntN(10) < density || density == 0 && !corner {
					data[i] = 2
				}
			}
			data[len(data)/2] = 1
			f, err := grid.NewField(c.shape, grid.Uint8, data, grid.Identity(grid.Uint8))
			if err != nil {
				t.Fatal(err)
			}
			v := ecc.Enumerate(f)
			change := v.At(1) - v.At(0)
			lo, hi = min(lo, change), max(hi, change)
		}
		if lo != c.lo || hi > 7 {
			t.Errorf("%v: one voxel changes χ by %d to %d, want %d at least", c.shape, lo, hi, c.lo)
		}
	}
}

func TestEncodeIsTheInverseOfDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOf(rapid.Int64Range(-1<<40, 1<<40)).Draw(t, "changes")
		v := ecc.FromDense(changes)
		encoded := ecc.Encode(v)
		back, err := ecc.Decode(encoded)
		if err != nil || !slices.Equal(v, back) {
			t.Fatalf("%v, then %v, %v", v, back, err)
		}
		if len(encoded) > 1 {
			if cut, err := ecc.Decode(encoded[:len(encoded)-1]); err == nil {
				t.Fatalf("a cut answer reads as %v", cut)
			}
		}
		var chi int64
		for _, s := range v {
			if chi += s.Change; chi != v.At(s.Level) {
				t.Fatalf("%v: at %d %d, want %d", v, s.Level, v.At(s.Level), chi)
			}
		}
	})
}
