package random

import (
	"math/bits"
	"unsafe"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// A schedule is the part of Philox's rounds that all blocks of a row share, because their counters
// differ only in the first word. It has four words that the first three rounds compute from the
// other words and the keys, and then the keys of the other rounds.
type schedule [19]uint32

// set makes the schedule of the row (y, z).
func (s *schedule) set(p *Lattice, y, z int64) {
	k := &p.keys
	hi, lo := bits.Mul32(uint32(z), philoxM1)
	s[0], s[1] = p.Tag^k[0][1], lo^k[1][0]
	hi, lo = bits.Mul32(hi^uint32(y)^k[0][0], philoxM0)
	s[2], s[3], s[4] = hi^k[1][1], lo^k[2][1], k[2][0]
	for i := range 7 {
		s[5+2*i], s[6+2*i] = k[3+i][0], k[3+i][1]
	}
}

// A RowBuffer is the working memory of a goroutine that makes rows.
type RowBuffer struct {
	Levels   []uint32
	schedule schedule
	tail     [vectors.MaxTurn]float32 // the last turn of a row, of any type
}

// NoiseRows returns a function that makes rows of noise, or nil without vectors.
func NoiseRows(v *vectors.Set, n int64, s Scale, p Lattice) func(dst []byte, y, z int64, b *RowBuffer) {
	if v.Turn == 0 {
		return nil
	}
	var turns func(dst *byte, b *RowBuffer, first uint32, turns int)
	switch s.Typ {
	case grid.Uint8:
		turns = func(dst *byte, b *RowBuffer, first uint32, turns int) {
			v.Bytes(dst, &b.schedule[0], first, turns, uint32(n))
		}
	case grid.Uint16, grid.Int16:
		turns = func(dst *byte, b *RowBuffer, first uint32, turns int) {
			v.Pairs((*uint16)(unsafe.Pointer(dst)), &b.schedule[0], first, turns, uint32(n), repeatHalves(s.shift))
		}
	case grid.Float32:
		lo, step, single := s.affine()
		turns = func(dst *byte, b *RowBuffer, first uint32, turns int) {
			if single {
				v.Singles((*float32)(unsafe.Pointer(dst)), &b.schedule[0], first, turns, uint32(n), float32(lo), float32(step))
			} else {
				v.Doubles((*float32)(unsafe.Pointer(dst)), &b.schedule[0], first, turns, uint32(n), lo, step)
			}
		}
	}
	size := s.Typ.Size()
	return func(dst []byte, y, z int64, b *RowBuffer) {
		b.schedule.set(&p, y, z)
		whole := int64(len(dst)) / size / v.Turn
		if whole > 0 {
			turns(&dst[0], b, 0, int(whole))
		}
		if rest := dst[whole*v.Turn*size:]; len(rest) > 0 {
			tail := grid.Bytes(b.tail[:])
			turns(&tail[0], b, uint32(whole*v.Turn/4), 1)
			copy(rest, tail)
		}
	}
}

// repeatHalves repeats the lower 16 bits of a number in both halves.
func repeatHalves(n int64) uint32 { return uint32(uint16(n)) * (1<<16 + 1) }

// affine returns the ladder of a float32 scale, and whether float32 arithmetic computes every
// level's value exactly. It compares with the table, if there is one.
func (s *Scale) affine() (lo, step float64, single bool) {
	lo, step, _ = s.Ladder.Affinity()
	return lo, step, s.table != nil && s.Ladder.InFloat32()
}
