package flood

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// A mask is a binary image in memory, one byte per voxel.
type mask struct {
	d, h, w int64
	inside  []bool
}

// randomImage has about the given density of voxels in the set at 3.
func randomImage(t testing.TB, shape grid.Shape, density float64) (*grid.Field, *mask) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	m := &mask{shape.D, shape.H, shape.W, make([]bool, shape.Voxels())}
	data := grid.NewBuffer(shape.Voxels())
	for i := range data {
		if m.inside[i] = rng.Float64() < density; m.inside[i] {
			data[i] = 1 + 2*byte(rng.IntN(2))
		} else {
			data[i] = 4 + byte(rng.IntN(2))
		}
	}
	f, err := grid.Trusted(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// Words of bits and single voxels give the same fill, for any slabs of an image, in memory or not.
func slabsAreFilledLikeVoxels(t *testing.T, densities ...float64) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, shape := range []grid.Shape{
		{D: 1, H: 1, W: 1},
		{D: 1, H: 9, W: 70}, {D: 2, H: 5, W: 62}, {D: 7, H: 6, W: 63}, {D: 6, H: 3, W: 64}, {D: 5, H: 1, W: 130},
		{D: 9, H: 9, W: 9}, {D: 1, H: 40, W: 126}, {D: 4, H: 7, W: 128},
	} {
		for _, density := range densities {
			in, m := randomImage(t, shape, density)
			rest := &mask{m.d, m.h, m.w, slices.Clone(m.inside)}
			for i, is := range m.inside {
				rest.inside[i] = !is
			}
			flat := [2]bool{m.d == 1, false}
			for _, c := range []Set{
				{Threshold: 3}, {Threshold: 3, Vertices: true},
				{Threshold: 4, Superlevel: true}, {Threshold: 4, Vertices: true, Superlevel: true},
			} {
				of := m
				if c.Superlevel { // values above 3 are the rest
					of = rest
				}
				want := Tally{
					Set:            of.fillEach(filling{true, !c.Vertices, flat, [2]bool{true, true}}, nil),
					Rest:           of.fillEach(filling{false, c.Vertices, flat, [2]bool{true, true}}, nil),
					Characteristic: of.characteristic(c.Vertices),
				}
				for _, planes := range []int64{0, 1, 2, 3} {
					unread := struct{ grid.Source }{in}
					once := gridtest.ReadOnce(in)
					few := rng.IntN(4)
					for _, in := range []grid.Source{
						in, unread, readBefore(t, rng, keeping(once, c, planes, few), 0),
						readBefore(t, rng, keeping(unread, c, planes, few), 0.5),
						readBefore(t, rng, keeping(unread, Set{Threshold: 3}, planes, few), 0),
					} {
						if got, err := count(in, c, planes, few); err != nil || got != want {
							t.Errorf("%v, %v inside, %+v: %+v, %v in slabs of %d planes, small up to %d words, want %+v",
								shape, density, c, got, err, planes, few, want)
						}
					}
				}
			}
		}
	}
}

// readBefore returns an image whose slices were read in any order by several goroutines, except for
// about a given share.
func readBefore(t *testing.T, rng *rand.Rand, in grid.Source, unread float64) grid.Source {
	t.Helper()
	var wg sync.WaitGroup
	for _, z := range rng.Perm(int(in.Shape().Slices())) {
		if rng.Float64() < unread {
			continue
		}
		wg.Go(func() {
			if err := in.ReadSlab(grid.NewBuffer(grid.SliceBytes(in)), int64(z), int64(z)+1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return in
}

// characteristic counts the cells with at least one voxel inside. If voxels are vertices, it counts
// the cells with all vertices inside.
func (m *mask) characteristic(vertices bool) (chi int64) {
	inside := func(z, y, x int64) bool {
		return z >= 0 && z < m.d && y >= 0 && y < m.h && x >= 0 && x < m.w && m.inside[(z*m.h+y)*m.w+x]
	}
	for z := range m.d + 1 {
		for y := range m.h + 1 {
			for x := range m.w + 1 {
				for cell := range int64(8) { // a cell spans the axes of its bits
					along := [3]int64{cell >> 2, cell >> 1 & 1, cell & 1}
					some, all, sign := false, true, int64(1)
					if (along[0]+along[1]+along[2])%2 == 1 {
						sign = -1
					}
					for corner := range int64(8) {
						k, j, i := corner>>2, corner>>1&1, corner&1
						if vertices {
							if k <= along[0] && j <= along[1] && i <= along[2] {
								all = all && inside(z+k, y+j, x+i)
							}
						} else if k >= along[0] && j >= along[1] && i >= along[2] {
							some = some || inside(z+k-1, y+j-1, x+i-1)
						}
					}
					if vertices && all || !vertices && some {
						chi += sign
					}
				}
			}
		}
	}
	return chi
}

// Words of bits and single voxels give the same fill of parts in any number of slabs. Parts have
// any height and are between other slices of an image or at its ends.
func partsAreFilledLikeVoxels(t *testing.T, densities ...float64) {
	both := []bool{false, true}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, shape := range []grid.Shape{
		{D: 1, H: 9, W: 70}, {D: 2, H: 5, W: 62}, {D: 7, H: 6, W: 63}, {D: 6, H: 3, W: 64}, {D: 5, H: 1, W: 130},
		{D: 9, H: 9, W: 9}, {D: 4, H: 7, W: 128},
	} {
		for _, density := range densities {
			in, m := randomImage(t, shape, density)
			for _, vertices := range both {
				for _, ends := range [][2]bool{{}, {true, false}, {false, true}, {true, true}} {
					for _, flat := range both {
						of := *m
						if flat && shape.D > 1 {
							continue
						}
						if flat {
							of.d, of.h = of.h, 1
						}
						p := Part{
							Source: in, Set: Set{Threshold: 3, Vertices: vertices}, D: of.d, H: of.h, W: of.w, Flat: flat, Ends: ends,
							OfSet: rng.IntN(4) > 0, OfRest: rng.IntN(4) > 0,
						}
						var want [kinds]Components
						if p.OfSet {
							want[ofSet] = of.components(filling{true, !vertices, [2]bool{false, flat}, ends})
						}
						if p.OfRest {
							want[ofRest] = of.components(filling{false, vertices, [2]bool{false, flat}, ends})
						}
						for _, planes := range []int64{0, 1, 2, 3} {
							few := rng.IntN(4)
							set, rest, err := p.fill(planes, few, 3)
							if got := [kinds]Components{set, rest}; err != nil || !reflect.DeepEqual(got, want) {
								t.Errorf("%v, %v inside, vertices %v, ends %v, in slabs of %d planes, small up to %d words: "+
									"%+v, want %+v (%v)", shape, density, vertices, ends, planes, few, got, want, err)
							}
						}
					}
				}
			}
		}
	}
}

// components fills the components of some planes. It lists the components that reach the first and
// the last plane if these are shared.
func (m *mask) components(f filling) (c Components) {
	first, ofFirst := m.planeComponents(f, 0)
	last, ofLast := m.planeComponents(f, m.d-1)
	const unseen = -1
	number := func(list []int32) []int64 { // the component number of each entry
		to := make([]int64, len(list))
		for i := range to {
			to[i] = unseen
		}
		return to
	}
	atFirst, atLast := number(first), number(last)
	outside := map[int64]bool{}
	n := m.fillEach(f, func(z, y, x, n int64) {
		if z < 0 || z >= m.d || y < 0 || y >= m.h || x < 0 || x >= m.w {
			outside[n] = true
			return
		}
		if z == 0 {
			if v := ofFirst[y*m.w+x]; v >= 0 {
				atFirst[v] = n
			}
		}
		if z == m.d-1 {
			if v := ofLast[y*m.w+x]; v >= 0 {
				atLast[v] = n
			}
		}
	})
	numbers := map[int64]int32{}
	for o := range outside {
		numbers[o] = Outside
	}
	next := int32(Outside)
	named := func(at []int64) (list []int32) {
		list = make([]int32, len(at))
		for i, n := range at {
			if _, is := numbers[n]; !is {
				next++
				numbers[n] = next
			}
			list[i] = numbers[n]
		}
		return list
	}
	if !f.ends[0] {
		c.First = named(atFirst)
	}
	if !f.ends[1] {
		c.Last = named(atLast)
	}
	c.Inner = n - int64(len(numbers))
	return c
}

// planeComponents fills the components of one plane. list has the number of each component other
// than the outside, by first voxel. of has each voxel's index in the list, or a negative number.
func (m *mask) planeComponents(f filling, z int64) (list, of []int32) {
	of = make([]int32, m.h*m.w)
	const none = -1
	for i := range of {
		of[i] = none
	}
	plane := &mask{1, m.h, m.w, m.inside[z*m.h*m.w:][:m.h*m.w]}
	f.flat[0] = true
	outside := map[int64]bool{}
	n := plane.fillEach(f, func(_, y, x, n int64) {
		if y < 0 || y >= m.h || x < 0 || x >= m.w {
			outside[n] = true
			return
		}
		of[y*m.w+x] = int32(n)
	})
	places := make([]int32, n)
	for n := range places {
		if places[n] = none; !outside[int64(n)] {
			places[n] = int32(len(list))
			list = append(list, int32(n))
		}
	}
	for i, v := range of {
		if v >= 0 {
			of[i] = places[v]
		}
	}
	return list, of
}

// A filling selects the voxels to fill: inside or outside, with neighbours at faces only or at
// corners too. An image of one plane, or of one row in each, can be flat: it has no sides there.
// The layer surrounds planes at the ends of the box, before the first one or after the last.
type filling struct {
	inside, corners bool
	flat            [2]bool // along planes, and along rows
	ends            [2]bool
}

// layers is the number of layers around the box; the second one ends every component.
const layers = 2

// fillEach fills each component from its first voxel on and counts the components. It calls see
// with every voxel of a component, including voxels of the layer, and the component's number.
// Components are numbered by first voxel.
func (m *mask) fillEach(f filling, see func(z, y, x, number int64)) (n int64) {
	ring := [3]int64{1, 1, 1} // layers of the outside around planes, rows and voxels
	around := [3]int64{layers, layers, layers}
	for axis, flat := range f.flat {
		if flat {
			ring[axis], around[axis] = 0, 0
		}
	}
	h, w := m.h+2*around[1], m.w+2*around[2]
	left := make([]bool, (m.d+2*around[0])*h*w) // still to be filled
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
