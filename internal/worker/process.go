package worker

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/host"
	"eccbench/internal/memfile"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
)

// A Process is one task of a worker.
type Process struct {
	Task  Task
	Files Files
	Limit time.Duration // for each phase
	Clock Clock
}

// Idle is the worker of a peer that waits for another task, so that the peer starts once. No other worker runs
// meanwhile, since the peer might open its files. The caller calls End.
type Idle struct {
	name   string // of its tasks
	worker *watch // nil for none
}

// End ends the worker.
func (i *Idle) End() {
	if i.worker != nil {
		i.worker.end()
		i.worker = nil
	}
}

// take returns the worker if it can have a task, and ends it otherwise.
func (i *Idle) take(t Task) *watch {
	if i == nil || i.worker == nil {
		return nil
	}
	if w := i.worker; t.Peer != nil && t.name() == i.name && w.lives() {
		i.worker = nil
		return w
	}
	i.End()
	return nil
}

// put keeps a worker after a task, unless the task measured or failed, or used half of a worker's memory.
func (i *Idle) put(t Task, w *watch, r *bench.CellRecord) bool {
	if i == nil || t.Peer == nil || t.Sampling != nil || failed(r) {
		return false
	}
	r.OwnMemory = w.rest()
	if limit := t.Conditions.Memory; limit > 0 && r.OwnMemory > limit/2 {
		return false
	}
	r.PeakRSS = host.PeakResident(w.pid)
	i.name, i.worker = t.name(), w
	return true
}

func failed(r *bench.CellRecord) bool { return r.Failed() || r.Status == verify.Wrong }

// start starts a worker in its own process group.
func (p Process) start(ctx context.Context, command []string) (*watch, error) {
	adopt()
	w := &watch{clock: p.Clock, cmd: exec.Command(command[0], command[1:]...), mark: markKey + "=" + rand.Text()}
	w.stderr.limit = 4096
	var err error
	if w.cmd.Path, err = host.Running(w.cmd.Path); err != nil {
		return nil, err
	}
	var theirs *os.File
	if w.conn, theirs, err = pair(); err != nil {
		return nil, err
	}
	defer theirs.Close()
	w.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", p.Task.Conditions.Threads), w.mark)
	w.cmd.SysProcAttr = OwnGroup()
	w.cmd.Stdin, w.cmd.Stderr, w.cmd.WaitDelay = theirs, &w.stderr, lingering
	if err := w.cmd.Start(); err != nil {
		w.conn.Close()
		return nil, err
	}
	w.pid, w.ended = w.cmd.Process.Pid, make(chan error, 1)
	w.stop = w.start(ctx)
	go func() {
		awaitEnd(w.pid)
		w.kill("") // kill the rest of its process group
		err := w.cmd.Wait()
		// A process that left the group may still hold the connection open.
		w.conn.SetReadDeadline(time.Now().Add(lingering))
		w.ended <- err
	}()
	return w, nil
}

// end lets a worker end and returns how it did. Nothing that it started is left.
func (w *watch) end() error {
	w.conn.CloseWrite()
	died := <-w.ended
	if errors.Is(died, exec.ErrWaitDelay) { // it succeeded, but a process that it started holds its standard error open
		died = nil
	}
	w.conn.Close()
	w.stop()
	reapGroup(w.pid)
	endStrays(w.mark)
	return died
}

// Run passes the task to a worker, an idle one if possible, follows its events and returns its
// record. A worker that dies, hangs or exceeds its memory limit gives a record with status CRASHED
// or TIMEOUT. Run returns an error only for faults of the parent, and for a context that ended.
// whole reports whether the worker finished its task, with all that it undoes; a record with a
// result may lack that.
func (p Process) Run(ctx context.Context, command []string, idle *Idle) (
	record bench.CellRecord, whole bool, err error) {
	if p.Task.Key = rand.Text(); p.Task.Peer != nil {
		hide()
	}
	w := idle.take(p.Task)
	if w == nil {
		if w, err = p.start(ctx, command); err != nil {
			return record, false, fmt.Errorf("starting a worker: %w", err)
		}
	}
	w.begin(p)
	// A worker that died before it read the task is reported below.
	if err := send(w.conn, p.Task, p.Files.all()); err != nil && !disconnected(err) {
		w.kill("passing the task: " + err.Error())
	}
	result, malformed := w.follow(w.conn, p.Task.Key)
	if malformed != nil {
		w.kill("")
	}
	if result != nil && idle.put(p.Task, w, result) {
		return *result, true, ctx.Err()
	}
	died := w.end()
	if err := ctx.Err(); err != nil {
		return record, false, err
	}
	record.Judge = w.judge
	whole = result != nil && died == nil
	switch {
	case whole:
		record = *result
	case w.timedOut != "":
		record.Verdict = verify.Verdict{Status: verify.Timeout, Reason: w.timedOut}
	default:
		why := w.killed
		if why == "" {
			why = death(died, malformed, w.stderr.String())
		}
		record.Verdict = verify.Verdict{Status: verify.Crashed, Reason: why}
	}
	if w.safe != nil && !whole {
		record = w.lawFailure(record.Reason)
	}
	record.PeakRSS, record.OwnMemory = peakRSS(w.cmd.ProcessState), w.used
	if w.tasks > 1 && failed(&record) {
		record.Reason += fmt.Sprintf(" (input %d of its process)", w.tasks)
	}
	return record, whole, nil
}

// disconnected reports whether an error means that the other process has closed its end.
func disconnected(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// lawFailure returns the record of a worker that died during an optional law. Only the evidence of
// that law is lost.
func (w *watch) lawFailure(why string) bench.CellRecord {
	record := *w.safe
	record.Evidence = slices.Concat(record.Evidence, w.later)
	record.Evidence = append(record.Evidence, verify.Evidence{Input: w.input, Witness: w.law, Note: "not finished: " + why})
	return record
}

// markKey is an environment variable. Its value identifies the processes that a worker started.
const markKey = "ECCBENCH_WORKER"

// lingering is the time to wait for the last output of an ended worker. A process that it started
// may hold its pipes open forever.
const lingering = time.Second

// death describes how a worker ended, with its last message.
func death(died, malformed error, stderr string) string {
	why := "the worker ended without a result"
	if died != nil {
		why = "the worker ended with " + died.Error()
	}
	if malformed != nil { // the parent then killed it
		why = "the worker wrote a malformed event: " + malformed.Error()
	}
	// The first line that names the failure is more useful than the end of a goroutine dump.
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	said := lines[0]
	for _, l := range lines {
		if strings.HasPrefix(l, "panic:") || strings.HasPrefix(l, "fatal error:") {
			said = l
			break
		}
	}
	if said != "" {
		why += ": " + said
	}
	return why
}

// A watch enforces the limits of a worker and records why it was killed.
type watch struct {
	cmd    *exec.Cmd
	conn   *net.UnixConn
	pid    int
	mark   string // in the environment of its processes
	stderr tail
	ended  chan error // how it ended
	stop   func()     // ends the watch
	clock  Clock
	looks  int
	family []int // the worker and its descendants, as last looked for
	tasks  int   // including the current one

	mu sync.Mutex
	task
}

// A task is the state of a worker's current task.
type task struct {
	input    string // the first input
	limit    time.Duration
	memory   int64
	files    []*os.File       // files shared with the worker, which do not count as its own memory
	extents  []memfile.Extent // of the shared inputs
	own      bool             // its peer is a process of this program
	phase    string
	judge    string
	since    time.Time
	waiting  string // the request that a peer has not answered yet
	timedOut string
	killed   string
	used     int64             // peak of the worker's own memory, by sampling
	safe     *bench.CellRecord // the record before the optional laws
	law      string            // the optional law in progress
	later    []verify.Evidence // evidence of the optional laws before it
}

// begin sets the limits of a task.
func (w *watch) begin(p Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks++
	w.task = task{
		input: p.Task.Inputs[0], limit: p.Limit, memory: p.Task.Conditions.Memory, files: p.Files.all(),
		extents: p.Task.Extents, phase: "starting", since: w.clock.Now(),
		own: p.Task.Peer != nil && p.Task.Peer.Own,
	}
}

// rest ends the time limit of a task whose worker is kept. It returns the peak of its memory.
func (w *watch) rest() int64 {
	w.sample(peers.Family(w.pid))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.files = 0, nil
	return w.used
}

// lives reports whether an idle worker has neither ended nor been killed.
func (w *watch) lives() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ended) == 0 && w.killed == ""
}

// start watches the worker until the returned function is called.
func (w *watch) start(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(look)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				w.kill("")
				return
			case <-tick.C:
				w.look()
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// looksPerFamily is the number of looks per search for the processes of a worker.
const looksPerFamily = 10

func (w *watch) look() {
	w.mu.Lock()
	late := w.limit > 0 && w.clock.Since(w.since) > w.limit
	if late && w.timedOut == "" {
		w.timedOut = fmt.Sprintf("still %s after %s", w.phase, quantity.Duration(w.limit))
		if w.waiting != "" {
			w.timedOut += ": " + peers.Subject(w.own) + " has not answered " + w.waiting
		}
	}
	w.mu.Unlock()
	if late {
		w.kill("")
		return
	}
	if w.looks%looksPerFamily == 0 {
		w.family = peers.Family(w.pid)
	}
	w.looks++
	if used, memory := w.sample(w.family); memory > 0 && used > memory {
		w.kill(fmt.Sprintf("used %s of memory of its own, the limit is %s", quantity.Bytes(used), quantity.Bytes(memory)))
	}
}

// sample measures the memory of the worker's processes, and returns it with its limit. It returns 0
// if a task began meanwhile, since the files may be those of the task before.
func (w *watch) sample(family []int) (used, limit int64) {
	w.mu.Lock()
	files, extents, tasks := w.files, w.extents, w.tasks
	w.mu.Unlock()
	used = host.OwnMemory(family, files, extents)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tasks != tasks {
		return 0, w.memory
	}
	w.used = max(w.used, used)
	return used, w.memory
}

// kill ends the worker's process group.
func (w *watch) kill(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why != "" && w.killed == "" {
		w.killed = why
	}
	KillGroup(w.pid)
}

// follow reads events with the key until the worker closes the pipe.
func (w *watch) follow(events io.Reader, key string) (*bench.CellRecord, error) {
	r := bufio.NewReader(events)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) || disconnected(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if e.Key != key {
			return nil, errors.New("another process wrote it")
		}
		if e.Result != nil {
			return e.Result, nil
		}
		w.mu.Lock()
		switch {
		case e.Waiting != nil:
			w.waiting = *e.Waiting
		case e.Judge != "":
			w.judge = e.Judge
		case e.Safe != nil:
			w.safe = e.Safe
		case e.Law != "":
			w.law, w.later = e.Law, e.Later
		default:
			w.phase, w.since = e.Phase, w.clock.Now()
		}
		w.mu.Unlock()
	}
}

// A tail keeps the first and the last part of the bytes written to it, half the limit each.
type tail struct {
	limit      int
	head, last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if room := t.limit/2 - len(t.head); room > 0 {
		k := min(room, len(p))
		t.head, p = append(t.head, p[:k]...), p[k:]
	}
	t.last = append(t.last, p...)
	if over := len(t.last) - t.limit/2; over > 0 {
		t.last = t.last[over:]
	}
	return n, nil
}

func (t *tail) String() string { return string(t.head) + string(t.last) }
