package fields

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

func TestShareAndAttach(t *testing.T) {
	for _, name := range []string{
		"noise/shape=7x5x3/type=uint8/seed=1", "noise/shape=7x5/type=float32/levels=9/seed=1", "grf/shape=8x8x8/type=int16/levels=100",
	} {
		src := must(t, name)
		data := share(t, src)
		if size := (Inputs{}).Size(src); size < int64(len(data)) {
			t.Errorf("%s: %d bytes shared, %d announced", name, len(data), size)
		}
		back, err := Inputs{}.Attach(data)
		if err != nil {
			t.Fatal(err)
		}
		want, err := gridtest.Digest(src)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := gridtest.Digest(back); err != nil || got != want {
			t.Errorf("%s: digest %s, then %s, %v", name, want, got, err)
		}
		for cut := range min(len(data), 300) {
			if _, err := (Inputs{}).Attach(data[:cut]); err == nil {
				t.Fatalf("%s: %d of %d bytes attach", name, cut, len(data))
			}
		}
	}
	if err := (Inputs{}).Share(must(t, "noise/shape=4x4"), closed(t)); err == nil {
		t.Error("sharing to a closed file")
	}
}

// A periodic image is shared as one period if that ends with a page, and as a whole otherwise.
func TestShareRepeated(t *testing.T) {
	for name, short := range map[string]bool{
		"noise/shape=64x64x41/type=uint8/seed=1/repeat=4": true, "noise/shape=64x64x41/type=uint8/seed=1/repeat=1": true, "noise/shape=1024x99/type=float32/seed=1/repeat=7": true,
		"noise/shape=64x63x41/type=uint8/seed=1/repeat=4": false, "noise/shape=64x64x41/type=uint8/seed=1": false,
	} {
		src := must(t, name)
		data := share(t, src)
		from, size, err := Inputs{}.Extent(src)
		if err != nil || (size > 0) != short || short && size != from+grid.TotalBytes(src) {
			t.Errorf("%s: %d bytes, again from %d, %v", name, size, from, err)
		}
		if announced := (Inputs{}).Size(src); announced < int64(len(data)) || short && announced > grid.TotalBytes(src) {
			t.Errorf("%s: %d bytes shared, %d announced", name, len(data), announced)
		}
		for tile := data[from:]; int64(len(data)) < size; {
			data = append(data, tile[:min(int64(len(tile)), size-int64(len(data)))]...)
		}
		back, err := Inputs{}.Attach(data)
		if err != nil {
			t.Fatal(err)
		}
		want, err := gridtest.Digest(src)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := gridtest.Digest(back); err != nil || got != want || grid.Period(back) != grid.Period(src) {
			t.Errorf("%s: digest %s, then %s, %v; period %d, then %d", name, want, got, err, grid.Period(src), grid.Period(back))
		}
	}
}

// share returns the shared bytes of an image.
func share(t *testing.T, src grid.Source) []byte {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (Inputs{}).Share(src, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func must(t *testing.T, name string) grid.Source {
	t.Helper()
	src, err := Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func closed(t *testing.T) *os.File {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	return f
}

func TestCost(t *testing.T) {
	c := Inputs{}.Cost("grf/shape=8x6x4/levels=100/type=uint8/smooth=3/seed=9", must(t, "grf/shape=8x6x4/levels=100/type=uint8/smooth=3/seed=9"))
	if c.Items != 192 || c.Bytes != 192 || c.Unit != "vox" || c.Size != "8x6x4" || c.Class != "gen=grf/dim=3/levels=100/smooth=3/type=uint8" {
		t.Errorf("%+v", c)
	}
}

// Smaller inputs are smaller, and valid.
func TestSmaller(t *testing.T) {
	name := "noise/shape=9x8x7/levels=16/type=uint8/seed=3"
	weight := func(s grid.Source) int64 { return s.Shape().Voxels() * s.Ladder().Len() }
	names := Inputs{}.Smaller(name)
	if len(names) < 8 || !strings.Contains(strings.Join(names, " "), "levels=2/") {
		t.Errorf("smaller: %q", names)
	}
	for _, n := range names {
		if weight(must(t, n)) >= weight(must(t, name)) {
			t.Errorf("%s is not smaller", n)
		}
	}
	names = Inputs{}.Smaller("noise/shape=9x8x7/levels=16/type=uint8/seed=3/repeat=2")
	if len(names) < 8 || names[0] != "noise/shape=5x4x4/levels=16/type=uint8/seed=3" || !slices.Contains(names, "noise/shape=9x8x6/levels=16/type=uint8/seed=3/repeat=2") {
		t.Errorf("smaller than one that repeats itself: %q", names)
	}
	for _, least := range []string{"file/path=x.png", "not a name"} {
		if n := (Inputs{}).Smaller(least); len(n) != 0 {
			t.Errorf("%s: smaller: %q", least, n)
		}
	}
}
