//go:build unix

package main

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"eccbench/internal/cli"
)

// A command that answers about an image ends on a signal with one line and ExitInconclusive, and
// leaves no file.
func TestInterruptedAnswers(t *testing.T) {
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	for i, args := range [][]string{
		{"curve"}, {"betti"}, {"pairs"}, {"gvf", "--steps", "1"}, {"eigenmap"}, {"homology"}, {"levels"},
	} {
		by := signals[i%len(signals)]
		t.Run(args[0]+" by "+by.String(), func(t *testing.T) {
			folder := t.TempDir()
			pipe := filepath.Join(folder, "pipe.part")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := program(t, append(append(args, pipe), "-o", filepath.Join(folder, "out.npy"))...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if by == syscall.SIGHUP && signal.Ignored(syscall.SIGHUP) {
				t.Skip("a hang-up is ignored here, and in all that is started")
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // when the command reads
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			cmd.Process.Signal(by)
			cmd.Wait() // the exit code is checked below
			if code := cmd.ProcessState.ExitCode(); code != cli.ExitInconclusive || stderr.String() != "eccbench: interrupted\n" {
				t.Errorf("exit code %d, want %d: %s", code, cli.ExitInconclusive, stderr.String())
			}
			if list, err := os.ReadDir(folder); err != nil || len(list) != 1 {
				t.Errorf("%v is left, %v", list, err)
			}
		})
	}
}
