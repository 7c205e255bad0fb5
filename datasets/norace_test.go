//go:build !race

package datasets

// underRace says that the race detector slows everything down about tenfold.
const underRace = false
