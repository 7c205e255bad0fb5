package inertia

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/isa"
)

// ErrPivot reports that a matrix has no LDLᵀ without pivoting. With another shift it may have one.
var ErrPivot = errors.New("a pivot is 0")

// fast and wide report whether vector instructions compute the products, and whether those of AVX-512 do.
var (
	fast = isa.Available(assembled)[0] != isa.Portable && isa.FMA()
	wide = fast && isa.Available(assembled)[0] == isa.AVX512
)

// ProductNS estimates the time of a product in nanoseconds, about three times the measured time on an idle core.
func ProductNS() float64 {
	switch {
	case wide:
		return 0.12
	case fast:
		return 0.18
	}
	return 1
}

// NodeNS estimates the time of a node besides its products, in the same way.
func NodeNS() float64 {
	if fast {
		return 2500
	}
	return 7500
}

// A front is the dense matrix in which some nodes, the pivots, are eliminated. The rows of its
// panel are the pivots, then the border: the remaining nodes. Its columns are the pivots. Only the lower
// triangle of the panel's symmetric part is used. After factor, the panel contains L, and update the
// remaining matrix of the border.
type front struct {
	pivots, border int
	panel          []float64 // (pivots + border) × pivots, and a few more
	d              []float64 // the diagonal of D
	update         triangle
	*workspace
}

// A workspace is memory of fronts for the next ones, so that it stays in a core's cache.
type workspace struct {
	place         []int32 // position of each node in a front, from 1
	panel, scaled []float64
	triangles     [][]float64
}

// mostKept is the largest number of float64 that is kept: larger lists would add to the greatest memory.
const mostKept = 1 << 17

func (w *workspace) newFront(pivots, border int) *front {
	n := (pivots+border)*pivots + lanes - 1
	panel := w.panel
	if n > len(panel) {
		if panel = make([]float64, n); n <= mostKept {
			w.panel = panel
		}
	} else {
		clear(panel[:n])
	}
	return &front{pivots, border, panel[:n], make([]float64, pivots), w.newTriangle(border), w}
}

// keep takes a list for the triangles of later fronts.
func (w *workspace) keep(list []float64) {
	if len(list) <= mostKept {
		w.triangles = append(w.triangles, list)
	}
}

// A triangle is the lower triangle of a matrix of n rows, by blocks of columns. Each block is the rows from its
// diagonal on, of block numbers each.
type triangle struct {
	n      int
	values []float64
}

// newTriangle returns a triangle of 0, in the last list that has the room and is at most twice as large.
func (w *workspace) newTriangle(n int) triangle {
	t := triangle{n: n}
	size := t.start((n + block - 1) / block)
	for k, list := range slices.Backward(w.triangles) {
		if cap(list) >= size && cap(list) <= 2*size {
			w.triangles = slices.Delete(w.triangles, k, k+1)
			t.values = list[:size]
			clear(t.values)
			return t
		}
	}
	t.values = make([]float64, size)
	return t
}

// start returns the index of a block.
func (t triangle) start(k int) int { return block * (k*t.n - block*k*(k-1)/2) }

// column returns the index that row 0 of a column would have. Rows are block numbers apart.
func (t triangle) column(j int) int { return t.start(j/block) - block*(j-j%block) + j%block }

// row returns the numbers of row i in a block of columns, up to the diagonal.
func (t triangle) row(i, k int) []float64 {
	return t.values[t.column(block*k)+block*i:][:min(block, i-block*k+1)]
}

// add adds v to the numbers at (i, j) and (j, i).
func (f *front) add(i, j int, v float64) {
	if i < j {
		i, j = j, i
	}
	if p := f.pivots; j < p {
		f.panel[i*p+j] += v
	} else {
		f.update.values[f.update.column(j-p)+block*(i-p)] += v
	}
}

// block is the number of columns that are eliminated together. Products are of whole groups of lanes numbers.
const block, lanes = 24, 8

// factor eliminates the pivots.
func (f *front) factor(threads int) error {
	p, rows := f.pivots, f.pivots+f.border
	stride := (p + lanes - 1) / lanes * lanes
	if block*stride > len(f.scaled) {
		f.scaled = make([]float64, block*stride)
	}
	scaled := f.scaled // rows of L, times D
	var transposed [block * block]float64
	for at := 0; at < p; at += block {
		width := min(block, p-at)
		f.scale(scaled, stride, at, width, at)
		subtractProducts(f.panel[at*p+at:], p, f.panel[at*p:], p, width, scaled, stride, width, at)
		for r := range width {
			row := f.panel[(at+r)*p+at:]
			d := row[r] - f.substitute(row[:r], &transposed, at)
			for c, l := range row[:r] {
				transposed[c*block+r] = l
			}
			if d == 0 || math.IsNaN(d) || math.IsInf(d, 0) {
				return ErrPivot
			}
			f.d[at+r] = d
		}
		first := at + width
		share(threads, rows-first, first*width, func(lo, hi int) {
			lo, hi = lo+first, hi+first
			subtractProducts(f.panel[lo*p+at:], p, f.panel[lo*p:], p, hi-lo, scaled, stride, width, at)
			f.substituteRows(lo, hi, at, width, &transposed)
		})
	}
	var next atomic.Int64
	share(threads, threads, f.border*f.border*p, func(lo, _ int) {
		scaled := scaled
		if lo > 0 {
			scaled = make([]float64, block*stride)
		}
		for {
			k := block * int(next.Add(1)-1)
			if k >= f.border {
				return
			}
			width := min(block, f.border-k)
			f.scale(scaled, stride, p+k, width, p)
			to := f.update.values[f.update.start(k/block):]
			subtractProducts(to, block, f.panel[(p+k)*p:], p, f.border-k, scaled, stride, width, stride)
		}
	})
	return nil
}

// scale copies the first n numbers of some rows of L, times D, to to, and zeros up to a multiple of lanes.
func (f *front) scale(to []float64, stride, row, rows, n int) {
	p := f.pivots
	for r := range rows {
		l, out := f.panel[(row+r)*p:][:n], to[r*stride:][:n]
		for k, v := range l {
			out[k] = v * f.d[k]
		}
		clear(to[r*stride+n : r*stride+(n+lanes-1)/lanes*lanes])
	}
}

// substitute converts the rest of a row, in the columns of a block from at on, to a row of L, with the transposed rows
// of L of the block. It returns the amount to subtract from the row's diagonal.
func (f *front) substitute(row []float64, transposed *[block * block]float64, at int) (less float64) {
	for c, v := range row {
		column := transposed[c*block:][:len(row)]
		for t := c + 1; t < len(row); t++ {
			row[t] -= v * column[t]
		}
	}
	for c, s := range row {
		row[c] = s / f.d[at+c]
		less += s * row[c]
	}
	return less
}

// substituteRows converts the rest of rows, in the columns of a block from at on.
func (f *front) substituteRows(lo, hi, at, width int, transposed *[block * block]float64) {
	p := f.pivots
	if !fast {
		for i := lo; i < hi; i++ {
			f.substitute(f.panel[i*p+at:][:width], transposed, at)
		}
		return
	}
	var d [block]float64
	copy(d[:], f.d[at:][:width])
	for most := substituted(); lo < hi; lo += most {
		rows := min(most, hi-lo)
		if rows == most && width == block {
			substituteVector(f.panel[lo*p+at:], p, transposed, &d)
			continue
		}
		var some [4 * block]float64
		for r := range rows {
			copy(some[r*block:][:width], f.panel[(lo+r)*p+at:])
		}
		substituteVector(some[:], block, transposed, &d)
		for r := range rows {
			copy(f.panel[(lo+r)*p+at:][:width], some[r*block:])
		}
	}
}

// substituted returns the number of rows that vector instructions substitute at a time.
func substituted() int {
	if wide {
		return 4
	}
	return 2
}

// negative returns the number of negative pivots.
func (f *front) negative() (n int) {
	for _, d := range f.d {
		if d < 0 {
			n++
		}
	}
	return n
}

// sizes adds the row sums of |L|·|D|·|Lᵀ| to y.
func (f *front) sizes(y []float64) {
	p := f.pivots
	z := make([]float64, p)
	for j := range z {
		z[j] = 1
	}
	for i := range y {
		for j, l := range f.panel[i*p:][:min(i, p)] {
			z[j] += math.Abs(l)
		}
	}
	for j, d := range f.d {
		z[j] *= math.Abs(d)
		y[j] += z[j]
	}
	for i := range y {
		sum := 0.0
		for j, l := range f.panel[i*p:][:min(i, p)] {
			sum += math.Abs(l) * z[j]
		}
		y[i] += sum
	}
}

// The numbers of rows and columns that vector instructions multiply at a time, of k numbers in a core's cache. b has
// whole columns: the last ones may be any numbers.
const (
	tileRows, tileColumns = 4, 3
	deep                  = 256
)

// subtractProducts subtracts from c (rows × columns) the products of rows of a and of b, of k
// numbers each, a multiple of lanes.
func subtractProducts(c []float64, ldc int, a []float64, lda, rows int, b []float64, ldb, columns, k int) {
	if fast {
		for at := 0; at < k; at += deep {
			subtractTiles(c, ldc, a[at:], lda, rows, b[at:], ldb, columns, min(deep, k-at))
		}
		return
	}
	for i := range rows {
		for j := range columns {
			sum, own := 0.0, b[j*ldb:][:k]
			for t, v := range a[i*lda:][:k] {
				sum += v * own[t]
			}
			c[i*ldc+j] -= sum
		}
	}
}

// subtractTiles does the same by vector instructions, for at most deep numbers. Rows that fill no tile are copied to
// one.
func subtractTiles(c []float64, ldc int, a []float64, lda, rows int, b []float64, ldb, columns, k int) {
	wholeRows, wholeColumns := rows-rows%tileRows, columns-columns%tileColumns
	lessVector(c, ldc, a, lda, b, ldb, wholeRows, wholeColumns, k)
	tile := func(i, j, rows int, a []float64, lda int) {
		var less [tileRows * tileColumns]float64
		lessVector(less[:], tileColumns, a, lda, b[j*ldb:], ldb, tileRows, tileColumns, k)
		for r := range rows {
			for t := range min(tileColumns, columns-j) {
				c[(i+r)*ldc+j+t] += less[r*tileColumns+t]
			}
		}
	}
	if wholeColumns < columns {
		for i := 0; i < wholeRows; i += tileRows {
			tile(i, wholeColumns, tileRows, a[i*lda:], lda)
		}
	}
	if wholeRows < rows {
		var last [tileRows * deep]float64
		for r := wholeRows; r < rows; r++ {
			copy(last[(r-wholeRows)*deep:], a[r*lda:][:k])
		}
		for j := 0; j < columns; j += tileColumns {
			tile(wholeRows, j, rows-wholeRows, last[:], deep)
		}
	}
}

// share calls f with parts of n, in parallel if each item has enough products.
func share(threads, n, products int, f func(lo, hi int)) {
	const least = 1 << 18
	if n == 0 {
		return
	}
	if threads <= 1 || n < 2 || n*products < least {
		f(0, n)
		return
	}
	var group crew.Group
	for k := range threads {
		group.Go(func() { f(n*k/threads, n*(k+1)/threads) })
	}
	group.Wait()
}
