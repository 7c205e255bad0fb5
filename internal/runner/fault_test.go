//go:build unix

package runner

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"eccbench/internal/memfile"
	"eccbench/internal/verify"
)

const (
	eventsFD = 0                     // of a worker's connection
	look     = 50 * time.Millisecond // the interval between checks of a limit
)

// misbehave commits a fault in a call.
func misbehave(fault string) error {
	path := os.Getenv(toyFile)
	switch fault {
	case "start", "desert": // a process in its own session that keeps every pipe open
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		fd, err := syscall.Dup(eventsFD) // the worker itself closes its own
		if err != nil {
			return err
		}
		events := os.NewFile(uintptr(fd), "events")
		defer events.Close()
		cmd := exec.Command("sh", "-c", `sleep 10000 & echo $$ $! >"$0"; exec sleep 10000`, path)
		cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{events}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		for text := []byte(nil); !bytes.HasSuffix(text, []byte("\n")); text, _ = os.ReadFile(path) {
			time.Sleep(time.Millisecond)
		}
		if fault == "desert" {
			os.Exit(3)
		}
	case "hoard":
		const most = 512 << 20
		f, err := memfile.New("a hoard")
		if err != nil {
			return err
		}
		for range most / (4 << 20) {
			if _, err := f.Write(make([]byte, 4<<20)); err != nil {
				return err
			}
		}
		time.Sleep(10 * look)
		return f.Close()
	case "babble": // writes nonsense and nothing after it
		if _, err := syscall.Write(eventsFD, []byte("what?\n")); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "bequeath":
		has, err := exec.Command("sh", "-c", "ls -l /proc/self/fd/").Output()
		for _, what := range []string{"memfd:", "socket:"} {
			if strings.Contains(string(has), what) {
				return fmt.Errorf("what it starts has its files: %s", has)
			}
		}
		return err
	case "dawdle":
		dawdle()
	case "replace":
		return os.WriteFile(path, fmt.Append(nil, time.Now().UnixNano()), 0o666)
	}
	return nil
}

// dawdle lasts until a limit has been checked.
var dawdle = sync.OnceFunc(func() { time.Sleep(3 * look) })

// A worker has the time limit for each phase by the clock of the run, and unlimited time without a
// limit.
func TestLimitsOfTime(t *testing.T) {
	for limit, want := range map[time.Duration]verify.Status{0: verify.Verified, time.Minute: verify.Timeout} {
		p := toyPlan(t, "dawdler")
		p.Sampling, p.Time, p.Budget = nil, limit, 0
		var mu sync.Mutex
		now := time.Unix(0, 0)
		p.Clock = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Hour)
			return now
		}
		var got collector
		if err := Run(t.Context(), p, &got); err != nil {
			t.Fatal(err)
		}
		// The grace that every worker has is 10 s.
		if c := got.cells[0]; c.Status != want || want == verify.Timeout && !strings.HasSuffix(c.Reason, " after 70.0 s") {
			t.Errorf("limit %v: %s (%s), want %s", limit, c.Status, c.Reason, want)
		}
	}
}

// A worker with unknown output is ended.
func TestMalformedEvent(t *testing.T) {
	var got collector
	if err := Run(t.Context(), toyPlan(t, "babbler"), &got); err != nil {
		t.Fatal(err)
	}
	if c := got.cells[0]; c.Status != verify.Crashed || !strings.HasPrefix(c.Reason, "the worker wrote a malformed event: ") {
		t.Errorf("%s: %s", c.Status, c.Reason)
	}
}

// All descendants of a worker end with it, in any session and with any open files, without any
// wait. No other process ends.
func TestStraysEnd(t *testing.T) {
	innocent := exec.Command("sleep", "10000")
	if err := innocent.Start(); err != nil {
		t.Skip(err)
	}
	defer innocent.Wait()
	defer innocent.Process.Kill()
	for impl, want := range map[string]verify.Status{"starter": verify.Verified, "deserter": verify.Crashed} {
		path := filepath.Join(t.TempDir(), "pid")
		p := toyPlan(t, impl)
		t.Setenv(toyFile, path)
		var got collector
		if err := Run(t.Context(), p, &got); err != nil {
			t.Fatal(err)
		}
		if c := got.cells[0]; c.Status != want || want == verify.Crashed && !strings.Contains(c.Reason, "exit status 3") {
			t.Errorf("%s: %s: %s, want %s", impl, c.Status, c.Reason, want)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, 0); err == nil && runtime.GOOS == "linux" {
				t.Errorf("%s: process %d, which it started, goes on", impl, pid)
			}
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if got, err := syscall.Wait4(innocent.Process.Pid, nil, syscall.WNOHANG, nil); got != 0 {
			t.Fatalf("a process of somebody else has ended: %v", err)
		}
	}
}

// Files in memory count as the worker's own memory.
func TestFilesInMemoryCount(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits of memory are enforced on Linux only")
	}
	p := toyPlan(t, "hoarder", "plain")
	p.Memory = 256 << 20
	var got collector
	if err := Run(t.Context(), p, &got); err != nil {
		t.Fatal(err)
	}
	if c := got.cells[1]; c.Status != verify.Crashed || !strings.Contains(c.Reason, "the limit is 256 MiB") {
		t.Errorf("%s: %s, want a worker that is ended at its limit", c.Status, c.Reason)
	}
	if c := got.cells[0]; c.Status != verify.Verified {
		t.Errorf("%s: %s: %s", c.Impl, c.Status, c.Reason)
	}
}

// Child processes of a worker inherit neither its inputs and answers nor its pipe.
func TestNothingIsBequeathed(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip(err)
	}
	var got collector
	if err := Run(t.Context(), toyPlan(t, "heirless"), &got); err != nil {
		t.Fatal(err)
	}
	if c := got.cells[0]; c.Status != verify.Verified {
		t.Errorf("%s: %s", c.Status, c.Reason)
	}
}

// The record of a worker that fails after it wrote the record is not believed.
func TestWorkersThatDieAtTheEnd(t *testing.T) {
	p := toyPlan(t, "plain")
	p.Sampling = nil
	t.Setenv(toyDies, "7")
	var got collector
	if err := Run(t.Context(), p, &got); err != nil {
		t.Fatal(err)
	}
	if c := got.cells[0]; c.Status != verify.Crashed || !strings.Contains(c.Reason, "exit status 7") {
		t.Errorf("%s: %s", c.Status, c.Reason)
	}
}
