package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/memfile"
	"eccbench/internal/peers"
	"eccbench/internal/verify"
)

// eventsFD is the file descriptor of a worker's event pipe.
const eventsFD = 3

// files are the open files that belong to a task.
type files struct{ answers, inputs, witness []*os.File }

// ErrNoTask reports that the command was not started by a run.
var ErrNoTask = errors.New("worker: no task on standard input: this command is started by eccbench itself")

// Work is the main function of a worker process. It reads a task from stdin, runs it, and writes
// events to the inherited pipe. It exits the process if stdin ends before the task is done, because
// the parent has then died. benches returns the workloads, with the task's peer if it has one.
// Samples are measured with clock.
func Work(benches func(*peers.Peer) []Bench, stdin io.Reader, clock Clock) error {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return ErrNoTask
	}
	var t Task
	if err := json.Unmarshal(line, &t); err != nil {
		return fmt.Errorf("worker: reading the task: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, in) // until the parent closes it or dies
		if ctx.Err() == nil {
			os.Exit(1)
		}
	}()
	if t.Conditions.Memory > 0 {
		debug.SetMemoryLimit(t.Conditions.Memory)
	}

	b, err := Find(benches(t.Peer), t.Workload)
	if err != nil {
		cancel()
		return err
	}
	for fd := range len(t.Inputs)*3 + 1 {
		closeOnExec(eventsFD + fd) // the worker's own child processes must not inherit them
	}
	pipe := os.NewFile(eventsFD, "events")
	// When the pipe is closed, the parent closes our input. That must not end the process before it
	// prints its error.
	defer func() { cancel(); pipe.Close() }()
	events := json.NewEncoder(pipe)
	fd := uintptr(eventsFD)
	inherit := func(present bool) []*os.File {
		var list []*os.File
		for i := 0; present && i < len(t.Inputs); i++ {
			fd++
			list = append(list, os.NewFile(fd, fmt.Sprintf("file %d", fd)))
		}
		return list
	}
	f := files{answers: inherit(true), inputs: inherit(t.Shared), witness: inherit(t.Witness != "")}
	out := &telling{events: events, key: t.Key}
	if t.Peer != nil {
		t.Peer.Waiting = func(verb string) { out.tell(event{Waiting: &verb}) }
	}
	record, err := b.work(ctx, clock, t, f, out.tell)
	if err != nil {
		return err
	}
	if out.lost != nil {
		return fmt.Errorf("worker: writing events: %w", out.lost)
	}
	cancel() // the parent closes our input after the result
	out.tell(event{Result: &record})
	return out.lost
}

// A telling writes events of several goroutines: a peer's timeout is reported from another
// goroutine.
type telling struct {
	mu     sync.Mutex
	events *json.Encoder
	key    string
	lost   error // the first error
}

func (t *telling) tell(e event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Key = t.key
	if err := t.events.Encode(e); t.lost == nil {
		t.lost = err
	}
}

// attach makes the task's inputs, from the shared bytes or from their names.
func (b *bound[In, Out]) attach(t Task, shared []*os.File, toPin bool) ([]In, func(), error) {
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
			var mapped []byte
			mapped, err = memfile.MapExtent(shared[i], t.extent(i), toPin)
			if err == nil {
				undo = append(undo, func() { memfile.Unmap(mapped) })
				memfile.Populate(mapped)
				in, err = b.w.Inputs.Attach(mapped)
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

// readWitnesses decodes the witness answers. Their files stay open until the process ends.
func (b *bound[In, Out]) readWitnesses(t Task, from []*os.File) ([]Out, error) {
	var outs []Out
	for i, f := range from {
		out, err := b.decode(&kept{file: f})
		if err != nil {
			return nil, fmt.Errorf("answer of %s to %s: %w", t.Witness, t.Inputs[i], err)
		}
		outs = append(outs, out)
	}
	return outs, nil
}

// lost reports whether an error made a device unusable. A missing device is not lost: it is a
// reason to reject.
func lost(err error) bool { return device.IsSticky(err) && !device.IsUnavailable(err) }

// work runs a task. It sets up one job per input, times them in turn or calls each once, and checks
// every answer.
func (b *bound[In, Out]) work(ctx context.Context, clock Clock, t Task, f files, tell teller) (bench.CellRecord, error) {
	tell.phase(phaseSetup)
	impl, err := b.find(t.Impl)
	if err != nil {
		return bench.CellRecord{}, err
	}
	inputs, detach, err := b.attach(t, f.inputs, writable(impl.About()))
	if err != nil {
		return bench.CellRecord{}, err
	}
	defer detach()
	witness, err := b.readWitnesses(t, f.witness)
	if err != nil {
		return bench.CellRecord{}, err
	}
	if t.Peer != nil {
		closeAll(f.witness) // they stay mapped, where a peer does not find them
		f.witness = nil
	}
	began := clock.currentTime()
	for _, in := range inputs {
		if err := impl.CanDo(in, t.Conditions); lost(err) {
			return bench.CellRecord{}, err
		} else if err != nil {
			return skipped(err.Error()), nil
		}
	}
	r := &trial[In, Out]{b: b, clock: clock, began: began, impl: impl, t: t, inputs: inputs, files: f, witness: witness}
	defer r.close()
	if err := r.run(ctx, tell); err != nil {
		return r.unanswered(err)
	}
	return r.record, nil
}

// run runs the phases of a trial.
func (r *trial[In, Out]) run(ctx context.Context, tell teller) error {
	used := r.ownMemory()
	if err := r.setup(); err != nil {
		return err
	}
	if err := r.yardsticks(); err != nil {
		return err
	}
	tell.phase(phaseMeasure)
	if err := r.measure(ctx); err != nil {
		return err
	}
	r.answerMemory = max(0, r.ownMemory()-used) / int64(len(r.inputs))
	tell.phase(phaseCheck)
	return r.check(tell)
}

// unanswered returns the record of a trial that was skipped, or whose peer gave no answer. Other
// errors end the worker.
func (r *trial[In, Out]) unanswered(err error) (bench.CellRecord, error) {
	var refused errRefused
	var peer *peers.Error
	switch {
	case errors.As(err, &refused):
		return skipped(refused.Error()), nil
	case !errors.As(err, &peer):
		return bench.CellRecord{}, err
	case peer.Kind == peers.Refused:
		return skipped(peer.Error()), nil
	case peer.Kind == peers.Malformed:
		d := &verify.Diff{Where: "the answer", Want: "one of its kind", Got: peer.Error()}
		e := verify.Evidence{Input: r.current, Witness: "is an answer", Diff: d}
		return bench.CellRecord{Verdict: verify.Judge(nil, []verify.Evidence{e})}, nil
	}
	return bench.CellRecord{Verdict: verify.Verdict{Status: verify.Crashed, Reason: err.Error()}}, nil
}
