package betti

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// randomImage has so many of its voxels, about, in the set at 3.
func randomImage(t testing.TB, shape grid.Shape, density float64) (*Image, *mask) {
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
	return &Image{f, 3}, m
}

// However an image is cut into slabs, and whether or not it is in memory, words of bits fill
// what single voxels do.
func TestSlabsAreFilledLikeVoxels(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, shape := range []grid.Shape{{D: 1, H: 1, W: 1}, {D: 1, H: 9, W: 70}, {D: 2, H: 5, W: 62}, {D: 7, H: 6, W: 63}, {D: 6, H: 3, W: 64}, {D: 5, H: 1, W: 130}, {D: 9, H: 9, W: 9}, {D: 1, H: 40, W: 126}, {D: 4, H: 7, W: 128}} {
		for _, density := range []float64{0, 0.1, 0.3, 0.6, 0.9, 1} {
			in, m := randomImage(t, shape, density)
			rest := &mask{m.d, m.h, m.w, slices.Clone(m.inside)}
			for i, is := range m.inside {
				rest.inside[i] = !is
			}
			flat := [2]bool{m.d == 1, false}
			for _, c := range []ecc.Convention{{}, {Vertices: true}, {Superlevel: true}, {Vertices: true, Superlevel: true}} {
				of, image := m, in
				if c.Superlevel { // those above 3 are the rest
					of, image = rest, &Image{in.Source, 4}
				}
				want := tally{
					set:            of.fillEach(filling{true, !c.Vertices, flat, [2]bool{true, true}}, nil),
					rest:           of.fillEach(filling{false, c.Vertices, flat, [2]bool{true, true}}, nil),
					characteristic: of.characteristic(c.Vertices),
				}
				for _, planes := range []int64{0, 1, 2, 3} {
					unread := image.of(struct{ grid.Source }{image.Source})
					once := image.of(&readOnce{image.Source, make([]bool, shape.Slices())})
					few := rng.IntN(4)
					for _, in := range []*Image{
						image, unread, readBefore(t, rng, keeping(once, c, planes, few), 0), readBefore(t, rng, keeping(unread, c, planes, few), 0.5),
						readBefore(t, rng, keeping(unread, ecc.Convention{}, planes, few), 0),
					} {
						if got, err := floodOf(in, c, planes, few); err != nil || got != want {
							t.Errorf("%v, %v inside, %+v: %+v, %v in slabs of %d planes, small up to %d words, want %+v", shape, density, c, got, err, planes, few, want)
						}
					}
				}
			}
		}
	}
}

// readBefore is an image whose slices are read in any order by several goroutines, but for so many of them, about.
func readBefore(t *testing.T, rng *rand.Rand, in *Image, unread float64) *Image {
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

// readOnce refuses to read again.
type readOnce struct {
	grid.Source
	read []bool
}

func (r *readOnce) ReadSlab(dst []byte, lo, hi int64) error {
	for z := lo; z < hi; z++ {
		if r.read[z] {
			return fmt.Errorf("slice %d is read again", z)
		}
		r.read[z] = true
	}
	return r.Source.ReadSlab(dst, lo, hi)
}

// characteristic counts the cells one of whose voxels is inside, or where voxels are vertices
// those all of whose vertices are.
func (m *mask) characteristic(vertices bool) (chi int64) {
	inside := func(z, y, x int64) bool {
		return z >= 0 && z < m.d && y >= 0 && y < m.h && x >= 0 && x < m.w && m.inside[(z*m.h+y)*m.w+x]
	}
	for z := range m.d + 1 {
		for y := range m.h + 1 {
			for x := range m.w + 1 {
				for cell := range int64(8) { // that spans the axes of its bits
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

func BenchmarkFlood(b *testing.B) {
	for _, density := range []float64{0.1, 0.31, 0.5, 0.9} {
		in, _ := randomImage(b, grid.Shape{D: 192, H: 192, W: 192}, density)
		b.Run(fmt.Sprint(density), func(b *testing.B) {
			for b.Loop() {
				if _, err := floodOf(in, ecc.Convention{}, 0, mainWords); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(in.Shape().Voxels()), "ns/voxel")
		})
	}
}
