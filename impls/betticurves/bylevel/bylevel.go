// Package bylevel computes Betti curves with an implementation for binary images, one level after
// the other.
package bylevel

import (
	"fmt"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/unions"
)

// most is the maximum number of levels.
const most = 1 << 16

// voxelBytes is the memory per voxel while the levels are listed.
const voxelBytes = 4

// Implementation applies an implementation for binary images to every level.
type Implementation struct {
	Of bench.Implementation[*betti.Image, betti.Numbers]
	// Most is the maximum of voxels times levels; 0 means no limit.
	Most int64
	// Superlevel means that Of counts the values at or above a threshold.
	Superlevel bool
}

// About describes the method.
func (i Implementation) About() bench.About {
	a := i.Of.About()
	a.Method = "as for betti, one level after the other"
	return a
}

// CanDo rejects an image with too many levels. It also rejects it if the other implementation
// cannot answer one level in its share of the time.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	n := min(in.Ladder().Len(), in.Shape().Voxels())
	if n > most {
		return fmt.Errorf("%d levels: want at most %d, as each is computed separately", n, most)
	}
	if times := n * in.Shape().Voxels(); i.Most > 0 && times > i.Most {
		return fmt.Errorf("%d voxels at up to %d levels: at most %d voxels times levels are supported",
			in.Shape().Voxels(), n,
			i.Most)
	}
	if c.Time > 0 {
		c.Time = max(1, c.Time/time.Duration(n))
	}
	if c.Memory > 0 {
		c.Memory = max(1, c.Memory-in.Shape().Voxels()*voxelBytes)
	}
	if err := i.Of.CanDo(&betti.Image{Source: in}, c); err != nil {
		return fmt.Errorf("%d levels, one after the other: %w", n, err)
	}
	return nil
}

// Setup sets up the other implementation for an image; Do sets its threshold for each level.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[betti.Curves], error) {
	image := &betti.Image{Source: in}
	of, err := i.Of.Setup(image, c)
	if err != nil {
		return nil, err
	}
	return &job{image: image, of: of, superlevel: i.Superlevel, out: betti.PoisonedCurves}, nil
}

type job struct {
	image      *betti.Image
	of         bench.Job[betti.Numbers]
	superlevel bool
	out        betti.Curves
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("levels")
	levels, err := unions.LevelsOf(j.image.Source)
	end()
	if err != nil {
		return err
	}
	defer trace.Span("numbers")()
	if j.superlevel {
		slices.Reverse(levels)
	}
	out, last := betti.Curves{}, betti.Numbers{}
	for _, level := range levels {
		j.image.Threshold = j.image.Ladder().Value(level)
		if err := j.of.Do(nil); err != nil {
			return err
		}
		now, err := j.of.Out()
		if err != nil {
			return err
		}
		if now != last {
			out = append(out, betti.Change{Level: level, Numbers: now.Minus(last)})
		}
		last = now
	}
	if j.superlevel {
		slices.Reverse(out)
	}
	j.out = out
	return nil
}

func (j *job) Poison() {
	j.out = betti.PoisonedCurves
	j.of.Poison()
}

func (j *job) Out() (betti.Curves, error) { return j.out, nil }

func (j *job) Close() error { return j.of.Close() }
