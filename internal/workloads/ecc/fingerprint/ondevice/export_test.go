package ondevice

import (
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// Passing is Of through memory of about so many bytes.
func Passing(d device.Device, in grid.Source, k fingerprint.Key, bytes int64) (fingerprint.Sum, error) {
	return of(d, in, k, 2, bytes)
}
