package isa

import (
	"errors"
	"testing"
)

// A different result of one instruction set is found, and so is an error of any.
func TestCompare(t *testing.T) {
	same := func(a, b int) bool { return a == b }
	broken := errors.New("broken")
	for _, wrong := range append(All(), "") {
		err := Compare(All(), same, func(name string) (int, error) {
			if name == wrong {
				return 1, nil
			}
			return 0, nil
		})
		if (err == nil) != (wrong == "") {
			t.Errorf("%q is wrong: %v", wrong, err)
		}
		err = Compare(All(), same, func(name string) (int, error) {
			if name == wrong {
				return 0, broken
			}
			return 0, nil
		})
		if errors.Is(err, broken) != (wrong != "") {
			t.Errorf("%q is broken: %v", wrong, err)
		}
	}
}
