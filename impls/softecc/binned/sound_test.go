package binned

import "testing"

func TestChecks(t *testing.T) {
	for _, isa := range available() {
		for _, c := range (Implementation{}).Checks(isa) {
			t.Run(isa+" "+c.Name, func(t *testing.T) { c.Of(t) })
		}
	}
}
