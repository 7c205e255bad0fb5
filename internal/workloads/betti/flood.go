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

// A filling is what is filled: the voxels inside or the others, with neighbours at faces or at
// corners too. Where there is one plane or one row in each an image can be flat: it has no
// sides there. The layer is around planes where the box ends, before the first one or after
// the last.
type filling struct {
	inside, corners bool
	flat            [2]bool // as to planes, and to rows
	ends            [2]bool
}

// layers are around the box, of which the second ends every component.
const layers = 2

// fillEach fills each component from its first voxel on and counts them. See is called with
// every voxel of a component, those of the layer too, and the component's number: they are in
// the order of their first voxels.
func (m *mask) fillEach(f filling, see func(z, y, x, number int64)) (n int64) {
	ring := [3]int64{1, 1, 1} // layers of the outside around planes, rows, voxels
	around := [3]int64{layers, layers, layers}
	for axis, flat := range f.flat {
		if flat {
			ring[axis], around[axis] = 0, 0
		}
	}
	h, w := m.h+2*around[1], m.w+2*around[2]
	left := make([]bool, (m.d+2*around[0])*h*w) // to be filled
	var near []int64
	for dz := -ring[0]; dz <= ring[0]; dz++ {
		for dy := -ring[1]; dy <= ring[1]; dy++ {
			for dx := int64(-1); dx <= 1; dx++ {
				if steps := dz*dz + dy*dy + dx*dx; steps == 1 || steps > 1 && f.corners {
					near = append(near, (dz*h+dy)*w+dx)
				}
			}
		}
	}
	for z := -ring[0]; z < m.d+ring[0]; z++ {
		if z < 0 && !f.ends[0] || z >= m.d && !f.ends[1] {
			continue
		}
		for y := -ring[1]; y < m.h+ring[1]; y++ {
			row := left[((z+around[0])*h+y+around[1])*w+layers-1:][:m.w+2] // with a voxel at either end
			for i := range row {
				row[i] = !f.inside
			}
			if z >= 0 && z < m.d && y >= 0 && y < m.h {
				for x, in := range m.inside[(z*m.h+y)*m.w:][:m.w] {
					row[x+1] = in == f.inside
				}
			}
		}
	}
	var todo []int64
	from := func(first int64) {
		left[first] = false
		todo = append(todo, first)
		for len(todo) > 0 {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if see != nil {
				see(at/(h*w)-around[0], at/w%h-around[1], at%w-layers, n)
			}
			for _, step := range near {
				if to := at + step; left[to] {
					left[to] = false
					todo = append(todo, to)
				}
			}
		}
		n++
	}
	for first, is := range left {
		if is {
			from(int64(first))
		}
	}
	return n
}

// ByFlooding are the numbers of an image in a convention: components and cavities by flood
// fill, and the tunnels of a 3D image by the Euler characteristic of its cells, which are
// counted by the definition. The holes of a 2D image are what is filled. It keeps no sets and
// joins none.
func ByFlooding(i *Image, c ecc.Convention) (Numbers, error) {
	t, err := floodOf(i, c, 0)
	if err != nil {
		return Numbers{}, err
	}
	enclosed := t.rest - 1 // but the outside
	if i.Shape().Dim() == 2 {
		return Numbers{t.set, enclosed, 0}, nil
	}
	return Of(t.set, enclosed, t.characteristic), nil
}
