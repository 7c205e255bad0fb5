//go:build !race

// Package race tells tests that the race detector is at work: it slows everything
// down about tenfold, and makes a sync.Pool drop one item in four at random, so that
// what takes from a pool allocates now and then.
package race

// Enabled says that the race detector is compiled in.
const Enabled = false
