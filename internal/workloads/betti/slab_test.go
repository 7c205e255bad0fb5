package betti

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestJoin checks more slabs than TestChecks does.
func TestJoin(t *testing.T) { slabsAreJoined(t, 400) }

// Invalid bytes are an error, and decoded bytes encode to the same.
func FuzzSlab(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		b, _ := Slab{randomComponents(rng, 4, 7), randomComponents(rng, -1, 3)}.AppendBinary(nil)
		f.Add(b)
	}
	f.Add([]byte{0, 2, 0, 0, 0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Slab
		if s.UnmarshalBinary(b) != nil {
			return
		}
		again, err := s.AppendBinary(nil)
		var same Slab
		if err != nil || same.UnmarshalBinary(again) != nil || !reflect.DeepEqual(s, same) {
			t.Errorf("%v is written as %v (%v)", b, again, err)
		}
		if len(again) > len(b) || len(again) == len(b) && !bytes.Equal(again, b) {
			t.Errorf("%v is written as %v", b, again)
		}
	})
}
