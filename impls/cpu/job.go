package cpu

import (
	"math"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

type job struct {
	plan
	in      grid.Source
	convert grid.Converter
	cores   []*core
	total   []int64 // the changes of all cores, one per level
	fault   Fault
}

// A core is the state of one goroutine.
type core struct {
	slices  [3][]int32 // levels of three consecutive slices, with a border
	slab    []byte     // slices read ahead from a streamed source
	lo, hi  int64      // the slices in slab
	changes []int64    // nil if the job's total is shared
	waste              // see slow.go
}

// outside is the level of voxels around the image. It is above every level, so that such voxels
// introduce no cell and take none from voxels inside.
const outside = math.MaxInt32

func newJob(in grid.Source, p plan, fault Fault) *job {
	if fault == SwappedAxes && !p.flat {
		p.h, p.w = p.w, p.h
	}
	j := &job{plan: p, in: in, convert: grid.NewConverter(in.Type(), in.Ladder()), total: make([]int64, p.levels),
		fault: fault}
	for range p.threads {
		c := &core{slab: grid.NewBuffer(p.slab * p.h * p.w * p.size)}
		for i := range c.slices {
			c.slices[i] = make([]int32, p.rows()*(p.w+2))
			for k := range c.slices[i] {
				c.slices[i][k] = outside
			}
		}
		if !p.shared {
			c.changes = make([]int64, p.levels)
		}
		j.cores = append(j.cores, c)
	}
	return j
}

// rows returns the number of rows of a slice with its border. A slice of a 2D image is a single
// row.
func (p plan) rows() int64 {
	if p.flat {
		return 1
	}
	return p.h + 2
}

func (j *job) Do(trace *bench.Trace) error {
	if j.shared {
		clear(j.total)
	}
	err := crew.Work(len(j.cores), int(grid.CeilDiv(j.n, j.chunk)), func(i int, next func() (int, bool)) error {
		c := j.cores[i]
		clear(c.changes)
		for k, ok := next(); ok; k, ok = next() {
			lo := int64(k) * j.chunk
			if err := j.count(c, lo, min(lo+j.chunk, j.n), trace); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !j.shared {
		defer trace.Span("reduce")()
		j.reduce()
	}
	return nil
}

// reduce sums the tables of all cores.
func (j *job) reduce() {
	clear(j.total)
	cores, levels := j.cores, j.total
	switch j.fault {
	case LostPartial: // the first that counted something: on a busy machine, others may have nothing
		for len(cores) > 1 && !slices.ContainsFunc(cores[0].changes, func(n int64) bool { return n != 0 }) {
			cores = cores[1:]
		}
		cores = cores[1:]
	case DroppedLevel:
		levels = levels[:len(levels)-1]
	}
	for _, c := range cores {
		for k := range levels {
			levels[k] += c.changes[k]
		}
	}
}

// count adds the cells that the voxels of slices lo ≤ z < hi introduce.
func (j *job) count(c *core, lo, hi int64, trace *bench.Trace) error {
	c.lo, c.hi = 0, 0
	before := lo - 1
	if j.fault == HaloOffByOne {
		before = lo
	}
	if err := j.load(c, 0, before, lo, hi, trace); err != nil {
		return err
	}
	if err := j.load(c, 1, lo, lo, hi, trace); err != nil {
		return err
	}
	earlier := int32(0)
	if j.fault == TieRule {
		earlier = 1
	}
	for z := lo; z < hi; z++ {
		if err := j.load(c, 2, z+1, lo, hi, trace); err != nil {
			return err
		}
		end := trace.Span("count")
		s := &c.slices
		if j.flat {
			j.row(c.changes, s[0], s[1], s[2], earlier)
		} else {
			j.plane(c.changes, s[0], s[1], s[2], earlier)
		}
		c.repeat(j, c, z)
		end()
		s[0], s[1], s[2] = s[1], s[2], s[0]
	}
	return nil
}

// load fills one of the core's bordered slices with the levels of slice z. It reads a streamed
// source ahead, up to the slice after the chunk lo..hi.
func (j *job) load(c *core, into int, z, lo, hi int64, trace *bench.Trace) error {
	dst, stride, first := c.slices[into], j.w+2, int64(1)
	if j.flat {
		first = 0
	}
	if z < 0 || z >= j.n {
		for y := range j.h {
			row := dst[(y+first)*stride+1:][:j.w]
			for x := range row {
				row[x] = outside
			}
		}
		return nil
	}
	if err := grid.Ended(j.in); err != nil {
		return err
	}
	size := j.h * j.w * j.size
	slab, at := j.resident, z
	if slab == nil {
		if z < c.lo || z >= c.hi {
			end := trace.Span("read")
			c.lo, c.hi = z, min(z+j.slab, hi+1, j.n)
			if err := j.in.ReadSlab(c.slab[:(c.hi-c.lo)*size], c.lo, c.hi); err != nil {
				return err
			}
			end()
		}
		slab, at = c.slab, z-c.lo
	}
	defer trace.Span("convert")()
	plane := slab[at*size : (at+1)*size]
	for y := range j.h {
		j.convert.Convert(dst[(y+first)*stride+1:][:j.w], plane[y*j.w*j.size:(y+1)*j.w*j.size])
	}
	return nil
}

func (j *job) Poison() {
	bench.PoisonEach(j.total)
	for _, c := range j.cores {
		bench.PoisonEach(c.changes)
	}
}

func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.total), nil }

func (j *job) Close() error { return nil }
