//go:build !linux

package host

import (
	"os"

	"eccbench/internal/memfile"
)

// systemMemory returns 0: the memory of the machine is known on Linux only.
func systemMemory() (total, free int64) { return 0, 0 }

// PeakResident returns 0: workers of peers run on Linux only.
func PeakResident(int) int64 { return 0 }

// OwnMemory returns 0: memory limits of workers are enforced on Linux only.
func OwnMemory([]int, []*os.File, []memfile.Extent) int64 { return 0 }
