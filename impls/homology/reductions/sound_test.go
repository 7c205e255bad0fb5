package reductions

import (
	"slices"
	"testing"
)

func TestChecks(t *testing.T) {
	for _, c := range slices.Concat(Implementation{}.Checks(""), Partitions{}.Checks(""), Race{}.Checks("")) {
		t.Run(c.Name, func(t *testing.T) { c.Of(t) })
	}
}
