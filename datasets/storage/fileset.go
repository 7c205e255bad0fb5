// Package storage opens local files and objects on servers, reports their changes, and decompresses
// them.
package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"eccbench/internal/regular"
)

// A Set is the open files of one image, the named one first.
type Set struct {
	Files []File
	Was   map[*os.File]FileInfo // the local files' versions when they were opened
}

// A File is a *os.File or an *Object.
type File interface {
	io.ReaderAt
	io.Closer
	Name() string
}

// AfterOpen is called with each opened local file, in tests.
var AfterOpen = func(path string) {}

// Open opens a regular file, or an object.
func (s *Set) Open(path string) (File, int64, error) {
	if IsURL(path) {
		f, err := openRemote(path)
		if err != nil {
			return nil, 0, err
		}
		s.Files = append(s.Files, f)
		return f, f.Info.Size, nil
	}
	f, info, err := regular.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, fmt.Errorf("%w; check the path", Cause(err))
	case err != nil:
		return nil, 0, Cause(err)
	}
	s.Add(f, VersionOf(info))
	AfterOpen(path)
	return f, info.Size(), nil
}

// Add adds an open local file with its version.
func (s *Set) Add(f *os.File, is FileInfo) {
	if s.Was == nil {
		s.Was = map[*os.File]FileInfo{}
	}
	s.Files, s.Was[f] = append(s.Files, f), is
}

// Names returns the paths of the files.
func (s *Set) Names() []string {
	var names []string
	for _, f := range s.Files {
		names = append(names, f.Name())
	}
	return names
}

// Unversioned reports whether a server gives no version of an object, so that only its length shows
// a change.
func (s *Set) Unversioned() bool {
	return s != nil && slices.ContainsFunc(s.Files, func(f File) bool {
		r, ok := f.(*Object)
		return ok && r.Info.Version == ""
	})
}

// Identity identifies the current contents of the files; "" if that is impossible.
func (s *Set) Identity() string {
	if s == nil {
		return ""
	}
	var text strings.Builder
	for _, f := range s.Files {
		if r, ok := f.(*Object); ok {
			if r.Info.Version == "" {
				return ""
			}
			fmt.Fprintf(&text, "%q %d %s\n", r.url, r.Info.Size, r.Info.Version)
			continue
		}
		info, err := f.(*os.File).Stat()
		if err != nil {
			return ""
		}
		fmt.Fprintf(&text, "%q %d %d\n", f.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return text.String()
}

// Cool evicts the files from the host's page cache, and reports whether all are evicted.
func (s *Set) Cool() (cold bool, err error) {
	cold = len(s.Files) > 0
	for _, f := range s.Files {
		local, ok := f.(*os.File)
		if !ok { // the state of a server's cache is unknown
			return false, nil
		}
		c, err := DropPages(local)
		if err != nil {
			return false, err
		}
		cold = cold && c
	}
	return cold, nil
}

// Close closes the files.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.Files {
		if err := f.Close(); err != nil {
			errs = append(errs, Cause(err))
		}
	}
	return errors.Join(errs...)
}

// Cause returns the cause of an error of package os, without the path.
func Cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
