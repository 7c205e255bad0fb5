package runner

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
)

// A process is one worker being run.
type process struct {
	task  Task
	files files
	limit time.Duration // for each phase
	clock Clock
}

// run starts a worker in its own process group, follows its events, and
// returns its record. It always returns a record: a worker that dies, hangs or
// uses more memory than it may is CRASHED or TIMEOUT. The error is only for what
// is wrong on this side, and for a context that ended.
func (p process) run(ctx context.Context, command []string) (bench.CellRecord, error) {
	fail := func(err error) (bench.CellRecord, error) {
		return bench.CellRecord{}, fmt.Errorf("starting a worker: %w", err)
	}
	events, eventsW, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	defer events.Close()
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Path, err = running(cmd.Path); err != nil {
		eventsW.Close()
		return fail(err)
	}
	adopt()
	mark := markKey + "=" + rand.Text()
	cmd.ExtraFiles = append([]*os.File{eventsW}, p.files.answers...)
	cmd.ExtraFiles = append(append(cmd.ExtraFiles, p.files.inputs...), p.files.witness...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", p.task.Conditions.Threads), mark)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	stderr := &tail{limit: 4096}
	cmd.Stderr, cmd.WaitDelay = stderr, lingering
	stdin, err := cmd.StdinPipe()
	if err != nil {
		eventsW.Close()
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		eventsW.Close()
		return fail(err)
	}
	eventsW.Close()
	w := &watch{pid: cmd.Process.Pid, input: p.task.Inputs[0], limit: p.limit, clock: p.clock, memory: p.task.Conditions.Memory, files: slices.Concat(p.files.answers, p.files.inputs, p.files.witness), extents: p.task.Extents}
	stop := w.start(ctx)
	ended := make(chan error, 1)
	go func() {
		awaitEnd(w.pid)
		w.kill("") // what it left in its group
		err := cmd.Wait()
		// What it left elsewhere may hold the pipe open.
		events.SetReadDeadline(time.Now().Add(lingering))
		ended <- err
	}()
	// A worker that dies before it has read the task is reported by how it died.
	json.NewEncoder(stdin).Encode(p.task)
	result, malformed := w.follow(events)
	if malformed != nil {
		w.kill("")
	}
	stdin.Close()
	died := <-ended
	if errors.Is(died, exec.ErrWaitDelay) { // it ended well, and left something that holds its standard error open
		died = nil
	}
	stop()
	reapGroup(w.pid)
	endStrays(mark)
	if err := ctx.Err(); err != nil {
		return bench.CellRecord{}, err
	}
	record := bench.CellRecord{}
	switch {
	case result != nil && died == nil:
		record = *result
	case w.timedOut != "":
		record.Verdict = verify.Verdict{Status: verify.Timeout, Reason: w.timedOut}
	default:
		why := w.killed
		if why == "" {
			why = death(died, malformed, stderr.String())
		}
		record.Verdict = verify.Verdict{Status: verify.Crashed, Reason: why}
	}
	if w.safe != nil && (result == nil || died != nil) {
		record = w.lawFailure(record.Reason)
	}
	record.PeakRSS, record.OwnMemory = peakRSS(cmd.ProcessState), w.used
	return record, nil
}

// lawFailure returns the record of a worker that ended during a law that no verdict needs: only the
// evidence of that law is lost.
func (w *watch) lawFailure(why string) bench.CellRecord {
	record := *w.safe
	record.Evidence = slices.Concat(record.Evidence, w.later)
	record.Evidence = append(record.Evidence, verify.Evidence{Input: w.input, Witness: w.law, Note: "not finished: " + why})
	return record
}

// markKey is the variable in the environment of a worker by which what it started is
// known.
const markKey = "ECCBENCH_WORKER"

// lingering is how long a worker that has ended is listened to, for what it said last:
// what it started may hold its pipes open for ever.
const lingering = time.Second

// death says how a worker ended, with the last thing it said.
func death(died, malformed error, stderr string) string {
	why := "the worker ended without a result"
	if died != nil {
		why = "the worker ended with " + died.Error()
	}
	if malformed != nil { // after which it was ended
		why = "the worker wrote a malformed event: " + malformed.Error()
	}
	// The first line that names the failure says more than the last of a
	// goroutine dump.
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

// A watch enforces the limits of a worker and remembers why it was killed.
type watch struct {
	pid     int
	input   string // the first
	limit   time.Duration
	clock   Clock
	memory  int64
	files   []*os.File // shared with the worker, which are not of its own memory
	extents []extent   // of the inputs among them
	looks   int
	family  []int // the worker and its descendants, as last looked for

	mu       sync.Mutex
	phase    string
	since    time.Time
	waiting  string // the verb that a peer has not answered
	timedOut string
	killed   string
	used     int64             // the most memory of its own, as far as it was looked at
	safe     *bench.CellRecord // what it handed over before the laws that no verdict needs
	law      string            // the one of these that it tries
	later    []verify.Evidence // of those before it
}

// start watches until the returned function is called.
func (w *watch) start(ctx context.Context) (stop func()) {
	w.phase, w.since = "starting", w.clock.currentTime()
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

// looksPerFamily is how many looks there are for each that finds the processes of a worker.
const looksPerFamily = 10

func (w *watch) look() {
	w.mu.Lock()
	late := w.limit > 0 && w.clock.since(w.since) > w.limit
	if late && w.timedOut == "" {
		w.timedOut = fmt.Sprintf("still %s after %s", w.phase, quantity.Duration(w.limit))
		if w.waiting != "" {
			w.timedOut += ": the peer has not answered " + w.waiting
		}
	}
	w.mu.Unlock()
	if late {
		w.kill("")
		return
	}
	if w.looks%looksPerFamily == 0 {
		w.family = family(w.pid)
	}
	w.looks++
	used := ownMemory(w.family, w.files, w.extents)
	w.mu.Lock()
	w.used = max(w.used, used)
	w.mu.Unlock()
	if w.memory > 0 && used > w.memory {
		w.kill(fmt.Sprintf("used %s of memory of its own, the limit is %s", quantity.Bytes(used), quantity.Bytes(w.memory)))
	}
}

// kill ends the worker and all it started.
func (w *watch) kill(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why != "" && w.killed == "" {
		w.killed = why
	}
	unix.Kill(-w.pid, unix.SIGKILL) // it may be gone already
}

// follow reads events until the worker closes the pipe.
func (w *watch) follow(events io.Reader) (*bench.CellRecord, error) {
	r := bufio.NewReader(events)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if e.Result != nil {
			return e.Result, nil
		}
		w.mu.Lock()
		switch {
		case e.Waiting != nil:
			w.waiting = *e.Waiting
		case e.Safe != nil:
			w.safe = e.Safe
		case e.Law != "":
			w.law, w.later = e.Law, e.Later
		default:
			w.phase, w.since = e.Phase, w.clock.currentTime()
		}
		w.mu.Unlock()
	}
}

// A tail keeps the first half and the last half of what is written to it.
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
