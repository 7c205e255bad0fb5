package betti

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/verify/verifytest"
	"eccbench/internal/workloads/ecc"
)

func open(t *testing.T, name string) *Image {
	t.Helper()
	in, err := Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// The known numbers of solids of every shape equal the fill.
func solidsAreKnown(t *testing.T) {
	list := []string{"sponge/shape=3x3x3", "sponge/shape=9x9x9", "sponge/shape=27x27x27", "sponge/shape=27x27", "sponge/shape=3x3", "sponge/shape=1x1", "drills/shape=45x45x3/count=12"}
	for i := range 40 {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		side := func() int64 { return 1 + rng.Int64N(9) }
		s := grid.Shape{D: side(), H: side(), W: side()}
		for _, generator := range []string{"serpent", "drills", "cavities", "checkerboard", "dots"} {
			list = append(list, fmt.Sprintf("%s/shape=%v", generator, s))
		}
		if s.W > 4 && s.H > 4 {
			list = append(list, fmt.Sprintf("drills/shape=%v/count=3", s), fmt.Sprintf("cavities/shape=%v/count=2", grid.Shape{D: s.D + 2, H: s.H, W: s.W}))
		}
	}
	for _, s := range []grid.Shape{{D: 2, H: 5, W: 4}, {D: 4, H: 3, W: 5}, {D: 6, H: 4, W: 1}, {D: 8, H: 1, W: 3}, {D: 12, H: 3, W: 2}} {
		for roll := range s.D - 1 {
			list = append(list, fmt.Sprintf("serpent/shape=%v/roll=%d", s, 1+roll))
		}
	}
	for _, image := range list {
		name := NameOf(0, image+"/type=uint8")
		in := open(t, name)
		want, err := ByFlooding(in, ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := knownNumbers(name, in); !ok || got != want {
			t.Errorf("%s: known to be %v, %v; filled %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"betti/at=0/of=serpent/shape=9x9x9/type=uint8/roll=2", "betti/at=0/of=sponge/shape=9x9x8/type=uint8", "betti/at=0/of=sponge/shape=8x8x8/type=uint8", "betti/at=0/of=serpent/shape=3x3x4/type=uint8/repeat=2", "betti/at=3/of=noise/shape=9x9x9/type=uint8"} {
		if n, ok := knownNumbers(name, open(t, name)); ok {
			t.Errorf("%s: known to be %v", name, n)
		}
	}
	if _, ok := knownNumbers("betti/at=0/of=ball/shape=9x9x9/type=uint8", open(t, "betti/at=1/of=ball/shape=9x9x9/type=uint8")); ok {
		t.Error("an image at another level than its name has known numbers")
	}
}

// Names select a set of an image, including the middle one, and invalid names are rejected.
func namesAreRead(t *testing.T) {
	if in := open(t, "betti/at=-1/of=noise/shape=8x8/type=uint8"); in.Threshold != 127 {
		t.Errorf("the middle of 256 levels is %v", in.Threshold)
	}
	if in := open(t, "betti/at=-1/of=ball/shape=8x8/type=uint8"); in.Threshold != 0 {
		t.Errorf("the middle of 2 levels is %v", in.Threshold)
	}
	names, err := Inputs{}.Variants("betti/at=7/of=noise/shape=8x8/levels=16/type=uint8/seed=1", 2)
	if err != nil || len(names) != 2 || names[1] != "betti/at=7/of=noise/shape=8x8/levels=16/type=uint8/seed=2" {
		t.Error(names, err)
	}
	for _, name := range (Inputs{}).Smaller("betti/at=7/of=noise/shape=8x8/levels=16/type=uint8/seed=1") {
		if in := open(t, name); in.Threshold != 7 {
			t.Errorf("%s has threshold %v", name, in.Threshold)
		}
	}
	for _, bad := range []string{"betti/at=-2/of=noise/shape=8x8", "betti/of=noise/shape=8x8", "betti/at=2/of=ball/shape=8x8/type=uint8", "betti/at=1", "noise/shape=8x8", "betti/at=x/of=noise/shape=8x8"} {
		if _, err := (Inputs{}).Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A set contains the values at or below its value, even if the value is no float32, and also for
// labels.
func thresholdsAre(t *testing.T) {
	f, err := grid.NewField(grid.Shape{D: 1, H: 1, W: 3}, grid.Float32, grid.Bytes([]float32{grid.Ranked(0), grid.Ranked(1), grid.Ranked(2)}), grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	labels, err := grid.NewLabels("float64", []float64{-1, 0.1, 1e200})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s               grid.Source
		value           float64
		below, andAbove int // numbers of values
	}{
		{f.Labelled(labels), -2, 0, 3}, {f.Labelled(labels), -1, 1, 3}, {f.Labelled(labels), 0, 1, 2}, {f.Labelled(labels), 0.1, 2, 2},
		{f.Labelled(labels), 1e200, 3, 1}, {f.Labelled(labels), 1e300, 3, 0},
	} {
		for superlevel, want := range map[bool]int{false: c.below, true: c.andAbove} {
			m, err := maskOf(&Image{c.s, Threshold(c.s, grid.Numbers(c.value)[0], superlevel)}, superlevel)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, in := range m.inside {
				if in {
					got++
				}
			}
			if got != want {
				t.Errorf("%v, superlevel %v: %d voxels, want %d", c.value, superlevel, got, want)
			}
		}
	}
	for _, value := range []float64{0.1, -0.1, 1e300, -1e300, 3} {
		if at := Threshold(f, grid.Numbers(value)[0], false); float64(at) > value {
			t.Errorf("not above %v is not above %v", value, at)
		}
		if at := Threshold(f, grid.Numbers(value)[0], true); float64(at) < value {
			t.Errorf("not below %v is not below %v", value, at)
		}
	}
}

// Views give the same bytes in slabs of any length.
func viewsAreInSlabs(t *testing.T) {
	for _, image := range []string{"noise/shape=5x4x7/type=uint8", "noise/shape=5x7/type=float32", "noise/shape=3x4x5/type=int16", "noise/shape=3x4x5/type=uint16"} {
		in := open(t, NameOf(middle, image))
		views := []grid.Source{in.Binary(), in.complement().Source, doubled{in.Source}, withoutVoxel{&Image{in.Source, 1e9}, 0}.Source}
		if in.Shape().D == 1 {
			views = append(views, extruded{in.Source, 3})
		}
		for _, v := range views {
			n, size := v.Shape().Slices(), grid.SliceBytes(v)
			whole := grid.NewBuffer(n * size)
			if err := v.ReadSlab(whole, 0, n); err != nil {
				t.Fatal(err)
			}
			for lo := range n {
				for hi := lo; hi <= n; hi++ {
					part := grid.NewBuffer((hi - lo) * size)
					if err := v.ReadSlab(part, lo, hi); err != nil || !bytes.Equal(part, whole[lo*size:hi*size]) {
						t.Errorf("%s, %T: slab %d..%d is another one, %v", image, v, lo, hi, err)
					}
				}
			}
		}
	}
}

// Removing one voxel changes each number within its bounds.
func oneVoxelLess(t *testing.T) {
	in := open(t, "betti/at=0/of=constant/shape=3x3x3/type=uint8")
	out := Numbers{B0: 10, B1: 20, B2: 30}
	for _, c := range []struct {
		name        string
		least, most int64
		change      func(*Numbers, int64)
	}{
		{"b0", -1, 7, func(n *Numbers, by int64) { n.B0 += by }},
		{"b1", -7, 5, func(n *Numbers, by int64) { n.B1 += by }},
		{"b2", -5, 1, func(n *Numbers, by int64) { n.B2 += by }},
	} {
		for by := int64(-9); by <= 9; by++ {
			d, err := oneLess(in, out, func(*Image) (Numbers, error) {
				less := out
				c.change(&less, by)
				return less, nil
			})
			if err != nil || (d == nil) != (c.least <= by && by <= c.most) || d != nil && !strings.HasPrefix(d.Where, c.name+" without voxel ") {
				t.Errorf("%s changes by %d: %+v, %v", c.name, by, d, err)
			}
		}
	}
}

// Answers for views in other conventions agree with an independent implementation of the
// conventions: for one set, and for all levels.
func viewsAreHeld(t *testing.T) {
	for _, name := range []string{"betti/at=1/of=noise/shape=5x4x6/levels=4/type=uint8/seed=2", "betti/at=2/of=between/shape=9x11/levels=6/step=1/seed=3"} {
		in := open(t, name)
		for i, l := range viewLaws() {
			for wrong, want := range map[int64]bool{0: false, 1: true} {
				d, err := l.Check(in, Numbers{}, func(view *Image) (Numbers, error) {
					n, err := ByFlooding(view, ecc.Convention{})
					return Numbers{n.B0, n.B1 + wrong, n.B2}, err
				})
				if (d != nil) != want || err != nil {
					t.Errorf("%s, view %d, wrong by %d: %v (%v)", name, i, wrong, d, err)
				}
			}
		}
		for i, l := range curvesViews() {
			for wrong, want := range map[int64]bool{0: false, 1: true} {
				d, err := l.Check(in.Source, nil, func(view grid.Source) (Curves, error) {
					c, err := filledCurves(view, ecc.Convention{})
					if err == nil {
						c[len(c)/2].B1 += wrong
					}
					return c, err
				})
				if (d != nil) != want || err != nil {
					t.Errorf("%s, curves of view %d, wrong by %d: %v (%v)", name, i, wrong, d, err)
				}
			}
		}
	}
}

// The slices of a 3D image can be transposed. A 2D image has none, but can be repeated in three
// planes. An image in memory above the limit is not transposed.
func slicesStand(t *testing.T) {
	in := open(t, NameOf(middle, "noise/shape=5x4x7/type=uint8"))
	v, err := upright(in.Source)
	if err != nil || v.Shape() != (grid.Shape{D: 4, H: 7, W: 5}) {
		t.Fatalf("%v (%v)", v, err)
	}
	again, err := upright(v)
	if err != nil {
		t.Fatal(err)
	}
	was, err := grid.Load(in.Source)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range []*grid.Field{v.(*grid.Field), again.(*grid.Field)} {
		if same := bytes.Equal(f.Data(), was.Data()); same != (i == 1) {
			t.Errorf("turned %d times it is the same: %v", i+1, same)
		}
	}
	flat := open(t, NameOf(middle, "noise/shape=5x4/type=uint8")).Source
	if v, err := upright(flat); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("of one slice: %v (%v)", v, err)
	}
	if v, err := planes(flat); err != nil || v.Shape() != (grid.Shape{D: 3, H: 4, W: 5}) {
		t.Errorf("planes of one slice: %v (%v)", v, err)
	}
	for _, s := range []grid.Shape{{D: 1, H: 1<<14 + 1, W: 1 << 16}, {D: 1<<4 + 1, H: 1 << 10, W: 1 << 16}} {
		turn := upright
		if s.D == 1 {
			turn = ecc.Transposed
		}
		if v, err := turn(gridtest.VastOf(s, grid.Uint8)); !errors.Is(err, verify.ErrNotApplicable) {
			t.Errorf("%v is turned: %v (%v)", s, v, err)
		}
	}
	if v, err := planes(in.Source); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("planes of several slices: %v (%v)", v, err)
	}
}

// An invalid name has no smaller images, and a valid one has them if they exist.
func smallerAreNamed(t *testing.T) {
	if names := (Inputs{}).Smaller("noise/shape=8x8/type=uint8"); len(names) != 0 {
		t.Errorf("%q", names)
	}
	if names := (Inputs{}).Smaller("betti/at=7/of=noise/shape=8x8/levels=16/type=uint8/seed=1"); len(names) == 0 {
		t.Error("none are smaller than 8x8")
	}
}

// Parts that share a slice bound the numbers of the whole, from both sides.
func cutIsBounded(t *testing.T) {
	in := open(t, "betti/at=0/of=constant/shape=3x3x6/type=uint8")
	a, b, c := Numbers{10, 20, 30}, Numbers{100, 200, 300}, Numbers{3, 5, 0}
	least, most := Numbers{107, 215, 330}, Numbers{110, 223, 335}
	answer := func(part *Image) (Numbers, error) {
		return map[int64]Numbers{4: a, 3: b, 1: c}[part.Shape().D], nil
	}
	number := func(n *Numbers, i int) *int64 { return []*int64{&n.B0, &n.B1, &n.B2}[i] }
	for i := range 3 {
		for out := *number(&least, i) - 3; out <= *number(&most, i)+3; out++ {
			of := least
			*number(&of, i) = out
			d, err := cut(in, of, answer)
			inside := out >= *number(&least, i) && out <= *number(&most, i)
			if err != nil || (d == nil) != inside || d != nil && !strings.HasPrefix(d.Where, fmt.Sprintf("b%d, cut at slice 3", i)) {
				t.Errorf("b%d is %d: %+v, %v", i, out, d, err)
			}
		}
	}
	for slices, want := range map[int64]bool{1: false, 2: false, 3: true} {
		_, err := cut(open(t, fmt.Sprintf("betti/at=0/of=constant/shape=3x3x%d/type=uint8", slices)), Numbers{}, func(*Image) (Numbers, error) { return Numbers{}, nil })
		if slices == 1 { // its rows are slices
			want = true
		}
		if errors.Is(err, verify.ErrNotApplicable) == want {
			t.Errorf("of %d slices: %v", slices, err)
		}
	}
}

// Encoded numbers decode to the same, each separately, and no other length decodes. The first
// differing number is reported. A trivial answer is weak.
func numbersAre(t *testing.T) {
	n := Numbers{1, -2, 1 << 40}
	b := Encode(n)
	if got, err := Decode(b); err != nil || got != n {
		t.Errorf("%v, %v; want %v", got, err, n)
	}
	for _, other := range [][]byte{nil, b[:len(b)-1], append(b, 0)} {
		if got, err := Decode(other); err == nil {
			t.Errorf("%d bytes are %v", len(other), got)
		}
	}
	if d := agree(nil, n, n); d != nil {
		t.Errorf("the same numbers differ: %v", d)
	}
	for i := range 3 {
		other := n
		for k, to := range []*int64{&other.B0, &other.B1, &other.B2} {
			if k >= i {
				*to++
			}
		}
		if d := agree(nil, n, other); d == nil || d.Where != fmt.Sprintf("b%d", i) {
			t.Errorf("%v, not %v: %v", other, n, d)
		}
	}
	for n, said := range map[Numbers]bool{{}: true, {B0: 1}: true, {B0: 2}: false, {B0: 1, B1: 1}: false, {B0: 1, B2: 1}: false} {
		if (weak(nil, n) != "") != said {
			t.Errorf("%v: %q", n, weak(nil, n))
		}
	}
	counts := make([]int64, 6)
	for i := range counts {
		counts[i] = 1 << (4 * i)
	}
	if got, want := Read(nil, counts), (Numbers{0x1001, 0x1001 + 0x10010 - 0x100100, 0x10010}); got != want {
		t.Errorf("sums %x are %v, want %v", counts, got, want)
	}
}

// Reading in parts on several cores gives the image: its set, the number of sets without each
// voxel, and the fill.
func partsAreRead(t *testing.T) {
	shape := grid.Shape{D: 5, H: 512, W: 1 << 10} // two planes are read at a time (fill: uint8, sets: float32)
	for _, typ := range []grid.Type{grid.Uint8, grid.Float32} {
		l, err := grid.Affine(0, 1, 256)
		if err != nil {
			t.Fatal(err)
		}
		f := gridtest.Image(t, shape, typ, l, func(i int64) float64 { return float64(uint32(i>>5) * 2654435761 >> 24) })
		in := &Image{f, 100}
		unread := in.viewOf(struct{ grid.Source }{f})
		values := f.Floats()
		m, err := maskOf(unread, false)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Sets(unread.Source, grid.Numbers(30, 100), ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		sets := grid.NewBuffer(shape.Voxels())
		if err := s.ReadSlab(sets, 0, shape.D); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			beyond := byte(0)
			if v > 30 {
				beyond++
			}
			if v > 100 {
				beyond++
			}
			if m.inside[i] != (v <= 100) || sets[i] != beyond {
				t.Fatalf("%v: %v of voxel %d is inside: %v, and in all but %d sets", typ, v, i, m.inside[i], sets[i])
			}
		}
		want, err := ByFlooding(in, ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ByFlooding(unread, ecc.Convention{}); err != nil || got != want {
			t.Errorf("%v: %v (%v), want %v", typ, got, err, want)
		}
		if _, err := maskOf(in.viewOf(gridtest.Unread{Source: f}), false); err == nil {
			t.Errorf("%v: an image that is not read has a set", typ)
		}
	}
}

// Converted numbers of views equal the fill of the image's own set in each convention. Poison
// remains, and failures are returned.
func numbersAreTurned(t *testing.T) {
	asked := func(c ecc.Convention, answer ask) bench.Workload[*Image, Numbers] {
		return InConvention(Workload(bench.FromFunc(answer)), c)
	}
	for _, f := range fewLevels(t) {
		for at := -1; at <= 6; at++ {
			in := &Image{f, float32(at)}
			for _, c := range everyConvention() {
				want, err := ByFlooding(in, c)
				if err != nil {
					t.Fatal(err)
				}
				w := asked(c, func(view *Image) (Numbers, error) { return ByFlooding(view, ecc.Convention{}) })
				if got, err := bench.Answer(w.Impls[0], in, bench.Conditions{}); err != nil || got != want {
					t.Errorf("%v at %d, %+v: %v (%v), want %v", f.Shape(), at, c, got, err, want)
				}
				w = asked(c, func(*Image) (Numbers, error) { return Poisoned, nil })
				if got, err := bench.Answer(w.Impls[0], in, bench.Conditions{}); err != nil || got != Poisoned {
					t.Errorf("%+v: %v of what was overwritten (%v)", c, got, err)
				}
				w = asked(c, func(*Image) (Numbers, error) { return Numbers{}, gridtest.ErrUnread })
				if got, err := bench.Answer(w.Impls[0], in, bench.Conditions{}); !errors.Is(err, gridtest.ErrUnread) {
					t.Errorf("%+v: %v of who fails (%v)", c, got, err)
				}
				if c == (ecc.Convention{}) {
					continue
				}
				for wrong := range int64(2) { // it is the only law
					out := want
					out.B1 += wrong
					if d, err := w.Policy.Laws[0].Check(in, out, nil); err != nil || (d == nil) != (wrong == 0) {
						t.Errorf("%v at %d, %+v, wrong by %d: %v (%v)", f.Shape(), at, c, wrong, d, err)
					}
				}
			}
		}
	}
}

// All readers return the error of an unreadable image, also if only the second read fails. Slices
// that do not exist are not read.
func unreadIsTold(t *testing.T) {
	f := spots(t, grid.Shape{D: 5, H: 6, W: 7})
	in := &Image{gridtest.Unread{Source: f}, 100}
	views := map[string]grid.Source{
		"binary": in.Binary(), "complement": in.complement().Source, "doubled": doubled{in.Source}, "extruded": extruded{gridtest.Unread{Source: spots(t, grid.Shape{D: 1, H: 6, W: 7})}, 3},
		"without": withoutVoxel{in.Binary(), 0}, "keeping": Keeping(in, ecc.Convention{}),
	}
	for _, typ := range grid.Types() {
		s, err := Sets(gridtest.Unread{Source: gridtest.Image(t, f.Shape(), typ, grid.Identity(typ), func(int64) float64 { return 0 })}, grid.Numbers(1), ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		views["sets of "+typ.String()] = s
	}
	for name, v := range views {
		size := grid.SliceBytes(v)
		if err := v.ReadSlab(grid.NewBuffer(2*size), 0, 2); !errors.Is(err, gridtest.ErrUnread) {
			t.Errorf("%s of an image that is not read: %v", name, err)
		}
	}
	whole := &Image{f, 100}
	for name, v := range map[string]grid.Source{"binary": whole.Binary(), "doubled": doubled{f}, "extruded": extruded{spots(t, grid.Shape{D: 1, H: 6, W: 7}), 3}} {
		n, size := v.Shape().Slices(), grid.SliceBytes(v)
		for _, slab := range [][3]int64{{0, n + 1, n + 1}, {0, 2, 1}, {-1, 1, 2}} {
			if v.ReadSlab(grid.NewBuffer(slab[2]*size), slab[0], slab[1]) == nil {
				t.Errorf("%s: slices %d to %d of %d are read into room for %d", name, slab[0], slab[1], n, slab[2])
			}
		}
	}
	if (withoutVoxel{(&Image{f, -1}).Binary(), 3}).ReadSlab(grid.NewBuffer(f.Shape().Voxels()), 0, 5) == nil {
		t.Error("a voxel that is not in the set is taken out of it")
	}
	for _, vertices := range []bool{false, true} {
		for _, ends := range [][2]bool{{false, true}, {true, false}} {
			for _, source := range []grid.Source{in.Source, gridtest.ReadOnce(f)} { // planes at ends are read again
				p := Piece{Image: in.viewOf(source), Vertices: vertices, Ends: ends}
				if _, err := CompareSlab(p, Slab{}, 2); err == nil {
					t.Errorf("%T, ends %v: a piece that is not read has components", source, ends)
				}
			}
		}
	}
	if Keeping(whole, ecc.Convention{}).Source != grid.Source(f) {
		t.Error("an image in memory is kept")
	}
}

// The estimates of the laws grow with the image. Reductions apply to small images, on one core.
func estimatesGrow(t *testing.T) {
	of := func(voxels int64) grid.Source {
		return gridtest.VastOf(grid.Shape{D: voxels >> 16, H: 1 << 8, W: 1 << 8}, grid.Uint8)
	}
	verifytest.EstimatesGrow(t, laws, func(voxels int64) *Image { return &Image{Source: of(voxels)} }, "reductions of the complex of cells")
	verifytest.EstimatesGrow(t, curvesLaws, of)
}

// The set of any type is the values not above a threshold, or not below it, and the view of an
// implementation has the same voxels.
func setsOfTypes(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, typ := range grid.Types() {
		f := gridtest.Image(t, grid.Shape{D: 3, H: 5, W: 7}, typ, grid.Identity(typ), func(i int64) float64 { return float64(i * 31 % 101) })
		for _, at := range []float32{-inf, -1e30, -0.5, 0, 1e-10, 50, 50.5, 100, 101, 1e30, inf} {
			for _, superlevel := range []bool{false, true} {
				in := &Image{f, at}
				m, err := maskOf(in, superlevel)
				if err != nil {
					t.Fatal(err)
				}
				seen, err := maskOf(in.set(ecc.Convention{Superlevel: superlevel}), false)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range f.Floats() {
					want := superlevel && v >= at || !superlevel && v <= at
					if m.inside[i] != want || seen.inside[i] != want {
						t.Fatalf("%v, superlevel %v of %v: %v is inside: %v, in the view %v",
							typ, superlevel, at, v, m.inside[i], seen.inside[i])
					}
				}
			}
		}
	}
}

// The cost of an input follows from its image and level. An input without a name is not known, and
// one without numbers is rejected.
func restIsSaid(t *testing.T) {
	const image = "noise/shape=8x9x10/levels=16/type=uint8/seed=1"
	for level, at := range map[int64]string{middle: "middle", 7: "7"} {
		in := open(t, NameOf(level, image))
		of, got := fields.Inputs{}.Cost(image, in.Source), Inputs{}.Cost(NameOf(level, image), in)
		if of.Class += "/at=" + at; got != of {
			t.Errorf("at level %d: %+v, want %+v", level, got, of)
		}
	}
	if _, err := (Inputs{}).Open("betti/at=0/of=nothing/shape=3x3"); err == nil {
		t.Error("an image that there is not is opened")
	}
	in := &Image{spots(t, grid.Shape{D: 9, H: 5, W: 70}), 110}
	if n, ok := knownNumbers("noise", in); ok {
		t.Errorf("no name is known to be %v", n)
	}
	w := Workload(bench.FromFunc(func(*Image) (Numbers, error) { return Numbers{}, nil }))
	if is := InConvention(w, ecc.Convention{}).Policy; len(is.Laws) != len(w.Policy.Laws) || is.Known == nil {
		t.Errorf("%d laws in the project's convention, want %d", len(is.Laws), len(w.Policy.Laws))
	}
	curves := CurvesWorkload(bench.FromFunc(func(grid.Source) (Curves, error) { return nil, nil }))
	if is := CurvesInConvention(curves, ecc.Convention{}).Policy; len(is.Laws) != len(curves.Policy.Laws) {
		t.Errorf("%d laws of curves in the project's convention, want %d", len(is.Laws), len(curves.Policy.Laws))
	}
	ringed := InConvention(w, ecc.Convention{Periodic: grid.Axes{X: true}}).Impls[0]
	if _, err := ringed.Setup(in, bench.Conditions{}); err == nil || ringed.CanDo(in, bench.Conditions{}) == nil {
		t.Error("an image closed to a ring is not refused")
	}
	p := Piece{Image: in, Ends: [2]bool{true, false}}
	s, err := floodSlab(p, 1)
	if err != nil {
		t.Fatal(err)
	}
	for by := range int64(2) {
		s.Set.Inner += by
		for cores := range 2 { // 0 and 1 mean one core
			if d, err := CompareSlab(p, s, cores); (d != nil) != (by > 0) || err != nil {
				t.Errorf("a piece with %d components more, on %d cores: %v, %v", by, cores, d, err)
			}
		}
	}
	d, err := CompareSlab(Piece{Image: in.viewOf(gridtest.Unread{Source: in.Source})}, s, 1)
	if !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("a piece that is not read is like another: %v, %v", d, err)
	}
}
