package ranks

import "testing"

func TestChecks(t *testing.T) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) { c.Of(t) })
	}
}
