//go:build unix

package runner

import (
	"os"
	"path/filepath"
	"testing"

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
