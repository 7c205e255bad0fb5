package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"eccbench/internal/host"
	"eccbench/internal/quantity"
)

// Spooled inputs are copies of inputs that can be read only once. The copies are files without
// names in $TMPDIR, so that nothing remains after the process ends.
type Spooled struct {
	files []*os.File
	names map[string]string // the user's name of the input by path
}

// Standard is the argument that means standard input.
const Standard = "-"

// keptOfDisk is the part of a free disk that copies leave free, for other programs: an input may have no end.
const keptOfDisk = 8

// freeDisk is host.FreeDisk, but for tests.
var freeDisk = host.FreeDisk

// Spool copies standard input and named pipes to files, and returns the paths of all inputs.
func (c *Program) Spool(inputs []string) (paths []string, s *Spooled, err error) {
	s = &Spooled{names: map[string]string{}}
	for i, in := range inputs {
		if in == Standard && slices.Contains(inputs[:i], in) {
			s.Close()
			return nil, nil, Usagef("input -: standard input is given twice, and can be read once")
		}
		path, err := s.spool(c.Stdin, in)
		if err != nil {
			s.Close()
			return nil, nil, err
		}
		if path != in {
			s.names[path] = in
		}
		paths = append(paths, path)
	}
	return paths, s, nil
}

// spool returns a path with the contents of an input.
func (s *Spooled) spool(stdin io.Reader, in string) (path string, err error) {
	from := stdin
	if in != Standard {
		info, err := os.Stat(in)
		if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			return in, nil
		}
		pipe, err := os.Open(in)
		if err != nil {
			return "", Usagef("input %s: %w", in, errors.Unwrap(err))
		}
		defer pipe.Close() // closing a file that was only read cannot lose anything
		from = pipe
	} else if f, ok := from.(*os.File); ok {
		if _, ok := terminal(f); ok {
			return "", Usagef("input -: standard input is a terminal; pipe an image into it")
		}
		info, err := f.Stat()
		if err == nil && info.Mode()&os.ModeDevice != 0 {
			return "", Usagef("input -: standard input is a device, which may have no end; pipe an image into it")
		}
		if err == nil && info.IsDir() {
			return "", Usagef("input -: standard input is a folder; give it as an argument")
		}
		// A file that was not read yet need not be copied.
		at, serr := f.Seek(0, io.SeekCurrent)
		if err == nil && serr == nil && info.Mode().IsRegular() && at == 0 {
			return nameless(in, f)
		}
	}
	to, err := os.CreateTemp("", "eccbench.*")
	if err != nil {
		return "", fmt.Errorf("keeping what comes from %s in %s: %w; set TMPDIR to a folder with room",
			in, os.TempDir(), cause(err))
	}
	s.files = append(s.files, to)
	if err := os.Remove(to.Name()); err != nil {
		return "", fmt.Errorf("keeping what comes from %s: %w", in, err)
	}
	most := int64(math.MaxInt64 - 1)
	if free, err := freeDisk(os.TempDir()); err == nil { // else a full disk is an error of the copy
		most = free - free/keptOfDisk
	}
	n, err := io.Copy(to, io.LimitReader(from, most+1))
	if err != nil {
		advice := "save it to a file"
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			advice = "set TMPDIR to a folder with room"
		}
		return "", fmt.Errorf("keeping what comes from %s in %s: %w; %s", in, os.TempDir(), cause(err), advice)
	}
	if n > most {
		return "", Usagef("input %s: it has more than the %s that %s has room for; save it to a file, or set TMPDIR to a "+
			"folder with room", in, quantity.Bytes(most), os.TempDir())
	}
	return nameless(in, to)
}

// nameless returns a path of an open file, the copy of an input. On Linux other processes can open the path too.
func nameless(in string, f *os.File) (string, error) {
	if runtime.GOOS != "linux" {
		return fmt.Sprintf("/dev/fd/%d", f.Fd()), nil
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd())
	if _, err := os.Stat(path); err != nil {
		return "", Usagef("input %s: it is read by /proc: mount that (mount -t proc proc /proc), or save the input to a file", in)
	}
	return path, nil
}

// WithNames replaces the paths in a text by the user's names of the inputs.
func (s *Spooled) WithNames(text string) string {
	if s == nil {
		return text
	}
	var pairs []string
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(s.names))) { // longer paths first
		pairs = append(pairs, path, s.names[path])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// ErrorWithNames replaces the paths in an error by the user's names of the inputs.
func (s *Spooled) ErrorWithNames(err error) error {
	if err == nil || s == nil || s.WithNames(err.Error()) == err.Error() {
		return err
	}
	return spooledError{err, s.WithNames(err.Error())}
}

// A spooledError is an error with another text.
type spooledError struct {
	err  error
	text string
}

func (e spooledError) Error() string { return e.text }
func (e spooledError) Unwrap() error { return e.err }

// Close closes the files, which deletes them.
func (s *Spooled) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
