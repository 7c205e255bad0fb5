package ask

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"eccbench/datasets/element"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// EveryImpl is the implementation that counts on the ladder of every float32, and images that are
// read once. curveImpls is in the order of speed. It has no device, which needs longer to start
// than a file of its size needs to be read.
const EveryImpl = "extrema"

var curveImpls = []string{EveryImpl, "cpu"}

// A Curve requests the Euler characteristic curve of an image.
type Curve struct {
	Question
	All bool // a row for every level, not only for those where χ changes
	// At are the only values for which the lines are used (ecc.Lines.At); empty for all. The lines
	// may then lack other levels.
	At []grid.Number
	By bench.Workload[grid.Source, ecc.VCEC]
}

// A CurveAnswer is a confirmed curve, or the curves of the slices of an image.
type CurveAnswer struct {
	Name       string // the canonical name of the image
	Lines      ecc.Lines
	Slices     []ecc.Lines
	Provenance ecc.Provenance
}

// A curvePlan is an opened image, the implementation, and the number of evenly spaced values of the
// curve; 0 for the image's own levels.
type curvePlan struct {
	image
	impl string
	even int64
	sets grid.Ladder // of the values of At, if only their sets are counted
}

// plan opens the image in the best way that an implementation accepts. If only levels where χ
// changes have rows, the other levels need not be known.
func (q *Curve) plan() (p curvePlan, err error) {
	o := Opening{Once: q.Impl == "" || q.Impl == EveryImpl, Gaps: q.NaN == NaNMask}
	if q.plain(!q.Mask.IsZero()) {
		o.Levels = q.Levels
	} else {
		p.even = q.Levels
	}
	o.Every = o.Once && (p.even > 0 || !q.All)
	if o.Gaps && !o.Every {
		return p, Usagef("--nan mask works without --all and --format euler, and with --impl %s only: leave them out, or "+
			"replace NaN and pass --mask", EveryImpl)
	}
	for { // try the next opening, which more implementations accept
		if p.image, err = q.open(o, q.At); o.Levels > 0 && errors.As(err, new(element.LevelsError)) {
			p.even, o.Levels, o.Every = q.Levels, 0, o.Once
			continue
		}
		if err != nil {
			return p, Usage(err)
		}
		var refusals []error
		if p.impl = q.Impl; p.impl == "" {
			p.impl, refusals = Fastest(ecc.InConvention(q.By, p.turned), p.upright, q.conditions(), curveImpls...)
		}
		switch {
		case p.impl == "" && o.Every:
			o.Every = false
		case p.impl == "":
			err := fmt.Errorf("%s: no implementation supports it: %w", q.Shown, errors.Join(refusals...))
			return p, errors.Join(err, grid.Close(p.Source))
		case o.Once && p.impl != EveryImpl:
			o.Once = false
		default:
			return p, nil
		}
		if err := grid.Close(p.Source); err != nil {
			return p, err
		}
	}
}

// levelBytes is the memory of a level: its value, χ of the answer and of the witness, sums on two
// cores, and its row.
const levelBytes = 64

// checkLevels returns an error if the levels take more memory than is free.
func (q *Curve) checkLevels(p curvePlan) error {
	n := p.Source.Ladder().Len()
	if p.opening.Every && !q.All || n > grid.MaxLevels {
		return nil // only changing levels are in memory, sorted on disk if there are many; or all levels are rejected
	}
	return q.checkMemory(levelBytes*n, fmt.Sprintf("%d levels take", n), "use evenly spaced ones, --levels")
}

// Answer computes the confirmed curve.
func (q *Curve) Answer() (a CurveAnswer, err error) {
	p, err := q.plan()
	if err != nil {
		return a, err
	}
	defer grid.Close(p.Source)
	if err := q.checkLevels(p); err != nil {
		return a, err
	}
	a.Name = p.name.String()
	if p.sets, err = q.setLevels(p); err != nil {
		return a, err
	}
	sampled := p.sets.Len() > 0
	if sampled { // sets grow, and no set contains masked voxels
		p.turned.Superlevel, p.turned.Masked = false, false
	}
	w, times := q.workload(p)
	if q.Slices {
		if err := q.checkSlices(p.image); err != nil {
			return a, err
		}
	}
	a.Provenance, err = q.run(p.image, times, func(asked grid.Source, by *ecc.Provenance) error {
		if sampled {
			var at []grid.Number
			for k := range p.sets.Len() {
				at = append(at, grid.Numbers(float64(p.sets.Value(k)))...)
			}
			if asked, err = betti.Sets(asked, at, p.convention); err != nil {
				return err
			}
		}
		if q.Slices {
			a.Slices, err = q.answerSlices(w, p, asked, by)
			return err
		}
		a.Lines, err = q.answerWhole(w, p, asked, times == 1, by)
		return err
	})
	if err != nil || p.even == 0 {
		return a, err
	}
	values, err := q.evenly(p.image, p.even)
	if err != nil {
		return a, err
	}
	a.Provenance.Ladder = evenLadder(values)
	return a, sample(values, &a.Lines, a.Slices)
}

// answerWhole computes the curve of an image, in one pass over it if once is set.
func (q *Curve) answerWhole(w bench.Workload[grid.Source, ecc.VCEC], p curvePlan, asked grid.Source, once bool,
	by *ecc.Provenance) (ecc.Lines, error) {
	if once || asked.Ladder().Indexed() {
		stated := statedMemory(w, p.impl, asked, q.conditions())
		if err := q.checkMemory(stated, "the curve takes", MoreMemory); err != nil {
			return ecc.Lines{}, err
		}
	}
	conditions := q.conditions()
	if once && !asked.Ladder().Indexed() { // the image's levels are counted while they are found
		conditions.Memory = q.memory()
	}
	answered, err := Answer(w, p.impl, p.name.String(), asked, conditions, q.limits(), "curve")
	if most := (bench.TooMuch{}); errors.As(err, &most) {
		err = Usagef("%s: more than %s of levels are found, which are free; use evenly spaced ones (--levels) or values (--at)",
			q.Shown, quantity.Bytes(most.Limit))
	}
	by.Implementation, by.Witness, by.Evidence = answered.By, answered.Witness, answered.Evidence
	return q.lines(p, answered.Out), err
}

// sample replaces the lines of an image and of its slices by those at some values.
func sample[L interface {
	Sampled(values []float64) (L, error)
}](values []float64, whole *L, slices []L) (err error) {
	if *whole, err = (*whole).Sampled(values); err != nil {
		return err
	}
	for i := range slices {
		if slices[i], err = slices[i].Sampled(values); err != nil {
			return err
		}
	}
	return nil
}

// workload returns the workload of a plan, and the number of times that it reads the image. A streamed image is counted
// and checked in one pass. For an image in memory the two are separate; a repeating image needs little of it.
func (q *Curve) workload(p curvePlan) (w bench.Workload[grid.Source, ecc.VCEC], times int64) {
	_, whole := p.Source.(*grid.Field)
	switch {
	case q.Slices:
		return ecc.InConvention(q.By, p.turned), 1
	case p.sets.Len() > 0 || !whole && grid.Period(p.Source) == 0 && p.impl == EveryImpl:
		return ecc.InOnePass(q.By, p.turned, 0), 1
	}
	return ecc.InConvention(q.By, p.turned), 2
}

// setLevels returns the ladder of the sets at the values of At. It has no level if the curve at all
// levels is needed, or takes little more time: if levels are few, or are sorted already. Curves of slices are all in
// memory, so they have few levels.
func (q *Curve) setLevels(p curvePlan) (l grid.Ladder, err error) {
	if len(q.At) == 0 || q.Levels > 0 || p.Source.Ladder().Indexed() && !q.Slices || grid.LabelsOf(p.Source) != nil ||
		grid.Period(p.Source) > 0 {
		return l, nil
	}
	levels := make([]float32, len(q.At))
	for i, value := range q.At {
		levels[i] = min(max(betti.Threshold(p.Source, value, q.Superlevel), -math.MaxFloat32), math.MaxFloat32)
	}
	slices.Sort(levels)
	if levels = slices.Compact(levels); len(levels) > betti.MostSets {
		return l, nil
	}
	return grid.Table(levels)
}

// lines returns the lines of an answer. The levels of sets are counted in the order in which they
// grow, and the last level is outside of all.
func (q *Curve) lines(p curvePlan, curve ecc.VCEC) ecc.Lines {
	l, n := ecc.LinesOf(p.Source, curve, p.convention, q.All), p.sets.Len()
	if n == 0 {
		return l
	}
	l.Ladder, l.Curve = p.sets, nil
	for _, s := range curve {
		if s.Level == n {
			break
		}
		if q.Superlevel {
			s.Level = n - 1 - s.Level
		}
		l.Curve = append(l.Curve, s)
	}
	if q.Superlevel {
		slices.Reverse(l.Curve)
	}
	return l
}

// answerSlices returns the curves of the slices of an image. Each is verified separately.
func (q *Curve) answerSlices(
	w bench.Workload[grid.Source, ecc.VCEC], p curvePlan, asked grid.Source, by *ecc.Provenance,
) ([]ecc.Lines, error) {
	conditions := q.conditions()
	conditions.Threads = 1
	answers, err := eachSlice(&q.Question, asked, p.name.String(),
		func(plane *grid.Field, name string) (a Answered[ecc.VCEC], bytes int64, err error) {
			a, err = Answer(w, p.impl, name, grid.Source(plane), conditions, q.limits(), "curve")
			a.Out = slices.Clone(a.Out) // exactly as long as needed
			return a, int64(len(a.Out)) * int64(unsafe.Sizeof(ecc.Step{})), err
		})
	if err != nil {
		return nil, err
	}
	lines := make([]ecc.Lines, len(answers))
	for i, a := range answers {
		lines[i] = q.lines(p, a.Out)
	}
	by.Implementation, by.Witness, by.Evidence = answers[0].By, answers[0].Witness, answers[0].Evidence
	return lines, nil
}
