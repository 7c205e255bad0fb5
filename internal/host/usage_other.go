//go:build !linux

package host

import (
	"os"

	"eccbench/internal/memfile"
)

// PeakResident returns 0: workers of peers run on Linux only.
func PeakResident(int) int64 { return 0 }

// OwnMemory returns 0: memory limits of workers are enforced on Linux only.
func OwnMemory([]int, []*os.File, []memfile.Extent) int64 { return 0 }
