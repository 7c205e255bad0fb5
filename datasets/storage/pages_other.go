//go:build !linux

package storage

import "os"

// inodeTime is not known on this system.
func inodeTime(os.FileInfo) int64 { return 0 }

// DropPages cannot drop pages on this system.
func DropPages(*os.File) (cold bool, err error) { return false, nil }
