package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"eccbench/internal/regular"
)

// A Target is an output file with the flag that names it.
type Target struct{ Flag, Path string }

// A fileKey is equal for all names of one file: its resolved path if it does not exist, otherwise its size and time,
// which other files may share.
type fileKey struct {
	path       string
	size, time int64
}

// CheckTargets returns an error if a target would overwrite an input or another target. It resolves links,
// so that different names of one file count as equal. It ignores empty paths and devices.
func CheckTargets(targets []Target, inputs ...string) error {
	type seen struct {
		Target
		info os.FileInfo
	}
	files := map[fileKey][]seen{}
	all := make([]Target, len(inputs), len(inputs)+len(targets))
	for i, in := range inputs {
		all[i].Path = in
	}
	for i, t := range append(all, targets...) {
		info, err := os.Stat(t.Path)
		isTarget := i >= len(inputs)
		if t.Path == "" || isTarget && err == nil && !info.Mode().IsRegular() {
			continue
		}
		key := fileKey{}
		if err != nil {
			key.path = resolve(t.Path)
		} else {
			key.size, key.time = info.Size(), info.ModTime().UnixNano()
		}
		for _, other := range files[key] {
			switch {
			case !isTarget || err == nil && !os.SameFile(info, other.info):
			case other.Flag == "":
				return Usagef("%s %s: it is an input, %s, and would be written over", t.Flag, t.Path, other.Path)
			default:
				return Usagef("%s %s: %s writes the same file; choose another name", t.Flag, t.Path, other.Flag)
			}
		}
		files[key] = append(files[key], seen{t, info})
	}
	return nil
}

// resolve follows the links of a path as far as files exist. A file that does not exist is resolved
// in its folder.
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
		path = link // the target of the link does not exist
	}
	return path
}

// maxLinks is the greatest number of links that are followed in a row.
const maxLinks = 40

// A File is an output file, none if Path is empty, and the function that writes it.
type File struct {
	Path  string
	Write func(*os.File) error
}

// WriteFile writes a file completely or not at all. It writes a temporary file in the same folder
// and renames it once the data is on disk. If a signal ends the program, it removes the temporary
// file. The new file follows the umask, or keeps the mode of the file that it replaces. WriteFile
// follows links, and writes directly to devices such as /dev/null and to open files such as /dev/stdout.
func WriteFile(path string, write func(*os.File) error) (err error) {
	return WriteFiles([]File{{path, write}}, func() error { return nil })
}

// WriteFiles writes files as WriteFile does, and renames them once all are on disk and last has succeeded: a result
// that cannot be written leaves no file about it.
func WriteFiles(files []File, last func() error) (err error) {
	written := make([]*regular.New, len(files))
	defer EndOnInterrupt(os.Stderr)()
	for i, file := range files {
		if file.Path == "" {
			continue
		}
		if write := directly(file.Path); write != nil {
			if err := write(file.Write); err != nil {
				return fmt.Errorf("writing %s: %w", file.Path, cause(err))
			}
			continue
		}
		f, err := regular.Create(resolve(file.Path))
		if err != nil {
			return Usagef("writing %s: %w", file.Path, err)
		}
		defer f.Drop() // has no effect after Commit
		if err = cmp.Or(file.Write(f.File), f.Sync()); err != nil {
			return fmt.Errorf("writing %s: %w", file.Path, cause(err))
		}
		written[i] = f
	}
	if err := last(); err != nil {
		return err
	}
	for i, f := range written {
		if f == nil {
			continue
		}
		if err := f.Commit(); err != nil {
			return fmt.Errorf("writing %s: %w", files[i].Path, cause(err))
		}
	}
	return nil
}

// directly returns a function that calls another with a device, or with a file that the program has open already and
// that a new one would replace. It returns nil for other files.
func directly(path string) func(write func(*os.File) error) error {
	switch n := descriptor(path); n {
	case 1, 2:
		return func(write func(*os.File) error) error { return write([]*os.File{os.Stdout, os.Stderr}[n-1]) }
	case -1:
		if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
			return nil
		}
	}
	return func(write func(*os.File) error) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			err = errors.Join(write(f), f.Close())
		}
		return err
	}
}

// descriptor returns the number of the open file that a path such as /dev/stdout or /dev/fd/3 names, or −1.
func descriptor(path string) int {
	own, err := filepath.EvalSymlinks("/dev/fd")
	if err != nil {
		return -1
	}
	for range maxLinks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err != nil {
			return -1
		} else if n, err := strconv.Atoi(filepath.Base(path)); err == nil && dir == own {
			return n
		}
		link, err := os.Readlink(path)
		if err != nil {
			return -1
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return -1
}

// cause returns the cause of an error of a file, without the file's name.
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

// Writable returns an error if WriteFile could not write a target, or if CheckTargets rejects it. Commands call it
// before the work.
func Writable(targets []Target, inputs ...string) error {
	for _, t := range targets {
		if t.Path == "" {
			continue
		}
		if err := writable(t.Path); err != nil {
			return err
		}
	}
	return CheckTargets(targets, inputs...)
}

func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return Usagef("writing %s: is a directory", path)
	}
	if directly(path) != nil {
		return nil
	}
	f, err := regular.Create(resolve(path))
	if err != nil {
		return Usagef("writing %s: %w", path, err)
	}
	f.Drop()
	return nil
}
