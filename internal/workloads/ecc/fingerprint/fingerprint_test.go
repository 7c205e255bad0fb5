package fingerprint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
	"eccbench/internal/isa"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
)

func ofCurve(t testing.TB, v ecc.VCEC, levels int64, k fingerprint.Key) fingerprint.Sum {
	t.Helper()
	sum, err := fingerprint.OfCurve(v.All(), levels, k)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// streamed hides that a field is whole in memory.
type streamed struct{ grid.Source }

// held requires that an image has the sum of a curve: in memory and streamed, on one core and
// several, with every instruction set, below every tried level, and with bilinear weights if there
// are any.
func held(t *testing.T, in grid.Source, want ecc.VCEC, k fingerprint.Key) {
	t.Helper()
	levels, cores := in.Ladder().Len(), []int{1, 3}
	if race.Enabled {
		cores = cores[1:]
	}
	for _, set := range fingerprint.Available() {
		for _, threads := range cores {
			for _, s := range []grid.Source{in, streamed{in}} {
				got, err := fingerprint.On(set, s, k, levels, threads)
				if err != nil {
					t.Fatal(err)
				}
				if curve := ofCurve(t, want, levels, k); !got.Equal(curve) {
					t.Errorf("%s, %d threads, %T, key %v: %v, the curve has %v", set, threads, s, k, got, curve)
				}
			}
		}
		if race.Enabled {
			continue
		}
		top := levels / 2
		if len(want) > 0 {
			top = want[len(want)/2].Level
		}
		part := slices.Clone(want)
		part = slices.DeleteFunc(part, func(s ecc.Step) bool { return s.Level >= top })
		got, err := fingerprint.On(set, in, k, top, 2)
		if err != nil {
			t.Fatal(err)
		}
		if curve := ofCurve(t, part, levels, k); !got.Equal(curve) {
			t.Errorf("%s, below level %d, key %v: %v, the curve has %v", set, top, k, got, curve)
		}
	}
}

// The inputs that break implementations, against the enumeration of all cells.
func TestEnumeration(t *testing.T) {
	for _, c := range ecctest.Cases(t) {
		if (race.Enabled || testing.Short()) && c.Field.Ladder().Len() > 5000 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { held(t, c.Field, ecc.Enumerate(c.Field), fingerprint.Draw(2)) })
	}
}

// An image that repeats is read for little more than a period, whether it is generated or in
// memory.
func TestRepeats(t *testing.T) {
	for _, c := range []struct{ name, most string }{
		{"noise/shape=9x7x40/type=uint8/levels=5/seed=1/repeat=1", "9x7x7"},
		{"noise/shape=9x7x41/type=int16/levels=50/seed=2/repeat=3", "9x7x11"},
		{"noise/shape=5x6x60/type=float32/seed=3/repeat=7", "5x6x15"},
		{"grf/shape=33x100/type=uint8/levels=20/seed=4/repeat=9", "33x18"},
		{"noise/shape=9x7x8/type=uint8/levels=5/seed=1/repeat=7", "9x7x8"},
	} {
		src, err := datasets.Open(c.name)
		if err != nil {
			t.Fatal(err)
		}
		most, err := grid.ParseShape(c.most)
		if err != nil {
			t.Fatal(err)
		}
		if n := views.LookedAt(src); n > most.Voxels() {
			t.Errorf("%s: %d voxels are looked at, want at most %d", c.name, n, most.Voxels())
		}
		whole, err := grid.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		want := ecc.Enumerate(whole)
		for _, s := range []grid.Source{src, whole.Repeating(grid.Period(src))} {
			held(t, s, want, fingerprint.Draw(2))
			// If the last slice and the first are neighbours, the fingerprint is no sum of periods.
			k := fingerprint.Draw(1).WithConvention(fingerprint.Convention{Periodic: grid.Axes{Y: true, Z: whole.Shape().D > 1}})
			got, err := fingerprint.Compute(s, k, 2)
			if err != nil {
				t.Fatal(err)
			}
			if ring, err := fingerprint.Compute(whole, k, 2); err != nil || !got.Equal(ring) {
				t.Errorf("%s, periodic: %v, without repeats %v (%v)", c.name, got, ring, err)
			}
		}
		if a, b := fingerprint.Work(src, fingerprint.Draw(1), 1), fingerprint.Work(streamed{src}, fingerprint.Draw(1), 1); a > b {
			t.Errorf("%s takes %v, and %v without repeats", c.name, a, b)
		}
	}
}

// Shapes around the sizes of vectors and tiles, each axis long in turn.
func TestShapes(t *testing.T) {
	for i, shape := range []grid.Shape{
		{D: 1, H: 1, W: 5000}, {D: 1, H: 5000, W: 1}, {D: 4500, H: 1, W: 1}, {D: 2, H: 1, W: 5000}, {D: 2, H: 5000, W: 1}, {D: 3, H: 2, W: 318}, {D: 3, H: 2, W: 319}, {D: 3, H: 2, W: 320},
		{D: 1, H: 300, W: 33}, {D: 5, H: 120, W: 17}, {D: 2, H: 3, W: 15}, {D: 2, H: 3, W: 16}, {D: 2, H: 3, W: 2047}, {D: 1, H: 2, W: 2048}, {D: 1, H: 40, W: 1100}, {D: 40, H: 1, W: 1100}, {D: 2, H: 2, W: 2},
	} {
		for _, typ := range grid.Types() {
			t.Run(fmt.Sprintf("%v/%v", shape, typ), func(t *testing.T) {
				name := fmt.Sprintf("noise/shape=%v/type=%v/levels=9/seed=%d", shape, typ, i)
				if shape.D == 1 {
					name = fmt.Sprintf("noise/shape=%dx%d/type=%v/levels=9/seed=%d", shape.W, shape.H, typ, i)
				}
				_, f := ecctest.Open(t, name)
				held(t, f, ecc.Enumerate(f), fingerprint.Draw(1))
			})
		}
	}
}

// Values are on levels, next to them, between them, and below all of them.
func TestValuesAroundLevels(t *testing.T) {
	for _, f := range ecctest.AroundLevels(t) {
		held(t, f, ecc.Enumerate(f), fingerprint.Draw(1))
	}
}

// A level for each of more than 2²⁰ voxels, and as many levels of an affine ladder.
func TestManyLevels(t *testing.T) {
	if testing.Short() || race.Enabled { // with fewer levels the cores fill tables, too
		t.Skip("a million levels")
	}
	const n = 1<<20 + 77
	shape := grid.Shape{D: 3, H: 599, W: 600}
	rng := rand.New(rand.NewPCG(3, 4))
	table := make([]float32, n)
	for k := range table {
		table[k] = float32(k) * 1.5
	}
	distinct, err := grid.Table(table)
	if err != nil {
		t.Fatal(err)
	}
	even, err := grid.Affine(0, 1.5, n)
	if err != nil {
		t.Fatal(err)
	}
	places := rng.Perm(int(shape.Voxels()))
	for _, l := range []grid.Ladder{distinct, even} {
		f := gridtest.Image(t, shape, grid.Float32, l, func(i int64) float64 { return float64(min(places[i], n-1)) * 1.5 })
		held(t, f, ecc.Enumerate(f), fingerprint.Draw(1))
	}
}

// A voxel above the last level, which a streamed source may hold, is outside.
func TestAboveTheLastLevel(t *testing.T) {
	ladder, err := grid.Affine(0, 1, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range grid.Types() {
		shape := grid.Shape{D: 5, H: 6, W: 37}
		whole, err := grid.Affine(0, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		f := gridtest.Image(t, shape, typ, whole, func(int64) float64 { return float64(rng.IntN(10)) })
		want := slices.DeleteFunc(ecc.Enumerate(f), func(s ecc.Step) bool { return s.Level >= 6 })
		above, err := grid.Trusted(shape, typ, f.Data(), ladder)
		if err != nil {
			t.Fatal(err)
		}
		held(t, above, want, fingerprint.Draw(1))
	}
}

func TestKeys(t *testing.T) {
	// The same key gives the same sum on any machine.
	k, err := fingerprint.ParseKey("000102030405060708090a0b0c0d0e0f*3")
	if err != nil {
		t.Fatal(err)
	}
	_, f := ecctest.Open(t, "noise/shape=33x22x11/type=float32/levels=1024/seed=1")
	got, err := fingerprint.Compute(f, k, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := "6e6541710a2cc96e 685c144ffed82d2b 69374ef08667b728"; got.String() != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCurveOffTheLadder(t *testing.T) {
	for _, level := range []int64{-1, 256, 1 << 40} {
		if _, err := fingerprint.OfCurve(ecc.VCEC{{Level: level, Change: 1}}.All(), 256, fingerprint.Draw(1)); err == nil {
			t.Errorf("level %d of 256 is summed", level)
		}
	}
}

func FuzzInstructionSets(f *testing.F) {
	f.Add(uint16(130), uint8(5), uint8(3), uint8(0), uint16(256), uint64(1))
	f.Add(uint16(64), uint8(9), uint8(1), uint8(3), uint16(255), uint64(2))
	f.Add(uint16(257), uint8(3), uint8(4), uint8(1), uint16(1000), uint64(3))
	f.Add(uint16(95), uint8(4), uint8(2), uint8(2), uint16(65535), uint64(4))
	f.Add(uint16(33), uint8(4), uint8(2), uint8(3), uint16(65535), uint64(5))
	f.Fuzz(func(t *testing.T, w uint16, h, d, typ uint8, levels uint16, seed uint64) {
		shape := grid.Shape{D: 1 + int64(d%5), H: 1 + int64(h%12), W: 1 + int64(w%200)}
		element := grid.Types()[int(typ)%len(grid.Types())]
		image := gridtest.Drawn(t, shape, element, levels, seed)
		held(t, image, ecc.Enumerate(image), fingerprint.Draw(1))
	})
}

// Every instruction set has the sums of the Go code. The rows turn at every voxel, at nearly every
// one or at few, have lengths around the width of vectors, and come in both orders.
func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	widths := []int64{1, 2, 31, 32, 33, 63, 64, 65, 66, 96, 97, 128, 129, 193}
	if race.Enabled { // the race detector concerns the cores, not the sums
		widths = []int64{65}
	}
	for _, typ := range []grid.Type{grid.Uint8, grid.Uint16, grid.Int16} {
		ladder := grid.Identity(typ)
		low, high := float64(ladder.Value(0)), float64(ladder.Value(ladder.Len()-1))
		var images []*grid.Field
		for _, w := range widths {
			for _, shape := range []grid.Shape{{D: 1, H: 7, W: w}, {D: 4, H: 5, W: w}, {D: 1, H: 300, W: w}} {
				for still := range 6 { // how often a voxel is the one before again; 4 and 5 for rows that turn at each voxel but one
					if still >= 4 && shape.D > 1 {
						shape = grid.Shape{D: 3, H: 151, W: w} // many rows, too
					}
					last := low + 1
					images = append(images, gridtest.Image(t, shape, typ, ladder, func(i int64) float64 {
						lowly := i%2 == 0
						if still >= 4 {
							lowly = (i%w == 0 || i%w%2 == 1) == (still == 4)
						}
						switch {
						case still >= 4 && i/w%5 == 3: // so that lists are filled otherwise the next time
						case still < 4 && rng.IntN(10) < 3*still:
						case lowly:
							last = low + 1 + float64(rng.IntN(3))
						default:
							last = high - float64(rng.IntN(3))
						}
						return last
					}))
				}
			}
		}
		for _, c := range []fingerprint.Convention{{}, {Superlevel: true}, {Vertices: true, Superlevel: true}, {Periodic: grid.Axes{X: true}}} {
			alike(t, images, fingerprint.Draw(1).WithConvention(c))
		}
	}
}

func alike(t *testing.T, images []*grid.Field, k fingerprint.Key) {
	t.Helper()
	typ, ladder := images[0].Type(), images[0].Ladder()
	alone := fingerprint.PrepareOn(isa.Portable, typ, ladder, k)
	for _, set := range fingerprint.Available() {
		p := fingerprint.PrepareOn(set, typ, ladder, k)
		for i, f := range images {
			want, err := alone.Compute(f, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []grid.Source{f, streamed{f}} {
				if got, err := p.Compute(s, 2); err != nil || !got.Equal(want) {
					t.Fatalf("image %d, %v of %v, %+v, %T, key %v: %s has %v, %v, Go alone %v", i, f.Shape(), typ, k.Convention(), s, k, set, got, err, want)
				}
			}
		}
	}
}

// The report names the first instruction set with another fingerprint, and one that fails.
func TestApart(t *testing.T) {
	for _, c := range []struct{ says, want string }{{"aaa", ""}, {"aba", "1"}, {"abb", "1"}, {"aab", "2"}, {"a", ""}, {"aax", "fails"}, {"xaa", "fails"}, {"abx", "1"}} {
		of := func(isa string) (fingerprint.Sum, error) {
			says := c.says[isa[0]-'0']
			if says == 'x' {
				return nil, fmt.Errorf("%s fails", isa)
			}
			return fingerprint.Sum{uint64(says)}, nil
		}
		isas := []string{"0", "1", "2"}[:len(c.says)]
		got, fastest, other, err := fingerprint.ApartOf(isas, of)
		if err != nil {
			got = "fails"
		}
		if got != c.want || len(got) == 1 && (fastest[0] != 'a' || other[0] != 'b') {
			t.Errorf("%s: %q, %v and %v, want %q", c.says, got, fastest, other, c.want)
		}
	}
	for _, name := range []string{"noise/shape=7x9x5/type=float32/levels=9", "between/shape=70x9/levels=200/step=0.1", "noise/shape=70x9/type=uint8"} {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if isa, want, got, err := fingerprint.DifferingISA(in, fingerprint.Draw(2), 2); isa != "" || err != nil {
			t.Errorf("%s: by %s %v, not %v, %v", name, isa, got, want, err)
		}
	}
}
