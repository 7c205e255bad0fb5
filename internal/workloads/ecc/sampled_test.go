package ecc

import (
	"testing"

	"eccbench/internal/grid"
)

// A sampled curve equals the curve at its samples, and is constant between them.
func TestSampled(t *testing.T) {
	l := Lines{Curve: VCEC{{10, 2}, {20, -1}, {30, 5}, {31, -5}}, Ladder: grid.Identity(grid.Uint8)}
	for _, superlevel := range []bool{false, true} {
		for _, values := range [][]float64{{0, 10, 20.5, 35}, {30}, {-1, 300}, {9.5, 10.5}} {
			l.In.Superlevel, l.All = superlevel, true
			s, err := l.Sampled(values)
			if err != nil || s.Len() != int64(len(values)) {
				t.Fatal(s.Len(), err)
			}
			i := 0
			s.Each(func(x Line) {
				value := values[i]
				if superlevel {
					value = values[len(values)-1-i]
				}
				i++
				if want := l.At(grid.Numbers(value)[0]); s.Value(x) != value || x.Chi != want {
					t.Errorf("superlevel %v: %v has χ %d at %v, want %d", superlevel, values, x.Chi, s.Value(x), want)
				}
			})
		}
	}
}
