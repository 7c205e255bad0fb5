package unions

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/ecctest"
)

// plain joins all voxels of an image at once, in the order of their levels.
func plain(s grid.Source, descending, corners, outside bool) []Step {
	shape := s.Shape()
	levels := make([]uint32, shape.Voxels())
	if err := grid.EachSlab(s, func(slab []byte, lo, hi int64) error {
		levelsOf(s)(levels[lo*shape.SliceVoxels():hi*shape.SliceVoxels()], slab)
		return nil
	}); err != nil {
		panic(err)
	}
	order := make([]int64, len(levels))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(a, b int64) int { return int(int64(levels[a]) - int64(levels[b])) })
	if descending {
		slices.Reverse(order)
	}
	beyond := shape.Voxels()
	const absent = -1
	parent := slices.Repeat([]int64{absent}, len(levels)+1)
	if outside {
		parent[beyond] = beyond
	}
	find := func(i int64) int64 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	changes := map[int64]int64{}
	for _, v := range order {
		parent[v] = v
		level := int64(levels[v])
		changes[level]++
		z, y, x := v/shape.SliceVoxels(), v/shape.W%shape.H, v%shape.W
		if shape.Dim() == 2 {
			z, y = 0, v/shape.W
		}
		for k := range int64(27) {
			dz, dy, dx := k/9-1, k/3%3-1, k%3-1
			if far := dz*dz + dy*dy + dx*dx; far == 0 || far > 1 && !corners || dz != 0 && shape.D == 1 {
				continue
			}
			to := beyond
			if c, b, a := z+dz, y+dy, x+dx; c >= 0 && c < shape.D && b >= 0 && b < shape.H && a >= 0 && a < shape.W {
				to = (c*shape.H+b)*shape.W + a
			}
			if parent[to] == absent {
				continue
			}
			if a, b := find(v), find(to); a != b {
				parent[a] = b
				changes[level]--
			}
		}
	}
	v := []Step{}
	for _, level := range slices.Sorted(maps.Keys(changes)) {
		if changes[level] != 0 && level < s.Ladder().Len() {
			v = append(v, Step{Level: level, Change: changes[level]})
		}
	}
	return v
}

// drawn is an image of some shape, type and number of levels, few of which make flats.
func drawn(t *testing.T, rng *rand.Rand) grid.Source {
	side := func(most int64) int64 { return 1 + rng.Int64N(most) }
	s := grid.Shape{D: 1, H: side(40), W: side(40)}
	if rng.IntN(3) > 0 {
		s = grid.Shape{D: side(12), H: side(12), W: side(12)}
	}
	levels := uint16(2 + rng.IntN(60))
	in := ecctest.Drawn(t, s, grid.Types()[rng.IntN(4)], levels, uint64(rng.Uint32()))
	if in.Type() != grid.Float32 || rng.IntN(2) == 0 {
		return in
	}
	f, err := grid.Trusted(s, grid.Float32, slab(t, in), grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func slab(t *testing.T, s grid.Source) []byte {
	b := grid.NewBuffer(grid.TotalBytes(s))
	if err := s.ReadSlab(b, 0, s.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Boxes of any size say what the whole says, in both graphs of each convention.
func TestBoxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	for range 100 {
		in := drawn(t, rng)
		size := grid.Shape{D: 2 + rng.Int64N(5), H: 2 + rng.Int64N(5), W: 2 + rng.Int64N(6)}
		for k := range 4 {
			superlevel, vertices := k&1 > 0, k&2 > 0
			b0, rest, err := unite(in, superlevel, vertices, size)
			if err != nil {
				t.Fatal(err)
			}
			want := [2][]Step{plain(in, superlevel, !vertices, false), plain(in, !superlevel, vertices, true)}
			for i := range want[1] {
				want[1][i].Change *= -1
			}
			if got := [2][]Step{b0, rest}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%v %v %v, boxes of %v, superlevel %v, vertices %v:\n%v\nwant\n%v", in.Shape(), in.Type(), in.Ladder(), size, superlevel, vertices, got, want)
			}
		}
	}
}

// Boxes of the usual size are several along each axis of an image that is not much larger.
func TestUsualBoxes(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 34, H: 35, W: 64}, {D: 1, H: 515, W: 125}, {D: 70, H: 2, W: 61}} {
		in := ecctest.Drawn(t, shape, grid.Uint8, 200, 3)
		b0, rest, err := Changes(in, false, false)
		if err != nil {
			t.Fatal(err)
		}
		want := plain(in, true, false, true)
		for i := range want {
			want[i].Change *= -1
		}
		if fmt.Sprint(b0) != fmt.Sprint(plain(in, false, true, false)) || fmt.Sprint(rest) != fmt.Sprint(want) {
			t.Errorf("%v: boxes say something else than the whole", shape)
		}
	}
}

// failing is an image of which a slice cannot be read.
type failing struct{ grid.Source }

func (f failing) ReadSlab(dst []byte, lo, hi int64) error {
	if hi > 33 {
		return fmt.Errorf("slice 33 is gone")
	}
	return f.Source.ReadSlab(dst, lo, hi)
}

func TestUnreadable(t *testing.T) {
	in := failing{ecctest.Drawn(t, grid.Shape{D: 40, H: 5, W: 5}, grid.Uint8, 9, 1)}
	if _, _, err := Changes(in, false, false); err == nil || !strings.Contains(err.Error(), "slice 33 is gone") {
		t.Errorf("got %v", err)
	}
}

// Nodes have numbers of 32 bits, and boxes whose nodes have none end all.
func TestTooManyNodes(t *testing.T) {
	g := &graph{}
	g.nodes.Store(math.MaxUint32 - 9)
	if err := g.number(&box{}, 0, nil, outsideNode+7); err != nil {
		t.Error(err)
	}
	joiners := []*joiner{{}, {}}
	var boxes atomic.Int64
	if err := each([]*box{{}, {}, {}, {}}, joiners, func(*joiner, *box) error {
		boxes.Add(1)
		return g.number(&box{}, 0, nil, outsideNode+7)
	}); !errors.Is(err, errNodes) || boxes.Load() > 2 {
		t.Errorf("after %d boxes: %v", boxes.Load(), err)
	}
}

// Edges of few levels and of many come in their order, and none is lost.
func TestOrderOfEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for n, levels := range map[int]uint32{0: 1, 1: 5, 1000: 300, 2000: 1 << 20, 3000: math.MaxUint32} {
		for _, descending := range []bool{false, true} {
			g := &graph{descending: descending}
			sum := uint32(0)
			for i := range n {
				g.edges = append(g.edges, edge{rng.Uint32N(levels), uint32(i), 0})
				sum += uint32(i)
			}
			g.sort()
			for i, e := range g.edges {
				if i > 0 && e.level != g.edges[i-1].level && e.level < g.edges[i-1].level != descending {
					t.Fatalf("%d edges, descending %v: level %d after %d", n, descending, e.level, g.edges[i-1].level)
				}
				sum -= e.a
			}
			if sum != 0 || len(g.edges) != n {
				t.Errorf("%d edges: others, or %d", n, len(g.edges))
			}
		}
	}
}
