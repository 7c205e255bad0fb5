package betti

import (
	"encoding/binary"
	"errors"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// CurvesName is the name of the workload of the Betti numbers at every level.
const CurvesName = "betti-curves"

// A Change is the change of the Betti numbers at a level. The level is an index on the image's
// ladder.
type Change struct {
	Level int64
	Numbers
}

// Curves are the Betti numbers of all sublevel sets of an image as changes by level. Levels are
// ascending, without levels at which no number changes. Superlevel sets, which grow from the last
// level to the first, use the same form.
type Curves []Change

// PoisonedCurves is the value that jobs overwrite their answer with.
var PoisonedCurves = Curves{{bench.Poison, Poisoned}}

// Plus returns the sum of two triples.
func (n Numbers) Plus(m Numbers) Numbers { return Numbers{n.B0 + m.B0, n.B1 + m.B1, n.B2 + m.B2} }

// Minus returns the difference of two triples.
func (n Numbers) Minus(m Numbers) Numbers { return Numbers{n.B0 - m.B0, n.B1 - m.B1, n.B2 - m.B2} }

// At returns the numbers of the sublevel set at a level.
func (c Curves) At(level int64) (n Numbers) {
	for _, s := range c {
		if s.Level > level {
			break
		}
		n = n.Plus(s.Numbers)
	}
	return n
}

// superlevelNumbers returns the numbers of the superlevel set at a level.
func (c Curves) superlevelNumbers(level int64) (n Numbers) {
	for i := len(c) - 1; i >= 0 && c[i].Level >= level; i-- {
		n = n.Plus(c[i].Numbers)
	}
	return n
}

// numbersIn returns the numbers of the set at a level in a convention.
func (c Curves) numbersIn(convention ecc.Convention, level int64) Numbers {
	if convention.Superlevel {
		return c.superlevelNumbers(level)
	}
	return c.At(level)
}

// Euler returns the changes of b0 − b1 + b2.
func (c Curves) Euler() ecc.VCEC {
	v := ecc.VCEC{}
	for _, s := range c {
		if chi := s.Euler(); chi != 0 {
			v = append(v, ecc.Step{Level: s.Level, Change: chi})
		}
	}
	return v
}

// Joined returns the curves from the changes of b0, b2 and the Euler characteristic: b1 = b0 + b2 −
// χ.
func Joined(b0, b2, chi ecc.VCEC) Curves {
	c := make(Curves, 0, max(len(b0), len(b2), len(chi)))
	take := func(v *ecc.VCEC, level int64) (change int64) {
		if len(*v) > 0 && (*v)[0].Level == level {
			change, *v = (*v)[0].Change, (*v)[1:]
		}
		return change
	}
	for len(b0)+len(b2)+len(chi) > 0 {
		level, first := int64(0), true
		for _, v := range []ecc.VCEC{b0, b2, chi} {
			if len(v) > 0 && (first || v[0].Level < level) {
				level, first = v[0].Level, false
			}
		}
		n := Numbers{B0: take(&b0, level), B2: take(&b2, level)}
		n.B1 = n.B0 + n.B2 - take(&chi, level)
		if n != (Numbers{}) {
			c = append(c, Change{level, n})
		}
	}
	return c
}

// CurvesWorkload returns the workload of the Betti numbers at every level for some implementations.
// The first is the reference. Its inputs are images.
func CurvesWorkload(impls ...bench.Implementation[grid.Source, Curves]) bench.Workload[grid.Source, Curves] {
	return bench.Workload[grid.Source, Curves]{
		Name: CurvesName, Question: curvesQuestion(), Inputs: fields.Inputs{}, Impls: impls, Policy: curvesPolicy(),
		Encode: bench.Small(EncodeCurves), Decode: DecodeCurves,
		Reference: bench.NameOfFirst(impls),
	}
}

// EncodeCurves encodes curves as varints, with levels as differences.
func EncodeCurves(c Curves) []byte {
	b := binary.AppendUvarint(nil, uint64(len(c)))
	var last int64
	for _, s := range c {
		b = binary.AppendUvarint(b, uint64(s.Level-last))
		for _, n := range []int64{s.B0, s.B1, s.B2} {
			b = binary.AppendVarint(b, n)
		}
		last = s.Level
	}
	return b
}

// DecodeCurves is the inverse of EncodeCurves.
func DecodeCurves(b []byte) (Curves, error) {
	malformed := errors.New("malformed Betti curves")
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) {
		return nil, malformed
	}
	b = b[k:]
	c := make(Curves, n)
	var last int64
	for i := range c {
		d, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, malformed
		}
		b = b[k:]
		for _, to := range []*int64{&c[i].B0, &c[i].B1, &c[i].B2} {
			if *to, k = binary.Varint(b); k <= 0 {
				return nil, malformed
			}
			b = b[k:]
		}
		last += int64(d)
		c[i].Level = last
	}
	if len(b) > 0 {
		return nil, malformed
	}
	return c, nil
}

// sameCurves returns the first level at which two answers differ, or nil.
func sameCurves(in grid.Source, want, got Curves) *verify.Diff {
	for len(want)+len(got) > 0 {
		var a, b Change
		switch {
		case len(got) == 0 || len(want) > 0 && want[0].Level < got[0].Level:
			a, want = want[0], want[1:]
			b.Level = a.Level
		case len(want) == 0 || got[0].Level < want[0].Level:
			b, got = got[0], got[1:]
			a.Level = b.Level
		default:
			a, b, want, got = want[0], got[0], want[1:], got[1:]
		}
		if a != b {
			return &verify.Diff{Where: place(in, a.Level), Want: "changes of " + a.Numbers.String(),
				Got: "changes of " + b.Numbers.String()}
		}
	}
	return nil
}

// place formats a level for a message.
func place(in grid.Source, level int64) string {
	if level < 0 || level >= in.Ladder().Len() {
		return fmt.Sprintf("level %d", level)
	}
	return fmt.Sprintf("level %d (value %v)", level, in.Ladder().Value(level))
}
