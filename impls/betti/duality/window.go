package duality

import (
	"math/bits"
)

// A window is some planes of bits that a core processes, preceded by the last plane of the previous
// window. It contains the set, the remaining voxels of a kind, and its trunk. An empty plane
// precedes and follows the remaining voxels and the trunk.
type window struct {
	layout
	room            int64
	far             bool // whether the trunk of the set also grows to the starts of runs
	set, left, main []uint64
	base            []int32 // first node of each word of remaining voxels
	some, touching  []byte  // marks of the words with remaining voxels, and with voxels that touch the trunk
}

// windowWords is the approximate number of words of a window, so that it stays in a core's cache.
const windowWords, leastPlanes, mostPlanes = 1 << 15, 8, 64

func windowPlanes(l layout) int64 { return max(leastPlanes, min(windowWords/l.plane, mostPlanes)) }

// windowWords returns the number of words of a window of the given number of planes: for the set,
// and for the remaining voxels or the trunk.
func (l layout) windowWords(room int64) (set, other int64) {
	return (room+2)*l.plane + 2, (room+3)*l.plane + 2
}

// newWindow takes the memory of a window from words, and returns the rest of them.
func newWindow(l layout, room int64, words []uint64) (w window, rest []uint64) {
	set, n := l.windowWords(room)
	marks := (room + 2) * l.rows * l.marks
	return window{
		layout: l, room: room, set: words[:set:set], left: words[set : set+n : set+n], main: words[set+n : set+2*n : set+2*n],
		base: make([]int32, n), some: make([]byte, marks), touching: make([]byte, marks),
	}, words[set+2*n:]
}

// rowStart returns the index of row y of plane z of the remaining voxels. Plane 0 is the one before
// the window.
func (w *window) rowStart(z, y int64) int64 { return (z+1)*w.plane + w.row(y) }

// count counts the components of a kind in planes lo ≤ z < hi of a part, and joins them with the
// plane before.
func (j *job) count(p *part, kind int, lo, hi int64) {
	w, f, n := &p.window, p.forests[kind], hi-lo
	isFirst, isLast := lo == p.lo, hi == p.hi
	clear(w.left[:w.plane+1])
	clear(w.main[:w.plane+1])
	f.last.copyTo(w)
	copy(w.left[2*w.plane:(n+2)*w.plane], w.set[w.plane:])
	for z := int64(1); kind == ofRest && z <= n; z++ {
		for y := range j.h {
			row := w.left[w.rowStart(z, y):][:w.words]
			for i, v := range row {
				row[i] = ^v
			}
			row[w.words-1] &= j.last
		}
	}
	clear(w.main[w.plane*2 : (n+3)*w.plane+2])
	clear(w.left[(n+2)*w.plane:][:w.plane+2])
	j.trunk(w, f, kind, lo, n, isFirst)
	for z := int64(1); z <= n; z++ {
		keep := z == n && !(isLast && !f.keeps[1]) || z == 1 && isFirst && f.keeps[0]
		f.sift(w, z, kind, keep)
		if z == 1 && isFirst && f.keeps[0] {
			f.first.takePlane(w, 1, firstTrunk)
			if kind == ofRest {
				f.first.trunk = outside
			}
			f.kept = int32(len(f.parent))
		}
	}
	for z := range n + 1 {
		f.link(w, z, kind)
	}
	f.last.takePlane(w, n, f.trunk)
	f.forget()
}

// trunk grows the trunk of a window of n planes and removes it from the remaining voxels. It starts
// from a connected set, so it stays connected. The background starts at the sides of the image,
// which touch the outside. The set continues from the plane before, or starts at any voxel.
func (j *job) trunk(w *window, f *forest, kind int, lo, n int64, isFirst bool) {
	switch {
	case kind == ofRest:
		f.trunk = outside
		j.sides(w, lo, n)
		j.spread(w, n, kind)
		if isFirst && lo > 0 {
			j.spreadOn(w, n, kind)
		}
	case !empty(w.main[w.plane:][:w.plane]):
		j.spread(w, n, kind)
	default:
		j.seed(w, f, n, isFirst)
	}
	left, main := w.left[2*w.plane:][:n*w.plane], w.main[2*w.plane:][:n*w.plane]
	for i, v := range main {
		left[i] &^= v
	}
}

func empty(words []uint64) bool {
	for _, v := range words {
		if v != 0 {
			return false
		}
	}
	return true
}

func countBits(words []uint64) (n int) {
	for _, v := range words {
		n += bits.OnesCount64(v)
	}
	return n
}

// sides adds the voxels at the sides of the image to the trunk.
func (j *job) sides(w *window, lo, n int64) {
	for z := range n {
		for y := range j.h {
			at := w.rowStart(z+1, y)
			left, main := w.left[at:][:w.words], w.main[at:][:w.words]
			if lo+z == 0 && j.ends[0] || lo+z == j.d-1 && j.ends[1] || y == 0 || y == j.h-1 {
				copy(main, left)
				continue
			}
			main[0] |= left[0] & 1
			main[w.words-1] |= left[w.words-1] & (1 << (uint(j.w-1) % 64))
		}
	}
}

// seed starts a new trunk of the set. In a part's first window it tries several start voxels until
// one gives a large trunk.
func (j *job) seed(w *window, f *forest, n int64, isFirst bool) {
	left, main := w.left[2*w.plane:][:n*w.plane], w.main[2*w.plane:][:n*w.plane]
	all, size := countBits(left), len(left)
	if all == 0 {
		return
	}
	tries := 1
	if isFirst {
		tries = 4
	}
	for try := range tries {
		clear(main)
		at := size * (2*try + 1) / (2 * tries)
		for left[at] == 0 {
			at = (at + 1) % size
		}
		main[at] = left[at] & -left[at]
		j.spread(w, n, ofSet)
		if isFirst || countBits(main) < all/16 {
			j.spreadOn(w, n, ofSet)
		}
		if some := countBits(main); some < all/16 && !w.far {
			w.far = true // for shapes that wind back and forth
			j.spreadOn(w, n, ofSet)
			w.far = countBits(main) > 4*some
		}
		if countBits(main) >= all/8 {
			break
		}
	}
	f.components++
	f.trunk = firstTrunk
	if !isFirst {
		f.trunk = int32(len(f.parent))
		f.parent = append(f.parent, f.trunk)
	}
}

// spread grows the trunk row by row, from the first row of all planes to the last, and back.
func (j *job) spread(w *window, n int64, kind int) {
	grow := fastest.corners
	if kind == ofRest {
		grow = fastest.faces
	}
	far := func(int64) {}
	if w.far && kind == ofSet {
		far = func(y int64) { fastest.down(w, y, n) }
	}
	for y := range j.h {
		grow(w, y, n, false)
		far(y)
	}
	for y := j.h - 1; y >= 0; y-- {
		grow(w, y, n, true)
		far(y)
	}
}

// spreadOn repeats spread while the trunk grows by more than 1/32.
func (j *job) spreadOn(w *window, n int64, kind int) {
	main := w.main[2*w.plane:][:n*w.plane]
	for before, some := 0, countBits(main); some > before+before/32; {
		j.spread(w, n, kind)
		before, some = some, countBits(main)
	}
}

// way returns the start of row y in the first of n planes and a step of 1, or for up, in the last
// plane and −1.
func (w *window) way(y, n int64, up bool) (at, sign int64) {
	if up {
		return w.rowStart(n, y), -1
	}
	return w.rowStart(1, y), 1
}

// growFaces grows the trunk in row y of n planes from face neighbours: from the row and plane
// before or, for up, after it. Within a row it grows to the ends of runs, but only a few bits
// towards their starts. Runs that it leaves incomplete are found later.
func growFaces(w *window, y, n int64, up bool) {
	at, sign := w.way(y, n, up)
	for range n {
		main, left := w.main[at:][:w.words], w.left[at:][:w.words]
		beside, next := w.main[at-sign*w.stride:][:w.words], w.main[at-sign*w.plane:][:w.words]
		var carry, before, all uint64
		for i := range main {
			runs := left[i]
			v := (main[i] | beside[i] | next[i] | carry) & runs
			v |= runs &^ (runs + v) // the carry runs to the end of a run
			carry = v >> 63
			v |= v >> 1 & runs
			v |= v >> 1 & runs
			if i > 0 {
				main[i-1] = before | v<<63&all
			}
			before, all = v, runs
		}
		main[len(main)-1] = before
		at += sign * w.plane
	}
}

// growDown grows the trunk in row y of n planes to the starts of runs.
func growDown(w *window, y, n int64) {
	for z := int64(1); z <= n; z++ {
		at := w.rowStart(z, y)
		main, left := w.main[at:][:w.words], w.left[at:][:w.words]
		carry := uint64(0)
		for i := len(main) - 1; i >= 0; i-- {
			v, reach := main[i]|carry<<63&left[i], left[i]
			for by := uint(1); by < 64; by *= 2 {
				v |= v >> by & reach
				reach &= reach >> by // bits whose next "by" bits belong to the same run
			}
			main[i], carry = v, v&1
		}
	}
}

// growCorners also grows from neighbours at edges and corners.
func growCorners(w *window, y, n int64, up bool) {
	at, sign := w.way(y, n, up)
	for range n {
		main, left := w.main[at:][:w.words], w.left[at:][:w.words]
		beside, next := w.main[at-sign*w.stride:][:w.words], w.main[at-sign*w.plane:][:w.words]
		lesser, greater := w.main[at-sign*w.plane-w.stride:][:w.words], w.main[at-sign*w.plane+w.stride:][:w.words]
		var carry, before, all, last uint64
		seeds := main[0] | beside[0] | next[0] | lesser[0] | greater[0]
		for i := range main {
			after := uint64(0)
			if i+1 < len(main) {
				after = main[i+1] | beside[i+1] | next[i+1] | lesser[i+1] | greater[i+1]
			}
			runs := left[i]
			v := (seeds | seeds<<1 | seeds>>1 | last>>63 | after<<63 | carry) & runs
			v |= runs &^ (runs + v)
			carry = v >> 63
			v |= v >> 1 & runs
			v |= v >> 1 & runs
			if i > 0 {
				main[i-1] = before | v<<63&all
			}
			before, all, last, seeds = v, runs, seeds, after
		}
		main[len(main)-1] = before
		at += sign * w.plane
	}
}
