package grid

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// Digest is the hash of an image's shape, type, ladder and bytes, 32 hex
// digits (XXH3, 128 bits). Golden values are keyed by it.
func Digest(s Source) (string, error) {
	h := xxh3.New()
	if _, err := fmt.Fprintf(h, "%v %v %s\n", s.Shape(), s.Type(), s.Ladder().Key()); err != nil {
		return "", err
	}
	err := EachSlab(s, func(slab []byte, _, _ int64) error {
		_, err := h.Write(slab)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo), nil
}

// Hash is the hash of bytes (XXH3, 64 bits).
func Hash(b []byte) uint64 { return xxh3.Hash(b) }

// Sum64 adds the 64-bit words of b, the last one filled up with zeros.
func Sum64(b []byte) uint64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for len(b) >= 64 {
		w := b[:64]
		s0 += binary.LittleEndian.Uint64(w)
		s1 += binary.LittleEndian.Uint64(w[8:])
		s2 += binary.LittleEndian.Uint64(w[16:])
		s3 += binary.LittleEndian.Uint64(w[24:])
		s4 += binary.LittleEndian.Uint64(w[32:])
		s5 += binary.LittleEndian.Uint64(w[40:])
		s6 += binary.LittleEndian.Uint64(w[48:])
		s7 += binary.LittleEndian.Uint64(w[56:])
		b = b[64:]
	}
	total := s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
	for len(b) > 0 {
		var word [8]byte
		b = b[copy(word[:], b):]
		total += binary.LittleEndian.Uint64(word[:])
	}
	return total
}
