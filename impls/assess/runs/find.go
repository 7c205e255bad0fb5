package runs

import (
	"encoding/binary"
	"math"
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/ecc/cells"
)

// A place has the number of runs of a code and of rows with them, and the first and last of its
// planes and rows.
type place struct {
	runs, rows  int64
	least, most [2]int64
	last        int64 // the row of the image after that marked last
}

// mark adds a run, in the order of rows.
func (p *place) mark(row, z, y int64) {
	if p.runs++; p.last == row+1 {
		return
	}
	p.last = row + 1
	p.join(place{rows: 1, least: [2]int64{z, y}, most: [2]int64{z, y}})
}

func (p *place) join(o place) {
	if p.rows == 0 {
		p.least, p.most = o.least, o.most
	}
	if o.rows > 0 {
		for i := range p.least {
			p.least[i], p.most[i] = min(p.least[i], o.least[i]), max(p.most[i], o.most[i])
		}
	}
	p.runs, p.rows = p.runs+o.runs, p.rows+o.rows
}

// A census is the places of each code, in each image and by slab of rows.
type census struct {
	in    *assess.Pair
	slabs [][union][]place
}

// survey finds the places of all codes, in a slab for each core. For a single set it returns nil:
// to find its place costs as much as to pack the whole images.
func survey(in *assess.Pair, cores int) *census {
	if len(in.Sets) == 1 {
		return nil
	}
	c := &census{in, make([][union][]place, cores)}
	h := in.Shape().H
	c.eachSlab(func(slab, image int) {
		of := make([]place, in.Codes())
		c.eachRun(slab, image, func(code uint16, row int64, _, _ int) { of[code].mark(row, row/h, row%h) })
		c.slabs[slab][image] = of
	})
	return c
}

// eachSlab calls do with each slab of each image.
func (c *census) eachSlab(do func(slab, image int)) {
	c.in.Fields() // unpacked now if they were packed
	crew.InTurn(len(c.slabs), union*len(c.slabs), func(_, i int) { do(i/union, i%union) })
}

// eachRun calls do with the code of each run of a slab, its row and its voxels lo ≤ x < end, except
// the background.
func (c *census) eachRun(slab, image int, do func(code uint16, row int64, lo, end int)) {
	s, f := c.in.Shape(), c.in.Fields()[image]
	size := int(f.Type().Size())
	width, all := 8*size, uint64(1)<<(8*size)-1
	rows, n := s.D*s.H, int64(len(c.slabs))
	for row := rows * int64(slab) / n; row < rows*int64(slab+1)/n; row++ {
		data := f.Data()[row*s.W*int64(size):][:s.W*int64(size)]
		code, lo := uint64(0), 0
		for x := 0; x < len(data); x += 8 {
			v, left := uint64(0), data[x:]
			if len(left) >= 8 {
				v = binary.LittleEndian.Uint64(left)
			} else {
				for i := range 8 { // repeat the last code
					v |= uint64(left[min(i, len(left)-size+i%size)]) << (8 * i)
				}
			}
			for differs := v ^ (v<<width | code); differs != 0; {
				at := bits.TrailingZeros64(differs) &^ (width - 1)
				differs &^= all << at
				next := (x + at/8) / size
				if code != 0 {
					do(uint16(code), row, lo, next)
				}
				code, lo = v>>at&all, next
			}
		}
		if code != 0 {
			do(uint16(code), row, lo, int(s.W))
		}
	}
}

// of returns the place of a code in both images.
func (c *census) of(code uint16) (p place) {
	for _, slab := range c.slabs {
		for _, of := range slab {
			p.join(of[code])
		}
	}
	return p
}

// isSparse reports whether lists of the runs of a set need less work than the bits of its place.
// The factors are measured.
func isSparse(in *assess.Pair, set assess.Set) bool {
	s := in.Shape()
	if len(in.Sets) == 1 || len(set.Codes) != 1 || s.W > mostWidth || s.D*(s.H+1) >= noRow {
		return false
	}
	at := in.Place(set)
	return 6*at.Runs < boxWords(s, at.Planes, at.Rows)+2000
}

// listBytes is the largest memory per voxel of the lists of several labels, and listedBytes that of
// a run.
const (
	listBytes   = 1
	listedBytes = 12
)

// A labelled pair is the lists of a code in both images. plane is the distance of numbers of rows
// in neighbouring planes, 0 in 2D.
type labelled struct {
	plane int32
	set   [union]*list
}

// lists returns the lists of the first of some sets of one code each: of one, or of as many as fit
// into memory.
func (c *census) lists(sets []assess.Set) []*labelled {
	s, size := c.in.Shape(), int64(0)
	of := make([]*labelled, c.in.Codes())
	var some []*labelled
	for _, set := range sets {
		code := set.Codes[0]
		if of[code] == nil {
			all := c.of(code)
			if size += listedBytes * all.runs; size > listBytes*s.Voxels() && len(some) > 0 {
				break
			}
			of[code] = &labelled{}
			if s.D > 1 {
				of[code].plane = int32(s.H + 1)
			}
			for image := range union {
				var in place
				for _, slab := range c.slabs {
					in.join(slab[image][code])
				}
				to := &list{make([]row, in.rows+1), make([]run, in.runs)}
				to.rows[in.rows] = row{noRow, int32(in.runs)}
				of[code].set[image] = to
			}
		}
		some = append(some, of[code])
	}
	c.eachSlab(func(slab, image int) {
		type end struct {
			*list
			rows, runs int
			last       int64
		}
		ends := make([]end, len(of))
		for code, l := range of {
			if l != nil {
				ends[code] = end{list: l.set[image], last: -1}
				for _, before := range c.slabs[:slab] {
					ends[code].rows += int(before[image][code].rows)
					ends[code].runs += int(before[image][code].runs)
				}
			}
		}
		c.eachRun(slab, image, func(code uint16, at int64, lo, hi int) {
			e := &ends[code]
			if e.list == nil {
				return
			}
			if e.last != at {
				e.last = at
				e.list.rows[e.rows] = row{int32(at + at/s.H), int32(e.runs)}
				e.rows++
			}
			e.list.runs[e.runs] = run{uint16(lo), uint16(hi)}
			e.runs++
		})
	})
	return some
}

// A finder finds the voxels of a set.
type finder struct {
	pair   *assess.Pair
	box    box         // without rows if the set has no voxels
	ranges [][2]uint16 // from the first to the last code: all codes of the set, and codes without voxels; or anyCode
}

// A range ends with anyCode if no code is above it.
const anyCode = math.MaxUint16

// finderOf returns the finder of a set.
func finderOf(in *assess.Pair, set assess.Set, all *census) *finder {
	s := in.Shape()
	f := &finder{pair: in}
	at := place{rows: 1, most: [2]int64{s.D - 1, s.H - 1}}
	if all != nil {
		at = place{}
	}
	isEmpty := func(code uint16) bool { return all != nil && all.of(code).runs == 0 }
	for i, code := range set.Codes {
		if all != nil {
			at.join(all.of(code))
		}
		joins := i > 0
		for c := code - 1; joins && c > set.Codes[i-1]; c-- {
			joins = isEmpty(c)
		}
		if joins {
			f.ranges[len(f.ranges)-1][1] = code
		} else {
			f.ranges = append(f.ranges, [2]uint16{code, code})
		}
	}
	if n := len(f.ranges); n > 0 && int(f.ranges[n-1][1]) == len(in.Labels)-1 {
		f.ranges[n-1][1] = anyCode
	}
	if f.box.words = int(s.W+63) / 64; len(set.Codes) > 0 && at.rows > 0 {
		f.box.z, f.box.d = int(at.least[0]), int(at.most[0]-at.least[0]+1)
		f.box.y, f.box.h = int(at.least[1]), int(at.most[1]-at.least[1]+1)
	}
	return f
}

// pack returns the mask of an image in the space, which has all voxels of its rows.
func (f *finder) pack(s *space, image int) []uint64 {
	mask := s.newMask()
	if f.pair.IsPacked() { // whole, of its only set
		for z := range s.d {
			from := f.pair.Packed(image, int64(z))
			for y := range s.h {
				copy(mask[s.row(z, y):][:s.words], from.Row(int64(y)))
			}
		}
		return mask
	}
	of := f.pair.Fields()[image]
	h, w, size := int64(s.h), of.Shape().W, of.Type().Size()
	from, most := cells.NewPlaneSet(h, w), cells.NewPlaneSet(h, w)
	for z := range s.d {
		first := (int64(z+s.z)*of.Shape().H + int64(s.y)) * w
		plane := of.Data()[first*size:][:h*w*size]
		for _, r := range f.ranges {
			upTo := from
			from.Fill(of.Type(), plane, float32(r[0]-1))
			if from.Invert(); r[1] != anyCode {
				upTo = most
				upTo.Fill(of.Type(), plane, float32(r[1]))
			}
			for y := range s.h {
				row, its := from.Row(int64(y)), upTo.Row(int64(y))
				for i, to := 0, mask[s.row(z, y):][:s.words]; i < len(to); i++ {
					to[i] |= row[i] & its[i]
				}
			}
		}
	}
	return mask
}

// boxWords returns the number of words of bits of some planes and rows, from the first to the last.
func boxWords(s grid.Shape, planes, rows [2]int64) int64 {
	d, h := min(s.D, planes[1]-planes[0]+1), min(s.H, rows[1]-rows[0]+1)
	return (d + 2) * (h + 2) * (s.W/64 + 2)
}
