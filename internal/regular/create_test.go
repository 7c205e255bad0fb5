//go:build unix

package regular

import (
	"os"
	"path/filepath"
	"testing"
)

// A process removes the files of killed ones, and no file of a living process or of another name.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	living, err := Create(filepath.Join(dir, "living"))
	if err != nil {
		t.Fatal(err)
	}
	defer living.Drop()
	left, other := filepath.Join(dir, ".eccbench-ABCDEFGHIJKLMNOP"), filepath.Join(dir, ".eccbench-settings")
	for _, name := range []string{left, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	for name, want := range map[string]bool{left: false, other: true, living.Name(): true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	if err := living.Commit(); err != nil {
		t.Error(err)
	}
	living.Drop()
	if _, err := os.Stat(filepath.Join(dir, "living")); err != nil {
		t.Error(err)
	}
}

// A folder that a killed process left is removed, and one of a living process is not.
func TestSweptFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	living, err := MkdirTemp("test-")
	if err != nil {
		t.Fatal(err)
	}
	left, other := filepath.Join(os.TempDir(), "test-1"), filepath.Join(os.TempDir(), "test-2")
	for _, name := range []string{left, other} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, lockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := MkdirTemp("test-"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{left: false, other: true, living: true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
}

// A failed write leaves the former file, and nothing else.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	dropped, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dropped.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	dropped.Drop()
	closed, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close() // so that it cannot reach the disk
	if closed.Commit() == nil {
		t.Error("a file that is closed is given its name")
	}
	text, err := os.ReadFile(path)
	list, lerr := os.ReadDir(filepath.Dir(path))
	if err != nil || lerr != nil || string(text) != "old" || len(list) != 1 {
		t.Errorf("%q (%v), %v (%v)", text, err, list, lerr)
	}
}
