package unions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test boxes, their join, and levels.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "boxes of an image", Of: func(t *testing.T) { boxesAreJoined(t, 30) }},
		{Name: "boxes of the usual size", Of: usualBoxesAreJoined},
		{Name: "boxes of any shape", Of: boxesFit},
		{Name: "long ways to minima", Of: longWaysEnd},
		{Name: "levels of an image", Of: levelsAreListed},
		{Name: "sums by level", Of: sumsAre},
		{Name: "boxes that are not read", Of: unreadIsTold},
		{Name: "more nodes than numbers", Of: tooManyNodesAreTold},
		{Name: "order of edges", Of: edgesAreSorted},
		{Name: "memory of unions", Of: memoryIsOfEdges},
		{Name: "links by all instructions", Of: func(t *testing.T) {
			for seed := range uint32(4) {
				if err := SelfTest(seed); err != nil {
					t.Error(err)
				}
			}
		}},
	}
}

// plain joins all voxels of an image at once, in the order of their levels.
func plain(t *testing.T, s grid.Source, descending, corners, outside bool) []Step {
	shape := s.Shape()
	levels := make([]uint32, shape.Voxels())
	if err := grid.EachSlab(s, func(slab []byte, lo, hi int64) error {
		grid.ToLevels(s)(levels[lo*shape.SliceVoxels():hi*shape.SliceVoxels()], slab)
		return nil
	}); err != nil {
		t.Fatal(err)
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

// drawn returns an image of a random shape, type and number of levels. Few levels make flats.
func drawn(t *testing.T, rng *rand.Rand) grid.Source {
	side := func(most int64) int64 { return 1 + rng.Int64N(most) }
	s := grid.Shape{D: 1, H: side(40), W: side(40)}
	if rng.IntN(3) > 0 {
		s = grid.Shape{D: side(12), H: side(12), W: side(12)}
	}
	if rng.IntN(4) == 0 { // levels far apart in several 16-bit digits, and values above all
		n := 1<<16 + rng.Int64N(5) - 2
		l, err := grid.Affine(0, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float32, s.Voxels())
		for i := range values {
			values[i] = float32(rng.Int64N(4) + rng.Int64N(2)*(n-3))
		}
		f, err := grid.Trusted(s, grid.Float32, grid.Bytes(values), l)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	levels := uint16(2 + rng.IntN(60))
	in := gridtest.Drawn(t, s, grid.Types()[rng.IntN(4)], levels, uint64(rng.Uint32()))
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

// memory is that of all checks, so each finds what another image left.
var memory Memory

// Boxes of any size agree with the whole image, in both graphs of each convention.
func boxesAreJoined(t *testing.T, images int) {
	rng := rand.New(rand.NewPCG(11, 5))
	for range images {
		in := drawn(t, rng)
		size := grid.Shape{D: 2 + rng.Int64N(5), H: 2 + rng.Int64N(5), W: 2 + rng.Int64N(6)}
		for k := range 4 {
			superlevel, vertices := k&1 > 0, k&2 > 0
			b0, rest, err := unite(&memory, in, superlevel, vertices, size, grid.ToLevels)
			if bytesAreLevels(in) {
				b0, rest, err = unite(&memory, in, superlevel, vertices, size, bytesOf)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := [2][]Step{plain(t, in, superlevel, !vertices, false), plain(t, in, !superlevel, vertices, true)}
			for i := range want[1] {
				want[1][i].Change *= -1
			}
			if got := [2][]Step{b0, rest}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%v %v %v, boxes of %v, superlevel %v, vertices %v:\n%v\nwant\n%v", in.Shape(), in.Type(), in.Ladder(), size, superlevel, vertices, got, want)
			}
		}
	}
}

// Even a small image has several boxes of the usual size along each axis.
func usualBoxesAreJoined(t *testing.T) {
	for _, shape := range []grid.Shape{
		{D: 34, H: 67, W: 60}, {D: 3, H: 67, W: 515}, {D: 1, H: 259, W: 515}, {D: 70, H: 2, W: 61},
	} {
		changesArePlain(t, gridtest.Drawn(t, shape, grid.Uint8, 200, 3))
	}
	// Boxes of nearly the largest size, where every second voxel is a minimum.
	full := grid.Shape{D: 88, H: 17, W: 257}
	board := gridtest.Image(t, full, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 {
		return float64((i/full.SliceVoxels() + i/full.W%full.H + i%full.W) % 2)
	})
	for _, vertices := range []bool{false, true} {
		numbersArePlain(t, board, vertices)
	}
}

// The minima of a box have numbers of 16 bits, and a box has two layers or more along each axis of a volume, with any
// number of cores.
func boxesFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 5))
	side := func() int64 { return 1 + rng.Int64N(1<<rng.IntN(14)) }
	for range 2000 {
		s := grid.Shape{D: 2 + side(), H: side(), W: side()}
		if b := boxOf(s); min(b.D, b.H, b.W) < 2 || (b.D+1)*(b.H+1)*(b.W+1) > mostInBox {
			t.Fatalf("%v: boxes of %v", s, b)
		}
	}
}

func changesArePlain(t *testing.T, in grid.Source) {
	t.Helper()
	numbersArePlain(t, in, false)
}

func numbersArePlain(t *testing.T, in grid.Source, vertices bool) {
	t.Helper()
	b0, rest, err := memory.Changes(in, false, vertices, false)
	if err != nil {
		t.Fatal(err)
	}
	want := plain(t, in, true, vertices, true)
	for i := range want {
		want[i].Change *= -1
	}
	if fmt.Sprint(b0) != fmt.Sprint(plain(t, in, false, !vertices, false)) || fmt.Sprint(rest) != fmt.Sprint(want) {
		t.Errorf("%v: boxes say something else than the whole", in.Shape())
	}
}

// Valleys that rise or fall over hundreds of voxels, with walls between them that have gaps.
func longWaysEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 5))
	for _, shape := range []grid.Shape{{D: 1, H: 40, W: 520}, {D: 1, H: 520, W: 40}, {D: 34, H: 12, W: 220}} {
		for _, falls := range []float64{1, -1} {
			changesArePlain(t, gridtest.Image(t, shape, grid.Int16, grid.Identity(grid.Int16), func(i int64) float64 {
				x, y, z := i%shape.W, i/shape.W%shape.H, i/shape.W/shape.H
				along := float64(x + y + z)
				if y%3 == 0 && shape.W > shape.H || x%3 == 0 && shape.W < shape.H {
					return falls * (along + 100*float64(rng.IntN(50)))
				}
				return falls * along
			}))
		}
	}
}

// The occurring levels of all slices are listed in order. The ladder of every float32 has more
// levels than int32 values, in the order of the values.
func levelsAreListed(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 5))
	odd := []float32{3e38, -3e38, 0, float32(math.Copysign(0, -1)), 1e-45, -1e-45, 1, -1, 3e38, 2}
	every := gridtest.Image(t, grid.Shape{D: 1, H: 2, W: 5}, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return float64(odd[i]) })
	of := func(s grid.Source, values []float32) {
		t.Helper()
		want := []int64{}
		for _, v := range values {
			level := int64(0)
			if l := s.Ladder(); !l.Indexed() {
				level = int64(grid.EveryLevel(v))
			} else if level = l.Level(v); level == l.Len() {
				continue
			}
			want = append(want, level)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		for i, level := range want[1:] {
			if s.Ladder().Value(level) <= s.Ladder().Value(want[i]) {
				t.Errorf("level %d is not above level %d", level, want[i])
			}
		}
		if got, err := LevelsOf(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v %v %v: levels %v, want %v (%v)", s.Shape(), s.Type(), s.Ladder(), got, want, err)
		}
	}
	of(every, odd)
	for range 20 {
		in := drawn(t, rng).(*grid.Field)
		of(in, in.Floats())
		of(struct{ grid.Source }{in}, in.Floats())
	}
	of(bands{}, []float32{0, 1, 2})
	if _, err := LevelsOf(gridtest.Unread{Source: every}); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("of an image that is not read: %v", err)
	}
}

// bands is an image of slices of one value each, with the least value in the last slice. It is not
// read at once.
type bands struct{}

func (bands) Shape() grid.Shape   { return grid.Shape{D: 3, H: 1 << 10, W: 1 << 11} }
func (bands) Type() grid.Type     { return grid.Float32 }
func (bands) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }
func (b bands) ReadSlab(dst []byte, lo, hi int64) error {
	slab, n := grid.Values[float32](dst), b.Shape().SliceVoxels()
	for z := range hi - lo {
		for i := range n {
			slab[z*n+i] = float32(2 - lo - z)
		}
	}
	return grid.CheckSlab(b, dst, lo, hi)
}

// Sums contain the changes of each level from all tallies, for any number of levels. Levels beyond
// the last do not count.
func sumsAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 5))
	for _, levels := range []int64{1, 7, 1 << 16, 1<<16 + 1, 1 << 20} {
		l, err := grid.Affine(0, 1, levels)
		if err != nil {
			t.Fatal(err)
		}
		of := [2]tally{newTally(l), newTally(l)}
		sums := map[int64]int64{}
		for range 200 {
			level, change := rng.Int64N(min(levels, 20)), rng.IntN(28)-26
			if rng.IntN(2) == 0 {
				level = levels + 1 - level // also beyond the last one
			}
			if of[rng.IntN(2)].add(uint32(level), change); level < levels {
				sums[level] += int64(change)
			}
		}
		of[0].merge(&of[1])
		for _, sign := range []int64{1, -1} {
			want := []Step{}
			for _, level := range slices.Sorted(maps.Keys(sums)) {
				if sums[level] != 0 {
					want = append(want, Step{Level: level, Change: sign * sums[level]})
				}
			}
			if got := of[0].changes(sign); !slices.Equal(got, want) {
				t.Errorf("%d levels: %v, want %v", levels, got, want)
			}
		}
	}
}

// failing is an image with an unreadable slice.
type failing struct{ grid.Source }

func (f failing) ReadSlab(dst []byte, lo, hi int64) error {
	if hi > 33 {
		return fmt.Errorf("slice 33 is gone")
	}
	return f.Source.ReadSlab(dst, lo, hi)
}

// An image with an unreadable slice has no changes, and neither has one that has ended.
func unreadIsTold(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	end()
	if _, _, err := memory.Changes(grid.WithContext(ctx, gridtest.Drawn(t, grid.Shape{D: 4, H: 5, W: 5}, grid.Uint8, 9, 1)), false, false, false); !errors.Is(err, context.Canceled) {
		t.Errorf("an image that has ended has changes (%v)", err)
	}
	in := failing{gridtest.Drawn(t, grid.Shape{D: 40, H: 5, W: 5}, grid.Uint8, 9, 1)}
	if _, _, err := memory.Changes(in, false, false, false); err == nil || !strings.Contains(err.Error(), "slice 33 is gone") {
		t.Errorf("got %v", err)
	}
}

// Nodes have 32-bit numbers; more nodes are an error.
func tooManyNodesAreTold(t *testing.T) {
	g := &graph{}
	g.nodes.Store(math.MaxUint32 - 9)
	if err := g.number(&box{}, 0, nil, outsideNode+7); err != nil {
		t.Error(err)
	}
	g.nodes.Store(math.MaxUint32 - 8)
	if err := g.number(&box{}, 0, nil, outsideNode+7); !errors.Is(err, errNodes) {
		t.Errorf("a number too many: %v", err)
	}
	g.nodes.Store(math.MaxUint32 - 2)
	joiners := []*joiner[uint8]{{}, {}}
	var boxes atomic.Int64
	if err := each([]*box{{}, {}, {}, {}}, joiners, func(*joiner[uint8], *box) error {
		boxes.Add(1)
		return g.number(&box{}, 0, nil, outsideNode+7)
	}); !errors.Is(err, errNodes) || boxes.Load() > 2 {
		t.Errorf("after %d boxes: %v", boxes.Load(), err)
	}
}

// Edges of few and of many levels are sorted, and none is lost.
func edgesAreSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for n, levels := range map[int]uint32{0: 1, 1: 5, 1000: 300, 2000: 1 << 20, 3000: math.MaxUint32} {
		for _, descending := range []bool{false, true} {
			g := &graph{descending: descending}
			sum := uint32(0)
			for i := range n {
				g.edges = append(g.edges, []edge{{rng.Uint32N(levels), uint32(i), 0}})
				sum += uint32(i)
			}
			edges := g.sorted()
			for i, e := range edges {
				if i > 0 && e.level != edges[i-1].level && e.level < edges[i-1].level != descending {
					t.Fatalf("%d edges, descending %v: level %d after %d", n, descending, e.level, edges[i-1].level)
				}
				sum -= e.a
			}
			if sum != 0 || len(edges) != n {
				t.Errorf("%d edges: others, or %d", n, len(edges))
			}
		}
	}
}

// In addition to slabs, the estimate includes the edges of both graphs, for an eighth of the
// voxels. With many levels it includes the changes of both at each voxel, and a little more.
func memoryIsOfEdges(t *testing.T) {
	two := grid.Shape{D: 1, H: 500, W: 70}
	for shape, step := range map[grid.Shape]int64{{D: 50, H: 60, W: 70}: 32, two: slicesPerSlab(boxOf(two), two)} {
		n := shape.Voxels()
		more := func(l grid.Ladder) int64 {
			f, err := grid.Trusted(shape, grid.Float32, grid.NewBuffer(4*n), l)
			if err != nil {
				t.Fatal(err)
			}
			in := struct{ grid.Source }{f} // its slabs are in memory
			return Bytes(in) - grid.SharingBytes(in, step)
		}
		few, err := grid.Affine(0, 1, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		edges := 2 * int64(unsafe.Sizeof(edge{})) * n / 8
		if got := more(few); got != edges {
			t.Errorf("%v: edges take %d bytes, want %d", shape, got, edges)
		}
		if got := more(grid.Identity(grid.Float32)) - edges; got <= 2*8*n || got >= 2*9*n {
			t.Errorf("%v: changes at many levels take %d bytes, want a little more than %d", shape, got, 2*8*n)
		}
	}
}
