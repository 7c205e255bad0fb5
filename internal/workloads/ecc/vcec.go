// Package ecc defines the workload of the Euler characteristic curve, in every Convention:
// constructions T and V, sublevel and superlevel sets, masks and periodic axes. It contains the
// answer (VCEC and Curve), the definition, closed forms and laws, and the policy that checks
// answers. The implementations are in impls; none of them is used here.
package ecc

import (
	"encoding/binary"
	"errors"
	"iter"
)

// A Step is one level at which the Euler characteristic changes.
type Step struct {
	Level  int64 // index on the image's ladder
	Change int64 // never 0
}

// A VCEC is the vector of changes in the Euler characteristic (Wang et al. 2022, section 2.3) in
// canonical form: its nonzero entries, ascending by level. Answers agree if their VCECs are equal.
type VCEC []Step

// FromDense converts a vector with one change per level.
func FromDense(changes []int64) VCEC {
	n := 0
	for _, c := range changes {
		if c != 0 {
			n++
		}
	}
	v := make(VCEC, 0, n)
	for level, c := range changes {
		if c != 0 {
			v = append(v, Step{int64(level), c})
		}
	}
	return v
}

// All yields each level with a change, and the change.
func (v VCEC) All() iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for _, s := range v {
			if !yield(s.Level, s.Change) {
				return
			}
		}
	}
}

// At returns the Euler characteristic of the sublevel set at a level.
func (v VCEC) At(level int64) int64 {
	var chi int64
	for _, s := range v {
		if s.Level > level {
			break
		}
		chi += s.Change
	}
	return chi
}

// Plus returns v + times · b.
func (v VCEC) Plus(b VCEC, times int64) VCEC {
	if len(b) == 0 {
		return v
	}
	a, all := v, make(VCEC, 0, len(v)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var s Step
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Level < b[0].Level:
			s, a = a[0], a[1:]
		case len(a) == 0 || b[0].Level < a[0].Level:
			s, b = Step{b[0].Level, times * b[0].Change}, b[1:]
		default:
			s, a, b = Step{a[0].Level, a[0].Change + times*b[0].Change}, a[1:], b[1:]
		}
		if s.Change != 0 {
			all = append(all, s)
		}
	}
	return all
}

// Encode encodes the VCEC as varints, with differences of levels.
func Encode(v VCEC) []byte {
	b := binary.AppendUvarint(nil, uint64(len(v)))
	var last int64
	for _, s := range v {
		b = binary.AppendUvarint(b, uint64(s.Level-last))
		b = binary.AppendVarint(b, s.Change)
		last = s.Level
	}
	return b
}

// Decode decodes a VCEC from Encode.
func Decode(b []byte) (VCEC, error) {
	malformed := errors.New("malformed VCEC")
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) {
		return nil, malformed
	}
	b = b[k:]
	v := make(VCEC, n)
	var last int64
	for i := range v {
		d, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, malformed
		}
		c, m := binary.Varint(b[k:])
		if m <= 0 {
			return nil, malformed
		}
		b = b[k+m:]
		last += int64(d)
		v[i] = Step{last, c}
	}
	if len(b) > 0 {
		return nil, malformed
	}
	return v, nil
}
