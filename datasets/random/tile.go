package random

import (
	"runtime"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// A tile is a box of an image that is smoothed in one task: slices m0…m1−1, rows r0…r1−1 of each
// (one in 2D, where a slice is a row) and columns x0…x1−1.
type tile struct{ m0, m1, r0, r1, x0, x1 int64 }

// A tiling cuts a slab into tiles of at most size.
type tiling struct {
	slab tile // m0 = lo, m1 = hi, all rows and columns
	size [3]int64
}

// tiles chooses the size of the tiles. They are large compared with the margins that the kernel
// reads around them. For a small kernel the planes in the cascade fit the L2 cache, and for a large
// one they use at most 48 MiB. Thick slabs are cut into pieces that keep all processors busy.
func (g *Field) tiles(lo, hi int64) tiling {
	const (
		cache   = 3 << 16 // words
		most    = 6 << 20 // words
		columns = 512
	)
	pieces := 8 * int64(runtime.GOMAXPROCS(0)) // so that the processors finish at about the same time
	t := tiling{slab: tile{lo, hi, 0, 1, 0, g.shape.W}}
	x := even(g.shape.W, columns)
	rows := int64(1)
	if g.shape.Dim() == 3 {
		t.slab.r1 = g.shape.H
		line := g.lineLen(x)
		perRow, margin := (g.widths[0]+g.widths[1]+g.widths[2]+2)*line, int64(0)
		if g.narrow {
			perRow, margin = (g.widths[0]+g.widths[1]+g.widths[2]+3)*line/2, 2*g.halo
		}
		rows = even(g.shape.H, max(1, min(max(cache/perRow-margin, 4*g.halo), most/perRow)))
	} else {
		x = even(g.shape.W, 8*columns)
	}
	t.size = [3]int64{max(hi-lo, 1), rows, x}
	if n := t.count(); n > 0 && n < pieces {
		cuts := (pieces + n - 1) / n
		t.size[0] = max((hi-lo+cuts-1)/cuts, 16*g.halo, 16)
	}
	return t
}

// even returns the length of pieces that cut n into the fewest of at most size, of nearly equal
// length.
func even(n, size int64) int64 {
	return grid.CeilDiv(n, grid.CeilDiv(n, size))
}

// counts returns the number of tiles along each axis.
func (t tiling) counts() (m, r, x int64) {
	return grid.CeilDiv(t.slab.m1-t.slab.m0, t.size[0]), grid.CeilDiv(t.slab.r1, t.size[1]), grid.CeilDiv(t.slab.x1,
		t.size[2])
}

func (t tiling) count() int64 {
	m, r, x := t.counts()
	return m * r * x
}

func (t tiling) tile(i int64) tile {
	_, nr, nx := t.counts()
	m0 := t.slab.m0 + i/(nr*nx)*t.size[0]
	r0 := i / nx % nr * t.size[1]
	x0 := i % nx * t.size[2]
	return tile{
		m0, min(m0+t.size[0], t.slab.m1),
		r0, min(r0+t.size[1], t.slab.r1),
		x0, min(x0+t.size[2], t.slab.x1),
	}
}

// A scratch is the working memory of one goroutine that makes tiles.
type scratch struct {
	noise  []uint32
	wide   []uint64 // a line with its margins
	spare  []uint64 // a line of the margin of a plane
	plane  []uint64
	levels []uint32
	rows   *cascade // along y within a plane, nil in 2D
	march  *cascade // from slice to slice, of the current tile
	vector *vectorScratch
}

func (g *Field) newScratch(t tiling) *scratch {
	line := g.lineLen(t.size[2])
	b := &scratch{
		noise:  make([]uint32, g.lanes*line+2*g.halo+3),
		wide:   make([]uint64, line+2*g.halo),
		spare:  make([]uint64, line),
		plane:  make([]uint64, g.pastWords(t)+lineWords),
		levels: make([]uint32, g.lanes*line+2*vectors.MaxTurn)[:g.lanes*line],
	}
	if g.shape.Dim() == 3 {
		b.rows = newCascade(&g.filters, g.widths, line, false)
	}
	if g.turn > 0 {
		b.vector = g.newVectorScratch(line)
	}
	return b
}

// newMarch returns the cascade from slice to slice of a tile.
func (g *Field) newMarch(t tiling) *cascade {
	return newCascade(&g.filters, g.widths, g.marchWords(t), g.narrow)
}

// marchWords is the size of a slice of its sums in words. It includes the rows of the margins if
// the cascade runs before rows are smoothed along y.
func (g *Field) marchWords(t tiling) int64 {
	rows := t.size[1]
	if g.narrow && g.shape.Dim() == 3 {
		rows += 2 * g.halo
	}
	return rows * g.lineLen(t.size[2])
}

// pastWords is the size of an input slice of the cascade in words.
func (g *Field) pastWords(t tiling) int64 {
	if g.narrow {
		return g.marchWords(t) / 2
	}
	return g.marchWords(t)
}

// marchBytes is the size of one cascade in bytes: the past slices of each filter, and the result.
func (g *Field) marchBytes(t tiling) int64 {
	return ((g.widths[0]+g.widths[1]+g.widths[2])*g.pastWords(t) + g.marchWords(t)) * 8
}
