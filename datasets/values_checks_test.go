package datasets

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// Names are ordered by their numbers. Of two names with equal numbers, the shorter text is last if
// it has fewer zeros.
func comparesNaturally(t *testing.T) {
	list := strings.Fields("1 2 2a 10 10a B a a- a0 a00 a01 a1 a01b a1b a2 a10 a10b b x2y10 x10y2")
	for i, a := range append([]string{""}, list...) {
		for j, b := range append([]string{""}, list...) {
			if got := Natural(a, b); cmp.Compare(got, 0) != cmp.Compare(i, j) {
				t.Errorf("%q and %q: %d, want %d", a, b, got, cmp.Compare(i, j))
			}
		}
	}
}

// Values of every type are scaled in float64.
func rescalesEveryType(t *testing.T) {
	const slope, inter = 0.3, -7.
	for s, values := range map[storedType]any{
		storedUint8: []uint8{0, 3, 255}, storedInt8: []int16{-128, 0, 127}, storedInt16: []int16{math.MinInt16, 5}, storedUint16: []uint16{7, math.MaxUint16},
		storedFloat32: []float32{0.5, -3e9}, storedInt32: []int32{math.MinInt32, 9}, storedUint32: []uint32{1, math.MaxUint32},
		storedInt64: []int64{math.MinInt64, 3}, storedUint64: []uint64{1, math.MaxUint64}, storedFloat64: []float64{-0.125, 1e300},
		storedFloat16: []uint16{0x3c00, 0xc100},
	} {
		data := grid.NewBuffer(int64(binary.Size(values)))
		if _, err := binary.Encode(data, binary.NativeEndian, values); err != nil {
			t.Fatal(err)
		}
		list := reflect.ValueOf(values)
		got := rescaled(data, s, slope, inter)
		if len(got) != list.Len() {
			t.Errorf("%d of %d values of %v", len(got), list.Len(), s)
		}
		for i, v := range got {
			of := list.Index(i).Convert(reflect.TypeFor[float64]()).Float()
			if s == storedFloat16 {
				of = []float64{1, -2.5}[i]
			}
			if want := float64(of*slope) + inter; v != want {
				t.Errorf("%v of %v becomes %v, want %v", of, s, v, want)
			}
		}
	}
}

// The distinct values of a span are those of its slices, ascending, up to the limit.
func distinctValuesOfSpans(t *testing.T) {
	for _, typ := range grid.Types() {
		of := []float32{9, 1, 3, 200, 3, 2, 2, 1, 8, 8}
		if typ == grid.Int16 {
			of = []float32{9, 1, 3, -200, 3, 2, 2, 1, 8, 8}
		}
		want := slices.Clone(of[2:8])
		slices.Sort(want)
		want = slices.Compact(want)
		data := fileBytes(map[grid.Type]storedType{grid.Uint8: storedUint8, grid.Uint16: storedUint16, grid.Int16: storedInt16, grid.Float32: storedFloat32}[typ], binary.LittleEndian, 10, func(i int64) float64 { return float64(of[i]) })
		f, err := grid.NewField(grid.Shape{D: 1, H: 5, W: 2}, typ, data, grid.Identity(typ))
		if err != nil {
			t.Fatal(err)
		}
		for most := range int64(6) {
			got, err := DistinctValues(f, grid.Span{Lo: 1, Hi: 4}, most, 2)
			if enough := most >= int64(len(want)); enough && (err != nil || !slices.Equal(got, want)) || !enough && !errors.Is(err, ErrManyValues) {
				t.Errorf("%v, at most %d: %v, want %v (%v)", typ, most, got, want, err)
			}
		}
	}
	values := []float32{0, float32(math.Copysign(0, -1)), 3, float32(math.NaN())}
	f, err := grid.Trusted(grid.Shape{D: 1, H: 2, W: 2}, grid.Float32, grid.Bytes(values), grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DistinctValues(f, grid.Span{Lo: 0, Hi: 1}, 9, 1); err != nil || !slices.Equal(got, []float32{0}) {
		t.Errorf("both zeros: %v (%v)", got, err)
	}
	var bad *grid.NotFiniteError
	if _, err := DistinctValues(f, grid.Span{Lo: 1, Hi: 2}, 9, 1); !errors.As(err, &bad) || bad.First != 3 {
		t.Errorf("a NaN: %v", err)
	}
	lists := [][]float32{{1, 4}, {}, {2, 4, 9}, {0, 1}}
	if got := MergeValues(lists); !slices.Equal(got, []float32{0, 1, 2, 4, 9}) || len(lists[0]) != 2 || lists[0][1] != 4 {
		t.Errorf("merged: %v of %v", got, lists)
	}
}

// A cooler is a source of files that can leave the caches.
type cooler interface{ Cool() (bool, error) }

// Cool reports true only if all of several files leave the cache, and false for no files.
func coolsFiles(t *testing.T) {
	dir := t.TempDir()
	set := &fileSet{}
	if cold, err := set.Cool(); cold || err != nil {
		t.Errorf("no file is cold (%v)", err)
	}
	for _, name := range []string{"a.raw", "b.raw"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 12345), 0o666); err != nil {
			t.Fatal(err)
		}
		f, _, err := set.open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.(*os.File).Sync(); err != nil { // only stored pages can leave the cache
			t.Fatal(err)
		}
	}
	path := set.files[1].Name()
	s, err := OpenFile(path, FileOptions{Shape: grid.Shape{D: 1, H: 5, W: 2469}, Type: grid.Uint8, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(s)
	rolled, err := Open("file/roll=2/shape=2469x5/type=uint8/stream=true/path=" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(rolled)
	for what, cool := range map[string]func() (bool, error){"files": set.Cool, "a stream": s.(*fileStream).Cool, "what is rolled": rolled.(cooler).Cool, "a path": func() (bool, error) { return CoolFile(path) }} {
		cold, can := false, true
		for range 3 { // other processes may read the files
			one, err := dropPages(set.files[0].(*os.File))
			two, err2 := dropPages(set.files[1].(*os.File))
			said, err3 := cool()
			if err := errors.Join(err, err2, err3); err != nil {
				t.Fatal(err)
			}
			cold, can = cold || said, can && one && two
		}
		if can && !cold {
			t.Errorf("%s: not cold", what)
		}
	}
	set.files = append(set.files, &remoteFile{})
	if cold, err := set.Cool(); cold || err != nil {
		t.Errorf("what is on a server is cold (%v)", err)
	}
	set.files = set.files[:2]
	if rolled, err = Open("noise/shape=3x3/roll=1"); err != nil {
		t.Fatal(err)
	}
	if cold, err := rolled.(cooler).Cool(); !cold || err != nil {
		t.Errorf("what is made is not cold (%v)", err)
	}
	for _, path := range []string{"https://a/b", filepath.Join(dir, "zarr.json")} {
		if cold, err := CoolFile(path); cold || err != nil {
			t.Errorf("%s: cold %v (%v)", path, cold, err)
		}
	}
	if _, err := CoolFile(filepath.Join(dir, "none")); err == nil {
		t.Error("no file is put out of the cache")
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if _, err := set.Cool(); err == nil {
		t.Error("a file that is closed is cold")
	}
	if err := set.Close(); err == nil || set.identity() != "" {
		t.Errorf("closed twice: %v, %q", err, set.identity())
	}
}

// A read returns the existing bytes, and an error beyond the end.
func readsPartsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	data := make([]byte, 3<<17+5)
	for i := range data {
		data[i] = byte(i>>9 ^ i)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, part := range [][2]int{{0, len(data)}, {3, 1 << 17}, {7, 1<<17 + 1}, {len(data) - 1, 1}, {len(data), 0}, {len(data) - 1, 2}, {5, len(data) - 4}} {
		got := make([]byte, part[1])
		switch err := ReadFileAt(path, got, int64(part[0])); {
		case part[0]+part[1] > len(data):
			if !errors.Is(err, io.EOF) || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%v is beyond the end: %v", part, err)
			}
		case err != nil || !bytes.Equal(got, data[part[0]:][:part[1]]):
			t.Errorf("%v is another part (%v)", part, err)
		}
	}
	if err := ReadFileAt(path+"y", nil, 0); err == nil {
		t.Error("of nothing part is read")
	}
}

// Consecutive slabs equal the whole, for any thickness and every instruction set.
func slabsThatFollow(t *testing.T) {
	for _, name := range []string{
		"grf/shape=40x20x20/type=uint8", "grf/shape=90x20x20/type=uint16/levels=65536/smooth=1",
		"grf/shape=20x20x40/smooth=4/type=uint8", "grf/shape=50x100/smooth=3/type=uint8",
	} {
		whole := loadNamed(t, name)
		n, err := split(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, isa := range available() {
			r, err := resolveOn(n, nil, 0, isa)
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.open()
			if err != nil {
				t.Fatal(err)
			}
			size, n := grid.SliceBytes(s), s.Shape().Slices()
			rng := rand.New(rand.NewPCG(5, 1))
			for at := int64(0); at < n; {
				end := min(n, at+1+rng.Int64N(6))
				slab := grid.NewBuffer((end - at) * size)
				if err := s.ReadSlab(slab, at, end); err != nil || !bytes.Equal(slab, whole.Data()[at*size:end*size]) {
					t.Fatalf("%s by %s: slab %d..%d differs (%v)", name, isa, at, end, err)
				}
				at = end
			}
			if p := &s.(*grf).passages; p.made != 1 || len(p.waiting) != 1 || p.waiting[0].next != n {
				t.Errorf("%s by %s: %d passages for one reader", name, isa, p.made)
			}
		}
	}
}

// A passage continues at its slice, and begins after consecutive slabs. Their number is limited by
// memory: beyond it, the longest waiting one restarts.
func passagesAreBounded(t *testing.T) {
	const half = passageBytes / 2
	var p passages
	enter := func(lo int64, want *passage) *passage {
		t.Helper()
		w := p.enter(lo, 3, half)
		if w != nil && (len(w.marches) != 3 || w.next != lo && w.next != -1) || want != nil && w != want {
			t.Errorf("at slice %d: %v, want %v", lo, w, want)
		}
		return w
	}
	if enter(0, nil) != nil {
		t.Error("a passage where no slab ended")
	}
	p.leave(nil, 5)
	first := enter(5, nil)
	if first == nil || enter(5, nil) != nil {
		t.Fatal("where one slab ended one passage begins")
	}
	p.leave(first, 7)
	if enter(7, first).next != 7 {
		t.Error("a passage that goes on begins anew")
	}
	p.leave(first, 9)
	p.leave(nil, 20)
	second := enter(20, nil)
	if second == nil || second == first || p.made != 2 {
		t.Fatal("there is room for two passages")
	}
	p.leave(second, 21)
	p.leave(nil, 30)
	if w := enter(30, first); w == nil || w.next != -1 || len(p.waiting) != 1 || p.made != 2 {
		t.Errorf("of %d passages %d wait, beside one that begins anew", p.made, len(p.waiting))
	}
	enter(21, second)
	if p.leave(nil, 40); enter(40, nil) != nil {
		t.Error("there is room for three passages")
	}
	p = passages{}
	for i := range int64(slabEnds + 1) {
		p.leave(nil, 100+i)
	}
	if len(p.ends) != slabEnds || enter(100, nil) != nil || enter(101, nil) == nil || enter(100+slabEnds, nil) == nil {
		t.Errorf("%d ends of slabs are kept", len(p.ends))
	}
}
