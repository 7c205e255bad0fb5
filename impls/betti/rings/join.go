package rings

import "slices"

// A joined kind of voxels has so many components, and ways round with a basis of their turns round the axes.
type joined struct {
	components int64
	turns      [][3]int64
}

// A forest is a union-find structure whose nodes know how often the way to their parent goes round each axis.
type forest struct {
	parent []int32
	turns  [][3]int32
}

// find returns the root of a node and the turns from there. The way is halved.
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

// join joins the voxels of a kind with their neighbours. What is outside of the image belongs to the rest: it is one
// node, or where all axes but one are periodic two, before the first voxels of that axis and after the last ones.
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
			if l.ring[a] { // outside a way goes round each
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

// add puts turns into the basis unless it has them: by elimination without fractions.
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

// reduced is a vector without the factor that its numbers share.
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
