package chains

import (
	"fmt"
	"math"

	"eccbench/internal/grid"
)

// Keys of the vertices of a box without a time.
const (
	outside = math.MaxUint32     // around the box
	last    = math.MaxUint32 - 1 // absent in construction V: after all others
	first   = 0                  // absent in construction T, where the times are reversed: before all others
)

// A box is the vertices whose V filtration has the pairs of an image, in the order of their keys, then of their places.
// A layer of places around the box has the key outside, so every vertex has neighbours in all directions. Only axes of
// a 3D image have it along z.
type box struct {
	image      grid.Source
	superlevel bool
	dual       bool // construction T: a mirrored image of reversed times, with a layer of absent vertices around it
	n          int  // number of axes, 2 or 3
	side       [3]int
	step       [3]int // between places of neighbours along x, y, z
	origin     int    // place of the first vertex
	key        []uint32
}

// newBox reads an image.
func newBox(in grid.Source, superlevel, vertices bool) (*box, error) {
	s := in.Shape()
	b := &box{image: in, superlevel: superlevel, dual: !vertices, n: s.Dim()}
	if s.Voxels() > math.MaxUint32/3 || in.Ladder().Len() >= last {
		return nil, fmt.Errorf("an image of %v with %d levels: more cells or levels than numbers of 32 bits", s, in.Ladder().Len())
	}
	ring := 0
	if b.dual {
		ring = 1
	}
	b.side = [3]int{int(s.W) + 2*ring, int(s.H) + 2*ring, int(s.D) + 2*ring}
	b.step = [3]int{1, b.side[0] + 2, (b.side[0] + 2) * (b.side[1] + 2)}
	b.origin = b.step[0] + b.step[1] + b.step[2]
	places := b.step[2] * (b.side[2] + 2)
	if b.n == 2 {
		b.side[2], places = 1, b.step[2]
		b.origin -= b.step[2]
	}
	if int64(places) > math.MaxUint32 || 3*int64(b.side[0])*int64(b.side[1])*int64(b.side[2]) > math.MaxUint32 {
		return nil, fmt.Errorf("an image of %v: more cells than numbers of 32 bits", s)
	}
	b.key = make([]uint32, places)
	for i := range b.key {
		b.key[i] = outside
	}
	if b.dual {
		for z := range b.side[2] {
			for y := range b.side[1] {
				clear(b.key[b.place(0, y, z):][:b.side[0]])
			}
		}
	}
	return b, b.read()
}

// place returns the place of a vertex.
func (b *box) place(x, y, z int) int { return b.origin + x + y*b.step[1] + z*b.step[2] }

// read sets the keys of all voxels.
func (b *box) read() error {
	s, l := b.image.Shape(), b.image.Ladder()
	rowBytes, size := s.W*b.image.Type().Size(), grid.SliceBytes(b.image)
	levels, convert := make([]uint32, s.W), grid.ToLevels(b.image)
	return grid.EachSlab(b.image, func(slab []byte, lo, hi int64) error {
		if err := grid.Ended(b.image); err != nil {
			return err
		}
		at := lo * size / rowBytes
		for i := range (hi - lo) * size / rowBytes {
			convert(levels, slab[i*rowBytes:][:rowBytes])
			b.setRow(levels, int((at+i)/s.H), int((at+i)%s.H), uint32(l.Len()))
		}
		return nil
	})
}

// setRow sets the keys of a row of voxels. Levels from n on are those of absent voxels.
func (b *box) setRow(levels []uint32, z, y int, n uint32) {
	p, step := b.place(b.mirrored(0, y, z)), 1
	if b.dual {
		step = -1
	}
	for i, k := range levels {
		key := &b.key[p+i*step]
		switch t := k; {
		case k >= n:
			*key = b.absent()
		default:
			if b.superlevel {
				t = n - 1 - k
			}
			if b.dual {
				t = last - t
			}
			*key = t
		}
	}
}

// absent is the key of vertices that are no voxels of the image, or in none of its sets.
func (b *box) absent() uint32 {
	if b.dual {
		return first
	}
	return last
}

// rank orders vertices.
func (b *box) rank(p int) uint64 { return uint64(b.key[p])<<32 | uint64(p) }

// vertex returns the coordinates of a place.
func (b *box) vertex(p int) (x, y, z int) {
	p -= b.origin
	return p % b.step[1], p % b.step[2] / b.step[1], p / b.step[2]
}

// mirrored converts the coordinates of a voxel to those of its vertex, and back.
func (b *box) mirrored(x, y, z int) (int, int, int) {
	if s := b.side; b.dual {
		x, y = s[0]-2-x, s[1]-2-y
		if b.n == 3 {
			z = s[2] - 2 - z
		}
	}
	return x, y, z
}

// voxel returns the index of the voxel at a place.
func (b *box) voxel(p int) int64 {
	x, y, z := b.mirrored(b.vertex(p))
	s := b.image.Shape()
	return (int64(z)*s.H+int64(y))*s.W + int64(x)
}

// describe formats the coordinates and the value of a voxel.
func (b *box) describe(voxel int64) string {
	s, l := b.image.Shape(), b.image.Ladder()
	if voxel < 0 || voxel >= s.Voxels() {
		return fmt.Sprintf("%d (no voxel)", voxel)
	}
	z, y, x := s.Coordinates(voxel)
	at := fmt.Sprintf("(%d, %d, %d)", x, y, z)
	if b.n == 2 {
		at = fmt.Sprintf("(%d, %d)", x, y)
	}
	t := b.key[b.place(b.mirrored(int(x), int(y), int(z)))]
	if t == b.absent() {
		return at + " (absent)"
	}
	if b.dual {
		t = last - t
	}
	if b.superlevel {
		t = uint32(l.Len()-1) - t
	}
	return fmt.Sprintf("%s of value %v", at, l.Value(int64(t)))
}

// vertexAt formats the coordinates of a vertex, in those of the image.
func (b *box) vertexAt(p int) string {
	x, y, z := b.mirrored(b.vertex(p))
	if b.n == 2 {
		return fmt.Sprintf("(%d, %d)", x, y)
	}
	return fmt.Sprintf("(%d, %d, %d)", x, y, z)
}
