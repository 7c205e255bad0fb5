package gpu

import "eccbench/internal/grid"

// CountingTwice returns a faulty implementation on several devices: it counts the slices shared by
// slabs twice.
func CountingTwice(o OnDevices) OnDevices {
	o.twice = true
	return o
}

// AsLarge returns the implementation that counts small images like large ones.
func AsLarge(o OnDevice) OnDevice {
	o.large = true
	return o
}

// Guard returns the number of bytes before and after an image on a device.
func Guard(in grid.Source) int64 { return guard(in) }

// Large returns the kind that counts its images like large ones.
func Large(a ArrayKind) ArrayKind {
	a.large = true
	return a
}
