package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"eccbench/internal/regular"
)

// A Target is a file that a command writes, with the flag that names it.
type Target struct{ Flag, Path string }

// Apart refuses targets that would be written over an input or over each other, by
// whatever names and links they are given. Paths that are empty are none, and a device
// may be written to as often as one likes.
func Apart(targets []Target, inputs ...string) error {
	for i, t := range targets {
		if info, err := os.Stat(t.Path); t.Path == "" || err == nil && !info.Mode().IsRegular() {
			continue
		}
		for _, in := range inputs {
			if in != "" && sameFile(t.Path, in) {
				return Usagef("%s %s: it is an input, %s, and would be written over", t.Flag, t.Path, in)
			}
		}
		for _, other := range targets[:i] {
			if other.Path != "" && sameFile(t.Path, other.Path) {
				return Usagef("%s %s: it is the file of %s too", t.Flag, t.Path, other.Flag)
			}
		}
	}
	return nil
}

// sameFile reports whether two paths mean one file, or would when it is made.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return os.SameFile(x, y)
	}
	return resolve(a) == resolve(b)
}

// resolve is the path behind links, as far as there is anything: what is not there is in
// its folder.
func resolve(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		dir, name := filepath.Split(path)
		if dir = filepath.Clean(dir); dir == path {
			return path
		}
		link, err := os.Readlink(path)
		if err != nil {
			return filepath.Join(resolve(dir), name)
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(dir, link)
		}
		path = link // to what is not there
	}
	return path
}

// maxLinks is how many links in a row are followed.
const maxLinks = 40

// WriteFile writes a file whole or not at all: under another name beside it, renamed when all
// is on the disk, and removed when a signal ends the program before. The file obeys the umask,
// and keeps the mode of the file that it replaces. Of a link it is the file that the link leads
// to. A device such as /dev/null is written to directly.
func WriteFile(path string, write func(*os.File) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		return errors.Join(write(f), f.Close())
	}
	real := resolve(path)
	f, err := regular.Create(real)
	if err != nil {
		return Usagef("writing %s: %w", path, err)
	}
	defer f.Drop() // if it is not committed
	defer EndOnInterrupt(os.Stderr)()
	if err = write(f.File); err == nil {
		err = f.Commit()
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, cause(err))
	}
	return nil
}

// cause is what an operating system says of a file, without the file's name.
func cause(err error) error {
	var of *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		return of.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// Writable reports whether WriteFile could write a file, before the work whose
// result it would hold.
func Writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return Usagef("writing %s: is a directory", path)
	} else if err == nil && !info.Mode().IsRegular() {
		return nil
	}
	f, err := regular.Create(resolve(path))
	if err != nil {
		return Usagef("writing %s: %w", path, err)
	}
	f.Drop()
	return nil
}
