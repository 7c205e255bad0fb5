package datasets

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"eccbench/internal/grid"

	"pgregory.net/rapid"
)

// TestSlabs reads random slabs of random images independently and compares them with the whole.
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

// TestScratch checks that the memory of a slab of a large image is within the documented limit.
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
