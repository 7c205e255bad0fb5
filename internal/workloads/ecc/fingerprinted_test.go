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
	"eccbench/internal/workloads/ecc/fingerprint"
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

func fingerprintLaw(t *testing.T, eyes ...ecc.Eye) verify.Law[grid.Source, ecc.VCEC] {
	t.Helper()
	laws := ecc.Laws(eyes...)
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

// What is no curve in canonical form is wrong, whatever it sums up to.
func TestFingerprintWantsCanonicalForm(t *testing.T) {
	f := image(t, "noise/shape=16x15x14/type=uint8/seed=1")
	right := ecc.Enumerate(f)
	law := fingerprintLaw(t)
	turned, twice, outside := slices.Clone(right), slices.Clone(right), slices.Clone(right)
	turned[4], turned[5] = turned[5], turned[4]
	twice[4].Change--
	twice = slices.Insert(twice, 4, ecc.Step{Level: twice[4].Level, Change: 1})
	outside = append(outside, ecc.Step{Level: 256, Change: 1})
	none := slices.Insert(slices.Clone(right), 0, ecc.Step{Level: -1})
	for _, wrong := range []ecc.VCEC{turned, twice, outside, none} {
		if d, err := law.Check(f, wrong, nil); d == nil || err != nil {
			t.Errorf("%v passes: %v", wrong, err)
		}
	}
}

// An eye takes so long, and says what another image has.
type eye struct {
	takes time.Duration
	sees  grid.Source // nil where it fails
	asked int
}

func (e *eye) Work(grid.Source, fingerprint.Key, int) (time.Duration, bool) {
	return e.takes, e.takes > 0
}
func (e *eye) Of(_ grid.Source, k fingerprint.Key, threads int) (fingerprint.Sum, error) {
	e.asked++
	if e.sees == nil {
		return nil, errBroken
	}
	return fingerprint.Of(e.sees, k, threads)
}

// An eye is asked where it is quicker than the cores, and the cores where it fails.
func TestFingerprintByAnEye(t *testing.T) {
	f := image(t, "noise/shape=16x15x14/type=uint8/seed=1")
	other := image(t, "noise/shape=16x15x14/type=uint8/seed=2")
	right := ecc.Enumerate(f)
	for _, c := range []struct {
		eye          eye
		asked, agree bool
	}{
		{eye{takes: 1, sees: f}, true, true},
		{eye{takes: 1, sees: other}, true, false},
		{eye{takes: 1}, true, true},
		{eye{takes: time.Hour, sees: other}, false, true},
		{eye{sees: other}, false, true},
	} {
		law := fingerprintLaw(t, &c.eye)
		if quick := law.Work(f) == c.eye.takes; quick != c.asked {
			t.Errorf("%+v: work %v", c, law.Work(f))
		}
		d, err := law.Check(f, right, nil)
		if err != nil || (d == nil) != c.agree || (c.eye.asked > 0) != c.asked {
			t.Errorf("%+v: %v, %v", c, d, err)
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
