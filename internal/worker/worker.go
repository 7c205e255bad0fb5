package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"eccbench/internal/bench"
)

// Files are the open files that belong to a task.
type Files struct{ Answers, Inputs, Witness []*os.File }

// all returns the files in the order in which a connection passes them.
func (f Files) all() []*os.File { return slices.Concat(f.Answers, f.Inputs, f.Witness) }

// ErrNoTask reports that the command was not started by a run.
var ErrNoTask = errors.New("worker: no task on standard input: this command is started by eccbench itself")

// send passes a task with its files, and receive receives them.
func send(to *net.UnixConn, t Task, files []*os.File) error {
	text, err := json.Marshal(t)
	if err == nil {
		err = sendFiles(to, files)
	}
	if err == nil {
		_, err = to.Write(text) // nothing after it, which receive might leave for the next task
	}
	return err
}

func receive(from *net.UnixConn) (t Task, f Files, err error) {
	files, err := receiveFiles(from)
	if err != nil {
		return t, f, err
	}
	if err := json.NewDecoder(from).Decode(&t); err != nil {
		return t, f, fmt.Errorf("worker: reading the task: %w", err)
	}
	n := len(t.Inputs)
	f.Answers, files = files[:n], files[n:]
	if t.Shared {
		f.Inputs, files = files[:n], files[n:]
	}
	f.Witness = files
	return t, f, nil
}

// Serve is the main function of a worker process. It receives tasks from standard input, runs them, and sends
// events there. It exits the process if stdin ends before a task is done, because the parent has then died.
func Serve(stdin io.Reader, run func(Task, Files, Teller) (bench.CellRecord, error)) error {
	f, ok := stdin.(*os.File)
	if !ok {
		return ErrNoTask
	}
	c, err := net.FileConn(f)
	conn, ok := c.(*net.UnixConn)
	if err != nil || !ok {
		return ErrNoTask
	}
	// When the connection is closed, the parent closes its end. That must not end the process before it
	// prints its error.
	var busy atomic.Bool
	defer func() { busy.Store(false); conn.Close() }()
	tasks, ended := make(chan received), make(chan error, 1)
	go receiveAll(conn, &busy, tasks, ended)
	events := json.NewEncoder(conn)
	var current atomic.Pointer[telling] // of the current task, for a peer that several tasks share
	for first := true; ; first = false {
		select {
		case err := <-ended:
			if errors.Is(err, io.EOF) && !first {
				err = nil
			}
			return err
		case t := <-tasks:
			if !first {
				debug.FreeOSMemory() // of the task before
			}
			if t.Conditions.Memory > 0 {
				debug.SetMemoryLimit(t.Conditions.Memory)
			}
			out := &telling{events: events, key: t.Key}
			if current.Store(out); t.Peer != nil {
				t.Peer.Waiting = func(verb string) { current.Load().tell(Event{Waiting: &verb}) }
			}
			record, err := run(t.Task, t.Files, out.tell)
			if err != nil {
				return err
			}
			for _, f := range t.all() {
				f.Close() // nameless and in memory: nothing is lost
			}
			busy.Store(false) // the parent may close its end after the result
			if out.tell(Event{Result: &record}); out.lost != nil {
				return fmt.Errorf("worker: sending events: %w", out.lost)
			}
		}
	}
}

// A received task comes with its files.
type received struct {
	Task
	Files
}

// receiveAll receives tasks until the connection ends. It exits the process if that is busy.
func receiveAll(conn *net.UnixConn, busy *atomic.Bool, tasks chan<- received, ended chan<- error) {
	for {
		t, f, err := receive(conn)
		if err != nil {
			if busy.Load() {
				os.Exit(1)
			}
			ended <- err
			return
		}
		busy.Store(true)
		tasks <- received{t, f}
	}
}

// A telling sends events of several goroutines: a peer's timeout is reported from another goroutine.
type telling struct {
	mu     sync.Mutex
	events *json.Encoder
	key    string
	told   bool  // the result; the task is over
	lost   error // the first error
}

func (t *telling) tell(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		return
	}
	e.Key, t.told = t.key, e.Result != nil
	if err := t.events.Encode(e); t.lost == nil {
		t.lost = err
	}
}
