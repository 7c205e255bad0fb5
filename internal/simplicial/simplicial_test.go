package simplicial

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Stand-ins have the numbers of simplices that arithmetic gives.
func TestCounts(t *testing.T) {
	for name, want := range map[string][]int64{"blunt/cavities=0": {40960, 235112, 381548, 187395}, "bucky/cavities=0": {262144, 1536192, 2524284, 1250235}} {
		if got := open(t, name).Counts(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// For any bytes, a reader returns a valid complex or an error of one line, with memory proportional
// to the bytes.
func FuzzRead(f *testing.F) {
	for text := range bad {
		f.Add([]byte(text))
	}
	for text := range readable {
		f.Add([]byte(text))
	}
	for text := range rejected {
		f.Add([]byte(text))
	}
	files, _ := filepath.Glob("testdata/*.*")
	vtk, _ := filepath.Glob("files/testdata/*.*")
	files = append(files, vtk...)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
			return
		}
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		each := int64(512)
		if bytes.Contains(data, []byte("compressor")) {
			each = 1 << 14 // a byte of Deflate is up to 1032
		}
		if c.Bytes() > 1<<20+each*int64(len(data)) {
			t.Errorf("%d bytes of %d", c.Bytes(), len(data))
		}
	})
}

// FuzzTetGen is FuzzRead for the two files of TetGen.
func FuzzTetGen(f *testing.F) {
	f.Add([]byte("1 4 0\n1 1 2 3 4\n"), []byte("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"))
	f.Add([]byte("1 3 0\n0 0 1 2\n"), []byte("3 2 0 0\n0 0 0\n1 1 0\n2 0 1\n"))
	f.Fuzz(func(t *testing.T, elements, nodes []byte) {
		c, err := readTetGen(elements, nodes)
		if err == nil && (c.Check() != nil || c.Bytes() > 1<<20+512*int64(len(elements)+len(nodes))) {
			t.Errorf("%v, %d bytes of %d", c.Check(), c.Bytes(), len(elements)+len(nodes))
		}
	})
}

// The files are from meshio 5.3, trimesh 4 and by hand, each with the same tetrahedra or triangles:
// testdata/make.py.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if filepath.Ext(path) == ".py" {
			continue
		}
		want := []int64{9, 26, 30, 12} // a cube around its middle
		if strings.Contains(path, "surface") {
			want = []int64{8, 18, 12}
		}
		c, err := ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := c.Counts(); !slices.Equal(got, want) || c.Check() != nil {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		if c.Points != nil && (slices.Max(c.Points) != 1 || slices.Min(c.Points) != 0) {
			t.Errorf("%s: points from %v to %v", path, slices.Min(c.Points), slices.Max(c.Points))
		}
	}
}
