package multigrid

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/eigenmap"
)

// Levels returns the masses of the first n levels and their links along each axis, as a device computes them, too.
func Levels(p *eigenmap.Problem, n int) (masses [][]float64, links [][3][]float64, err error) {
	l, err := finest(p, 1)
	if err != nil {
		return nil, nil, err
	}
	for l.support(); len(masses) < n; l = l.coarser() {
		masses, links = append(masses, l.mass), append(links, l.link)
	}
	return masses, links, nil
}

// finest makes the level of the voxels.
func finest(p *eigenmap.Problem, threads int) (*level, error) {
	values, err := p.Numbers()
	if err != nil {
		return nil, err
	}
	s := p.Shape()
	l := newLevel(int(s.W), int(s.H), int(s.D), threads)
	FromZeroToOne(values, l.threadsFor())
	over := -1 / (p.Sigma * p.Sigma)
	weigh := func(o offset) {
		by := (o.z*l.ny+o.y)*l.nx + o.x
		x0, x1 := max(0, -o.x), l.nx-max(0, o.x)
		l.rows(func(first, last int) {
			for r := first; r < last; r++ {
				if y := r%l.ny + o.y; y < 0 || y >= l.ny || r/l.ny+o.z >= l.nz {
					continue
				}
				for i := r*l.nx + x0; i < r*l.nx+x1; i++ {
					d := values[i] - values[i+by]
					o.link[i] = math.Exp(d*d*over) + p.Floor
				}
			}
		})
	}
	all := []offset{{1, 0, 0, l.link[0]}, {0, 1, 0, l.link[1]}, {0, 0, 1, l.link[2]}}
	for _, o := range Farther(p) {
		all = append(all, offset{o[0], o[1], o[2], make([]float64, l.cells())})
		l.beside = all
	}
	for _, o := range all {
		weigh(o)
	}
	l.rows(func(first, last int) {
		for _, o := range all {
			l.degrees(o, first, last)
		}
	})
	for i, d := range l.mass {
		if !(d > 0) {
			return nil, bench.Limitf("a voxel has no neighbour, because all its weights are 0; want a larger sigma, " +
				"or a floor above 0")
		}
		if p.Plain {
			l.mass[i] = 1
		}
	}
	return l, nil
}

// Farther lists the offsets of a voxel's later neighbours without a common face.
func Farther(p *eigenmap.Problem) (list [][3]int) {
	s := p.Shape()
	r, square := int(p.Radius), int(p.Radius*p.Radius)
	if p.Corners {
		square = 3
	}
	for z := 0; z <= min(r, int(s.D)-1); z++ {
		for y := -min(r, int(s.H)-1); y <= min(r, int(s.H)-1); y++ {
			for x := -min(r, int(s.W)-1); x <= min(r, int(s.W)-1); x++ {
				far := x*x + y*y + z*z
				if after := z > 0 || y > 0 || y == 0 && x > 0; after && far > 1 && far <= square {
					list = append(list, [3]int{x, y, z})
				}
			}
		}
	}
	return list
}

// FromZeroToOne scales values to the range 0 to 1, or sets them to 0 if they are all equal.
func FromZeroToOne(values []float64, threads int) {
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	if hi <= lo {
		clear(values)
		return
	}
	over := hi - lo
	parts(len(values), threads, func(first, last int) {
		for i, v := range values[first:last] {
			values[first+i] = (v - lo) / over
		}
	})
}

func abs(v int) int { return max(v, -v) }

// degrees adds the links of one offset to the masses at both ends.
func (l *level) degrees(o offset, first, last int) {
	by := (o.z*l.ny+o.y)*l.nx + o.x
	for i := first * l.nx; i < last*l.nx; i++ {
		l.mass[i] += o.link[i] // 0 if there is no other end
		if x := i%l.nx - o.x; i >= by && x >= 0 && x < l.nx {
			l.mass[i] += o.link[i-by]
		}
	}
}

// support strengthens the face links, which are all that the smoother and the coarser levels know,
// by the other links. A link over n steps adds n times its weight to each face link on its way: (Σ
// d)² ≤ n Σ d² for n differences (support graphs, Bern et al. 2006).
func (l *level) support() {
	if l.beside == nil {
		return
	}
	const faces = 3
	stride := l.stride()
	for a, links := range l.link {
		l.link[a] = slices.Clone(links) // the products still need the original links
	}
	for _, o := range l.beside[faces:] {
		steps := float64(abs(o.x) + abs(o.y) + o.z)
		for i, w := range o.link {
			if w == 0 {
				continue
			}
			for a, by := range [3]int{o.x, o.y, o.z} {
				for ; by > 0; by-- {
					l.link[a][i] += steps * w
					i += stride[a]
				}
				for ; by < 0; by++ {
					i -= stride[a]
					l.link[a][i] += steps * w
				}
			}
		}
	}
}

// isSignificant reports whether a link is significant in float64. Parts that are joined only by weaker
// links have values that are practically 0.
func (l *level) isSignificant(w float64, i, j int) bool {
	const least = 1e-14
	return w > 0 && (w > least*l.mass[i] || w > least*l.mass[j])
}

// parts numbers the connected parts of the cells. It returns nil if there is only one.
func (l *level) parts() (part []int, n int) {
	all := l.links()
	if l.connected() {
		return nil, 1
	}
	part = make([]int, l.cells())
	var next []int
	for start := range part {
		if part[start] != 0 {
			continue
		}
		n++
		part[start] = n
		for next = append(next[:0], start); len(next) > 0; {
			i := next[len(next)-1]
			next = next[:len(next)-1]
			for _, o := range all {
				by := (o.z*l.ny+o.y)*l.nx + o.x
				if l.isSignificant(o.link[i], i, i+by) && part[i+by] == 0 {
					part[i+by] = n
					next = append(next, i+by)
				}
				if x := i%l.nx - o.x; i >= by && x >= 0 && x < l.nx && l.isSignificant(o.link[i-by], i, i-by) && part[i-by] == 0 {
					part[i-by] = n
					next = append(next, i-by)
				}
			}
		}
	}
	for i := range part {
		part[i]--
	}
	if n == 1 {
		return nil, 1
	}
	return part, n
}

// mostBetween is the maximum number of parts for which the links between them are considered.
const mostBetween = 512

// partPairs computes the eigenpairs of the graph of the parts, with the links that are too weak to
// join them. It returns the values in ascending order, and in columns the value of each part.
func (l *level) partPairs(part []int, parts int) ([]float64, *mat.Dense) {
	values, vectors := make([]float64, parts), mat.NewDense(parts, parts, nil)
	for k := range parts {
		vectors.Set(k, k, 1)
	}
	if parts == 1 || parts > mostBetween {
		return values, vectors
	}
	root, links, top := make([]float64, parts), mat.NewSymDense(parts, nil), 0.0
	for i, m := range l.mass {
		root[part[i]] += m
	}
	for k, m := range root {
		root[k] = math.Sqrt(m)
	}
	for _, o := range l.links() {
		by := (o.z*l.ny+o.y)*l.nx + o.x
		for i, w := range o.link {
			if w == 0 || part[i] == part[i+by] {
				continue
			}
			a, b := part[i], part[i+by]
			links.SetSym(a, a, links.At(a, a)+w/root[a]/root[a])
			links.SetSym(b, b, links.At(b, b)+w/root[b]/root[b])
			links.SetSym(a, b, links.At(a, b)-w/root[a]/root[b])
			top = max(top, links.At(a, a), links.At(b, b))
		}
	}
	var e mat.EigenSym
	if links.ScaleSym(1/top, links); !(top > 0) || !e.Factorize(links, true) {
		return values, vectors
	}
	e.Values(values)
	e.VectorsTo(vectors)
	for k := range parts {
		values[k] = max(0, values[k]) * top
		for a, r := range root {
			vectors.Set(a, k, vectors.At(a, k)/r)
		}
	}
	values[0] = 0
	return values, vectors
}

// connected reports whether all face links are significant.
func (l *level) connected() bool {
	for a, end := range l.size() {
		stride := l.stride()[a]
		for i, w := range l.link[a] {
			if i/stride%end < end-1 && !l.isSignificant(w, i, i+stride) {
				return false
			}
		}
	}
	return true
}
