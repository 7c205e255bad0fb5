package smooth

import (
	"bytes"
	"testing"

	"eccbench/internal/workloads/ecc"
)

// Whatever is decoded as an answer is read again as the same.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(Answer{Checkpoints: []Checkpoint{{1, ecc.VCEC{{Level: 3, Change: 1}}}, {1000, nil}}, Sum: -3, Trail: 7}))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode(Encode(a))
		if err != nil || !bytes.Equal(Encode(again), Encode(a)) {
			t.Errorf("%v is encoded and decoded as %v, %v", a, again, err)
		}
	})
}
