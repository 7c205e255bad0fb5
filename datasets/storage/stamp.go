package storage

import (
	"crypto/sha256"
	"os"

	"eccbench/internal/regular"
)

// A Stamp identifies the content of a file, to detect a change.
type Stamp struct {
	path string
	info os.FileInfo // nil if the file does not exist
	sum  [sha256.Size]byte
}

// small limits the bytes that are hashed to detect a change. Hashes are needed because two writes
// can have the same modification time.
const small = 1 << 20

// Stamps returns the current stamps of files.
func Stamps(paths []string) []Stamp {
	var list []Stamp
	var read int64
	for _, path := range paths {
		s := Stamp{path: path}
		if info, err := os.Stat(path); err == nil {
			s.info = info
			if info.Mode().IsRegular() && read+info.Size() <= small {
				read += info.Size()
				data, _ := regular.ReadFile(path, small) // the worker reports an unreadable file
				s.sum = sha256.Sum256(data)
			}
		}
		list = append(list, s)
	}
	return list
}

// Changed returns the path of the first file that has changed since its stamp, or "".
func Changed(was []Stamp) string {
	var paths []string
	for _, s := range was {
		paths = append(paths, s.path)
	}
	for i, is := range Stamps(paths) {
		s := was[i]
		switch {
		case s.info == nil && is.info == nil:
		case s.info == nil || is.info == nil, !SameFile(s.info, is.info), s.sum != is.sum:
			return s.path
		}
	}
	return ""
}
