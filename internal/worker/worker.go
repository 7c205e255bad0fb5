package worker

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
)

// eventsFD is the file descriptor of a worker's event pipe.
const eventsFD = 3

// Files are the open files that belong to a task.
type Files struct{ Answers, Inputs, Witness []*os.File }

// ErrNoTask reports that the command was not started by a run.
var ErrNoTask = errors.New("worker: no task on standard input: this command is started by eccbench itself")

// Serve is the main function of a worker process. It reads a task from stdin, runs it, and writes
// events to the inherited pipe. It exits the process if stdin ends before the task is done, because
// the parent has then died.
func Serve(stdin io.Reader, run func(context.Context, Task, Files, Teller) (bench.CellRecord, error)) error {
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
	f := Files{Answers: inherit(true), Inputs: inherit(t.Shared), Witness: inherit(t.Witness != "")}
	out := &telling{events: events, key: t.Key}
	if t.Peer != nil {
		t.Peer.Waiting = func(verb string) { out.tell(Event{Waiting: &verb}) }
	}
	record, err := run(ctx, t, f, out.tell)
	if err != nil {
		return err
	}
	if out.lost != nil {
		return fmt.Errorf("worker: writing events: %w", out.lost)
	}
	cancel() // the parent closes our input after the result
	out.tell(Event{Result: &record})
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

func (t *telling) tell(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Key = t.key
	if err := t.events.Encode(e); t.lost == nil {
		t.lost = err
	}
}
