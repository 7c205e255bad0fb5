package assess

import (
	"bytes"
	"math"
	"slices"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// ByFlooding compares a pair by independent means. It counts voxels by pairs of labels and takes
// Betti numbers from the flood fill of betti. It finds matches by growing one mask within another.
// Unlike runs, it labels no components and joins no sets.
func ByFlooding(p *Pair) (Comparisons, error) {
	t := tally(p)
	out, setsOf := make(Comparisons, len(p.Sets)), p.setsOf()
	t.each(func(a, b uint16, n int64) {
		for _, i := range setsOf[a] {
			if out[i].Pred += n; p.Sets[i].has(b) {
				out[i].Both += n
			}
		}
		for _, i := range setsOf[b] {
			out[i].Truth += n
		}
	})
	var tasks []task
	for i, s := range slices.Backward(p.Sets) { // the union of all labels is large and comes first
		for _, island := range t.islands(s) {
			tasks = append(tasks, task{set: i, within: island})
		}
	}
	var next atomic.Int64
	crew.Each(2, func(int) {
		member := make([]uint8, len(setsOf))
		for i := next.Add(1) - 1; i < int64(len(tasks)); i = next.Add(1) - 1 {
			tasks[i].run(p, member)
		}
	})
	for _, done := range tasks {
		for k := range done.in {
			if done.errs[k] != nil {
				return nil, done.errs[k]
			}
			out[done.set].In[k].add(done.in[k])
		}
	}
	return out, nil
}

// A task judges the voxels of a set in an island.
type task struct {
	set    int
	within extent
	in     [Constructions]Topology
	errs   [Constructions]error
}

// run uses a table of zeros by code, and clears it again.
func (t *task) run(p *Pair, member []uint8) {
	for _, code := range p.Sets[t.set].Codes {
		member[code] = 1
	}
	m := newJudged(p, member, t.within)
	for _, code := range p.Sets[t.set].Codes {
		member[code] = 0
	}
	crew.Each(Constructions, func(k int) { t.errs[k] = m.judge(k, &t.in[k]) })
}

// add adds the topology of masks that are separate from these.
func (t *Topology) add(o Topology) {
	t.Pred, t.Truth, t.Union = t.Pred.Plus(o.Pred), t.Truth.Plus(o.Truth), t.Union.Plus(o.Union)
	t.Components, t.Holes = t.Components+o.Components, t.Holes+o.Holes
}

// An extent is a bounding box of voxels, in the order of Coordinates. Both corners are inclusive.
type extent struct{ least, greatest [3]int64 }

// join extends the extent by another.
func (e *extent) join(o extent) {
	for i := range e.least {
		e.least[i], e.greatest[i] = min(e.least[i], o.least[i]), max(e.greatest[i], o.greatest[i])
	}
}

// counts are numbers of voxels by pair of codes.
type counts struct {
	codes int
	pairs []int64 // index: first code × codes + second code; nil for many codes
	many  map[[2]uint16]int64
}

// mostPaired is the largest number of codes for which a table of all pairs is allocated.
const mostPaired = 1 << 10

func newCounts(codes int) counts {
	c := counts{codes: codes}
	if codes <= mostPaired {
		c.pairs = make([]int64, codes*codes)
	} else {
		c.many = map[[2]uint16]int64{}
	}
	return c
}

// each calls f with each pair of codes that occurs, and its number of voxels.
func (c counts) each(f func(a, b uint16, n int64)) {
	for i, n := range c.pairs {
		if n != 0 {
			f(uint16(i/c.codes), uint16(i%c.codes), n)
		}
	}
	for pair, n := range c.many {
		f(pair[0], pair[1], n)
	}
}

// add counts n voxels of a pair of codes.
func (c counts) add(a, b uint16, n int64) {
	if c.pairs != nil {
		c.pairs[int(a)*c.codes+int(b)] += n
	} else {
		c.many[[2]uint16{a, b}] += n
	}
}

// A census is the counts of both images by code of the prediction and of the truth, and the places
// of each code in either image.
type census struct {
	counts
	blocking
	extents []extent // by code; a code without voxels has the largest least corner
	blocks  []blocks // by code; nil for many codes
}

func newCensus(p *Pair) census {
	codes := len(p.Labels)
	c := census{counts: newCounts(codes), blocking: blockingOf(p.Shape()), extents: make([]extent, codes)}
	for i := range c.extents {
		c.extents[i].least = [3]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}
	}
	if codes <= mostPaired {
		c.blocks = make([]blocks, codes)
	}
	return c
}

// count counts the voxels from ≤ x < to of a row.
func (c census) count(a, b uint16, z, y, from, to int64) {
	c.add(a, b, to-from)
	for _, code := range [2]uint16{a, b} {
		if code == 0 {
			continue
		}
		c.extents[code].join(extent{[3]int64{z, y, from}, [3]int64{z, y, to - 1}})
		if c.blocks != nil {
			c.mark(&c.blocks[code], z, y, from, to-1)
		}
	}
}

// tally counts the voxels of both images. Equal neighbours along a row are counted together.
func tally(p *Pair) census {
	parts := make([]census, 2)
	s := p.Shape()
	crew.Each(len(parts), func(i int) {
		parts[i] = newCensus(p)
		for row := s.D * s.H * int64(i) / 2; row < s.D*s.H*int64(i+1)/2; row++ {
			if p.Pred.Type() == grid.Uint8 {
				tallyRow(parts[i], row/s.H, row%s.H, p.Pred.Data()[row*s.W:][:s.W], p.Truth.Data()[row*s.W:][:s.W])
			} else {
				tallyRow(parts[i], row/s.H, row%s.H, grid.Values[uint16](p.Pred.Data())[row*s.W:][:s.W],
					grid.Values[uint16](p.Truth.Data())[row*s.W:][:s.W])
			}
		}
	})
	all := parts[0]
	for code, e := range parts[1].extents {
		all.extents[code].join(e)
	}
	for code := range all.blocks {
		all.blocks[code].join(&parts[1].blocks[code])
	}
	parts[1].each(all.add)
	return all
}

// step is the number of values that are compared together.
const step = 64

func tallyRow[E uint8 | uint16](c census, z, y int64, pred, truth []E) {
	for x := 0; x < len(pred); {
		a, b, from := pred[x], truth[x], x
		for x+step < len(pred) && allEqual(pred[x:][:step+1]) && allEqual(truth[x:][:step+1]) {
			x += step
		}
		for x < len(pred) && pred[x] == a && truth[x] == b {
			x++
		}
		c.count(uint16(a), uint16(b), z, y, int64(from), int64(x))
	}
}

// allEqual reports whether all values are equal, by comparing the row with itself shifted by one.
func allEqual[E uint8 | int16 | uint16](row []E) bool {
	return bytes.Equal(grid.Bytes(row[1:]), grid.Bytes(row[:len(row)-1]))
}

// The masks of a set.
const (
	ofPred = iota
	ofTruth
	ofUnion
	masksOfSet
)

// A judged is the masks of a set within an extent, as words of bits with an empty border.
type judged struct {
	flat  bool // of a 2D image
	shape grid.Shape
	space
	bits [masksOfSet][]uint64
}

// newJudged packs the masks of a set within an extent. member is 1 for the codes of the set.
func newJudged(p *Pair, member []uint8, all extent) *judged {
	m := &judged{flat: p.Shape().D == 1, shape: grid.Shape{D: 1 + all.greatest[0] - all.least[0],
		H: 1 + all.greatest[1] - all.least[1], W: 1 + all.greatest[2] - all.least[2]}}
	m.space = newSpace(m.shape)
	of := p.Shape()
	crew.Each(ofUnion, func(k int) {
		f := []*grid.Field{p.Pred, p.Truth}[k]
		m.bits[k] = m.space.none()
		for z := range m.shape.D {
			for y := range m.shape.H {
				from := ((z+all.least[0])*of.H+y+all.least[1])*of.W + all.least[2]
				if to := m.bits[k][m.rowStart(z, y):]; f.Type() == grid.Uint8 {
					mark(to, f.Data()[from:][:m.shape.W], member)
				} else {
					mark(to, grid.Values[uint16](f.Data())[from:][:m.shape.W], member)
				}
			}
		}
	})
	m.bits[ofUnion] = m.space.none()
	for i, v := range m.bits[ofPred] {
		m.bits[ofUnion][i] = v | m.bits[ofTruth][i]
	}
	return m
}

// mark sets the bits of the voxels of a row whose codes are in the set.
func mark[E uint8 | uint16](words []uint64, row []E, member []uint8) {
	for ; len(row) >= step; words, row = words[1:], row[step:] {
		block := (*[step]E)(row)
		if allEqual(block[:]) {
			words[0] = -uint64(member[block[0]])
			continue
		}
		var word uint64
		for i, code := range block {
			word |= uint64(member[code]) << i
		}
		words[0] = word
	}
	for i, code := range row {
		words[0] |= uint64(member[code]) << i
	}
}

// A shown is a mask as an image for betti: uint8 values, 0 inside and 1 outside.
type shown struct {
	*judged
	mask int
}

func (s shown) Shape() grid.Shape   { return s.shape }
func (s shown) Type() grid.Type     { return grid.Uint8 }
func (s shown) Ladder() grid.Ladder { return grid.Identity(grid.Uint8) }

// Pack copies the bits of a plane, or of a row if there is one plane.
func (s shown) Pack(set *ecc.PlaneSet, z int64) {
	if s.shape.D == 1 {
		copy(set.Row(0), s.bits[s.mask][s.rowStart(0, z):][:s.row-1])
		return
	}
	for y := range s.shape.H {
		copy(set.Row(y), s.bits[s.mask][s.rowStart(z, y):][:s.row-1])
	}
}

// ReadSlab writes the bytes of slices lo ≤ i < hi.
func (s shown) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	for i := range dst {
		z, y, x := s.shape.Coordinates(lo*s.shape.SliceVoxels() + int64(i))
		dst[i] = uint8(^s.bits[s.mask][s.rowStart(z, y)+x/64] >> (x % 64) & 1)
	}
	return nil
}

// judge computes the topology in one construction.
func (m *judged) judge(construction int, t *Topology) error {
	for k, to := range []*betti.Numbers{&t.Pred, &t.Truth, &t.Union} {
		n, err := betti.ByFlooding(&betti.Image{Source: shown{m, k}}, ecc.Convention{Vertices: construction == V})
		if err != nil {
			return err
		}
		*to = n
	}
	corners := construction == T
	t.Components = t.Union.B0 - m.unmet(ofPred, corners) - m.unmet(ofTruth, corners)
	dims := 3
	if m.flat {
		dims = 2
	}
	if highest(t.Pred, dims) > 0 && highest(t.Truth, dims) > 0 {
		t.Holes = m.matchedHoles(!corners)
	}
	return nil
}

// unmet counts the components of the union that do not meet a mask. These are the components of the
// union without the mask that do not touch the mask.
func (m *judged) unmet(by int, corners bool) (n int64) {
	mask := m.bits[by]
	left, touching := slices.Clone(m.bits[ofUnion]), m.space.none()
	for i := range left {
		if left[i] &^= mask[i]; left[i] != 0 {
			touching[i] = left[i] & m.neighbours(mask, int64(i), corners)
		}
	}
	m.reach(touching, left, corners)
	for i, v := range touching {
		left[i] &^= v
	}
	m.eachComponent([2][]uint64{left, nil}, corners, func([2][]uint64, []spot) { n++ })
	return n
}

// matchedHoles counts the holes that both masks enclose. It joins enclosed background components of
// both masks that overlap, and counts the results that do not overlap an outside.
func (m *judged) matchedHoles(corners bool) (n int64) {
	var outside, enclosed [2][]uint64
	for k := range outside {
		enclosed[k], outside[k] = m.background(m.bits[k], m.flat)
		m.reach(outside[k], enclosed[k], corners)
		for i, v := range outside[k] {
			enclosed[k][i] &^= v
		}
	}
	m.eachComponent(enclosed, corners, func(found [2][]uint64, words []spot) {
		shared, open := false, false
		for _, at := range words {
			v := found[at.of][at.i]
			shared = shared || v&found[1-at.of][at.i] != 0
			open = open || v&outside[1-at.of][at.i] != 0
		}
		if shared && !open {
			n++
		}
	})
	return n
}

// A space is the layout of words of bits with an empty voxel around all planes and rows.
type space struct {
	d, h, w    int64
	row, plane int64 // words
}

func newSpace(s grid.Shape) space {
	row := s.W/64 + 2
	return space{s.D, s.H, s.W, row, row * (s.H + 2)}
}

// none returns empty words, with one extra word before the first row and after the last.
func (s space) none() []uint64 { return make([]uint64, (s.d+2)*s.plane+2) }

// rowStart returns the first word of a row.
func (s space) rowStart(z, y int64) int64 { return 1 + (z+1)*s.plane + (y+1)*s.row }

// background returns the voxels of the box outside a mask, and the ones next to a side of the box.
func (s space) background(mask []uint64, flat bool) (rest, sides []uint64) {
	rest, sides = s.none(), s.none()
	for z := range s.d {
		for y := range s.h {
			at := s.rowStart(z, y)
			for x := int64(0); x < s.w; x += 64 {
				rest[at+x/64] = ^mask[at+x/64] & (math.MaxUint64 >> max(0, 64-(s.w-x)))
			}
			isEmpty := !slices.ContainsFunc(mask[at:at+s.row-1], func(v uint64) bool { return v != 0 })
			if isEmpty || y == 0 || y == s.h-1 || !flat && (z == 0 || z == s.d-1) {
				copy(sides[at:], rest[at:at+s.row-1]) // an empty row connects to a side
				continue
			}
			last := at + (s.w-1)/64
			sides[at] |= rest[at] & 1
			sides[last] |= rest[last] & (1 << ((s.w - 1) % 64))
		}
	}
	return rest, sides
}

// neighbours returns the voxels of word i that touch a set or belong to it.
func (s space) neighbours(of []uint64, i int64, corners bool) uint64 {
	if !corners {
		v := of[i]
		return v | v<<1 | v>>1 | of[i-1]>>63 | of[i+1]<<63 | of[i-s.row] | of[i+s.row] | of[i-s.plane] | of[i+s.plane]
	}
	var v, before, after uint64
	for plane := i - s.plane; plane <= i+s.plane; plane += s.plane {
		v |= of[plane-s.row] | of[plane] | of[plane+s.row]
		before |= of[plane-s.row-1] | of[plane-1] | of[plane+s.row-1]
		after |= of[plane-s.row+1] | of[plane+1] | of[plane+s.row+1]
	}
	return v | v<<1 | v>>1 | before>>63 | after<<63
}

// reach grows the found voxels to all voxels of within that are connected with them. It passes over
// the rows forwards and backwards, and visits only rows next to a changed row.
func (s space) reach(found, within []uint64, corners bool) {
	rows := s.d * s.h
	due := make([]bool, rows)
	for i := range rows {
		at := s.rowStart(i/s.h, i%s.h)
		due[i] = !slices.Equal(found[at:at+s.row-1], within[at:at+s.row-1])
	}
	for changed, forward := true, true; changed; forward = !forward {
		changed = false
		for k := range rows {
			i := k
			if !forward {
				i = rows - 1 - k
			}
			if !due[i] {
				continue
			}
			due[i] = false
			z, y := i/s.h, i%s.h
			if !s.grow(found, within, s.rowStart(z, y), corners) {
				continue
			}
			changed = true
			for dz := max(0, z-1); dz <= min(s.d-1, z+1); dz++ {
				for dy := max(0, y-1); dy <= min(s.h-1, y+1); dy++ {
					due[dz*s.h+dy] = due[dz*s.h+dy] || dz != z || dy != y
				}
			}
		}
	}
}

// grow adds the voxels of a row that are connected with found ones, and reports whether it added
// any.
func (s space) grow(found, within []uint64, at int64, corners bool) (grown bool) {
	for k := at; k < at+s.row-1; k++ { // ascending
		grown = found[k] != within[k] && s.growWord(found, within, k, corners) || grown
	}
	for k := at + s.row - 2; k >= at; k-- {
		grown = found[k] != within[k] && s.growWord(found, within, k, corners) || grown
	}
	return grown
}

func (s space) growWord(found, within []uint64, i int64, corners bool) bool {
	all := within[i]
	v := s.neighbours(found, i, corners) & all
	if v == 0 {
		return false
	}
	v = fill(v, all)
	if v == found[i] {
		return false
	}
	found[i] = v
	return true
}

// fill returns the runs of ones of all that contain a bit of some.
func fill(some, all uint64) uint64 {
	some |= all &^ (all + some) // the carry reaches the end of a run
	for by := uint(1); by < 64; by *= 2 {
		some |= some >> by & all
		all &= all >> by
	}
	return some
}

// A spot is a word of one of two sets.
type spot struct {
	of int
	i  int64
}

// eachComponent calls f with the words of each component of one or two sets. Components of both
// sets are joined at common voxels. found is valid until f returns; the sets are empty at the end.
func (s space) eachComponent(sets [2][]uint64, corners bool, f func(found [2][]uint64, words []spot)) {
	var found [2][]uint64
	for k := range sets {
		if sets[k] != nil {
			found[k] = s.none()
		}
	}
	steps := s.steps(corners)
	var due, been []spot
	take := func(of int, i int64, v uint64) {
		if sets[of] == nil {
			return
		}
		if v &= sets[of][i]; v != 0 {
			sets[of][i] &^= v
			found[of][i] |= v
			due, been = append(due, spot{of, i}), append(been, spot{of, i})
		}
	}
	for of := range sets {
		for i := range sets[of] {
			for sets[of][i] != 0 {
				take(of, int64(i), sets[of][i]&-sets[of][i])
				for len(due) > 0 {
					at := due[len(due)-1]
					due = due[:len(due)-1]
					take(1-at.of, at.i, found[at.of][at.i])
					for _, by := range steps {
						if j := at.i + by; sets[at.of][j] != 0 {
							take(at.of, j, s.neighbours(found[at.of], j, corners))
						}
					}
				}
				f(found, been)
				for _, at := range been {
					found[at.of][at.i] = 0
				}
				been = been[:0]
			}
		}
	}
}

// steps returns the distances to a word and to the words with neighbours of its voxels.
func (s space) steps(corners bool) (list []int64) {
	if !corners {
		return []int64{-s.plane, -s.row, -1, 0, 1, s.row, s.plane}
	}
	for plane := -s.plane; plane <= s.plane; plane += s.plane {
		for row := plane - s.row; row <= plane+s.row; row += s.row {
			list = append(list, row-1, row, row+1)
		}
	}
	return list
}
