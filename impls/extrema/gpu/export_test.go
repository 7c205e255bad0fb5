package gpu

import "eccbench/internal/grid"

// CountingTwice is the implementation on several devices that counts the slices that
// slabs share with both of them.
func CountingTwice(o OnDevices) OnDevices {
	o.twice = true
	return o
}

// AsLarge is the implementation on a device that counts small images as large ones.
func AsLarge(o OnDevice) OnDevice {
	o.large = true
	return o
}

// Guard is how many bytes are before and after an image on a device.
func Guard(in grid.Source) int64 { return guard(in) }

// Large has images of a kind counted as large ones are.
func Large(a ArrayKind) ArrayKind {
	a.large = true
	return a
}
