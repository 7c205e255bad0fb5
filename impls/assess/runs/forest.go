package runs

import (
	"math/bits"

	"eccbench/internal/workloads/assess"
)

// A forest stores the connected components of the runs of a mask along rows: node i + 1 is run i,
// in the order of rows. Node 0 is the trunk: connected voxels that are no runs.
type forest struct {
	*space
	left   []uint64 // the voxels of the runs
	base   []int32  // by word: the node of the first run that starts in it
	parent [assess.Constructions][]int32
	// components is the number of components by construction, without that of the trunk.
	components [assess.Constructions]int64
}

// A joint joins the runs of a forest that share faces in one parent list, and all touching runs in
// the other.
type joint struct {
	*forest
	faces, corners []int32
}

// connect finds the components of the runs and the trunk. Runs that touch at corners are joined in
// construction at only. trunk is nil if there is none.
func (s *space) connect(left, trunk []uint64, at int) *forest {
	f := &forest{space: s, left: left, base: make([]int32, len(left))}
	n := int32(1)
	first, end := s.ends()
	for p := first; p < end; p++ {
		f.base[p] = n
		if left[p] != 0 {
			n += int32(bits.OnesCount64(starts(left, p)))
		}
	}
	for k := range f.parent {
		f.parent[k] = make([]int32, n)
		for i := range f.parent[k] {
			f.parent[k][i] = int32(i)
		}
	}
	j := joint{f, f.parent[1-at], f.parent[at]}
	for p := first; p < end; p++ {
		if left[p] == 0 {
			continue
		}
		j.joinFaces(p)
		j.joinCorners(p)
		if trunk != nil {
			j.joinTrunk(trunk, p)
		}
	}
	for k, parent := range f.parent {
		flatten(parent)
		for i, p := range parent[1:] {
			if p == int32(i+1) {
				f.components[k]++
			}
		}
	}
	return f
}

// node returns the node of voxel x of word p, −1 ≤ x ≤ 64.
func (f *forest) node(p, x int) int32 {
	switch {
	case x < 0:
		p, x = p-1, 63
	case x > 63:
		p, x = p+1, 0
	}
	return f.base[p] + int32(bits.OnesCount64(starts(f.left, p)&(2<<uint(x)-1))) - 1
}

// joinFaces joins the runs of word p with runs of the row and of the plane before. One link is
// enough for voxels that two rows share in a run. The last link of a square of four rows is left
// out: the other three imply it.
func (j joint) joinFaces(p int) {
	l := j.left
	c, b := p-j.stride, p-j.plane
	j.join(common(l, p, l, c), p, c)
	j.join(common(l, p, l, b)&^(l[c]&l[b-j.stride]), p, b)
}

// join joins the runs of some voxels of word p with those at the same voxels of word q.
func (j joint) join(voxels uint64, p, q int) {
	if voxels == 0 {
		return
	}
	own, its, m, n := starts(j.left, p), starts(j.left, q), j.base[p]-1, j.base[q]-1
	for ; voxels != 0; voxels &= voxels - 1 {
		upTo := voxels ^ (voxels - 1)
		a, b := m+int32(bits.OnesCount64(own&upTo)), n+int32(bits.OnesCount64(its&upTo))
		unite(j.faces, a, b)
		unite(j.corners, a, b)
	}
}

// joinCorners joins the runs of word p with runs before it that share edges or corners alone. A link
// is left out if a third voxel touches both: links across faces, then those across edges imply it.
func (j joint) joinCorners(p int) {
	l := j.left
	c, b, next := p-j.stride, p-j.plane, p+j.stride
	v, vc, vb := l[p], l[c], l[b]
	j.joinBeside(v&^vc, p, c, p, p)
	j.joinBeside(v&^vb, p, b, p, p)
	j.joinAcross(v&^(vb|vc), p, b-j.stride, c, b)
	j.joinAcross(v&^(vb|l[next]), p, b+j.stride, next, b)
}

// joinAcross joins runs of rows that only share edges along x, and their neighbours. two and three
// are the words between.
func (j joint) joinAcross(free uint64, p, q, two, three int) {
	if free == 0 || j.left[q-1]|j.left[q]|j.left[q+1] == 0 {
		return
	}
	same := free & j.left[q]
	for same &^= same << 1; same != 0; same &= same - 1 {
		x := bits.TrailingZeros64(same)
		unite(j.corners, j.node(p, x), j.node(q, x))
	}
	j.joinBeside(free&^j.left[q], p, q, two, three)
}

// joinBeside joins the free voxels of word p with voxels x − 1 and x + 1 of word q, unless the
// run at p, or words two or three, have a voxel there.
func (j joint) joinBeside(free uint64, p, q, two, three int) {
	l := j.left
	if free == 0 || l[q-1]|l[q]|l[q+1] == 0 {
		return
	}
	for v := free & before(l, q) &^ (before(l, p) | before(l, two) | before(l, three)); v != 0; v &= v - 1 {
		x := bits.TrailingZeros64(v)
		unite(j.corners, j.node(p, x), j.node(q, x-1))
	}
	for v := free & after(l, q) &^ (after(l, p) | after(l, two) | after(l, three)); v != 0; v &= v - 1 {
		x := bits.TrailingZeros64(v)
		unite(j.corners, j.node(p, x), j.node(q, x+1))
	}
}

// joinTrunk joins runs of word p with the trunk where they touch it.
func (j joint) joinTrunk(trunk []uint64, p int) {
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
	node := int32(0)
	f.eachRow(func(z, y, first int) {
		for i := range f.words {
			for s := starts(f.left, first+i); s != 0; s &= s - 1 {
				lo := 64*i + bits.TrailingZeros64(s)
				n, p := bits.TrailingZeros64(^(f.left[first+i] >> (lo % 64))), first+i
				hi := min(lo+n, 64*(i+1))
				for ; hi%64 == 0 && f.left[p+1]&1 == 1; p++ {
					hi += bits.TrailingZeros64(^f.left[p+1])
				}
				node++
				do(node, z, y, lo, hi)
			}
		}
	})
}

// meet calls do with the runs of both forests that share voxels.
func (f *forest) meet(o *forest, do func(mine, its int32)) {
	for first, end := f.ends(); first < end; first++ {
		p := first
		for v := common(f.left, p, o.left, p); v != 0; v &= v - 1 {
			x := bits.TrailingZeros64(v)
			do(f.node(p, x), o.node(p, x))
		}
	}
}

// meetMasks returns, for each node, a bit for each mask that shares voxels with it. The runs and the
// trunk have all voxels of the masks.
func (f *forest) meetMasks(masks [][]uint64) []uint8 {
	met := make([]uint8, len(f.parent[0]))
	first, end := f.ends()
	for k, mask := range masks {
		for p := first; p < end; p++ {
			if mask[p] == 0 {
				continue
			}
			v := starts(mask, p)
			if v&^f.left[p] != 0 {
				met[0] |= 1 << k
			}
			for v &= f.left[p]; v != 0; v &= v - 1 {
				met[f.node(p, bits.TrailingZeros64(v))] |= 1 << k
			}
		}
	}
	return met
}

// meetTrunk calls do with the runs that share voxels with the trunk of the gaps of a mask. left are
// the gaps without the trunk.
func (f *forest) meetTrunk(mask, left []uint64, do func(mine int32)) {
	for p, v := range f.left {
		for v &^= mask[p] | left[p]; v != 0; v &= v - 1 {
			do(f.node(p, bits.TrailingZeros64(v)))
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
