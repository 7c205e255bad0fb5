// Package checktest runs the checks of a package, on several numbers of cores.
package checktest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"eccbench/internal/race"
)

// A Check is a test of one part of a package.
type Check struct {
	Name      string
	Of        func(*testing.T)
	Allocates bool // it counts allocated bytes, to which the race detector adds
}

// Run runs checks as subtests, once on the cores of this machine and once on another number of
// cores, because counts may depend on them.
func Run(t *testing.T, checks ...Check) {
	t.Helper()
	cores := runtime.GOMAXPROCS(0)
	other := 16
	if cores >= other {
		other = 3
	}
	if race.Enabled { // parallel code then runs on the existing cores
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
