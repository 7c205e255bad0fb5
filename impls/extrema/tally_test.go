package extrema_test

import (
	"slices"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// byValue counts float32 images on the ladder of every float32, and gives the changes on
// the ladder that the image has. Its tallies gather few pairs, so that small images fill
// them many times.
type byValue struct {
	on
	pairs int
}

// everyValue is an image on the ladder of every float32.
type everyValue struct{ grid.Source }

func (everyValue) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

type valueJob struct {
	bench.Job[ecc.VCEC]
	ladder grid.Ladder
}

func (b byValue) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	if in.Type() != grid.Float32 {
		return b.on.Setup(in, c)
	}
	b.on.Implementation = extrema.Gathering(b.pairs)
	every := grid.Source(everyValue{in})
	if f, ok := in.(*grid.Field); ok {
		whole, err := grid.Trusted(f.Shape(), f.Type(), f.Data(), grid.Identity(grid.Float32))
		if err != nil {
			return nil, err
		}
		every = whole
	}
	j, err := b.on.Setup(every, c)
	if err != nil {
		return nil, err
	}
	return valueJob{j, in.Ladder()}, nil
}

func (j valueJob) Out() (ecc.VCEC, error) {
	v, err := j.Job.Out()
	if err != nil {
		return nil, err
	}
	every := grid.Identity(grid.Float32)
	coarse := ecc.VCEC{}
	for _, s := range v {
		level := j.ladder.Level(every.Value(s.Level))
		if n := len(coarse); n > 0 && coarse[n-1].Level == level {
			coarse[n-1].Change += s.Change
		} else if level < j.ladder.Len() {
			coarse = append(coarse, ecc.Step{Level: level, Change: s.Change})
		}
	}
	return slices.DeleteFunc(coarse, func(s ecc.Step) bool { return s.Change == 0 }), nil
}

func TestConformanceOnEveryFloat32(t *testing.T) {
	each(t, func(t *testing.T, isa string) {
		ecctest.Run(t, byValue{on{isa: isa}, 16})
	})
}
