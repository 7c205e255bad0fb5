package betti

import (
	"runtime"
	"sync"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// A mask is a binary image in memory, a byte a voxel: inside or not.
type mask struct {
	d, h, w int64
	inside  []bool
}

// maskOf reads the set of an image: its values not above the threshold, or not below it.
func maskOf(i *Image, superlevel bool) (*mask, error) {
	s := i.Shape()
	m := &mask{s.D, s.H, s.W, make([]bool, s.Voxels())}
	n, size := s.Slices(), s.SliceVoxels()
	parts := min(n, int64(runtime.GOMAXPROCS(0)))
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() {
			const step = 1 << 22 // bytes at a time
			each := max(1, step/grid.SliceBytes(i.Source))
			hi := n * (p + 1) / parts
			for lo := n * p / parts; lo < hi && errs[p] == nil; lo += each {
				var slab []byte
				slab, errs[p] = slabOf(i, lo, min(hi, lo+each))
				put(m.inside[lo*size:min(hi, lo+each)*size], i.Type(), slab, i.Threshold, superlevel)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

func put(to []bool, t grid.Type, slab []byte, threshold float32, superlevel bool) {
	switch t {
	case grid.Uint8:
		compare(to, grid.Values[uint8](slab), threshold, superlevel)
	case grid.Int16:
		compare(to, grid.Values[int16](slab), threshold, superlevel)
	case grid.Uint16:
		compare(to, grid.Values[uint16](slab), threshold, superlevel)
	case grid.Float32:
		compare(to, grid.Values[float32](slab), threshold, superlevel)
	}
}

func compare[T grid.Element](to []bool, values []T, t float32, superlevel bool) {
	for i, v := range values {
		if superlevel {
			to[i] = float32(v) >= t
		} else {
			to[i] = float32(v) <= t
		}
	}
}

// flood counts the components of a set and its cavities by filling each from its first
// voxel: 26-connected and 6-connected, or the other way round where voxels are vertices.
// The cavities of a 2D image are its holes. It keeps no sets and joins none.
func (m *mask) flood(vertices bool) (components, cavities int64) {
	var wg sync.WaitGroup
	wg.Go(func() { components = m.fill(true, !vertices) })
	wg.Go(func() { cavities = m.fill(false, vertices) - 1 }) // but what is outside
	wg.Wait()
	return components, cavities
}

// fill counts the components of the voxels that are inside, or of the others and those of a
// layer around the box: neighbours are at faces, or at edges and corners too. In 2D they are
// in the plane.
func (m *mask) fill(inside, corners bool) (n int64) {
	const layers = 2 // around the box, of which the second ends every component
	h, w, around := m.h+2*layers, m.w+2*layers, int64(layers)
	if m.d == 1 {
		around = 0
	}
	left := make([]bool, (m.d+2*around)*h*w) // to be filled
	var near []int64
	for dz := -min(1, around); dz <= min(1, around); dz++ {
		for dy := int64(-1); dy <= 1; dy++ {
			for dx := int64(-1); dx <= 1; dx++ {
				if steps := dz*dz + dy*dy + dx*dx; steps == 1 || steps > 1 && corners {
					near = append(near, (dz*h+dy)*w+dx)
				}
			}
		}
	}
	for z := -min(1, around); z < m.d+min(1, around); z++ {
		for y := int64(-1); y <= m.h; y++ {
			row := left[((z+around)*h+y+layers)*w+layers-1:][:m.w+2] // with a voxel at either end
			for i := range row {
				row[i] = !inside
			}
			if z >= 0 && z < m.d && y >= 0 && y < m.h {
				for x, in := range m.inside[(z*m.h+y)*m.w:][:m.w] {
					row[x+1] = in == inside
				}
			}
		}
	}
	var todo []int64
	for first, is := range left {
		if !is {
			continue
		}
		n++
		left[first] = false
		todo = append(todo, int64(first))
		for len(todo) > 0 {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, step := range near {
				if to := at + step; left[to] {
					left[to] = false
					todo = append(todo, to)
				}
			}
		}
	}
	return n
}

// characteristic is the Euler characteristic of the cells whose vertices are all inside: the
// V-construction.
func (m *mask) characteristic() (chi int64) {
	for at := range int64(len(m.inside)) {
		z, y, x := at/(m.h*m.w), at/m.w%m.h, at%m.w
		for cell := range int64(8) { // that spans the axes of its bits from the voxel on
			a, b, c := cell&1, cell>>1&1, cell>>2
			if x+a >= m.w || y+b >= m.h || z+c >= m.d {
				continue
			}
			sign, all := int64(1), true
			for k := range int64(2) {
				for j := range int64(2) {
					for i := range int64(2) {
						all = all && (i > a || j > b || k > c || m.inside[((z+k)*m.h+y+j)*m.w+x+i])
					}
				}
			}
			if (a+b+c)%2 == 1 {
				sign = -1
			}
			if all {
				chi += sign
			}
		}
	}
	return chi
}

// byFlooding are the numbers of an image in a convention: components and cavities by flood
// fill, and the tunnels of a 3D image by the Euler characteristic of its cells, which are
// counted by the definition. The holes of a 2D image are what is filled.
func byFlooding(i *Image, c ecc.Convention) (Numbers, error) {
	m, err := maskOf(i, c.Superlevel)
	if err != nil {
		return Numbers{}, err
	}
	b0, rest := m.flood(c.Vertices)
	if i.Shape().Dim() == 2 {
		return Numbers{b0, rest, 0}, nil
	}
	chi := int64(0)
	if c.Vertices {
		chi = m.characteristic()
	} else if chi, err = ecc.Characteristic(i.set(c.Superlevel).Binary(), 0); err != nil {
		return Numbers{}, err
	}
	return Numbers{b0, b0 + rest - chi, rest}, nil
}
