//go:build unix

package host

import "syscall"

// FreeDisk returns the free bytes of the file system of a folder.
func FreeDisk(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
