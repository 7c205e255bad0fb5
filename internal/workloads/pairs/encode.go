package pairs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"eccbench/internal/bench"
)

// Poisoned returns the value that jobs overwrite their answer with.
func Poisoned() Answer {
	return Answer{Pairs: []Pair{{Dim: bench.Poison, Birth: bench.Poison, Death: bench.Poison}}}
}

// The first byte of an encoded answer is the kind of its chains.
const (
	withoutChains = iota
	homologyChains
	cohomologyChains
)

// Encode writes an answer: the kind of its chains, the number of pairs, each pair as differences from the previous one
// in varints, and the words of the chains, four bytes each.
func Encode(to io.Writer, a Answer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	kind := byte(withoutChains)
	if a.Chains != nil {
		if kind = homologyChains; a.Chains.Dual {
			kind = cohomologyChains
		}
	}
	b := binary.AppendUvarint([]byte{kind}, uint64(len(a.Pairs)))
	_, _ = w.Write(b) // Flush returns the error
	var last Pair
	for _, p := range a.Pairs {
		b = binary.AppendVarint(b[:0], int64(p.Dim-last.Dim))
		b = binary.AppendVarint(b, p.Birth-last.Birth)
		b = binary.AppendVarint(b, p.Death-p.Birth)
		_, _ = w.Write(b)
		last = p
	}
	if a.Chains != nil {
		for _, word := range a.Chains.Words {
			b = binary.LittleEndian.AppendUint32(b[:0], word)
			_, _ = w.Write(b)
		}
	}
	return w.Flush()
}

// Decode is the inverse of Encode.
func Decode(b []byte) (a Answer, err error) {
	malformed := errors.New("malformed persistence pairs")
	if len(b) == 0 || b[0] > cohomologyChains {
		return a, malformed
	}
	kind := b[0]
	n, k := binary.Uvarint(b[1:])
	if k <= 0 || n > uint64(len(b)) {
		return a, malformed
	}
	b = b[1+k:]
	a.Pairs = make([]Pair, n)
	var last Pair
	for i := range a.Pairs {
		var steps [3]int64
		for j := range steps {
			if steps[j], k = binary.Varint(b); k <= 0 {
				return Answer{}, malformed
			}
			b = b[k:]
		}
		birth := last.Birth + steps[1]
		last = Pair{Dim: last.Dim + int(steps[0]), Birth: birth, Death: birth + steps[2]}
		a.Pairs[i] = last
	}
	if kind == withoutChains {
		if len(b) > 0 {
			return Answer{}, malformed
		}
		return a, nil
	}
	if len(b)%4 != 0 {
		return Answer{}, malformed
	}
	a.Chains = &Chains{Dual: kind == cohomologyChains, Words: make([]uint32, len(b)/4)}
	for i := range a.Chains.Words {
		a.Chains.Words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return a, nil
}
