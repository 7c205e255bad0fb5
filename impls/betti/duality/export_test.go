package duality

import (
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// FaultyOnDevices is the implementation on several devices with a fault planted.
func FaultyOnDevices(open resident.Opener, f Fault) OnDevices { return OnDevices{Open: open, fault: f} }

// Portions are the first slice of each part, and the one after its last.
func Portions(s grid.Shape, devices int) (list [][2]int64) {
	for _, p := range portions(s, devices) {
		list = append(list, [2]int64{p.lo, p.hi})
	}
	return list
}

// InWindows is the implementation in windows of so many planes.
func InWindows(planes int64) Implementation { return Implementation{planes: planes} }
