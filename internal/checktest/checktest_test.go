package checktest

import (
	"runtime"
	"slices"
	"testing"

	"eccbench/internal/race"
)

// A check is made on the cores of the machine and on others, which are put back, whatever it sets.
func TestRunOnOtherCores(t *testing.T) {
	for machine, other := range map[int]int{2: 16, 16: 3, 64: 3} {
		before := runtime.GOMAXPROCS(machine)
		var seen []int
		check := func(*testing.T) { seen = append(seen, runtime.GOMAXPROCS(7)) }
		t.Run("checks", func(t *testing.T) {
			Run(t, Check{Name: "one", Of: check}, Check{Name: "another", Of: check})
		})
		left := runtime.GOMAXPROCS(before)
		want := []int{machine, machine, other, other}
		if race.Enabled {
			want = want[:2]
		}
		if !slices.Equal(seen, want) || left != machine {
			t.Errorf("on %d cores checks saw %v, want %v, and %d are left", machine, seen, want, left)
		}
	}
}
