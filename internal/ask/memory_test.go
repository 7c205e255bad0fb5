package ask

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"eccbench/impls/betti/duality"
	betticurves "eccbench/impls/betticurves/duality"
	"eccbench/impls/eigenmap/multigrid"
	"eccbench/impls/extrema"
	"eccbench/impls/pairs/morse"
	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/race"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/pairs"
)

// A listener records the largest stated memory.
type listener struct {
	silent
	need *int64
}

func (l listener) ShowMemory(_ string, need, _ int64) { *l.need = max(*l.need, need) }

// everyFloat32 writes a file of random numbers, most of them different, and returns its path.
func everyFloat32(t *testing.T, n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 0, 4*n)
	for range n {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(random.Float32()))
	}
	name := filepath.Join(t.TempDir(), "random")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const program = 24 << 20 // memory of garbage, stacks and code

// Answers about images with large slices, long rows, many short rows or many slices take the memory that is stated
// before the work, and are rejected with less.
func TestMemory(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes slices of 16 MiB, and the race detector takes several times as much memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	set := Options{Construction: "T"}
	by := byExtrema()
	curves := betti.CurvesWorkload(betticurves.Implementation{Counter: extrema.Implementation{}})
	every := "file/shape=4x2048x2048/type=float32/levels=every/path=" + everyFloat32(t, 4*2048*2048)
	for _, c := range []struct {
		image  string // of noise, or a file
		o      Options
		at     float64 // 0 for every level
		betti  bool
		each   bool
		masked string // the shape of a mask
		times  int64  // the largest ratio of the statement to the peak with the program
	}{
		{"4096x4096x9/type=uint8", set, 100, false, false, "", 2},
		{"4096x4096x3/type=float32/levels=10000", set, 0.5, false, false, "", 2},
		{"4096x2048x5/type=uint8", Options{Construction: "V", Superlevel: true}, 100, false, false, "", 3},
		{"4000000x3x3/type=uint8", set, 100, false, false, "", 3},
		{"2x1000000x4/type=uint8", set, 100, true, false, "", 6},
		{"40x100000x8/type=uint8", set, 60, true, false, "", 6},
		{"2048x2048x6/type=uint8", Options{Construction: "T", Superlevel: true}, 200, true, false, "", 4},
		{"9x8x60000/type=uint8", set, 100, false, true, "", 3},
		{every, set, 0.25, false, false, "", 4},
		{every, set, 0.25, true, false, "", 4},
		{strings.Replace(every, "/path=", "/nan=mask/path=", 1), Options{Construction: "T", NaN: NaNMask}, 0.25, false, false, "", 4},
		{"4096x2048x5/type=uint8", set, 100, false, false, "4096x2048x5", 3},
		{"4096x2048x5/type=uint8", set, 100, true, false, "4096x2048x5", 4},
		{"4096x4096x2/type=uint8", set, 100, false, false, "", 3},
		{"4096x4096x2/type=uint8", set, 100, true, false, "", 4},
		{"1x1x4000000/type=uint8", set, 100, false, false, "", 3},
		{"1x4000000/type=uint8", set, 100, true, false, "", 3},
		{"1x4000000x1/type=uint8", Options{Construction: "V"}, 100, false, false, "", 3},
		{"1x1x4000000/type=float32/levels=1000", set, 0.25, true, false, "", 4},
		{"1x1x4000000/type=uint8", set, 0, true, false, "", 3},
		{"2x4000000/type=uint8", set, 100, false, false, "", 3},
		{"2x2x4000000/type=uint8", set, 100, true, false, "", 3},
		{"4000000x1x1/type=uint8", set, 100, false, false, "", 3},
	} {
		need := int64(0)
		name := c.image
		if name[0] != 'f' {
			name = "noise/shape=" + name
		}
		q := of(name, c.o)
		q.Follow, q.Slices = listener{need: &need}, c.each
		if c.masked != "" {
			q.Mask = of("noise/shape="+c.masked+"/type=uint8/levels=2/seed=5", set).Input
		}
		answer := func() (err error) {
			if c.betti {
				b := Betti{Question: q, By: betti.Workload(duality.Implementation{}), Curves: curves}
				if c.at > 0 {
					b.At = grid.Numbers(c.at)
				}
				_, err = b.Answer()
				return err
			}
			_, err = (&Curve{Question: q, At: grid.Numbers(c.at), By: by}).Answer()
			return err
		}
		peak := checktest.Peak(t, func() {
			if err := answer(); err != nil {
				t.Errorf("%s: %v", c.image, err)
			}
		})
		t.Logf("%-45.45s betti %-5v masked %-12s %10s said %10s", c.image, c.betti, c.masked, quantity.Bytes(peak), quantity.Bytes(need))
		if peak > need+program || need > c.times*(peak+program) {
			t.Errorf("%s: said to take %s, takes %s", c.image, quantity.Bytes(need), quantity.Bytes(peak))
		}
		less := need - 1
		if c.betti { // fewer cores, and bits that are not kept, take less
			less = need / 4
		}
		q.Memory = func() int64 { return less }
		if err := answer(); !errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), " are free; ") {
			t.Errorf("%s in %s: %v", c.image, quantity.Bytes(less), err)
		}
	}
	// The numbers of slices are counted while they are found.
	q := of("noise/shape=128x128x1100/type=uint8", set)
	q.Slices, q.Memory = true, func() int64 { return 40 << 20 }
	b := Betti{Question: q, Curves: curves}
	if _, err := b.Answer(); !errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), "answers about slices take") {
		t.Errorf("Betti numbers of 1100 slices in 40 MiB: %v", err)
	}
}

// Answers about whole images and their witnesses take at most the memory that is stated before the work, and not much
// less. They are rejected with less.
func TestMemoryOfWholes(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes seconds, and the race detector takes several times as much memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	for _, image := range []string{"noise/shape=48x48x48/type=uint8", "noise/shape=512x512/type=uint8"} {
		need := int64(0)
		q := Eigenmap{Question: of(image, Options{}), Voxels: eigenmap.OnGrid(multigrid.Implementation{}),
			EigenmapOptions: EigenmapOptions{Graph: "grid", Pairs: 4, Tol: 1e-6, Sigma: 0.1, Floor: 0.001, Radius: 1}}
		q.Follow = listener{need: &need}
		answer := func() (err error) { _, err = q.Answer(); return err }
		peak := checktest.Peak(t, func() {
			if err := answer(); err != nil {
				t.Errorf("%s: %v", image, err)
			}
		})
		t.Logf("%-40s %10s said %10s", image, quantity.Bytes(peak), quantity.Bytes(need))
		if peak > need+program || need > 2*(peak+program) {
			t.Errorf("%s: said to take %s, takes %s", image, quantity.Bytes(need), quantity.Bytes(peak))
		}
		q.Memory = func() int64 { return need - 1 }
		if err := answer(); err == nil {
			t.Errorf("%s in %s: no error", image, quantity.Bytes(need-1))
		}
	}
}

// Pairs take at most the memory that is stated before the work, which is that of noise. They are rejected with less.
func TestMemoryOfPairs(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes seconds, and the race detector takes several times as much memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	for _, c := range []struct {
		image string
		times int64
	}{
		{"noise/shape=96x96x96/type=uint8", 4}, {"noise/shape=96x96x96/type=float32/levels=5000", 4},
		{"noise/shape=1024x1024/type=uint8", 4}, {"grf/shape=128x128x128/type=float32/smooth=3", 20},
	} {
		need := int64(0)
		q := Pairs{Question: of(c.image, Options{Construction: "T"}), By: pairs.Workload(morse.Implementation{})}
		q.Follow = listener{need: &need}
		peak := checktest.Peak(t, func() {
			if _, err := q.Answer(); err != nil {
				t.Errorf("%s: %v", c.image, err)
			}
		})
		t.Logf("%-45s %10s said %10s", c.image, quantity.Bytes(peak), quantity.Bytes(need))
		if peak > need+program || need > c.times*(peak+program) {
			t.Errorf("%s: said to take %s, takes %s", c.image, quantity.Bytes(need), quantity.Bytes(peak))
		}
		q.Memory = func() int64 { return need - 1 }
		if _, err := q.Answer(); !errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), "the pairs take ") {
			t.Errorf("%s in %s: %v", c.image, quantity.Bytes(need-1), err)
		}
	}
}

func byExtrema() bench.Workload[grid.Source, ecc.VCEC] {
	return bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}}, Policy: ecc.Policy()}
}

// The levels of a curve are counted while they are found: an answer or its rejection takes no more than the free
// memory.
func TestMemoryOfLevels(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes 10 million levels, and the race detector takes several times as much memory")
	}
	q := of("file/shape=4x2048x2048/type=float32/levels=every/path="+everyFloat32(t, 4*2048*2048), Options{Construction: "T"})
	answers := map[bool]int{}
	for _, free := range []int64{120 << 20, 150 << 20, 180 << 20, 240 << 20, 300 << 20, 500 << 20} {
		end := host.LimitGrowth(free)
		q.Memory = func() int64 { return free }
		var err error
		peak := checktest.Peak(t, func() { _, err = (&Curve{Question: q, By: byExtrema()}).Answer() })
		end()
		answers[err == nil]++
		if peak > free+program {
			t.Errorf("a curve takes %s of %s: %v", quantity.Bytes(peak), quantity.Bytes(free), err)
		}
		if err != nil && (!errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), " of levels are found, which are free")) {
			t.Errorf("a curve in %s: %v", quantity.Bytes(free), err)
		}
		t.Logf("a curve in %s: peak %s, %v", quantity.Bytes(free), quantity.Bytes(peak), err)
	}
	if answers[false] == 0 || answers[true] == 0 {
		t.Errorf("%d curves fit in their memory, and %d do not", answers[true], answers[false])
	}
}

// The hashes of slices of one voxel may take more memory than the image.
func TestHashesOfSlicesTakeMemory(t *testing.T) {
	for _, bare := range []bool{false, true} {
		q := of("noise/shape=2x2000000/type=uint8", Options{Construction: "T"})
		q.Bare, q.Memory = bare, func() int64 { return 37 << 20 }
		_, err := (&Curve{Question: q, By: byExtrema()}).Answer()
		if bare && err != nil || !bare && (err == nil || !strings.Contains(err.Error(), "the hashes of 2000000 slices take 38.1 MiB")) {
			t.Errorf("bare %v: %v", bare, err)
		}
	}
}
