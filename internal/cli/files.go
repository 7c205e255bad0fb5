package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile writes a file whole or not at all: under another name beside it,
// renamed when all is on the disk. A device such as /dev/stdout is written to
// directly.
func WriteFile(path string, write func(*os.File) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return Usagef("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name()) // the first error is the one to report
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// Writable reports whether WriteFile could write a file, before the work whose
// result it would hold.
func Writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return Usagef("writing %s: is a directory", path)
	} else if err == nil && !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return Usagef("writing %s: %w", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
