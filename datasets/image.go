package datasets

import (
	"eccbench/datasets/random"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// An image is a generated Source whose levels are a function of the coordinates. It is made in
// pieces of a row.
type image struct {
	shape grid.Shape
	scale random.Scale
	// Levels sets dst[i] to the level of voxel (x+i, y, z); x is a multiple of
	// rowPiece. Calls run concurrently.
	levels func(dst []uint32, x, y, z int64)
	// values replaces levels for images by vector instructions, or without levels: it writes the values
	// of the row (y, z). Otherwise it is nil. Calls run concurrently, each with its own buffer.
	values func(dst []byte, y, z int64, b *random.RowBuffer)
	// period is the number of slices after which the image repeats when it is rotated along its slowest
	// axis, 0 for all slices.
	period int64
}

// rowPiece is the number of voxels per call; their levels stay in the L1 cache.
const rowPiece = 1024

func (m *image) Shape() grid.Shape   { return m.shape }
func (m *image) Type() grid.Type     { return m.scale.Typ }
func (m *image) Ladder() grid.Ladder { return m.scale.Ladder }

// ReadSlab makes slices lo ≤ i < hi, on every processor when they are many.
func (m *image) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(m, dst, lo, hi); err != nil {
		return err
	}
	perSlice := m.shape.SliceVoxels() / m.shape.W
	first, end := lo*perSlice, hi*perSlice
	const batch = 1 << 16 // voxels
	rows := max(1, batch/m.shape.W)
	bytes := m.shape.W * m.scale.Typ.Size()
	crew.Share((end-first+rows-1)/rows, func(tasks func() (int64, bool)) {
		buf := &random.RowBuffer{}
		if m.values == nil {
			buf.Levels = make([]uint32, min(rowPiece, m.shape.W))
		}
		for t, ok := tasks(); ok; t, ok = tasks() {
			for row := first + t*rows; row < min(end, first+(t+1)*rows); row++ {
				m.row(dst[(row-first)*bytes:][:bytes], row, buf)
			}
		}
	})
	return nil
}

// row makes one row of the image, counted over all slices.
func (m *image) row(dst []byte, row int64, b *random.RowBuffer) {
	z, y, size := row/m.shape.H, row%m.shape.H, m.scale.Typ.Size()
	if m.values != nil {
		m.values(dst, y, z, b)
		return
	}
	for x := int64(0); x < m.shape.W; x += rowPiece {
		n := min(rowPiece, m.shape.W-x)
		m.levels(b.Levels[:n], x, y, z)
		m.scale.Put(dst[x*size:][:n*size], b.Levels[:n])
	}
}
