//go:build unix

package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	c := &Program{Stdin: strings.NewReader("from a pipe")}
	paths, s, err := c.Spool([]string{"scan.nii", Standard, "noise/shape=4x4"})
	if err != nil {
		t.Fatal(err)
	}
	if paths[0] != "scan.nii" || paths[2] != "noise/shape=4x4" {
		t.Errorf("other inputs became %q", paths)
	}
	for range 2 { // as often as one likes
		if got, err := os.ReadFile(paths[1]); string(got) != "from a pipe" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%d files have names, %v", len(left), err)
	}
	cause := errors.New("opening " + paths[1] + ": no")
	if said := s.ErrorWithNames(cause); said.Error() != "opening -: no" || !errors.Is(said, cause) {
		t.Errorf("the error says %q", said)
	}
	if other := errors.New("no"); s.ErrorWithNames(other) != other || s.ErrorWithNames(nil) != nil {
		t.Error("an error of something else was changed")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if f, err := os.Open(paths[1]); err == nil {
		f.Close()
		t.Error("a spooled file is there after Close")
	}
}

// An input without an end does not fill the disk.
func TestSpoolEndless(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	defer func(was func(string) (int64, error)) { freeDisk = was }(freeDisk)
	freeDisk = func(string) (int64, error) { return 16, nil }
	for input, want := range map[string]string{"14 bytes of it": "", "15 bytes of it.": "it has more than the 14 B that"} {
		paths, s, err := (&Program{Stdin: strings.NewReader(input)}).Spool([]string{Standard})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", input, err, want)
		}
		if err == nil {
			if got, err := os.ReadFile(paths[0]); string(got) != input || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			s.Close()
		}
	}
}

func TestSpoolShown(t *testing.T) {
	s := &Spooled{names: map[string]string{"/proc/1/fd/3": "-", "/proc/1/fd/31": "/dev/fd/63"}}
	if got := s.WithNames("/proc/1/fd/31 and /proc/1/fd/3"); got != "/dev/fd/63 and -" {
		t.Error(got)
	}
}

// Data already in a file is not copied, unless a part of it was read.
func TestSpoolFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, []byte("0123456789"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 4} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Seek(at, 0); err != nil {
			t.Fatal(err)
		}
		paths, s, err := (&Program{Stdin: f}).Spool([]string{Standard})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, err := os.ReadFile(paths[0]); string(got) != "0123456789"[at:] || err != nil {
			t.Errorf("from byte %d: %q, %v", at, got, err)
		}
		if copies := len(s.files); copies != int(min(at, 1)) {
			t.Errorf("from byte %d: %d copies", at, copies)
		}
	}
}

func TestSpoolPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(path, []byte("through it"), 0o666)
	paths, s, err := (&Program{}).Spool([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := os.ReadFile(paths[0]); string(got) != "through it" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if s.WithNames(paths[0]) != path {
		t.Errorf("called %q", s.WithNames(paths[0]))
	}
}

// The remedy is about the input, not about a full disk.
func TestSpoolRemedies(t *testing.T) {
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for want, from := range map[string]io.Reader{
		"standard input is a folder; give it as an argument": folder,
		"no disk; save it to a file":                         iotest.ErrReader(errors.New("no disk")),
		"no space left on device; set TMPDIR to a folder":    iotest.ErrReader(syscall.ENOSPC),
	} {
		if _, _, err := (&Program{Stdin: from}).Spool([]string{Standard}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestSpoolTwice(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	c := &Program{Stdin: strings.NewReader("x")}
	if _, _, err := c.Spool([]string{Standard}); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("no folder to keep it in: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if _, _, err := c.Spool(slices.Repeat([]string{Standard}, 2)); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("given twice: %v", err)
	}
}
