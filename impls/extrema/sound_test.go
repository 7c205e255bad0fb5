package extrema

import (
	"testing"

	"eccbench/internal/race"
)

func TestChecks(t *testing.T) {
	for _, isa := range available() {
		for _, c := range (Implementation{}).Checks(isa) {
			t.Run(isa+" "+c.Name, func(t *testing.T) {
				if race.Enabled && c.Name == "memory" {
					t.Skip("the race detector allocates, too")
				}
				c.Of(t)
			})
		}
	}
}

func TestPiecesJoin(t *testing.T) {
	piecesJoin(t, available(), []int64{1, 2, 5}, []int64{2, 3, 4, 5}, 9)
}
