package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"

	"pgregory.net/rapid"
)

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtureDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// fileShapeText formats axes, slowest first, as a Shape does.
func fileShapeText(axes []int64) string {
	if len(axes) == 1 {
		return fmt.Sprintf("%dx1", axes[0])
	}
	var text []string
	for _, n := range axes {
		text = append(text, fmt.Sprint(n))
	}
	if len(axes) == 3 && axes[0] == 1 {
		text = text[1:]
	}
	slices.Reverse(text)
	return strings.Join(text, "x")
}

// checkRefusedCheaply checks that bytes are rejected with an error that contains want, without
// allocating much memory.
func checkRefusedCheaply(t *testing.T, name string, data []byte, o format.Options, want string) {
	t.Helper()
	before := allocated()
	_, err := openFileBytes(name, data, o)
	checkFileError(t, name, err, want)
	if n := allocated() - before; n > 8<<20 {
		t.Errorf("%s: refusing %d bytes took %d bytes of memory", name, len(data), n)
	}
}

// checkAnyFile opens arbitrary bytes. They may be rejected in one line. An accepted image is not
// larger than its bytes allow, and is the same whole, in slices and streamed.
func checkAnyFile(t rapid.TB, name string, data []byte) {
	t.Helper()
	before := allocated()
	var o format.Options
	whole, err := openFileBytes(name, data, o)
	if several := (format.VolumeError{}); errors.As(err, &several) {
		volume := several.Count / 2
		o.Volume = &volume
		whole, err = openFileBytes(name, data, o)
	}
	// 2600 bytes of LZW, four per scaled uint8 of deflate, each in a few copies.
	ratio := int64(4 * storage.DeflateRatio)
	for _, p := range wrappings {
		if bytes.Contains(data, []byte(p.Magic)) {
			ratio = max(ratio, p.Ratio)
		}
	}
	if n, most := allocated()-before, 16<<20+16*ratio*int64(len(data)); n > most {
		t.Fatalf("%d bytes of file took %d bytes of memory, more than %d", len(data), n, most)
	}
	o.Stream = true
	stream, serr := openFileBytes(name, data, o)
	for _, e := range []error{err, serr} {
		if e != nil && (strings.Contains(e.Error(), "\n") || e.Error() == "") {
			t.Fatalf("error is not one line: %q", e)
		}
	}
	if serr == nil && err != nil { // faults of the voxels are found when they are read
		if stream.ReadSlab(grid.NewBuffer(grid.TotalBytes(stream)), 0, stream.Shape().Slices()) == nil {
			t.Fatalf("streamed, but not read whole: %v", err)
		}
	}
	if err != nil {
		return
	}
	want := whole.(*grid.Field).Data()
	if most := 64<<10 + ratio*int64(len(data)); int64(len(want)) > most {
		t.Fatalf("%d bytes of file became %d bytes of voxels", len(data), len(want))
	}
	sources := []grid.Source{whole}
	if serr == nil {
		sources = append(sources, stream)
		if whole.Shape() != stream.Shape() || whole.Type() != stream.Type() || whole.Ladder().Key() != stream.Ladder().Key() {
			t.Fatalf("whole: %v %v %v, streamed: %v %v %v", whole.Shape(), whole.Type(), whole.Ladder(), stream.Shape(), stream.Type(), stream.Ladder())
		}
	} else if !strings.HasPrefix(serr.Error(), "cannot be streamed because ") {
		t.Fatalf("read whole, but not streamed: %v", serr)
	}
	for _, s := range sources {
		if diff := slabsDiffer(s, want); diff != "" {
			t.Fatal(diff)
		}
	}
}

// checkOnce reads a file once and in order, if possible. The result equals the image that is read
// whole, on every float32, or both fail.
func checkOnce(t *testing.T, name string, data []byte) {
	t.Helper()
	once, err := openFileBytes(name, data, format.Options{Stream: true, Once: true, Every: true})
	if err != nil {
		return
	}
	whole, err := openFileBytes(name, data, format.Options{Every: true})
	if err != nil {
		if grid.TotalBytes(once) > 1<<24 {
			return // by the header alone
		}
		buf := grid.NewBuffer(grid.TotalBytes(once))
		if err2 := once.ReadSlab(buf, 0, once.Shape().Slices()); err2 == nil {
			t.Fatalf("read in order, but not whole: %v", err)
		}
		return
	}
	if diff := slabsDiffer(once, whole.(*grid.Field).Data()); diff != "" {
		t.Fatal("in order: " + diff)
	}
}

// fuzzFile fuzzes the reader of an extension, with the fixtures of this or other extensions.
func fuzzFile(f *testing.F, ext string, others ...string) {
	for _, e := range append([]string{ext}, others...) {
		names, err := filepath.Glob(filepath.Join(fixtureDir, "*"+e+"*"))
		if err != nil || len(names) == 0 {
			f.Fatalf("no fixture: %v", err)
		}
		for _, name := range names {
			f.Add(readFixture(f, filepath.Base(name)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAnyFile(t, "image"+ext, data)
		checkOnce(t, "image"+ext, data)
	})
}

func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
