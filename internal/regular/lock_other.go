//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package regular

import "os"

// Lock keeps a file from other programs, which this system has no call for.
func Lock(*os.File) error { return ErrNoLocks }
