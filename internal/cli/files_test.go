//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"eccbench/internal/ask"
)

// A target that is an input or another target is rejected, under any name, before it exists and
// after.
func TestApart(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"in", "other"} {
		if err := os.WriteFile(name, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("in", "link"), os.Symlink("new", "dangling"), os.Symlink(".", "folder"), os.Link("in", "hard")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b   string // targets
		inputs []string
		want   bool // rejected
	}{
		{"in", "", []string{"in"}, true},
		{"./in", "", []string{"other", "in"}, true},
		{filepath.Join(here, "in"), "", []string{"in"}, true},
		{"link", "", []string{"in"}, true},
		{"hard", "", []string{"in"}, true},
		{"in", "", []string{"link"}, true},
		{"folder/in", "", []string{"in"}, true},
		{"new", "new", nil, true},
		{"new", "./folder/../new", nil, true},
		{"new", "folder/new", nil, true},
		{"dangling", "new", nil, true},
		{"none/new", "none/../none/new", nil, true},
		{"", "in", []string{"in"}, true},
		{"new", "", []string{"in"}, false},
		{"new", "newer", []string{"in", ""}, false},
		{"other", "new", []string{"in"}, false},
		{"", "", []string{""}, false},
		{os.DevNull, os.DevNull, []string{"in"}, false},
	} {
		err := CheckTargets([]Target{{"-a", c.a}, {"-b", c.b}}, c.inputs...)
		if (err != nil) != c.want {
			t.Errorf("targets %q and %q, inputs %q: %v", c.a, c.b, c.inputs, err)
		}
		if usage := (ask.UsageError{}); err != nil && !errors.As(err, &usage) {
			t.Errorf("%v is no error of the arguments", err)
		}
	}
}

// Writing to a link writes the file that it refers to.
func TestWriteFileFollowsLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("there", 0o777), os.Symlink("there/file", "link")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		err := WriteFile("link", func(w *os.File) error { _, err := w.WriteString(text); return err })
		got, readErr := os.ReadFile("there/file")
		if err := errors.Join(err, readErr); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
		if to, err := os.Readlink("link"); err != nil || to != "there/file" {
			t.Errorf("the link leads to %q, %v", to, err)
		}
	}
	if list, err := os.ReadDir("there"); err != nil || len(list) != 1 {
		t.Errorf("%v is left, %v", list, err)
	}
}

// A new file obeys the umask, and a file that is replaced keeps its mode.
func TestWriteFileKeepsModes(t *testing.T) {
	t.Chdir(t.TempDir())
	defer syscall.Umask(syscall.Umask(0o027))
	for name, mode := range map[string]os.FileMode{
		"new": 0o640, "secret": 0o600, "shared": 0o666, "program": 0o755, "fixed": 0o444,
	} {
		if name != "new" {
			if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chmod(name, mode)); err != nil {
				t.Fatal(err)
			}
		}
		var during os.FileMode
		err := WriteFile(name, func(w *os.File) error {
			info, err := w.Stat()
			during = info.Mode()
			return err
		})
		info, statErr := os.Stat(name)
		if err := errors.Join(err, statErr); err != nil || info.Mode() != mode || during != mode {
			t.Errorf("%s has mode %v, while it is written %v, %v, want %v", name, info.Mode(), during, err, mode)
		}
	}
}

// Of several files none is new or replaced if one of them or the last result cannot be written.
func TestWriteFiles(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	full := errors.New("a full disk")
	word := func(s string) func(*os.File) error {
		return func(f *os.File) error { _, err := f.WriteString(s); return err }
	}
	fails := func(*os.File) error { return full }
	nothing := func() error { return nil }
	if err := os.WriteFile(path("old"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for i, failed := range []error{
		WriteFiles([]File{{path("old"), word("new")}, {path("new"), word("new")}, {path("last"), fails}}, nothing),
		WriteFiles([]File{{path("old"), word("new")}, {path("new"), word("new")}, {"", fails}}, func() error { return full }),
	} {
		entries, err := os.ReadDir(folder)
		old, errOld := os.ReadFile(path("old"))
		if !errors.Is(failed, full) || err != nil || errOld != nil || len(entries) != 1 || string(old) != "old" {
			t.Errorf("case %d: %v leaves %v, %q (%v, %v)", i, failed, entries, old, err, errOld)
		}
	}
	if err := WriteFiles([]File{{path("old"), word("new")}, {path("new"), word("new")}}, nothing); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		if data, err := os.ReadFile(path(name)); err != nil || string(data) != "new" {
			t.Errorf("%s: %q (%v)", name, data, err)
		}
	}
}
