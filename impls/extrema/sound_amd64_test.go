//go:build amd64 && !noasm

package extrema

import "testing"

// Each conversion of values to levels is that of the portable way.
func TestRows(t *testing.T) {
	for _, isa := range available() {
		if isa != Portable {
			t.Run(isa, func(t *testing.T) {
				rowsOfAllFloats(t, isa, allPlaces)
				rowsOfNumbers(t, isa)
			})
		}
	}
}
