package bylevel

import (
	"errors"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/sound"
	"eccbench/internal/sound/grids"
	"eccbench/internal/workloads/betti"
)

// told is a job that notes that its answer was poisoned.
type told struct {
	bench.Job[betti.Numbers]
	poisoned bool
}

func (j *told) Poison() { j.poisoned = true }

// Checks are that who cannot read an image, or is not told its numbers at a level, has no curves of it, and that
// the answer of who is asked is poisoned, too.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{{Name: "answers that are poisoned", Of: func(t sound.T) {
		of := &told{}
		j := &job{of: of}
		if j.Poison(); !of.poisoned || !slices.Equal(j.out, betti.PoisonedCurves) {
			t.Errorf("poisoned %v, %v", of.poisoned, j.out)
		}
	}}, {Name: "images without curves", Of: func(t sound.T) {
		f := grids.Image(t, grid.Shape{D: 3, H: 4, W: 5}, grid.Uint8, grid.Identity(grid.Uint8), func(at int64) float64 { return float64(at % 7) })
		c := bench.Conditions{Setting: bench.Setting{Threads: 2}}
		failing := i
		failing.Of = bench.Asking(func(*betti.Image) (betti.Numbers, error) { return betti.Numbers{}, grids.ErrUnread })
		silent := i
		silent.Of = bench.Asking(func(*betti.Image) (betti.Numbers, error) { return betti.Numbers{}, nil })
		for what, of := range map[string]struct {
			by Implementation
			in grid.Source
		}{"an image that is not read": {i, grids.Unread{Source: f}}, "levels that are not read": {silent, grids.Unread{Source: f}}, "no numbers": {failing, f}} {
			if got, err := bench.Answer(of.by, of.in, c); !errors.Is(err, grids.ErrUnread) {
				t.Errorf("%s: %d changes (%v)", what, len(got), err)
			}
		}
	}}}
}
