package rings

import (
	"math/bits"
	"slices"
)

// A joined value is the result for one kind of voxels: its number of components, and a basis of the
// turns of its closed paths around the axes.
type joined struct {
	components int64
	turns      [][3]int64
}

// A forest is a union-find structure. Each node stores the number of turns around each axis on the
// path to its parent.
type forest struct {
	parent []int32
	turns  [][3]int32
}

// find returns the root of a node and the turns on the path to it. It halves the path.
func (f *forest) find(i int32) (root int32, turns [3]int32) {
	for f.parent[i] != i {
		p := f.parent[i]
		if f.parent[p] != p {
			f.turns[i] = plus(f.turns[i], f.turns[p])
			f.parent[i] = f.parent[p]
		}
		turns = plus(turns, f.turns[i])
		i = f.parent[i]
	}
	return i, turns
}

func plus(a, b [3]int32) [3]int32 { return [3]int32{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

func minus(a, b [3]int32) [3]int32 { return [3]int32{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// A run is a maximal run of voxels of a kind in a row, at lo ≤ x < hi.
type run struct{ lo, hi int32 }

// runs lists the runs of a kind. Row i has runs from start[i] to start[i+1].
func (l *lattice) runs(kind byte) (all []run, start []int32) {
	rows, n := l.sides[0]*l.sides[1], words(l.sides[2])
	count := int64(0)
	for row := range rows {
		for column := range n {
			count += int64(bits.OnesCount64(l.edges(kind, row, column)))
		}
	}
	all, start = make([]run, 0, (count+rows)/2), make([]int32, 0, rows+1)
	for row := range rows {
		start = append(start, int32(len(all)))
		within := false
		for column := range n {
			for edges := l.edges(kind, row, column); edges != 0; edges &= edges - 1 {
				x := int32(column*64) + int32(bits.TrailingZeros64(edges))
				if within = !within; within {
					all = append(all, run{x, int32(l.sides[2])}) // unless it ends before the row
				} else {
					all[len(all)-1].hi = x
				}
			}
		}
	}
	return all, append(start, int32(len(all)))
}

// edges returns the bits of a word of a row at the first voxel of each run of a kind, and at the
// voxel after its last one.
func (l *lattice) edges(kind byte, row, column int64) uint64 {
	v, before := l.word(kind, row, column), uint64(0)
	if column > 0 {
		before = l.word(kind, row, column-1) >> 63
	}
	return v ^ (v<<1 | before)
}

// word returns the bits of the voxels of a kind in a word of a row.
func (l *lattice) word(kind byte, row, column int64) uint64 {
	n := words(l.sides[2])
	v := l.set[row*n+column]
	if kind == outside {
		v = ^v
	}
	if column == n-1 {
		v &= ^uint64(0) >> (n*64 - l.sides[2])
	}
	return v
}

// A joiner joins the runs of a kind.
type joiner struct {
	*lattice
	forest
	joined
	runs  []run
	start []int32
}

// join joins the runs of a kind with their neighbours. The outside of the image belongs to the
// background. It is one node, or two if only one axis is not periodic: before its first and after
// its last voxels.
func (l *lattice) join(kind byte, corners bool) joined {
	j := joiner{lattice: l}
	j.runs, j.start = l.runs(kind)
	n := len(j.runs)
	j.parent, j.forest.turns = make([]int32, n+2), make([][3]int32, n+2)
	for i := range j.parent {
		j.parent[i] = int32(i)
	}
	j.components = int64(n)
	if open := l.dim - l.rings(); kind == outside && open > 0 {
		j.components += min(2, 3-int64(min(open, 2)))
		for _, a := range l.axes() {
			if l.ring[a] { // in the outside, a path goes round each periodic axis
				turn := [3]int64{}
				turn[a] = 1
				j.add(turn)
			}
		}
		j.leave(int32(n), int32(n+1-min(open-1, 1)))
	}
	steps := [][2]int64{{0, 1}, {1, 0}}
	if corners {
		steps = append(steps, [2]int64{1, -1}, [2]int64{1, 1})
	}
	for z := range l.sides[0] {
		for y := range l.sides[1] {
			row := z*l.sides[1] + y
			j.round(row, row, [3]int32{0, 0, 1})
			for _, by := range steps {
				if to, turns, is := l.step([2]int64{z, y}, by); is {
					j.touch(row, to, turns, corners)
				}
			}
		}
	}
	return j.joined
}

// step returns the row one step away and the turns of the step around each axis, or false if there
// is none.
func (l *lattice) step(from, by [2]int64) (to int64, turns [3]int32, is bool) {
	for a := range from {
		at := from[a] + by[a]
		if at < 0 || at >= l.sides[a] {
			if !l.ring[a] {
				return 0, turns, false
			}
			turns[a] = int32(by[a])
			at = (at + l.sides[a]) % l.sides[a]
		}
		to = to*l.sides[a] + at
	}
	return to, turns, true
}

// leave joins the runs at the sides of the image with the outside before and after it.
func (j *joiner) leave(before, after int32) {
	for row := range int64(len(j.start) - 1) {
		at := [2]int64{row / j.sides[1], row % j.sides[1]}
		for i := j.start[row]; i < j.start[row+1]; i++ {
			first, last := !j.ring[2] && j.runs[i].lo == 0, !j.ring[2] && int64(j.runs[i].hi) == j.sides[2]
			for _, a := range j.axes()[:j.dim-1] {
				first = first || !j.ring[a] && at[a] == 0
				last = last || !j.ring[a] && at[a] == j.sides[a]-1
			}
			if first {
				j.unite(before, i, [3]int32{})
			}
			if last {
				j.unite(after, i, [3]int32{})
			}
		}
	}
}

// touch joins the runs of two rows that share a column, or with corners neighbouring ones.
func (j *joiner) touch(a, b int64, turns [3]int32, corners bool) {
	reach := int32(0)
	if corners {
		reach = 1
		j.round(a, b, plus(turns, [3]int32{0, 0, 1}))
		j.round(b, a, minus([3]int32{0, 0, 1}, turns))
	}
	next, end := j.start[b], j.start[b+1]
	for i := j.start[a]; i < j.start[a+1]; i++ {
		r := j.runs[i]
		for next < end && j.runs[next].hi+reach <= r.lo {
			next++
		}
		for k := next; k < end && j.runs[k].lo < r.hi+reach; k++ {
			j.unite(i, k, turns)
		}
	}
}

// round joins the run at the end of a row with the one at the beginning of another, round axis x.
func (j *joiner) round(a, b int64, turns [3]int32) {
	if !j.ring[2] || j.start[a] == j.start[a+1] || j.start[b] == j.start[b+1] {
		return
	}
	if last, first := j.start[a+1]-1, j.start[b]; int64(j.runs[last].hi) == j.sides[2] && j.runs[first].lo == 0 {
		j.unite(last, first, turns)
	}
}

// unite joins two nodes by a path that goes round the axes, or notes the loop that it closes.
func (j *joiner) unite(a, b int32, turns [3]int32) {
	ra, ta := j.find(a)
	rb, tb := j.find(b)
	turns = minus(plus(ta, turns), tb)
	if ra != rb {
		j.parent[rb], j.forest.turns[rb] = ra, turns
		j.components--
	} else if turns != ([3]int32{}) {
		j.add([3]int64{int64(turns[0]), int64(turns[1]), int64(turns[2])})
	}
}

// add adds turns to the basis if they are independent of it, by fraction-free elimination.
func (j *joined) add(v [3]int64) {
	for _, b := range j.turns {
		pivot := slices.IndexFunc(b[:], func(x int64) bool { return x != 0 })
		if v[pivot] == 0 {
			continue
		}
		by, of := v[pivot], b[pivot]
		for a := range v {
			v[a] = v[a]*of - b[a]*by
		}
		v = reduced(v)
	}
	if v != ([3]int64{}) {
		j.turns = append(j.turns, reduced(v))
	}
}

// reduced divides a vector by the greatest common divisor of its entries.
func reduced(v [3]int64) [3]int64 {
	shared := int64(0)
	for _, x := range v {
		for b := max(x, -x); b != 0; {
			shared, b = b, shared%b
		}
	}
	if shared > 1 {
		for a := range v {
			v[a] /= shared
		}
	}
	return v
}
