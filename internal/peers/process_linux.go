package peers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"eccbench/internal/quantity"
)

// maxLine is the longest line of the protocol in bytes.
const maxLine = 64 << 10

const (
	// patience is the limit of a reply without a given limit or a worker: imports take 20 s, and longer
	// on a busy machine.
	patience = 5 * time.Minute
	// starting is the time for the start of a peer, beyond twice the limit of a reply.
	starting = 10 * time.Second
	// slow is the delay before Waiting reports a missing answer.
	slow = 200 * time.Millisecond
	// farewell limits the wait for a peer to end, and for the pipes of a dead one.
	farewell = time.Second
	// dying limits the wait for the exit status of a peer that closed its pipe, on a busy machine.
	dying = 10 * time.Second
)

// A Process is a running peer. Its methods are safe for concurrent use.
type Process struct {
	peer *Peer
	launch
	to     *os.File
	from   *os.File
	in     *bufio.Reader
	stderr tail
	pid    int
	ended  chan struct{} // closed after the process has ended; died has its state
	died   error

	mu    sync.Mutex
	dead  error         // the error of all later commands
	awake bool          // it has replied
	told  chan struct{} // receives when a late reply was reported
	next  int           // the last number of a binding
	used  time.Duration // the processor time at the last call of Spent

	spare *Array // see Recycle
}

// threadVariables limit the threads of common runtimes.
var threadVariables = []string{
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS",
	"ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "GOMAXPROCS",
}

// start starts a peer, which is killed together with this process. If alone, its child processes are
// killed when it ends; else a worker kills them.
func start(p *Peer, how launch) (*Process, error) {
	commands, to, err := os.Pipe()
	if err != nil {
		return nil, p.notStarted(err)
	}
	from, events, err := os.Pipe()
	if err != nil {
		commands.Close()
		to.Close()
		return nil, p.notStarted(err)
	}
	x := &Process{peer: p, launch: how, to: to, from: from, ended: make(chan struct{}), told: make(chan struct{}, 1)}
	x.in = bufio.NewReaderSize(from, maxLine)
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Path = how.path
	cmd.ExtraFiles, cmd.Stderr, cmd.WaitDelay = []*os.File{commands, events}, &x.stderr, farewell
	cmd.Env = append(os.Environ(), how.env...)
	if how.cores > 0 {
		for _, v := range threadVariables {
			cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", v, how.cores))
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: how.alone}
	started := make(chan error)
	go func() {
		// The thread is the parent whose death ends the peer. The peer inherits its restrictions, and it
		// ends with this goroutine.
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // its children gain no privileges
		if err == nil {
			err = OnCores(how.bound, cmd.Start)
		}
		commands.Close()
		events.Close()
		if err != nil {
			started <- err
			return
		}
		x.pid = cmd.Process.Pid
		unix.Prlimit(x.pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) // a dump would be large, not wrong
		started <- nil
		x.died = cmd.Wait()
		if how.alone {
			unix.Kill(-x.pid, unix.SIGKILL) // child processes in its group
		}
		close(x.ended)
		x.setDeadline(time.Now().Add(farewell)) // processes outside its group may keep the pipes open
	}()
	if err := <-started; err != nil {
		to.Close()
		from.Close()
		return nil, p.notStarted(err)
	}
	return x, nil
}

// notStarted returns the error of a peer that cannot be started.
func (p *Peer) notStarted(err error) error {
	why := err.Error()
	switch {
	case errors.Is(err, unix.ENOENT):
		why = "the program, or the interpreter in its first line, does not exist"
	case errors.Is(err, unix.ENOEXEC):
		why = "the file is no program for this machine, and no script whose first line is #!INTERPRETER"
	}
	return &Error{Kind: Broken, Verb: "start", Why: why, Own: p.Own}
}

// exchange sends a line and returns the line that answers it.
func (x *Process) exchange(words ...string) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dead != nil {
		return "", x.dead
	}
	verb := words[0]
	if x.in.Buffered() > 0 {
		return "", x.kill(verb, "it spoke out of turn: "+x.unasked())
	}
	limit := x.limit()
	wait := slow
	if limit > 0 {
		wait = min(slow, limit)
	}
	// A quick reply costs no deadline.
	impatient := time.AfterFunc(wait, func() {
		x.tell(verb)
		if limit > 0 {
			x.limitReply(time.Now().Add(limit - wait))
		}
		x.told <- struct{}{}
	})
	_, err := io.WriteString(x.to, strings.Join(words, " ")+"\n")
	var line []byte
	if err == nil {
		line, err = x.in.ReadSlice('\n')
	}
	if !impatient.Stop() {
		<-x.told
		x.tell("")
		x.limitReply(time.Time{})
	}
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", x.kill(verb, fmt.Sprintf("it wrote a line of more than %d bytes", maxLine))
	case errors.Is(err, os.ErrDeadlineExceeded) && x.runs():
		x.kill(verb, "no reply within "+quantity.Duration(limit))
		x.dead.(*Error).Kind = Late
		return "", x.dead
	case err != nil:
		return "", x.kill(verb, "")
	}
	x.awake = true
	return strings.TrimRight(string(line), "\r\n"), nil
}

// limit returns the longest time of the next reply, or 0 if the limit of the worker is enough. The
// first one waits for the start of the program.
func (x *Process) limit() time.Duration {
	switch limit := x.peer.Limit; {
	case limit > 0 && x.awake:
		return limit
	case !x.alone:
		return 0
	case limit > 0:
		return 2*limit + starting
	}
	return patience
}

// limitReply sets the time until which the peer has to read a command and to reply. The deadline of a
// peer that has ended stays.
func (x *Process) limitReply(due time.Time) {
	if !x.runs() {
		return
	}
	x.setDeadline(due)
	if !x.runs() { // it may have ended before due replaced its deadline
		x.setDeadline(time.Now().Add(farewell))
	}
}

func (x *Process) setDeadline(due time.Time) {
	x.to.SetWriteDeadline(due) // the pipe of a peer that does not read may be full
	x.from.SetReadDeadline(due)
}

// runs reports whether the process has not ended.
func (x *Process) runs() bool {
	select {
	case <-x.ended:
		return false
	default:
		return true
	}
}

func (x *Process) tell(verb string) {
	if x.peer.Waiting != nil {
		x.peer.Waiting(verb)
	}
}

// unasked returns the start of an unexpected line.
func (x *Process) unasked() string {
	b, _ := x.in.Peek(min(x.in.Buffered(), longest))
	line, _, _ := strings.Cut(string(b), "\n")
	return shown(line)
}

// kill ends a broken peer. Without a reason, the peer has ended on its own, and its exit status is
// the reason.
func (x *Process) kill(verb, why string) error {
	if why == "" { // the pipe is closed: the peer ends, or runs on without it
		select {
		case <-x.ended:
		case <-time.After(dying):
		}
	}
	select {
	case <-x.ended:
		if why == "" {
			why = "it ended with " + ending(x.died)
		}
	default:
		if why == "" {
			why = "it closed its pipe"
		}
		unix.Kill(x.pid, unix.SIGKILL)
		<-x.ended
	}
	if said := x.stderr.lastLine(); said != "" {
		why += ": " + said
	}
	x.dead = &Error{Kind: Broken, Verb: verb, Why: why, Own: x.peer.Own}
	return x.dead
}

func ending(died error) string {
	if died == nil || errors.Is(died, exec.ErrWaitDelay) {
		return "exit status 0"
	}
	return died.Error()
}

// end sends the command end to a peer, and kills it after a delay.
func (x *Process) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dead == nil {
		io.WriteString(x.to, "end\n") // the end of the pipe means the same
	}
	x.to.Close()
	select {
	case <-x.ended:
	case <-time.After(farewell):
		unix.Kill(x.pid, unix.SIGKILL)
		<-x.ended
	}
	x.from.Close()
	x.dead = &Error{Kind: Broken, Verb: "end", Why: "it was ended", Own: x.peer.Own}
	if x.spare != nil {
		x.spare.Close()
	}
}

// refusals maps the replies of a peer that gives no answer but continues to run.
var refusals = map[string]Kind{"refuse": Refused, "failed": Failed, "malformed": Malformed}

// ask sends a command and returns the words after the wanted reply.
func (x *Process) ask(want string, words ...string) (string, error) {
	reply, err := x.exchange(words...)
	if err != nil {
		return "", err
	}
	word, rest, _ := strings.Cut(reply, " ")
	if word == want {
		return rest, nil
	}
	if kind, ok := refusals[word]; ok && (kind != Malformed || words[0] == "do") {
		return "", &Error{Kind: kind, Verb: words[0], Why: shown(rest), Own: x.peer.Own}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return "", x.kill(words[0], fmt.Sprintf("it spoke out of turn: %q where %q was due", shown(reply), want))
}

// Bind passes the files of a question to the peer as KEY=VALUE words. It returns the question's
// number, above 0, for Do and Free.
func (x *Process) Bind(words ...string) (int, error) {
	x.mu.Lock()
	x.next++
	n := x.next
	x.mu.Unlock()
	if _, err := x.ask("ready", append([]string{"bind", strconv.Itoa(n)}, words...)...); err != nil {
		return 0, err
	}
	return n, nil
}

// Do runs the peer on a question, or on several in a burst, and returns the parts of its time that it reports.
// A process of this program also reports the parts of the implementation if words has Trace.
func (x *Process) Do(numbers []int, words ...string) (map[string]time.Duration, error) {
	command := []string{"do"}
	for _, n := range numbers {
		command = append(command, strconv.Itoa(n))
	}
	rest, err := x.ask("done", append(command, words...)...)
	if err != nil || rest == "" {
		return nil, err
	}
	spans := map[string]time.Duration{}
	for word := range strings.FieldsSeq(rest) {
		name, value, _ := strings.Cut(word, "=")
		ns, err := strconv.ParseInt(value, 10, 64)
		if err != nil || ns < 0 {
			x.mu.Lock()
			defer x.mu.Unlock()
			return nil, x.kill("do", fmt.Sprintf("it said %q where NAME=NANOSECONDS was due", shown(word)))
		}
		spans[strings.ReplaceAll(shown(name), "_", " ")] = time.Duration(ns)
	}
	return spans, nil
}

// Allocated returns the least number of bytes that one of some calls allocates. Only processes of this
// program answer it.
func (x *Process) Allocated(n, calls int) (int64, error) {
	rest, err := x.ask("allocated", "allocated", strconv.Itoa(n), strconv.Itoa(calls))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(rest, 10, 64)
}

// Ping returns the time of a round trip, or an error if the peer has sent an unexpected line.
func (x *Process) Ping() (time.Duration, error) {
	start := time.Now()
	_, err := x.ask("pong", "ping")
	return time.Since(start), err
}

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// Spent returns the processor time of the peer and its descendants since the last call. Descendants
// that have ended are counted in whole ticks.
func (x *Process) Spent() time.Duration {
	var now time.Duration
	family := []int{x.pid}
	if x.family {
		family = Family(x.pid)
	}
	for _, pid := range family {
		var t unix.Timespec
		if unix.ClockGettime(int32(^pid<<3|2), &t) == nil { // the clock of another process
			now += time.Duration(t.Nano())
		}
		if !x.family {
			continue
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(stat), ") ")
		const ofUser, ofSystem = 13, 14
		if fields := strings.Fields(rest); len(fields) > ofSystem {
			user, _ := strconv.ParseInt(fields[ofUser], 10, 64) // 0 for one that has just ended
			system, _ := strconv.ParseInt(fields[ofSystem], 10, 64)
			now += time.Duration(user+system) * tick
		}
	}
	spent := max(0, now-x.used)
	x.used = now
	return spent
}

// Family returns a process and its descendants.
func Family(pid int) []int {
	list := []int{pid}
	for i := 0; i < len(list); i++ {
		list = append(list, Children(list[i])...)
	}
	return list
}

// Children returns the child processes of a process.
func Children(of int) (pids []int) {
	dir := fmt.Sprintf("/proc/%d/task/", of)
	tasks, _ := os.ReadDir(dir)
	for _, t := range tasks {
		list, _ := os.ReadFile(dir + t.Name() + "/children")
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Free releases a question in the peer.
func (x *Process) Free(n int) error {
	_, err := x.ask("freed", "free", strconv.Itoa(n))
	return err
}
