// Package nametest has a check that tests of forms of names share.
package nametest

import (
	"testing"

	"eccbench/internal/name"
)

// Holds holds a form to names that are this one by default, and to taking of each key what is from
// one number to another, and nothing else.
func Holds(t testing.TB, f name.Form, byDefault string, ranges map[string][2]int64) {
	t.Helper()
	_, of, err := f.Parse(byDefault)
	if spelt := f.Spell(nil, of); err != nil || spelt != byDefault || len(ranges) != len(f.Keys) {
		t.Fatalf("%v by default, want %s and ranges of its keys, %v", spelt, byDefault, err)
	}
	for key, of := range ranges {
		for v, taken := range map[int64]bool{of[0] - 1: false, of[0]: true, of[1]: true, of[1] + 1: false} {
			spelt := f.Spell(map[string]int64{key: v}, "x")
			values, _, err := f.Parse(spelt)
			if (err == nil) != taken || taken && values[key] != v {
				t.Errorf("%s: %v, %v", spelt, values, err)
			}
		}
	}
}
