package grid

import (
	"testing"
)

// A ladder of too many levels is not relabelled, and how many there may be is said.
func TestRelabelOfMany(t *testing.T) {
	for levels, want := range map[int64]bool{1 << 22: true, 1<<22 + 1: false} {
		l, err := Affine(0, 1, levels)
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewField(Shape{1, 2, 2}, Float32, NewBuffer(16), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Relabel(f, 1); (err == nil) != want || err != nil && err.Error() != "relabel: 4194305 levels, at most 4194304" {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}
