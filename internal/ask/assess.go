package ask

import (
	"cmp"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/assess"
)

// An Assess requests a comparison of the topology of a prediction, the image of the question, with
// its ground truth.
type Assess struct {
	Question
	Truth  Question
	Labels []float64 // empty for all labels of both images
	Groups []assess.Group
	// AnyGeometry accepts files that place their voxels differently in space.
	AnyGeometry bool

	By bench.Workload[*assess.Pair, assess.Comparisons]
}

// An AssessAnswer is a confirmed comparison.
type AssessAnswer struct {
	Answered[assess.Comparisons]
	Pred, Truth WholeImage
	Pair        *assess.Pair
}

// Answer computes the confirmed comparison.
func (q *Assess) Answer() (a AssessAnswer, err error) {
	if err := q.checkPlaces(); err != nil {
		return a, err
	}
	if a.Pred, err = q.load("a comparison"); err != nil {
		return a, err
	}
	if a.Truth, err = q.Truth.load("a comparison"); err != nil {
		return a, err
	}
	if a.Pair, err = assess.NewPair(a.Pred.Field, a.Truth.Field, q.Labels, q.Groups); err != nil {
		return a, Usagef("%s and %s: %w", q.Shown, q.Truth.Shown, err)
	}
	done := q.Follow.Waiting("comparing and checking " + q.Shown)
	defer done()
	a.Answered, err = q.Compare(a.Pred.Name, a.Pair)
	return a, err
}

// checkPlaces reads the headers of both images.
func (q *Assess) checkPlaces() error {
	if q.AnyGeometry {
		return nil
	}
	pred, err := q.Input(Opening{Every: true})
	if err != nil {
		return err
	}
	truth, err := q.Truth.Input(Opening{Every: true})
	if err != nil {
		return err
	}
	if err := checkPlaces(pred, truth, ", or give --ignore-geometry"); err != nil {
		return Usage(err)
	}
	return nil
}

// Compare compares a pair of images, such as a patch of the images of the question.
func (q *Assess) Compare(name string, p *assess.Pair) (a Answered[assess.Comparisons], err error) {
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: q.Threads}, Memory: q.memory()}
	impl := cmp.Or(q.Impl, "runs")
	q.Follow.ShowMemory(q.Shown, StatedMemory(q.By, impl, p, conditions), conditions.Memory)
	return Answer(q.By, impl, name, p, conditions, q.limits(), "comparison")
}
