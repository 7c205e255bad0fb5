package views_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
)

func viewsOfImages(t *testing.T) {
	for _, s := range []grid.Shape{{D: 3, H: 4, W: 5}, {D: 1, H: 4, W: 5}, {D: 2, H: 1, W: 7}, {D: 1, H: 1, W: 1}} {
		f := gridtest.Numbered(t, s)
		at := func(z, y, x int64) uint16 { return uint16((z*s.H+y)*s.W + x) }
		n := s.Slices()
		all := map[string]struct {
			src  grid.Source
			want func(z, y, x int64) uint16
		}{
			"itself": {f, at},
			"flip x": {views.Flip(f, 'x'), func(z, y, x int64) uint16 { return at(z, y, s.W-1-x) }},
			"flip s": {views.Flip(f, 's'), func(z, y, x int64) uint16 {
				if s.D == 1 {
					return at(z, s.H-1-y, x)
				}
				return at(s.D-1-z, y, x)
			}},
			"transpose": {views.Transpose(f), func(z, y, x int64) uint16 { return at(z, x, y) }},
			"roll": {gridtest.Roll(f, n+1), func(z, y, x int64) uint16 {
				if s.D == 1 {
					return at(z, (y+1)%n, x)
				}
				return at((z+1)%n, y, x)
			}},
			"crop": {views.Crop(f, n-1, n), func(z, y, x int64) uint16 {
				if s.D == 1 {
					return at(z, n-1, x)
				}
				return at(n-1, y, x)
			}},
		}
		v := all["crop"]
		v.src = views.Crop(views.Flip(views.Flip(f, 'x'), 'x'), n-1, n)
		all["crop, not in memory"] = v
		if s.D > 1 {
			all["flip y"] = struct {
				src  grid.Source
				want func(z, y, x int64) uint16
			}{views.Flip(f, 'y'), func(z, y, x int64) uint16 { return at(z, s.H-1-y, x) }}
		}
		for name, v := range all {
			{
				shape := v.src.Shape()
				var want []uint16
				for i := range shape.Voxels() {
					want = append(want, v.want(shape.Coordinates(i)))
				}
				for size := int64(1); size <= shape.Slices(); size++ {
					var got []byte
					for lo := int64(0); lo < shape.Slices(); lo += size {
						hi := min(lo+size, shape.Slices())
						slab := grid.NewBuffer((hi - lo) * grid.SliceBytes(v.src))
						if err := v.src.ReadSlab(slab, lo, hi); err != nil {
							t.Fatal(err)
						}
						got = append(got, slab...)
					}
					for _, bad := range [][2]int64{{-1, 1}, {0, shape.Slices() + 1}, {1, 0}} {
						if err := v.src.ReadSlab(grid.NewBuffer(max(0, bad[1]-bad[0])*grid.SliceBytes(v.src)), bad[0], bad[1]); err == nil {
							t.Fatalf("slab %v was read", bad)
						}
					}
					if err := v.src.ReadSlab(nil, 0, 0); err != nil {
						t.Fatalf("a slab of no slices: %v", err)
					}
					if v.src.ReadSlab(grid.NewBuffer(grid.SliceBytes(v.src)+2), 0, 1) == nil {
						t.Fatal("a slab was read into a buffer that is too long")
					}
					if !bytes.Equal(got, grid.Bytes(want)) {
						t.Fatalf("%v %s, in slabs of %d: got %v, want %v", s, name, size, grid.Values[uint16](got), want)
					}
				}
			}
		}
	}
}

func relabelKeepsTheOrder(t *testing.T) {
	f := gridtest.Numbered(t, grid.Shape{D: 2, H: 3, W: 4})
	r, err := views.Relabel(f, 7)
	if err != nil {
		t.Fatal(err)
	}
	g, err := grid.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	levels := make([]int32, 24)
	grid.NewConverter(grid.Float32, g.Ladder()).Convert(levels, g.Data())
	for i, k := range levels {
		if k != int32(i) {
			t.Fatalf("voxel %d is on level %d", i, k)
		}
	}
	if g.Type() != grid.Float32 || g.Ladder().Len() != f.Ladder().Len() {
		t.Fatalf("type %v, %d levels", g.Type(), g.Ladder().Len())
	}
}

// Wrapped images have their first voxels again at their ends, and the first voxels of an axis
// are an image, whole and in any slabs.
func wrapAndFirst(t *testing.T) {
	for _, typ := range []grid.Type{grid.Uint8, grid.Float32} {
		for _, shape := range []grid.Shape{{D: 1, H: 1, W: 1}, {D: 1, H: 3, W: 4}, {D: 2, H: 1, W: 3}, {D: 3, H: 4, W: 2}} {
			data := grid.NewBuffer(shape.Voxels() * typ.Size())
			for i := range shape.Voxels() {
				gridtest.Fill(typ, data[i*typ.Size():][:typ.Size()], float32(i+2))
			}
			f, err := grid.NewField(shape, typ, data, grid.Identity(typ))
			if err != nil {
				t.Fatal(err)
			}
			was := f.Floats()
			check := func(what string, s grid.Source, want grid.Shape) {
				t.Helper()
				if s.Shape() != want {
					t.Fatalf("%v %s: shape %v, want %v", shape, what, s.Shape(), want)
				}
				whole, err := grid.Load(s)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range whole.Floats() {
					z, y, x := want.Coordinates(int64(i))
					if v != was[(z%shape.D*shape.H+y%shape.H)*shape.W+x%shape.W] {
						t.Errorf("%v %s: z %d y %d x %d is %v", shape, what, z, y, x, v)
					}
				}
				n, size := s.Shape().Slices(), grid.SliceBytes(s)
				for lo := range n + 1 {
					for hi := lo; hi <= n; hi++ {
						slab := grid.NewBuffer((hi - lo) * size)
						if err := s.ReadSlab(slab, lo, hi); err != nil || !slices.Equal(slab, whole.Data()[lo*size:hi*size]) {
							t.Errorf("%v %s: slab %d..%d differs (%v)", shape, what, lo, hi, err)
						}
					}
				}
			}
			for i := range 8 {
				a := grid.Axes{X: i&1 > 0, Y: i&2 > 0, Z: i&4 > 0}
				if a.Check(shape) != nil {
					continue
				}
				want := shape
				for axis := range a.Each() {
					*map[byte]*int64{'x': &want.W, 'y': &want.H, 'z': &want.D}[axis]++
				}
				check("wrapped along "+a.String(), views.Wrap(f, a), want)
			}
			for _, s := range []grid.Source{f, struct{ grid.Source }{f}} {
				for i, want := range []grid.Shape{{D: shape.D, H: shape.H, W: 1}, {D: shape.D, H: 1, W: shape.W}, {D: 1, H: shape.H, W: shape.W}} {
					if axis := "xyz"[i]; shape.D > 1 || axis != 'z' {
						check(fmt.Sprintf("first along %c", axis), views.First(s, axis), want)
					}
				}
			}
		}
	}
}

// A negated image has the levels of the image from the other end, and negated twice it is
// the image.
func negate(t *testing.T) {
	affine, err := grid.Affine(-3, 1, 9)
	if err != nil {
		t.Fatal(err)
	}
	table, err := grid.Table([]float32{-4, 0, 0.5, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		values []float32
	}{
		{grid.Uint8, grid.Identity(grid.Uint8), []float32{0, 255, 7, 200, 1, 254}}, {grid.Uint16, grid.Identity(grid.Uint16), []float32{0, 65535, 7, 300, 1, 2}},
		{grid.Int16, grid.Identity(grid.Int16), []float32{-32768, 32767, 0, -1, 5, 6}}, {grid.Int16, affine, []float32{-3, 5, 0, 1, -1, 2}},
		{grid.Float32, grid.Identity(grid.Float32), []float32{0, -1, 1, 1e-40, -1e30, 3e38}}, {grid.Float32, table, []float32{-4, 0, 3, 0.5, 0, -4}},
	} {
		data := grid.NewBuffer(6 * c.typ.Size())
		for i, v := range c.values {
			gridtest.Fill(c.typ, data[int64(i)*c.typ.Size():][:c.typ.Size()], v)
		}
		f, err := grid.NewField(grid.Shape{D: 1, H: 2, W: 3}, c.typ, data, c.ladder)
		if err != nil {
			t.Fatal(err)
		}
		levels := func(s grid.Source) []int64 {
			whole, err := grid.Load(s)
			if err != nil {
				t.Fatal(err)
			}
			var list []int64
			for _, v := range whole.Floats() {
				list = append(list, whole.Ladder().Level(v))
			}
			return list
		}
		was := levels(f)
		n, err := views.Negate(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range levels(n) {
			if k != c.ladder.Len()-1-was[i] {
				t.Errorf("%v on %v: value %v is level %d, negated %d of %d", c.typ, c.ladder, c.values[i], was[i], k, c.ladder.Len())
			}
		}
		again, err := views.Negate(n)
		if err != nil {
			t.Fatal(err)
		}
		if whole, err := grid.Load(again); err != nil || !slices.Equal(whole.Data(), f.Data()) {
			t.Errorf("%v on %v: negated twice it is another image (%v)", c.typ, c.ladder, err)
		}
	}
}

// A padding value that the type of the image lacks is an error.
func padOfNoValue(t *testing.T) {
	for _, c := range []struct {
		typ   grid.Type
		first float64
		want  bool
	}{
		{grid.Uint8, 0, true}, {grid.Uint8, -1, false}, {grid.Uint8, 255, true}, {grid.Uint8, 256, false}, {grid.Uint8, 0.5, false}, {grid.Uint16, 65535, true}, {grid.Uint16, 65536, false}, {grid.Uint16, -1, false},
		{grid.Int16, -32768, true}, {grid.Int16, -32769, false}, {grid.Int16, 32767, true}, {grid.Int16, 32768, false}, {grid.Float32, -1e9, true},
	} {
		l, err := grid.Affine(c.first, 1, 70000)
		if c.typ == grid.Float32 {
			l, err = grid.Affine(c.first, 1e9, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.NewField(grid.Shape{D: 1, H: 2, W: 2}, c.typ, grid.NewBuffer(4*c.typ.Size()), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := grid.Load(views.Pad(f)); (err == nil) != c.want || err != nil && !errors.Is(err, views.ErrNoValue) {
			t.Errorf("%v from level %v on: %v", c.typ, c.first, err)
		}
	}
}

// A padded image is the image within a layer of the first level, whole and in any slabs.
func pad(t *testing.T) {
	for _, typ := range grid.Types() {
		for _, shape := range []grid.Shape{{D: 1, H: 1, W: 1}, {D: 1, H: 1, W: 4}, {D: 1, H: 3, W: 2}, {D: 2, H: 1, W: 1}, {D: 3, H: 2, W: 4}} {
			data := grid.NewBuffer(shape.Voxels() * typ.Size())
			for i := range shape.Voxels() {
				gridtest.Fill(typ, data[i*typ.Size():][:typ.Size()], float32(i+2))
			}
			f, err := grid.NewField(shape, typ, data, grid.Identity(typ))
			if err != nil {
				t.Fatal(err)
			}
			p := views.Pad(f)
			deep := int64(1)
			if shape.D == 1 {
				deep = 0
			}
			if want := (grid.Shape{D: shape.D + 2*deep, H: shape.H + 2, W: shape.W + 2}); p.Shape() != want {
				t.Fatalf("%v: padded %v, want %v", shape, p.Shape(), want)
			}
			whole, err := grid.Load(p)
			if err != nil {
				t.Fatal(err)
			}
			got, within, s := whole.Floats(), f.Floats(), p.Shape()
			for z := range s.D {
				for y := range s.H {
					for x := range s.W {
						want := f.Ladder().Value(0)
						if z >= deep && z < shape.D+deep && y > 0 && y <= shape.H && x > 0 && x <= shape.W {
							want = within[((z-deep)*shape.H+y-1)*shape.W+x-1]
						}
						if v := got[(z*s.H+y)*s.W+x]; v != want {
							t.Errorf("%v %v: z %d y %d x %d is %v, want %v", shape, typ, z, y, x, v, want)
						}
					}
				}
			}
			n, size := s.Slices(), grid.SliceBytes(p)
			for lo := range n + 1 {
				for hi := lo; hi <= n; hi++ {
					slab := grid.NewBuffer((hi - lo) * size)
					if err := p.ReadSlab(slab, lo, hi); err != nil || !slices.Equal(slab, whole.Data()[lo*size:hi*size]) {
						t.Errorf("%v %v: slab %d..%d differs (%v)", shape, typ, lo, hi, err)
					}
				}
			}
		}
	}
}

// A masked image has its values as float32 on the same number of levels. Voxels outside the mask
// are above the last level, negated or not.
func mask(t *testing.T) {
	shape := grid.Shape{D: 2, H: 1, W: 2}
	mask, err := grid.NewField(shape, grid.Uint8, []byte{1, 0, 255, 7}, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range grid.Types() {
		data := grid.NewBuffer(4 * typ.Size())
		for i := range int64(4) {
			gridtest.Fill(typ, data[i*typ.Size():][:typ.Size()], float32(3*i+1))
		}
		f, err := grid.NewField(shape, typ, data, grid.Identity(typ))
		if err != nil {
			t.Fatal(err)
		}
		m, err := views.Mask(f, mask)
		if err != nil {
			t.Fatal(err)
		}
		if views.Unmasked(m) != grid.Source(f) || views.Unmasked(f) != grid.Source(f) {
			t.Errorf("%v: the image without its mask is another one", typ)
		}
		negated, err := views.Negate(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []grid.Source{m, negated, views.Present(m), views.Gaps(m), views.Crop(m, 1, 2)} {
			if s.Type() != grid.Float32 || s.Ladder().Len() != f.Ladder().Len() {
				t.Fatalf("%v: %v on %v", typ, s.Type(), s.Ladder())
			}
		}
		levels := func(s grid.Source) (list [4]int64) {
			whole, err := grid.Load(s)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range whole.Floats() {
				list[i] = s.Ladder().Level(v)
			}
			return list
		}
		n, want := f.Ladder().Len(), [4]int64{}
		for i, v := range f.Floats() {
			want[i] = f.Ladder().Level(v)
		}
		want[1] = n
		if got := levels(m); got != want {
			t.Errorf("%v: levels %v, want %v", typ, got, want)
		}
		if got := levels(negated); got != [4]int64{n - 1 - want[0], n, n - 1 - want[2], n - 1 - want[3]} {
			t.Errorf("%v: negated levels %v of %v", typ, got, want)
		}
		if got := levels(views.Present(m)); got != [4]int64{want[0], 0, want[2], want[3]} {
			t.Errorf("%v: present levels %v", typ, got)
		}
		if got := levels(views.Gaps(m)); got != [4]int64{n, 0, n, n} {
			t.Errorf("%v: levels of gaps %v", typ, got)
		}
	}
	other, err := grid.NewField(grid.Shape{D: 1, H: 2, W: 2}, grid.Uint8, make([]byte, 4), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := views.Mask(mask, other); err == nil || !strings.Contains(err.Error(), "same shape") {
		t.Errorf("a mask of another shape: %v", err)
	}
}

// A quantity to which every period adds the same is found without reading the whole image, whether
// it is generated or in memory.
func overPeriods(t *testing.T) {
	looked := int64(0)
	// The sum over pairs of adjacent slices, and over the first and the last.
	of := func(s grid.Source) (uint64, error) {
		looked += s.Shape().Voxels()
		data := grid.NewBuffer(grid.TotalBytes(s))
		if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
			return 0, err
		}
		slice := func(i int64) uint64 { return uint64(data[i*grid.SliceBytes(s)]) }
		n := s.Shape().Slices()
		sum := 1000*slice(0) + 10000*slice(n-1)
		for i := range n - 1 {
			sum += slice(i) * slice(i+1)
		}
		return sum, nil
	}
	add := func(sum *uint64, said uint64, times int64) { *sum += uint64(times) * said }
	for _, s := range []grid.Shape{{D: 40, H: 1, W: 2}, {D: 1, H: 40, W: 3}, {D: 1, H: 1, W: 1}, {D: 9, H: 2, W: 2}} {
		f := gridtest.Numbered(t, s)
		for period := int64(1); period <= s.Slices(); period++ {
			r := grid.Repeat(f, period)
			whole, err := grid.Load(r)
			if err != nil {
				t.Fatal(err)
			}
			want, err := of(whole)
			if err != nil {
				t.Fatal(err)
			}
			for what, src := range map[string]grid.Source{"made": r, "in memory": whole.Repeating(grid.Period(r))} {
				looked = 0
				got, err := views.OverPeriods(src, of, add)
				if err != nil || got != want {
					t.Errorf("%v every %d, %s: %d, %v; want %d", s, period, what, got, err, want)
				}
				if looked != views.LookedAt(src) || looked > s.Voxels() {
					t.Errorf("%v every %d, %s: looked at %d voxels, said %d", s, period, what, looked, views.LookedAt(src))
				}
			}
		}
	}
	for n, want := range map[int64]int64{1000: 12 + 2 + 4 + 2, 1001: 12 + 2 + 3 + 2, 1002: 12 + 2 + 2, 1006: 12 + 2 + 6, 13: 13, 3: 3} {
		if got := views.LookedAt(grid.Repeat(gridtest.Numbered(t, grid.Shape{D: n, H: 2, W: 2}), 10)) / 4; got != want {
			t.Errorf("of %d slices that repeat every 10, %d are looked at, want %d", n, got, want)
		}
	}
	if _, err := views.OverPeriods(grid.Repeat(gridtest.Unread{Source: gridtest.Numbered(t, grid.Shape{D: 9, H: 2, W: 2})}, 1), of, add); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("of a broken source: %v", err)
	}
}

// A table that is declared complete for a source rejects other values at any position.
func onTable(t *testing.T) {
	const most = 1 << 12
	table := []float32{-3, 0.5, 2, 1e9}
	l, err := grid.Table(table)
	if err != nil {
		t.Fatal(err)
	}
	data := grid.NewBuffer(2 * most * 4)
	values := grid.Values[float32](data)
	for i := range values {
		values[i] = table[i%len(table)]
	}
	f, err := grid.Trusted(grid.Shape{D: 2, H: 1, W: most}, grid.Float32, data, grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	s, slab := views.OnLadder(f, l), grid.NewBuffer(most*4)
	if err := s.ReadSlab(slab, 1, 2); err != nil || grid.Values[float32](slab)[3] != 1e9 {
		t.Error(err)
	}
	for _, v := range []float32{-4, 0, 1.999, 2e9} {
		for _, at := range []int{0, 1023, 1024, most - 1} {
			kept := values[most+at]
			values[most+at] = v
			if err := s.ReadSlab(slab, 1, 2); !errors.Is(err, views.ErrNotListed) || !strings.Contains(err.Error(), fmt.Sprintf("value %v, at index %d,", v, most+at)) {
				t.Errorf("%v at %d: %v", v, at, err)
			}
			values[most+at] = kept
		}
	}
}

// A ladder that is declared for a source rejects values above it, and NaN.
func onLadder(t *testing.T) {
	l, err := grid.Affine(0, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	data := grid.NewBuffer(6 * 4)
	f, err := grid.Trusted(grid.Shape{D: 3, H: 1, W: 2}, grid.Float32, data, grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	values := grid.Values[float32](data)
	copy(values, []float32{-3, 0.5, 3, 2, 4, float32(math.NaN())})
	s := views.OnLadder(f, l)
	if s.Ladder().Key() != l.Key() || grid.Step(s) != 1 || grid.CachedBytes(s) != 0 {
		t.Error(s.Ladder())
	}
	if err := s.ReadSlab(grid.NewBuffer(16), 0, 2); err != nil {
		t.Error(err)
	}
	var bad *grid.NotFiniteError
	if err := s.ReadSlab(grid.NewBuffer(8), 2, 3); !errors.As(err, &bad) || bad.First != 5 {
		t.Error(err)
	}
	if _, _, err := grid.Range(f, grid.Whole(f)); !errors.As(err, &bad) || bad.Count != 1 || bad.First != 5 {
		t.Error(err)
	}
	values[5] = 0
	if err := s.ReadSlab(grid.NewBuffer(8), 2, 3); !errors.Is(err, views.ErrAbove) {
		t.Error(err)
	}
}

var errClosed = errors.New("it is closed")

// closable counts how often it is closed, which fails.
type closable struct {
	grid.Source
	times *int
}

func (c closable) Close() error {
	*c.times++
	return errClosed
}

// A view closes its source once and returns the error. A source without Close is not closed.
func closes(t *testing.T) {
	f := gridtest.Numbered(t, grid.Shape{D: 4, H: 3, W: 2})
	times := 0
	c := closable{f, &times}
	for what, s := range map[string]grid.Source{"the source": c, "repeated": grid.Repeat(c, 2), "hashed": grid.NewDigester(c)} {
		if times = 0; !errors.Is(grid.Close(s), errClosed) || times != 1 {
			t.Errorf("%s: closed %d times", what, times)
		}
	}
	mask, err := grid.NewField(f.Shape(), grid.Uint8, grid.NewBuffer(24), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	masked, err := views.Mask(c, closable{mask, &times})
	if err != nil {
		t.Fatal(err)
	}
	if times = 0; !errors.Is(grid.Close(masked), errClosed) || times != 2 {
		t.Errorf("an image and its mask: closed %d times", times)
	}
	if err := errors.Join(grid.Close(f), grid.Close(grid.Repeat(f, 2))); err != nil {
		t.Errorf("in memory: %v", err)
	}
}

// Every view of an unreadable image returns the error, for any part of it.
func unreadViews(t *testing.T) {
	few, err := grid.Affine(0, 1, 60)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 3, H: 4, W: 5}, {D: 1, H: 4, W: 5}} {
		f := gridtest.Image(t, shape, grid.Float32, few, func(i int64) float64 { return float64(i) })
		s, n := gridtest.Unread{Source: f}, shape.Slices()
		all := map[string]grid.Source{
			"transposed": views.Transpose(s), "turned along x": views.Flip(s, 'x'), "turned along its slices": views.Flip(s, 's'), "cut": views.Crop(s, 1, n), "rolled": gridtest.Roll(s, 1),
			"padded": views.Pad(s), "on another ladder": views.OnLadder(s, grid.Identity(grid.Float32)), "closed to a ring": views.Wrap(s, grid.Axes{X: true, Y: true, Z: shape.D > 1}),
			"its first column": views.First(s, 'x'), "its first row": views.First(s, 'y'), "what is present": views.Present(s), "its gaps": views.Gaps(s), "repeated": grid.Repeat(s, n),
			"hashed": grid.NewDigester(s), "with an end": grid.WithContext(context.Background(), s),
		}
		for what, of := range map[string]func() (grid.Source, error){
			"negated": func() (grid.Source, error) { return views.Negate(s) }, "relabelled": func() (grid.Source, error) { return views.Relabel(s, 3) },
			"masked": func() (grid.Source, error) { return views.Mask(s, f) }, "under a mask that cannot be read": func() (grid.Source, error) { return views.Mask(f, s) },
		} {
			if all[what], err = of(); err != nil {
				delete(all, what)
				if !errors.Is(err, gridtest.ErrUnread) {
					t.Errorf("%v %s: %v", shape, what, err)
				}
			}
		}
		for what, v := range all {
			slices := v.Shape().Slices()
			spans := [][2]int64{{0, slices}, {0, 1}, {slices - 1, slices}}
			if what == "padded" { // whose first and last slices are put around it
				spans = [][2]int64{{0, slices}, {1, 2}, {slices - 2, slices - 1}}
			}
			for _, span := range spans {
				if err := v.ReadSlab(grid.NewBuffer((span[1]-span[0])*grid.SliceBytes(v)), span[0], span[1]); !errors.Is(err, gridtest.ErrUnread) {
					t.Errorf("%v %s, slices %v: %v", shape, what, span, err)
				}
			}
			if _, err := grid.Load(v); !errors.Is(err, gridtest.ErrUnread) {
				t.Errorf("%v %s, in memory: %v", shape, what, err)
			}
			if _, err := gridtest.Digest(v); !errors.Is(err, gridtest.ErrUnread) {
				t.Errorf("the digest of %v %s: %v", shape, what, err)
			}
			if _, _, err := grid.Range(v, grid.Whole(v)); !errors.Is(err, gridtest.ErrUnread) {
				t.Errorf("the range of %v %s: %v", shape, what, err)
			}
			for how, err := range map[string]error{
				"in slabs":                    grid.EachSlab(v, func([]byte, int64, int64) error { return nil }),
				"in slabs that share a slice": grid.EachSharing(v, 1, func([]byte, int64, int64) error { return nil }),
				"in pieces":                   gridtest.EachApart(v, grid.Whole(v), 2, false, func(*grid.Field, int64) error { return nil }),
				"in pieces of a ring":         gridtest.EachApart(v, grid.Whole(v), 2, true, func(*grid.Field, int64) error { return nil }),
			} {
				if !errors.Is(err, gridtest.ErrUnread) {
					t.Errorf("%v %s, %s: %v", shape, what, how, err)
				}
			}
		}
	}
}

// Values of every type have the levels of the ladder; negation reverses levels, and rotation moves
// places.
func viewsOfTypes(t *testing.T) {
	ladder, err := grid.Affine(3, 1, 30)
	if err != nil {
		t.Fatal(err)
	}
	want := []int32{5, 0, 29, 7, 7, 13}
	for _, typ := range grid.Types() {
		f := gridtest.Image(t, grid.Shape{D: 1, H: 2, W: 3}, typ, ladder, func(i int64) float64 { return float64(3 + want[i]) })
		negated, err := views.Negate(f)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			s    grid.Source
			want func(i int) int32
		}{
			"itself":   {f, func(i int) int32 { return want[i] }},
			"negated":  {negated, func(i int) int32 { return 29 - want[i] }},
			"in x":     {views.Flip(f, 'x'), func(i int) int32 { return want[i/3*3+2-i%3] }},
			"in order": {views.Flip(f, 's'), func(i int) int32 { return want[(i+3)%6] }},
		} {
			slab, got := grid.NewBuffer(grid.TotalBytes(f)), []int32{-1, -1, -1, -1, -1, -1}
			if err := c.s.ReadSlab(slab, 0, 2); err != nil {
				t.Fatal(err)
			}
			grid.NewConverter(typ, c.s.Ladder()).Convert(got, slab)
			for i, k := range got {
				if k != c.want(i) {
					t.Errorf("%v %s: levels %v of %v", typ, what, got, want)
					break
				}
			}
		}
	}
}

// Rows of any length change places, wherever the room for them begins.
func turnsRows(t *testing.T) {
	for w := range int64(8) {
		shape := grid.Shape{D: 2, H: 4, W: w + 1}
		f := gridtest.Image(t, shape, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64(i) })
		turned, room := views.Flip(f, 'y'), grid.NewBuffer(200)
		for at := range int64(20) {
			got := room[at:][:shape.Voxels()]
			if err := turned.ReadSlab(got, 0, 2); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if z, y, x := shape.Coordinates(int64(i)); int64(v) != (z*4+3-y)*shape.W+x {
					t.Fatalf("%v at byte %d: %v", shape, at, got)
				}
			}
		}
	}
}

// A view rejects slices before its first or after its last one, and a destination of another size.
func boundsOfViews(t *testing.T) {
	few, err := grid.Affine(0, 1, 60)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 3, H: 4, W: 5}, {D: 1, H: 4, W: 5}} {
		f := gridtest.Image(t, shape, grid.Float32, few, func(i int64) float64 { return float64(i) })
		s := struct{ grid.Source }{f} // not in memory
		relabelled, err := views.Relabel(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		masked, err := views.Mask(s, f)
		if err != nil {
			t.Fatal(err)
		}
		for what, v := range map[string]grid.Source{
			"relabelled": relabelled, "masked": masked, "padded": views.Pad(s), "wrapped": views.Wrap(s, grid.Axes{X: true, Y: true, Z: shape.D > 1}),
			"one column": views.First(s, 'x'), "one row": views.First(s, 'y'), "one column in memory": views.First(f, 'x'), "cut": views.Crop(s, 1, 3), "a plane": views.Crop(s, 1, 2),
			"repeated": grid.Repeat(s, 2), "rolled": gridtest.Roll(s, 1), "transposed": views.Transpose(s),
		} {
			n, size := v.Shape().Slices(), grid.SliceBytes(v)
			for _, bad := range [][3]int64{{-1, 1, 2 * size}, {n - 1, n + 1, 2 * size}, {1, 0, 0}, {0, 1, size + 4}, {0, 1, 0}} {
				if err := v.ReadSlab(grid.NewBuffer(bad[2]), bad[0], bad[1]); err == nil {
					t.Errorf("%v %s: slices %d to %d are read into %d bytes", shape, what, bad[0], bad[1], bad[2])
				}
			}
			for i := range n + 1 {
				if err := v.ReadSlab(nil, i, i); err != nil {
					t.Errorf("%v %s: no slices from %d on: %v", shape, what, i, err)
				}
			}
		}
	}
}
