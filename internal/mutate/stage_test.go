package main

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A process with too much memory is ended, which counts as noticed.
func TestHeld(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what processes hold")
	}
	group, err := syscall.Getpgid(0)
	if bytes, used := usage(group); err != nil || bytes < 1<<20 || used <= 0 {
		t.Errorf("this group holds %d bytes and used %v (%v)", bytes, used, err)
	}
}

// A process that never stops is ended, which counts as noticed.
func TestEndless(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what processes use")
	}
	s := Stage{argv: []string{"sh", "-c", "while :; do :; done"}}
	failed, _, used, err := s.run(t.Context(), 0, 100*time.Millisecond, t.TempDir())
	if !failed || err != nil {
		t.Errorf("it failed: %v (%v)", failed, err)
	}
	if used < 100*time.Millisecond {
		t.Errorf("it used %v", used)
	}
}
