package peers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"eccbench/internal/checktest"
)

// program writes a peer in the shell.
func program(t *testing.T, text string) *Peer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "peer")
	checktest.Program(t, path, []byte("#!/bin/sh\n"+text))
	p, err := New("", path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// childOf returns the process that a peer started, whose number it wrote to a file.
func childOf(t *testing.T, p *Peer) int {
	t.Helper()
	child, err := os.ReadFile(p.Path + ".child")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(child)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// Files that the system does not start are reported with the reason.
func TestNoPrograms(t *testing.T) {
	for text, want := range map[string]string{
		"#!/nonexistent/interpreter\n": "the interpreter in its first line, does not exist",
		"no program":                   "no script whose first line is #!INTERPRETER",
	} {
		path := filepath.Join(t.TempDir(), "peer")
		checktest.Program(t, path, []byte(text))
		p, err := New("", path)
		if err != nil {
			t.Fatal(err)
		}
		if x, err := p.Acquire(1); x != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, x, err)
		}
	}
}

// A program that was replaced after it was described is not started.
func TestReplacedPeers(t *testing.T) {
	p := program(t, "exit 0\n")
	if err := os.WriteFile(p.Path, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	x, err := p.Acquire(1)
	if x != nil || err == nil || !strings.Contains(err.Error(), "was replaced since the run began") {
		t.Errorf("%v, %v", x, err)
	}
}

// An answer that was written before its question is not taken for the answer.
func TestAnswersOutOfTurn(t *testing.T) {
	p := program(t, `while read -r verb <&3; do printf 'pong\npong\n' >&4; done`+"\n")
	x, err := p.Acquire(1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if _, err := x.Ping(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Ping(); err == nil || !strings.Contains(err.Error(), "it spoke out of turn: pong") {
		t.Errorf("after two answers to one question: %v", err)
	}
}

// isRunning reports whether a process has not ended, whether or not another one has noted its end.
func isRunning(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A peer that does not reply to a command, or does not read it, is killed at its limit, and without a
// worker its child processes too. The first reply also waits for the start.
func TestLateReplies(t *testing.T) {
	const limit = 100 * time.Millisecond
	for verb, act := range map[string]func(*Process) error{
		"about":     func(x *Process) error { _, err := x.exchange("about"); return err },
		"bind":      func(x *Process) error { _, err := x.Bind("image=a"); return err },
		"do":        func(x *Process) error { _, err := x.Do([]int{1, 2}); return err },
		"free":      func(x *Process) error { return x.Free(1) },
		"allocated": func(x *Process) error { _, err := x.Allocated(1, 1); return err },
		"unread":    func(x *Process) error { _, err := x.ask("", "unread", strings.Repeat("x", 1<<20)); return err },
	} {
		for _, alone := range []bool{false, true} {
			p := program(t, `sleep 1000 2>&- & echo $! >"$0.child"; read -r verb <&3; echo pong >&4; [ `+verb+
				` = unread ] || read -r verb <&3; wait`+"\n")
			p.Limit = limit
			x, err := start(p, launch{path: p.Path, alone: alone})
			if err != nil {
				t.Fatal(err)
			}
			first := time.Duration(0)
			if alone {
				first = 2*limit + starting
			}
			if x.limit() != first {
				t.Errorf("the first reply has %v, want %v", x.limit(), first)
			}
			if _, err := x.Ping(); err != nil {
				t.Fatal(err)
			}
			late := new(Error)
			began := time.Now()
			err = act(x)
			if took := time.Since(began); took < limit || took > time.Minute {
				t.Errorf("%s took %v, the limit is %v", verb, took, limit)
			}
			if want := "the peer is late at " + verb + ": no reply within 100 ms"; !errors.As(err, &late) ||
				late.Kind != Late || err.Error() != want {
				t.Errorf("%s: %v, want: %s", verb, err, want)
			}
			if _, again := x.Ping(); again != err {
				t.Errorf("after %s: %v", verb, again)
			}
			x.end()
			pid := childOf(t, p)
			if !alone { // a worker ends it
				unix.Kill(pid, unix.SIGKILL)
			}
			for deadline := time.Now().Add(time.Minute); isRunning(pid); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%s: process %d is left", verb, pid)
				}
			}
		}
	}
	if x := (&Process{peer: &Peer{}, launch: launch{alone: true}, awake: true}); x.limit() != patience {
		t.Errorf("a reply has %v, want %v", x.limit(), patience)
	}
	if x := (&Process{peer: &Peer{}, awake: true}); x.limit() != 0 {
		t.Errorf("a reply to a worker has %v, want the limit of the worker", x.limit())
	}
}

// A peer that has ended gets no new deadline, although other processes keep its pipes open: neither a reply
// nor the writing of a command is waited for.
func TestEndedPeers(t *testing.T) {
	for verb, arg := range map[string]string{"unread": strings.Repeat("x", 1<<20), "unanswered": ""} {
		p := program(t, `sleep 1000 2>&- & echo $! >"$0.child"; read -r verb <&3; sleep 0.3; echo pong >&4`+"\n")
		x, err := start(p, launch{path: p.Path})
		if err != nil {
			t.Fatal(err)
		}
		p.Waiting = func(verb string) {
			if verb == "" { // the reply came late: the peer ends before the next command
				<-x.ended
				time.Sleep(farewell / 10)
			}
		}
		if _, err := x.Ping(); err != nil {
			t.Fatal(err)
		}
		p.Waiting = nil
		failed := make(chan error, 1)
		go func() {
			_, err := x.ask("", verb, arg)
			failed <- err
		}()
		select {
		case err := <-failed:
			if want := "the peer broke at " + verb + ": it ended with exit status 0"; err == nil || err.Error() != want {
				t.Errorf("%v, want: %s", err, want)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: waiting for a peer that has ended", verb)
			x.to.Close()
			x.from.Close()
			<-failed
		}
		x.end()
		unix.Kill(childOf(t, p), unix.SIGKILL)
	}
}

// Samples of a thread that is busy for longer than there is space for them are none, those of a short
// time are all.
func TestSamples(t *testing.T) {
	for _, c := range []struct {
		period time.Duration
		some   bool
	}{{20 * time.Microsecond, false}, {20 * time.Millisecond, true}} {
		cmd := exec.Command("sh", "-c", "read go; i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := (&Process{pid: cmd.Process.Pid}).Sample(c.period)
		fmt.Fprintln(in, "go")
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		list := end()
		if c.some && len(list) == 0 {
			t.Skip("the kernel samples nothing here")
		}
		if len(list) > 1000 || len(list) > 0 != c.some {
			t.Errorf("%d samples, one every %v", len(list), c.period)
		}
	}
}

// The memory of an image is used for the next one of the same size, with a header of its own, until the process ends.
func TestRecycledImages(t *testing.T) {
	p := program(t, `while read -r verb <&3; do echo pong >&4; done`+"\n")
	x, err := p.Acquire(1)
	if err != nil {
		t.Fatal(err)
	}
	var last *Array
	for k, c := range []struct {
		kind   string
		shape  []int64
		reuses bool
	}{{"|u1", []int64{3, 4}, false}, {"<i2", []int64{2, 3}, true}, {"<i2", []int64{7}, false}, {"|u1", []int64{14}, true}} {
		a, err := x.Image(c.kind, c.shape)
		if err != nil {
			t.Fatal(err)
		}
		if reuses := last == a; reuses != c.reuses {
			t.Errorf("image %d: reuses memory %v", k, reuses)
		}
		opened, kind, shape, err := Open(a.Path(), false)
		if err != nil || kind != c.kind || !slices.Equal(shape, c.shape) {
			t.Fatalf("image %d is %s of %v, %v", k, kind, shape, err)
		}
		opened.Close()
		if _, _, _, err := Open(a.Path(), true); err == nil {
			t.Errorf("image %d can be written", k)
		}
		x.Recycle(a)
		last = a
	}
	path := last.Path()
	p.Release()
	if _, _, _, err := Open(path, false); err == nil {
		t.Error("the image is left after the process")
	}
}
