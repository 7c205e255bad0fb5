package headers

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestNpy(t *testing.T) {
	for want, b := range map[string][]byte{
		"{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }": Npy("u1", 3, 2),
		"{'descr': '<f4', 'fortran_order': False, 'shape': (7, ), }":  Npy("f4", 7),
	} {
		if len(b)%64 != 0 || int(binary.LittleEndian.Uint16(b[8:])) != len(b)-10 || strings.TrimSpace(string(b[10:])) != want || b[len(b)-1] != '\n' {
			t.Errorf("%q, want %q", b, want)
		}
	}
}

func TestNifti(t *testing.T) {
	b, err := Nifti{Kind: "u1", Shape: []int64{5, 4, 3}, Note: strings.Repeat("n", 100), Name: "mask"}.Header()
	if err != nil || len(b) != 352 || binary.LittleEndian.Uint32(b) != 348 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	word := func(at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
	if word(40) != 3 || word(42) != 5 || word(46) != 3 || word(48) != 1 || word(68) != 0 || word(70) != 2 || word(72) != 8 || string(b[344:347]) != "n+1" || b[148+79] != 0 || string(b[328:332]) != "mask" {
		t.Errorf("%v", b)
	}
	if b, err = (Nifti{Kind: "f4", Shape: []int64{5, 4, 3, 1, 2}, Vector: true}).Header(); err != nil || word(68) != 1007 || word(70) != 16 || word(50) != 2 {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := (Nifti{Shape: []int64{1 << 15}}).Header(); err == nil {
		t.Error("an axis is too long")
	}
}
