package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// old is a time before any test.
var old = time.Unix(1e9, 123456789)

// writeOld writes a file with an old time of change.
func writeOld(t testing.TB, path string, data []byte) {
	t.Helper()
	writeObject(t, path, data)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes bytes of a file in place.
func rewrite(t testing.TB, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[4] ^= 1 // of gzip, its time
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(data)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// numbered returns n different bytes.
func numbered(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i)
	}
	return data
}

// changingFiles writes images of 4 slices of 3×2. It returns the path to open and the file that
// will change.
func changingFiles(t testing.TB) map[string]string {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		writeOld(t, filepath.Join(dir, name), data)
		return filepath.Join(dir, name)
	}
	raw := "file/shape=2x3x4/type=uint8/path=" + dir
	write("a.mhd", []byte("ObjectType = Image\nNDims = 3\nDimSize = 2 3 4\nElementType = MET_UCHAR\nElementDataFile = LIST\nx.raw\ny.raw\nz.raw\nw.raw\n"))
	for _, n := range []string{"x", "y", "z"} {
		write(n+".raw", numbered(6))
	}
	return map[string]string{
		raw + "/a.raw": write("a.raw", numbered(24)),
		// The mask of an answer, or the second half of it.
		"file/roll=1/shape=2x3x4/type=uint8/path=" + dir + "/b.raw":         write("b.raw", numbered(24)),
		"file/stream=once/shape=2x3x4/type=uint8/path=" + dir + "/c.raw.gz": write("c.raw.gz", zipped(numbered(24))),
		"file/path=" + dir + "/a.mhd":                                       write("w.raw", numbered(6)),
	}
}

// A file that changes during the reads is an error of each later read, and at the end. Restoring its
// size and its time does not hide the change.
func TestFilesThatChangeWhileRead(t *testing.T) {
	for name, path := range changingFiles(t) {
		for _, restored := range []bool{false, true} {
			if restored && runtime.GOOS != "linux" {
				continue // the system does not detect it
			}
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			s, err := Named.Open(name)
			if err != nil {
				t.Fatal(name, err)
			}
			before := storage.VersionOf(stat(t, path))
			if err := s.ReadSlab(make([]byte, 12), 0, 2); err != nil || grid.Unchanged(s) != nil {
				t.Errorf("%s: unchanged: %v, %v", name, err, grid.Unchanged(s))
			}
			for rewrite(t, path); restored && storage.VersionOf(stat(t, path)) == before; { // until the clock ticks
				if err := os.Chtimes(path, old, old); err != nil {
					t.Fatal(err)
				}
			}
			told := (*format.ReadError)(nil)
			if err := s.ReadSlab(make([]byte, 12), 2, 4); !errors.Is(err, storage.ErrChanged) || !errors.As(err, &told) {
				t.Errorf("%s, times set back %v: a changed file is read: %v", name, restored, err)
			}
			if err := grid.Unchanged(s); !errors.Is(err, storage.ErrChanged) {
				t.Errorf("%s, times set back %v: unchanged at the end: %v", name, restored, err)
			}
			grid.Close(s)
		}
	}
}

func stat(t testing.TB, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// whileReading changes something when any worker opens a file for the nth time.
func whileReading(t testing.TB, nth int64, change func()) {
	was := storage.AfterOpen
	t.Cleanup(func() { storage.AfterOpen = was })
	var opened atomic.Int64
	storage.AfterOpen = func(string) {
		if opened.Add(1) == nth {
			change()
		}
	}
}

// An image that is read whole is an error if a file changes before it is read.
func TestFilesThatChangeBeforeTheyAreReadWhole(t *testing.T) {
	for name, path := range changingFiles(t) {
		nth := int64(1)
		if strings.HasSuffix(name, ".mhd") {
			nth = 5 // w.raw
		}
		whileReading(t, nth, func() { rewrite(t, path) })
		name = strings.Replace(strings.Replace(name, "stream=once/", "", 1), "file/", "file/stream=false/", 1)
		if _, err := Named.Open(name); !errors.Is(err, storage.ErrChanged) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: a changed file is read whole: %v", name, err)
		}
		if _, err := Named.Open(name); err != nil {
			t.Errorf("%s: a file that does not change is not read: %v", name, err)
		}
	}
}

// The slices of a stack are those at its opening, in one pass and in two.
func TestStacksThatChangeWhileRead(t *testing.T) {
	dir := t.TempDir()
	slice := func(i int) string { return filepath.Join(dir, fmt.Sprintf("%d.raw", i)) }
	for i := range 3 {
		writeOld(t, slice(i), numbered(6))
	}
	name := "stack/shape=2x3/type=uint8/path=" + dir
	whileReading(t, 1, func() { rewrite(t, slice(2)) }) // opened later, after a change
	if _, err := Named.Open(name); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a slice that changed before it was read: %v", err)
	}
	s, err := Named.Open("stack/stream=true/shape=2x3/type=uint8/path=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	read := func() error { return s.ReadSlab(make([]byte, 18), 0, 3) }
	if err := read(); err != nil {
		t.Error(err)
	}
	rewrite(t, slice(0))
	if err := os.Chtimes(slice(0), old.Add(1), old); err != nil { // another time for certain
		t.Fatal(err)
	}
	if err := os.Chtimes(slice(1), old, old.Add(1)); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a slice that changed between two readings: %v", err)
	}
}

// ReadFile reads a regular file, and fails if the file changes meanwhile.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	writeOld(t, path, numbered(9))
	if data, err := storage.ReadFile(path); err != nil || string(data) != string(numbered(9)) {
		t.Errorf("%q, %v", data, err)
	}
	before := stat(t, path)
	rewrite(t, path)
	if storage.SameFile(before, stat(t, path)) || !storage.SameFile(before, before) {
		t.Error("a file that changed is the same")
	}
	whileReading(t, 1, func() { rewrite(t, path) })
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.ReadFile(path); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a file that changed: %v", err)
	}
	if _, err := storage.ReadFile(path + "none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := storage.ReadFile(os.DevNull); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
}
