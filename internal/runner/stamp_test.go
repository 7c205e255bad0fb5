package runner

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// An answer about an input that changed during the run is neither right nor wrong.
func TestInputThatChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	p := toyPlan(t, "plain", "replacer", "loser")
	p.Scope = bench.File
	t.Setenv(toyFile, path)
	var got collector
	if err := Run(t.Context(), p, &got); err != nil {
		t.Fatal(err)
	}
	reason := "input changed while it was measured: " + path
	for i, want := range []verify.Verdict{{Status: verify.Verified}, {Status: verify.Crashed, Reason: reason}, {Status: verify.Skipped, Reason: reason}} {
		if c := got.cells[i]; c.Status != want.Status || c.Reason != want.Reason {
			t.Errorf("%s: %s: %s, want %s: %s", c.Impl, c.Status, c.Reason, want.Status, want.Reason)
		}
	}
}

// The same holds for an input that changed while it was read.
func TestInputThatChangesWhileItIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	p := toyPlan(t, "plain")
	t.Setenv(toyFile, path)
	for writes, want := range map[string]verify.Verdict{"": {Status: verify.Verified}, "yes": {Status: verify.Skipped, Reason: "input changed while it was read: " + path}} {
		t.Setenv(toyWrites, writes)
		var got collector
		if err := Run(t.Context(), p, &got); err != nil {
			t.Fatal(err)
		}
		if c := got.cells[0]; c.Status != want.Status || c.Reason != want.Reason {
			t.Errorf("%s: %s, want %s: %s", c.Status, c.Reason, want.Status, want.Reason)
		}
	}
}

// A file has changed if its content, time, size or identity differs.
func TestStamps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	was := stampsOf([]string{path})
	if got := changed(was); got != "" {
		t.Errorf("%s has changed", got)
	}
	for what, change := range map[string]func(){
		"content": func() { write("two") },
		"size":    func() { write("three") },
		"time":    func() { write("one"); os.Chtimes(path, time.Unix(2, 0), time.Unix(2, 0)) },
		"file":    func() { os.Rename(path, path+".old"); write("one") },
		"none":    func() { os.Remove(path) },
	} {
		if change(); changed(was) != path {
			t.Errorf("another %s: no change", what)
		}
		os.Remove(path)
		write("one")
		was = stampsOf([]string{path})
	}
	// Two writes may have all times in common.
	write("two")
	var err error
	if was[0].info, err = os.Stat(path); err != nil || changed(was) != path {
		t.Errorf("other bytes of the same times and size: no change, %v", err)
	}
}

// Contents distinguish files up to a total size; larger files are distinguished by their size and
// time only.
func TestStampsOfLargeFiles(t *testing.T) {
	var paths []string
	for i, size := range []int{small - 1, 2, 1, 1} {
		path := filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
			t.Fatalf("file %d: %v", i, err)
		}
		paths = append(paths, path)
	}
	for i, s := range stampsOf(paths) {
		if read, want := s.sum != [len(s.sum)]byte{}, i == 0 || i == 2; read != want {
			t.Errorf("file %d was read: %v, want %v", i, read, want)
		}
	}
}
