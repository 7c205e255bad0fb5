package runner

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
)

// unseen makes every timed call of another process about an input with a random seed, which did not
// exist before. It keeps a random sample of the answers. The process cannot know which ones are judged.
type unseen struct {
	calls int
	most  int // number of answers to keep
	names []string
	kept  []*answerCopy
	done  func() // closes the current inputs
}

// close releases the inputs of the last calls.
func (u *unseen) close() {
	u.done()
	u.done = func() {}
}

// Limits of the answers that are kept: their number, and their bytes. The time to judge them is a
// share of the time to measure. leastJudged applies in any case, besides the answer to the first input.
const (
	mostJudged  = 32
	judgedShare = 2
	mostKept    = 512 << 20
	leastJudged = 2
)

// renews reports whether the timed calls are about unseen inputs.
func (r *trial[In, Out]) renews() bool {
	seeded, ok := bench.As[bench.Seeded](r.b.w.Inputs)
	if !ok || r.t.Sampling == nil || seeded.Reseed(r.t.Inputs[0], 0) == "" {
		return false
	}
	job, ok := r.jobs[0].(bench.Renewable[In])
	return ok && job.Renews()
}

// beginUnseen makes all calls but the first about unseen inputs. So only the first input of the task
// has an answer to judge.
func (r *trial[In, Out]) beginUnseen() {
	r.t.Inputs, r.inputs, r.given = r.t.Inputs[:1], r.inputs[:1], r.given[:1]
	r.witness, r.others = r.witness[:min(1, len(r.witness))], r.others[:min(1, len(r.others))]
	r.unseen = &unseen{done: func() {}}
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
	least, _ := r.b.w.Policy.Costs(r.inputs[0], r.perCall, 0)
	most := min(mostJudged, mostKept/max(1, size.Size()), int64(r.t.Sampling.MaxTime/judgedShare/max(1, least)))
	r.unseen.calls, r.unseen.most = 0, int(max(most, leastJudged))
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
	u := r.unseen
	u.calls++
	at := len(u.kept)
	switch {
	case at < u.most:
		u.names, u.kept = append(u.names, ""), append(u.kept, nil)
	case u.most == 0:
		return nil
	default:
		if at = rand.IntN(u.calls); at >= u.most {
			return nil
		}
		u.kept[at].close(true)
	}
	var err error
	if u.kept[at], err = r.b.keep(out, 1, nil); err != nil {
		return err
	}
	u.names[at] = r.current
	memfile.Seal(u.kept[at].file)
	return nil
}

// endUnseen adds the kept answers to the judged ones, and returns to the first input.
func (r *trial[In, Out]) endUnseen() error {
	u := r.unseen
	if u == nil {
		return nil
	}
	r.unseen = nil
	u.close()
	r.record.Inputs, r.record.Unseen = r.t.Inputs, u.names
	for k, name := range u.names {
		in, err := r.b.w.Inputs.Open(name)
		if err != nil {
			return err
		}
		r.t.Inputs, r.inputs = append(slices.Clip(r.t.Inputs), name), append(slices.Clip(r.inputs), in)
		r.given = append(slices.Clip(r.given), &answerPair[Out]{name: name, calls: 1, first: u.kept[k]})
		if r.others != nil {
			r.others = append(r.others, nil)
		}
	}
	return r.jobs[0].(bench.Renewable[In]).Renew(r.inputs[0])
}
