package cells

import (
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// Characteristic computes the Euler characteristic of the sublevel set at a level from the
// definition. The voxels at or below the level are the top cells of a cubical complex. Each of its
// cells counts once, with the sign of its dimension (Wang et al. 2022, section 2.2, equation 1). As
// a witness it shares no code with the implementations: it compares values instead of levels, and
// counts 64 cells at a time.
func Characteristic(s grid.Source, level int64) (int64, error) {
	return CharacteristicAt(s, threshold(s.Ladder(), level))
}

// CharacteristicAt computes the Euler characteristic of the voxels with values up to a threshold.
func CharacteristicAt(s grid.Source, t float32) (int64, error) {
	n, h, w := Stack(s.Shape())
	// The layers are below, between and above the planes.
	return layers(s, n+1, h, w, func(into *PlaneSet, z int64, read func() ([]byte, error)) error {
		if z < 0 || z >= n {
			into.Clear()
			return nil
		}
		plane, err := read()
		into.Fill(s.Type(), plane, t)
		return err
	}, CellsBetween)
}

// layers sums count(plane z−1, plane z) over the n layers z = 0 … n−1, on all cores. put fills a
// plane of h × w voxels, and may read slice z of the image for that.
func layers(s grid.Source, n, h, w int64, put func(into *PlaneSet, z int64, read func() ([]byte, error)) error,
	count func(below, above *PlaneSet) int64) (int64, error) {
	parts := min(n, int64(runtime.GOMAXPROCS(0)))
	sums := make([]int64, parts)
	err := crew.Try(int(parts), int(parts), func(_, part int) error {
		var buffer []byte
		size := grid.SliceBytes(s)
		read := func(z int64) (slab []byte, err error) {
			if whole, is := s.(*grid.Field); is {
				return whole.Data()[z*size : (z+1)*size], nil
			}
			if buffer == nil {
				buffer = grid.NewBuffer(size)
			}
			return buffer, s.ReadSlab(buffer, z, z+1)
		}
		below, above := NewPlaneSet(h, w), NewPlaneSet(h, w)
		next := func(z int64) error {
			below, above = above, below
			return put(above, z, func() ([]byte, error) { return read(z) })
		}
		p := int64(part)
		lo, hi := n*p/parts, n*(p+1)/parts
		for z := lo - 1; z < hi; z++ {
			if err := next(z); err != nil {
				return err
			}
			if z >= lo {
				sums[p] += count(below, above)
			}
		}
		return nil
	})
	var chi int64
	for _, sum := range sums {
		chi += sum
	}
	return chi, err
}

// threshold returns a value t such that the voxels at or below the level are the voxels with values
// ≤ t.
func threshold(l grid.Ladder, level int64) float32 {
	switch {
	case level < 0:
		return float32(math.Inf(-1))
	case level >= l.Len():
		return float32(math.Inf(1))
	}
	return l.Value(level)
}

// A PlaneSet is a set of voxels of one plane, as a bit mask. Each row has whole words with at least
// one spare bit. An empty row precedes and follows the plane.
type PlaneSet struct {
	h, w, words int64
	rows        []uint64
}

// NewPlaneSet returns an empty set for a plane of h rows of w voxels.
func NewPlaneSet(h, w int64) *PlaneSet {
	return PlaneSetOf(make([]uint64, (h+2)*RowWords(w)), h, w)
}

// PlaneSetOf returns a set for a plane of h rows of w voxels that uses the given words. The first
// and the last row must be empty.
func PlaneSetOf(words []uint64, h, w int64) *PlaneSet {
	return &PlaneSet{h, w, RowWords(w), words[:(h+2)*RowWords(w)]}
}

// RowWords returns the number of words of a row of w voxels, with at least one spare bit.
func RowWords(w int64) int64 { return w/64 + 1 }

// Row returns row y, −1 ≤ y ≤ h.
func (s *PlaneSet) Row(y int64) []uint64 { return s.rows[(y+1)*s.words:][:s.words] }

// Fill sets the plane to the voxels with values ≤ t.
func (s *PlaneSet) Fill(typ grid.Type, plane []byte, t float32) {
	switch typ {
	case grid.Uint8:
		planes.fillBytes(s, plane, t)
	case grid.Int16:
		fillSet(s, grid.Values[int16](plane), t)
	case grid.Uint16:
		fillSet(s, grid.Values[uint16](plane), t)
	case grid.Float32:
		fillSet(s, grid.Values[float32](plane), t)
	}
}

func fillSet[T grid.Element](s *PlaneSet, plane []T, t float32) {
	for y := range s.h {
		values, row := plane[y*s.w:(y+1)*s.w], s.Row(y)
		for i := range row {
			piece := values[min(64*int64(i), s.w):min(64*int64(i+1), s.w)]
			var word uint64
			for _, v := range piece {
				// Branch-free, because the outcomes are unpredictable.
				var in uint64
				if float32(v) <= t {
					in = 1
				}
				word = word>>1 | in<<63
			}
			row[i] = word >> (64 - uint(len(piece))) // 0 beyond the last voxel
		}
	}
}

// A planeKernel implements the operations on bit planes with one instruction set.
type planeKernel struct {
	fill  func(s *PlaneSet, plane []byte, limit uint8)
	cells func(below, above *PlaneSet) int64
	dual  func(below, above *PlaneSet) int64
}

func portablePlanes() planeKernel { return planeKernel{fillEights, cellsBetween, dualCellsBetween} }

// planes is the fastest kernel for this machine.
var planes = planesOf(isa.Available(Assembled)[0])

// fillBytes fills a set from bytes.
func (k planeKernel) fillBytes(s *PlaneSet, plane []byte, t float32) {
	if t < 0 {
		s.Clear()
		return
	}
	k.fill(s, plane, uint8(min(t, math.MaxUint8)))
}

// fillEights sets the bits of the bytes ≤ limit, eight bytes at a time.
func fillEights(s *PlaneSet, plane []byte, limit uint8) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	limits := ones * uint64(limit)
	eight := func(v uint64) uint64 {
		// A byte of low has its high bit set if its other bits are at most the limit's other bits.
		low := (limits | high) - v&^high
		in := (^v&limits | ^(v^limits)&low) & high
		return in >> 7 * 0x0102040810204080 >> 56
	}
	for y := range s.h {
		values, row := plane[y*s.w:(y+1)*s.w], s.Row(y)
		for i := 0; len(values) >= 64; i, values = i+1, values[64:] {
			b := (*[64]byte)(values)
			row[i] = eight(binary.LittleEndian.Uint64(b[0:])) | eight(binary.LittleEndian.Uint64(b[8:]))<<8 |
				eight(binary.LittleEndian.Uint64(b[16:]))<<16 | eight(binary.LittleEndian.Uint64(b[24:]))<<24 |
				eight(binary.LittleEndian.Uint64(b[32:]))<<32 | eight(binary.LittleEndian.Uint64(b[40:]))<<40 |
				eight(binary.LittleEndian.Uint64(b[48:]))<<48 | eight(binary.LittleEndian.Uint64(b[56:]))<<56
		}
	}
	fillTails(s, plane, limit)
}

// fillTails sets the last word of each row, which the vector code skips.
func fillTails(s *PlaneSet, plane []byte, limit uint8) {
	for y := range s.h {
		var word uint64
		for k, v := range plane[(y+1)*s.w-s.w%64 : (y+1)*s.w] {
			if v <= limit {
				word |= 1 << k
			}
		}
		s.Row(y)[s.words-1] = word
	}
}

// Clear empties the set.
func (s *PlaneSet) Clear() { clear(s.rows) }

// Invert replaces the set by its complement within the plane.
func (s *PlaneSet) Invert() {
	for y := range s.h {
		row := s.Row(y)
		for i := range row {
			row[i] = ^row[i]
		}
		row[s.words-1] &= 1<<uint(s.w%64) - 1
	}
}

// CellsBetween counts the cells that start at the vertices between two planes, with the signs of
// their dimensions. At each vertex these are the vertex itself, and the three edges, three squares
// and one cube towards greater x, y and z. A cell is in the complex if any voxel that contains it
// is in the set. Bit x of a word is the voxel on the greater side of vertex x.
func CellsBetween(below, above *PlaneSet) int64 { return planes.cells(below, above) }

func cellsBetween(below, above *PlaneSet) int64 {
	chi := 0
	for y := range below.h + 1 {
		b0, b1, a0, a1 := below.Row(y-1), below.Row(y), above.Row(y-1), above.Row(y)
		b1, a0, a1 = b1[:len(b0)], a0[:len(b0)], a1[:len(b0)]
		var x, xy, xz, xyz uint64 // the previous words of the cells that span x
		for i := range b0 {
			edge := b0[i] | b1[i] | a0[i] | a1[i]
			if edge|x>>63 == 0 {
				x, xy, xz, xyz = 0, 0, 0, 0
				continue
			}
			squareXY, squareXZ, cube := b1[i]|a1[i], a0[i]|a1[i], a1[i]
			// A cell that does not span x is also a face of the voxels on its lesser side.
			vertex, edgeY, edgeZ, squareYZ := edge|edge<<1|x>>63, squareXY|squareXY<<1|xy>>63, squareXZ|squareXZ<<1|xz>>63,
				cube|cube<<1|xyz>>63
			chi += bits.OnesCount64(vertex) - bits.OnesCount64(edge) - bits.OnesCount64(edgeY) - bits.OnesCount64(edgeZ) +
				bits.OnesCount64(squareXY) + bits.OnesCount64(squareXZ) + bits.OnesCount64(squareYZ) - bits.OnesCount64(cube)
			x, xy, xz, xyz = edge, squareXY, squareXZ, cube
		}
	}
	return int64(chi)
}
