//go:build !linux

package datasets

import "os"

// inodeTime is not known on this system.
func inodeTime(os.FileInfo) int64 { return 0 }

// dropPages cannot drop pages on this system.
func dropPages(*os.File) (cold bool, err error) { return false, nil }
