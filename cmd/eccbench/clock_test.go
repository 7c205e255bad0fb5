//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The clocks of the test's programs are not the machine's, so that the output is independent of its
// load. For a run's limits, time passes only when a worker reports that it hangs. For a worker,
// each call takes the same time.

// hangs are files below os.TempDir, one for each worker of a process that hangs, which its
// number ends.
func hangs(parent int) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("eccbench-hang-%d-", parent))
}

// hang reports that this worker hangs, and hangs.
func hang() {
	if err := os.WriteFile(hangs(os.Getppid())+strconv.Itoa(os.Getpid()), nil, 0o666); err != nil {
		panic(err)
	}
	select {}
}

// patient is a clock for limits of a run: an hour passes between two readings while a worker hangs,
// and no time otherwise.
func patient() func() time.Time {
	var mu sync.Mutex
	now := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		list, err := filepath.Glob(hangs(os.Getpid()) + "*")
		if err != nil {
			panic(err)
		}
		for _, file := range list {
			pid, err := strconv.Atoi(strings.TrimPrefix(file, hangs(os.Getpid())))
			if err != nil {
				panic(err)
			}
			if syscall.Kill(pid, 0) == nil { // it is there
				now = now.Add(time.Hour)
			}
		}
		return now
	}
}

// A metronome is the clock of a worker: a beat passes between two readings.
type metronome struct {
	mu         sync.Mutex
	now        time.Time
	beat, next time.Duration
}

// newMetronome makes the beats of two processes differ by less than a hundredth, as calls
// do, so that there is noise.
func newMetronome() *metronome {
	beat := 20*time.Millisecond + time.Duration(os.Getpid()%7)*20*time.Microsecond
	return &metronome{beat: beat, next: beat}
}

func (m *metronome) time() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now, m.next = m.now.Add(m.next), m.beat
	return m.now
}

// until sets how much time passes until the next look.
func (m *metronome) until(next time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = next
}

// waiting is the variable with the number of processes of the implementation waiter that
// do not wait; those after them wait for ever.
const waiting = "ECCBENCH_TEST_WAITING"

// hold makes waiting programs wait until a file named released exists below os.TempDir.
const (
	hold     = "ECCBENCH_TEST_HOLD"
	released = "eccbench-released"
)

// waiters are files below os.TempDir, one for each process of waiter.
func waiters() []string {
	list, err := filepath.Glob(filepath.Join(os.TempDir(), "eccbench-waiter-*"))
	if err != nil {
		panic(err)
	}
	return list
}

// wait is the first call of the implementation waiter.
func wait() {
	n, err := strconv.Atoi(os.Getenv(waiting))
	if err != nil {
		return
	}
	f, err := os.CreateTemp("", "eccbench-waiter-")
	if err != nil {
		panic(err)
	}
	f.Close()
	for len(waiters()) > n {
		if os.Getenv(hold) == "" {
			select {}
		}
		if _, err := os.Stat(filepath.Join(os.TempDir(), released)); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// await repeats a check until it holds, or until the time of the tests is over.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		if end, ok := t.Deadline(); ok && time.Until(end) < 10*time.Second {
			t.Fatalf("%s: not yet", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
