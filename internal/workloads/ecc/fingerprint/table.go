package fingerprint

import (
	"fmt"
	"slices"

	"eccbench/internal/grid"
)

// A Table contains the weights of a function in the form for device kernels
// (kernels/fingerprint/fingerprint.h).
type Table struct {
	// Weights are w − 2⁵², shifted left by Shift, so that the upper 32 bits distinguish the levels.
	// For an integer type they belong to the values from Least on; the first and the last entry
	// also apply to all values beyond. For float32 they belong to levels. The outside's weight
	// follows.
	Weights []uint64
	Shift   uint
	Least   int64
	// Beyond means that the last entry is also the outside's weight, so that it is not repeated.
	// For every float32 it means that some values are above every level.
	Beyond bool
	// Under means that the outside has the least weight instead of the greatest.
	Under bool
	// Factors, if any, give the random bits of a level as the lowest Bits of a product: first the
	// factors for the upper bytes of levels, then those for the lower bytes. For an integer type
	// the levels are the values from First on. On the ladder of every float32, which has no
	// Weights, there are factors for all four bytes, the highest first, multiplied modulo 2³¹ − 1.
	// Reversed means that weights descend with the levels.
	Factors  []uint64
	Bits     uint
	First    int64
	Reversed bool
}

// mostEntries is the number of entries of a table of one gigabyte.
const mostEntries = 1 << 27

// Tables returns the tables of a key's functions.
func (p *Prepared) Tables() ([]Table, error) {
	if p.ladder.Indexed() && p.ladder.Len() > mostEntries {
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
			of = of[:p.ladder.Len()+1] // including the entry for values above the last level
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

// consecutive returns the first level of a ladder whose levels are consecutive integers. For
// float32 it is always 0, because kernels compute its levels.
func consecutive(t grid.Type, l grid.Ladder) (first int64, whole bool) {
	if t == grid.Float32 {
		return 0, true
	}
	return l.Consecutive()
}

// trimmed removes repeated entries at both ends of a table except one of each, and returns the
// offset of the rest.
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
