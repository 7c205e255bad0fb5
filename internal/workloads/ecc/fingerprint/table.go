package fingerprint

import (
	"fmt"
	"slices"

	"eccbench/internal/grid"
)

// A Table is the weights of a function as kernels take them (kernels/fingerprint/fingerprint.h).
type Table struct {
	// Weights are w − 2⁵², shifted to the left by Shift, so that the upper 32 bits tell the
	// levels apart: of the values of an integer type from Least on, the first and the last
	// for those beyond, or of the levels of float32. Then comes that of what is outside.
	Weights []uint64
	Shift   uint
	Least   int64
	// Beyond says that the last of them is outside, too, where the table has it once, or that some
	// values of float32 are above every level.
	Beyond bool
	// Under says that what is outside has the least weight, in place of the greatest.
	Under bool
	// Factors, if any, are the numbers whose products have the random bits of levels as their
	// lowest Bits: those of the upper bytes of levels, and of the lower ones. Of an integer type the
	// levels are then the values from First on. On the ladder of every float32, which has no Weights,
	// they are of all four bytes of levels, the highest first, and multiplied modulo 2³¹ − 1.
	// Reversed says that weights descend with the levels.
	Factors  []uint64
	Bits     uint
	First    int64
	Reversed bool
}

// mostEntries is where a table would take a gigabyte.
const mostEntries = 1 << 27

// Tabled reports whether the levels of a ladder have tables.
func Tabled(l grid.Ladder) bool { return !l.Indexed() || l.Len() <= mostEntries }

// Tables are those of a key's functions.
func (p *Prepared) Tables() ([]Table, error) {
	if !Tabled(p.ladder) {
		return nil, fmt.Errorf("fingerprint: a table of the weights of %d levels is too large", p.ladder.Len())
	}
	tables := make([]Table, len(p.weights))
	for i := range tables {
		f := p.functions()[i]
		t := Table{Under: p.in.Vertices, Bits: f.bits, Reversed: p.in.Vertices != p.in.Superlevel}
		if !p.ladder.Indexed() {
			t.Factors, t.Beyond = f.factors, p.in.Masked
			tables[i] = t
			continue
		}
		if first, whole := consecutive(p.typ, p.ladder); whole {
			t.Factors, t.First = f.factors, first
		}
		if f.bits < 32 {
			t.Shift = 32 - f.bits
		}
		of := f.weight.table
		switch p.typ {
		case grid.Float32:
			of = of[:p.ladder.Len()+1] // with what is above the last level
		case grid.Int16:
			of = append(slices.Clone(of[1<<15:]), of[:1<<15]...) // in the order of the values
			of, t.Least = trimmed(of)
			t.Least -= 1 << 15
		case grid.Uint8, grid.Uint16:
			of, t.Least = trimmed(of)
		}
		t.Weights = make([]uint64, 0, len(of)+1)
		for _, w := range of {
			t.Weights = append(t.Weights, (w-lowest)<<t.Shift)
		}
		if p.typ != grid.Float32 {
			t.Beyond = of[len(of)-1] == f.outside
		}
		if p.typ != grid.Float32 && !t.Beyond {
			t.Weights = append(t.Weights, (f.outside-lowest)<<t.Shift)
		}
		tables[i] = t
	}
	return tables, nil
}

// consecutive is the first level of a ladder whose levels are those integers that follow it, and
// whether it is one, as every ladder is of float32, whose kernels know its levels.
func consecutive(t grid.Type, l grid.Ladder) (first int64, whole bool) {
	if t == grid.Float32 {
		return 0, true
	}
	return l.Consecutive()
}

// trimmed returns a table without what is the same at its ends, but for one of each, and where it
// begins.
func trimmed(of []uint64) ([]uint64, int64) {
	first, last := 0, len(of)-1
	for first < last && of[first+1] == of[0] {
		first++
	}
	for last > first && of[last-1] == of[len(of)-1] {
		last--
	}
	return of[first : last+1], int64(first)
}
