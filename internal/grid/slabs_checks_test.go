package grid_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// Pieces cover the source's slices, each once in total. Two pieces share a slice at a time, and the
// source is read once.
func eachPiece(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 1, H: 1, W: 3}, {D: 1, H: 9, W: 2}, {D: 1, H: 3, W: 1}, {D: 2, H: 3, W: 2}, {D: 3, H: 1, W: 1}, {D: 11, H: 2, W: 3}} {
		f := gridtest.Numbered(t, shape)
		n, size := shape.Slices(), grid.SliceBytes(f)
		for _, step := range []int64{0, 2, 3, 4, 100} {
			times, last, shared := make([]int64, n), int64(-1), int64(-1)
			err := gridtest.EachApart(gridtest.ReadOnce(struct{ grid.Source }{f}), grid.Whole(f), step, false, func(piece *grid.Field, by int64) error {
				first := int64(grid.Values[uint16](piece.Data())[0]) / shape.SliceVoxels()
				k := piece.Shape().Slices()
				if piece.Shape().Dim() != shape.Dim() { // a plane
					k = 1
				}
				want := max(last, 0)
				if by < 0 { // the slices shared with the slab before
					want = shared
				}
				if first != want {
					t.Errorf("%v in %d: a piece begins with slice %d, want %d", shape, step, first, want)
				}
				if !slices.Equal(piece.Data(), f.Data()[first*size:(first+k)*size]) || piece.Ladder().Key() != f.Ladder().Key() {
					t.Errorf("%v in %d: a piece from slice %d on is not the image's", shape, step, first)
				}
				if by == -1 && (k != 1 || shape.D > 1 && piece.Shape() != grid.Shape{D: 1, H: shape.H, W: shape.W}) || by == 1 && k == 1 && n > 1 {
					t.Errorf("%v in %d: piece %v counts %d times", shape, step, piece.Shape(), by)
				}
				for i := range k {
					times[first+i] += by
				}
				if by > 0 {
					shared, last = first, first+k-1
				}
				return nil
			})
			if err != nil || slices.ContainsFunc(times, func(k int64) bool { return k != 1 }) {
				t.Errorf("%v in %d: slices count %v times (%v)", shape, step, times, err)
			}
			stop := errors.New("stop")
			if err := gridtest.EachApart(f, grid.Whole(f), step, false, func(_ *grid.Field, times int64) error {
				if times < 0 || n <= 2 {
					return stop
				}
				return nil
			}); !errors.Is(err, stop) && (step == 2 || step == 3) && n > step {
				t.Errorf("%v in %d: stopped with %v", shape, step, err)
			}
		}
	}
}

// The spans of any cut add up to each slice once, and each pair of neighbours once; in a ring also
// the last and the first. Each span reads its own slices, the one before them, and the one that
// closes the ring.
func eachPieceOfSpans(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 1, H: 9, W: 2}, {D: 1, H: 1, W: 3}, {D: 2, H: 3, W: 2}, {D: 11, H: 2, W: 3}} {
		f := gridtest.Numbered(t, shape)
		n := shape.Slices()
		for _, closed := range []bool{false, true} {
			for cuts := range int64(14) {
				times, pairs := make([]int64, n), map[[2]int64]int64{}
				for i := range cuts + 1 {
					of := grid.Span{Lo: n * i / (cuts + 1), Hi: n * (i + 1) / (cuts + 1)}
					read := gridtest.ReadOnce(struct{ grid.Source }{f})
					err := gridtest.EachApart(read, of, 2, closed, func(piece *grid.Field, by int64) error {
						values := grid.Values[uint16](piece.Data())
						slice := func(i int) int64 { return int64(values[i*int(shape.SliceVoxels())]) / shape.SliceVoxels() }
						k := len(values) / int(shape.SliceVoxels())
						for i := range k {
							times[slice(i)] += by
							if i > 0 {
								pairs[[2]int64{slice(i - 1), slice(i)}] += by
							}
						}
						return nil
					})
					if err != nil {
						t.Fatalf("%v in %d spans, %v: %v", shape, cuts+1, of, err)
					}
					for s := range read.Read {
						s := int64(s)
						wanted := s >= max(of.Lo-1, 0) && s < of.Hi || closed && of.Hi == n && s == 0
						if got := read.Read[s].Load(); got != (wanted && of.Len() > 0) {
							t.Errorf("%v in %d spans, %v: slice %d was read: %v", shape, cuts+1, of, s, got)
						}
					}
				}
				want := map[[2]int64]int64{}
				for s := range n - 1 {
					want[[2]int64{s, s + 1}]++
				}
				if closed {
					want[[2]int64{n - 1, 0}]++
				}
				if slices.ContainsFunc(times, func(k int64) bool { return k != 1 }) {
					t.Errorf("%v in %d spans, closed %v: slices count %v times", shape, cuts+1, closed, times)
				}
				if !maps.Equal(pairs, want) {
					t.Errorf("%v in %d spans, closed %v: pairs %v, want %v", shape, cuts+1, closed, pairs, want)
				}
			}
		}
	}
}

// With 0 a piece has as many slices as suit its cost; a small image has one piece.
func piecesAreLarge(t *testing.T) {
	f := gridtest.Numbered(t, grid.Shape{D: 5, H: 2, W: 2})
	pieces := 0
	if err := gridtest.EachApart(f, grid.Whole(f), 0, false, func(*grid.Field, int64) error { pieces++; return nil }); err != nil || pieces != 1 {
		t.Errorf("%d pieces of a small image (%v)", pieces, err)
	}
}

type bulky struct{ grid.Source }

func (bulky) InBulk() bool { return true }

// Joined pieces fit a core's cache, unless the source is far away.
func joinedPiecesAreSmall(t *testing.T) {
	s := sized{gridtest.Numbered(t, grid.Shape{D: 1, H: 1, W: 1}), grid.Shape{D: 1 << 10, H: 1 << 10, W: 1 << 9}} // a slice is 1 MiB
	for threads, want := range map[int]int64{1: 8, 2: 16, 3: 24, 64: 64} {
		if got := grid.CachedSlices(s, threads); got != want {
			t.Errorf("%d slices for %d cores, want %d", got, threads, want)
		}
	}
	s.shape.D = 64
	if got := grid.CachedSlices(s, 3); got != 16 {
		t.Errorf("%d slices per piece of an image of 64, want a quarter", got)
	}
	s.shape.D = 1 << 10
	for _, far := range []grid.Source{bulky{s}, &grid.Digester{Wrapped: grid.Wrapped{Source: bulky{s}}}} {
		if got := grid.CachedSlices(far, 1); got != 64 {
			t.Errorf("%d slices of a source that is far away", got)
		}
	}
}

// sized is an image of another shape, which is never read.
type sized struct {
	grid.Source
	shape grid.Shape
}

func (s sized) Shape() grid.Shape { return s.shape }

// A counting source has the number of each slice as its values. It fails from one slice on, and is
// large enough for several slabs.
type counting struct {
	slices, fails int64
}

var errBroken = errors.New("broken")

func (c counting) Shape() grid.Shape { return grid.Shape{D: c.slices, H: 1 << 10, W: 1 << 12} }
func (counting) Type() grid.Type     { return grid.Float32 }
func (counting) Ladder() grid.Ladder { return grid.Ladder{} }
func (c counting) ReadSlab(dst []byte, lo, hi int64) error {
	if hi > c.fails {
		return errBroken
	}
	for i, slice := lo, grid.Values[float32](dst); i < hi; i++ {
		slice[(i-lo)<<22] = float32(i)
	}
	return grid.CheckSlab(c, dst, lo, hi)
}

// Slabs are passed in order while the next one is read, and an error of either side ends the loop.
func eachSlab(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		source counting
		stop   int64 // the slice that f stops at
		want   error
		seen   int
	}{
		{counting{2, 2}, -1, nil, 2}, {counting{7, 7}, -1, nil, 7}, {counting{8, 8}, -1, nil, 8}, {counting{25, 25}, -1, nil, 25},
		{counting{25, 9}, -1, errBroken, 9}, {counting{25, 1}, -1, errBroken, 1}, {counting{25, 25}, 4, stop, 4}, {counting{25, 25}, 24, stop, 24},
		{counting{25, 5}, 0, stop, 0}, {counting{25, 0}, -1, errBroken, 0},
	} {
		var seen []float32
		err := grid.EachSlab(c.source, func(slab []byte, lo, hi int64) error {
			if lo <= c.stop && c.stop < hi {
				return stop
			}
			for i := range hi - lo {
				seen = append(seen, grid.Values[float32](slab)[i<<22])
			}
			return nil
		})
		want := make([]float32, c.seen)
		for i := range want {
			want[i] = float32(i)
		}
		if !errors.Is(err, c.want) || !slices.Equal(seen, want) {
			t.Errorf("%+v: %v, slices %v", c, err, seen)
		}
	}
}

// A watched source checks that the work on a piece is done before its memory is read into again.
type watched struct {
	counting
	t    *testing.T
	done []atomic.Bool // by piece
}

func (watched) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

// ReadSlab checks the piece two before this one, because two are in memory at a time.
func (w watched) ReadSlab(dst []byte, lo, hi int64) error {
	if before := lo/2 - 2; before >= 0 && !w.done[before].Load() {
		w.t.Errorf("slices %d to %d come to the place of piece %d before that is done with", lo, hi, before)
	}
	return w.counting.ReadSlab(dst, lo, hi)
}

// Deferred work on a piece runs in parallel with the next piece, which does not overwrite it. It is
// finished at the end, even after an error, and its errors are returned.
func piecesAreLeft(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		source counting
		stop   int // the piece at which its consumer stops
		wrong  int // the piece at which the deferred work fails
		want   error
		handed int
	}{
		{counting{9, 9}, -1, -1, nil, 5}, {counting{2, 2}, -1, -1, nil, 1}, {counting{9, 9}, 3, -1, stop, 4}, {counting{9, 9}, 0, -1, stop, 1}, {counting{9, 4}, -1, -1, errBroken, 2},
		{counting{9, 9}, -1, 1, errBroken, 3}, {counting{9, 9}, -1, 3, errBroken, 5}, {counting{9, 9}, -1, 4, errBroken, 5}, {counting{9, 9}, 2, 2, stop, 3},
	} {
		w := watched{c.source, t, make([]atomic.Bool, 5)}
		begun := make([]chan bool, 6)
		for k := range begun {
			begun[k] = make(chan bool)
		}
		k, ended := -1, false
		err := grid.EachJoined(w, grid.Whole(w), 2, false, func(p grid.Piece) error {
			k++
			close(begun[k])
			k := k
			whole := func() bool {
				lo := max(0, 2*k-1)
				for i := range p.Shape().D {
					if p.Floats()[i<<22] != float32(lo+int(i)) {
						return false
					}
				}
				return p.Shape().D == min(c.source.slices, int64(2*k+2))-int64(lo)
			}
			if !whole() {
				t.Errorf("%+v: piece %d is another", c, k)
			}
			last := 2*int64(k)+2 >= c.source.slices || 2*int64(k)+2 >= c.source.fails || k == c.stop || c.wrong >= 0 && k >= c.wrong // the next one does not come
			p.Leave(func() error {
				if !last {
					<-begun[k+1]
				}
				if ended || !whole() {
					t.Errorf("%+v: what is left of piece %d has another (%v)", c, k, ended)
				}
				w.done[k].Store(true)
				if k == c.wrong {
					return errBroken
				}
				return nil
			})
			if k == c.stop {
				return stop
			}
			return nil
		})
		ended = true
		done := 0
		for i := range w.done {
			if w.done[i].Load() {
				done++
			}
		}
		if !errors.Is(err, c.want) || done != k+1 || done != c.handed {
			t.Errorf("%+v: %v, %d of %d pieces are done with", c, err, done, k+1)
		}
	}
}

// Slabs with shared slices are the same for an image in memory as for one that is read.
func eachSharing(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 7, H: 2, W: 3}, {D: 1, H: 7, W: 6}} {
		f, err := grid.NewField(shape, grid.Uint8, grid.NewBuffer(shape.Voxels()), grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Data() {
			f.Data()[i] = byte(i)
		}
		for step := range int64(9) {
			var spans [2][]string
			for i, s := range []grid.Source{f, struct{ grid.Source }{f}} {
				if err := grid.EachSharing(s, step+1, func(slab []byte, lo, hi int64) error {
					spans[i] = append(spans[i], fmt.Sprint(lo, hi, slab))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			if n := (shape.Slices() + step) / (step + 1); int64(len(spans[0])) != n || !slices.Equal(spans[0], spans[1]) {
				t.Errorf("%v in %ds: %v, read %v", shape, step+1, spans[0], spans[1])
			}
			if size, hi := grid.SliceBytes(f), min(2*step+2, shape.Slices()); step+1 < shape.Slices() {
				if want := fmt.Sprint(step, hi, f.Data()[step*size:hi*size]); spans[0][1] != want {
					t.Errorf("%v in %ds: the second is %v, want %v", shape, step+1, spans[0][1], want)
				}
			}
		}
		if err := grid.EachSharing(f, 3, func([]byte, int64, int64) error { return errBroken }); !errors.Is(err, errBroken) {
			t.Errorf("%v: %v", shape, err)
		}
	}
}

// An image in memory is one slab, of all its slices and its own bytes.
func eachSlabOfAField(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 3, H: 2, W: 5}, {D: 1, H: 4, W: 5}} {
		data := grid.NewBuffer(shape.Voxels())
		f, err := grid.NewField(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		if err := grid.EachSlab(f, func(slab []byte, lo, hi int64) error {
			if calls++; lo != 0 || hi != shape.Slices() || len(slab) != len(data) || &slab[0] != &data[0] {
				t.Errorf("%v: slices %d to %d in %d bytes", shape, lo, hi, len(slab))
			}
			return nil
		}); err != nil || calls != 1 {
			t.Errorf("%v: %d slabs, %v", shape, calls, err)
		}
	}
}

// A slab is within the image, does not end before it begins, and has just as much room.
func checkSlab(t *testing.T) {
	f, err := grid.NewField(grid.Shape{D: 4, H: 1, W: 2}, grid.Uint8, make([]byte, 8), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lo, hi int64
		bytes  int
		ok     bool
	}{
		{0, 4, 8, true}, {0, 0, 0, true}, {4, 4, 0, true}, {3, 4, 2, true},
		{-1, 1, 4, false}, {-1, 4, 10, false}, {2, 1, 0, false}, {3, 5, 4, false}, {5, 5, 0, false}, {-2, -1, 2, false},
		{0, 1, 1, false}, {0, 1, 3, false},
	} {
		if err := grid.CheckSlab(f, make([]byte, c.bytes), c.lo, c.hi); (err == nil) != c.ok {
			t.Errorf("slices %d to %d in %d bytes: %v", c.lo, c.hi, c.bytes, err)
		}
	}
}

// The level of a value is the lowest level that is not below it, whatever the rounding of the first
// guess. Values are on levels, next to them, and on levels that share one float32.
func levelIsTheLowest(t *testing.T) {
	for _, l := range []struct {
		lo, step float64
		n        int64
	}{{0, 0.1, 300}, {-3.3, 0.1, 256}, {1e6, 1. / 3, 400}, {0, 1e-45, 64}, {7, 1, 1}, {16777000, 0.5, 900}, {-1, 3e-8, 200}, {1<<24 - 1.75, 1.5, 3}, {-1 << 24, 1.5, 3}, {-1<<24 - 2.59, 1.6, 3}} {
		ladder, err := grid.Affine(l.lo, l.step, l.n)
		if err != nil {
			continue // levels that are one value are no ladder
		}
		levels, row := grid.NewLevels[float32](ladder), make([]int32, 1)
		for k := range l.n {
			for _, v := range []float32{ladder.Value(k), math.Nextafter32(ladder.Value(k), float32(math.Inf(1))), math.Nextafter32(ladder.Value(k), float32(math.Inf(-1)))} {
				want := int64(0)
				for want < l.n && ladder.Value(want) < v {
					want++
				}
				if got := ladder.Level(v); got != want {
					t.Errorf("%+v: %v is on level %d, want %d", l, v, got, want)
				}
				if levels.Convert(row, []float32{v}); int64(row[0]) != want {
					t.Errorf("%+v: %v is converted to level %d, want %d", l, v, row[0], want)
				}
			}
		}
	}
}

// The text of a ladder parses to the ladder, and no other text does.
func parseLadder(t *testing.T) {
	odd, err := grid.Affine(-1.0/3, 1e-7, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range grid.Types() {
		for _, l := range []grid.Ladder{grid.Identity(typ), odd} {
			got, err := grid.ParseLadder(l.Key(), typ)
			if err != nil || got.Key() != l.Key() || got.Len() != l.Len() || got.Value(got.Len()-1) != l.Value(l.Len()-1) {
				t.Errorf("%v %s: %v (%v)", typ, l.Key(), got, err)
			}
		}
	}
	for _, key := range []string{"", "identity:256", "table:3:00", "affine:0:1", "affine:0:0:3", "affine:0:1:3x", "affine:0:1:+3"} {
		if l, err := grid.ParseLadder(key, grid.Uint16); err == nil {
			t.Errorf("%q is %v", key, l)
		}
	}
}

// Levels that share one float32 are printed with their numbers.
func levelsThatAreTheSame(t *testing.T) {
	for _, c := range []struct {
		lo, step float64
		want     string
	}{{1, 1e-12, "levels 0 and 1 are the same float32"}, {1<<24 - 1, 1, "levels 1 and 2 are the same float32"}} {
		if _, err := grid.Affine(c.lo, c.step, 3); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("from %v by %v: %v, want %q", c.lo, c.step, err, c.want)
		}
	}
}

// An asked source records the largest number of slices of one read.
type asked struct {
	counting
	bulk bool
	most int64
}

func (a *asked) InBulk() bool { return a.bulk }

func (a *asked) ReadSlab(dst []byte, lo, hi int64) error {
	a.most = max(a.most, hi-lo)
	return a.counting.ReadSlab(dst, lo, hi)
}

// The hash does not depend on how an image is read; a large image nearby is read slice by slice.
// Another image, shape or order of slices has another hash.
func digester(t *testing.T) {
	shape := grid.Shape{D: 5, H: 2, W: 3}
	if err := grid.NewDigester(counting{9, 2}).ReadSlab(grid.NewBuffer(3<<24), 0, 3); !errors.Is(err, errBroken) {
		t.Errorf("of a broken source: %v", err)
	}
	image := func(shape grid.Shape, change func([]byte)) *grid.Field {
		data := grid.NewBuffer(shape.Voxels())
		for i := range data {
			data[i] = byte(i * i)
		}
		change(data)
		f, err := grid.NewField(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	same := func([]byte) {}
	f := image(shape, same)
	cores := runtime.GOMAXPROCS(0)
	want, err := grid.NewDigester(f).Sum()
	if got := runtime.GOMAXPROCS(cores); got != cores {
		t.Errorf("hashing an image leaves %d of %d cores to others", got, cores)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, bulk := range []bool{false, true} {
		far, most := asked{counting: counting{5, 5}, bulk: bulk}, int64(1)
		if bulk {
			most = 3
		}
		if err := grid.NewDigester(&far).ReadSlab(grid.NewBuffer(3<<24), 1, 4); err != nil || far.most != most {
			t.Errorf("three slices are read %d at a time, want %d (%v)", far.most, most, err)
		}
	}
	d := grid.NewDigester(struct{ grid.Source }{f})
	if _, err := d.Sum(); err == nil {
		t.Error("the hash of an image that was not read")
	}
	var wg sync.WaitGroup
	for _, slab := range [][2]int64{{3, 5}, {0, 1}, {0, 4}, {1, 2}} {
		wg.Go(func() {
			if err := d.ReadSlab(make([]byte, (slab[1]-slab[0])*grid.SliceBytes(f)), slab[0], slab[1]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := d.Sum(); err != nil || got != want {
		t.Errorf("read in slabs %s, whole %s (%v)", got, want, err)
	}
	for what, other := range map[string]*grid.Field{
		"a voxel":     image(shape, func(b []byte) { b[17]++ }),
		"the order":   image(shape, func(b []byte) { copy(b[:6], b[24:]) }),
		"another cut": image(grid.Shape{D: 5, H: 3, W: 2}, same),
	} {
		if got, err := grid.NewDigester(other).Sum(); err != nil || got == want {
			t.Errorf("%s does not show (%v)", what, err)
		}
	}
}

// The sum is over the bytes as words. The last word is padded, and no further bytes are read.
func sumsOfWords(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 128, 130} {
		b := make([]byte, n)
		want := uint64(0)
		for i := range b {
			b[i] = byte(i*i + 1)
			want += uint64(b[i]) << (8 * (i % 8))
		}
		if got := grid.Sum64(b[:n:n]); got != want {
			t.Errorf("of %d bytes: %x, want %x", n, got, want)
		}
	}
}

// Slabs that share a slice take that much more, and no more of them are there than an image has. A single one shares
// none.
func sharingBytes(t *testing.T) {
	for _, c := range []struct{ slices, step, slabs int64 }{{10, 10, 1}, {10, 20, 1}, {10, 5, 2}, {10, 9, 2}} {
		in := counting{c.slices, 99}
		each := min(c.step, c.slices) + min(1, c.slabs-1)
		if got, want := grid.SharingBytes(in, c.step), c.slabs*each*grid.SliceBytes(in); got != want {
			t.Errorf("%d slices, %d at a time: %d bytes, want %d", c.slices, c.step, got, want)
		}
	}
}
