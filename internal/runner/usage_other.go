//go:build !linux

package runner

import "os"

// ownMemory returns 0: memory limits of workers are enforced on Linux only.
func ownMemory([]int, []*os.File, []extent) int64 { return 0 }
