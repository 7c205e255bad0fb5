package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// git answers as git does in a checkout in which that is changed. Named after a command, it is
// this that fails.
func git(changed string, args []string) (exit int) {
	if args[0] == changed {
		return 128
	}
	switch strings.Join(args, " ") {
	case "rev-parse HEAD":
		fmt.Println("0123abcd")
	case "status --porcelain":
		fmt.Print(changed)
	default:
		return 1
	}
	return 0
}

// A program that says nothing of its commit has that of the checkout it is run in, which is
// dirty where anything is changed or nobody knows; not that of another program's.
func TestCommitOfACheckout(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "git")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", dir)
	t.Chdir(dir)
	for _, c := range []struct{ module, changed, want string }{
		{"module toy\n\ngo 1.25\n", "", "0123abcd"},
		{"module toy\n", " M toy.go\n", "0123abcd+dirty"},
		{"module toy\n", "status", "0123abcd+dirty"},
		{"module toy\n", "rev-parse", "unknown"},
		{"module toys\n", "", "unknown"},
		{"", "", "unknown"},
	} {
		if err := os.WriteFile("go.mod", []byte(c.module), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Setenv(toyGit, c.changed)
		if got := checkoutCommit("toy"); got != c.want {
			t.Errorf("%q changed in %q: %s, want %s", c.changed, c.module, got, c.want)
		}
	}
	if err := os.Remove("go.mod"); err != nil {
		t.Fatal(err)
	}
	if got := checkoutCommit("toy"); got != "unknown" {
		t.Errorf("without a module: %s", got)
	}
}
