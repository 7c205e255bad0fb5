package fingerprint

import (
	"slices"
	"testing"

	"eccbench/internal/grid"
)

// looked is what a watcher was shown.
type looked struct{ values []float32 }

func (l *looked) Watch()             {}
func (l *looked) Look(values []byte) { l.values = append(l.values, grid.Values[float32](values)...) }
func (l *looked) Err() error         { return nil }

// Whoever watches is shown every value that is no level's own, wherever it is in a row, and none of
// a row of groups where all are; the weights are those that nobody watches.
func TestWatchedLookUps(t *testing.T) {
	for _, isa := range available() {
		for _, step := range []float64{0.5, 0.1} { // of which float32 has one exactly
			l, err := grid.Affine(-3, step, 1000)
			if err != nil {
				t.Fatal(err)
			}
			u := newLookup(grid.Float32, l, Draw(1).weights(l.Len(), 0), l.Len(), isa)
			for _, n := range []int{1, 15, 16, 17, 77, 320} {
				w, values := &looked{}, make([]float32, n)
				for i := range values {
					values[i] = l.Value(int64(i) * 37 % l.Len())
				}
				got, want, scratch := make([]uint64, n), make([]uint64, n), make([]int32, n)
				turn := func() {
					w.values = nil
					u.row(want, grid.Bytes(values), scratch, 0)
					u.watched(w, got, grid.Bytes(values), scratch, 0)
					if !slices.Equal(got, want) {
						t.Fatalf("%s, %d values on levels %v apart: other weights than without a watcher", isa, n, step)
					}
				}
				if turn(); n >= 16 && u.fast.exactly != nil && w.values != nil {
					t.Errorf("%s, %d values on levels %v apart: %d are shown", isa, n, step, len(w.values))
				}
				for at := range values {
					for _, x := range []float32{-3.25, -1e9, l.Value(5) + 0.03, l.Value(l.Len()-1) + 0.03, 1e9} {
						kept := values[at]
						values[at] = x
						if turn(); !slices.Contains(w.values, x) {
							t.Fatalf("%s, %d values on levels %v apart, %v at %d: not shown", isa, n, step, x, at)
						}
						values[at] = kept
					}
				}
			}
		}
	}
}
