package files

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
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

// A span has the distinct values of its slices, ascending, up to the limit.
func distinctValuesOfSpans(t *testing.T) {
	for _, typ := range grid.Types() {
		of := []float32{9, 1, 3, 200, 3, 2, 2, 1, 8, 8}
		if typ == grid.Int16 {
			of = []float32{9, 1, 3, -200, 3, 2, 2, 1, 8, 8}
		}
		want := slices.Clone(of[2:8])
		slices.Sort(want)
		want = slices.Compact(want)
		data := fileBytes(map[grid.Type]element.Type{grid.Uint8: element.Uint8, grid.Uint16: element.Uint16, grid.Int16: element.Int16, grid.Float32: element.Float32}[typ], binary.LittleEndian, 10, func(i int64) float64 { return float64(of[i]) })
		f, err := grid.NewField(grid.Shape{D: 1, H: 5, W: 2}, typ, data, grid.Identity(typ))
		if err != nil {
			t.Fatal(err)
		}
		for most := range int64(6) {
			got, err := element.DistinctValues(f, grid.Span{Lo: 1, Hi: 4}, most, 2)
			if enough := most >= int64(len(want)); enough && (err != nil || !slices.Equal(got, want)) || !enough && !errors.Is(err, element.ErrManyValues) {
				t.Errorf("%v, at most %d: %v, want %v (%v)", typ, most, got, want, err)
			}
		}
	}
	values := []float32{0, float32(math.Copysign(0, -1)), 3, float32(math.NaN())}
	f, err := grid.Trusted(grid.Shape{D: 1, H: 2, W: 2}, grid.Float32, grid.Bytes(values), grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := element.DistinctValues(f, grid.Span{Lo: 0, Hi: 1}, 9, 1); err != nil || !slices.Equal(got, []float32{0}) {
		t.Errorf("both zeros: %v (%v)", got, err)
	}
	var bad *grid.NotFiniteError
	if _, err := element.DistinctValues(f, grid.Span{Lo: 1, Hi: 2}, 9, 1); !errors.As(err, &bad) || bad.First != 3 {
		t.Errorf("a NaN: %v", err)
	}
	lists := [][]float32{{1, 4}, {}, {2, 4, 9}, {0, 1}}
	if got := element.MergeValues(lists); !slices.Equal(got, []float32{0, 1, 2, 4, 9}) || len(lists[0]) != 2 || lists[0][1] != 4 {
		t.Errorf("merged: %v of %v", got, lists)
	}
}

// A cooler is a source of files that can leave the caches.
type cooler interface{ Cool() (bool, error) }

// Cool reports true only if all of several files leave the cache, and false for no files.
func coolsFiles(t *testing.T) {
	dir := t.TempDir()
	set := &storage.Set{}
	if cold, err := set.Cool(); cold || err != nil {
		t.Errorf("no file is cold (%v)", err)
	}
	for _, name := range []string{"a.raw", "b.raw"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 12345), 0o666); err != nil {
			t.Fatal(err)
		}
		f, _, err := set.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.(*os.File).Sync(); err != nil { // only stored pages can leave the cache
			t.Fatal(err)
		}
	}
	path := set.Files[1].Name()
	s, err := Open(path, format.Options{Shape: grid.Shape{D: 1, H: 5, W: 2469}, Type: grid.Uint8, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(s)
	rolled, err := Named.Open("file/roll=2/shape=2469x5/type=uint8/stream=true/path=" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(rolled)
	for what, cool := range map[string]func() (bool, error){"files": set.Cool, "a stream": s.(*format.Stream).Cool, "what is rolled": rolled.(cooler).Cool, "a path": func() (bool, error) { return CoolFile(path) }} {
		cold, can := false, true
		for range 3 { // other processes may read the files
			one, err := storage.DropPages(set.Files[0].(*os.File))
			two, err2 := storage.DropPages(set.Files[1].(*os.File))
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
	set.Files = append(set.Files, &storage.Object{})
	if cold, err := set.Cool(); cold || err != nil {
		t.Errorf("what is on a server is cold (%v)", err)
	}
	set.Files = set.Files[:2]
	if rolled, err = Named.Open("noise/shape=3x3/roll=1"); err != nil {
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
	if err := set.Close(); err == nil || set.Identity() != "" {
		t.Errorf("closed twice: %v, %q", err, set.Identity())
	}
}
