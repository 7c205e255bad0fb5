//go:build slow20

package counting

// slowShare is the share of a launch that the slowdown takes.
const slowShare = 0.2
