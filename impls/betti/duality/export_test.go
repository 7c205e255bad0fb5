package duality

import "eccbench/internal/grid"

// Portions returns the first slice of each part, and the one after its last.
func Portions(s grid.Shape, devices int) (list [][2]int64) {
	for _, p := range portions(s, devices) {
		list = append(list, [2]int64{p.lo, p.hi})
	}
	return list
}

// InWindows returns the implementation with windows of the given number of planes.
func InWindows(planes int64) Implementation { return Implementation{planes: planes} }
