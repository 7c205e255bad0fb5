package simplicial

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// projectivePlane returns the projective plane with six vertices.
func projectivePlane() *Complex {
	c := &Complex{}
	for _, t := range [][3]uint32{{0, 1, 4}, {0, 1, 5}, {0, 2, 3}, {0, 2, 5}, {0, 3, 4}, {1, 2, 3}, {1, 2, 4}, {1, 3, 5},
		{2, 4, 5}, {3, 4, 5}} {
		c.Add(t[:]...)
	}
	return c
}

// closedGrid returns a w × h grid of squares, cut in two, whose opposite sides are glued: a torus,
// or with flip a Klein bottle.
func closedGrid(w, h int, flip bool) *Complex {
	c := &Complex{}
	at := func(x, y int) uint32 {
		if x == w {
			x = 0
			if flip {
				y = (2*h - y) % h
			}
		}
		return uint32(y%h*w + x)
	}
	for y := range h {
		for x := range w {
			c.Add(at(x, y), at(x+1, y), at(x+1, y+1))
			c.Add(at(x, y), at(x, y+1), at(x+1, y+1))
		}
	}
	return c
}

// sphere returns the boundary of a simplex of dimension d+1.
func sphere(d int) *Complex {
	c := &Complex{}
	for out := range d + 2 {
		var s []uint32
		for v := range d + 2 {
			if v != out {
				s = append(s, uint32(v))
			}
		}
		c.Add(s...)
	}
	return c
}

// moore returns a circle with a disc glued to it that winds n times around. Vertices are three on
// the circle, a ring of 3n inside, and the centre.
func moore(n int) *Complex {
	c := &Complex{}
	ring := func(i int) uint32 { return uint32(3 + i%(3*n)) }
	circle := func(i int) uint32 { return uint32(i % 3) }
	middle := uint32(3 + 3*n)
	for i := range 3 * n {
		c.Add(circle(i), circle(i+1), ring(i))
		c.Add(circle(i+1), ring(i), ring(i+1))
		c.Add(ring(i), ring(i+1), middle)
	}
	return c
}

// Join returns the join of two complexes: each simplex of one with each of the other, whose
// vertices are numbered after the first's. An empty complex changes nothing.
func Join(a, b *Complex) (*Complex, error) {
	c := &Complex{Vertices: a.Vertices + b.Vertices}
	if a.Dim() < 0 || b.Dim() < 0 {
		c.Tops, c.Vertices = slices.Concat(a.Tops, b.Tops), max(a.Vertices, b.Vertices)
		return c, nil
	}
	if d := a.Dim() + b.Dim() + 1; d > MaxDim {
		return nil, fmt.Errorf("a join of dimension %d: want at most %d", d, MaxDim)
	}
	if n := a.Given() * b.Given(); n > mostGiven {
		return nil, fmt.Errorf("a join of %d simplices: want at most %d", n, mostGiven)
	}
	var s []uint32
	for i, x := range a.Tops {
		for j, y := range b.Tops {
			for p := 0; p < len(x); p += i + 1 {
				for q := 0; q < len(y); q += j + 1 {
					s = append(s[:0], x[p:p+i+1]...)
					for _, v := range y[q : q+j+1] {
						s = append(s, v+uint32(a.Vertices))
					}
					c.Add(s...)
				}
			}
		}
	}
	return c, nil
}

// Wedge returns the union of two complexes with a common first vertex.
func Wedge(a, b *Complex) (*Complex, error) {
	if a.Dim() < 0 || b.Dim() < 0 {
		return Join(a, b)
	}
	c := &Complex{Tops: make([][]uint32, max(len(a.Tops), len(b.Tops))), Vertices: a.Vertices + b.Vertices - 1}
	for d := range c.Tops {
		if d < len(a.Tops) {
			c.Tops[d] = slices.Clone(a.Tops[d])
		}
		if d < len(b.Tops) {
			for _, v := range b.Tops[d] {
				if v > 0 {
					v += uint32(a.Vertices) - 1
				}
				c.Tops[d] = append(c.Tops[d], v)
			}
		}
	}
	return c, nil
}

// classes are equivalence classes of keys.
type classes struct {
	id     map[string]int
	parent []int
}

func (c *classes) classOf(key string) int {
	i, ok := c.id[key]
	if !ok {
		i = len(c.parent)
		c.id[key] = i
		c.parent = append(c.parent, i)
	}
	for c.parent[i] != i {
		i = c.parent[i]
	}
	return i
}

func (c *classes) uniteClasses(a, b string) {
	if x, y := c.classOf(a), c.classOf(b); x != y {
		c.parent[x] = y
	}
}

// cutAtCentres returns the barycentric subdivision of simplices with glued faces: its vertices are
// classes of faces. No simplex may have two vertices or faces of one class. The result is a
// simplicial complex for every gluing, even if the glued simplices form none.
func cutAtCentres(simplices [][]uint32, face func(simplex int, vertices []uint32) int) *Complex {
	c := &Complex{}
	number := map[int]uint32{}
	for at, s := range simplices {
		permutations(slices.Clone(s), len(s), func(order []uint32) {
			var chain []uint32
			for n := range order {
				part := slices.Sorted(slices.Values(order[:n+1]))
				class := face(at, part)
				if _, ok := number[class]; !ok {
					number[class] = uint32(len(number))
				}
				chain = append(chain, number[class])
			}
			c.Add(chain...)
		})
	}
	return c
}

func permutations(s []uint32, n int, f func([]uint32)) {
	if n <= 1 {
		f(s)
		return
	}
	for i := range n {
		s[i], s[n-1] = s[n-1], s[i]
		permutations(s, n-1, f)
		s[i], s[n-1] = s[n-1], s[i]
	}
}

func keyOf(s []uint32) string {
	var b []byte
	for _, v := range s {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return string(b)
}

// lens returns the lens space L(p, q): the join of two circles of 2p edges, modulo a rotation. It
// turns the first circle by 1/p and the second by q/p of a turn.
func lens(p, q int) *Complex {
	n := 2 * p
	var simplices [][]uint32
	for i := range n {
		for j := range n {
			s := []uint32{uint32(i), uint32((i + 1) % n), uint32(n + j), uint32(n + (j+1)%n)}
			slices.Sort(s)
			// One of the p points that are identified.
			if i < 2 {
				simplices = append(simplices, s)
			}
		}
	}
	all := classes{id: map[string]int{}}
	return cutAtCentres(simplices, func(_ int, s []uint32) int {
		least := ""
		for k := range p {
			t := make([]uint32, len(s))
			for i, v := range s {
				if int(v) < n {
					t[i] = uint32((int(v) + 2*k) % n)
				} else {
					t[i] = uint32(n + (int(v)-n+2*k*q)%n)
				}
			}
			slices.Sort(t)
			if key := keyOf(t); least == "" || key < least {
				least = key
			}
		}
		return all.classOf(least)
	})
}

// dodecahedral returns a dodecahedron whose opposite faces are glued after a rotation by tenths of
// a full turn: the Poincaré sphere for 1, the Seifert-Weber space for 3, projective space for 5.
func dodecahedral(tenths int) *Complex {
	points, faces := dodecahedron()
	edges := map[[2]int]int{}
	edge := func(a, b int) int {
		k := [2]int{min(a, b), max(a, b)}
		if _, ok := edges[k]; !ok {
			edges[k] = len(edges)
		}
		return edges[k]
	}
	// Vertices of flags: of the solid, of edges, of faces, and of the centre.
	const atEdge, atFace, middle = 20, 50, 62
	var simplices [][]uint32
	for f, ring := range faces {
		for i := range ring {
			a, b := ring[i], ring[(i+1)%5]
			e := uint32(atEdge + edge(a, b))
			simplices = append(simplices, []uint32{uint32(a), e, uint32(atFace + f), middle},
				[]uint32{uint32(b), e, uint32(atFace + f), middle})
		}
	}
	all := classes{id: map[string]int{}}
	for f, ring := range faces {
		centre := mean(points, ring)
		for g, other := range faces {
			if dot(centre, mean(points, other)) > -0.9*dot(centre, centre) {
				continue
			}
			// A vertex is moved through the solid along the axis, and rotated around it.
			to := map[int]int{}
			for _, v := range ring {
				to[v] = nearest(points, other, screw(points[v], centre, 2*math.Pi*float64(tenths)/10))
			}
			for i := range ring {
				a, b := ring[i], ring[(i+1)%5]
				e, e2 := uint32(atEdge+edge(a, b)), uint32(atEdge+edge(to[a], to[b]))
				for _, v := range []int{a, b} {
					flag := []uint32{uint32(v), e, uint32(atFace + f)}
					glued := []uint32{uint32(to[v]), e2, uint32(atFace + g)}
					for subset := 1; subset < 8; subset++ {
						var x, y []uint32
						for bit := range 3 {
							if subset>>bit&1 == 1 {
								x, y = append(x, flag[bit]), append(y, glued[bit])
							}
						}
						all.uniteClasses(keyOf(x), keyOf(y))
					}
				}
			}
		}
	}
	return cutAtCentres(simplices, func(_ int, s []uint32) int { return all.classOf(keyOf(s)) })
}

// dodecahedron returns the vertices, and the ring of vertices of each face.
func dodecahedron() (points [][3]float64, faces [][]int) {
	phi := (1 + math.Sqrt(5)) / 2
	for i := range 8 {
		points = append(points, [3]float64{sign(i & 1), sign(i >> 1 & 1), sign(i >> 2)})
	}
	for axis := range 3 {
		for i := range 4 {
			var p [3]float64
			p[(axis+1)%3], p[(axis+2)%3] = sign(i&1)/phi, sign(i>>1)*phi
			points = append(points, p)
		}
	}
	// The normals of the faces are the vertices of an icosahedron.
	for axis := range 3 {
		for i := range 4 {
			var normal [3]float64
			normal[(axis+1)%3], normal[(axis+2)%3] = sign(i&1)*phi, sign(i>>1)
			var ring []int
			most := math.Inf(-1)
			for _, p := range points {
				most = max(most, dot(normal, p))
			}
			for v, p := range points {
				if dot(normal, p) > most-1e-9 {
					ring = append(ring, v)
				}
			}
			// Sort by the angle around the normal.
			u := minus(points[ring[0]], mean(points, ring))
			w := cross(normal, u)
			slices.SortFunc(ring, func(a, b int) int {
				angle := func(v int) float64 {
					p := minus(points[v], mean(points, ring))
					return math.Atan2(dot(p, w)/math.Sqrt(dot(w, w)), dot(p, u)/math.Sqrt(dot(u, u)))
				}
				if angle(a) < angle(b) {
					return -1
				}
				return 1
			})
			faces = append(faces, ring)
		}
	}
	return points, faces
}

func sign(bit int) float64 { return float64(2*bit - 1) }

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func minus(a, b [3]float64) [3]float64 { return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func mean(points [][3]float64, of []int) (m [3]float64) {
	for _, v := range of {
		for i := range m {
			m[i] += points[v][i] / float64(len(of))
		}
	}
	return m
}

func nearest(points [][3]float64, of []int, p [3]float64) int {
	best := of[0]
	for _, v := range of {
		if a, b := minus(points[v], p), minus(points[best], p); dot(a, a) < dot(b, b) {
			best = v
		}
	}
	return best
}

// screw moves a point of a face with the given centre to the opposite face, and rotates it around
// the axis through both.
func screw(p, centre [3]float64, angle float64) [3]float64 {
	n := centre
	for i := range n {
		n[i] /= math.Sqrt(dot(centre, centre))
	}
	for i := range p {
		p[i] -= 2 * centre[i]
	}
	along := dot(p, n)
	side := cross(n, p)
	var out [3]float64
	for i := range out {
		out[i] = p[i]*math.Cos(angle) + side[i]*math.Sin(angle) + n[i]*along*(1-math.Cos(angle))
	}
	return out
}

// random returns count simplices of dimension d with vertices drawn from n.
func random(n, d, count int, seed uint64) *Complex {
	rng := rand.New(rand.NewPCG(seed, 0xc0ffee))
	c := &Complex{}
	for range count {
		s := make([]uint32, 0, d+1)
		for len(s) <= d {
			if v := rng.Uint32N(uint32(n)); !slices.Contains(s, v) {
				s = append(s, v)
			}
		}
		c.Add(s...)
	}
	return c
}
