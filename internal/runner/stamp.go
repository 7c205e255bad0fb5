package runner

import (
	"crypto/sha256"
	"os"

	"eccbench/datasets"
	"eccbench/internal/regular"
)

// A stamp tells a file from what it is when it has been changed or replaced.
type stamp struct {
	path string
	info os.FileInfo // nil where there is none
	sum  [sha256.Size]byte
}

// small is how many bytes of files are read to tell whether they have changed: two writes
// may be within one tick of a file system's clock.
const small = 1 << 20

// stampsOf are those of files as they are now.
func stampsOf(paths []string) []stamp {
	var list []stamp
	var read int64
	for _, path := range paths {
		s := stamp{path: path}
		if info, err := os.Stat(path); err == nil {
			s.info = info
			if info.Mode().IsRegular() && read+info.Size() <= small {
				read += info.Size()
				data, _ := regular.ReadFile(path, small) // what cannot be read is found out by the worker
				s.sum = sha256.Sum256(data)
			}
		}
		list = append(list, s)
	}
	return list
}

// changed names the first file that is not what it was, "" for none.
func changed(was []stamp) string {
	var paths []string
	for _, s := range was {
		paths = append(paths, s.path)
	}
	for i, is := range stampsOf(paths) {
		s := was[i]
		switch {
		case s.info == nil && is.info == nil:
		case s.info == nil || is.info == nil, !datasets.SameFile(s.info, is.info), s.sum != is.sum:
			return s.path
		}
	}
	return ""
}
