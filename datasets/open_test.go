package datasets

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"eccbench/internal/grid"

	"pgregory.net/rapid"
)

// TestSlabs reads random slabs of random images alone and compares them with
// the whole.
func TestSlabs(t *testing.T) {
	all := Generators()
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(all[:len(all)-1]).Draw(t, "generator")
		axis := rapid.IntRange(1, 24)
		name := fmt.Sprintf("%s/shape=%dx%d", g.Name, axis.Draw(t, "w"), axis.Draw(t, "h"))
		if rapid.Bool().Draw(t, "3D") {
			name += fmt.Sprintf("x%d", axis.Draw(t, "d"))
		}
		name += "/type=" + rapid.SampledFrom(grid.Types()).Draw(t, "type").String()
		for _, p := range g.Params {
			switch p.Key {
			case "levels":
				name += fmt.Sprintf("/levels=%d", rapid.IntRange(1, 256).Draw(t, "levels"))
			case "seed":
				name += fmt.Sprintf("/seed=%d", rapid.Uint64().Draw(t, "seed"))
			case "smooth":
				name += "/smooth=" + rapid.SampledFrom([]string{"0.5", "1", "2.5", "4", "9"}).Draw(t, "smooth")
			case "roll":
				name += fmt.Sprintf("/roll=%d", rapid.IntRange(0, 30).Draw(t, "roll"))
			}
		}
		s, err := Open(name)
		if err != nil {
			t.Skip(err) // too small for its topology
		}
		checkSlab(t, s, rapid.Int64Range(0, s.Shape().Slices()).Draw(t, "lo"), rapid.Int64Range(0, s.Shape().Slices()).Draw(t, "hi"))
	})
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func checkSlab(t failer, s grid.Source, lo, hi int64) {
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
	// Every value must be one that a Field takes.
	if _, err := grid.NewField(s.Shape(), s.Type(), bytes.Clone(whole.Data()), s.Ladder()); err != nil {
		t.Fatal(err)
	}
}

// TestSlabsOfTiles is about images of several tiles and rows of several pieces.
func TestSlabsOfTiles(t *testing.T) {
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

func TestReadSlabErrors(t *testing.T) {
	for _, name := range []string{"noise/shape=8x8x8", "grf/shape=8x8x8", "ball/shape=8x8x8/roll=3"} {
		s := openNamed(t, name)
		for _, c := range []struct{ size, lo, hi int64 }{{256, -1, 0}, {256, 8, 9}, {255, 3, 4}, {0, 4, 3}} {
			if err := s.ReadSlab(grid.NewBuffer(c.size), c.lo, c.hi); err == nil {
				t.Errorf("%s: slab %d..%d in %d bytes: no error", name, c.lo, c.hi, c.size)
			}
		}
	}
}

func TestConcurrentSlabs(t *testing.T) {
	for _, name := range []string{
		"noise/shape=64x64x48/roll=5", "grf/shape=64x40x48/smooth=2", "grf/shape=600x100/smooth=4",
		"distinct/shape=64x64x48", "ball/shape=64x64x48/roll=40", "ramp/shape=64x64x48",
	} {
		s := openNamed(t, name)
		whole := loadNamed(t, name)
		size, n := grid.SliceBytes(s), s.Shape().Slices()
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(worker)))
				for range 6 {
					lo := r.Int64N(n)
					hi := lo + 1 + r.Int64N(n-lo)
					slab := grid.NewBuffer((hi - lo) * size)
					if err := s.ReadSlab(slab, lo, hi); err != nil {
						t.Error(err)
					}
					if !bytes.Equal(slab, whole.Data()[lo*size:hi*size]) {
						t.Errorf("%s: slab %d..%d differs", name, lo, hi)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestScratch holds the memory of a slab of a large image to what is promised.
func TestScratch(t *testing.T) {
	for _, c := range []struct {
		name string
		mib  uint64 // per goroutine
	}{
		{"noise/shape=4096x256x4096/type=uint8", 1},
		{"grf/shape=4096x64x4096/type=uint8", 4},
		{"grf/shape=512x8x4096/type=uint8/smooth=32", 64},
		{"grf/shape=1048576x4096/type=uint8/smooth=2", 4},
		{"grf/shape=65536x4096/type=uint8/smooth=32", 64},
	} {
		s := openNamed(t, c.name)
		slab := grid.NewBuffer(grid.SliceBytes(s))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := s.ReadSlab(slab, 4000, 4001); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		used, limit := after.TotalAlloc-before.TotalAlloc, c.mib<<20*uint64(runtime.GOMAXPROCS(0))
		if used > limit {
			t.Errorf("%s: %d bytes of scratch, want at most %d", c.name, used, limit)
		}
	}
}

func TestRoll(t *testing.T) {
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

func TestRepeatedNames(t *testing.T) {
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

func TestVariants(t *testing.T) {
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
			d, err := grid.Digest(f)
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
