package chains

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/verify"
)

// A Log is a reduction: the Chains of package pairs.
type Log struct {
	Dual  bool
	Words []uint32
}

// A reduction is a log under examination. Its columns are squares and its rows edges; the reverse if it is dual.
type reduction struct {
	*forests
	*Log
	columns []column
	key     [2]uint64 // of the hash
}

// A column has its place in the words, the hash of its reduced chain, and the order of its cell.
type column struct {
	at         int
	hash, rank uint64 // of the star
	number     uint8
}

// parts returns the cell, the added columns, the added cells and the reduced chain of a column.
func (r *reduction) parts(c column) (id uint32, columns, cells, chain []uint32) {
	w := r.Words[c.at:]
	columns, w = w[2:2+w[1]], w[2+w[1]:]
	cells, w = w[1:1+w[0]], w[1+w[0]:]
	return r.Words[c.at], columns, cells, w[1 : 1+w[0]]
}

// split finds the columns.
func (r *reduction) split() *verify.Diff {
	for at := 0; at < len(r.Words); {
		c := column{at: at}
		at++
		for list := range 3 {
			if at >= len(r.Words) || int(r.Words[at]) > len(r.Words)-at-1 {
				return r.malformed(len(r.columns), "a list of each length in the log", "an end of the log within the column")
			}
			if list == 2 && r.Words[at] == 0 {
				return r.malformed(len(r.columns), "a pivot", "an empty chain")
			}
			at += 1 + int(r.Words[at])
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

func (r *reduction) malformed(column int, want, got string) *verify.Diff {
	return &verify.Diff{Where: fmt.Sprintf("column %d of the chains", column), Want: want, Got: got}
}

// A cell is an edge or a square of the box: its lowest corner, the axis of the edge or of the square's normal, and its
// number in the star of its latest vertex.
type cell struct {
	corner, star int
	axis, number uint8
}

// edge returns the edge of a corner along an axis, which must be in the box.
func (b *box) edge(corner int, axis uint8) cell {
	if end := corner + b.step[axis]; b.rank(end) > b.rank(corner) {
		return cell{corner, end, axis, 2 - axis}
	}
	return cell{corner, corner, axis, 3 + axis}
}

// acrossAxes are the axes of a square, by that of its normal.
var acrossAxes = [3][2]uint8{{1, 2}, {0, 2}, {0, 1}}

// square returns the square of a corner.
func (b *box) square(corner int, normal uint8) cell {
	u, v := b.step[acrossAxes[normal][0]], b.step[acrossAxes[normal][1]]
	star, at := corner, 0
	for i, p := range [3]int{corner + u, corner + v, corner + u + v} {
		if b.rank(p) > b.rank(star) {
			star, at = p, i+1
		}
	}
	return cell{corner, star, normal, stars.square[normal][at]}
}

// exists reports whether a corner is in the box, and so are its neighbours along some axes.
func (b *box) exists(corner int, axes ...uint8) bool {
	for _, a := range axes {
		if b.key[corner+b.step[a]] == outside {
			return false
		}
	}
	return b.key[corner] != outside
}

// cellOf returns the cell of a word. Rows of a dual reduction are squares, like the columns of another.
func (r *reduction) cellOf(id uint32, isSquare bool) (cell, bool) {
	axis, i := uint8(id%3), id/3
	x, y, z := i%uint32(r.side[0]), i/uint32(r.side[0])%uint32(r.side[1]), i/uint32(r.side[0])/uint32(r.side[1])
	if int(z) >= r.side[2] {
		return cell{}, false
	}
	corner := r.place(int(x), int(y), int(z))
	if isSquare {
		if axes := acrossAxes[axis]; !r.exists(corner, axes[0], axes[1]) {
			return cell{}, false
		}
		return r.square(corner, axis), true
	}
	if !r.exists(corner, axis) {
		return cell{}, false
	}
	return r.edge(corner, axis), true
}

// Classes of cells in a star. Squares are in this order; edges in the order ofTree, logged, regular.
const (
	regular = iota
	logged
	ofTree
)

// class returns the class of a cell.
func (r *reduction) class(c cell, isSquare bool) int {
	inTree, inLog := uint32(r.trees[c.star])>>c.number&1, r.marks[c.star]>>(loggedEdges+c.number)&1
	if isSquare {
		inTree, inLog = r.marks[c.star]>>c.number&1, r.marks[c.star]>>(loggedSquares+c.number)&1
	}
	switch {
	case inTree > 0:
		return ofTree
	case inLog > 0:
		return logged
	}
	return regular
}

// columnBefore reports whether the cell of a column precedes that of another.
func (r *reduction) columnBefore(a, b *column) bool {
	if r.Dual {
		a, b = b, a
	}
	return a.rank < b.rank || a.rank == b.rank && a.number < b.number
}

// before reports whether a cell precedes another of its kind in the reduction.
func (r *reduction) before(a, b cell, isSquare bool) bool {
	if r.Dual {
		a, b = b, a
	}
	if a.star != b.star {
		return r.rank(a.star) < r.rank(b.star)
	}
	if x, y := r.class(a, isSquare), r.class(b, isSquare); x != y {
		return x < y == isSquare
	}
	return a.number < b.number
}

// hash is a random function of cells (SipHash-1-3 of the cell's number), 0 for the cells of a forest.
func (r *reduction) hash(c cell, isSquare bool) uint64 {
	if r.class(c, isSquare) == ofTree {
		return 0
	}
	v0, v1 := r.key[0]^0x736f6d6570736575, r.key[1]^0x646f72616e646f6d
	v2, v3 := r.key[0]^0x6c7967656e657261, r.key[1]^0x7465646279746573
	for _, word := range [2]uint64{uint64(c.corner)*3 + uint64(c.axis), 8 << 56} {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3^word)
		v0 ^= word
	}
	v2 ^= 0xff
	for range 3 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	return v0, v1, bits.RotateLeft64(v2, 32), v3
}

// faces returns the hash of the boundary of a square, or of the coboundary of an edge if the reduction is dual.
func (r *reduction) faces(c cell) (sum uint64) {
	if !r.Dual {
		u, v := acrossAxes[c.axis][0], acrossAxes[c.axis][1]
		return r.hash(r.edge(c.corner, u), false) ^ r.hash(r.edge(c.corner, v), false) ^
			r.hash(r.edge(c.corner+r.step[v], u), false) ^ r.hash(r.edge(c.corner+r.step[u], v), false)
	}
	for _, across := range acrossAxes[c.axis] {
		normal := 3 - c.axis - across
		for _, corner := range [2]int{c.corner, c.corner - r.step[across]} {
			if r.exists(corner, c.axis, across) {
				sum ^= r.hash(r.square(corner, normal), true)
			}
		}
	}
	return sum
}

// examine returns the first fault of a log, or adds its pairs.
func (r *reduction) examine(threads int) *verify.Diff {
	if d := r.split(); d != nil {
		return d
	}
	if d := r.mark(); d != nil {
		return d
	}
	if d := r.countRegular(threads); d != nil {
		return d
	}
	var key [16]byte
	rand.Read(key[:]) // never fails
	r.key = [2]uint64{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
	for _, check := range []func(int) *verify.Diff{r.checkChain, r.checkSum} {
		if d := each(len(r.columns), threads, check); d != nil {
			return d
		}
	}
	return nil
}

// each returns the fault of the least number that has one.
func each(n, threads int, check func(int) *verify.Diff) *verify.Diff {
	firsts := make([]*verify.Diff, threads)
	crew.Each(threads, func(t int) {
		for i := n * t / threads; i < n*(t+1)/threads && firsts[t] == nil; i++ {
			firsts[t] = check(i)
		}
	})
	for _, d := range firsts {
		if d != nil {
			return d
		}
	}
	return nil
}

// mark marks the cells and the pivots of the columns, all of them distinct and in no forest, and adds their pairs.
func (r *reduction) mark() *verify.Diff {
	for i, c := range r.columns {
		id, _, _, chain := r.parts(c)
		own, ok := r.cellOf(id, !r.Dual)
		pivot, is := r.cellOf(chain[0], r.Dual)
		switch {
		case !ok:
			return r.malformed(i, "a cell of the box", fmt.Sprintf("cell %d", id))
		case !is:
			return r.malformed(i, "a cell of the box as pivot", fmt.Sprintf("cell %d", chain[0]))
		}
		r.columns[i].rank, r.columns[i].number = r.rank(own.star), own.number
		square, edge := own, pivot
		if r.Dual {
			square, edge = pivot, own
		}
		for _, m := range []struct {
			name     string
			cell     cell
			isSquare bool
			log      int
		}{{"edge", edge, false, loggedEdges}, {"square", square, true, loggedSquares}} {
			want, again := "", ""
			switch r.class(m.cell, m.isSquare) {
			case logged:
				want, again = "cells of no other column", "again"
			case ofTree:
				want, again = "cells that are in no forest", "in a forest"
			}
			if want != "" {
				return r.malformed(i, want, fmt.Sprintf("the %s of vertex %s %s", m.name, r.vertexAt(m.cell.star), again))
			}
			r.marks[m.cell.star] |= 1 << (m.log + int(m.cell.number))
		}
		r.found.add(r.box, 1, edge.star, square.star)
	}
	return nil
}

// checkChain hashes the chain of a column. All of it precedes its pivot.
func (r *reduction) checkChain(i int) *verify.Diff {
	_, _, _, chain := r.parts(r.columns[i])
	var pivot cell
	for k, id := range chain {
		c, ok := r.cellOf(id, r.Dual)
		if k == 0 {
			pivot = c
		}
		switch {
		case !ok:
			return r.malformed(i, "a cell of the box in the chain", fmt.Sprintf("cell %d", id))
		case k > 0 && !r.before(c, pivot, r.Dual):
			return r.malformed(i, "a pivot after the rest of its chain", fmt.Sprintf("the cell of vertex %s after the pivot of vertex %s",
				r.vertexAt(c.star), r.vertexAt(pivot.star)))
		}
		r.columns[i].hash ^= r.hash(c, r.Dual)
	}
	return nil
}

// checkSum confirms that the chain of a column is the sum of the boundaries that the column lists, all of them of
// earlier cells.
func (r *reduction) checkSum(i int) *verify.Diff {
	id, columns, cells, _ := r.parts(r.columns[i])
	own, _ := r.cellOf(id, !r.Dual)
	sum := r.columns[i].hash ^ r.faces(own)
	for _, k := range columns {
		if int(k) >= len(r.columns) {
			return r.malformed(i, fmt.Sprintf("one of %d columns", len(r.columns)), fmt.Sprintf("column %d added", k))
		}
		if !r.columnBefore(&r.columns[k], &r.columns[i]) {
			return r.malformed(i, "an earlier column added", fmt.Sprintf("column %d added", k))
		}
		sum ^= r.columns[k].hash
	}
	for _, id := range cells {
		added, ok := r.cellOf(id, !r.Dual)
		switch {
		case !ok:
			return r.malformed(i, "a cell of the box added", fmt.Sprintf("cell %d", id))
		case !r.before(added, own, !r.Dual):
			return r.malformed(i, "an earlier cell added", fmt.Sprintf("the cell of vertex %s, which is not before that of vertex %s",
				r.vertexAt(added.star), r.vertexAt(own.star)))
		}
		sum ^= r.faces(added)
	}
	if sum != 0 {
		return r.malformed(i, "the sum of the boundaries as its chain", "another chain")
	}
	return nil
}

// countRegular confirms that as many edges as squares of each star are neither logged nor in a forest. With the other
// checks, this implies that they are paired with each other (doc/proofs/pairs.md).
func (r *reduction) countRegular(threads int) *verify.Diff {
	rows := r.side[1] * r.side[2]
	return each(rows, threads, func(row int) *verify.Diff {
		from := r.place(0, row%r.side[1], row/r.side[1])
		for p := from; p < from+r.side[0]; p++ {
			star, marks := r.star[p], r.marks[p]
			e := star &^ uint32(r.trees[p]) &^ (marks >> loggedEdges) & (1<<edges - 1)
			s := star >> edges &^ marks &^ (marks >> loggedSquares) & (1<<squares - 1)
			if m, n := bits.OnesCount32(e), bits.OnesCount32(s); m != n {
				return &verify.Diff{Where: "vertex " + r.vertexAt(p), Want: "as many edges as squares without a column",
					Got: fmt.Sprintf("%d edges and %d squares", m, n)}
			}
		}
		return nil
	})
}
