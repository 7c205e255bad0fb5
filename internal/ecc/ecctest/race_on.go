//go:build race

package ecctest

// RaceDetector says that the race detector slows everything down tenfold.
const RaceDetector = true
