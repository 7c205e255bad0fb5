package runner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"eccbench/internal/verify"
)

// misbehave does in a call what no implementation should.
func misbehave(fault string) error {
	path := os.Getenv(toyFile)
	switch fault {
	case "start", "desert": // a process in a session of its own that keeps every pipe open
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		fd, err := syscall.Dup(eventsFD) // the worker's own is closed by the worker alone
		if err != nil {
			return err
		}
		events := os.NewFile(uintptr(fd), "events")
		defer events.Close()
		cmd := exec.Command("sleep", "10000")
		cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{events}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(strconv.Itoa(cmd.Process.Pid)), 0o666); err != nil {
			return err
		}
		if fault == "desert" {
			os.Exit(3)
		}
	case "hoard":
		const most = 512 << 20
		f, err := newFile("a hoard")
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
	case "replace":
		return os.WriteFile(path, fmt.Append(nil, time.Now().UnixNano()), 0o666)
	}
	return nil
}

// What a worker has started ends with it, whatever session it is in and whatever it keeps
// open, and nobody waits for it.
func TestStraysEnd(t *testing.T) {
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
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil && runtime.GOOS == "linux" {
			t.Errorf("%s: the process that it started goes on", impl)
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Files in memory are memory of the worker's own.
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

// Where a system has no name for the program that runs, one that was replaced starts no
// worker.
func TestReplacedProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("old"), 0o777); err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unchanged(path, was); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("newer"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unchanged(path, was); err == nil || !strings.Contains(err.Error(), path+" was replaced") {
		t.Errorf("replaced: %v", err)
	}
	os.Remove(path)
	if err := unchanged(path, was); err == nil {
		t.Error("gone, and no error")
	}
}
