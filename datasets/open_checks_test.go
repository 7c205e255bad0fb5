package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"

	"pgregory.net/rapid"
)

func openNamed(t testing.TB, name string) grid.Source {
	t.Helper()
	s, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loadNamed(t *testing.T, name string) *grid.Field {
	t.Helper()
	f, err := grid.Load(openNamed(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func checkSlab(t rapid.TB, s grid.Source, lo, hi int64) {
	t.Helper()
	whole, err := grid.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	if hi < lo {
		lo, hi = hi, lo
	}
	size := grid.SliceBytes(s)
	slab := grid.NewBuffer((hi - lo) * size)
	for i := range slab {
		slab[i] = 0xa5
	}
	if err := s.ReadSlab(slab, lo, hi); err != nil {
		t.Fatal(err)
	}
	if want := whole.Data()[lo*size : hi*size]; !bytes.Equal(slab, want) {
		t.Fatalf("slab %d..%d of %v %v alone differs from the whole", lo, hi, s.Shape(), s.Type())
	}
	// Every value must be valid in a Field.
	if _, err := grid.NewField(s.Shape(), s.Type(), bytes.Clone(whole.Data()), s.Ladder()); err != nil {
		t.Fatal(err)
	}
}

// Single slabs equal the whole, for images of several tiles and rows of several pieces.
func slabsOfTiles(t *testing.T) {
	for _, name := range []string{
		"noise/shape=2500x3x5/type=uint8",
		"noise/shape=3x20000x5/type=uint16",
		"grf/shape=700x50x20/smooth=2/type=int16",
		"grf/shape=530x9x40/smooth=4/type=uint8",
		"grf/shape=5000x300/smooth=3",
		"grf/shape=40x120x10/smooth=20",
		"ramp/shape=1500x5x7/type=uint8",
		"distinct/shape=1500x5x7",
		"ball/shape=1100x30x30/type=uint8",
	} {
		s := openNamed(t, name)
		n := s.Shape().Slices()
		checkSlab(t, s, n/3, n/3+1)
		checkSlab(t, s, n/2, n)
	}
}

// Invalid slabs of an image are refused.
func refusesSlabs(t *testing.T) {
	for _, name := range []string{"noise/shape=8x8x8", "grf/shape=8x8x8", "ball/shape=8x8x8/roll=3"} {
		s := openNamed(t, name)
		for _, c := range []struct{ size, lo, hi int64 }{{256, -1, 0}, {256, 8, 9}, {255, 3, 4}, {0, 4, 3}} {
			if err := s.ReadSlab(grid.NewBuffer(c.size), c.lo, c.hi); err == nil {
				t.Errorf("%s: slab %d..%d in %d bytes: no error", name, c.lo, c.hi, c.size)
			}
		}
	}
}

// A rolled image begins with a later slice.
func rolls(t *testing.T) {
	for _, name := range []string{"noise/shape=5x4x7/type=int16", "noise/shape=5x7"} {
		whole := loadNamed(t, name)
		size, n := grid.SliceBytes(whole), whole.Shape().Slices()
		for by := range 2 * n {
			got := loadNamed(t, fmt.Sprintf("%s/roll=%d", name, by))
			for i := range n {
				j := (i + by) % n
				if !bytes.Equal(got.Data()[i*size:(i+1)*size], whole.Data()[j*size:(j+1)*size]) {
					t.Fatalf("%s roll=%d: slice %d is not slice %d", name, by, i, j)
				}
			}
		}
	}
}

// A repeated image repeats its first slices.
func repeats(t *testing.T) {
	for _, name := range []string{"noise/shape=5x4x7/type=int16", "grf/shape=9x8x12/type=uint8", "ball/shape=9x9x9/roll=2", "noise/shape=5x7"} {
		whole := loadNamed(t, name)
		size, n := grid.SliceBytes(whole), whole.Shape().Slices()
		for repeat := int64(1); repeat <= n; repeat++ {
			got := loadNamed(t, fmt.Sprintf("%s/repeat=%d", name, repeat))
			for i := range n {
				j := i % repeat
				if !bytes.Equal(got.Data()[i*size:(i+1)*size], whole.Data()[j*size:(j+1)*size]) {
					t.Fatalf("%s repeat=%d: slice %d is not slice %d", name, repeat, i, j)
				}
			}
		}
	}
}

// Images of seeded generators get another seed, other images none.
func hasOtherSeeds(t *testing.T) {
	for in, want := range map[string]string{
		"noise/shape=8x8x8/seed=7":          "noise/shape=8x8x8/levels=1024/type=float32/seed=3",
		"grf/shape=20x1/roll=0":             "grf/shape=20x1/levels=1024/type=float32/smooth=2/seed=3",
		"noise/shape=8x8x8/repeat=3":        "noise/shape=8x8x8/levels=1024/type=float32/seed=3/repeat=3",
		"noise/shape=8x8x8/seed=7/path=/no": "",
		"ball/shape=9x9x9":                  "",
		"file/path=/no/such.npy":            "",
		"noise/shape=0":                     "",
	} {
		if got := Reseed(in, 3); got != want {
			t.Errorf("Reseed(%q) = %q, want %q", in, got, want)
		}
	}
}

// The number of variants of an image is limited by the number of different images.
func hasVariants(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "a.raw")
	if err := os.WriteFile(raw, []byte("twelve bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in    string
		n     int
		last  string
		count int
	}{
		{"noise/shape=8x8x8/seed=7", 3, "noise/shape=8x8x8/levels=1024/type=float32/seed=9", 3},
		{"noise/shape=8x8/seed=18446744073709551615", 2, "noise/shape=8x8/levels=1024/type=float32/seed=0", 2},
		{"noise/shape=8x8x8/repeat=3", 2, "noise/shape=8x8x8/levels=1024/type=float32/seed=2/repeat=3", 2},
		{"grf/shape=20x1/roll=0", 2, "grf/shape=20x1/levels=1024/type=float32/smooth=2/seed=2", 2},
		{"noise/shape=8x8x8/levels=1", 3, "noise/shape=8x8x8/levels=1/type=float32/seed=1", 1},
		{"extremes/shape=9x9/lowest=0/highest=1", 3, "extremes/shape=9x9/levels=1024/type=float32/lowest=0/highest=1/seed=1", 1},
		{"ball/shape=9x9x9", 3, "ball/shape=9x9x9/type=float32/radius=3/roll=6", 3},
		{"ball/shape=9x9x9/roll=5", 3, "ball/shape=9x9x9/type=float32/radius=3/roll=2", 3},
		{"ball/shape=9x9x9/roll=3", 3, "ball/shape=9x9x9/type=float32/radius=3", 3},
		{"point/shape=8x2", 5, "point/shape=8x2/type=float32/roll=1", 2},
		{"point/shape=8x1", 5, "point/shape=8x1/type=float32", 1},
		{"constant/shape=8x8", 3, "constant/shape=8x8/type=float32", 1},
		{"ramp/shape=8x8/levels=1", 3, "ramp/shape=8x8/levels=1/type=float32", 1},
		{"checkerboard/shape=8x8x8", 4, "checkerboard/shape=8x8x8/type=float32/roll=1", 2},
		{"checkerboard/shape=8x8x9", 3, "checkerboard/shape=8x8x9/type=float32/roll=6", 3},
		{"file/type=uint8/shape=2x2x3/path=" + raw, 3, "file/shape=2x2x3/type=uint8/roll=2/path=" + raw, 3},
		{"file/type=uint8/shape=2x2x3/roll=2/stream=true/path=" + raw, 3, "file/shape=2x2x3/type=uint8/stream=true/roll=1/path=" + raw, 3},
	} {
		names, err := Variants(c.in, c.n)
		if err != nil {
			t.Errorf("Variants(%q): %v", c.in, err)
			continue
		}
		first, err := Canonical(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if len(names) != c.count || names[0] != first || names[len(names)-1] != c.last {
			t.Errorf("Variants(%q, %d) = %q, want %d from %q to %q", c.in, c.n, names, c.count, first, c.last)
		}
		seen := map[string]string{}
		for _, name := range names {
			f := loadNamed(t, name)
			d, err := gridtest.Digest(f)
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[d]; ok {
				t.Errorf("%s and %s are the same image", name, other)
			}
			seen[d] = name
			if base := loadNamed(t, names[0]); f.Shape() != base.Shape() || f.Type() != base.Type() || f.Ladder().Key() != base.Ladder().Key() {
				t.Errorf("%s has another shape, type or ladder than %s", name, names[0])
			}
		}
	}
	for _, bad := range []string{"noise", "nose/shape=3x3", "file/path=/nowhere"} {
		if _, err := Variants(bad, 3); err == nil {
			t.Errorf("Variants(%q): no error", bad)
		}
	}
}
