//go:build !race

// Package race tells tests whether the race detector is on. It slows everything down about tenfold,
// and makes a sync.Pool drop one item in four at random, so that users of a pool sometimes
// allocate.
package race

// Enabled reports whether the race detector is compiled in.
const Enabled = false
