// Package reductions computes Betti numbers over the field of two elements by the reductions of
// Murty 2013. A cell is reduced with one of its faces, and both are deleted, until no cell has a
// boundary. The remaining cells count, from the highest dimension down.
//
// There are three implementations. In Implementation one core processes the cells in order (section
// 4.1). In Partitions each core processes a part of the complex, and one core the cells between the
// parts (section 4.2). In Race cells compete in rounds (section 5); RaceOnDevice runs this on a
// GPU.
package reductions

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/pool"
	"eccbench/internal/quantity"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// simplexNS and simplexBytes are the estimated time and memory per simplex: lists of its faces and
// cofaces.
const (
	simplexNS    = 1500
	simplexBytes = 160
)

// The order of reductions is an option, because the paper does not specify it. The order of numbers
// is that of a loop over a map of cells. The cost of the paper's section 5 is least at free faces.
const (
	orderKey  = "pairs"
	freeFirst = "free"
	byNumber  = "numbered"
)

func options() []bench.Option {
	return []bench.Option{{Key: orderKey, Values: []string{freeFirst, byNumber},
		Doc: "which cell is next: one with a free face where there is one, else the next one by number with the face that " +
			"the fewest others have; or always the next one, with its first face"}}
}

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "reductions", Where: "cpu",
		Method: "algebraic reductions of each cell with one of its faces; over Z/2; mostly one core",
		Source: "Murty 2013, section 4.1; Kaczyński, Mrozek and Ślusarek 1998",
		Scopes: []bench.Scope{bench.E2E, bench.File}, Options: options(),
	}
}

// CanDo rejects other rings, and a complex that needs more time or memory than the conditions
// allow.
func (Implementation) CanDo(p *homology.Problem, c bench.Conditions) error { return canDo(p, c) }

func canDo(p *homology.Problem, c bench.Conditions) error {
	if p.Over != 2 {
		return fmt.Errorf("reductions of Murty 2013 are over 2, not over %v; use reduced", p.Over)
	}
	n := p.Estimate()
	work := quantity.Seconds(float64(n) * simplexNS * 1e-9)
	if err := c.Allow(work, "about %d simplices × %d ns", n, simplexNS); err != nil {
		return err
	}
	return c.AllowMemory(n*simplexBytes, "%d bytes for each of about %d simplices", simplexBytes, n)
}

// Setup binds the method to a complex.
func (Implementation) Setup(p *homology.Problem, c bench.Conditions) (bench.Job[homology.Groups], error) {
	return newJob(p, c, 1), nil
}

// stock is the memory of all jobs, which they reuse because usually one call runs at a time.
var stock pool.Stock

func newJob(p *homology.Problem, c bench.Conditions, parts int) *job {
	stock.Open()
	return &job{in: p, parts: parts, cores: max(1, c.Threads), order: c.Option(orderKey, freeFirst),
		Output: bench.PoisonedBy(homology.Poisoned())}
}

type job struct {
	in    *homology.Problem
	parts int
	cores int
	order string
	bench.Output[homology.Groups]
	longest int  // longest boundary of a cell so far
	nearer  bool // vertices were renumbered
}

// Flags reports the longest boundary of a cell, and whether vertices were renumbered.
func (j *job) Flags() []string {
	flags := []string{fmt.Sprintf("longest boundary of a cell: %d faces", j.longest)}
	if j.nearer {
		flags = append(flags, "vertices renumbered breadth first")
	}
	return flags
}

// faces returns all simplices and, with several parts, the part that contains each, or between.
func (j *job) faces(trace *bench.Trace, p *pool.Pool) (f *simplicial.Faces, owner [][]int32) {
	in := j.in.Complex
	if j.nearer = j.order == freeFirst && simplicial.Scattered(in); j.nearer {
		end := trace.Span("renumbering")
		in = simplicial.NumberBreadthFirst(p, in, j.cores)
		end()
	}
	end := trace.Span("faces")
	f = simplicial.FacesIn(p, in, j.cores)
	end()
	if j.parts > 1 {
		defer trace.Span("partition")()
		owner = owners(f, in, j.parts)
	}
	return f, owner
}

func (j *job) Do(trace *bench.Trace) error {
	p := stock.Borrow()
	defer stock.Return(p)
	f, owner := j.faces(trace, p)
	out := homology.NewGroups(len(f.Vertices))
	j.longest = 0
	// A cell with which a larger cell was reduced is deleted already.
	var deleted []bool
	if top := len(f.Vertices) - 1; top >= 0 {
		deleted = pool.Zeros[bool](p, int(f.Count(top)))
	}
	for d := len(f.Vertices) - 1; d > 0; d-- {
		end := trace.Span("reducible complex")
		r := &reducer{boundary: fixed(p, f.Boundary[d], d+1), deleted: deleted,
			faceDeleted: pool.Zeros[bool](p, int(f.Count(d-1)))}
		end()
		if owner != nil {
			end = trace.Span("reductions of parts")
			r.among(owner[d], owner[d-1], j.parts, j.order)
			end()
		}
		end = trace.Span("reducible complex")
		w := &worker{boundary: r.boundary, deleted: r.deleted, faceDeleted: r.faceDeleted}
		w.coboundary = inverted(p, r.boundary, f.Count(d-1), r.deleted, nil)
		end()
		end = trace.Span("reductions")
		w.all(j.order)
		for b, gone := range r.deleted {
			if !gone && r.boundary.spans[b].len == 0 {
				out.Betti[d]++
			}
		}
		j.longest = max(j.longest, r.longest, w.longest)
		deleted = r.faceDeleted
		pool.Give(p, f.Vertices[d])
		pool.Give(p, f.Boundary[d])
		pool.Give(p, r.boundary.spans)
		pool.Give(p, w.coboundary.spans)
		end()
	}
	for _, gone := range deleted {
		if !gone {
			out.Betti[0]++
		}
	}
	j.Last = out
	return nil
}

func (j *job) Poison() {
	j.Last = homology.Poisoned()
	p := stock.Borrow()
	defer stock.Return(p)
	p.Fill(0x5a5a5a5a5a5a5a5a)
}

// Close releases the memory.
func (j *job) Close() error {
	stock.Close()
	return nil
}

// A reducer is the cells of one dimension. It records the faces that were deleted.
type reducer struct {
	boundary             *lists
	deleted, faceDeleted []bool
	longest              int
}

// A worker reduces cells: all of a dimension, or the cells of a part with the faces inside it.
type worker struct {
	boundary, coboundary *lists
	deleted, faceDeleted []bool
	longest              int
	sum                  []uint32
	regions              [][]uint32 // by region: faces that have become free
	queue                []uint32   // regions with such faces
	free                 bool       // reduce with free faces first

	local []uint32 // numbers of faces in the part's lists; nil for all
	owner []int32  // of faces
	part  int32
}

// all reduces cells until none has a face to be reduced with. With freeFirst, cells with a free
// face (which no other cell has) go before the next cell by number; otherwise all go by number.
func (w *worker) all(order string) {
	w.free = order == freeFirst
	if w.free {
		for f := range w.coboundary.spans {
			w.freed(uint32(f))
		}
		w.drain()
	}
	for b := range w.deleted {
		w.reduce(uint32(b))
		w.drain()
	}
}

// A region is 2^regionBits consecutive faces, so that it stays in a core's cache while its cells
// are reduced.
const regionBits = 16

// freed records a free face by its number in the lists.
func (w *worker) freed(f uint32) {
	if !w.free || w.coboundary.spans[f].len != 1 {
		return
	}
	r := f >> regionBits
	if w.regions == nil {
		w.regions = make([][]uint32, (len(w.coboundary.spans)-1)>>regionBits+1)
	}
	if len(w.regions[r]) == 0 {
		w.queue = append(w.queue, r)
	}
	w.regions[r] = append(w.regions[r], f)
}

// drain reduces the cells with free faces until there are none, a region at a time. Such a
// reduction changes only the coboundaries of the cell's other faces.
func (w *worker) drain() {
	for next := 0; next < len(w.queue); next++ {
		r := w.queue[next]
		for at := 0; at < len(w.regions[r]); at++ {
			f := w.regions[r][at]
			if cells := w.coboundary.get(f); len(cells) == 1 && !w.deleted[cells[0]] {
				w.pair(cells[0], f)
			}
		}
		w.regions[r] = w.regions[r][:0]
	}
	w.queue = w.queue[:0]
}

// reduce reduces a cell with one of its faces, if possible: with the face of the fewest other
// cells, or with the first.
func (w *worker) reduce(b uint32) {
	if w.deleted[b] {
		return
	}
	least, with := uint32(math.MaxUint32), uint32(0)
	for _, a := range w.boundary.get(b) {
		if !w.inside(a) {
			continue
		}
		if n := w.coboundary.spans[w.number(a)].len; n < least {
			least, with = n, w.number(a)
		}
		if !w.free {
			break
		}
	}
	if least < math.MaxUint32 {
		w.pair(b, with)
	}
}

// pair reduces a cell with a face, given by its number in the lists. In the boundaries of other
// cells the face is replaced by the rest of the cell's boundary. Both are then deleted.
func (w *worker) pair(b, a uint32) {
	rest := w.boundary.get(b)
	around := w.coboundary.get(a)
	for _, t := range around {
		if t == b {
			continue
		}
		w.sum = difference(w.sum[:0], w.boundary.get(t), rest)
		w.longest = max(w.longest, len(w.sum))
		w.boundary.set(t, w.sum)
	}
	for _, f := range rest {
		if !w.inside(f) {
			continue
		}
		n := w.number(f)
		if n == a {
			w.faceDeleted[f] = true
			continue
		}
		if len(around) == 1 { // only the cell itself has the face
			w.coboundary.drop(n, b)
		} else {
			w.sum = difference(w.sum[:0], w.coboundary.get(n), around)
			w.coboundary.set(n, w.sum)
		}
		w.freed(n)
	}
	w.deleted[b] = true
}

// inside reports whether cells are reduced with a face: always, or only inside the part.
func (w *worker) inside(f uint32) bool { return w.owner == nil || w.owner[f] == w.part }

// number returns the number of a face in the lists.
func (w *worker) number(f uint32) uint32 {
	if w.local == nil {
		return f
	}
	return w.local[f]
}
