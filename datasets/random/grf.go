package random

import (
	"math"
	"math/bits"

	"eccbench/datasets/vectors"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// BoxWidths returns the widths of the three box filters for smooth: odd, at most 2 apart, with the
// variance Σ(w²−1)/12 nearest to smooth². Of two equally near choices it is the larger.
func BoxWidths(smooth float64) [3]int64 {
	// The conversion prevents a fused multiplication and subtraction, which some machines have.
	want := float64(12 * smooth * smooth)
	best, off := [3]int64{1, 1, 1}, math.Inf(1)
	for w := int64(1); ; w += 2 {
		for _, c := range [][3]int64{{w, w, w}, {w, w, w + 2}, {w, w + 2, w + 2}} {
			var twelve int64
			for _, v := range c {
				twelve += v*v - 1
			}
			if d := math.Abs(float64(twelve) - want); d <= off {
				best, off = c, d
			} else if float64(twelve) > want {
				return best
			}
		}
	}
}

// boxKernel returns the response of three box filters to a single 1: Σ(w−1)+1 integer weights,
// symmetric about the middle.
func boxKernel(widths [3]int64) []int64 {
	k := []int64{1}
	for _, w := range widths {
		next := make([]int64, int64(len(k))+w-1)
		for i, v := range k {
			for j := range w {
				next[int64(i)+j] += v
			}
		}
		k = next
	}
	return k
}

// A Field is the Source of a Gaussian random field.
//
// The image is made in tiles. Within a tile, planes of noise are smoothed along x and y one after
// another. Then they are pushed through a cascade of box filters along z, whose rings have as many
// planes as the widths add up to. In 2D, rows are smoothed along x, with a cascade along y. If sums
// along x and two more filters fit 16 bits, vectors filter z before y, so that the cascade needs
// half the memory.
//
// Lines are arrays of words, with two 32-bit sums if the largest sum fits, and one sum otherwise.
// The sum of two words has the sums of their halves if the final halves fit, whatever overflowed in
// between. So two voxels cost one addition. Portable code has the first half of a line in the lower
// halves. Vectors have the sums in voxel order, 16-bit ones four to a word.
type Field struct {
	shape  grid.Shape
	scale  Scale
	widths [3]int64
	halo   int64 // reach of the kernel to either side
	lanes  int64 // sums per word, 1 or 2
	noise  Lattice
	quant  quantiser

	// For vectors. turn is 0 if there are none.
	turn     int64     // voxels of noise per call
	narrow   bool      // sums along x fit 16 bits, and so do those after two filters of another axis
	weights  [12]uint8 // of the kernel along x, if narrow
	filters  vectors.Filters
	fast     *fastQuantiser // nil if only the exact quantiser works
	lo, step float64        // of the ladder
	single   bool           // the ladder's values need only float32 arithmetic

	passages passages
}

func NewField(shape grid.Shape, s Scale, levels int64, widths [3]int64, seed uint64, isa string) *Field {
	g := &Field{
		shape: shape, scale: s, widths: widths, lanes: 1,
		noise: NewLattice(seed, grfStream),
		quant: newQuantiser(boxKernel(widths), shape.Dim(), levels),
	}
	for _, w := range widths {
		g.halo += w / 2 // which is odd
	}
	if g.quant.most>>32 == 0 {
		g.lanes = 2
	}
	v := vectors.ForISA(isa)
	g.turn, g.filters, g.fast = v.Turn, v.Filters, g.quant.fast()
	if of16 := 32 * widths[0] * widths[0] * widths[1] * widths[1] * widths[2]; g.turn > 0 && g.lanes == 2 && of16 < 1<<16 {
		g.narrow = true
		for i, w := range boxKernel(widths) {
			g.weights[i] = uint8(w)
		}
	}
	g.lo, g.step, g.single = s.affine()
	return g
}

func (g *Field) Shape() grid.Shape   { return g.shape }
func (g *Field) Type() grid.Type     { return g.scale.Typ }
func (g *Field) Ladder() grid.Ladder { return g.scale.Ladder }

// ReadSlab makes slices lo ≤ i < hi, from these and a margin of the kernel's reach. A thick slab
// therefore costs less per voxel. Consecutive slabs compute the margin before them once.
func (g *Field) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(g, dst, lo, hi); err != nil {
		return err
	}
	tiles := g.tiles(lo, hi)
	var way *passage
	if deep, rows, columns := tiles.counts(); deep == 1 {
		way = g.passages.enter(lo, rows*columns, rows*columns*g.marchBytes(tiles))
	}
	crew.Share(tiles.count(), func(next func() (int64, bool)) {
		var b *scratch
		for i, ok := next(); ok; i, ok = next() {
			if b == nil {
				b = g.newScratch(tiles)
			}
			t := tiles.tile(i)
			from := t.m0 - g.halo
			if way == nil {
				if b.march == nil {
					b.march = g.newMarch(tiles)
				}
			} else {
				if way.marches[i] == nil {
					way.marches[i] = g.newMarch(tiles)
				}
				b.march = way.marches[i]
				if way.next == lo {
					from = lo + g.halo
				}
			}
			g.make(dst, lo, t, from, b)
		}
	})
	g.passages.leave(way, hi)
	return nil
}

// make writes one tile to its place in dst, which starts at slice lo. The scratch's march already
// has the slices before from.
func (g *Field) make(dst []byte, lo int64, t tile, from int64, b *scratch) {
	line := g.lineLen(t.x1 - t.x0)
	for m := from; m < t.m1+g.halo; m++ {
		if g.narrow {
			g.makeNarrow(dst, lo, t, m, b)
			continue
		}
		plane := b.plane[:(t.r1-t.r0)*line]
		if g.shape.Dim() == 2 {
			g.line(plane, t, m, 0, b)
		} else {
			g.plane(plane, t, m, b)
		}
		sums := b.march.push(b.march.answer[:len(plane)], plane)
		if k := m - g.halo; k >= t.m0 {
			for r := t.r0; r < t.r1; r++ {
				g.emit(dst, k-lo, r, sums[(r-t.r0)*line:][:line], t, b)
			}
		}
	}
}

// makeNarrow makes the noise of one slice of a tile, and smoothes it along x and across slices. It
// writes the slice that this completes, smoothed along y.
func (g *Field) makeNarrow(dst []byte, lo int64, t tile, m int64, b *scratch) {
	line, y0, y1 := g.lineLen(t.x1-t.x0), int64(0), int64(1)
	flat := g.shape.Dim() == 2
	if !flat {
		y0, y1 = t.r0-g.halo, t.r1+g.halo
	}
	half := line / 2
	plane := b.plane[:(y1-y0)*half]
	for y := y0; y < y1; y++ {
		row := plane[(y-y0)*half:][:half]
		if flat {
			g.narrowLine(row, t, m, 0, b.vector)
		} else {
			g.narrowLine(row, t, y, m, b.vector)
		}
	}
	sums := b.march.push(b.march.answer[:2*len(plane)], plane)
	k := m - g.halo
	if k < t.m0 {
		return
	}
	if flat {
		g.emit(dst, k-lo, 0, sums, t, b)
		return
	}
	for y := y0; y < y1; y++ {
		row := b.rows.push(b.rows.answer[:line], sums[(y-y0)*line:][:line])
		if r := y - g.halo; r >= t.r0 {
			g.emit(dst, k-lo, r, row, t, b)
		}
	}
}

// plane computes the noise of one z, smoothed along x and y.
func (g *Field) plane(dst []uint64, t tile, z int64, b *scratch) {
	line := g.lineLen(t.x1 - t.x0)
	for y := t.r0 - g.halo; y < t.r1+g.halo; y++ {
		row, sums := b.spare[:line], b.rows.answer[:line]
		if k := y - g.halo - t.r0; k >= 0 {
			sums = dst[k*line:][:line]
		}
		g.line(row, t, y, z, b)
		b.rows.push(sums, row)
	}
}

// lineLen returns the number of words for n voxels of a row.
func (g *Field) lineLen(n int64) int64 {
	words := (n + g.lanes - 1) / g.lanes
	if g.turn > 0 {
		words = (words + lineWords - 1) / lineWords * lineWords
	}
	return words
}

// line computes the noise of one row, smoothed along x. Word i has the sum at x0+i, and in its
// upper half, if used, the sum at x0+len(dst)+i.
func (g *Field) line(dst []uint64, t tile, y, z int64, b *scratch) {
	if g.turn > 0 {
		g.vectorLine(dst, t, y, z, b.vector)
		return
	}
	start := t.x0 - g.halo
	skip := start & 3 // distance of start from a multiple of 4
	words := int64(len(dst)) + 2*g.halo
	noise := b.noise[:skip+words+(g.lanes-1)*int64(len(dst))]
	g.noise.Fill(noise, start-skip, y, z)
	wide := b.wide[:words]
	low := noise[skip:][:words]
	if g.lanes == 2 {
		high := noise[skip+int64(len(dst)):][:words]
		for i := range wide {
			wide[i] = uint64(bits.OnesCount32(low[i])) | uint64(bits.OnesCount32(high[i]))<<32
		}
	} else {
		for i := range wide {
			wide[i] = uint64(bits.OnesCount32(low[i]))
		}
	}
	for _, w := range g.widths {
		wide = box(wide, w)
	}
	copy(dst, wide)
}

// box replaces every word that begins a window of w words by the window's sum, and returns these
// words.
func box(words []uint64, w int64) []uint64 {
	if w == 1 {
		return words
	}
	var sum uint64
	for _, v := range words[:w-1] {
		sum += v
	}
	ahead := words[w-1:]
	sums := words[:len(ahead)]
	for i, v := range ahead {
		sum += v
		old := sums[i]
		sums[i] = sum
		sum -= old
	}
	return sums
}

// emit converts a row of sums to values of the image's slice.
func (g *Field) emit(dst []byte, slice, r int64, words []uint64, t tile, b *scratch) {
	size, levels := g.scale.Typ.Size(), b.levels[:int64(len(words))*g.lanes]
	at := slice*g.shape.SliceVoxels() + r*g.shape.W
	row := dst[(at+t.x0)*size : (at+t.x1)*size]
	if g.turn > 0 {
		g.vectorLevels(levels, words)
		g.vectorPut(row, levels, b.vector)
		return
	}
	g.quant.levels(levels, words, g.lanes == 2)
	g.scale.Put(row, levels[:t.x1-t.x0])
}

// A cascade runs three box filters over a sequence of lines, word by word. A new sequence needs no
// reset: each filter's sum always equals the sum of its ring, and the lines within the kernel's
// reach replace every ring. The sum of a filter is the last input of the next one's ring.
type cascade struct {
	filters *vectors.Filters // by vectors, if there are any
	narrow  bool             // lines have half the words: all sums except the last filter's have 16 bits
	widths  [3]int64
	line    int64
	past    [3][]uint64 // a ring of the last w inputs of each filter
	next    [3]int64    // index of the oldest line of each ring
	answer  []uint64    // memory for discarded results
	last    []uint64    // the previous result
}

func newCascade(f *vectors.Filters, widths [3]int64, line int64, narrow bool) *cascade {
	c := &cascade{filters: f, narrow: narrow, widths: widths, line: line, answer: make([]uint64, line+lineWords)[:line]}
	if narrow {
		c.line /= 2
	}
	for i, w := range widths {
		c.past[i] = make([]uint64, w*c.line)
	}
	return c
}

// push returns the result of the filters for a line, in to. It is centred on an earlier line, by
// the kernel's reach. It must not change until the next push. Lines may be shorter than the
// cascade's.
func (c *cascade) push(to, line []uint64) []uint64 {
	n := len(line)
	if len(c.last) != len(to) {
		for _, p := range c.past {
			clear(p)
		}
		c.last = c.answer[:len(to)]
		clear(c.last)
	}
	var old, sum [3][]uint64
	for i, w := range c.widths {
		if i > 0 {
			sum[i-1] = c.past[i][(c.next[i]+w-1)%w*c.line:][:n]
		}
		old[i] = c.past[i][c.next[i]*c.line:][:n]
		c.next[i] = (c.next[i] + 1) % w
	}
	sum[2], c.last = c.last, to
	if f := c.filters; c.narrow {
		f.PushPairs(&halves(to)[0], pairs(line), pairs(old[0]), pairs(sum[0]), pairs(old[1]), pairs(sum[1]), pairs(old[2]),
			&halves(sum[2])[0], f.Vectors(int64(n), 8))
		return to
	} else if f.Push != nil {
		f.Push(&to[0], &line[0], &old[0][0], &sum[0][0], &old[1][0], &sum[1][0], &old[2][0], &sum[2][0],
			f.Vectors(int64(n), 8))
		return to
	}
	old0, old1, old2 := old[0][:n], old[1][:n], old[2][:n]
	sum0, sum1, sum2 := sum[0][:n], sum[1][:n], sum[2][:n]
	to = to[:n]
	for i, v := range line {
		a := sum0[i] + v - old0[i]
		old0[i] = v
		b := sum1[i] + a - old1[i]
		old1[i] = a
		to[i] = sum2[i] + b - old2[i]
		old2[i] = b
	}
	return to
}
