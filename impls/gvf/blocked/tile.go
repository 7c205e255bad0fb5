package blocked

import "eccbench/internal/workloads/gvf/rows"

// A span is positions lo ≤ i < hi of an axis.
type span struct{ lo, hi int }

// wider extends a span by a margin, within an axis of n.
func (s span) wider(margin, n int) span { return span{max(0, s.lo-margin), min(n, s.hi+margin)} }

// A tile is a range of planes z, rows y and columns x.
type tile struct{ z, y, x span }

// lead is the number of values before a row of a tile. One of them is the neighbour of the first
// voxel; the others align the voxels to vectors.
const lead = 16

// slots is the number of planes that are kept per level: one and its two neighbours.
const slots = 3

// A core is the state of one goroutine.
type core struct {
	*job
	levels []float32 // for each level except the last: the planes that the next level needs
	step   rows.Step
}

// run computes the steps of a pass for one tile. Level l is the field after l steps. It is needed
// with a margin of as many voxels as there are further steps. A plane of a level is computed as
// soon as the level before has the planes around it, so level l is l planes behind.
func (c *core) run(t tile, p pass) {
	x0, y0 := t.x.wider(p.depth, c.w), t.y.wider(p.depth, c.h)
	stride, plane, need := room(x0, y0, p.depth)
	if len(c.levels) < need {
		c.levels = make([]float32, need)
	}
	// at returns the index of the first voxel of a plane of a level.
	at := func(level, z int) int { return (level*slots+z%slots)*plane + lead }
	for now := t.z.wider(p.depth, c.n).lo; now < t.z.hi+p.depth; now++ {
		for level := range p.depth + 1 {
			margin := p.depth - level
			z, zs := now-level, t.z.wider(margin, c.n)
			if z < zs.lo || z >= zs.hi {
				continue
			}
			ys, xs := t.y.wider(margin, c.h), t.x.wider(margin, c.w)
			if level == 0 {
				for y := ys.lo; y < ys.hi; y++ {
					copy(c.levels[at(0, z)+(y-y0.lo)*stride:][:xs.hi-xs.lo], p.from[(z*c.h+y)*c.w+xs.lo:])
				}
			} else {
				c.plane(p, level, z, ys, xs, y0.lo, x0.lo, stride, at)
			}
			if level < p.depth {
				c.border(c.levels[at(level, z)-lead:], ys, xs, y0.lo, x0.lo, stride)
			}
		}
	}
}

// room returns the memory layout for a number of steps: the length of a row, of a plane, and of all
// levels.
func room(x, y span, depth int) (stride, plane, all int) {
	stride = lead + (x.hi-x.lo+lead)/lead*lead
	plane = (y.hi - y.lo) * stride
	return stride, plane, depth*slots*plane + lead
}

// border sets the neighbours beyond the first and the last column of a level's rows.
func (c *core) border(plane []float32, ys, xs span, y0, x0, stride int) {
	before, after := c.borderNeighbours(c.w)
	for y := ys.lo; y < ys.hi; y++ {
		row := plane[(y-y0)*stride:]
		if xs.lo == 0 {
			row[lead-1] = row[lead+before]
		}
		if xs.hi == c.w {
			row[lead+c.w-x0] = row[lead+after-x0]
		}
	}
}

// borderNeighbours returns the positions of the neighbours beyond the ends of an axis of n.
func (c *core) borderNeighbours(n int) (before, after int) {
	return int(c.p.Boundary.Before(int64(n))), int(c.p.Boundary.After(int64(n)))
}

// neighbours returns the positions before and after position i of an axis of n.
func (c *core) neighbours(i, n int) (before, after int) {
	first, last := c.borderNeighbours(n)
	before, after = i-1, i+1
	if i == 0 {
		before = first
	}
	if i == n-1 {
		after = last
	}
	return before, after
}

// plane computes rows and columns of a plane of a level from the level before.
func (c *core) plane(p pass, level, z int, ys, xs span, y0, x0, stride int, at func(level, z int) int) {
	s := &c.step
	n, m := c.neighbours(z, c.n)
	column := xs.lo - x0
	here, below, above := at(level-1, z)+column, at(level-1, n)+column, at(level-1, m)+column
	s.N, s.Mu, s.Stride, s.FieldStride = xs.hi-xs.lo, c.p.Mu, stride, c.w
	for y := ys.lo; y < ys.hi; {
		// Group rows whose neighbours have the same distances.
		s.Count = 1
		if y > 0 && y < c.h-1 {
			s.Count = min(ys.hi, c.h-1) - y
		}
		row := (y - y0) * stride
		s.V = c.levels[here+row-1:]
		if c.flat {
			s.North, s.South = c.levels[below:], c.levels[above:]
		} else {
			n, m := c.neighbours(y, c.h)
			s.North, s.South = c.levels[here+(n-y0)*stride:], c.levels[here+(m-y0)*stride:]
			s.Below, s.Above = c.levels[below+row:], c.levels[above+row:]
		}
		field := (z*c.h+y)*c.w + xs.lo
		s.V0, s.B = p.v0[field:], p.b[field:]
		if level == p.depth {
			s.Dst, s.DstStride = p.to[field:], c.w
		} else {
			s.Dst, s.DstStride = c.levels[at(level, z)+column+row:], stride
		}
		c.kernel(s)
		y += s.Count
	}
}

// A cut is the division of a field into tiles, and the number of steps per pass.
type cut struct{ depth, planes, rows, columns int }

// tileBytes is the size of a tile with its margin: the planes of its levels, and as many planes of
// V0 and b. It leaves room in a second-level cache of 2 MiB.
const tileBytes = 1536 << 10

// cutting chooses a cut.
func cutting(n, h, w, threads int, flat bool) cut {
	c := cut{depth: 8, columns: min(w, 256)}
	if flat {
		c = cut{depth: 16, columns: min(w, 4096)}
	}
	c.rows = tileBytes/(4*c.depth*(slots+2)*(c.columns+3*lead)) - 2*c.depth
	c.rows = max(1, min(max(8, c.rows), h))
	// Divide the planes so that all cores are busy and margins stay a small part.
	across, best := len(pieces(h, c.rows))*len(pieces(w, c.columns)), 0.0
	for parts := 1; parts == 1 || n/parts >= 2*c.depth; parts++ {
		tiles, planes := across*parts, (n+parts-1)/parts
		turns := (tiles + threads - 1) / threads
		if share := float64(tiles) / float64(turns*threads) * float64(planes) / float64(planes+c.depth-1); share > best ||
			parts == 1 {
			c.planes, best = planes, share
		}
	}
	return c
}

// tiles lists the tiles of a field.
func (c cut) tiles(n, h, w int) (list []tile) {
	for _, z := range pieces(n, c.planes) {
		for _, y := range pieces(h, c.rows) {
			for _, x := range pieces(w, c.columns) {
				list = append(list, tile{z, y, x})
			}
		}
	}
	return list
}

// pieces divides an axis of n into nearly equal spans of at most the given length.
func pieces(n, most int) (list []span) {
	count := (n + most - 1) / most
	for i := range count {
		list = append(list, span{n * i / count, n * (i + 1) / count})
	}
	return list
}
