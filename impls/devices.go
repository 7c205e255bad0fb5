package impls

import (
	"eccbench/internal/cuda"
	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// Devices opens the devices of this machine, each once: the implementations of a
// process share it. Nothing is loaded before the first call, which only workers
// make. A device is not closed before its process ends.
func Devices() resident.Opener {
	return resident.OpenOnce(func() (device.Driver, error) { return cuda.Load() })
}
