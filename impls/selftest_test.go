package impls

import "testing"

// The vector kernels of this processor agree with Go code, for other seeds each time.
func TestSelfTest(t *testing.T) {
	for range 4 {
		if _, err := SelfTest(); err != nil {
			t.Error(err)
		}
	}
}
