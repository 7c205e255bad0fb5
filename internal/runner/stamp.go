package runner

import (
	"crypto/sha256"
	"os"

	"eccbench/datasets/storage"
	"eccbench/internal/regular"
)

// A stamp identifies the content of a file, to detect a change.
type stamp struct {
	path string
	info os.FileInfo // nil if the file does not exist
	sum  [sha256.Size]byte
}

// small limits the bytes that are hashed to detect a change. Hashes are needed because two writes
// can have the same modification time.
const small = 1 << 20

// stampsOf returns the current stamps of files.
func stampsOf(paths []string) []stamp {
	var list []stamp
	var read int64
	for _, path := range paths {
		s := stamp{path: path}
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

// changed names the first file that has changed, or "".
func changed(was []stamp) string {
	var paths []string
	for _, s := range was {
		paths = append(paths, s.path)
	}
	for i, is := range stampsOf(paths) {
		s := was[i]
		switch {
		case s.info == nil && is.info == nil:
		case s.info == nil || is.info == nil, !storage.SameFile(s.info, is.info), s.sum != is.sum:
			return s.path
		}
	}
	return ""
}
