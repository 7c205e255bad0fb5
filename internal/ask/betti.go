package ask

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"eccbench/impls/betti/rings"
	"eccbench/impls/betticurves/bylevel"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/flood"
	"eccbench/internal/workloads/betti/unions"
	"eccbench/internal/workloads/ecc"
)

// bettiImpls are in the order of speed.
var bettiImpls = []string{"duality", "labels"}

// A Betti requests the Betti numbers of the sets of an image, at every level where one changes or
// at given values.
type Betti struct {
	Question
	At     []grid.Number // values of the sets; empty for every level
	By     atWorkload
	Curves curvesWorkload
}

// A BettiAnswer is confirmed Betti numbers: at each value of At, or at every level; for slices, per
// slice.
type BettiAnswer struct {
	Name         string // the canonical name of the image
	Numbers      []betti.Numbers
	Lines        betti.Lines
	SliceNumbers [][]betti.Numbers
	SliceLines   []betti.Lines
	Provenance   ecc.Provenance
}

// bettis are the answers about an image or a slice.
type bettis struct {
	numbers           []betti.Numbers
	curves            betti.Curves
	by                string
	witness, evidence []string
}

// add records the implementation and its witness.
func (b *bettis) add(by, witness, evidence string) {
	b.by = by
	if !slices.Contains(b.witness, witness) {
		b.witness = append(b.witness, witness)
	}
	if !slices.Contains(b.evidence, evidence) {
		b.evidence = append(b.evidence, evidence)
	}
}

type (
	atWorkload     = bench.Workload[*betti.Image, betti.Numbers]
	curvesWorkload = bench.Workload[grid.Source, betti.Curves]
)

// BettiAt returns the workload of the Betti numbers of a set in a convention, and its
// implementations in the order of speed. With periodic axes there is one implementation.
func BettiAt(w atWorkload, c ecc.Convention) (in atWorkload, impls []string) {
	if c.Periodic == (grid.Axes{}) {
		return betti.InConvention(w, c), bettiImpls
	}
	by := rings.Implementation{In: c}
	return betti.OnRings(by, c), []string{by.About().Name}
}

// BettiCurves does the same as BettiAt for the numbers at every level.
func BettiCurves(w curvesWorkload, c ecc.Convention) (in curvesWorkload, impls []string) {
	if c.Periodic == (grid.Axes{}) {
		return betti.CurvesInConvention(w, c), bettiImpls
	}
	by := bylevel.Implementation{Of: rings.Implementation{In: c}, Superlevel: c.Superlevel}
	return betti.CurvesOnRings(by, c), []string{by.About().Name}
}

// Answer computes the confirmed Betti numbers.
func (q *Betti) Answer() (a BettiAnswer, err error) {
	// With periodic axes the set at every level is counted, so the levels are not all float32 values.
	gaps, ringed := q.NaN == NaNMask, len(q.Periodic) > 0 && len(q.At) == 0
	i, err := q.open(Opening{Every: gaps || !ringed, Gaps: gaps}, q.At)
	if err != nil {
		return a, Usage(err)
	}
	defer grid.Close(i.Source)
	a.Name = i.name.String()
	// Keep the bits of a set if they need at most an eighth of the memory.
	keeping := flood.KeptBytes(i.Source) <= q.memory()/8 && i.convention.Periodic == (grid.Axes{})
	reads := int64(4) // for the counts, the minima, the links and the fingerprint
	switch {
	case q.Slices:
		if reads, err = 1, q.checkSlices(i); err != nil {
			return a, err
		}
	case len(q.At) > 0 && keeping:
		reads = int64(len(q.At))
	case len(q.At) > 0:
		reads = int64(2 * len(q.At)) // for the answer and the flood fill
	}
	a.Provenance, err = q.run(i, reads, func(asked grid.Source, p *ecc.Provenance) error {
		answer := q.answerImage
		if q.Slices {
			answer = q.answerSlices
		}
		b, err := answer(i, asked, keeping, &a)
		p.Implementation, p.Witness, p.Evidence = b.by, strings.Join(b.witness, ", "), strings.Join(b.evidence, ", ")
		return err
	})
	if err != nil || q.Levels == 0 {
		return a, err
	}
	values, err := q.evenly(i, q.Levels)
	if err != nil {
		return a, err
	}
	a.Provenance.Ladder = evenLadder(values)
	return a, sample(values, &a.Lines, a.SliceLines)
}

// answerImage answers for the whole image.
func (q *Betti) answerImage(i image, asked grid.Source, keeping bool, a *BettiAnswer) (b bettis, err error) {
	if len(q.At) == 0 {
		b, err = q.answerCurves(i, a.Name, asked, q.conditions())
		a.Lines = betti.LinesOf(i.Source, b.curves, i.convention)
		return b, err
	}
	b, err = q.answerAt(i, a.Name, asked, keeping, q.conditions())
	a.Numbers = b.numbers
	return b, err
}

// answerSlices answers for each slice separately.
func (q *Betti) answerSlices(i image, asked grid.Source, _ bool, a *BettiAnswer) (b bettis, err error) {
	conditions := q.conditions()
	conditions.Threads = 1
	one := func(plane *grid.Field, name string) (b bettis, bytes int64, err error) {
		if len(q.At) == 0 {
			b, err = q.answerCurves(i, name, plane, conditions)
			b.curves = slices.Clone(b.curves) // exactly as long as needed
			return b, int64(len(b.curves)) * int64(unsafe.Sizeof(b.curves[0])), err
		}
		b, err = q.answerAt(i, name, plane, false, conditions)
		return b, 0, err
	}
	all, err := eachSlice(&q.Question, asked, i.name.String(), one)
	if err != nil {
		return b, err
	}
	for _, one := range all {
		if len(q.At) > 0 {
			a.SliceNumbers = append(a.SliceNumbers, one.numbers)
		} else {
			a.SliceLines = append(a.SliceLines, betti.LinesOf(i.Source, one.curves, i.convention))
		}
	}
	return all[0], nil
}

// answerCurves answers at every level.
func (q *Betti) answerCurves(i image, name string, asked grid.Source, conditions bench.Conditions) (b bettis,
	err error) {
	w, impls := BettiCurves(q.Curves, i.turned)
	if i.turned.Periodic != (grid.Axes{}) { // the image is read for every level
		if asked, err = grid.Load(asked); err != nil {
			return b, err
		}
	}
	impl, err := Choose(w, q.Impl, name, asked, conditions, impls...)
	if err != nil {
		return b, err
	}
	if !q.Slices {
		need := max(unions.Bytes(asked), statedMemory(w, impl, asked, conditions))
		if err := q.checkMemory(need, "curves take", "compute the numbers at some values (--at)"); err != nil {
			return b, err
		}
	}
	tellTime(&q.Question, w, impl, asked, conditions)
	answered, err := Answer(w, impl, name, asked, conditions, q.limits(), "answer")
	if err != nil {
		return b, err
	}
	b.add(answered.By, answered.Witness, answered.Evidence)
	b.curves = answered.Out
	return b, nil
}

// checkBetti returns conditions with as many cores as fit into the memory, or an error if one core takes more than is
// free. The witness works while the answer is computed if the bits of sets are kept, otherwise after it.
func (q *Betti) checkBetti(w atWorkload, asked grid.Source, keeping bool, c bench.Conditions, impls []string) (
	bench.Conditions, error) {
	in, free := &betti.Image{Source: asked}, q.memory()
	for c.Threads = max(1, c.Threads); ; c.Threads-- {
		impl, err := Choose(w, q.Impl, q.Shown, in, c, impls...)
		if err != nil {
			return c, err
		}
		need, check := statedMemory(w, impl, in, c), flood.Bytes(asked, runtime.GOMAXPROCS(0))
		if keeping {
			need += check + flood.KeptBytes(asked)
		}
		need = max(need, check)
		if c.Threads == 1 || free <= 0 || need <= free {
			return c, q.checkMemory(need, "Betti numbers take", MoreMemory)
		}
	}
}

// answerAt answers at the requested values. An image whose bits are kept is packed for the flood
// fill while it is read for the answer.
func (q *Betti) answerAt(
	i image, name string, asked grid.Source, keeping bool, conditions bench.Conditions,
) (b bettis, err error) {
	w, impls := BettiAt(q.By, i.turned)
	if !q.Slices && i.turned.Periodic == (grid.Axes{}) {
		if conditions, err = q.checkBetti(w, asked, keeping, conditions, impls); err != nil {
			return b, err
		}
	}
	for _, value := range q.At {
		in := &betti.Image{Source: asked, Threshold: betti.Threshold(i.Source, value, q.Superlevel)}
		if keeping {
			in = betti.Keeping(in, i.turned)
		}
		impl, err := Choose(w, q.Impl, name, in, conditions, impls...)
		if err != nil {
			return b, err
		}
		answered, err := Answer(w, impl, name, in, conditions, q.limits(), fmt.Sprintf("answer at %v", value))
		if err != nil {
			return b, err
		}
		b.add(answered.By, answered.Witness, answered.Evidence)
		b.numbers = append(b.numbers, answered.Out)
	}
	return b, nil
}
