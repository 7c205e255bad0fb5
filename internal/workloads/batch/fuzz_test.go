package batch

import (
	"bytes"
	"testing"

	"eccbench/internal/workloads/ecc"
)

// Whatever is decoded as the curves of a batch is read again as the same.
func FuzzDecode(f *testing.F) {
	f.Add(Encode([]ecc.VCEC{{{Level: 3, Change: 1}}, nil, {{Level: 0, Change: 2}, {Level: 9, Change: -1}}}))
	f.Add([]byte{255, 255, 63})
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode(Encode(list))
		if err != nil || !bytes.Equal(Encode(again), Encode(list)) {
			t.Errorf("%v is encoded and decoded as %v, %v", list, again, err)
		}
	})
}
