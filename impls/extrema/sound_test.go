package extrema

import (
	"testing"

	"eccbench/internal/sound/soundtest"
)

func TestChecks(t *testing.T) {
	for _, isa := range available() {
		t.Run(isa, func(t *testing.T) { soundtest.Run(t, Implementation{}.Checks(isa)...) })
	}
}

func TestPiecesJoin(t *testing.T) {
	piecesJoin(t, available(), []int64{1, 2, 5}, []int64{2, 3, 4, 5}, 9)
}
