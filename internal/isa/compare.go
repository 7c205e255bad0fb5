package isa

import "fmt"

// Compare computes a result with each available instruction set, and returns an error that names the
// first whose result is not that of Go alone.
func Compare[T any](available []string, same func(want, got T) bool, result func(name string) (T, error)) error {
	want, err := result(Portable)
	if err != nil {
		return err
	}
	for _, name := range available {
		if name == Portable {
			continue
		}
		got, err := result(name)
		if err != nil {
			return err
		}
		if !same(want, got) {
			return fmt.Errorf("%s instructions of this processor give another result than Go code does", name)
		}
	}
	return nil
}
