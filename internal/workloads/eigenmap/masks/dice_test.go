package masks

import (
	"math"
	"testing"
)

func TestDice(t *testing.T) {
	truth := []bool{false, true, true, false, true}
	if d := Dice(truth, []bool{false, true, false, true, true}); math.Abs(d-2.0/3) > 1e-15 {
		t.Error(d)
	}
	if d := Dice(make([]bool, 3), make([]bool, 3)); d != 1 {
		t.Error(d)
	}
	if d, at, above := BestThreshold([]float64{1, 5, 4, 1, 3}, truth); d != 1 || at != 3 || !above {
		t.Error(d, at, above)
	}
	if d, at, above := BestThreshold([]float64{7, 5, 4, 9, 3}, truth); d != 1 || at != 5 || above {
		t.Error(d, at, above)
	}
	if d, _, _ := BestThreshold([]float64{2, 2, 2, 2, 2}, truth); d != 0.75 {
		t.Error(d)
	}
}
