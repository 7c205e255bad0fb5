package betti

import (
	"slices"
	"testing"
)

func TestChecks(t *testing.T) {
	for _, c := range slices.Concat(Checks(), CurvesChecks()) {
		t.Run(c.Name, func(t *testing.T) { c.Of(t) })
	}
}
