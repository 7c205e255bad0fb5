package datasets

import (
	"eccbench/internal/regular"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A fileSet is the open files of one image, the named one first.
type fileSet struct {
	files []imageFile
	was   map[*os.File]FileInfo // the local files' versions when they were opened
}

// An imageFile is a *os.File or a *remoteFile.
type imageFile interface {
	io.ReaderAt
	io.Closer
	Name() string
}

// afterOpen is called with each opened local file, in tests.
var afterOpen = func(path string) {}

// open opens a regular file, or an object.
func (s *fileSet) open(path string) (imageFile, int64, error) {
	if IsURL(path) {
		f, err := openRemote(path)
		if err != nil {
			return nil, 0, err
		}
		s.files = append(s.files, f)
		return f, f.info.Size, nil
	}
	f, info, err := regular.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, fmt.Errorf("%w; check the path", pathCause(err))
	case errors.Is(err, regular.ErrDirectory) && foreign(path, nil) != nil:
		return nil, 0, foreign(path, nil)
	case err != nil:
		return nil, 0, pathCause(err)
	}
	s.add(f, versionOf(info))
	afterOpen(path)
	return f, info.Size(), nil
}

// add adds an open local file with its version.
func (s *fileSet) add(f *os.File, is FileInfo) {
	if s.was == nil {
		s.was = map[*os.File]FileInfo{}
	}
	s.files, s.was[f] = append(s.files, f), is
}

// names returns the paths of the files.
func (s *fileSet) names() []string {
	var names []string
	for _, f := range s.files {
		names = append(names, f.Name())
	}
	return names
}

// unversioned reports whether a server gives no version of an object, so that only its length shows
// a change.
func (s *fileSet) unversioned() bool {
	return s != nil && slices.ContainsFunc(s.files, func(f imageFile) bool {
		r, ok := f.(*remoteFile)
		return ok && r.info.Version == ""
	})
}

// identity identifies the current contents of the files; "" if that is impossible.
func (s *fileSet) identity() string {
	if s == nil {
		return ""
	}
	var text strings.Builder
	for _, f := range s.files {
		if r, ok := f.(*remoteFile); ok {
			if r.info.Version == "" {
				return ""
			}
			fmt.Fprintf(&text, "%q %d %s\n", r.url, r.info.Size, r.info.Version)
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
func (s *fileSet) Cool() (cold bool, err error) {
	cold = len(s.files) > 0
	for _, f := range s.files {
		local, ok := f.(*os.File)
		if !ok { // the state of a server's cache is unknown
			return false, nil
		}
		c, err := dropPages(local)
		if err != nil {
			return false, err
		}
		cold = cold && c
	}
	return cold, nil
}

// Close closes the files.
func (s *fileSet) Close() error {
	var errs []error
	for _, f := range s.files {
		if err := f.Close(); err != nil {
			errs = append(errs, pathCause(err))
		}
	}
	return errors.Join(errs...)
}

// pathCause returns the cause of an error of package os, without the path.
func pathCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
