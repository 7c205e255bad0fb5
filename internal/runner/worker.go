package runner

import (
	"errors"
	"fmt"
	"io"
	"os"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/memfile"
	"eccbench/internal/peers"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// Work is the main function of a worker process. benches returns the workloads, with the task's peer
// if it has one. Samples are measured with clock.
func Work(benches func(*peers.Peer) []Bench, stdin io.Reader, clock worker.Clock) error {
	var peer *peers.Peer // the same for all tasks
	defer func() {
		if peer != nil {
			peer.Release()
		}
	}()
	return worker.Serve(stdin, func(t worker.Task, f worker.Files, tell worker.Teller) (bench.CellRecord, error) {
		if peer == nil && t.Peer != nil {
			peer = t.Peer
			peer.Hold()
		} else if peer != nil {
			t.Peer = peer
		}
		if peer != nil && !peer.Own {
			peer.Limit = t.Reply
		}
		b, err := Find(benches(t.Peer), t.Workload)
		if err != nil {
			return bench.CellRecord{}, err
		}
		return b.work(clock, t, f, tell)
	})
}

// attach makes the task's inputs, from the shared bytes or from their names. If the task has a
// peer, no other process can write to the bytes any more. This one can if calls edit them.
func (b *bound[In, Out]) attach(t worker.Task, shared []*os.File, toPin bool) ([]In, func(), error) {
	var inputs []In
	var undo []func()
	detach := func() {
		for _, f := range undo {
			f()
		}
	}
	for i, name := range t.Inputs {
		var in In
		var err error
		if t.Shared {
			house, housed := b.w.Inputs.(bench.Housed[In])
			housed = housed && t.Peer != nil && t.Peer.Edits && t.Extent(i).Size == 0 && !memfile.Sealed(shared[i])
			var mapped []byte
			if mapped, err = memfile.MapExtent(shared[i], t.Extent(i), toPin || housed); err == nil {
				undo = append(undo, func() { memfile.Unmap(mapped) })
				memfile.Populate(mapped)
				if t.Peer != nil {
					memfile.Seal(shared[i])
				}
				if housed && memfile.Sealed(shared[i]) { // not on every system
					in, err = house.AttachIn(shared[i], mapped)
				} else {
					in, err = b.w.Inputs.Attach(mapped)
				}
			}
		} else {
			in, err = b.w.Inputs.Open(name)
			if err == nil {
				undo = append(undo, func() { closeInput(in) })
			}
		}
		if err != nil {
			detach()
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		inputs = append(inputs, in)
	}
	return inputs, detach, nil
}

// readWitnesses decodes the witness answers.
func (r *trial[In, Out]) readWitnesses() error {
	for i, f := range r.files.Witness {
		r.before = append(r.before, &answerCopy{file: f})
		out, err := r.b.decode(r.before[i])
		if err != nil {
			return fmt.Errorf("answer of %s to %s: %w", r.t.Witness, r.t.Inputs[i], err)
		}
		r.witness = append(r.witness, out)
	}
	if r.t.Peer != nil {
		closeAll(r.files.Witness) // they stay mapped, where a peer does not find them
		r.files.Witness = nil
	}
	return nil
}

// isLost reports whether an error made a device unusable. A missing device is not lost: it is a
// reason to reject.
func isLost(err error) bool { return device.IsSticky(err) && !device.IsUnavailable(err) }

// work runs a task. It sets up one job per input, times them in turn or calls each once, and checks
// every answer.
func (b *bound[In, Out]) work(clock worker.Clock, t worker.Task, f worker.Files, tell worker.Teller) (
	bench.CellRecord, error) {
	tell.Phase(worker.PhaseSetup)
	impl, err := b.find(t.Impl)
	if err != nil {
		return bench.CellRecord{}, err
	}
	inputs, detach, err := b.attach(t, f.Inputs, writable(impl.About()))
	if err != nil {
		return bench.CellRecord{}, err
	}
	defer detach()
	r := &trial[In, Out]{b: b, clock: clock, impl: impl, t: t, inputs: inputs, files: f}
	defer r.close()
	if err := r.readWitnesses(); err != nil {
		return bench.CellRecord{}, err
	}
	r.began = clock.Now()
	c := t.Conditions
	c.Once = true // calls may refuse
	for _, in := range inputs {
		if err := impl.CanDo(in, c); isLost(err) {
			return bench.CellRecord{}, err
		} else if err != nil {
			return skipped(err.Error()), nil
		}
	}
	if t.Peer != nil && impl.About().Foreign == nil {
		leave, err := r.goOutside(tell)
		if err != nil {
			return r.unanswered(err)
		}
		defer leave()
	}
	if err := r.run(tell); err != nil {
		return r.unanswered(err)
	}
	tell.Phase(worker.PhaseClose) // with time for a reply, whatever the checks took
	if late := r.closeJobs(); late != nil {
		if r.record.Status == verify.Verified {
			return r.unanswered(late)
		}
		r.record.Reason += "; " + late.Error() // the evidence stays
	}
	return r.record, nil
}

// goOutside makes a process of the implementation answer in place of this one, if it can be asked about
// all inputs. The caller calls leave at the end.
func (r *trial[In, Out]) goOutside(tell worker.Teller) (leave func(), err error) {
	remote, err := r.b.find(peers.Prefix + r.t.Peer.Name)
	if err != nil {
		return nil, err
	}
	c := r.t.Conditions
	c.Memory /= 2 * int64(len(r.inputs)) // each input has a copy
	for _, in := range r.inputs {
		if err := remote.CanDo(in, c); err != nil {
			r.record.Judge = judge(false) + ": " + err.Error()
			return func() {}, nil
		}
	}
	r.inside, r.impl, r.record.Judge = r.impl, remote, judge(true)
	tell.Judge(r.record.Judge)
	process, err := r.t.Peer.Acquire(c.Cores())
	if err != nil {
		return nil, err
	}
	if _, err := process.Ping(); err != nil { // its start is no part of the set-up
		r.t.Peer.Release()
		return nil, err
	}
	return r.t.Peer.Release, nil
}

// run runs the phases of a trial.
func (r *trial[In, Out]) run(tell worker.Teller) error {
	used := r.ownMemory()
	if err := r.setup(); err != nil {
		return err
	}
	if err := r.yardsticks(); err != nil {
		return err
	}
	tell.Phase(worker.PhaseMeasure)
	if err := r.measure(); err != nil {
		return err
	}
	r.answerMemory = max(0, r.ownMemory()-used) / int64(len(r.jobs))
	tell.Phase(worker.PhaseCheck)
	return r.check(tell)
}

// unanswered returns the record of a trial that was skipped, or whose peer gave no answer. Other
// errors end the worker.
func (r *trial[In, Out]) unanswered(err error) (bench.CellRecord, error) {
	record := bench.CellRecord{Judge: r.record.Judge}
	var refused errRefused
	var peer *peers.Error
	switch reason := refusal(err); {
	case errors.As(err, &refused):
		record.Verdict = skipped(refused.Error()).Verdict
	case reason != nil:
		record.Verdict = skipped(reason.Error()).Verdict
	case !errors.As(err, &peer):
		return bench.CellRecord{}, err
	case peer.Kind == peers.Refused:
		record.Verdict = skipped(peer.Error()).Verdict
	case peer.Kind == peers.Malformed:
		d := &verify.Diff{Where: "the answer", Want: "one of its kind", Got: peer.Error()}
		e := verify.Evidence{Input: r.current, Witness: "is an answer", Diff: d}
		record.Verdict = verify.Judge(nil, []verify.Evidence{e})
	case peer.Kind == peers.Late:
		record.Verdict = verify.Verdict{Status: verify.Timeout, Reason: err.Error()}
	default:
		record.Verdict = verify.Verdict{Status: verify.Crashed, Reason: err.Error()}
	}
	return record, nil
}
