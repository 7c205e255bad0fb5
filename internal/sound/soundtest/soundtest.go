// Package soundtest has go test make the checks of a package.
package soundtest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"eccbench/internal/race"
	"eccbench/internal/sound"
)

// Run makes checks on as many cores as there are, and on as many as another machine has: what a
// check counts may depend on them, and verify makes it on any machine.
func Run(t *testing.T, checks ...sound.Check) {
	t.Helper()
	cores := runtime.GOMAXPROCS(0)
	other := 16
	if cores >= other {
		other = 3
	}
	if race.Enabled { // what runs beside each other does so on the cores that there are
		other = cores
	}
	for _, n := range slices.Compact([]int{cores, other}) {
		for _, c := range checks {
			t.Run(fmt.Sprintf("%s on %d cores", c.Name, n), func(t *testing.T) {
				if race.Enabled && c.Allocates {
					t.Skip("the race detector allocates, too")
				}
				defer runtime.GOMAXPROCS(cores)
				runtime.GOMAXPROCS(n)
				c.Of(t)
			})
		}
	}
}
