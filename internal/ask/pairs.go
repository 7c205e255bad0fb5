package ask

import (
	"fmt"
	"unsafe"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// pairsImpls are in the order of speed.
var pairsImpls = []string{"morse", "definition"}

// PairsField is the field of coefficients of persistence pairs, as provenances name it.
const PairsField = "GF(2)"

// Pairs requests the persistence pairs of the sets of an image.
type Pairs struct {
	Question
	By pairsWorkload
}

type pairsWorkload = bench.Workload[grid.Source, pairs.Answer]

// A PairsAnswer is the confirmed pairs of an image, or of each of its slices.
type PairsAnswer struct {
	Name       string // the canonical name of the image
	Lines      pairs.Lines
	Slices     []pairs.Lines
	Provenance ecc.Provenance
}

// PeriodicPairs is the reason why images with periodic axes have no pairs here.
const PeriodicPairs = "persistence pairs are of images that are not periodic: leave the periodic axes out"

// Answer computes the confirmed pairs. The whole image is in memory, except for answers for slices.
func (q *Pairs) Answer() (a PairsAnswer, err error) {
	if len(q.Periodic) > 0 {
		return a, Usagef("--periodic: %s", PeriodicPairs)
	}
	every := q.Question
	every.Levels = 0 // all values are told apart, and then moved to levels
	i, err := every.open(Opening{Every: true, Gaps: q.NaN == NaNMask}, nil)
	if err != nil {
		return a, Usage(err)
	}
	defer grid.Close(i.Source)
	a.Name, i.placed = i.name.String(), true
	w := pairs.InConvention(q.By, i.convention)
	if q.Slices {
		if err := q.checkSlices(i); err != nil {
			return a, err
		}
	}
	a.Provenance, err = q.run(i, 1, func(asked grid.Source, p *ecc.Provenance) error {
		answer := q.answerWhole
		if q.Slices {
			answer = q.answerSlices
		}
		p.Coefficients = PairsField
		return answer(w, i, asked, p, &a)
	})
	if err != nil || q.Levels == 0 {
		return a, err
	}
	values, err := q.evenly(i, q.Levels)
	if err != nil {
		return a, err
	}
	a.Provenance.Ladder = evenLadder(values)
	return a, sample(values, &a.Lines, a.Slices)
}

// answerWhole answers for the whole image.
func (q *Pairs) answerWhole(w pairsWorkload, i image, asked grid.Source, p *ecc.Provenance, a *PairsAnswer) error {
	whole := fmt.Sprintf("an image of %s takes", grid.Extent(asked))
	if err := q.fits(grid.TotalBytes(asked), q.memory(), whole, MoreMemory); err != nil {
		return err
	}
	f, err := grid.Load(asked)
	if err != nil {
		return err
	}
	in, conditions := grid.Source(f), q.conditions()
	impl, err := Choose(w, q.Impl, q.Shown, in, conditions, pairsImpls...)
	if err != nil {
		return err
	}
	need := max(statedMemory(w, impl, in, conditions), w.Policy.Memory(in))
	if err := q.checkMemory(need, "the pairs take", MoreMemory); err != nil {
		return err
	}
	tellTime(&q.Question, w, impl, in, conditions)
	conditions.Memory = q.memory() // for an implementation that knows its need only while it works
	done := q.Follow.Waiting("finding and checking the pairs")
	defer done()
	answered, err := Answer(w, impl, a.Name, in, conditions, q.limits(), "answer")
	if err != nil {
		return err
	}
	p.Implementation, p.Witness, p.Evidence = answered.By, answered.Witness, answered.Evidence
	a.Lines = pairs.LinesOf(f, answered.Out.Pairs, i.convention)
	return nil
}

// answerSlices answers for each slice separately.
func (q *Pairs) answerSlices(w pairsWorkload, i image, asked grid.Source, p *ecc.Provenance, a *PairsAnswer) error {
	conditions := q.conditions()
	conditions.Threads = 1
	type slice struct {
		Answered[pairs.Answer]
		lines pairs.Lines
	}
	all, err := eachSlice(&q.Question, asked, a.Name, func(plane *grid.Field, name string) (s slice, _ int64, err error) {
		impl, err := Choose(w, q.Impl, name, grid.Source(plane), conditions, pairsImpls...)
		if err != nil {
			return s, 0, err
		}
		if s.Answered, err = Answer(w, impl, name, grid.Source(plane), conditions, q.limits(), "answer"); err != nil {
			return s, 0, err
		}
		s.lines = pairs.LinesOf(plane.Labelled(grid.LabelsOf(i.Source)), s.Out.Pairs, i.convention)
		s.Out = pairs.Answer{}
		return s, s.lines.Len() * int64(unsafe.Sizeof(pairs.Line{})), nil
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		a.Slices = append(a.Slices, s.lines)
	}
	p.Implementation, p.Witness, p.Evidence = all[0].By, all[0].Witness, all[0].Evidence
	return nil
}
