// Package duality computes the Betti numbers of tetrahedra in space without a boundary matrix.
//
// The number of components is the number of vertices minus the number of edges that join two
// components. Triangles of only one tetrahedron form the boundary. If the boundary is a surface,
// the complex is a manifold, and its Euler characteristic is half of that of the boundary. Each
// surface separates space into an inside and an outside. So, by Alexander duality, the number of
// cavities is the number of surfaces minus one per component (Delfinado and Edelsbrunner 1995). The
// tunnels follow from the Euler characteristic. Such a complex has no torsion, so the numbers are
// the same over every ring.
//
// No list of edges or triangles is sorted. Triangles are distributed to buckets by their lowest
// vertex. Each bucket is a small hash table in which a repeated triangle meets its first copy.
// Cores process parts of the tetrahedra, then buckets.
package duality

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/homology"
)

// Estimated nanoseconds and bytes per tetrahedron (four triangles and an orientation), and bytes
// per vertex.
const (
	tetrahedronNS    = 300
	tetrahedronBytes = 4*8 + 1 + 8
	vertexBytes      = 8 + 4 + 4
)

// Maximum number of bits of a vertex number, and minimum number of bits within a bucket.
const (
	mostBits    = 26
	leastBucket = 11 // bits
)

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("duality",
		"tetrahedra in space: components of the vertices and of the boundary surface, half of its χ; all cores",
		"doc/proofs/homology.md, Delfinado and Edelsbrunner 1995")
}

// CanDo rejects a complex that is no list of tetrahedra in space, needs more time or memory than
// the conditions allow, or is no manifold. To detect the last case, it looks for the boundary once
// per complex, or leaves that to Do for a single answer.
func (Implementation) CanDo(p *homology.Problem, c bench.Conditions) error {
	if err := inSpace(p); err != nil {
		return err
	}
	if p.Vertices > 1<<mostBits {
		return fmt.Errorf("%d vertices, and duality supports at most %d; use reduced", p.Vertices, 1<<mostBits)
	}
	n, cores := p.Given(), max(1, c.Threads)
	if err := c.Allow(quantity.Seconds(float64(n)*tetrahedronNS*1e-9/float64(cores)), "%d tetrahedra × %d ns on %d cores",
		n, tetrahedronNS, cores); err != nil {
		return err
	}
	if err := c.AllowMemory(n*tetrahedronBytes+vertexBytes*int64(p.Vertices), "%d bytes for each of %d tetrahedra",
		tetrahedronBytes, n); err != nil {
		return err
	}
	if c.Once {
		return nil
	}
	return p.Try(func() error { return newJob(p, c).examine() })
}

// inSpace returns an error unless the complex is a list of tetrahedra in space.
func inSpace(p *homology.Problem) error {
	if p.Dim() != 3 || len(p.Points) == 0 {
		return errors.New("duality needs tetrahedra with coordinates; use reduced")
	}
	for d := range 3 {
		if len(p.Tops[d]) > 0 {
			return fmt.Errorf("duality needs tetrahedra alone, and some simplices of dimension %d are in none; use "+
				"reduced", d)
		}
	}
	return nil
}

// Setup allocates the buckets.
func (Implementation) Setup(p *homology.Problem, c bench.Conditions) (bench.Job[homology.Groups], error) {
	return newJob(p, c), nil
}

func newJob(p *homology.Problem, c bench.Conditions) *job {
	j := &job{in: p, tets: p.Tops[3], cores: max(1, c.Threads), Output: bench.PoisonedBy(homology.Poisoned())}
	j.bits = uint(max(1, bits.Len(uint(p.Vertices-1))))
	j.bucket(bucketBits(j.bits))
	j.parent = grid.NewValues[uint32](int64(p.Vertices))
	j.rounded = grid.NewValues[uint64](int64(p.Vertices))
	j.side = make([]uint8, len(j.tets)/4)
	j.words = grid.NewValues[uint64](int64(len(j.tets)))
	j.used = make([][]uint64, j.cores)
	for k := range j.used {
		j.used[k] = make([]uint64, (p.Vertices+63)/64)
	}
	return j
}

// bucketBits returns the number of bits of a vertex that differ within a bucket, so that a triangle
// and its orientation fit a word.
func bucketBits(width uint) uint { return min(62-2*width, width-min(width, leastBucket)) }

// bucket prepares buckets of vertices that differ in the given number of low bits.
func (j *job) bucket(low uint) {
	j.low = low
	j.buckets = (j.in.Vertices-1)>>low + 1
	j.next = make([]uint32, j.cores*j.buckets)
	j.start = make([]uint32, j.buckets+1)
}

type job struct {
	in      *homology.Problem
	tets    []uint32
	cores   int
	bits    uint // bits of a vertex number
	low     uint // bits that differ within a bucket
	buckets int
	parent  crew.Parents // of each vertex: another vertex of its component
	rounded []uint64     // coordinates of each vertex
	side    []uint8      // orientation of each tetrahedron: the side of its greatest vertex
	words   []uint64     // the triangles, by bucket
	start   []uint32     // of each bucket
	next    []uint32     // of each core: where its next triangle of a bucket goes
	used    [][]uint64   // of each core: a bit for each vertex in its tetrahedra
	bench.Output[homology.Groups]
}

// spread runs a function for all cores at the same time.
func (j *job) spread(f func(core int) error) error {
	return crew.Try(j.cores, j.cores, func(_, core int) error { return f(core) })
}

// share returns a core's part of n items.
func (j *job) share(core, n int) (lo, hi int) { return n * core / j.cores, n * (core + 1) / j.cores }

// examine returns an error unless the boundary is a surface.
func (j *job) examine() error {
	lists, err := j.boundary(nil)
	if err == nil {
		_, _, err = j.surfaces(lists)
	}
	return err
}

// boundary returns the triangles of one tetrahedron alone, by core.
func (j *job) boundary(trace *bench.Trace) ([][]uint64, error) {
	end := trace.Span("triangles")
	if err := j.sort(); err != nil {
		return nil, err
	}
	end()
	defer trace.Span("boundary")()
	lists := make([][]uint64, j.cores)
	return lists, j.spread(func(core int) (err error) { lists[core], err = j.unmatched(core); return err })
}

func (j *job) Do(trace *bench.Trace) error {
	lists, err := j.boundary(trace)
	if err != nil {
		return bench.Refuse(err)
	}
	// One core processes the surfaces, and joins vertices afterwards.
	defer trace.Span("surfaces and components")()
	for v := range j.parent {
		j.parent[v] = uint32(v)
	}
	var surfaces, chi int64
	var taken atomic.Int64
	joined := make([]int64, j.cores)
	err = j.spread(func(core int) (err error) {
		if core == 0 {
			surfaces, chi, err = j.surfaces(lists)
		}
		joined[core] = j.join(core, &taken)
		return err
	})
	if err != nil {
		return bench.Refuse(err)
	}
	b0 := int64(0)
	for w := range j.used[0] {
		all := uint64(0)
		for _, used := range j.used {
			all |= used[w]
		}
		b0 += int64(bits.OnesCount64(all))
	}
	for _, n := range joined {
		b0 -= n
	}
	b2 := surfaces - b0
	j.Last = homology.Groups{Betti: []int64{b0, b0 + b2 - chi/2, b2, 0}, Torsion: make([][]uint64, 4)}
	return nil
}

// atOnce is the number of tetrahedra that a core joins per turn.
const atOnce = 1 << 14

// join joins the vertices of tetrahedra that no core has taken yet, and returns the number of
// successful unions.
func (j *job) join(core int, taken *atomic.Int64) (n int64) {
	used := j.used[core]
	clear(used)
	tets := int64(len(j.tets) / 4)
	for {
		hi := taken.Add(atOnce)
		if hi-atOnce >= tets {
			return n
		}
		n += j.joinSome(j.tets[4*(hi-atOnce):4*min(hi, tets)], used)
	}
}

func (j *job) joinSome(tets []uint32, used []uint64) (n int64) {
	for ; len(tets) >= 4; tets = tets[4:] {
		s := (*[4]uint32)(tets)
		root := j.parent.Find(s[0])
		used[s[0]/64] |= 1 << (s[0] % 64)
		for _, v := range s[1:] {
			used[v/64] |= 1 << (v % 64)
			other := j.parent.Find(v)
			for root != other { // like crew.Parents.Unite, without a call per vertex
				low, high := min(root, other), max(root, other)
				if atomic.CompareAndSwapUint32(&j.parent[high], high, low) {
					n++
					root = low
					break
				}
				root, other = j.parent.Find(low), j.parent.Find(high)
			}
		}
	}
	return n
}

func (j *job) Poison() {
	j.Last = homology.Poisoned()
	for i := range j.words {
		j.words[i] = 0x5a5a5a5a5a5a5a5a
	}
}
