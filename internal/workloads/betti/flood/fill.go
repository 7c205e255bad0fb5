package flood

import (
	"math/bits"

	"eccbench/internal/isa"
)

// The components of a slab are filled in two ways. The main component grows along all rows of the
// slab, forwards and back; in most images it is nearly the whole slab. At every moment the grown
// part is connected. If the main component of a neighbour touches voxels of the slab, the main
// component begins with these voxels, and is connected through the neighbour. The rest is then
// filled from voxel to voxel. A component of the rest is separate unless it touches the main
// component.

// mainWords is the number of words from which a component is grown along all rows.
const mainWords = 256

// blockPlanes is the number of planes in which the main component grows before the next planes.
const blockPlanes = 8

// leastPart is the least share, one eighth, of the remaining voxels for a main component that
// begins at neighbours. A smaller one is given up, because another component may be large, and
// filling it from voxel to voxel is slow.
const leastPart = 8

// reset sets the voxels to fill to all those of a kind.
func (f *filler) reset(kind int, n int64) {
	if kind == ofSet {
		copy(f.left[f.row(0, 0):f.row(n, 0)], f.inside[f.row(0, 0):])
		return
	}
	last := uint64(1)<<uint(f.w%64) - 1 // the voxels in the last word of a row
	for z := range n {
		for y := range f.h {
			row, inside := f.left[f.row(z, y):][:f.words], f.inside[f.row(z, y):][:f.words]
			for i, v := range inside {
				row[i] = ^v
			}
			row[f.words-1] &= last
		}
	}
}

// components fills the components of a kind. The main component of the complement is the outside.
// The main component of the set begins at the main components of neighbours.
func (f *filler) components(kind int, lo, hi int64, leading [2][]uint64) (c found) {
	n := hi - lo
	f.to, f.touching, f.spares = &c, f.corners(kind), kind == ofSet
	f.firstEnd, f.lastBegin = f.row(0, 0), f.row(n, 0)
	if lo > 0 || f.keeps[0] {
		c.first, f.firstEnd = f.borders.Get().(*border), f.row(1, 0)
	}
	if hi < f.d || f.keeps[1] {
		c.last, f.lastBegin = f.borders.Get().(*border), f.row(n-1, 0)
	}
	f.reset(kind, n)
	clear(f.main)
	begun := f.lead(leading, n)
	if kind == ofRest {
		c.nodes, c.main = 1, 1
		begun = f.sides(lo, hi) || begun
	}
	if begun {
		f.spread(n, leading[0] != nil)
		clear(f.main[:f.plane+1]) // the leading voxels belong to neighbours
		clear(f.main[(n+1)*f.plane+1:])
	}
	if kind == ofSet && begun {
		if main := countBits(f.main); main > 0 && main >= countBits(f.left)/leastPart {
			c.nodes, c.main = 1, 1
		} else {
			f.giveUp()
		}
	}
	for z := range n {
		f.singles(z)
		at := f.row(z, 0)
		plane := f.left[at:f.row(z, f.h)]
		for i := range plane {
			for plane[i] != 0 {
				f.fillFrom(int(at)+i, n)
			}
		}
	}
	if c.first != nil {
		copy(c.first.main, f.main[f.plane:])
	}
	if c.last != nil {
		copy(c.last.main, f.main[n*f.plane:])
	}
	c.order(shared(kind), [2]bool{lo == 0 && f.keeps[0], hi == f.d && f.keeps[1]})
	return c
}

// lead copies the voxels of the neighbours' main components to the planes before and after a slab
// of n planes. It reports whether there are any.
func (f *filler) lead(leading [2][]uint64, n int64) (some bool) {
	for i, at := range [2]int64{0, (n + 1) * f.plane} {
		if leading[i] != nil {
			copy(f.main[at:], leading[i])
			some = true
		}
	}
	return some
}

// giveUp returns the voxels of the main component to the remaining ones.
func (f *filler) giveUp() {
	left := f.left[:len(f.main)]
	for i, v := range f.main {
		left[i] |= v
	}
	clear(f.main)
}

// sides begins the main component with the voxels at the sides of the image, which touch the
// outside. It reports whether there are any.
func (f *filler) sides(lo, hi int64) bool {
	some := uint64(0)
	put := func(i int64, bits uint64) {
		f.main[i] |= f.left[i] & bits
		some |= f.main[i]
	}
	for z := lo; z < hi; z++ {
		for y := range f.h {
			at := f.row(z-lo, y)
			if z == 0 && f.ends[0] || z == f.d-1 && f.ends[1] || !f.flat && (y == 0 || y == f.h-1) {
				for i := range f.words {
					put(at+i, ^uint64(0))
				}
				continue
			}
			put(at, 1)
			put(at+(f.w-1)/64, 1<<uint((f.w-1)%64))
		}
	}
	return some != 0
}

// spread grows the main component in a slab of n planes and removes it from the remaining voxels.
// It passes over a few planes at a time, forwards and back. So growth follows the paths in noise,
// which lead up and down, while the words are in a core's cache. It repeats the first planes as
// long as this is worthwhile, unless neighbours lead to them.
func (f *filler) spread(n int64, led bool) {
	for lo := int64(0); lo < n; lo += blockPlanes {
		hi := min(n, lo+blockPlanes)
		f.pass(lo, hi)
		if lo > 0 || led {
			continue
		}
		block := f.main[:f.row(hi, 0)]
		for was, is := 0, countBits(block); is > was+was/32; was, is = is, countBits(block) {
			f.pass(lo, hi)
		}
	}
	left := f.left[:len(f.main)]
	for i, v := range f.main {
		left[i] &^= v
	}
}

func countBits(words []uint64) (n int) {
	for _, v := range words {
		n += bits.OnesCount64(v)
	}
	return n
}

// pass grows the main component in planes lo ≤ z < hi, from the first row of all planes to the last
// and back.
func (f *filler) pass(lo, hi int64) {
	grow := floods.faces
	if f.touching {
		grow = floods.corners
	}
	words := (f.w + 63) / 64
	for y := range f.h {
		grow(f.main, f.left, f.row(lo, y), words, -f.words, -f.plane, f.words, f.plane, hi-lo)
	}
	for y := f.h - 1; y >= 0; y-- {
		grow(f.main, f.left, f.row(hi-1, y), words, f.words, f.plane, f.words, -f.plane, hi-lo)
	}
}

// A floodKernel grows the main component in a row of words in each of several planes, step words
// apart. It grows from two rows at given distances, one in the same plane and one in another plane;
// at corners also from the neighbours of the second row. Within a row it grows up to the ends of
// runs, and down by a few voxels, which completes most runs.
type floodKernel struct {
	faces, corners           func(main, left []uint64, at, words, row, plane, apart, step, planes int64)
	aloneFaces, aloneCorners func(main, left []uint64, at, words, row, plane int64) int64 // see aloneOf
}

func portableFlood() floodKernel {
	return floodKernel{growAtFaces, growAtCorners, aloneOf(false), aloneOf(true)}
}

// floods is the fastest kernel of this machine.
var floods = floodKernelOf(isa.Available(assembled)[0])

func growAtFaces(main, left []uint64, at, words, row, plane, _, step, planes int64) {
	for ; planes > 0; planes, at = planes-1, at+step {
		m, k := main[at:][:words], left[at:][:words]
		a, b := main[at+row:][:words], main[at+plane:][:words]
		carry := uint64(0)
		for i := range m {
			all := k[i]
			some := (m[i] | a[i] | b[i] | carry) & all
			some |= all &^ (all + some) // a carry goes up to the end of a run
			carry = some >> 63
			some |= some>>1&all | some>>2&(all&(all>>1))
			m[i] = some
			if i > 0 {
				m[i-1] |= some << 63 & k[i-1]
			}
		}
	}
}

func growAtCorners(main, left []uint64, at, words, row, plane, apart, step, planes int64) {
	for ; planes > 0; planes, at = planes-1, at+step {
		m, k := main[at:][:words], left[at:][:words]
		a, b := main[at+row:][:words], main[at+plane:][:words]
		up, down := main[at+plane-apart:][:words], main[at+plane+apart:][:words]
		seed := m[0] | a[0] | b[0] | up[0] | down[0]
		before, carry := uint64(0), uint64(0)
		for i := range m {
			after := uint64(0)
			if i+1 < len(m) {
				after = m[i+1] | a[i+1] | b[i+1] | up[i+1] | down[i+1]
			}
			all := k[i]
			some := (seed | seed<<1 | seed>>1 | before>>63 | after<<63 | carry) & all
			some |= all &^ (all + some)
			carry = some >> 63
			some |= some>>1&all | some>>2&(all&(all>>1))
			m[i] = some
			if i > 0 {
				m[i-1] |= some << 63 & k[i-1]
			}
			before, seed = seed, after
		}
	}
}

// singles removes the voxels of a plane without a remaining neighbour. In a plane that meets a
// neighbour slab, they become nodes.
func (f *filler) singles(z int64) {
	at, c := f.row(z, 0), f.to
	alone, one := floods.aloneFaces, aloneOfWord(false)
	if f.touching {
		alone, one = floods.aloneCorners, aloneOfWord(true)
	}
	if at >= f.firstEnd && at < f.lastBegin {
		c.inner += alone(f.main, f.left, at, f.h*f.words, f.words, f.plane)
		return
	}
	for i := at; i < f.row(z, f.h); i++ {
		for v := one(f.main, f.left, i, f.words, f.plane); v != 0; v &= v - 1 {
			f.number = 0
			f.note(int(i), v&-v)
		}
	}
}

// nearFaces returns the voxels of a word that share a face with a voxel of the bits, or belong to
// them. Rows and planes are w and p words apart.
func nearFaces(of []uint64, at, w, p int64) uint64 {
	return of[at] | of[at]<<1 | of[at]>>1 | of[at-1]>>63 | of[at+1]<<63 |
		of[at-w] | of[at+w] | of[at-p] | of[at+p]
}

// nearCorners is nearFaces for voxels that share a face, an edge or a corner.
func nearCorners(of []uint64, at, w, p int64) uint64 {
	var v, before, after uint64
	for plane := at - p; plane <= at+p; plane += p {
		before |= of[plane-w-1] | of[plane-1] | of[plane+w-1]
		v |= of[plane-w] | of[plane] | of[plane+w]
		after |= of[plane-w+1] | of[plane+1] | of[plane+w+1]
	}
	return v | v<<1 | v>>1 | before>>63 | after<<63
}

// aloneOfWord removes the voxels of a word without a remaining neighbour. It adds the voxels that
// touch the main component to it, and returns the others.
func aloneOfWord(corners bool) func(main, left []uint64, at, row, plane int64) uint64 {
	near := nearFaces
	if corners {
		near = nearCorners
	}
	return func(main, left []uint64, at, row, plane int64) uint64 {
		v := left[at]
		if v == 0 {
			return 0
		}
		// Without this word, a voxel is near only because of a neighbour.
		left[at] = 0
		others := near(left, at, row, plane)
		left[at] = v
		if v &^= others | v<<1 | v>>1; v == 0 {
			return 0
		}
		left[at] &^= v
		touching := v & near(main, at, row, plane)
		main[at] |= touching
		return v &^ touching
	}
}

// aloneOf applies aloneOfWord to several words and counts the returned voxels.
func aloneOf(corners bool) func(main, left []uint64, at, words, row, plane int64) int64 {
	one := aloneOfWord(corners)
	return func(main, left []uint64, at, words, row, plane int64) (n int64) {
		for i := at; i < at+words; i++ {
			n += int64(bits.OnesCount64(one(main, left, i, row, plane)))
		}
		return n
	}
}

// fillFrom fills the component of a voxel in a word.
func (f *filler) fillFrom(i int, n int64) {
	c := f.to
	f.number, f.touched = 0, c.main == 0
	pieces := [2]int{}
	for k, b := range [2]*border{c.first, c.last} {
		if b != nil {
			pieces[k] = len(b.pieces)
		}
	}
	f.take(i, f.left[i]&-f.left[i])
	if !f.flow(c.main == 0 && f.spares) {
		f.promote(n)
		return
	}
	switch {
	case c.main != 0 && f.touched:
		if f.number != 0 {
			c.nodes--
		}
		for k, b := range [2]*border{c.first, c.last} {
			if b == nil {
				continue
			}
			for p := pieces[k]; p < len(b.pieces); p++ {
				b.pieces[p].number = c.main
			}
		}
	case f.number == 0:
		c.inner++
	}
}

// promote makes the current component the main one. It grows from the due bits, which include all
// neighbours of the filled voxels.
func (f *filler) promote(n int64) {
	if f.number == 0 {
		f.to.nodes++
		f.number = f.to.nodes
	}
	f.to.main = f.number
	for _, d := range f.due {
		f.main[d.word] |= d.bits
		f.left[d.word] |= d.bits
	}
	f.due = f.due[:0]
	f.spread(n, false)
}

// take removes bits of a word from the remaining ones.
func (f *filler) take(i int, bits uint64) {
	if bits &= f.left[i]; bits != 0 {
		f.left[i] &^= bits
		f.due = append(f.due, due{i, bits})
	}
}

// flow fills the remaining voxels around due bits until none are due. With a limit it stops after a
// few words. It reports whether it finished.
func (f *filler) flow(limited bool) bool {
	words, plane := int(f.words), int(f.plane)
	near := nearFaces
	if f.touching {
		near = nearCorners
	}
	around := [8]int{-words, words, -plane, plane, -plane - words, -plane + words, plane - words, plane + words}
	for filled := 0; len(f.due) > 0; filled++ {
		if limited && filled == f.few {
			return false
		}
		last := len(f.due) - 1
		i, v := f.due[last].word, f.due[last].bits
		f.due = f.due[:last]
		if all := f.left[i] | v; all != v {
			v = runs(v, all)
			f.left[i] = all &^ v
		}
		if int64(i) < f.firstEnd || int64(i) >= f.lastBegin {
			f.note(i, v)
		}
		f.touched = f.touched || v&near(f.main, int64(i), f.words, f.plane) != 0
		// The last bit of a row is no voxel, so that no row continues in the next one.
		if v&1 != 0 {
			f.take(i-1, 1<<63)
		}
		if v>>63 != 0 {
			f.take(i+1, 1)
		}
		if !f.touching {
			for _, by := range around[:4] {
				f.take(i+by, v)
			}
			continue
		}
		wide := v | v<<1 | v>>1
		for _, by := range around {
			f.take(i+by, wide)
			if v&1 != 0 {
				f.take(i+by-1, 1<<63)
			}
			if v>>63 != 0 {
				f.take(i+by+1, 1)
			}
		}
	}
	return true
}

// runs returns the runs of ones in all that contain a bit of some.
func runs(some, all uint64) uint64 {
	v := some | all&^(all+some) // a carry goes up to the end of a run
	for by := uint(1); by < 64; by *= 2 {
		v |= v >> by & all // all marks the positions with enough ones above them
		all &= all >> by
	}
	return v
}

// note records voxels of the component in the planes that meet neighbours.
func (f *filler) note(i int, v uint64) {
	if f.number == 0 {
		f.to.nodes++
		f.number = f.to.nodes
	}
	if int64(i) < f.firstEnd {
		f.to.first.add(i-int(f.plane), v, f.number)
	}
	if int64(i) >= f.lastBegin {
		f.to.last.add(i-int(f.lastBegin-1-f.words), v, f.number)
	}
}
