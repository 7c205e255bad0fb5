package binned

import (
	"testing"

	"eccbench/internal/sound/soundtest"
)

func TestChecks(t *testing.T) {
	for _, isa := range available() {
		t.Run(isa, func(t *testing.T) { soundtest.Run(t, Implementation{}.Checks(isa)...) })
	}
}
