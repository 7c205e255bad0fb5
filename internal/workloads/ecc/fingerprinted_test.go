package ecc_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

func image(t *testing.T, name string) *grid.Field {
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

func fingerprintLaw(t *testing.T) verify.Law[grid.Source, ecc.VCEC] {
	t.Helper()
	laws := ecc.Laws()
	i := slices.IndexFunc(laws, func(l verify.Law[grid.Source, ecc.VCEC]) bool { return l.Independent })
	if i < 0 || laws[i].Name != "fingerprint" || !strings.HasPrefix(laws[i].Note, "key ") {
		t.Fatalf("the first independent law is not the fingerprint: %+v", laws[i])
	}
	return laws[i]
}

// The law names a wrong level with what the definition has there, and its key.
func TestFingerprintNamesALevel(t *testing.T) {
	f := image(t, "noise/shape=16x15x14/type=uint8/seed=1")
	right := ecc.Enumerate(f)
	law := fingerprintLaw(t)
	if d, err := law.Check(f, right, nil); d != nil || err != nil {
		t.Fatal(d, err)
	}
	for _, i := range []int{0, 77, len(right) - 2} {
		wrong := slices.Clone(right)
		wrong[i].Change += 5
		wrong[i+1].Change -= 5
		d, err := law.Check(f, wrong, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Of the two levels that are wrong, the lower one is the first to differ.
		said, err := ecc.Characteristic(f, right[i].Level)
		if err != nil {
			t.Fatal(err)
		}
		if d == nil || said != right.At(right[i].Level) || !strings.HasPrefix(d.Where, "level ") ||
			!strings.Contains(d.Context, law.Note) || !strings.Contains(d.Context, "levels around the first voxel") || d.Want == d.Got {
			t.Errorf("changes %d and %d are wrong: %v\n%+v", i, i+1, d, d)
		}
	}
}

type failing struct{ grid.Source }

var errBroken = errors.New("broken")

func (f failing) ReadSlab(dst []byte, lo, hi int64) error {
	if hi == f.Shape().Slices() {
		return errBroken
	}
	return f.Source.ReadSlab(dst, lo, hi)
}

func TestFingerprintOfABrokenSource(t *testing.T) {
	f := image(t, "noise/shape=16x15x14/type=uint8/seed=1")
	if _, err := fingerprintLaw(t).Check(failing{f}, ecc.Enumerate(f), nil); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// A breaking source fails at one of its reads.
type breaking struct {
	grid.Source
	reads *atomic.Int64 // that are left until then
}

func (b breaking) ReadSlab(dst []byte, lo, hi int64) error {
	if b.reads.Add(-1) == -1 {
		return errBroken
	}
	return b.Source.ReadSlab(dst, lo, hi)
}

// Whichever read fails while the wrong level is looked for is an error, unless it only shows
// what is around.
func TestFingerprintOfASourceThatBreaks(t *testing.T) {
	f := image(t, "noise/shape=5x4x3/type=uint8/levels=4/seed=1")
	wrong := slices.Clone(ecc.Enumerate(f))
	wrong[1].Change++
	want, err := fingerprintLaw(t).Check(f, wrong, nil)
	if err != nil || want == nil {
		t.Fatal(want, err)
	}
	for reads := int64(0); ; reads++ {
		b := breaking{f, new(atomic.Int64)}
		b.reads.Store(reads)
		d, err := fingerprintLaw(t).Check(b, wrong, nil)
		if b.reads.Load() >= 0 {
			if err != nil || reads < 4 {
				t.Errorf("after %d reads: %v, %v", reads, d, err)
			}
			break
		}
		if err == nil && (d.Where != want.Where || d.Want != want.Want || d.Got != want.Got) || err != nil && !errors.Is(err, errBroken) {
			t.Errorf("read %d fails: %v, %v", reads, d, err)
		}
	}
}

// huge is an image that nobody reads.
type huge struct {
	grid.Source
	shape grid.Shape
}

func (h huge) Shape() grid.Shape { return h.shape }

// Its estimate for a large image is that of the definition at one level, or three times
// as much without vector instructions.
func TestFingerprintIsAffordable(t *testing.T) {
	var cost []time.Duration
	for _, law := range ecc.Laws() {
		if law.Independent {
			cost = append(cost, law.Work(huge{image(t, "constant/shape=1x1/type=uint8"), grid.Shape{D: 4096, H: 4096, W: 4096}}))
		}
	}
	if len(cost) < 2 || cost[0] > 3*cost[1] {
		t.Errorf("work %v", cost)
	}
}
