package ondevice

import (
	"errors"

	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// Steps are the steps of Lanczos' method with full reorthogonalisation, in float64
// (kernels/eigenmap/steps.h). The host does not wait for single steps: it reads T at the end, or
// from time to time.
type Steps struct {
	on     *resident.Program
	chunks int64
	most   int64 // capacity of Q in columns
	least  float64
	next   string // the kernel that computes the next column

	Q     device.Buffer // the vectors, one after the other
	Z     device.Buffer // L times the last vector, from which the next one is computed
	V     device.Buffer // D^−½ times the last vector, the input of products with W
	Scale device.Buffer // D^−½

	parts, c, diagonal, beside, sums device.Buffer

	Columns int64 // columns of Q in use
	fixed   int64 // number of the first ones, which are not from steps
}

// stepBytes returns the device memory for steps with up to most vectors of rows numbers, and for
// the given number of pairs computed from them.
func stepBytes(rows, most, pairs int64) int64 {
	return 8 * (rows*(most+3+pairs) + most*(rows/Chunk+4+pairs))
}

// The kernels of steps, in addition to kernels of products.
const nextWide, nextNarrow = "eigenmap_next_wide", "eigenmap_next_narrow"

// withSteps returns the kernels of products and of steps. V is in float32 if narrow.
func withSteps(narrow bool, products ...string) []string {
	next := nextWide
	if narrow {
		next = nextNarrow
	}
	return append(products, "eigenmap_dots", "eigenmap_sums", "eigenmap_update", "eigenmap_combine", next)
}

// newSteps allocates memory for a number of vectors and pairs. V is in float32 if narrow. A vector
// shorter than least counts as 0.
func newSteps(on *resident.Program, rows, most, pairs int64, narrow bool, least float64) *Steps {
	s := &Steps{on: on, chunks: rows / Chunk, most: most, least: least, next: nextWide}
	number := int64(8)
	if narrow {
		s.next, number = nextNarrow, 4
	}
	s.Q, s.Z = on.NewBuffer("vectors of steps", 8*rows*most), on.NewBuffer("next vector", 8*rows)
	s.V, s.Scale = on.NewBuffer("scaled vector", number*rows), on.NewBuffer("scale", 8*rows)
	s.parts, s.c = on.NewBuffer("parts of sums", 8*most*s.chunks), on.NewBuffer("coefficients", 8*most*max(1, pairs))
	s.diagonal, s.beside = on.NewBuffer("diagonal of T", 8*most), on.NewBuffer("numbers beside it", 8*most)
	s.sums = on.NewBuffer("sums of vectors", 8*rows*max(1, pairs))
	return s
}

// Begin empties Q except for fixed orthonormal vectors. The vectors of the steps will be orthogonal
// to them.
func (s *Steps) Begin(fixed ...[]float64) error {
	s.Columns, s.fixed = int64(len(fixed)), int64(len(fixed))
	for k, v := range fixed {
		if err := s.write(s.Q, int64(k), v); err != nil {
			return err
		}
	}
	return nil
}

// write sets a column to a vector.
func (s *Steps) write(to device.Buffer, column int64, v []float64) error {
	all := make([]float64, s.chunks*Chunk)
	copy(all, v)
	return resident.Write(s.on.Stream, to, 8*column*s.chunks*Chunk, all)
}

// Block sizes of the kernels.
const (
	wideBlock = 512
	sumWarps  = 8
)

// Start computes the first column of the steps from a vector.
func (s *Steps) Start(v []float64) error {
	if err := s.write(s.Z, 0, v); err != nil {
		return err
	}
	return s.add(-1)
}

// Step computes the next column from L times the last one. product leaves that product in Z; its
// argument is the index of the last column in Q.
func (s *Steps) Step(product func(column int64) error) error {
	if err := product(s.Columns - 1); err != nil {
		return err
	}
	return s.add(s.Columns - 1 - s.fixed)
}

// Full reports whether Q is full.
func (s *Steps) Full() bool { return s.Columns == s.most }

// NewColumns returns the number of columns from steps.
func (s *Steps) NewColumns() int { return int(s.Columns - s.fixed) }

// FinishDiagonal computes the diagonal number of T for the last column, which has no successor.
func (s *Steps) FinishDiagonal(product func(column int64) error) error {
	step := s.Columns - 1 - s.fixed
	if err := product(s.Columns - 1); err != nil {
		return err
	}
	return errors.Join(s.perpendicular(step), s.Cut(int(step)))
}

// add makes z orthogonal to all columns, and appends the result as the next column.
func (s *Steps) add(step int64) error {
	if err := s.perpendicular(step); err != nil {
		return err
	}
	s.Columns++
	return s.on.Launch(s.next, s.chunks, Chunk, 0, s.Z, s.parts, int32(s.chunks), s.least, s.Q, int32(s.Columns-1),
		s.Scale, s.V, s.beside, int32(step))
}

// perpendicular makes z orthogonal to all columns, in two passes.
func (s *Steps) perpendicular(step int64) error {
	columns, chunks := int32(s.Columns), int32(s.chunks)
	sums := func(pass int32) error {
		return s.on.Launch("eigenmap_sums", (s.Columns+sumWarps-1)/sumWarps, 32*sumWarps, 0, s.parts, columns,
			chunks, s.c, s.diagonal, int32(step), pass)
	}
	update := func(last int32) error {
		return s.on.Launch("eigenmap_update", s.chunks, wideBlock, 0, s.Q, columns, chunks, s.c, s.Z, s.parts, last)
	}
	if columns > 0 {
		if err := errors.Join(s.dots(), sums(0), update(0), sums(1)); err != nil {
			return err
		}
	}
	return update(1)
}

func (s *Steps) dots() error {
	return s.on.Launch("eigenmap_dots", s.chunks, wideBlock, 0, s.Q, int32(s.Columns), int32(s.chunks), s.Z, s.parts)
}

// T reads the matrix of the steps: its diagonal and the numbers next to it, which are the lengths
// of the next vectors before their normalisation.
func (s *Steps) T(n int) (t Tridiagonal, err error) {
	t.Diagonal, t.OffDiagonal = make([]float64, n), make([]float64, n)
	if err := resident.Read(s.on.Stream, t.Diagonal, s.diagonal, 0); err != nil {
		return t, err
	}
	return t, resident.Read(s.on.Stream, t.OffDiagonal, s.beside, 0)
}

// Forget removes the columns from a step on.
func (s *Steps) Forget(step int) { s.Columns = s.fixed + int64(step) }

// Cut sets the number of T after a step, next to the diagonal, to 0.
func (s *Steps) Cut(step int) error {
	return resident.Write(s.on.Stream, s.beside, 8*int64(step), []float64{0})
}

// Read copies the first vectors of the steps to to, one after the other.
func (s *Steps) Read(to []float64, columns int) error {
	n := len(to) / columns
	for k := range columns {
		if err := resident.Read(s.on.Stream, to[k*n:][:n], s.Q, 8*(s.fixed+int64(k))*s.chunks*Chunk); err != nil {
			return err
		}
	}
	return nil
}

// Combine sets vectors to linear combinations of the columns.
func (s *Steps) Combine(to, coefficients [][]float64) error {
	columns := s.fixed + int64(len(coefficients[0]))
	all := make([]float64, 0, columns*int64(len(to)))
	for _, c := range coefficients {
		all = append(append(all, make([]float64, s.fixed)...), c...)
	}
	if err := resident.Write(s.on.Stream, s.c, 0, all); err != nil {
		return err
	}
	if err := s.on.Launch("eigenmap_combine", s.chunks, wideBlock, 0, s.Q, int32(columns), int32(s.chunks),
		s.c, int32(len(to)), s.sums); err != nil {
		return err
	}
	for k, v := range to {
		if err := resident.Read(s.on.Stream, v, s.sums, 8*int64(k)*s.chunks*Chunk); err != nil {
			return err
		}
	}
	return nil
}

// Components returns the components of a vector along the first columns of the steps.
func (s *Steps) Components(v []float64, n int) ([]float64, error) {
	if err := s.write(s.Z, 0, v); err != nil {
		return nil, err
	}
	columns := s.fixed + int64(n)
	if err := s.on.Launch("eigenmap_dots", s.chunks, wideBlock, 0, s.Q, int32(columns), int32(s.chunks),
		s.Z, s.parts); err != nil {
		return nil, err
	}
	if err := s.on.Launch("eigenmap_sums", (columns+sumWarps-1)/sumWarps, 32*sumWarps, 0, s.parts, int32(columns),
		int32(s.chunks), s.c, s.diagonal, int32(-1), int32(0)); err != nil {
		return nil, err
	}
	c := make([]float64, n)
	return c, resident.Read(s.on.Stream, c, s.c, 8*s.fixed)
}

// buffers returns the buffers that answers are computed from.
func (s *Steps) buffers() []device.Buffer {
	return []device.Buffer{s.Q, s.Z, s.V, s.Scale, s.parts, s.c, s.diagonal, s.beside, s.sums}
}
