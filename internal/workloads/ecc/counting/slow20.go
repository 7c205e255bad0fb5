//go:build slow20

package counting

// slowShare is the slowdown as a share of a launch.
const slowShare = 0.2
