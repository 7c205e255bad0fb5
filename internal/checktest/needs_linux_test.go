package checktest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A program that was written can be started at once, while other goroutines write and start others.
func TestProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			path := filepath.Join(dir, name)
			for range 25 {
				Program(t, path, code)
				if err := errors.Join(exec.Command(path, "-test.run", "^$").Run(), os.Remove(path)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
