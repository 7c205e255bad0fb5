package reductions

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// Race is ready to use as its zero value.
type Race struct{}

// The margin is the extra cost, compared with the cheapest reduction of a round, up to which a
// reduction is tried in the same round. The paper does not specify it.
const (
	marginKey  = "margin"
	marginFree = "8"
)

func margins() []bench.Option {
	return []bench.Option{{Key: marginKey, Values: []string{marginFree, "0", "2", "4", "16", "32", "64"},
		Doc: "by how much a reduction may cost more, in entries of lists, than the cheapest one of a round to be tried in " +
			"it"}}
}

// About describes the method.
func (Race) About() bench.About {
	return bench.About{
		Name: "race", Where: "cpu",
		Method: "rounds of algebraic reductions: cells within a margin of the cheapest race for their neighbours, and " +
			"each winner is reduced; over Z/2; all cores",
		Source: "Murty 2013, section 5, algorithms 2 to 4; Nasre, Burtscher and Pingali 2013",
		Scopes: []bench.Scope{bench.E2E, bench.File}, Options: margins(),
	}
}

// CanDo rejects other rings, and a complex that needs more time or memory than the conditions
// allow.
func (Race) CanDo(p *homology.Problem, c bench.Conditions) error { return canDo(p, c) }

// Setup binds the method to a complex.
func (Race) Setup(p *homology.Problem, c bench.Conditions) (bench.Job[homology.Groups], error) {
	margin, err := strconv.Atoi(c.Option(marginKey, marginFree))
	if err != nil {
		return nil, err
	}
	return &raceJob{in: p, cores: max(1, c.Threads), margin: uint32(margin),
		Output: bench.PoisonedBy(homology.Poisoned())}, nil
}

type raceJob struct {
	in     *homology.Problem
	cores  int
	margin uint32
	bench.Output[homology.Groups]
	rounds int
	// Longest boundary of a cell so far.
	longest int
	// Ties are broken by cell numbers instead of random lots.
	numbered bool
}

// Rounds reduces a complex, and returns the number of rounds and the longest boundary of a cell.
// The margin and the rule for ties are arguments.
func Rounds(c *simplicial.Complex, margin uint32, numbered bool) (rounds, longest int, err error) {
	j := &raceJob{in: &homology.Problem{Complex: c, Over: 2}, cores: 1, margin: margin, numbered: numbered}
	err = j.Do(nil)
	return j.rounds, j.longest, err
}

// Flags reports the longest boundary of a cell and the number of rounds.
func (j *raceJob) Flags() []string {
	return []string{fmt.Sprintf("longest boundary of a cell: %d faces", j.longest), fmt.Sprintf("%d rounds", j.rounds)}
}

func (j *raceJob) Do(trace *bench.Trace) error {
	out := homology.NewGroups(len(j.in.Tops))
	j.rounds, j.longest = 0, 0
	var cells []uint32
	for d := len(j.in.Tops) - 1; d >= 0; d-- {
		if d == len(j.in.Tops)-1 {
			cells = simplicial.Distinct(nil, j.in.Tops[d], d, j.in.Vertices, j.cores)
		}
		if d == 0 {
			out.Betti[0] = int64(len(cells))
			break
		}
		end := trace.Span("faces")
		faces, boundary := simplicial.Below(nil, cells, j.in.Tops[d-1], d-1, j.in.Vertices, j.cores)
		r := newRound(boundary, d+1, len(faces)/d, j)
		end()
		end = trace.Span("reductions")
		out.Betti[d] = r.all()
		end()
		cells = cells[:0]
		for f, gone := range r.faceReduced {
			if !gone {
				cells = append(cells, faces[f*d:(f+1)*d]...)
			}
		}
	}
	j.Last = out
	return nil
}

// A racing is the cells of a dimension with their faces during the reductions.
type racing struct {
	*raceJob
	boundary, coboundary [][]uint32
	reduced, faceReduced []bool
	cost                 []uint32 // of each cell with its cheapest face, or a special value (see unknown)
	with                 []uint32 // that face
	lock, faceLock       []uint32 // the cell that may change them
	alive                []uint32
}

// compacted is the number of rounds after which the list of cells is compacted.
const compacted = 16

// Special costs: not known yet; and for a cell that is reduced or has no face to be reduced with.
const (
	unknown = 0
	never   = math.MaxUint32
)

func newRound(boundary []uint32, k, faces int, j *raceJob) *racing {
	n := len(boundary) / k
	r := &racing{
		raceJob: j, boundary: make([][]uint32, n), coboundary: make([][]uint32, faces), reduced: make([]bool, n),
		faceReduced: make([]bool, faces),
		cost:        make([]uint32, n), with: make([]uint32, n), lock: make([]uint32, n), faceLock: make([]uint32, faces),
		alive: make([]uint32, n),
	}
	of := fixed(nil, boundary, k)
	above := inverted(nil, of, int64(faces), nil, nil)
	for c := range r.boundary {
		r.boundary[c] = slices.Clip(of.get(uint32(c)))
		r.alive[c] = uint32(c)
	}
	for f := range r.coboundary {
		r.coboundary[f] = slices.Clip(above.get(uint32(f)))
	}
	return r
}

// all reduces cells in rounds until none can be reduced, and counts the cells without a boundary.
func (r *racing) all() (irreducible int64) {
	mine, longest := make([][]uint32, r.cores), make([]int, r.cores)
	for {
		least := r.costs()
		if least == never {
			break
		}
		r.rounds++
		limit := least + r.margin
		if limit < least {
			limit = never - 1
		}
		r.each(r.alive, func(core int, cells []uint32) {
			mine[core] = mine[core][:0]
			for _, c := range cells {
				if r.cost[c] <= limit {
					mine[core] = append(mine[core], c)
				}
			}
		})
		r.spread(func(core int) { r.race(mine[core]) })
		r.spread(func(core int) { r.check(mine[core]) })
		r.spread(func(core int) { mine[core] = slices.DeleteFunc(mine[core], func(c uint32) bool { return !r.owns(c) }) })
		r.spread(func(core int) { longest[core] = r.reduce(mine[core]) })
		r.longest = max(r.longest, slices.Max(longest))
		r.spread(func(core int) { r.tell(mine[core]) })
		if r.rounds%compacted == 0 {
			r.alive = slices.DeleteFunc(r.alive, func(c uint32) bool { return r.reduced[c] })
		}
	}
	for c, gone := range r.reduced {
		if !gone && len(r.boundary[c]) == 0 {
			irreducible++
		}
	}
	return irreducible
}

func (r *racing) spread(f func(core int)) {
	var group crew.Group
	for core := range r.cores {
		group.Go(func() { f(core) })
	}
	group.Wait()
}

// each divides a list among the cores.
func (r *racing) each(list []uint32, f func(core int, part []uint32)) {
	r.spread(func(core int) { f(core, list[len(list)*core/r.cores:len(list)*(core+1)/r.cores]) })
}

// costs computes the unknown costs, and returns the least of all.
func (r *racing) costs() uint32 {
	least := slices.Repeat([]uint32{never}, r.cores)
	r.each(r.alive, func(core int, cells []uint32) {
		for _, c := range cells {
			if r.cost[c] == unknown {
				r.cost[c], r.with[c] = r.cheapest(c)
			}
			least[core] = min(least[core], r.cost[c])
		}
	})
	return slices.Min(least)
}

// cheapest returns the least cost of a reduction of a cell (equation 5.1) and its face. The cost is
// the number of list entries that are read.
func (r *racing) cheapest(b uint32) (cost, with uint32) {
	cost = never
	if r.reduced[b] {
		return cost, 0
	}
	faces := r.boundary[b]
	all := 0
	for _, f := range faces {
		all += len(r.coboundary[f])
	}
	for _, a := range faces {
		around := len(r.coboundary[a])
		n := (len(faces)-1)*around + all - around + (around-1)*len(faces) - len(faces)
		for _, u := range r.coboundary[a] {
			n += len(r.boundary[u])
		}
		if n := uint32(min(max(n, unknown+1), never-1)); n < cost {
			cost, with = n, a
		}
	}
	return cost, with
}

// priority is larger for the cell that goes first: the cheaper one, then by lots that change in
// each round.
func (r *racing) priority(c uint32) (cost uint32, lot uint64) {
	if r.numbered {
		return never - r.cost[c], uint64(c)
	}
	return never - r.cost[c], mix(uint64(r.rounds)<<32 | uint64(c))
}

// mix is the mixing function of SplitMix64, which draws the lots.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *racing) precedes(a, b uint32) bool {
	ca, la := r.priority(a)
	cb, lb := r.priority(b)
	return ca > cb || ca == cb && (la > lb || la == lb && a > b)
}

// changed calls f with the locks of everything that the reduction of a cell changes: the boundaries
// around its face, and the coboundaries of its faces.
func (r *racing) changed(b uint32, f func(lock *uint32) bool) bool {
	for _, t := range r.coboundary[r.with[b]] {
		if !f(&r.lock[t]) {
			return false
		}
	}
	for _, g := range r.boundary[b] {
		if !f(&r.faceLock[g]) {
			return false
		}
	}
	return true
}

// race makes each cell claim everything that it would change, regardless of other claims.
func (r *racing) race(cells []uint32) {
	for _, b := range cells {
		r.changed(b, func(lock *uint32) bool { atomic.StoreUint32(lock, b); return true })
	}
}

// check makes each cell take over the claims of cells with lower priority.
func (r *racing) check(cells []uint32) {
	for _, b := range cells {
		r.changed(b, func(lock *uint32) bool {
			for has := atomic.LoadUint32(lock); has != b && r.precedes(b, has); has = atomic.LoadUint32(lock) {
				if atomic.CompareAndSwapUint32(lock, has, b) {
					break
				}
			}
			return true
		})
	}
}

// owns reports whether a cell has all its claims.
func (r *racing) owns(b uint32) bool {
	return r.changed(b, func(lock *uint32) bool { return *lock == b })
}

// reduce reduces cells that own their claims, and returns the longest resulting boundary.
func (r *racing) reduce(cells []uint32) (longest int) {
	var sum []uint32
	for _, b := range cells {
		a := r.with[b]
		rest, around := r.boundary[b], r.coboundary[a]
		for _, t := range around {
			if t == b {
				continue
			}
			sum = difference(sum[:0], r.boundary[t], rest)
			r.boundary[t] = append(r.boundary[t][:0], sum...)
			longest = max(longest, len(sum))
		}
		for _, f := range rest {
			if f != a {
				sum = difference(sum[:0], r.coboundary[f], around)
				r.coboundary[f] = append(r.coboundary[f][:0], sum...)
			}
		}
		r.reduced[b] = true
		r.faceReduced[a] = true
	}
	return longest
}

// tell marks changed costs as unknown, after all reductions of a round.
func (r *racing) tell(cells []uint32) {
	around := func(f uint32) {
		for _, c := range r.coboundary[f] {
			atomic.StoreUint32(&r.cost[c], unknown)
		}
	}
	for _, b := range cells {
		for _, f := range r.boundary[b] {
			around(f)
		}
		for _, t := range r.coboundary[r.with[b]] {
			atomic.StoreUint32(&r.cost[t], unknown)
			for _, f := range r.boundary[t] {
				around(f)
			}
		}
	}
}
