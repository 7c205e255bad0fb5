package ecc

import (
	"testing"

	"eccbench/internal/grid"
)

// vast is of a shape alone.
type vast struct {
	grid.Source
	shape grid.Shape
	typ   grid.Type
}

func (v vast) Shape() grid.Shape   { return v.shape }
func (v vast) Type() grid.Type     { return v.typ }
func (v vast) Ladder() grid.Ladder { return grid.Identity(v.typ) }

// A sixteenth of 2048³ of 8 or 16 bits takes no more than 300 MB, of which the slabs in memory
// are a part; shards read what they have, the slice before, and what closes a ring; and memory
// does not grow with the slices of a shard.
func TestShareOf(t *testing.T) {
	for _, typ := range []grid.Type{grid.Uint8, grid.Uint16} {
		s := vast{shape: grid.Shape{D: 2048, H: 2048, W: 2048}, typ: typ}
		size := grid.SliceBytes(s)
		ring := Convention{Periodic: grid.Axes{Z: true}}
		for _, c := range []struct {
			in    Convention
			of    grid.Span
			reads int64
		}{
			{Convention{}, grid.Span{Lo: 0, Hi: 128}, 128}, {Convention{}, grid.Span{Lo: 128, Hi: 256}, 129}, {Convention{}, grid.Span{Lo: 5, Hi: 5}, 0},
			{ring, grid.Span{Lo: 0, Hi: 2048}, 2048}, {ring, grid.Span{Lo: 1, Hi: 2048}, 2048}, {ring, grid.Span{Lo: 2, Hi: 2048}, 2048},
			{ring, grid.Span{Lo: 1920, Hi: 2048}, 130}, {ring, grid.Span{Lo: 1792, Hi: 1920}, 129},
		} {
			got := ShareOf(s, c.in, c.of, 2)
			if got.Reads != c.reads*size {
				t.Errorf("%v %v %+v: reads %d slices and %d bytes, want %d", typ, c.of, c.in, got.Reads/size, got.Reads%size, c.reads)
			}
			if c.of.Len() > 0 && (got.Memory < grid.PieceBytes(s, c.of) || c.in == (Convention{}) && got.Memory > 300e6) {
				t.Errorf("%v %v: %d bytes of memory", typ, c.of, got.Memory)
			}
		}
		few, many := ShareOf(s, Convention{}, grid.Span{Lo: 100, Hi: 200}, 2), ShareOf(s, Convention{}, grid.Span{Lo: 100, Hi: 2000}, 2)
		if few.Memory != many.Memory {
			t.Errorf("%v: %d bytes of memory for 100 slices, %d for 1,900", typ, few.Memory, many.Memory)
		}
	}
}

// Beside slabs, memory grows with the levels: a weight of each function, a counter of each
// core, and three more.
func TestShareOfLevels(t *testing.T) {
	beside := func(typ grid.Type) int64 {
		s, of := vast{shape: grid.Shape{D: 64, H: 64, W: 64}, typ: typ}, grid.Span{Lo: 16, Hi: 32}
		return ShareOf(s, Convention{}, of, 2).Memory - grid.PieceBytes(s, of)
	}
	const words = 1 + 2 + 3
	if got := beside(grid.Uint16) - beside(grid.Uint8); got != 8*words*(1<<16-1<<8) {
		t.Errorf("65,536 levels take %d bytes more than 256, want %d", got, 8*words*(1<<16-1<<8))
	}
}
