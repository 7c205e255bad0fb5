package ecc

import (
	"bytes"
	"testing"
)

// Every decoded curve is valid, and its encoding decodes to the same.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(VCEC{{3, 1}, {4, -2}, {900, 2}}))
	f.Add(Encode(nil))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode(Encode(v))
		if err != nil || !bytes.Equal(Encode(again), Encode(v)) {
			t.Errorf("%v is encoded and decoded as %v, %v", v, again, err)
		}
		v.At(7)
	})
}
