package runner

import (
	"bytes"
	"fmt"
	"runtime"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/verify"
)

// mostReread is the largest size of an input for reread. For larger inputs, an answer from memory
// would exceed the ceiling anyway.
const mostReread = 4 << 20

// reread detects an implementation that reuses an earlier answer or input. It binds the
// implementation to a copy of the first input and gets its answer. Then it poisons the answer,
// which must leave nothing of it. Finally it overwrites the copy with another input of the same
// kind: the next answer must be about the new bytes.
//
// It returns no evidence unless the scope is e2e, the input is small and repeats nothing, and the
// input reads the shared bytes directly. It is not needed after calls about unseen inputs.
func (r *trial[In, Out]) reread(start time.Time) ([]verify.Evidence, error) {
	left := r.t.Budget - r.clock.Since(start)
	applies := r.t.Shared && len(r.record.Unseen) == 0 && r.t.Extent(0).Size == 0 && r.t.Conditions.Scope == bench.E2E
	if !applies || 4*r.perCall > left {
		return nil, nil
	}
	first, err := memfile.MapWhole(r.files.Inputs[0])
	if err != nil {
		return nil, err
	}
	defer memfile.Unmap(first)
	if len(first) == 0 || len(first) > mostReread {
		return nil, nil
	}
	name, second, done, err := r.nextVariant()
	if done != nil {
		defer done()
	}
	if err != nil || len(second) != len(first) || bytes.Equal(second, first) {
		return nil, err
	}
	place, err := memfile.NewRegion(int64(len(first)))
	if err != nil {
		return nil, err
	}
	defer place.Close()
	copy(place.Mapped, first)
	in, err := r.b.w.Inputs.Attach(place.Mapped)
	if err != nil {
		return nil, err
	}
	job, err := r.impl.Setup(in, r.t.Conditions)
	if exhausted(err) {
		return nil, nil // there is no memory for one more job
	}
	if err != nil {
		return nil, fmt.Errorf("setting up %s on %s: %w", r.t.Impl, r.t.Inputs[0], err)
	}
	defer job.Close()
	if diff, err := r.leftOver(job); diff != nil || err != nil {
		return diff, err
	}
	copy(place.Mapped, second)
	if other, ok := job.(bench.Renewable[In]); ok {
		if err := other.Renew(in); err != nil {
			return nil, err
		}
	}
	if view, err := r.b.isView(in, second); err != nil || !view {
		return nil, err
	}
	out, err := r.answerOf(job, name)
	if err != nil {
		return nil, err
	}
	return r.checkRenewed(start, name, in, out), nil
}

// checkRenewed returns the evidence of the witnesses for the answer of an input that took the place of the first.
func (r *trial[In, Out]) checkRenewed(start time.Time, name string, in In, out Out) (all []verify.Evidence) {
	for _, e := range r.b.w.Policy.Check(verify.Question[In, Out]{
		Name: name, In: in, Out: out, Ask: r.ask, PerCall: r.perCall, Budget: r.t.Budget - r.clock.Since(start),
		Now: r.clock.Now,
	}) {
		if e.Passed || e.Diff != nil {
			e.Witness += ", of an input that took the place of " + r.t.Inputs[0]
			all = append(all, e)
		}
	}
	return all
}

// leftOver returns evidence against a job of a copy of the first input, whose answer differs or is left after poison.
func (r *trial[In, Out]) leftOver(job bench.Job[Out]) ([]verify.Evidence, error) {
	before, err := r.answerOf(job, r.t.Inputs[0])
	if err != nil {
		return nil, err
	}
	digest, err := r.b.digest(before, nil)
	if err != nil {
		return nil, r.undecoded(0, err)
	}
	refute := func(witness, want, got string) ([]verify.Evidence, error) {
		return []verify.Evidence{{Input: r.t.Inputs[0], Witness: witness,
			Diff: &verify.Diff{Where: "the answer as it is written", Want: want, Got: got}}}, nil
	}
	if given := r.given[0].first.digest; r.exact() && digest != given {
		return refute("gives one answer every time", given, digest+" (to a copy of the input)")
	}
	if job.Poison(); r.impl.About().Where != "cpu" { // poisoned buffers of a device may be unreadable
		return nil, nil
	}
	left, err := job.Out()
	if err != nil { // poisoned buffers may be no valid answer
		return nil, nil
	}
	now, err := r.b.digest(left, nil)
	if err != nil {
		return nil, r.undecoded(0, err)
	}
	if now == digest {
		return refute("nothing is left of an answer that is overwritten", "another one", digest)
	}
	return nil, nil
}

// answerOf returns the answer of a job about a named input.
func (r *trial[In, Out]) answerOf(job bench.Job[Out], name string) (out Out, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.t.Conditions.Threads)) // as in the timed calls
	job.Poison()
	if err = job.Do(nil); err == nil {
		out, err = job.Out()
	}
	if err != nil {
		var none Out
		return none, fmt.Errorf("%s on %s: %w", r.t.Impl, name, err)
	}
	return out, nil
}

// nextVariant returns the name and the bytes of another input of the same kind, or nil bytes. The
// caller calls done to release them, unless it is nil.
func (r *trial[In, Out]) nextVariant() (name string, mapped []byte, done func(), err error) {
	if len(r.files.Inputs) > 1 {
		mapped, err = memfile.MapWhole(r.files.Inputs[1])
		return r.t.Inputs[1], mapped, func() { memfile.Unmap(mapped) }, err
	}
	names, err := r.b.w.Inputs.Variants(r.t.Inputs[0], 2)
	if err != nil || len(names) < 2 {
		return "", nil, nil, err
	}
	f, err := memfile.New(names[1])
	if err != nil {
		return "", nil, nil, err
	}
	done = func() { memfile.Unmap(mapped); f.Close() } // the file has no name and is in memory: nothing is lost
	if _, err = r.b.share(names[1], f); err == nil {
		memfile.Seal(f)
		mapped, err = memfile.MapWhole(f)
	}
	return names[1], mapped, done, err
}

// isView reports whether an input changes with the bytes that it was attached to.
func (b *bound[In, Out]) isView(in In, now []byte) (bool, error) {
	f, err := memfile.New("what an input is now")
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := b.w.Inputs.Share(in, f); err != nil {
		return false, err
	}
	seen, err := memfile.MapWhole(f)
	defer memfile.Unmap(seen)
	return bytes.Equal(seen, now), err
}
