package extrema_test

import (
	"math"
	"math/rand/v2"
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

// Changes of one level that are beyond an int32 together are added up all the same, and
// those that cancel are no step.
func TestTallyAddsUp(t *testing.T) {
	for _, pairs := range []int{2, 8, 100} {
		want := map[uint32]int64{}
		rng := rand.New(rand.NewPCG(1, uint64(pairs)))
		var levels []uint32
		var changes []int32
		for range 20_000 {
			k, c := uint32(rng.Int32N(50))*0x05050505, int32(rng.Uint32())
			if k > 0x80000000 {
				c = math.MaxInt32
			}
			levels, changes = append(levels, k), append(changes, c)
			want[k] += int64(c)
		}
		for k := range want { // every second level is left as it was
			if k%2 == 0 {
				for want[k] != 0 {
					c := int32(max(math.MinInt32, min(math.MaxInt32, -want[k])))
					levels, changes = append(levels, k), append(changes, c)
					want[k] += int64(c)
				}
				delete(want, k)
			}
		}
		got := extrema.Tallied(pairs, 3, levels, changes)
		if len(got) != len(want) || !slices.IsSortedFunc(got, func(a, b ecc.Step) int { return int(a.Level - b.Level) }) {
			t.Errorf("%d pairs: %d steps, want %d", pairs, len(got), len(want))
		}
		for _, s := range got {
			if s.Change != want[uint32(s.Level)] {
				t.Errorf("%d pairs: level %d changes by %d, want %d", pairs, s.Level, s.Change, want[uint32(s.Level)])
			}
		}
	}
}
