// Package nametest has a check that tests of forms of names share.
package nametest

import (
	"math"
	"testing"

	"eccbench/internal/name"
)

// Holds tests a form: its default name, and that each key accepts exactly the numbers within its
// range.
func Holds(t testing.TB, f name.Form, byDefault string, ranges map[string][2]float64) {
	t.Helper()
	_, of, err := f.Parse(byDefault)
	if spelt := f.NameOf(nil, of); err != nil || spelt != byDefault || len(ranges) != len(f.Keys) {
		t.Fatalf("%v by default, want %s and ranges of its keys, %v", spelt, byDefault, err)
	}
	for _, k := range f.Keys {
		of := ranges[k.Key]
		below, above := of[0]-1, of[1]+1
		within := (of[0]+of[1])/2 + 0.25 // no whole number
		if k.Real {
			below, within, above = math.Nextafter(of[0], below), of[0]+(of[1]-of[0])/3, math.Nextafter(of[1], above)
		}
		for v, taken := range map[float64]bool{below: false, of[0]: true, within: k.Real, of[1]: true, above: false} {
			spelt := f.NameOf(map[string]float64{k.Key: v}, "x")
			values, _, err := f.Parse(spelt)
			if (err == nil) != taken || taken && values[k.Key] != v {
				t.Errorf("%s: %v, %v", spelt, values, err)
			}
		}
	}
}
