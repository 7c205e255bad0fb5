package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// Stored images equal generated ones, and are stored once.
func storesImages(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"noise/shape=37x21x19/levels=1024/type=float32/seed=3",
		"grf/shape=64x48/levels=256/type=uint8/smooth=3/seed=2",
		"ball/shape=9x9x9/type=uint16/radius=3/roll=4",
	} {
		name, err := Canonical(name)
		if err != nil {
			t.Fatal(err)
		}
		onDisk := name + "/path=" + dir
		if got, err := Canonical(onDisk); err != nil || got != onDisk {
			t.Errorf("%s is not canonical: %s, %v", onDisk, got, err)
		}
		if _, err := Open(onDisk); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s before it is stored: %v", onDisk, err)
		}
		made := openNamed(t, name)
		n, err := Store(onDisk)
		if err != nil || n != grid.TotalBytes(made) {
			t.Fatalf("%s: stored %d bytes, %v", name, n, err)
		}
		if n, err := Store(onDisk); err != nil || n != 0 {
			t.Errorf("%s again: stored %d bytes, %v", name, n, err)
		}
		read := openNamed(t, onDisk)
		if read.Shape() != made.Shape() || read.Type() != made.Type() || read.Ladder().Key() != made.Ladder().Key() {
			t.Errorf("%s: %v %v %v", onDisk, read.Shape(), read.Type(), read.Ladder())
		}
		want, got := load(t, made), load(t, read)
		if !bytes.Equal(want, got) {
			t.Errorf("%s is not what was made", onDisk)
		}
		if _, err := read.(*stored).Cool(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(want, load(t, read)) {
			t.Errorf("%s changed when it was put out of the caches", onDisk)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func load(t *testing.T, s grid.Source) []byte {
	t.Helper()
	data := grid.NewBuffer(grid.TotalBytes(s))
	if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	return data
}

// A file whose contents differ from its name is refused in one line.
func refusesStored(t *testing.T) {
	dir := t.TempDir()
	name := "noise/shape=16x16x16/levels=256/type=uint8/seed=1/path=" + dir
	if _, err := Store(name); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	path := filepath.Join(dir, files[0].Name())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func([]byte) []byte{
		"has 4095 bytes, want 4096 for 16x16x16 of uint8": func(b []byte) []byte { return b[1:] },
		"slice 8 is not that of the image":                func(b []byte) []byte { b[8*256+5]++; return b },
		"slice 15 is not that of the image":               func(b []byte) []byte { b[len(b)-1]++; return b },
	} {
		if err := os.WriteFile(path, spoil(bytes.Clone(whole)), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Store("noise/shape=4x4"); err == nil || !strings.Contains(err.Error(), "path=FOLDER") {
		t.Error(err)
	}
	if _, err := Store("noise/shape=4x4/path=" + filepath.Join(dir, "none")); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
