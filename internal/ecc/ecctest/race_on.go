//go:build race

package ecctest

// raceDetector says that the race detector slows everything down tenfold.
const raceDetector = true
