package assess

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

// BySearch compares a pair by independent means. It packs masks of its own, counts components and
// cavities by graph search, and cells by the definition. Unlike runs, it joins no sets. Labels with
// few runs in their extent are lists of runs, which it floods, and their cells are counted in bits
// of two planes at a time.
func BySearch(p *Pair) Comparisons {
	out, s := make(Comparisons, len(p.Sets)), p.Shape()
	if len(p.Sets) == 1 { // to find its place costs as much as to pack the whole image
		searchTasks(p, []task{{within: extent{greatest: [3]int64{s.D - 1, s.H - 1, s.W - 1}}}}, out)
		return out
	}
	c := takeCensus(p)
	var tasks []task
	var thin []int // sets
	var codes []uint16
	for i, s := range slices.Backward(p.Sets) { // the union of all labels is large and comes first
		if len(s.Codes) == 1 && c.isThin(p, s.Codes[0]) {
			thin, codes = append(thin, i), append(codes, s.Codes[0])
			continue
		}
		for _, island := range c.islands(s) {
			tasks = append(tasks, task{set: i, within: island})
		}
	}
	searchTasks(p, tasks, out)
	var byRow [workers][masksOfSet][]int32
	for len(thin) > 0 {
		of := c.stretchesOf(p, codes)
		crew.InTurn(workers, len(of), func(worker, i int) {
			for k := range byRow[worker] {
				if byRow[worker][k] == nil {
					byRow[worker][k] = make([]int32, rowsAround(s))
				}
			}
			out[thin[i]] = judgeThin(of[i][ofPred], of[i][ofTruth], &byRow[worker]).comparison()
		})
		thin, codes = thin[len(of):], codes[len(of):]
	}
	return out
}

// searchTasks adds the numbers of tasks to those of their sets.
func searchTasks(p *Pair, tasks []task, out Comparisons) {
	var members [workers][]uint8
	crew.InTurn(workers, len(tasks), func(worker, i int) {
		if members[worker] == nil {
			members[worker] = make([]uint8, p.Codes())
		}
		tasks[i].run(p, members[worker])
	})
	for _, done := range tasks {
		out[done.set].Add(done.found)
	}
}

// workers is the number of goroutines that work through a list.
const workers = 2

// A task judges the voxels of a set in an island.
type task struct {
	set    int
	within extent
	found  Comparison
}

// run uses a table of zeros by code, and clears it again.
func (t *task) run(p *Pair, member []uint8) {
	for _, code := range p.Sets[t.set].Codes {
		member[code] = 1
	}
	m := newJudged(p, member, p.Sets[t.set], t.within)
	for _, code := range p.Sets[t.set].Codes {
		member[code] = 0
	}
	m.count()
	t.found = m.comparison()
}

// An extent is a bounding box of voxels, in the order of Coordinates. Both corners are inclusive.
type extent struct{ least, greatest [3]int64 }

// join extends the extent by another.
func (e *extent) join(o extent) {
	for i := range e.least {
		e.least[i], e.greatest[i] = min(e.least[i], o.least[i]), max(e.greatest[i], o.greatest[i])
	}
}

// A census is the places of each code in either image.
type census struct {
	blocking
	runs    []int64  // by code
	extents []extent // by code; a code without voxels has the largest least corner
	blocks  []blocks // by code; nil for many codes
}

// mostPaired is the largest number of codes for which tables of blocks or of all pairs are allocated.
const mostPaired = 1 << 10

func newCensus(p *Pair) census {
	codes := len(p.Labels)
	c := census{blocking: blockingOf(p.Shape()), extents: make([]extent, codes), runs: make([]int64, codes)}
	for i := range c.extents {
		c.extents[i].least = [3]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}
	}
	if codes <= mostPaired {
		c.blocks = make([]blocks, codes)
	}
	return c
}

// takeCensus finds the places of all codes. Equal neighbours along a row are found together.
func takeCensus(p *Pair) census {
	parts := make([]census, 2)
	s, fields := p.Shape(), p.Fields()
	crew.Each(len(parts), func(i int) {
		parts[i] = newCensus(p)
		for row := s.D * s.H * int64(i) / 2; row < s.D*s.H*int64(i+1)/2; row++ {
			z, y := row/s.H, row%s.H
			for _, f := range fields {
				eachRun(f, row, func(code uint16, first, end int64) {
					c := &parts[i]
					c.runs[code]++
					c.extents[code].join(extent{[3]int64{z, y, first}, [3]int64{z, y, end - 1}})
					if c.blocks != nil {
						c.mark(&c.blocks[code], z, y, first, end-1)
					}
				})
			}
		}
	})
	all := parts[0]
	for code, e := range parts[1].extents {
		all.extents[code].join(e)
		all.runs[code] += parts[1].runs[code]
	}
	for code := range all.blocks {
		all.blocks[code].join(&parts[1].blocks[code])
	}
	return all
}

// step is the number of values of a word of bits, and word the number of bytes of a word.
const (
	step = 64
	word = 8
)

// eachRun calls f with the code of each run of a row, and its voxels first ≤ x < end, except the
// background.
func eachRun(of *grid.Field, row int64, f func(code uint16, first, end int64)) {
	if w := of.Shape().W; of.Type() == grid.Uint8 {
		eachRunOf(of.Data()[row*w:][:w], f)
	} else {
		eachRunOf(grid.Values[uint16](of.Data())[row*w:][:w], f)
	}
}

func eachRunOf[E uint8 | uint16](row []E, f func(code uint16, first, end int64)) {
	data := grid.Bytes(row)
	size := len(data) / len(row)
	for from := 0; from < len(row); {
		x := from
		for ; (x+1)*size+word <= len(data); x += word / size {
			v := binary.LittleEndian.Uint64(data[x*size:]) ^ binary.LittleEndian.Uint64(data[(x+1)*size:])
			if v != 0 { // a value differs from the next
				x += bits.TrailingZeros64(v) / 8 / size
				break
			}
		}
		for x++; x < len(row) && row[x] == row[x-1]; {
			x++
		}
		if code := row[from]; code != 0 {
			f(uint16(code), int64(from), int64(x))
		}
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
func newJudged(p *Pair, member []uint8, set Set, within extent) *judged {
	of, single := p.Shape(), uint16(0)
	if len(set.Codes) == 1 {
		single = set.Codes[0]
	}
	m := &judged{space: newSpace(within, of.D == 1)}
	crew.Each(ofUnion, func(k int) {
		if p.packed[k] != nil { // whole, of its only set
			m.masks[k] = p.packed[k].mask
			return
		}
		f := p.fields[k]
		m.masks[k] = m.newMask()
		for z := within.least[0]; z <= within.greatest[0]; z++ {
			for y := within.least[1]; y <= within.greatest[1]; y++ {
				from := (z*of.H+y)*of.W + within.least[2]
				at := m.index(z-within.least[0]+m.below, y-within.least[1]+1)
				if f.Type() == grid.Uint8 {
					packRow(m.masks[k], at, f.Data()[from:][:m.w], member, single)
				} else {
					packRow(m.masks[k], at, grid.Values[uint16](f.Data())[from:][:m.w], member, single)
				}
			}
		}
	})
	pred, truth, all := m.masks[ofPred], m.masks[ofTruth], m.newMask()
	crew.Each(workers, func(part int) {
		for i := len(all.some) * part / workers; i < len(all.some)*(part+1)/workers; i++ {
			if all.some[i] = pred.some[i] || truth.some[i]; !all.some[i] {
				continue
			}
			for k := int64(i) * m.words; k < int64(i+1)*m.words; k++ {
				all.bits[k] = pred.bits[k] | truth.bits[k]
			}
		}
	})
	m.masks[ofUnion] = all
	return m
}

// packRow packs the voxels of row at of a mask, as mark does.
func packRow[E uint8 | uint16](m mask, at int64, row []E, member []uint8, single uint16) {
	words := cells.RowWords(int64(len(row)) + 1)
	to := m.bits[at*words:][:words]
	mark(to, row, member, single)
	some := to[0]
	for i := len(to) - 1; i > 0; i-- { // the first bit is no voxel
		some |= to[i]
		to[i] = to[i]<<1 | to[i-1]>>63
	}
	to[0] <<= 1
	m.some[at] = some != 0
}

// mark sets the bits of the voxels of a row whose codes are in the set. single is its code if it has one,
// or 0.
func mark[E uint8 | uint16](words []uint64, row []E, member []uint8, single uint16) {
	if bytes, is := any(row).([]uint8); is && single > 0 {
		n := len(row) / step
		markCode(words[:n], bytes, uint8(single))
		if n*step < len(row) {
			var tail [step]uint8
			copy(tail[:], bytes[n*step:])
			markCode(words[n:n+1], tail[:], uint8(single))
		}
		return
	}
	for ; len(row) >= step; words, row = words[1:], row[step:] {
		block := (*[step]E)(row)
		if allEqual(block[:]) {
			words[0] = -uint64(member[block[0]])
			continue
		}
		var set uint64
		for x, v := range block {
			set |= uint64(member[v]) << x
		}
		words[0] = set
	}
	for i, code := range row {
		words[0] |= uint64(member[code]) << i
	}
}

// markCode sets the bits of the voxels of whole words that have a code.
func markCode(words []uint64, row []uint8, code uint8) {
	const (
		ones   = uint64(math.MaxUint64 / math.MaxUint8) // the least bit of each byte
		high   = ones << 7
		gather = 0x0002040810204081 // moves bit 8·i + 7 to bit 56 + i
	)
	for i := range words {
		block := (*[step]uint8)(row[i*step:])
		bytes := func(k int) uint64 { return binary.LittleEndian.Uint64(block[word*k:]) }
		if words[i] = 0; bytes(0)|bytes(1)|bytes(2)|bytes(3)|bytes(4)|bytes(5)|bytes(6)|bytes(7) == 0 {
			continue // no code is 0
		}
		equal := func(k int) uint64 {
			v := bytes(k) ^ uint64(code)*ones
			// A sum reaches the highest bit of a byte unless the other bits are zero.
			return ^(v&^high + ^high | v) & high * gather >> (64 - word)
		}
		words[i] = equal(0) | equal(1)<<8 | equal(2)<<16 | equal(3)<<24 |
			equal(4)<<32 | equal(5)<<40 | equal(6)<<48 | equal(7)<<56
	}
}
