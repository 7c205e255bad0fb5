package ask

import (
	"cmp"

	"eccbench/datasets"
	"eccbench/datasets/files/format"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// An Assess requests a comparison of the topology of a prediction, the image of the question, with
// its ground truth.
type Assess struct {
	Question
	Truth  Question
	Labels []grid.Number // empty for all labels of both images
	Groups []assess.Group
	// AnyGeometry accepts files that place their voxels differently in space.
	AnyGeometry bool

	By bench.Workload[*assess.Pair, assess.Comparisons]
}

// An AssessAnswer is a confirmed comparison.
type AssessAnswer struct {
	Answered[assess.Comparisons]
	PredName, TruthName datasets.Name
	Pair                *assess.Pair
	Dims                int // of the truth; 3 for a volume of one slice too
}

// Answer computes the confirmed comparison.
func (q *Assess) Answer() (a AssessAnswer, err error) {
	if err := q.checkPlaces(); err != nil {
		return a, err
	}
	if err := q.read(&a); err != nil {
		return a, err
	}
	done := q.Follow.Waiting("comparing and checking " + q.Shown)
	defer done()
	a.Answered, err = q.Compare(a.PredName.String(), a.Pair)
	return a, err
}

// read pairs both images. Two binary masks in files of plain bytes are packed as they are read, and never loaded.
func (q *Assess) read(a *AssessAnswer) error {
	const what = "a comparison"
	var truth WholeImage
	readTruth := func(pred grid.Source) (err error) {
		truth, err = q.Truth.loadBy(what, func(src grid.Source) (_ *grid.Field, err error) {
			if a.Dims = grid.Dim(src); pred != nil && q.isPlain(src) {
				if a.Pair, err = assess.PackPair(pred, src, q.Labels, q.Groups, q.conditions().Cores()); a.Pair != nil {
					err = cmp.Or(grid.Unchanged(pred), grid.Unchanged(src))
				}
				if a.Pair != nil || err != nil {
					return nil, err
				}
			}
			return q.Truth.loadOpened(src)
		})
		return err
	}
	pred, err := q.loadBy(what, func(src grid.Source) (*grid.Field, error) {
		if q.isPlain(src) {
			if err := readTruth(src); err != nil || a.Pair != nil {
				return nil, err
			}
		}
		return q.loadOpened(src)
	})
	if err == nil && a.Pair == nil && truth.Field == nil {
		err = readTruth(nil)
	}
	if a.PredName, a.TruthName = pred.Name, truth.Name; err != nil || a.Pair != nil {
		return err
	}
	if a.Pair, err = assess.NewPair(pred.Field, truth.Field, q.Labels, q.Groups); err != nil {
		return Usagef("%s and %s: %w", q.Shown, q.Truth.Shown, err)
	}
	return nil
}

// isPlain reports whether an image is a local file of plain bytes, which can be read twice, and fits into memory as
// bits with the other one.
func (q *Question) isPlain(s grid.Source) bool {
	file, is := s.(*format.Stream)
	free := q.memory()
	return is && s.Type() == grid.Uint8 && !file.InBulk() && (free <= 0 || grid.TotalBytes(s)/2 <= free)
}

// checkPlaces reads the headers of both images.
func (q *Assess) checkPlaces() error {
	if q.AnyGeometry {
		return nil
	}
	if err := checkPlaces(q.Input, q.Truth.Input, ", or give --ignore-geometry"); err != nil {
		return Usage(err)
	}
	return nil
}

// Compare compares a pair of images, such as a patch of the images of the question.
func (q *Assess) Compare(name string, p *assess.Pair) (a Answered[assess.Comparisons], err error) {
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: q.Threads}, Memory: q.memory()}
	impl := cmp.Or(q.Impl, "runs")
	q.Follow.ShowMemory(q.Shown, statedMemory(q.By, impl, p, conditions), conditions.Memory)
	return Answer(q.By, impl, name, p, conditions, q.limits(), "comparison")
}
