package runner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/verify"
)

// unseen makes every timed call of another process about an input with a random seed, which did not
// exist before. It keeps a random sample of the answers. The process cannot know which ones are judged.
type unseen struct {
	known []string // the task's inputs, which calls that warm up have because they take no time to make
	calls int
	most  int    // number of answers to keep
	done  func() // closes the current inputs
}

// close releases the inputs of the last calls.
func (u *unseen) close() {
	u.done()
	u.done = func() {}
}

// Limits of the answers that are kept: their number, and their bytes. The time to judge them is a
// share of the time to measure. One is judged in any case, besides the answer to the first input.
const (
	mostJudged  = 32
	judgedShare = 2
	mostKept    = 512 << 20
)

// beginUnseen makes all calls but the first about unseen inputs, if there are any. So only the first input of the
// task has an answer to judge.
func (r *trial[In, Out]) beginUnseen() {
	seeded, ok := bench.As[bench.Seeded](r.b.w.Inputs)
	if !ok || r.t.Sampling == nil || seeded.Reseed(r.t.Inputs[0], 0) == "" {
		return
	}
	if job, ok := r.jobs[0].(bench.Renewable[In]); !ok || !job.Renews() {
		return
	}
	r.unseen = &unseen{known: r.t.Inputs, done: func() {}}
	r.t.Inputs, r.inputs, r.given = r.t.Inputs[:1], r.inputs[:1], r.given[:1]
	r.witness, r.others = r.witness[:min(1, len(r.witness))], r.others[:min(1, len(r.others))]
}

// keepUnseen begins to keep answers.
func (r *trial[In, Out]) keepUnseen() error {
	if r.unseen == nil {
		return nil
	}
	size, err := r.given[0].first.file.Stat()
	if err != nil {
		return err
	}
	r.unseen.calls, r.unseen.most = 0, int(max(1, min(mostJudged, mostKept/max(1, size.Size()))))
	return nil
}

// mostDraws is the number of seeds to try. A question may not be valid for all images, such as a flow
// that grows without bound.
const mostDraws = 8

// renew gives a job an unseen input.
func (r *trial[In, Out]) renew(job bench.Job[Out]) (err error) {
	seeded, _ := bench.As[bench.Seeded](r.b.w.Inputs)
	for range mostDraws {
		r.current = seeded.Reseed(r.t.Inputs[0], rand.Uint64())
		in, failed := r.b.w.Inputs.Open(r.current)
		if err = failed; err == nil {
			before := r.unseen.done
			r.unseen.done = func() { before(); closeInput(in) }
			return job.(bench.Renewable[In]).Renew(in)
		}
	}
	return fmt.Errorf("%s: %w", r.current, err)
}

// takeUnseen keeps the answer of a call, each of the calls with the same probability.
func (r *trial[In, Out]) takeUnseen(out Out) error {
	r.unseen.calls++
	at := len(r.kept)
	if at >= r.unseen.most {
		if at = rand.IntN(r.unseen.calls); at >= r.unseen.most {
			return nil
		}
		r.kept[at].first.close(true)
	} else {
		r.kept = append(r.kept, new(answerPair[Out]))
	}
	k, err := r.b.keep(out, 1, nil)
	if err != nil {
		return err
	}
	memfile.Seal(k.file)
	r.kept[at] = &answerPair[Out]{name: r.current, calls: 1, first: k}
	return nil
}

// endUnseen returns to the first input.
func (r *trial[In, Out]) endUnseen() error {
	if r.unseen == nil {
		return nil
	}
	r.unseen.close()
	r.unseen, r.record.Inputs = nil, r.t.Inputs
	rand.Shuffle(len(r.kept), func(i, k int) { r.kept[i], r.kept[k] = r.kept[k], r.kept[i] })
	return r.jobs[0].(bench.Renewable[In]).Renew(r.inputs[0])
}

// confirmUnseen judges kept answers: one, and more while all of them take a share of the time to measure. The
// time of the next one is the mean of those before.
func (r *trial[In, Out]) confirmUnseen(start time.Time) (all []verify.Evidence, err error) {
	if len(r.kept) == 0 {
		return nil, nil
	}
	for began := r.clock.Now(); len(r.kept) > 0; {
		n := time.Duration(len(r.record.Unseen))
		if n > 0 && r.clock.Since(began)/n*(n+1) > r.t.Sampling.MaxTime/judgedShare {
			break
		}
		g := r.kept[0]
		in, err := r.b.w.Inputs.Open(g.name)
		if err != nil {
			return nil, err
		}
		r.kept, r.given = r.kept[1:], append(slices.Clip(r.given), g)
		r.t.Inputs, r.inputs = append(slices.Clip(r.t.Inputs), g.name), append(slices.Clip(r.inputs), in)
		r.others, r.record.Unseen = append(r.others, nil), append(r.record.Unseen, g.name)
		e, _, err := r.confirmInput(len(r.given)-1, start, 1)
		if closeInput(in); err != nil {
			return nil, err
		}
		all = append(all, e...)
	}
	return all, nil
}
