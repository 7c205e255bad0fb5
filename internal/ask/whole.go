package ask

import (
	"errors"
	"fmt"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
)

// A WholeImage is an image in memory.
type WholeImage struct {
	*grid.Field
	Name datasets.Name
}

// load reads the whole image, for an answer that has no options of sets. what names the answer in
// errors, such as "a flow".
func (q *Question) load(what string) (w WholeImage, err error) { return q.loadBy(what, q.loadOpened) }

// loadBy is load by a function that reads the opened image, and may return nil instead.
func (q *Question) loadBy(what string, read func(grid.Source) (*grid.Field, error)) (w WholeImage, err error) {
	if q.OfSets() || q.Slices || q.Levels > 0 {
		return w, Usagef("%s uses all values of an image: leave --periodic, --nan, --levels and --each-slice out", what)
	}
	o := Opening{Every: true}
	w.Name = o.Of(q.Input)
	opened := q.Follow.Waiting("reading " + q.Shown)
	defer func() {
		if opened(); w.Field != nil {
			q.Follow.Missing(q.Shown, w.Field)
		}
	}()
	if w.Field, err = q.loadNamed(w.Name, read); err == nil || !errors.As(err, new(*grid.NotFiniteError)) {
		return w, err
	}
	o.Every = false // with the distinct values, all values that are not finite are counted
	w.Name = o.Of(q.Input)
	w.Field, err = q.loadNamed(w.Name, read)
	return w, err
}

// loadNamed opens the image with a name for read.
func (q *Question) loadNamed(name datasets.Name, read func(grid.Source) (*grid.Field, error)) (*grid.Field, error) {
	src, err := name.Open(q.memory())
	if err != nil {
		return nil, Usage(err)
	}
	defer grid.Close(src)
	return read(src)
}

// loadOpened loads an opened image.
func (q *Question) loadOpened(src grid.Source) (*grid.Field, error) {
	what := fmt.Sprintf("an image of %s takes", grid.Extent(src))
	if err := q.fits(grid.TotalBytes(src), q.memory(), what, MoreMemory); err != nil {
		return nil, err
	}
	f, err := grid.Load(src)
	if err == nil {
		err = grid.Unchanged(src)
	}
	if err != nil {
		return nil, err
	}
	return f.Lacking(grid.Missing(src)), nil
}

// loadOther reads another image whole, at the places of image; option names it in errors.
func (q *Question) loadOther(image datasets.Name, option string, other datasets.Name) (*grid.Field, error) {
	if err := checkPlaces(image, other, ""); err != nil {
		return nil, Usage(err)
	}
	f, err := q.loadNamed(Opening{Every: true}.Of(other), q.loadOpened)
	if err != nil {
		return nil, errorOfOther(option, err)
	}
	return f, nil
}

// tellTime reports the estimated time of an answer and of its cheapest witness.
func tellTime[In, Out any](q *Question, w bench.Workload[In, Out], impl string, in In, conditions bench.Conditions) {
	witness, _ := w.Policy.Costs(in, 0, 0)
	q.Follow.Takes(q.Shown, statedTime(w, impl, in, conditions)+witness)
}

// answerWhole answers a question about a whole image and confirms the answer. It uses the requested
// implementation, or the first in order that accepts the image. what names the answer: "field".
func answerWhole[In interface {
	Check() error
	AnswerBytes() int64
}, Out any](
	q *Question, w bench.Workload[In, Out], image WholeImage, in In, what string, order ...string,
) (a Answered[Out], err error) {
	if err := in.Check(); err != nil {
		return a, Usagef("%s: %w", q.Shown, err)
	}
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: q.Threads}, Memory: q.memory()}
	impl, err := Choose(w, q.Impl, q.Shown, in, conditions, order...)
	if err != nil {
		return a, err
	}
	// The witness uses the memory of the computation again, except for the answer.
	need := max(statedMemory(w, impl, in, conditions), in.AnswerBytes()+w.Policy.Memory(in))
	if err := q.checkMemory(need, "the "+what+" takes", MoreMemory); err != nil {
		return a, err
	}
	tellTime(q, w, impl, in, conditions)
	done := q.Follow.Waiting("finding and checking the " + what)
	defer done()
	return Answer(w, impl, image.Name.String(), in, conditions, q.limits(), what)
}
