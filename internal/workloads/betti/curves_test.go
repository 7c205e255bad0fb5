package betti

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzDecodeCurves checks that decoded curves encode and decode to the same.
func FuzzDecodeCurves(f *testing.F) {
	f.Add(EncodeCurves(Curves{{1, Numbers{1, 2, 3}}, {300, Numbers{-1, 0, 1 << 40}}}))
	f.Add(EncodeCurves(PoisonedCurves))
	f.Add([]byte{1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCurves(data)
		if err != nil {
			return
		}
		again, err := DecodeCurves(EncodeCurves(c))
		if err != nil || !slices.Equal(again, c) {
			t.Fatalf("%v, %v; want %v", again, err, c)
		}
		if c2 := EncodeCurves(again); !bytes.Equal(c2, EncodeCurves(c)) {
			t.Fatal("two encodings")
		}
	})
}
