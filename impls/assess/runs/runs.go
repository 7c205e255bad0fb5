// Package runs compares the topology of two segmentations by runs of voxels along rows.
//
// One pass over both images lists the runs of all labels, so the cost of a label depends on its
// number of runs. They are marked in words of bits, one bit per voxel. A trunk, which is part of the
// outside or of a large component, grows on the bits. Union and find joins the runs of the other
// voxels with it and with neighbouring rows, once for each connectivity. That counts components and
// cavities of both masks and their union. Tunnels follow from the Euler characteristic, counted at
// the edges that rows share. A component of the union is matched if it has voxels of both masks. Two
// background components of the two masks are joined if they overlap. A joined component other than
// the outside is a matched cavity.
package runs

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

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
type Implementation struct{ fault Fault }

// About describes the method.
func (i Implementation) About() bench.About {
	a := bench.About{
		Name: "runs", Where: "cpu",
		Method: "union-find of runs of each label, of both masks, their union and the backgrounds; χ from the " +
			"ends of runs; all cores",
		Source: "Rosenfeld and Pfaltz 1966, Delfinado and Edelsbrunner 1995, Stucki et al. 2023",
		Scopes: []bench.Scope{bench.E2E},
	}
	if i.fault != "" {
		a.Method += "; planted fault: " + string(i.fault)
	}
	return a
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

// runBytes is the memory of a run as listed, and with its nodes in both parent lists of a mask, of the
// union and of their gaps. wordBytes is the memory of a word of the masks, the gaps, the trunks and
// the nodes.
const (
	runBytes  = 4 * 24
	wordBytes = 3 * (3*8 + 2*4)
)

// need returns the memory of the sets compared at the same time, the largest first, and of the
// lists of runs of all others. A set has three masks and their complements, each with at most as
// many runs as both images together.
func need(in *assess.Pair, cores int) (bytes int64) {
	of, s := in.Runs(), in.Shape()
	var each []int64
	for _, set := range in.Sets {
		n := of[0]
		if set.Name != assess.Everything {
			n = 0
			for _, c := range set.Codes {
				n += of[c]
			}
		}
		each = append(each, n)
	}
	slices.SortFunc(each, func(a, b int64) int { return cmp.Compare(b, a) })
	for i, n := range each {
		if i < cores {
			bytes += runBytes*n + wordBytes*(min(s.D, n)+2)*(min(s.H, n)+2)*(s.W/64+2)
		} else {
			bytes += n * int64(unsafe.Sizeof(placed{}))
		}
	}
	return bytes
}

// Setup allocates nothing: the number of runs is known only after they are found.
func (i Implementation) Setup(in *assess.Pair, c bench.Conditions) (bench.Job[assess.Comparisons], error) {
	return &job{in: in, cores: c.Cores(), fault: i.fault, out: assess.Poisoned()}, nil
}

type job struct {
	in    *assess.Pair
	cores int
	fault Fault
	out   assess.Comparisons
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("runs")
	all := find(j.in, j.in.Sets, j.cores)
	end()
	defer trace.Span("sets")()
	out := make(assess.Comparisons, len(j.in.Sets))
	atOnce := min(j.cores, len(out))
	crew.InTurn(atOnce, len(out), func(_, i int) {
		i = len(out) - 1 - i // the union, which is large, and the groups first
		for _, island := range islands(all.of(i), int32(j.in.Shape().H)) {
			if m := newMasks(j.in.Shape(), island, max(1, j.cores/atOnce)); m != nil {
				add(&out[i], m.compare(j.fault))
			}
		}
	})
	j.out = out
	return nil
}

func (j *job) Poison()                          { j.out = assess.Poisoned() }
func (j *job) Out() (assess.Comparisons, error) { return j.out, nil }
func (j *job) Close() error                     { return nil }

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
	set   [masksOfSet][]uint64
	parts [masksOfSet]*forest // components of the masks
	gaps  [masksOfSet]*forest // components of the backgrounds; the trunk is of the outside
	euler [masksOfSet][assess.Constructions]int64
}

// newMasks places the runs of both masks of a set. It returns nil for an empty set.
func newMasks(of grid.Shape, set [2][]placed, cores int) *masks {
	m := &masks{flat: of.D == 1, cores: cores, space: spaceOf(set, int32(of.H))}
	if m.d <= 0 {
		return nil
	}
	m.each(union, func(i int) { m.set[i] = m.place(set[i], int32(of.H)) })
	return m
}

// each runs tasks for each of the first n masks, in parallel.
func (m *masks) each(n int, tasks ...func(of int)) {
	crew.InTurn(m.cores, n*len(tasks), func(_, i int) { tasks[i%len(tasks)](i / len(tasks)) })
}

// joinRuns joins all runs, and joinParts those outside a large component.
func (m *masks) joinRuns(of int) { m.parts[of] = m.connect(m.set[of], nil, assess.T) }

func (m *masks) joinParts(of int) {
	trunk, left := m.inside(m.set[of])
	m.parts[of] = m.connect(left, trunk, assess.T)
	if trunk != nil {
		for k := range m.parts[of].components {
			m.parts[of].components[k]++
		}
	}
}

// joinGaps joins gaps, at corners in V, unlike the mask.
func (m *masks) joinGaps(of int) {
	trunk, left := m.outside(m.set[of], m.flat)
	m.gaps[of] = m.connect(left, trunk, assess.V)
}

func (m *masks) countEuler(of int) {
	if !m.flat { // in 2D numbers does without
		m.euler[of] = m.space.euler(m.set[of])
	}
}

// compare counts the features of the masks and the matched ones.
func (m *masks) compare(fault Fault) (c assess.Comparison) {
	m.set[union] = make([]uint64, len(m.set[pred]))
	for p, v := range m.set[pred] {
		m.set[union][p] = v | m.set[truth][p]
	}
	m.each(masksOfSet, m.joinParts, m.joinGaps, m.countEuler)
	c.Pred, c.Truth = count(m.set[pred]), count(m.set[truth])
	c.Both = c.Pred + c.Truth - count(m.set[union])
	met := m.parts[union].meetMasks(m.set[:union])
	crew.InTurn(m.cores, assess.Constructions, func(_, k int) {
		t := &c.In[k]
		t.Pred, t.Truth, t.Union = m.numbers(pred, k), m.numbers(truth, k), m.numbers(union, k)
		t.Components = m.matchedParts(met, k)
		t.Holes = m.matchedGaps(k, fault)
		if fault == SharedUnion && k == assess.T {
			t.Components = t.Union.B0
		}
	})
	return c
}

// add adds the comparison of masks that are separate from the others.
func add(to *assess.Comparison, c assess.Comparison) {
	to.Pred, to.Truth, to.Both = to.Pred+c.Pred, to.Truth+c.Truth, to.Both+c.Both
	for k, t := range c.In {
		of := &to.In[k]
		of.Components, of.Holes = of.Components+t.Components, of.Holes+t.Holes
		for i, n := range []*betti.Numbers{&of.Pred, &of.Truth, &of.Union} {
			m := []betti.Numbers{t.Pred, t.Truth, t.Union}[i]
			n.B0, n.B1, n.B2 = n.B0+m.B0, n.B1+m.B1, n.B2+m.B2
		}
	}
}

// numbers returns the Betti numbers of a mask in a construction.
func (m *masks) numbers(of, construction int) betti.Numbers {
	parts, gaps := m.parts[of].components[construction], m.gaps[of].components[construction]
	if m.flat {
		return betti.Numbers{B0: parts, B1: gaps}
	}
	return betti.Of(parts, gaps, m.euler[of][construction])
}

// matchedParts counts the components of the union that have voxels of both masks; met are the masks of
// each run.
func (m *masks) matchedParts(met []uint8, construction int) (n int64) {
	of := make([]uint8, len(met))
	for i, root := range m.parts[union].parent[construction] {
		of[root] |= met[i]
	}
	for _, both := range of {
		if both == 1<<pred|1<<truth {
			n++
		}
	}
	return n
}

// matchedGaps joins the components of both backgrounds where they overlap, and counts the joined
// ones other than the outside.
func (m *masks) matchedGaps(construction int, fault Fault) (n int64) {
	var parents [union][]int32
	for of := range parents {
		parents[of] = m.gaps[of].parent[construction]
	}
	from := int32(len(parents[pred]))
	parent := slices.Concat(parents[pred], parents[truth])
	for i := range parents[truth] {
		parent[int(from)+i] += from
	}
	unite(parent, 0, from) // the outside of both
	for of := range parents {
		own, other := m.gaps[of], 1-of
		own.meetTrunk(m.set[other], m.gaps[other].left, func(i int32) { unite(parent, int32(of)*from+i, 0) })
	}
	m.gaps[pred].meet(m.gaps[truth], func(i, j int32) { unite(parent, i, from+j) })
	flatten(parent)
	met := make([]bool, from)
	for _, root := range parent[from:] {
		if root < from && root != 0 && !met[root] {
			met[root] = true
			n++
		}
	}
	if fault == OutsideMatched {
		n++
	}
	return n
}
