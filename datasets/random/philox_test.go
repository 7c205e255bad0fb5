package random

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPhiloxKnownAnswers compares with the vectors of Random123's kat_vectors.
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     uint64
		want    [4]uint32
	}{
		{[4]uint32{}, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}, 1<<64 - 1, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		p := NewLattice(c.key, NoiseStream)
		if got := p.Block(c.counter); got != c.want {
			t.Errorf("block(%x) under %x = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestPhiloxFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := NewLattice(rapid.Uint64().Draw(t, "seed"), stream(rapid.Uint32().Draw(t, "stream")))
		x := rapid.Int64Range(-100, 1<<31).Draw(t, "x") * 4
		y := rapid.Int64Range(-100, 1<<31).Draw(t, "y")
		z := rapid.Int64Range(-100, 1<<31).Draw(t, "z")
		dst := make([]uint32, rapid.IntRange(0, 40).Draw(t, "n"))
		p.Fill(dst, x, y, z)
		for i, got := range dst {
			at := x + int64(i)
			if want := p.Block([4]uint32{uint32(at >> 2), uint32(y), uint32(z), p.Tag})[at&3]; got != want {
				t.Fatalf("word %d is %x, want %x", i, got, want)
			}
		}
	})
}
