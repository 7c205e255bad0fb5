package files

import (
	"fmt"
	"slices"
)

// MaxDim is the greatest dimension of a simplex.
const MaxDim = 15

// A Mesh is the contents of a file, as simplices.
type Mesh struct {
	// Tops are the simplices by dimension: Tops[d] has the d+1 vertices of each one after the other.
	// They may be duplicates, or faces of others.
	Tops [][]uint32
	// Vertices is the number of vertex numbers, from 0 on.
	Vertices int
	// Points are the coordinates x, y, z of each vertex; nil without coordinates.
	Points []float64
	// Centres are the vertices, in ascending order, that are not of the file but made in the centre of a face or cell.
	Centres []uint32

	// quads and others map the vertices of a face or cell to the vertex in its centre.
	quads  keys[[4]uint32]
	others keys[string]
}

// keys are numbers by key.
type keys[K comparable] map[K]uint32

// find returns the number of a key. A new key gets the given number.
func (k *keys[K]) find(key K, number uint32) uint32 {
	if known, ok := (*k)[key]; ok {
		return known
	}
	if *k == nil {
		*k = keys[K]{}
	}
	(*k)[key] = number
	return number
}

// add adds a simplex.
func (c *Mesh) add(vertices ...uint32) { c.addAll(len(vertices)-1, vertices) }

// addAll adds simplices of dimension d, the vertices of each one after the other.
func (c *Mesh) addAll(d int, vertices []uint32) {
	for len(c.Tops) <= d {
		c.Tops = append(c.Tops, nil)
	}
	c.Tops[d] = append(c.Tops[d], vertices...)
}

// A shape is the arrangement of the corners of a cell.
type shape int

const (
	separate    shape = iota // points
	chain                    // edges from each to the next
	strip                    // triangles of each three consecutive corners
	ring                     // one face
	pixel                    // a face with its corners row by row
	tetrahedron              // one simplex
	pyramid                  // a face and a point
	prism                    // two faces, and the faces between their edges
	voxel                    // a prism with its corners row by row
)

// A cellType is a type of cells of a format. Its corners are its first nodes. The other nodes, of
// elements of a higher order, are no vertices.
type cellType struct {
	shape
	corners int // 0 if all nodes are corners
	nodes   int // 0 for any number
}

// cell adds the simplices of a cell.
func (c *Mesh) cell(t cellType, nodes []uint32) error {
	if t.nodes > 0 && len(nodes) != t.nodes || len(nodes) < t.corners {
		return fmt.Errorf("a cell of %d nodes: want %d", len(nodes), max(t.nodes, t.corners))
	}
	v := nodes
	if t.corners > 0 {
		v = nodes[:t.corners]
	}
	n, width := len(v), 1
	switch t.shape {
	case ring:
		return c.polygon(v)
	case pixel:
		return c.polygon([]uint32{v[0], v[1], v[3], v[2]})
	case tetrahedron:
		return c.solid(v, nil)
	case pyramid:
		return c.solid(v, [][]uint32{v[:4], {v[0], v[1], v[4]}, {v[1], v[2], v[4]}, {v[2], v[3], v[4]}, {v[3], v[0], v[4]}})
	case voxel:
		v = []uint32{v[0], v[1], v[3], v[2], v[4], v[5], v[7], v[6]}
		fallthrough
	case prism:
		faces := [][]uint32{v[:n/2], v[n/2:]}
		for i := range n / 2 {
			k := (i + 1) % (n / 2)
			faces = append(faces, []uint32{v[i], v[k], v[n/2+k], v[n/2+i]})
		}
		return c.solid(v, faces)
	case chain:
		width = 2
	case strip:
		width = 3
	}
	if n > 0 && n < width {
		return fmt.Errorf("a cell of %d nodes: want at least %d", n, width)
	}
	for i := range n - width + 1 {
		if err := c.polygon(v[i : i+width]); err != nil {
			return err
		}
	}
	return nil
}

// mostRing is the greatest number of vertices of a face.
const mostRing = 4096

// distinct rejects unknown or repeated vertices.
func (c *Mesh) distinct(what string, vertices []uint32) error {
	for i, v := range vertices {
		if int64(v) >= int64(c.Vertices) || slices.Contains(vertices[:i], v) {
			return fmt.Errorf("%s %v: want different vertices from 0 to %d", what, vertices, c.Vertices-1)
		}
	}
	return nil
}

// polygon adds a point, an edge or a triangle. A longer ring becomes triangles around a new vertex
// in its centre.
func (c *Mesh) polygon(ring []uint32) error {
	if len(ring) > mostRing {
		return fmt.Errorf("a face of %d vertices: want at most %d", len(ring), mostRing)
	}
	if err := c.distinct("face", ring); err != nil {
		return err
	}
	c.cone(ring)
	return nil
}

// solid adds a tetrahedron, or the tetrahedra between the faces of a cell and a new vertex in its
// centre.
func (c *Mesh) solid(corners []uint32, faces [][]uint32) error {
	if err := c.distinct("cell", corners); err != nil {
		return err
	}
	if faces == nil {
		c.add(corners...)
		return nil
	}
	key := slices.Clone(corners)
	for _, f := range faces {
		if len(f) > 3 {
			key = append(key, c.middle(f, aroundLeast(f)))
		}
	}
	slices.Sort(key)
	centre := c.middle(corners, key)
	for _, f := range faces {
		c.cone(f, centre)
	}
	return nil
}

// cone adds the triangles of a face, or their cones over an apex.
func (c *Mesh) cone(ring []uint32, apex ...uint32) {
	if len(ring) <= 3 {
		c.add(append(slices.Clip(ring), apex...)...)
		return
	}
	simplex := append([]uint32{0, 0, c.middle(ring, aroundLeast(ring))}, apex...)
	for i, v := range ring {
		simplex[0], simplex[1] = v, ring[(i+1)%len(ring)]
		c.add(simplex...)
	}
}

// aroundLeast rotates a ring to begin at its least vertex, and directs it towards that vertex's
// lesser neighbour.
func aroundLeast(ring []uint32) []uint32 {
	n, at := len(ring), 0
	for i, v := range ring {
		if v < ring[at] {
			at = i
		}
	}
	step := 1
	if ring[(at+n-1)%n] < ring[(at+1)%n] {
		step = n - 1
	}
	around := make([]uint32, n)
	for i := range around {
		around[i] = ring[at]
		at = (at + step) % n
	}
	return around
}

// middle returns the vertex in the centre of others, one per key. So cells with a common face have
// its centre in common, and a repeated face is one face.
func (c *Mesh) middle(of, key []uint32) uint32 {
	m, known := uint32(c.Vertices), uint32(0)
	if len(key) == 4 {
		known = c.quads.find([4]uint32(key), m)
	} else {
		known = c.others.find(fmt.Sprint(key), m)
	}
	if known != m {
		return known
	}
	c.Vertices++
	c.Centres = append(c.Centres, m)
	if c.Points != nil {
		var sum [3]float64
		for _, v := range of {
			for k := range sum {
				sum[k] += c.Points[3*v+uint32(k)] / float64(len(of))
			}
		}
		c.Points = append(c.Points, sum[:]...)
	}
	return m
}
