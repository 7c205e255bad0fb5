package bylevel

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"eccbench/impls/betti/labels"
	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/betti"
)

// told is a job that records whether its answer was poisoned, and has no answer.
type told struct {
	poisoned bool
}

func (j *told) Do(*bench.Trace) error       { return nil }
func (j *told) Poison()                     { j.poisoned = true }
func (j *told) Out() (betti.Numbers, error) { return betti.Numbers{B0: 1}, gridtest.ErrUnread }
func (j *told) Close() error                { return gridtest.ErrUnread }

// A picky implementation records the conditions, accepts or rejects every image, and cannot be set
// up.
type picky struct {
	bench.Implementation[*betti.Image, betti.Numbers]
	given *bench.Conditions
	err   error
}

func (p picky) CanDo(_ *betti.Image, c bench.Conditions) error {
	*p.given = c
	return p.err
}

func (p picky) Setup(*betti.Image, bench.Conditions) (bench.Job[betti.Numbers], error) {
	return nil, p.err
}

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test that a failure to read the image or to count a level gives no curves. Poison also
// reaches the other implementation's answer, and rejections are passed on.
func checks() []checktest.Check {
	i := Implementation{Of: labels.Implementation{}}
	return []checktest.Check{{Name: "answers that are poisoned", Of: func(t *testing.T) {
		of := &told{}
		j := &job{of: of}
		if j.Poison(); !of.poisoned || !slices.Equal(j.out, betti.PoisonedCurves) {
			t.Errorf("poisoned %v, %v", of.poisoned, j.out)
		}
	}}, {Name: "images without curves", Of: func(t *testing.T) {
		f := gridtest.Image(t, grid.Shape{D: 3, H: 4, W: 5}, grid.Uint8, grid.Identity(grid.Uint8), func(at int64) float64 { return float64(at % 7) })
		c := bench.Conditions{Setting: bench.Setting{Threads: 2}}
		failing := i
		failing.Of = bench.FromFunc(func(*betti.Image) (betti.Numbers, error) { return betti.Numbers{}, gridtest.ErrUnread })
		silent := i
		silent.Of = bench.FromFunc(func(*betti.Image) (betti.Numbers, error) { return betti.Numbers{}, nil })
		for what, of := range map[string]struct {
			by Implementation
			in grid.Source
		}{"an image that is not read": {i, gridtest.Unread{Source: f}}, "levels that are not read": {silent, gridtest.Unread{Source: f}}, "no numbers": {failing, f}} {
			if got, err := bench.Answer(of.by, of.in, c); !errors.Is(err, gridtest.ErrUnread) {
				t.Errorf("%s: %d changes (%v)", what, len(got), err)
			}
		}
		trace := &bench.Trace{}
		if err := (&job{image: &betti.Image{Source: f}, of: &told{}}).Do(trace); !errors.Is(err, gridtest.ErrUnread) {
			t.Errorf("numbers that are no answer have curves (%v)", err)
		}
		if got := slices.Sorted(maps.Keys(trace.Spans())); !slices.Equal(got, []string{"levels", "numbers"}) {
			t.Errorf("parts %q", got)
		}
		if err := (&job{of: &told{}}).Close(); !errors.Is(err, gridtest.ErrUnread) {
			t.Errorf("one that does not close (%v)", err)
		}
		if made, err := silent.Setup(f, c); err != nil || !slices.Equal(made.(*job).out, betti.PoisonedCurves) {
			t.Errorf("a job that has done nothing: %v (%v)", made, err)
		}
		if job, err := (Implementation{Of: picky{err: gridtest.ErrUnread}}).Setup(f, c); !errors.Is(err, gridtest.ErrUnread) {
			t.Errorf("a job %v of one that does not get ready (%v)", job, err)
		}
	}}, {Name: "what is refused", Of: refuses}}
}

// Images are accepted up to the most levels, never more than voxels, and up to the most voxels
// times levels. The other implementation has an equal share of the time per level, and the memory
// that the list of levels leaves. Its rejections are passed on.
func refuses(t *testing.T) {
	var given bench.Conditions
	of := Implementation{Of: picky{given: &given}}
	for _, c := range []struct {
		voxels int64
		typ    grid.Type
		most   int64
		can    bool
	}{
		{1 << 16, grid.Float32, 0, true}, {1<<16 + 1, grid.Float32, 0, false}, {1<<16 + 1, grid.Int16, 0, true}, {1 << 40, grid.Uint8, 0, true},
		{6, grid.Uint8, 36, true}, {6, grid.Uint8, 35, false}, {1000, grid.Uint8, 256_000, true}, {1000, grid.Uint8, 255_999, false}, {2, grid.Uint8, 1, false},
	} {
		of.Most = c.most
		if err := of.CanDo(gridtest.VastOf(grid.Shape{D: 1, H: 1, W: c.voxels}, c.typ), bench.Conditions{}); (err == nil) != c.can || given != (bench.Conditions{}) {
			t.Errorf("%d voxels of %v, at most %d voxels times levels: %v, and %+v", c.voxels, c.typ, c.most, err, given)
		}
	}
	in := gridtest.VastOf(grid.Shape{D: 1, H: 2, W: 3}, grid.Uint8)
	of.Most = 0
	for c, want := range map[bench.Conditions]bench.Conditions{
		{Time: 18, Memory: 100}: {Time: 3, Memory: 76}, {Time: 5, Memory: 24}: {Time: 1, Memory: 1}, {Time: 1, Memory: 1}: {Time: 1, Memory: 1},
	} {
		if err := of.CanDo(in, c); err != nil || given != want {
			t.Errorf("of %+v one level has %+v, want %+v (%v)", c, given, want, err)
		}
	}
	of.Of = picky{given: &given, err: gridtest.ErrUnread}
	if err := of.CanDo(in, bench.Conditions{}); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("what the other one refuses is taken (%v)", err)
	}
}
