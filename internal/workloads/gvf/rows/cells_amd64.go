//go:build amd64 && !noasm

package rows

import "eccbench/internal/isa"

func kit(name string) *Kit {
	switch name {
	case isa.AVX512:
		return vectors{begin512, relax512, remain512, rest512, blend512, turn512, advance512, dot512, [2]uint64{0x5555, 0xaaaa}}.kit()
	case isa.AVX2:
		return vectors{begin256, relax256, remain256, rest256, blend256, turn256, advance256, dot256, [2]uint64{0x00000000ffffffff, 0xffffffff00000000}}.kit()
	}
	return &portable
}

// vectors holds the functions of an instruction set, and its masks of the two colours.
type vectors struct {
	begin     func(u, f, diag *float32, n int, colour uint64)
	relax     func(u, north, south, below, above, f, diag, link, width *float32, n int, along, linkNorth, linkSouth, linkBelow, linkAbove float32, colour uint64)
	remain    func(to, u, north, south, below, above, f, diag, link, width *float32, n int, along, linkNorth, linkSouth, linkBelow, linkAbove float32)
	rest      func(sums *float64, to, u, north, south, below, above, link, width, over, b, v0 *float32, n int, along, linkNorth, linkSouth, linkBelow, linkAbove, scale float64)
	blend     func(dst, a, b, c, d *float32, n int, wa, wb, wc, wd float32)
	turn, add func(to, from *float32, n int, by float32)
	dot       func(sums *float64, a, b *float32, n int)
	colours   [2]uint64
}

// first returns the address of n values. n must be a multiple of Lanes, so that the values fill
// whole vectors of each instruction set.
func first(list []float32, n int) *float32 {
	if n%Lanes != 0 {
		panic("rows: a row of cells is no whole number of vectors")
	}
	return &list[:n][0]
}

// pointers returns the addresses of the row, its four neighbouring rows, its links and its widths.
func (r *Row) pointers() (u, north, south, below, above, link, width *float32) {
	if r.At < 1 || r.At+r.N >= len(r.U) {
		panic("rows: a row of cells has no place before its first or behind its last")
	}
	of := func(at int) *float32 { return first(r.U[at:], r.N) }
	_ = r.Link[r.N]
	return of(r.At), of(r.North), of(r.South), of(r.Below), of(r.Above), first(r.Link, r.N), first(r.Width, r.N)
}

func (v vectors) kit() *Kit {
	return &Kit{
		Begin: func(r *Row, colour int) {
			v.begin(first(r.U[r.At:], r.N), first(r.F, r.N), first(r.Diag, r.N), r.N, v.colours[colour])
		},
		Relax: func(r *Row, colour int) {
			u, north, south, below, above, link, width := r.pointers()
			v.relax(u, north, south, below, above, first(r.F, r.N), first(r.Diag, r.N), link, width, r.N, r.Along, r.LinkNorth, r.LinkSouth, r.LinkBelow, r.LinkAbove, v.colours[colour])
		},
		Remain: func(r *Row, to []float32) {
			u, north, south, below, above, link, width := r.pointers()
			v.remain(first(to, r.N), u, north, south, below, above, first(r.F, r.N), first(r.Diag, r.N), link, width, r.N, r.Along, r.LinkNorth, r.LinkSouth, r.LinkBelow, r.LinkAbove)
		},
		Rest: func(r *Row, of *Rest) (squares, product float64) {
			sums := &of.Sums
			u, north, south, below, above, link, width := r.pointers()
			v.rest(&sums[0], first(of.To, r.N), u, north, south, below, above, link, width, first(of.Over, r.N), first(of.B, r.N), first(of.V0, r.N), r.N,
				float64(r.Along), float64(r.LinkNorth), float64(r.LinkSouth), float64(r.LinkBelow), float64(r.LinkAbove), of.Scale)
			return total(sums[:partial]), total(sums[partial:])
		},
		Blend: func(dst []float32, from *[4][]float32, share *[4]float32) {
			n := len(dst)
			v.blend(first(dst, n), first(from[0], n), first(from[1], n), first(from[2], n), first(from[3], n), n, share[0], share[1], share[2], share[3])
		},
		Turn:    func(d, z []float32, keep float32) { v.turn(first(d, len(d)), first(z, len(d)), len(d), keep) },
		Advance: func(x, d []float32, step float32) { v.add(first(x, len(x)), first(d, len(x)), len(x), step) },
		Dot: func(a, b []float32, sums *Sums) float64 {
			v.dot(&sums[0], first(a, len(a)), first(b, len(a)), len(a))
			return total(sums[:partial])
		},
	}
}
