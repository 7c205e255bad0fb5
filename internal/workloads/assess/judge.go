package assess

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// BySearch compares a pair by independent means. It counts voxels by pairs of labels, components
// and cavities by graph search, and cells by the definition. Unlike runs, it joins no sets.
func BySearch(p *Pair) Comparisons {
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
	var members [workers][]uint8
	crew.InTurn(workers, len(tasks), func(worker, i int) {
		if members[worker] == nil {
			members[worker] = make([]uint8, len(setsOf))
		}
		tasks[i].run(p, members[worker])
	})
	for _, done := range tasks {
		for k := range done.in {
			out[done.set].In[k].add(done.in[k])
		}
	}
	return out
}

// workers is the number of goroutines that work through a list.
const workers = 2

// A task judges the voxels of a set in an island.
type task struct {
	set    int
	within extent
	in     [Constructions]Topology
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
	m.count()
	for k := range t.in {
		t.in[k] = m.topology(k)
	}
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
	for i, code := range [2]uint16{a, b} {
		if code == 0 || i > 0 && a == b {
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

// step is the number of values of a word of bits, and word the number of bytes of a word.
const (
	step = 64
	word = 8
)

func tallyRow[E uint8 | uint16](c census, z, y int64, pred, truth []E) {
	p, t := grid.Bytes(pred), grid.Bytes(truth)
	size := len(p) / len(pred)
	differs := func(data []byte, at int) uint64 { // each value from the next
		return binary.LittleEndian.Uint64(data[at:]) ^ binary.LittleEndian.Uint64(data[at+size:])
	}
	for from := 0; from < len(pred); {
		x := from
		for ; (x+1)*size+word <= len(p); x += word / size {
			if v := differs(p, x*size) | differs(t, x*size); v != 0 {
				x += bits.TrailingZeros64(v) / 8 / size
				break
			}
		}
		for x++; x < len(pred) && pred[x] == pred[x-1] && truth[x] == truth[x-1]; {
			x++
		}
		c.count(uint16(pred[from]), uint16(truth[from]), z, y, int64(from), int64(x))
		from = x
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

// newJudged packs the masks of a set within an extent. member is 1 for the codes of the set.
func newJudged(p *Pair, member []uint8, within extent) *judged {
	of := p.Shape()
	m := &judged{space: newSpace(within, of.D == 1)}
	crew.Each(ofUnion, func(k int) {
		f := []*grid.Field{p.Pred, p.Truth}[k]
		m.masks[k] = m.newMask()
		for z := within.least[0]; z <= within.greatest[0]; z++ {
			for y := within.least[1]; y <= within.greatest[1]; y++ {
				from := (z*of.H+y)*of.W + within.least[2]
				to := m.row(m.masks[k].bits, z-within.least[0]+m.below, y-within.least[1]+1)
				if f.Type() == grid.Uint8 {
					mark(to, f.Data()[from:][:m.w], member)
				} else {
					mark(to, grid.Values[uint16](f.Data())[from:][:m.w], member)
				}
				some := to[0]
				for i := len(to) - 1; i > 0; i-- { // the first bit is no voxel
					some |= to[i]
					to[i] = to[i]<<1 | to[i-1]>>63
				}
				to[0] <<= 1
				m.masks[k].some[m.index(z-within.least[0]+m.below, y-within.least[1]+1)] = some != 0
			}
		}
	})
	pred, truth, all := m.masks[ofPred], m.masks[ofTruth], m.newMask()
	for i, some := range pred.some {
		if all.some[i] = some || truth.some[i]; !all.some[i] {
			continue
		}
		for k := int64(i) * m.words; k < int64(i+1)*m.words; k++ {
			all.bits[k] = pred.bits[k] | truth.bits[k]
		}
	}
	m.masks[ofUnion] = all
	return m
}

// mark sets the bits of the voxels of a row whose codes are in the set.
func mark[E uint8 | uint16](words []uint64, row []E, member []uint8) {
	lanes, ones := lanesOf[E]()
	for ; len(row) >= step; words, row = words[1:], row[step:] {
		block := (*[step]E)(row)
		if allEqual(block[:]) {
			words[0] = -uint64(member[block[0]])
			continue
		}
		var set uint64
		for data, x := grid.Bytes(block[:]), 0; x < step; x, data = x+lanes, data[word:] {
			if v := block[x]; binary.LittleEndian.Uint64(data) == uint64(v)*ones {
				set |= uint64(member[v]) * (1<<lanes - 1) << x
				continue
			}
			for i, v := range block[x:][:lanes] {
				set |= uint64(member[v]) << (x + i)
			}
		}
		words[0] = set
	}
	for i, code := range row {
		words[0] |= uint64(member[code]) << i
	}
}
