package simplicial

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Numbers of simplices as the literature, or arithmetic, has them.
func TestCounts(t *testing.T) {
	for name, want := range map[string][]int64{
		"rp2": {6, 15, 10}, "torus/shape=4x5": {20, 60, 40}, "klein/shape=4x5": {20, 60, 40}, "sphere/dim=3": {5, 10, 10, 5}, "sphere/dim=0": {2},
		"kuhn/shape=2x2x2": {8, 19, 18, 6}, "five/shape=2x2x2": {8, 18, 16, 5}, "kuhn/shape=3x2": {6, 9, 4},
		"blunt/cavities=0": {40960, 235112, 381548, 187395}, "bucky/cavities=0": {262144, 1536192, 2524284, 1250235},
		"dodecahedral/tenths=1": nil, "lens/p=4/q=3": nil, "random/vertices=5/dim=4/count=3": {5, 10, 10, 5, 1},
	} {
		c := open(t, name)
		got := c.Counts()
		if want != nil && !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		// Of a closed manifold of dimension 3 each triangle is of two tetrahedra.
		if want == nil && (len(got) != 4 || got[2] != 2*got[3] || got[0]-got[1]+got[2]-got[3] != 0) {
			t.Errorf("%s: %v is no closed manifold", name, got)
		}
	}
}

// The boundary of a boundary is 0, faces are those that their numbers say, and none is there
// twice, whatever is given in whatever order.
func TestFaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Complex{}
		vertices := rapid.IntRange(1, 12).Draw(t, "vertices")
		for range rapid.IntRange(0, 20).Draw(t, "simplices") {
			list := rapid.Permutation(seq(vertices)).Draw(t, "order")
			c.Add(list[:rapid.IntRange(1, min(vertices, 6)).Draw(t, "size")]...)
		}
		all := map[string]bool{}
		for d, tops := range c.Tops {
			for at := 0; at < len(tops); at += d + 1 {
				s := slices.Sorted(slices.Values(tops[at : at+d+1]))
				for subset := 1; subset < 1<<len(s); subset++ {
					var face []uint32
					for i, v := range s {
						if subset>>i&1 == 1 {
							face = append(face, v)
						}
					}
					all[fmt.Sprint(face)] = true
				}
			}
		}
		f := NewFaces(c, 1)
		n := 0
		for d := range f.Vertices {
			n += int(f.Count(d))
			for i := range int(f.Count(d)) {
				s := f.Vertices[d][i*(d+1) : (i+1)*(d+1)]
				if !all[fmt.Sprint(s)] {
					t.Fatalf("%v is no face, or is there twice", s)
				}
				delete(all, fmt.Sprint(s))
				for k := range d + 1 {
					if d == 0 {
						break
					}
					at := f.Boundary[d][i*(d+1)+k]
					if got, want := f.Vertices[d-1][int(at)*d:(int(at)+1)*d], slices.Delete(slices.Clone(s), k, k+1); !slices.Equal(got, want) {
						t.Fatalf("face %d of %v is %v", k, s, got)
					}
				}
			}
		}
		if len(all) > 0 {
			t.Fatalf("missing: %v", all)
		}
	})
}

// Whatever the bytes are, a reader gives a right complex or an error of one line, and takes
// memory by what there is of them.
func FuzzRead(f *testing.F) {
	for text := range bad {
		f.Add([]byte(text))
	}
	files, _ := filepath.Glob("testdata/*.*")
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
		if c.Bytes() > 1<<20+512*int64(len(data)) {
			t.Errorf("%d bytes of %d", c.Bytes(), len(data))
		}
	})
}

// FuzzTetGen is FuzzRead of the two files of TetGen.
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

func seq(n int) (list []uint32) {
	for v := range n {
		list = append(list, uint32(v))
	}
	return list
}

// The files are of meshio 5.3, trimesh 4 and by hand, each of the same tetrahedra or triangles:
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
