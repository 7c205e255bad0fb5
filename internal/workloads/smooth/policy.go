package smooth

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

type ask = verify.Ask[*Pipeline, Answer]

// plainNS is the cost of one pixel of a plain smoothing on one core, three times that on an AMD
// EPYC.
const plainNS = 40

// enumerateNS is the cost to enumerate the cells of one pixel on one core, likewise.
const enumerateNS = 300

func policy() verify.Policy[*Pipeline, Answer] {
	return verify.Policy[*Pipeline, Answer]{
		Agree: agree,
		Laws: []verify.Law[*Pipeline, Answer]{
			{Name: "changes of each iteration sum to 1", Check: sums},
			{Name: "first curve by the definition at one level", Work: func(p *Pipeline) time.Duration { return cores(p, 6) },
				Check: first},
			{Name: "kept curves by the definition after plain smoothing", Independent: true,
				Work: func(p *Pipeline) time.Duration {
					return cores(p, plainNS*p.Iterations) + time.Duration(p.Shape().Voxels()*enumerateNS*(2+p.Iterations/checkpoint))
				}, Check: definition},
		},
	}
}

// cores returns the time of ns per pixel on all cores.
func cores(p *Pipeline, ns int64) time.Duration {
	return time.Duration(p.Shape().Voxels() * ns / int64(runtime.GOMAXPROCS(0)))
}

func agree(_ *Pipeline, want, got Answer) *verify.Diff {
	for i, w := range want.Checkpoints {
		if i >= len(got.Checkpoints) || got.Checkpoints[i].Iteration != w.Iteration {
			return &verify.Diff{Where: fmt.Sprintf("iteration %d", w.Iteration), Want: "a curve", Got: "none"}
		}
		if g := got.Checkpoints[i].VCEC; !slices.Equal(g, w.VCEC) {
			return &verify.Diff{Where: fmt.Sprintf("iteration %d", w.Iteration), Want: fmt.Sprintf("%d changes", len(w.VCEC)),
				Got: fmt.Sprintf("%d changes, not the same", len(g))}
		}
	}
	switch {
	case len(want.Checkpoints) != len(got.Checkpoints):
		return &verify.Diff{Where: "curves", Want: fmt.Sprint(len(want.Checkpoints)), Got: fmt.Sprint(len(got.Checkpoints))}
	case want.Sum != got.Sum:
		return &verify.Diff{Where: "sum of all changes", Want: fmt.Sprint(want.Sum), Got: fmt.Sprint(got.Sum)}
	case want.Trail != got.Trail:
		return &verify.Diff{Where: "steps of all curves, folded", Want: fmt.Sprintf("%016x", want.Trail),
			Got: fmt.Sprintf("%016x", got.Trail)}
	}
	return nil
}

func sums(p *Pipeline, out Answer, _ ask) (*verify.Diff, error) {
	if out.Sum == p.Iterations {
		return nil, nil
	}
	return &verify.Diff{Where: "sum of all changes", Want: fmt.Sprint(p.Iterations), Got: fmt.Sprint(out.Sum)}, nil
}

// compareAt compares one curve with the definition at a level at which it changes.
func compareAt(s grid.Source, c Checkpoint) (*verify.Diff, error) {
	level := s.Ladder().Len() / 2
	if n := int64(len(c.VCEC)); n > 0 {
		level = c.VCEC[(c.Iteration*7919+n/2)%n].Level
	}
	want, err := cells.Characteristic(s, level)
	if err != nil {
		return nil, err
	}
	if got := c.VCEC.At(level); got != want {
		return &verify.Diff{Where: fmt.Sprintf("iteration %d, level %d", c.Iteration, level),
			Want: fmt.Sprintf("χ = %d", want), Got: fmt.Sprintf("χ = %d", got)}, nil
	}
	return nil, nil
}

func first(p *Pipeline, out Answer, _ ask) (*verify.Diff, error) {
	if len(out.Checkpoints) == 0 || out.Checkpoints[0].Iteration != 1 {
		return &verify.Diff{Where: "iteration 1", Want: "a curve", Got: "none"}, nil
	}
	return compareAt(p.Source, out.Checkpoints[0])
}

// curve compares a kept curve with the wanted one.
func curve(want ecc.VCEC, c Checkpoint) *verify.Diff {
	for i := range max(len(want), len(c.VCEC)) {
		if i >= len(want) || i >= len(c.VCEC) || want[i] != c.VCEC[i] {
			step := func(v ecc.VCEC) (level int64, text string) {
				if i >= len(v) {
					return math.MaxInt64, "no change"
				}
				return v[i].Level, fmt.Sprintf("%+d at level %d", v[i].Change, v[i].Level)
			}
			first, text := step(want)
			second, other := step(c.VCEC)
			return &verify.Diff{Where: fmt.Sprintf("iteration %d, level %d", c.Iteration, min(first, second)),
				Want: text, Got: other}
		}
	}
	return nil
}

// definition smooths anew, plainly, and counts every kept curve from scratch.
func definition(p *Pipeline, out Answer, _ ask) (*verify.Diff, error) {
	if err := p.Accepted(); err != nil {
		return nil, verify.ErrNotApplicable
	}
	now := grid.NewBuffer(grid.TotalBytes(p))
	if err := p.ReadSlab(now, 0, p.Shape().Slices()); err != nil {
		return nil, err
	}
	next, between := grid.NewBuffer(int64(len(now))), make([]float32, p.Shape().Voxels())
	k := 0
	for i := int64(1); i <= p.Iterations; i++ {
		if isCheckpoint(i, p.Iterations) {
			if k >= len(out.Checkpoints) || out.Checkpoints[k].Iteration != i {
				return &verify.Diff{Where: fmt.Sprintf("iteration %d", i), Want: "a curve", Got: "none"}, nil
			}
			f, err := grid.Trusted(p.Shape(), p.Type(), now, p.Ladder())
			if err != nil {
				return nil, err
			}
			if d := curve(ecc.Enumerate(f), out.Checkpoints[k]); d != nil {
				return d, nil
			}
			k++
		}
		plain(grid.Values[float32](next), grid.Values[float32](now), between, p.Shape().W, p.Shape().H, p.Top(),
			runtime.GOMAXPROCS(0))
		now, next = next, now
	}
	return nil, nil
}

// Top is the highest level of a pipeline's ladder.
func (p *Pipeline) Top() float32 { return p.Ladder().Value(p.Ladder().Len() - 1) }
