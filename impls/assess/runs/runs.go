// Package runs compares the topology of two segmentations by runs of voxels along rows.
//
// Voxels are packed in words of bits, one bit per voxel. With several labels, one pass over both
// images finds the place and the runs of each first. A label with few runs in its place is a list of
// runs instead, so its cost does not depend on the size of its place. A trunk, which is part of the
// outside or of a large component, grows on the bits. Union and find
// joins the runs of the other voxels with it and with neighbouring rows, once for each connectivity.
// That counts components and cavities of both masks and their union. Tunnels follow from the Euler
// characteristic, counted at the edges that rows share. A component of the union is matched if it
// has voxels of both masks. Two background components of the two masks are joined if they overlap. A
// joined component other than the outside is a matched cavity.
package runs

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/betti"
)

// voxelNS bounds the time per voxel and core in noise, for the estimate in a rejection.
const voxelNS = 300

// mostVoxels is the largest number of voxels of an image: run numbers have 32 bits.
const mostVoxels = 1 << 31

// Implementation is ready to use.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "runs", Where: "cpu",
		Method: "union-find of runs of each label, of both masks, their union and the backgrounds; χ from the " +
			"ends of runs; all cores",
		Source: "Rosenfeld and Pfaltz 1966, Delfinado and Edelsbrunner 1995, Stucki et al. 2023",
		Scopes: []bench.Scope{bench.E2E},
	}
}

// CanDo rejects inputs that need more time or memory than the conditions allow, or have too many
// runs for 32 bits.
func (Implementation) CanDo(in *assess.Pair, c bench.Conditions) error {
	n := in.Shape().Voxels()
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9/float64(c.Cores())), "%d voxels × %d ns on %d cores",
		n, voxelNS, c.Cores()); err != nil {
		return err
	}
	if n > mostVoxels {
		return fmt.Errorf("%d voxels: want at most %d; crop the images", n, mostVoxels)
	}
	if c.Memory == 0 {
		return nil
	}
	return c.AllowMemory(
		need(in, c.Cores()), "%d bytes for each run in %d voxels", runBytes, n)
}

// runBytes is the memory of a run and its node in a mask, in the union and in their gaps.
// packedBytes is the memory of a word of both masks, and wordBytes that of a word of the union, the
// gaps, the trunks and the nodes. joinedBytes is the memory of a run whose set is compared as
// lists, and placeBytes that of a code and core.
const (
	runBytes    = 4 * 12
	packedBytes = 2 * 8
	wordBytes   = 3 * (3*8 + 2*4)
	joinedBytes = 64
	placeBytes  = 2 * (56 + 56) // of both images
)

// need returns the memory of the sets compared at the same time, the largest first. A set has three
// masks and their complements, each with at most as many runs as both images together. Masks are
// packed in the whole place of a set, and compared in parts without empty planes and rows. Lists
// are those of as many sets as fit into a part of the memory.
func need(in *assess.Pair, cores int) (bytes int64) {
	s := in.Shape()
	var dense, sparse []int64
	listed := int64(0)
	for _, set := range in.Sets {
		at := in.Place(set)
		if isSparse(in, set) {
			sparse, listed = append(sparse, joinedBytes*at.Runs), listed+listedBytes*at.Runs
			continue
		}
		planes, rows := at.Planes, at.Rows
		planes[1], rows[1] = min(planes[1], planes[0]+at.Runs-1), min(rows[1], rows[0]+at.Runs-1)
		part := boxWords(s, planes, rows)
		if len(in.Sets) == 1 { // is packed without a survey
			at.Planes, at.Rows = [2]int64{0, s.D - 1}, [2]int64{0, s.H - 1}
		}
		dense = append(dense, runBytes*at.Runs+packedBytes*boxWords(s, at.Planes, at.Rows)+wordBytes*part)
	}
	largest := func(each []int64) (sum int64) {
		slices.SortFunc(each, func(a, b int64) int { return cmp.Compare(b, a) })
		for _, n := range each[:min(cores, len(each))] {
			sum += n
		}
		return sum
	}
	most := max(listBytes*s.Voxels(), listedBytes*slices.Max(append(sparse, 0))/joinedBytes)
	bytes = max(largest(dense), largest(sparse)+min(listed, most))
	if len(in.Sets) > 1 {
		bytes += int64(in.Codes()*cores) * placeBytes
	}
	return bytes
}

// Setup allocates nothing: the number of runs is known only after they are found.
func (Implementation) Setup(in *assess.Pair, c bench.Conditions) (bench.Job[assess.Comparisons], error) {
	return &job{in: in, cores: c.Cores(), Output: bench.PoisonedBy(assess.Poisoned())}, nil
}

type job struct {
	in    *assess.Pair
	cores int
	bench.Output[assess.Comparisons]
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("survey")
	all := survey(j.in, j.cores)
	end()
	defer trace.Span("sets")()
	out := make(assess.Comparisons, len(j.in.Sets))
	var dense, sparse []int // the sets
	var ofSparse []assess.Set
	for i, set := range slices.Backward(j.in.Sets) { // the union, which is large, and the groups first
		if isSparse(j.in, set) {
			sparse, ofSparse = append(sparse, i), append(ofSparse, set)
		} else {
			dense = append(dense, i)
		}
	}
	atOnce := min(j.cores, max(1, len(dense)))
	crew.InTurn(atOnce, len(dense), func(_, k int) {
		i := dense[k]
		if f := finderOf(j.in, j.in.Sets[i], all); f.box.d > 0 {
			newMasks(f, f.box, max(1, j.cores/atOnce)).islands(func(island *masks) { out[i].Add(island.compare()) })
		}
	})
	by := make([]lists, j.cores)
	for len(sparse) > 0 {
		of := all.lists(ofSparse)
		crew.InTurn(j.cores, len(of), func(worker, k int) { out[sparse[k]] = by[worker].compare(*of[k]) })
		sparse, ofSparse = sparse[len(of):], ofSparse[len(of):]
	}
	j.Last = out
	return nil
}

// The masks of a set of labels.
const (
	pred = iota
	truth
	union
	masksOfSet
)

// masks are the masks of a set of labels, within the bounding box of the set.
type masks struct {
	flat  bool
	cores int
	space
	set    [masksOfSet][]uint64
	parts  [masksOfSet]*forest // components of the masks
	gaps   [masksOfSet]*forest // components of the backgrounds; the trunk is of the outside
	euler  [masksOfSet][assess.Constructions]int64
	voxels [masksOfSet]int64
	met    []uint8 // the masks that meet each node of the union
}

// newMasks packs both masks of a set in a box.
func newMasks(f *finder, b box, cores int) *masks {
	m := &masks{flat: f.pair.Shape().D == 1, cores: cores, space: newSpace(b)}
	m.each(union, func(i int) { m.set[i] = f.pack(&m.space, i) })
	return m
}

// islands calls do with each of the parts of the masks between planes without voxels along z and y. Numbers of
// the masks are sums over the islands.
func (m *masks) islands(do func(*masks)) {
	has := make([]bool, m.d*m.h)
	m.eachRow(func(z, y, first int) {
		for p := first; p < first+m.words && !has[z*m.h+y]; p++ {
			has[z*m.h+y] = m.set[pred][p]|m.set[truth][p] != 0
		}
	})
	cut([2]span{{0, m.d}, {0, m.h}}, func(z, y int) bool { return has[z*m.h+y] }, func(in [2]span) {
		do(m.part(box{z: in[0].lo, d: in[0].hi - in[0].lo, y: in[1].lo, h: in[1].hi - in[1].lo}))
	})
}

// A span is the numbers lo ≤ i < hi.
type span struct{ lo, hi int }

// cut calls do with each part of some planes and rows that empty planes along z or y separate.
func cut(in [2]span, has func(z, y int) bool, do func([2]span)) {
	for axis, of := range in {
		filled := make([]bool, of.hi+1)
		for z := in[0].lo; z < in[0].hi; z++ {
			for y := in[1].lo; y < in[1].hi; y++ {
				if has(z, y) {
					filled[[2]int{z, y}[axis]] = true
				}
			}
		}
		var spans []span
		for i := of.lo; i < of.hi; i++ {
			if first := i; filled[i] {
				for ; filled[i]; i++ {
				}
				spans = append(spans, span{first, i})
			}
		}
		if len(spans) == 1 && spans[0] == of {
			continue
		}
		for _, s := range spans {
			part := in
			part[axis] = s
			cut(part, has, do)
		}
		return
	}
	do(in)
}

// part returns the masks in a box, from the first voxel of all rows to the last.
func (m *masks) part(b box) *masks {
	some := make([]uint64, m.words) // of all rows, or of enough to know the first voxel and the last word
	for row := 0; row < b.d*b.h && (some[0]&1 == 0 || some[m.words-1] == 0); row++ {
		for p, first := 0, m.row(b.z+row/b.h, b.y+row%b.h); p < m.words; p++ {
			some[p] |= m.set[pred][first+p] | m.set[truth][first+p]
		}
	}
	first, last := 0, m.words-1
	for ; some[first] == 0; first++ {
	}
	for ; some[last] == 0; last-- {
	}
	by := bits.TrailingZeros64(some[first])
	b.words = (64*(last-first)+bits.Len64(some[last])-1-by)/64 + 1
	if b == (box{d: m.d, h: m.h, words: m.words}) {
		return m
	}
	to := &masks{flat: m.flat, cores: m.cores, space: newSpace(b)}
	for i, mask := range m.set[:union] {
		to.set[i] = to.newMask()
		to.eachRow(func(z, y, row int) {
			for p, from := row, m.row(b.z+z, b.y+y)+first; p < row+b.words; p, from = p+1, from+1 {
				to.set[i][p] = mask[from]>>by | mask[from+1]<<(64-by)
			}
		})
	}
	return to
}

// each runs tasks for each of the first n masks, in parallel: the largest first, which are the first task and the last
// mask.
func (m *masks) each(n int, tasks ...func(of int)) {
	crew.InTurn(m.cores, n*len(tasks), func(_, i int) { tasks[i/n](n - 1 - i%n) })
}

// joinRuns joins all runs, and joinParts those outside a large component. The nodes of one mask alone
// are not needed after they are counted.
func (m *masks) joinRuns(of int) { m.parts[of] = m.connect(m.set[of], nil, assess.T) }

func (m *masks) joinParts(of int) {
	trunk, left := m.inside(m.set[of], m.voxels[of])
	m.parts[of] = m.connect(left, trunk, assess.T)
	if trunk != nil {
		for k := range m.parts[of].components {
			m.parts[of].components[k]++
		}
	}
	if of == union {
		m.met = m.parts[of].meetMasks(m.set[pred], m.set[truth])
	} else {
		m.parts[of] = &forest{components: m.parts[of].components}
	}
}

// joinGaps joins gaps, at corners in V, unlike the mask. The nodes of the union are not needed.
func (m *masks) joinGaps(of int) {
	trunk, left := m.outside(m.set[of], m.flat)
	m.gaps[of] = m.connect(left, trunk, assess.V)
	if of == union {
		m.gaps[of] = &forest{components: m.gaps[of].components}
	}
}

func (m *masks) countEuler(of int) {
	if !m.flat { // in 2D numbers does without
		m.euler[of] = m.space.euler(m.set[of])
	}
}

// compare counts the features of the masks and the matched ones.
func (m *masks) compare() (c assess.Comparison) {
	m.unite()
	m.each(masksOfSet, m.joinParts, m.joinGaps, m.countEuler)
	c.Pred, c.Truth = m.voxels[pred], m.voxels[truth]
	c.Both = c.Pred + c.Truth - m.voxels[union]
	crew.InTurn(m.cores, assess.Constructions, func(_, k int) {
		t := &c.In[k]
		t.Pred, t.Truth, t.Union = m.numbers(pred, k), m.numbers(truth, k), m.numbers(union, k)
		t.Components = countMatched(m.parts[union].parent[k], m.met)
		t.Holes = m.matchedGaps(k)
	})
	return c
}

// unite makes the union, and counts the voxels of all masks.
func (m *masks) unite() {
	words := len(m.set[pred])
	m.set[union] = grid.NewValues[uint64](int64(words))
	voxels := make([][masksOfSet]int64, m.cores)
	crew.Each(m.cores, func(part int) {
		lo, hi := words*part/m.cores, words*(part+1)/m.cores
		a, b, both := m.set[pred][lo:hi], m.set[truth][lo:hi], m.set[union][lo:hi]
		for i, v := range a {
			w := v | b[i]
			both[i] = w
			voxels[part][pred] += int64(bits.OnesCount64(v))
			voxels[part][truth] += int64(bits.OnesCount64(b[i]))
			voxels[part][union] += int64(bits.OnesCount64(w))
		}
	})
	for _, counts := range voxels {
		for of, n := range counts {
			m.voxels[of] += n
		}
	}
}

// numbers returns the Betti numbers of a mask in a construction.
func (m *masks) numbers(of, construction int) betti.Numbers {
	parts, gaps := m.parts[of].components[construction], m.gaps[of].components[construction]
	if m.flat {
		return betti.Numbers{B0: parts, B1: gaps}
	}
	return betti.NewNumbers(parts, gaps, m.euler[of][construction])
}

// countMatched counts the components with voxels of both masks. met are the masks that meet each
// node.
func countMatched(parent []int32, met []uint8) (n int64) {
	of := make([]uint8, len(met))
	for i, root := range parent {
		of[root] |= met[i]
	}
	for _, both := range of {
		if both == 3 {
			n++
		}
	}
	return n
}

// matchedGaps joins the components of both backgrounds where they overlap, and counts the joined
// ones other than the outside.
func (m *masks) matchedGaps(construction int) int64 {
	p, t := m.gaps[pred], m.gaps[truth]
	o := newOverlaps(p.parent[construction], t.parent[construction])
	p.meetTrunk(m.set[truth], t.left, func(i int32) { o.meet(i, 0) })
	t.meetTrunk(m.set[pred], p.left, func(k int32) { o.meet(0, k) })
	p.meet(t, o.meet)
	return o.count()
}

// Overlaps join the components of the backgrounds of both masks. Node 0 of each is the outside.
type overlaps struct {
	parent []int32
	from   int32 // node 0 of the truth
}

func newOverlaps(pred, truth []int32) *overlaps {
	o := &overlaps{slices.Concat(pred, truth), int32(len(pred))}
	for i := range truth {
		o.parent[int(o.from)+i] += o.from
	}
	o.meet(0, 0)
	return o
}

// meet joins nodes of the prediction and of the truth that share voxels.
func (o *overlaps) meet(i, k int32) { unite(o.parent, i, o.from+k) }

// count returns the number of joined components of both other than the outside.
func (o *overlaps) count() (n int64) {
	flatten(o.parent)
	met := make([]bool, o.from)
	for _, root := range o.parent[o.from:] {
		if root < o.from && root != 0 && !met[root] {
			met[root] = true
			n++
		}
	}
	return n
}
