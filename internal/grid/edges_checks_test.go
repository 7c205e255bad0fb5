package grid_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
)

// Values with labels are printed as their labels, in digits, bytes and numbers; other values are
// printed unchanged.
func labels(t *testing.T) {
	le := binary.LittleEndian
	for _, c := range []struct {
		of     func() (*grid.Labels, error)
		kind   string
		digits string
		bytes  uint64
		float  float64
	}{
		{func() (*grid.Labels, error) { return grid.NewLabels("int32", []int32{-7, -5}) }, "<i8", "-5", math.MaxUint64 - 4, -5},
		{func() (*grid.Labels, error) { return grid.NewLabels("int64", []int64{-7, math.MaxInt64}) }, "<i8", "9223372036854775807", math.MaxInt64, math.MaxInt64},
		{func() (*grid.Labels, error) { return grid.NewLabels("uint32", []uint32{0, math.MaxUint32}) }, "<u8", "4294967295", math.MaxUint32, math.MaxUint32},
		{func() (*grid.Labels, error) { return grid.NewLabels("uint64", []uint64{0, math.MaxUint64}) }, "<u8", "18446744073709551615", math.MaxUint64, math.MaxUint64},
		{func() (*grid.Labels, error) { return grid.NewLabels("float64", []float64{0, 1. / 3}) }, "<f8", "0.3333333333333333", math.Float64bits(1. / 3), 1. / 3},
	} {
		l, err := c.of()
		if err != nil {
			t.Fatal(err)
		}
		v, before := grid.Ranked(1), []byte("x")
		if l.Len() != 2 || l.Kind() != c.kind || l.Float64(v) != c.float || string(l.Append(before, v)) != "x"+c.digits || !slices.Equal(l.AppendBytes(before, v), le.AppendUint64(before, c.bytes)) {
			t.Errorf("%v of kind %s: %s, %x, %v", l, l.Kind(), l.Append(nil, v), l.AppendBytes(nil, v), l.Float64(v))
		}
		if want := "2 distinct values of " + l.Type(); l.String() != want {
			t.Errorf("%q, want %q", l.String(), want)
		}
	}
	var none *grid.Labels
	if v := float32(0.1); none.Digest() != "" || none.Kind() != "<f4" || string(none.Append(nil, v)) != "0.1" || !slices.Equal(none.AppendBytes(nil, v), le.AppendUint32(nil, math.Float32bits(v))) || none.Float64(v) != float64(v) {
		t.Errorf("no labels of kind %s: %s, %x, %v", none.Kind(), none.Append(nil, v), none.AppendBytes(nil, v), none.Float64(v))
	}
	if a, b := grid.Ranked(0), grid.Ranked(1); a <= 0 || b != math.Nextafter32(a, 1) {
		t.Errorf("the first ranks are %v and %v", a, b)
	}
	f := gridtest.Labelled(t, grid.Shape{D: 2, H: 1, W: 2}, []float64{0.1, 0.2}, 0, 1, 1, 0)
	masked, err := views.Mask(f, gridtest.OfBytes(t, f.Shape(), 1, 1, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if grid.LabelsOf(f) != f.Labels() || f.Labels().Len() != 2 || grid.LabelsOf(masked) != f.Labels() || grid.LabelsOf(views.Flip(gridtest.Numbered(t, f.Shape()), 'x')) != nil {
		t.Error("labels of an image are lost, or it has some")
	}
}

// Values outside the image are above all others. −0 stays in memory that may not be written. Values
// above the last level are counted, for every type.
func gapsAndTops(t *testing.T) {
	nan, inf, minus := float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))
	shape := grid.Shape{D: 1, H: 2, W: 2}
	gaps := []float32{nan, minus, 3, -nan}
	if err := grid.NormaliseGaps(gaps, 0, shape); err != nil || !slices.Equal(gaps, []float32{inf, 0, 3, inf}) || math.Signbit(float64(gaps[1])) {
		t.Errorf("with gaps %v (%v)", gaps, err)
	}
	for want, err := range map[string]error{
		"1 value is NaN or infinite, the first at index 3 (y 1, x 1)":   grid.NormaliseGaps([]float32{inf, 1}, 3, shape),
		"2 values are NaN or infinite, the first at index 2 (y 1, x 0)": grid.Finite([]float32{1, nan, inf}, 1, shape),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	kept := []float32{minus}
	if err := grid.Finite(kept, 0, shape); err != nil || !math.Signbit(float64(kept[0])) {
		t.Errorf("what is looked at becomes %v (%v)", kept, err)
	}
	// Every value is checked, at any position in a group.
	plain := []float32{0, 1, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32}
	for from := range 2 {
		for n := 1; n < 40; n++ {
			row := grid.Shape{D: 1, H: 1, W: int64(n)}
			for at := range n {
				for _, odd := range []float32{minus, nan, -nan, inf, -inf} {
					values := make([]float32, from+n)[from:]
					for i := range values {
						values[i] = plain[(i*i+at)%len(plain)]
					}
					want := slices.Clone(values)
					values[at], want[at] = odd, 0
					err := grid.Normalise(values, 0, row)
					switch bad := new(grid.NotFiniteError); {
					case odd != minus && (!errors.As(err, &bad) || bad.Count != 1 || bad.First != int64(at)):
						t.Fatalf("%v at %d of %d: %v", odd, at, n, err)
					case odd == minus && (err != nil || !slices.Equal(values, want) || math.Signbit(float64(values[at]))):
						t.Fatalf("−0 at %d of %d: %v (%v)", at, n, values, err)
					}
				}
			}
		}
	}
	few, err := grid.Affine(-2, 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range grid.Types() {
		data := grid.NewBuffer(4 * typ.Size())
		for i, v := range []float32{2, 3, 1, 7} {
			gridtest.Fill(typ, data[int64(i)*typ.Size():][:typ.Size()], v)
		}
		if _, err := grid.NewField(shape, typ, data, few); err == nil || !strings.Contains(err.Error(), "2 values are above the ladder's last level 2, the first at index 1") {
			t.Errorf("%v above the last level: %v", typ, err)
		}
	}
	most := uint64(math.MaxUint64)
	for range 3 { // others may take memory
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		grid.NewBuffer(1 << 16)
		runtime.ReadMemStats(&after)
		most = min(most, after.TotalAlloc-before.TotalAlloc)
	}
	if most > 1<<17 {
		t.Errorf("a buffer of 64 KiB takes %d bytes", most)
	}
	if v := grid.NewValues[float64](3); len(v) != 3 {
		t.Errorf("%d values, want 3", len(v))
	}
}

// without is an image without levels, or with an unreadable slice 0.
type without struct {
	grid.Source
	levels bool
}

func (w without) Ladder() grid.Ladder {
	if w.levels {
		return grid.Ladder{}
	}
	return w.Source.Ladder()
}

func (w without) ReadSlab(dst []byte, lo, hi int64) error {
	if lo == 0 && !w.levels {
		return gridtest.ErrUnread
	}
	return w.Source.ReadSlab(dst, lo, hi)
}

// Invalid pieces of an image are errors, and so is a failed read of the slice that closes a ring.
func piecesThatFail(t *testing.T) {
	f := gridtest.Numbered(t, grid.Shape{D: 6, H: 2, W: 2})
	none := func(*grid.Field, int64) error { return nil }
	if err := gridtest.EachApart(without{f, true}, grid.Whole(f), 2, false, none); err == nil {
		t.Error("pieces on no levels")
	}
	for _, closed := range []bool{false, true} {
		if err := gridtest.EachApart(without{f, false}, grid.Span{Lo: 3, Hi: 6}, 2, closed, none); errors.Is(err, gridtest.ErrUnread) != closed {
			t.Errorf("closed %v: %v", closed, err)
		}
	}
	// Slices that are larger than slabs are slabs.
	if err := grid.EachSlab(gridtest.VastOf(grid.Shape{D: 2, H: 1 << 13, W: 1 << 12}, grid.Uint8), func([]byte, int64, int64) error { return nil }); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("large slices: %v", err)
	}
	var more []bool
	if err := grid.EachJoined(f, grid.Whole(f), 2, false, func(p grid.Piece) error { more = append(more, p.More); return nil }); err != nil || !slices.Equal(more, []bool{true, true, false}) {
		t.Errorf("more pieces come: %v (%v)", more, err)
	}
	const size = 16 // bytes of a slice
	for _, c := range []struct{ lo, hi, slices, bytes int64 }{{0, 6, 7, 7 * size}, {2, 4, 3, 3 * size}, {5, 6, 2, 2 * size}} {
		of := grid.Span{Lo: c.lo, Hi: c.hi}
		small := gridtest.Image(t, grid.Shape{D: 6, H: 2, W: 2}, grid.Float32, grid.Identity(grid.Float32), func(int64) float64 { return 0 })
		if n, b := grid.PieceSlices(small, of), grid.PieceBytes(small, of); n != c.slices || b != c.bytes {
			t.Errorf("%v: %d slices, %d bytes, want %d and %d", of, n, b, c.slices, c.bytes)
		}
	}
	large := sized{f, grid.Shape{D: 1 << 10, H: 1 << 12, W: 1 << 11}} // a slice is 16 MiB
	for slices, want := range map[int64]int64{8: 9, 9: 2 * 9, 16: 2 * 9, 17: 2 * 9} {
		if got := grid.PieceBytes(large, grid.Span{Hi: slices}) >> 24; got != want {
			t.Errorf("%d large slices: %d at a time, want %d", slices, got, want)
		}
	}
}

// spread is an image of large slices that each begin with a value that is not finite.
type spread struct{ counting }

func (s spread) ReadSlab(dst []byte, lo, hi int64) error {
	for i := lo; i < hi; i++ {
		grid.Values[float32](dst)[(i-lo)<<22] = float32(math.Inf(1))
	}
	return grid.CheckSlab(s, dst, lo, hi)
}

// worried finds something wrong with every image.
type worried struct{ *gridtest.Looker }

func (worried) Err() error { return errBroken }

// Views pass on the properties of their sources.
func whatSourcesSay(t *testing.T) {
	f := gridtest.Numbered(t, grid.Shape{D: 6, H: 2, W: 2})
	var bad *grid.NotFiniteError
	if _, _, err := grid.Range(spread{counting{2, 2}}, grid.Span{Hi: 2}); !errors.As(err, &bad) || bad.Count != 2 || bad.First != 0 {
		t.Errorf("of two slabs that are not finite: %v", err)
	}
	one := gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 1}, 7)
	if a, b, err := grid.Range(one, grid.Whole(one)); a != 7 || b != 7 || err != nil {
		t.Errorf("of one voxel: %v to %v (%v)", a, b, err)
	}
	if grid.Step(f) != 1 || grid.CachedBytes(f) != 0 || grid.InBulk(f) {
		t.Errorf("in memory %d slices of %d bytes are read together", grid.Step(f), grid.CachedBytes(f))
	}
	if r := grid.Unrepeated(grid.Repeat(f, 1)); grid.Period(r) != 0 {
		t.Error("a source of one slice repeats itself still")
	}
	ctx, end := context.WithCancel(context.Background())
	r := grid.WithContext(ctx, grid.Repeat(struct{ grid.Source }{f}, 2))
	slab := grid.NewBuffer(grid.SliceBytes(f))
	if err := r.ReadSlab(slab, 0, 1); err != nil || grid.Period(r) != 2 {
		t.Errorf("with an end it repeats itself every %d slices (%v)", grid.Period(r), err)
	}
	if end(); !errors.Is(r.ReadSlab(slab, 0, 1), context.Canceled) {
		t.Error("it is read after its end")
	}
	looker := &gridtest.Looker{}
	if w := f.Watched(looker); grid.WatcherOf(w) != grid.Watcher(looker) || grid.WatcherOf(f) != nil || grid.WatcherOf(struct{ grid.Source }{w}) != nil || grid.Ended(w) != nil || !errors.Is(grid.Ended(f.Watched(worried{looker})), errBroken) {
		t.Error("an image has another watcher")
	}
	all := grid.Axes{X: true, Y: true, Z: true}
	if a, b := all.WithinSlices(grid.Shape{D: 1, H: 2, W: 2}), all.WithinSlices(f.Shape()); a != all.Without('y') || b != all.Without('z') {
		t.Errorf("axes %v within rows, %v within planes", a, b)
	}
	for range all.Each() {
		break // the caller stops
	}
	if a, err := grid.ParseAxes([]string{"y"}); err != nil || a != (grid.Axes{Y: true}) {
		t.Errorf("y is %v (%v)", a, err)
	}
	const most = math.MaxInt64 / 8
	for _, shape := range []grid.Shape{{D: 1, H: 1, W: most}, {D: 1, H: most, W: 1}, {D: most, H: 1, W: 1}, {D: 3, H: 5, W: most / 15}} {
		if err := shape.Check(); err != nil {
			t.Error(err)
		}
		if shape.W++; shape.W > 2 && shape.Check() == nil {
			t.Errorf("%v voxels are counted", shape)
		}
	}
	for want, shape := range map[string]grid.Shape{"4x3": {D: 1, H: 3, W: 4}, "4x3x2": {D: 2, H: 3, W: 4}, "4x3x0": {H: 3, W: 4}, "4x0x2": {D: 2, W: 4}, "0x3x2": {D: 2, H: 3}} {
		if shape.String() != want || (shape.Check() == nil) == (shape.Voxels() == 0) {
			t.Errorf("%v, want %s (%v)", shape, want, shape.Check())
		}
	}
	for a, want := range map[int64]int64{0: 0, 1: 1, 4: 1, 5: 2, 8: 2, 9: 3} {
		if got := grid.CeilDiv(a, 4); got != want {
			t.Errorf("%d pieces of 4 hold %d, want %d", got, a, want)
		}
	}
}

// Ladders of any kind survive encoding with their names, and truncated bytes are an error.
func encodedLadders(t *testing.T) {
	table, err := grid.Table([]float32{-1, 0.5, 7})
	if err != nil {
		t.Fatal(err)
	}
	affine, err := grid.Affine(-3, 0.5, 9)
	if err != nil {
		t.Fatal(err)
	}
	for want, l := range map[string]grid.Ladder{
		"table:3": table, "affine:-3:0.5:9": affine, "identity:256": grid.Identity(grid.Uint8), "identity:65536": grid.Identity(grid.Uint16),
		"identity:65536 from -32768": grid.Identity(grid.Int16), "identity:4278190079, every float32": grid.Identity(grid.Float32), "none": {},
	} {
		if l.String() != want || !strings.HasPrefix(l.Key(), want) {
			t.Errorf("%v is called %s, want %s", l, l.Key(), want)
		}
		data, err := l.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var back grid.Ladder
		if err := back.UnmarshalBinary(data); err != nil || back.Key() != l.Key() || (back.Listed() == nil) != (l.Listed() == nil) || back.TableBytes() != 4*int64(len(l.Listed())) {
			t.Errorf("%v comes back as %v (%v)", l, back, err)
		}
		for n := range len(data) + 2 {
			if err := new(grid.Ladder).UnmarshalBinary(append(data, 0)[:n]); (err == nil) != (n == len(data)) {
				t.Errorf("%v: %d of %d bytes are a ladder: %v", l, n, len(data), err)
			}
		}
	}
	if k := (grid.Ladder{}).Level(1); k != 0 {
		t.Errorf("of no levels one is %d", k)
	}
	every := grid.Identity(grid.Float32)
	if least, most := every.Level(-math.MaxFloat32), every.Level(math.MaxFloat32); least != 0 || most != every.Len()-1 {
		t.Errorf("the ends of float32 are levels %d and %d", least, most)
	}
}
