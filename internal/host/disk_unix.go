//go:build unix

package host

import (
	"math"
	"syscall"
)

// FreeDisk returns the free bytes of the file system of a folder, a large number if it has no limit.
func FreeDisk(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	if s.Blocks == 0 { // it has no limit
		return math.MaxInt64 / 2, nil
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
