package cpu

import (
	"testing"

	"eccbench/internal/race"
)

func TestChecks(t *testing.T) {
	for _, c := range (Implementation{}).Checks("") {
		t.Run(c.Name, func(t *testing.T) {
			if race.Enabled && c.Name == "memory" {
				t.Skip("the race detector allocates, too")
			}
			c.Of(t)
		})
	}
}
