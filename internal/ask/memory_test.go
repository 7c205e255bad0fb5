package ask

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"

	"eccbench/impls/betti/duality"
	betticurves "eccbench/impls/betticurves/duality"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/race"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// A listener records the largest stated memory.
type listener struct {
	silent
	need *int64
}

func (l listener) ShowMemory(_ string, need, _ int64) { *l.need = max(*l.need, need) }

// Answers about images with large slices, long rows, many short rows or many slices take the memory that is stated
// before the work, and are rejected with less.
func TestMemory(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes slices of 16 MiB, and the race detector takes several times as much memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	const program = 24 << 20 // of garbage, stacks and code
	set := Options{Construction: "T"}
	by := bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}}, Policy: ecc.Policy()}
	for _, c := range []struct {
		image string
		o     Options
		at    float64
		betti bool
		each  bool
		times int64 // the largest ratio of the statement to the peak with the program
	}{
		{"4096x4096x9/type=uint8", set, 100, false, false, 2},
		{"4096x4096x3/type=float32/levels=10000", set, 0.5, false, false, 2},
		{"4096x2048x5/type=uint8", Options{Construction: "V", Superlevel: true}, 100, false, false, 3},
		{"4000000x3x3/type=uint8", set, 100, false, false, 3},
		{"2x1000000x4/type=uint8", set, 100, true, false, 6},
		{"40x100000x8/type=uint8", set, 60, true, false, 6},
		{"2048x2048x6/type=uint8", Options{Construction: "T", Superlevel: true}, 200, true, false, 4},
		{"9x8x60000/type=uint8", set, 100, false, true, 3},
	} {
		need := int64(0)
		q := of("noise/shape="+c.image, c.o, new([]Opening))
		q.Follow, q.Slices = listener{need: &need}, c.each
		answer := func() (err error) {
			if c.betti {
				b := Betti{Question: q, At: grid.Numbers(c.at), By: betti.Workload(duality.Implementation{})}
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
		t.Logf("%-45s betti %-5v %10s said %10s", c.image, c.betti, quantity.Bytes(peak), quantity.Bytes(need))
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
	q := of("noise/shape=128x128x1100/type=uint8", set, new([]Opening))
	q.Slices, q.Memory = true, func() int64 { return 40 << 20 }
	curves := betti.CurvesWorkload(betticurves.Implementation{Counter: extrema.Implementation{}})
	b := Betti{Question: q, Curves: curves}
	if _, err := b.Answer(); !errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), "answers about slices take") {
		t.Errorf("Betti numbers of 1100 slices in 40 MiB: %v", err)
	}
}
