package runs

import (
	"math/bits"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// A forest stores the connected components of the runs of a mask along rows. A run that shares faces
// with an earlier one has its node. Node 0 is the trunk: connected voxels that are no runs.
type forest struct {
	*space
	left  []uint64 // the voxels of the runs
	at    []int    // the first words of the planes with runs
	base  []int32  // by word with voxels: the number of runs that start before it
	nodes []int32  // of the runs, in the order of rows
	// parent is the least node of the component of each node, by construction.
	parent [assess.Constructions][]int32
	// components is the number of components by construction, without that of the trunk.
	components [assess.Constructions]int64
}

// A joint joins nodes at faces in one parent list, and at edges and corners alone in the other. The
// lists have room for a node per run.
type joint struct {
	*forest
	faces, corners []int32
	runs, count    int // of runs and of nodes so far
}

// none is the node of a run that is not joined.
const none = -1

// connect finds the components of the runs and the trunk. Voxels that touch at corners are joined in
// construction at only. trunk is nil if there is none.
func (s *space) connect(left, trunk []uint64, at int) *forest {
	planes, runs := s.planes(left)
	list := grid.NewValues[int32]
	f := &forest{space: s, left: left, at: planes, base: list(int64(len(left))), nodes: list(runs)}
	j := joint{forest: f, faces: list(runs + 1), corners: list(runs + 1), count: 1}
	for _, first := range f.at {
		j.joinPlane(first, trunk)
	}
	j.faces, j.corners = j.faces[:j.count], j.corners[:j.count]
	flatten(j.faces)
	for i, p := range j.faces {
		unite(j.corners, int32(i), p)
	}
	flatten(j.corners)
	f.parent[at], f.parent[1-at] = j.corners, j.faces
	for k, parent := range f.parent {
		for i, p := range parent[1:] {
			if p == int32(i+1) {
				f.components[k]++
			}
		}
	}
	return f
}

// run returns the run of voxel x of word p, −1 ≤ x ≤ 64.
func (f *forest) run(p, x int) int32 {
	switch {
	case x < 0:
		p, x = p-1, 63
	case x > 63:
		p, x = p+1, 0
	}
	return f.base[p] + int32(bits.OnesCount64(starts(f.left, p)&(2<<uint(x)-1))) - 1
}

// node returns the node of the run of a voxel.
func (f *forest) node(p, x int) int32 { return f.nodes[f.run(p, x)] }

// joinPlane joins the runs of a plane with those before them and with the trunk. A run that is not joined in its first
// word is a node.
//
// One link across faces is enough for voxels that two rows share in a run. A link with the plane before is skipped next
// to a square of four rows: the other three links imply it.
func (j *joint) joinPlane(first int, trunk []uint64) {
	rows := func(from int) []uint64 { return j.left[from-1:][:j.h*j.stride+2] }
	onC, onB := first-j.stride, first-j.plane
	own, c, b, d := rows(first), rows(onC), rows(onB), rows(onB-j.stride)
	c, b, d = c[:len(own)], b[:len(own)], d[:len(own)]
	base, nodes := j.base[first-1:][:len(own)], j.nodes
	for i := 1; i < len(own)-1; i++ {
		v := own[i]
		if v == 0 {
			continue
		}
		starts := v &^ (v<<1 | own[i-1]>>63)
		run, end := j.runs, j.runs+bits.OnesCount64(starts)
		base[i], j.runs = int32(run), end
		unset := nodes[run:end]
		for k := range unset {
			unset[k] = none
		}
		withC, withB := v&c[i], v&b[i]
		implied := withB & c[i] & d[i]
		implied |= withB &^ (withB + implied) // the carry runs to the end of a run
		if links := withC &^ (withC<<1 | own[i-1]&c[i-1]>>63); links != 0 {
			j.join(run, starts, onC+i-1, c[i]&^(c[i]<<1|c[i-1]>>63), links)
		}
		if links := withB &^ (withB>>1 | implied); links != 0 {
			j.join(run, starts, onB+i-1, b[i]&^(b[i]<<1|b[i-1]>>63), links)
		}
		for k, node := range unset {
			if node == none {
				n := j.count
				unset[k], j.faces[n], j.corners[n] = int32(n), int32(n), int32(n)
				j.count++
			}
		}
		if withC&withB != v {
			j.joinCorners(first + i - 1)
		}
		if trunk != nil {
			j.joinTrunk(trunk, first+i-1)
		}
	}
}

// join joins the runs from a number on, which have the given starts, with runs of word q at some
// voxels.
func (j *joint) join(run int, own uint64, q int, its, voxels uint64) {
	nodes, m, n := j.nodes, run-1, int(j.base[q])-1
	for ; voxels != 0; voxels &= voxels - 1 {
		upTo := voxels ^ (voxels - 1)
		a, b := &nodes[m+bits.OnesCount64(own&upTo)], nodes[n+bits.OnesCount64(its&upTo)]
		if *a == none {
			*a = b
		} else if *a != b {
			unite(j.faces, *a, b)
		}
	}
}

// joinCorners joins the runs of word p with runs before it that share edges or corners alone. A link is left out if a
// third voxel touches both: links across faces, then those across edges imply it.
func (j *joint) joinCorners(p int) {
	m, onC, onB := j.left, p-j.stride, p-j.plane
	onD, onE, onNext := onB-j.stride, onB+j.stride, p+j.stride // c and next are between them and the row, and b
	v, c, b, d, e, next := m[p], m[onC], m[onB], m[onD], m[onE], m[onNext]
	freeC, freeB := v&^c, v&^b
	// low and high are voxels whose neighbours x − 1 and x + 1 in another row are linked.
	low, high := before(m, p), after(m, p)
	beforeC, afterC, beforeB, afterB := before(m, onC), after(m, onC), before(m, onB), after(m, onB)
	lowC, highC := freeC&beforeC&^low, freeC&afterC&^high
	lowB, highB := freeB&beforeB&^low, freeB&afterB&^high
	low, high = low|beforeB, high|afterB
	freeD, freeE := freeB&freeC, freeB&^next
	lowD := freeD &^ d & before(m, onD) &^ (low | beforeC)
	highD := freeD &^ d & after(m, onD) &^ (high | afterC)
	lowE := freeE &^ e & before(m, onE) &^ (low | before(m, onNext))
	highE := freeE &^ e & after(m, onE) &^ (high | after(m, onNext))
	if lowC|highC|lowB|highB|lowD|freeD&d|highD|lowE|freeE&e|highE != 0 {
		j.joinBeside(p, onC, lowC, 0, highC)
		j.joinBeside(p, onB, lowB, 0, highB)
		j.joinBeside(p, onD, lowD, freeD&d, highD)
		j.joinBeside(p, onE, lowE, freeE&e, highE)
	}
}

// joinBeside joins runs of word p with those at x − 1, x and x + 1 of word q, at corners.
func (j *joint) joinBeside(p, q int, low, at, high uint64) {
	for by, voxels := range [3]uint64{low, at &^ (at << 1), high} {
		for ; voxels != 0; voxels &= voxels - 1 {
			x := bits.TrailingZeros64(voxels)
			unite(j.corners, j.node(p, x), j.node(q, x+by-1))
		}
	}
}

// joinTrunk joins runs of word p with the trunk where they touch it.
func (j *joint) joinTrunk(trunk []uint64, p int) {
	stride, plane := j.stride, j.plane
	near := before(trunk, p) | after(trunk, p) | trunk[p-stride] | trunk[p+stride] | trunk[p-plane] | trunk[p+plane]
	var lesser, own, greater uint64
	for _, q := range [9]int{p - plane - stride, p - plane, p - plane + stride, p - stride, p, p + stride,
		p + plane - stride, p + plane, p + plane + stride} {
		lesser, own, greater = lesser|trunk[q-1], own|trunk[q], greater|trunk[q+1]
	}
	around := own | own<<1 | own>>1 | lesser>>63 | greater<<63
	for v := around & j.left[p]; v != 0; v &= v - 1 {
		x := bits.TrailingZeros64(v)
		n := j.node(p, x)
		if unite(j.corners, n, 0); near>>x&1 == 1 {
			unite(j.faces, n, 0)
		}
	}
}

// eachRun calls f with the node, the row and the voxels lo ≤ x < hi of each run.
func (f *forest) eachRun(do func(node int32, z, y, lo, hi int)) {
	run := 0
	f.eachRow(func(z, y, first int) {
		for i := range f.words {
			for s := starts(f.left, first+i); s != 0; s &= s - 1 {
				lo := 64*i + bits.TrailingZeros64(s)
				n, p := bits.TrailingZeros64(^(f.left[first+i] >> (lo % 64))), first+i
				hi := min(lo+n, 64*(i+1))
				for ; hi%64 == 0 && f.left[p+1]&1 == 1; p++ {
					hi += bits.TrailingZeros64(^f.left[p+1])
				}
				do(f.nodes[run], z, y, lo, hi)
				run++
			}
		}
	})
}

// meet calls do with the nodes of runs of both forests that share voxels.
func (f *forest) meet(o *forest, do func(mine, its int32)) {
	for _, first := range f.at {
		for p := first; p < first+f.h*f.stride; p++ {
			for v := common(f.left, p, o.left, p); v != 0; v &= v - 1 {
				x := bits.TrailingZeros64(v)
				do(f.node(p, x), o.node(p, x))
			}
		}
	}
}

// meetMasks returns, for each node, a bit for each of two masks that shares voxels with it, or with
// its component. The runs and the trunk have all voxels of the masks. It looks up one run of each
// component of a mask, and some others.
func (f *forest) meetMasks(masks ...[]uint64) []uint8 {
	met := make([]uint8, len(f.parent[0]))
	first, end := f.ends()
	for k, mask := range masks {
		own, row, plane := mask[first:end], mask[first-f.stride:], mask[first-f.plane:]
		row, plane = row[:len(own)], plane[:len(own)]
		last := uint64(0)
		for i, v := range own {
			alone := v &^ (row[i] | plane[i])
			ends, more := bits.Add64(alone, alone&^(v<<1|last>>63), 0) // the carry runs to the end of a run
			for at := ends&^(alone|v)>>1 | more<<63; at != 0; at &= at - 1 {
				node := int32(0)
				if f.left[first+i]&at&-at != 0 {
					node = f.node(first+i, bits.TrailingZeros64(at))
				}
				met[node] |= 1 << k
			}
			last = v
		}
	}
	return met
}

// meetTrunk calls do with the nodes of runs that share voxels with the trunk of the gaps of a mask. left are
// the gaps without the trunk.
func (f *forest) meetTrunk(mask, left []uint64, do func(mine int32)) {
	for _, first := range f.at {
		for p := first; p < first+f.h*f.stride; p++ {
			for v := f.left[p] &^ (mask[p] | left[p]); v != 0; v &= v - 1 {
				do(f.node(p, bits.TrailingZeros64(v)))
			}
		}
	}
}

// unite merges the components of two nodes with Rem's algorithm (Dijkstra 1976). A parent is at
// most its node.
func unite(parent []int32, a, b int32) {
	for parent[a] != parent[b] {
		if parent[a] < parent[b] {
			a, b = b, a
		}
		p := parent[a]
		if parent[a] = parent[b]; p == a {
			return
		}
		a = p
	}
}

// flatten makes the parent of each node the least node of its component.
func flatten(parent []int32) {
	for i, p := range parent {
		parent[i] = parent[p]
	}
}
