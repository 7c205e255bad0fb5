//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A program that a signal ends while it writes a file leaves nothing of the file. This holds also
// if the whole program waits for the signal elsewhere.
func TestInterruptedWrite(t *testing.T) {
	const variable = "ECCBENCH_TEST_WRITE"
	if path := os.Getenv(variable); path != "" {
		defer EndOnInterrupt(os.Stderr)()
		err := WriteFile(path, func(f *os.File) error {
			if _, err := f.WriteString("half"); err != nil {
				return err
			}
			if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
				return err
			}
			select {}
		})
		t.Fatal(err)
	}
	folder := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestInterruptedWrite$")
	cmd.Env = append(os.Environ(), variable+"="+filepath.Join(folder, "file"))
	said, _ := cmd.CombinedOutput() // the exit code is checked below
	if code := cmd.ProcessState.ExitCode(); code != ExitInconclusive || string(said) != "eccbench: interrupted\n" {
		t.Errorf("exit code %d, want %d: %s", code, ExitInconclusive, said)
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) != 0 {
		t.Errorf("%v is left, %v", list, err)
	}
}
