package simplicial

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func open(t *testing.T, s string) *Complex {
	t.Helper()
	n, err := ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.Open()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

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

func seq(n int) (list []uint32) {
	for v := range n {
		list = append(list, uint32(v))
	}
	return list
}

func TestShuffledIsTheSameComplex(t *testing.T) {
	c := open(t, "five/shape=7x5x6/drills=1/cavities=1")
	s := Shuffled(c, 3)
	if slices.Equal(s.Tops[3], c.Tops[3]) || !slices.Equal(s.Counts(), c.Counts()) {
		t.Fatalf("%v, want other numbers of %v", s.Counts(), c.Counts())
	}
	sum := func(c *Complex) (sum float64) {
		for _, v := range c.Tops[3] {
			sum += c.Points[3*v] + 100*c.Points[3*v+1] + 1e4*c.Points[3*v+2]
		}
		return sum
	}
	if sum(s) != sum(c) {
		t.Error("points do not follow their vertices")
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"rp2": "rp2", "torus/order=random": "torus/shape=5x5/order=random/seed=1", "kuhn/cavities=3/shape=9x9x9": "kuhn/shape=9x9x9/drills=0/cavities=3",
		"a/b.off": "file/path=a/b.off", "file/path=torus": "file/path=torus",
	} {
		n, err := Named(name)
		if err != nil || n.String() != want {
			t.Errorf("%s: %v, %v; want %s", name, n, err, want)
		}
	}
	for name, want := range map[string]string{
		"moore/n=0": "n=0: want 1 to", "kuhn": "shape is missing", "rp2/p=3": "has no p", "torus/order=up": "order=up: want lex or random", "lens/p=4/q=2": "both multiples of 2",
		"kuhn/shape=4x4x4/cavities=9": "room for 1", "kuhn/shape=4x4/drills=9": "room for 1", "torus/shape=3x3": "at least 4x4", "dodecahedral/tenths=2": "want 1, 3 or 5", "join/with=rp2/of=nothing": "no complex of the kind nothing",
		"kuhn/shape=100000x100000x9": "at most", "voxels/at=300/of=ball/shape=4x4/type=uint8": "the image has levels", "join/with=sphere,dim=9/of=sphere/dim=9": "want at most 15",
	} {
		n, err := ParseName(name)
		if err == nil {
			_, err = n.Open()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for _, k := range Kinds() {
		if n, err := ParseName(k.Example); err != nil || n.Kind != k.Name {
			t.Errorf("%s: %v", k.Example, err)
		}
	}
}

func TestVariantsAndSmaller(t *testing.T) {
	for name, want := range map[string]int{"kuhn/shape=9x9x9/cavities=2/order=random": 4, "kuhn/shape=9x9x9/cavities=2": 3, "rp2": 1, "random": 4} {
		n, err := ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		list := n.Variants(4)
		if len(list) != want || list[0].String() != n.String() {
			t.Errorf("%s: %v, want %d", name, list, want)
		}
		for _, v := range append(list, n.Smaller()...) {
			if _, err := v.Open(); err != nil {
				t.Error(err)
			}
		}
	}
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

func TestNativeIsWhatWasWritten(t *testing.T) {
	for _, name := range []string{"rp2", "five/shape=4x4x3", "moore/n=2/order=random"} {
		c := open(t, name)
		for _, trusted := range []bool{true, false} {
			c.Counts()
			var b bytes.Buffer
			if err := WriteNative(&b, c); err != nil || int64(b.Len()) != NativeSize(c) {
				t.Fatalf("%d bytes, %v; want %d", b.Len(), err, NativeSize(c))
			}
			got, err := ReadNative(b.Bytes(), trusted)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got.Tops, c.Tops, slices.Equal) || !slices.Equal(got.Points, c.Points) || !slices.Equal(got.Counts(), c.Counts()) {
				t.Errorf("%s: not what was written", name)
			}
			if _, err := ReadNative(b.Bytes()[:b.Len()-1], trusted); err == nil {
				t.Errorf("%s: cut off and read", name)
			}
		}
	}
}

func TestPolygonsAreDiscs(t *testing.T) {
	// A cube of squares, whose diagonals are not edges.
	c, err := Read([]byte("OFF\n8 6 12\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n4 0 1 2 3\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5 255 0 0\n4 2 3 7 6\n4 3 0 4 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Counts(); !slices.Equal(got, []int64{14, 36, 24}) {
		t.Errorf("%v", got)
	}
}

// Bad are damaged files and what is said of them.
var bad = map[string]string{
	"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n": "line 6: a face has a vertex 3", "OFF\n900000000000 1 0\n": "more than the rest of the file can hold", "OFF\n3 1\n0 0 0\n1 0 x\n": `line 4: a coordinate is "x"`,
	"OFF\n1 1 0\n0 0 0\n": "ends too early", "OFF BINARY\n": "want a text one", "4OFF\n": "want points in space", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 1\n": "want different vertices",
	"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n1 ": "ends too early", "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nend_header\n": "more than the rest", "ply\nformat x 1.0\nend_header\n": `format "x"`, "ply\nelement vertex 5": "the header does not end",
	"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n999999999 1\n": "longer than the rest", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n1 1\n": "has a vertex 1",
	"$MeshFormat\n4.1 1 8\n": "want a text one", "$MeshFormat\n3 0 8\n": `version "3"`, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 5 0 1 1 1 1 1 1 1 1\n": "an element of type 5", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n": "come before $Nodes", "$Nodes\n": "no $MeshFormat", "$Physical\n": "does not end",
	"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 15 0 2\n": "a node 2, which is not there",
	"0 1 2\n3 x\n": `line 2: a vertex is "x"`, "0 1 1\n": "line 1: vertex 1 is given twice", "0 -1\n": "from 0 on", "\x00\x01": "no format", "solid x\n": "no format", "SIMPLEX1": "damaged", strings.Repeat("1 ", 1): "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16": "more than 16 vertices",
}

func TestDamagedFiles(t *testing.T) {
	for text, want := range bad {
		_, err := Read([]byte(text))
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
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

func TestFilesBesideEachOther(t *testing.T) {
	if _, err := ReadFile("testdata/nowhere.ele"); err == nil || err.Error() != "input testdata/nowhere.ele: no such file or directory" {
		t.Error(err)
	}
	n, err := Named("testdata/cube.1.ele")
	if err != nil || !slices.Equal(n.Files(), []string{"testdata/cube.1.ele", "testdata/cube.1.node"}) {
		t.Error(n.Files(), err)
	}
}

// Voxels as cubes have as many of their faces as the T-construction has cells of an image.
func TestVoxels(t *testing.T) {
	c := open(t, "voxels/at=0/of=constant/shape=3x2x2/type=uint8")
	if d := open(t, "kuhn/shape=4x3x3"); !slices.Equal(c.Counts(), d.Counts()) {
		t.Errorf("%v, want %v", c.Counts(), d.Counts())
	}
}

// However many cores number the faces, the numbers are the same.
func TestFacesOnCores(t *testing.T) {
	for _, name := range []string{"kuhn/shape=14x13x12/order=random", "five/shape=20x20x3", "random/vertices=60/dim=4/count=9000", "random/vertices=3000/dim=1/count=40000"} {
		c := open(t, name)
		want := NewFaces(c, 1)
		for _, cores := range []int{2, 3, 40} {
			got := NewFaces(c, cores)
			if !slices.EqualFunc(got.Vertices, want.Vertices, slices.Equal) || !slices.EqualFunc(got.Boundary, want.Boundary, slices.Equal) {
				t.Errorf("%s: %d cores have other numbers", name, cores)
			}
		}
	}
}
