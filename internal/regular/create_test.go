//go:build unix

package regular

import (
	"os"
	"path/filepath"
	"testing"
)

// What a killed process left is removed by the next one, and nothing that a living process writes, or of other names.
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
