package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"eccbench/internal/regular"
)

// VersionOf returns a local file's size and version: the times of the last change, in nanoseconds,
// of its contents and, if the system has it, of its inode.
func VersionOf(info fs.FileInfo) FileInfo {
	return FileInfo{Size: info.Size(), Version: fmt.Sprint(info.ModTime().UnixNano(), " ", inodeTime(info))}
}

// SameFile reports whether two infos of a path are of one file that did not change between them.
func SameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) && VersionOf(a) == VersionOf(b) }

// Blame returns ErrChanged if one of the files changed since it was opened, because that explains
// any other error, and so does the error of a server. Otherwise it returns err. Every read of a
// file's voxels ends with it. The reader of an object on a server compares its version.
func (s *Set) Blame(err error) error {
	if server := (serverError{}); errors.As(err, &server) {
		return server.error
	}
	if s == nil {
		return err
	}
	for f, was := range s.Was {
		if info, serr := f.Stat(); serr == nil && VersionOf(info) != was {
			return ErrChanged
		}
	}
	return err
}

// ReadFile is os.ReadFile for a regular file; it fails if the file changes meanwhile.
func ReadFile(path string) ([]byte, error) {
	files := &Set{}
	defer files.Close() // only read from
	f, size, err := files.Open(path)
	var data []byte
	if err == nil {
		data = make([]byte, size)
		_, err = io.ReadFull(io.NewSectionReader(f, 0, size), data)
		err = files.Blame(err)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, nil
}

// ReadFileAt fills dst with the bytes of a file at an offset.
func ReadFileAt(path string, dst []byte, at int64) error {
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	if err := ReadAt(f, dst, at); err != nil {
		return fmt.Errorf("%s: reading %d bytes at %d: %w", path, len(dst), at, Cause(err))
	}
	return nil
}
