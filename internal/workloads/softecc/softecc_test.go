package softecc

import (
	"bytes"
	"testing"
)

// FuzzDecode checks that any bytes decoded as an answer encode to the same bytes.
func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := Encode(&b, Answer{Chi: []float64{1, 2}, DTau: []float64{3, 4}, DX: []float32{5}, Lambda: 6, Alpha: 7}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:50])
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Decode(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Encode(&b, a); err != nil || !bytes.Equal(b.Bytes(), data) {
			t.Errorf("%v is encoded as other bytes, %v", a, err)
		}
	})
}
