package duality

import (
	"math/bits"
	"slices"
)

// A forest contains those components of a part, of one kind, that others may still join: components
// of the part's first plane, and of the last plane that was counted. Other components are only
// counted.
type forest struct {
	keeps      [2]bool // whether planes before the first plane, or after the last plane, of the part may join it
	parent     []int32 // of each node: a node with a lower number, or itself
	begins     int32   // the first node of the plane that sift processed last
	kept       int32   // number of nodes that are kept, from the first on
	from       int32   // index of its first node among the nodes of all parts
	trunk      int32   // node of the trunk
	components int64   // nodes minus unions
	first      kept
	last       kept
	names, to  []int32 // scratch memory for renaming nodes
}

// Nodes that always exist: the outside, and the trunk of the first window.
const outside, firstTrunk, always = 0, 1, 2

// A kept plane is the remaining voxels of a plane and its trunk, with their nodes.
type kept struct {
	left, main []uint64
	base       []int32
	some       []byte
	trunk      int32
}

func newForest(l layout, keeps [2]bool) *forest {
	of := func() kept {
		return kept{left: make([]uint64, l.plane+2), main: make([]uint64, l.plane+2), base: make([]int32, l.plane+2),
			some: make([]byte, l.rows*l.marks)}
	}
	return &forest{keeps: keeps, first: of(), last: of()}
}

// begin resets the forest.
func (f *forest) begin(kind int) {
	f.parent = append(f.parent[:0], outside, firstTrunk)
	f.kept, f.trunk, f.components = always, firstTrunk, int64(kind) // the outside is a component
	for _, k := range []*kept{&f.first, &f.last} {
		clear(k.left)
		clear(k.main)
		clear(k.some)
	}
}

// copyTo copies the plane in front of the planes of a window.
func (k *kept) copyTo(w *window) {
	copy(w.left[w.plane:], k.left)
	copy(w.main[w.plane:], k.main)
	copy(w.base[w.plane:], k.base)
	copy(w.some[w.rows*w.marks:], k.some)
}

// takePlane keeps a plane of a window.
func (k *kept) takePlane(w *window, z int64, trunk int32) {
	at := (z + 1) * w.plane
	copy(k.left, w.left[at:])
	copy(k.main, w.main[at:])
	copy(k.base, w.base[at:])
	copy(k.some, w.some[(z+1)*w.rows*w.marks:])
	k.trunk = trunk
}

// neighbours returns a word's voxels that are adjacent to a voxel of of. For the set, edges and corners count.
func (w *window) neighbours(of []uint64, p int64, kind int) uint64 {
	v := of[p]
	if kind == ofRest {
		return v<<1 | v>>1 | of[p-1]>>63 | of[p+1]<<63 | of[p-w.stride] | of[p+w.stride] | of[p-w.plane] | of[p+w.plane]
	}
	beside, before, after := uint64(0), of[p-1], of[p+1]
	for _, q := range [8]int64{p - w.plane - w.stride, p - w.plane, p - w.plane + w.stride, p - w.stride, p + w.stride,
		p + w.plane - w.stride, p + w.plane, p + w.plane + w.stride} {
		beside |= of[q]
		before |= of[q-1]
		after |= of[q+1]
	}
	wide := v | beside
	return beside | wide<<1 | wide>>1 | before>>63 | after<<63
}

// sift counts the voxels of a plane that have no remaining neighbour. Each of them is a component,
// or belongs to the trunk if it touches that. Runs of the other voxels become nodes. If keep is
// set, all voxels become nodes, because planes outside the window may touch them.
func (f *forest) sift(w *window, z int64, kind int, keep bool) {
	sift := fastest.aloneCorners
	if kind == ofRest {
		sift = fastest.aloneFaces
	}
	node := int32(len(f.parent))
	f.begins = node
	f.components += sift(w, z, keep)
	w.eachLeft(z, func(p, _ int64) {
		w.base[p] = node
		v := w.left[p]
		node += int32(bits.OnesCount64(v &^ (v<<1 | w.left[p-1]>>63)))
	})
	f.components += int64(node) - int64(len(f.parent))
	f.parent = slices.Grow(f.parent, int(node)-len(f.parent))
	for i := int32(len(f.parent)); i < node; i++ {
		f.parent = append(f.parent, i)
	}
}

// A mark is one bit for each word of a row; a byte has the marks of 8 words.
const markWords = 8

// marksAt returns the index of the first marks of a row.
func (w *window) marksAt(z, y int64) int64 { return ((z+1)*w.rows + y + 1) * w.marks }

// eachLeft calls f for each word of a plane with remaining voxels: its index, and the index of its
// bit in the marks.
func (w *window) eachLeft(z int64, f func(p, mark int64)) {
	at, marks := w.rowStart(z, 0), w.marksAt(z, 0)
	for range w.rows - 2 {
		for i, some := range w.some[marks:][:w.marks] {
			for ; some != 0; some &= some - 1 {
				word := int64(bits.TrailingZeros8(some))
				f(at+markWords*int64(i)+word, markWords*(marks+int64(i))+word)
			}
		}
		at, marks = at+w.stride, marks+w.marks
	}
}

// aloneAtFaces removes voxels without remaining neighbours from the remaining voxels of a plane,
// unless keep is set. It returns how many of them do not touch the trunk. It also marks the words
// that still have remaining voxels, and the words whose voxels touch the trunk.
func aloneAtFaces(w *window, z int64, keep bool) int64 { return w.countIsolated(z, keep, ofRest) }

// aloneAtCorners does this for voxels that also touch at edges and corners.
func aloneAtCorners(w *window, z int64, keep bool) int64 { return w.countIsolated(z, keep, ofSet) }

func (w *window) countIsolated(z int64, keep bool, kind int) (n int64) {
	at, marks := w.rowStart(z, 0), w.marksAt(z, 0)
	clear(w.some[marks:][:(w.rows-2)*w.marks])
	clear(w.touching[marks:][:(w.rows-2)*w.marks])
	for range w.rows - 2 {
		for i := range w.words {
			p := at + i
			v := w.left[p]
			if v == 0 {
				continue
			}
			near := w.neighbours(w.main, p, kind)
			if !keep {
				alone := v &^ w.neighbours(w.left, p, kind)
				v &^= alone
				w.left[p] = v
				n += int64(bits.OnesCount64(alone &^ near))
			}
			mark, bit := marks+i/markWords, byte(1)<<(i%markWords)
			if v != 0 {
				w.some[mark] |= bit
			}
			if v&near != 0 {
				w.touching[mark] |= bit
			}
		}
		at, marks = at+w.stride, marks+w.marks
	}
	return n
}

// link joins the remaining voxels of a plane with the trunk. It also joins them with the remaining
// voxels of earlier rows, except for the plane before the window.
func (f *forest) link(w *window, z int64, kind int) {
	of := strip{w.left, w.base}
	w.eachLeft(z, func(p, mark int64) {
		if z == 0 || w.touching[mark/markWords]>>(mark%markWords)&1 != 0 {
			if touching := w.left[p] & w.neighbours(w.main, p, kind); touching != 0 {
				f.components -= touch(f.parent, of, p, touching, f.trunk)
			}
		}
		if z == 0 {
			return
		}
		if kind == ofRest {
			f.components -= linkFaces(f.parent, of, p, of, p-w.stride) + linkFaces(f.parent, of, p, of, p-w.plane)
			return
		}
		for _, q := range [4]int64{p - w.stride, p - w.plane, p - w.plane - w.stride, p - w.plane + w.stride} {
			f.components -= linkCorners(f.parent, of, p, of, q)
		}
	})
}

// touch joins the runs of some bits with a node.
func touch(parent []int32, of strip, p int64, some uint64, with int32) (joined int64) {
	for starts := some &^ (some << 1); starts != 0; starts &= starts - 1 {
		joined += unite(parent, of.node(p, bits.TrailingZeros64(starts)), with)
	}
	return joined
}

// forget keeps only the nodes that others may join, and renumbers them: first the kept ones, then
// the trunk, then the nodes of the last plane in order.
func (f *forest) forget() {
	begin, end := f.begins, int32(len(f.parent)) // range of the nodes of the last plane
	if int64(cap(f.names)) < int64(end) {
		f.names = make([]int32, end+end/2)
	}
	names := f.names[:end] // the new number of each root, plus 1
	clear(names)
	find := func(i int32) int32 {
		for f.parent[i] != i {
			f.parent[i] = f.parent[f.parent[i]]
			i = f.parent[i]
		}
		return i
	}
	to := f.to[:0]
	name := func(node int32) {
		root := find(node)
		if names[root] == 0 {
			names[root] = int32(len(to)) + 1
		}
		to = append(to, names[root]-1)
	}
	for i := range f.kept {
		name(i)
	}
	by := int32(len(to)) + 1 - begin
	trunk := int32(len(to))
	name(f.trunk)
	for i := begin; i < end; i++ {
		name(i)
	}
	f.parent, f.to = to, f.parent
	f.trunk, f.last.trunk = trunk, trunk
	for i := range f.last.base {
		f.last.base[i] += by
	}
}

// numberNodes copies the nodes of a part into the list for all parts.
func (f *forest) numberNodes(all []int32) {
	for i, p := range f.parent {
		all[f.from+int32(i)] = f.from + p
	}
	for _, k := range []*kept{&f.first, &f.last} {
		k.trunk += f.from
		for i := range k.base {
			k.base[i] += f.from
		}
	}
}

// meet joins the components of a part's last plane with components of the next part's first plane.
func (j *job) meet(parent []int32, a, b *kept, kind int) (joined int64) {
	near := func(of []uint64, p int64) uint64 {
		if kind == ofRest {
			return of[p]
		}
		var v, before, after uint64
		for q := p - j.stride; q <= p+j.stride; q += j.stride {
			before |= of[q-1]
			v |= of[q]
			after |= of[q+1]
		}
		return v | v<<1 | v>>1 | before>>63 | after<<63
	}
	of, other := strip{b.left, b.base}, strip{a.left, a.base}
	together := uint64(0)
	for y := range j.h {
		for p := j.row(y); p < j.row(y)+j.words; p++ {
			together |= b.main[p] & near(a.main, p)
			if v := a.left[p] & near(b.main, p); v != 0 {
				joined += touch(parent, other, p, v, b.trunk)
			}
			if b.left[p] == 0 {
				continue
			}
			joined += touch(parent, of, p, b.left[p]&near(a.main, p), a.trunk)
			if kind == ofRest {
				joined += linkFaces(parent, of, p, other, p)
				continue
			}
			for q := p - j.stride; q <= p+j.stride; q += j.stride {
				joined += linkCorners(parent, of, p, other, q)
			}
		}
	}
	if together != 0 {
		joined += unite(parent, a.trunk, b.trunk)
	}
	return joined
}
