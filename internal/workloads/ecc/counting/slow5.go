//go:build slow5

package counting

// slowShare is the slowdown as a share of a launch.
const slowShare = 0.05
