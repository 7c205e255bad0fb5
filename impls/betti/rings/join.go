package rings

import "slices"

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

// join joins the voxels of a kind with their neighbours. The outside of the image belongs to the
// background. It is one node, or two if only one axis is not periodic: before its first and after
// its last voxels.
func (l *lattice) join(kind byte, corners bool) (j joined) {
	n := int64(len(l.kinds))
	f := forest{make([]int32, n+2), make([][3]int32, n+2)}
	for i := range f.parent {
		f.parent[i] = int32(i)
	}
	open := l.dim - l.rings()
	if kind == outside && open > 0 {
		j.components = min(2, 3-int64(min(open, 2)))
		for _, a := range l.axes() {
			if l.ring[a] { // in the outside, a path goes round each periodic axis
				turn := [3]int64{}
				turn[a] = 1
				j.add(turn)
			}
		}
	}
	steps := l.ahead(corners)
	unite := func(a, b int32, turns [3]int32) {
		ra, ta := f.find(a)
		rb, tb := f.find(b)
		turns = minus(plus(ta, turns), tb)
		if ra != rb {
			f.parent[rb], f.turns[rb] = ra, turns
			j.components--
		} else if turns != ([3]int32{}) {
			j.add([3]int64{int64(turns[0]), int64(turns[1]), int64(turns[2])})
		}
	}
	l.each(func(i int64, at [3]int64) {
		if l.kinds[i] != kind {
			return
		}
		j.components++
		for _, by := range steps {
			if to, turns, is := l.step(at, by); is && l.kinds[to] == kind {
				unite(int32(i), int32(to), turns)
			}
		}
		if kind == outside {
			for _, a := range l.axes() {
				if !l.ring[a] && at[a] == 0 {
					unite(int32(n), int32(i), [3]int32{})
				}
				if !l.ring[a] && at[a] == l.sides[a]-1 {
					unite(int32(n+int64(1-min(open-1, 1))), int32(i), [3]int32{})
				}
			}
		}
	})
	return j
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
