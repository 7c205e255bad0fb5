package simplicial

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/grid"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks returns the checks of complexes, their names, faces, readers and writers.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "shuffled complexes", Of: shuffledIsTheSame},
		{Name: "names of complexes", Of: namesAreRead},
		{Name: "what names are of", Of: namesAreOfComplexes},
		{Name: "grids of simplices", Of: gridsAreCut},
		{Name: "holes of grids", Of: holesAreLeftOut},
		{Name: "stand-ins", Of: standInsAreOfTheirSize},
		{Name: "smaller complexes", Of: variantsAndSmaller},
		{Name: "written complexes", Of: nativeIsWritten},
		{Name: "polygons", Of: polygonsAreDiscs},
		{Name: "files of each format", Of: filesAreRead},
		{Name: "types of PLY", Of: typesOfPLY},
		{Name: "numbers of what follows", Of: countsFit},
		{Name: "damaged files", Of: damagedIsTold},
		{Name: "faces that are given", Of: facesAreLeftOut},
		{Name: "long lines of PLY", Of: longLinesOfPLY},
		{Name: "files beside each other", Of: filesBesideEachOther},
		{Name: "wrong complexes", Of: wrongComplexes},
		{Name: "voxels", Of: voxelsAreSimplices},
		{Name: "joins with nothing", Of: joinsWithNothing},
		{Name: "opposite faces", Of: screwsAreFar},
		{Name: "triangles of a plane", Of: trianglesOfTetGen},
		{Name: "faces by definition", Of: facesAreDefined},
		{Name: "faces on several cores", Of: facesOnCores},
		{Name: "faces of vertices with great numbers", Of: facesOfGreatNumbers},
		{Name: "renumbered complexes", Of: renumbered},
		{Name: "scattered complexes", Of: farIsScattered},
		{Name: "estimated numbers of simplices", Of: estimates},
	}
}

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

// A shuffled complex has the same simplices by the points of their vertices, with another order of
// the simplices and of their vertices.
func shuffledIsTheSame(t *testing.T) {
	c := open(t, "five/shape=7x5x6/drills=1/cavities=1")
	c.Tops[1], c.Tops[2] = []uint32{3, 5, 0, 8}, []uint32{1, 2, 60}
	s, other := Shuffled(c, 3), Shuffled(c, 4)
	if slices.Equal(s.Tops[3], other.Tops[3]) || !slices.Equal(s.Tops[3], Shuffled(c, 3).Tops[3]) || !slices.Equal(s.Counts(), c.Counts()) || s.Vertices != c.Vertices {
		t.Fatalf("%v, want other numbers of %v", s.Counts(), c.Counts())
	}
	for d := range c.Tops {
		was, now := places(c, d), places(s, d)
		if slices.EqualFunc(was, now, slices.Equal) != (len(c.Tops[d]) == 0) {
			t.Errorf("dimension %d: the order is as before", d)
		}
		for _, list := range [][][]float64{was, now} {
			for _, p := range list {
				slices.Sort(p)
			}
			slices.SortFunc(list, slices.Compare)
		}
		if !slices.EqualFunc(was, now, slices.Equal) {
			t.Errorf("dimension %d: points do not follow their vertices", d)
		}
	}
}

// places returns the vertices of simplices by their points, which are on a grid.
func places(c *Complex, d int) (list [][]float64) {
	for at := 0; at < len(c.Tops[d]); at += d + 1 {
		var p []float64
		for _, v := range c.Tops[d][at : at+d+1] {
			p = append(p, c.Points[3*v]+100*c.Points[3*v+1]+1e4*c.Points[3*v+2])
		}
		list = append(list, p)
	}
	return list
}

func namesAreRead(t *testing.T) {
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
		"kuhn/shape=100000x100000x9": "at most", "kuhn/shape=16384x8192x1/order=up": "order=up", "kuhn/shape=8193x8192x2": "want at most 134217728 vertices", "kuhn/shape=1x9": "at least 2 vertices", "kuhn/shape=9x1x9": "at least 2 vertices",
		"voxels/at=1/of=constant/shape=2x2/type=uint8": "has levels 0 to 0", "voxels/at=0/cut=up/of=ball/shape=4x4/type=uint8": "cut=up: want kuhn or five", "voxels/at=0/of=nothing": "nothing",
		"torus/shape=4x3": "at least 4x4", "torus/shape=4x4x2": "at least 4x4", "torus/seed=-1": "seed=-1: want 0 to 4611686018427387904", "kuhn/shape=9x9/drills=-1": "drills=-1: want 0 to 1099511627776", "kuhn/shape=9x9/cavities=1099511627777": "want 0 to 1099511627776",
		"sphere/dim=15": "dim=15: want 0 to 14", "sphere/dim=-1": "want 0 to 14", "moore/n=65537": "want 1 to 65536", "lens/p=1": "want 2 to 64", "lens/p=65": "want 2 to 64", "lens/q=0": "want 1 to 64", "lens/q=65": "want 1 to 64", "lens/p=9/q=6": "both multiples of 3", "lens/p=5/q=5": "both multiples of 5",
		"dodecahedral/tenths=0": "want 1 to 5", "dodecahedral/tenths=6": "want 1 to 5", "random/vertices=0": "want 1 to 1073741824", "random/vertices=1073741825": "want 1 to 1073741824", "random/dim=-1": "want 0 to 15", "random/dim=16": "want 0 to 15", "random/count=0": "want 1 to 268435456",
		"random/count=268435457": "want 1 to 268435456", "random/vertices=2/dim=2": "want more than the dimension 2", "random/seed=4611686018427387905": "want 0 to 4611686018427387904", "voxels/at=1099511627777/of=ball/shape=4x4": "want 0 to 1099511627776", "voxels/at=-1/of=ball/shape=4x4": "want 0 to",
		"synth/cavities=1099511627777": "want 0 to 1099511627776", "synth/cavities=50000": "room for 46656", "join/with=moore,n=0/of=rp2": "n=0: want 1 to", "join/with=rp2/of=torus/shape=3x3": "at least 4x4", "join/with=torus,shape=3x3/of=rp2": "at least 4x4", "wedge/with=nothing/of=rp2": "no complex of the kind nothing",
		"file/path=testdata/nowhere.off": "input testdata/nowhere.off: no such file", "voxels/at=300/of=ball/shape=4x4/type=uint8": "the image has levels", "join/with=sphere,dim=9/of=sphere/dim=9": "want at most 15",
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

// Variants have another seed, or fewer holes. Smaller complexes have half of the vertices, or one
// less, along each axis, and an eighth of the holes.
func variantsAndSmaller(t *testing.T) {
	spelt := func(list []Name) (out []string) {
		for _, n := range list {
			out = append(out, n.String())
			if _, err := n.Open(); err != nil {
				t.Error(err)
			}
		}
		return out
	}
	for name, want := range map[string][2][]string{
		"kuhn/shape=9x8x7/drills=0/cavities=2/order=random/seed=5": {
			{"kuhn/shape=9x8x7/drills=0/cavities=1/order=random/seed=6", "kuhn/shape=9x8x7/drills=0/cavities=0/order=random/seed=7", "kuhn/shape=9x8x7/drills=0/cavities=2/order=random/seed=8"},
			{"kuhn/shape=5x4x4/drills=0/cavities=0/order=random/seed=5", "kuhn/shape=8x7x6/drills=0/cavities=0/order=random/seed=5"},
		},
		"kuhn/shape=9x8x2/drills=0/cavities=0":    {nil, {"kuhn/shape=5x4x2/drills=0/cavities=0", "kuhn/shape=8x7x2/drills=0/cavities=0"}},
		"kuhn/shape=9x9x9/drills=3/cavities=17":   {{"kuhn/shape=9x9x9/drills=3/cavities=16", "kuhn/shape=9x9x9/drills=3/cavities=15", "kuhn/shape=9x9x9/drills=3/cavities=14"}, {"kuhn/shape=8x8x8/drills=0/cavities=2"}},
		"kuhn/shape=20x20x3/drills=16/cavities=0": {{"kuhn/shape=20x20x3/drills=15/cavities=0", "kuhn/shape=20x20x3/drills=14/cavities=0", "kuhn/shape=20x20x3/drills=13/cavities=0"}, {"kuhn/shape=10x10x2/drills=2/cavities=0", "kuhn/shape=19x19x2/drills=2/cavities=0"}},
		"five/shape=7x6/drills=2/cavities=0":      {{"five/shape=7x6/drills=1/cavities=0", "five/shape=7x6/drills=0/cavities=0"}, {"five/shape=4x3/drills=0/cavities=0", "five/shape=6x5/drills=0/cavities=0"}},
		"random/vertices=5/dim=1/count=9/seed=1":  {{"random/vertices=5/dim=1/count=9/seed=2", "random/vertices=5/dim=1/count=9/seed=3", "random/vertices=5/dim=1/count=9/seed=4"}, {"random/vertices=5/dim=1/count=4/seed=1", "random/vertices=5/dim=1/count=8/seed=1"}},
		"random/vertices=5/dim=1/count=1/seed=1":  {{"random/vertices=5/dim=1/count=1/seed=2", "random/vertices=5/dim=1/count=1/seed=3", "random/vertices=5/dim=1/count=1/seed=4"}, nil},
		"torus/shape=5x4":                         {nil, nil},
		"rp2":                                     {nil, nil},
	} {
		n, err := ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := spelt(n.Variants(4)); !slices.Equal(got, append([]string{name}, want[0]...)) {
			t.Errorf("%s: variants %v, want %v", name, got, want[0])
		}
		if got := spelt(n.Smaller()); !slices.Equal(got, want[1]) {
			t.Errorf("%s: smaller ones %v, want %v", name, got, want[1])
		}
	}
}

func nativeIsWritten(t *testing.T) {
	for _, c := range []struct {
		of      *Complex
		trusted bool
		right   bool
	}{{&Complex{}, false, true}, {&Complex{Vertices: 1025}, false, false}, {&Complex{Vertices: math.MaxUint32}, true, true}, {&Complex{Vertices: math.MaxUint32 + 1}, true, false}, {&Complex{Tops: [][]uint32{{}}}, true, false}, {&Complex{Tops: [][]uint32{{0, 1}, {}}, Vertices: 2}, true, false}, {&Complex{Tops: [][]uint32{{2}}, Vertices: 2}, false, false}} {
		var b bytes.Buffer
		if err := WriteNative(&b, c.of); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadNative(b.Bytes(), c.trusted); (err == nil) != c.right {
			t.Errorf("simplices %v of %d vertices, trusted %v: %v", c.of.Tops, c.of.Vertices, c.trusted, err)
		}
	}
	for _, name := range []string{"rp2", "five/shape=4x4x3", "moore/n=2/order=random", "random/vertices=3/dim=2/count=1"} {
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
			for end := range b.Len() {
				if _, err := ReadNative(b.Bytes()[:end], trusted); err == nil {
					t.Errorf("%s: cut off at %d of %d bytes and read", name, end, b.Len())
				}
			}
			if _, err := ReadNative(append(b.Bytes(), 0), trusted); err == nil {
				t.Errorf("%s: read with what is behind", name)
			}
			// At any address.
			if got, err := ReadNative(append([]byte{0}, b.Bytes()...)[1:], trusted); err != nil || !slices.EqualFunc(got.Tops, c.Tops, slices.Equal) || !slices.Equal(got.Points, c.Points) {
				t.Errorf("%s: not what was written, %v", name, err)
			}
			// Wrong counts in a file are ignored if it is not trusted.
			other := bytes.Clone(b.Bytes())
			other[32]++
			if got, err := ReadNative(other, trusted); err != nil || slices.Equal(got.Counts(), c.Counts()) == trusted {
				t.Errorf("%s: trusted %v, with another count: %v", name, trusted, err)
			}
			if got, err := Read(other); err != nil || !slices.Equal(got.Counts(), c.Counts()) {
				t.Errorf("%s: a file with another count: %v", name, err)
			}
			// A head of more dimensions than there can be, of points twice, of more vertices or simplices.
			for at, value := range map[int]byte{0: 's', 8: 17, 12: 2, 20: 1, 24: 200, 31: 64} {
				other := bytes.Clone(b.Bytes())
				other[at] = value
				if _, err := ReadNative(other, trusted); err == nil {
					t.Errorf("%s: read with %d at %d", name, value, at)
				}
			}
			// Without counts, the file has the same size, and is counted when it is read.
			bare, long := &Complex{Tops: c.Tops, Vertices: c.Vertices, Points: c.Points}, b.Len()
			b.Reset()
			if err := WriteNative(&b, bare); err != nil || b.Len() != long {
				t.Errorf("%s: %d bytes without counts, %v, want %d", name, b.Len(), err, long)
			}
			if got, err := ReadNative(b.Bytes(), trusted); err != nil || !slices.Equal(got.Counts(), c.Counts()) {
				t.Errorf("%s: without counts: %v", name, err)
			}
		}
	}
}

func polygonsAreDiscs(t *testing.T) {
	// A cube of squares, whose diagonals are not edges.
	c, err := Read([]byte("OFF\n8 6 12\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n4 0 1 2 3\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5 255 0 0\n4 2 3 7 6\n4 3 0 4 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Counts(); !slices.Equal(got, []int64{14, 36, 24}) {
		t.Errorf("%v", got)
	}
	// The centre of each square is a new point.
	if want := []float64{0.5, 0.5, 0, 0.5, 0.5, 1, 0.5, 0, 0.5, 1, 0.5, 0.5, 0.5, 1, 0.5, 0, 0.5, 0.5}; !slices.Equal(c.Points[24:], want) {
		t.Errorf("the middles are at %v, want %v", c.Points[24:], want)
	}
	// The centres of two squares of the same corners are at one place, and no vertices of the file.
	for text, want := range map[string][2]int{
		"OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n4 0 2 1 3\n":           {0, 4},
		"OFF\n5 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n1 1 0\n4 0 1 2 3\n4 0 2 1 3\n":    {1, 5},
		"OFF\n5 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 0.5 0\n4 0 1 2 3\n3 0 1 4\n":  {0, 5},
		"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf 1 3 2 4\nv 1 1 0\np 5\n": {1, 5},
	} {
		c, err := Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if same, n := c.Coincident(); [2]int{same, n} != want {
			t.Errorf("%q: %d of %d vertices are at the place of another one, want %v", text, same, n, want)
		}
	}
}

// bad maps damaged files to their error.
var bad = map[string]string{
	"OFF\n1 1 0\n0 0 0\n0\n": "line 4: a face without vertices", "OFF\n1 1 0\n0 0 0\n1 -1\n": "line 4: a vertex of a face is \"-1\": want a whole number from 0 on", "nOFF\n1 0 0\n0\n": "want points in space", "OFFX\n": "line 1: \"OFFX\": want OFF", "OFF\n1 0 0\n0 0\n": "a coordinate is missing: the file ends too early",
	"OFF\n": "the number of vertices is missing", "OFF\n3 99 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n": "line 2: 99 faces are more than the rest of the file can hold", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n9 0 1 2\n": "line 6: 9 vertices of a face are more than", "OFF\n-1 1\n": "line 2: the number of vertices is \"-1\"",
	"ply\nformat ascii 1.0\nelement vertex -1\nend_header\n": "line 3: \"element vertex -1\": want a PLY header", "ply\nelement vertex\nend_header\n": "line 2", "ply\nelement vertex x\nend_header\n": "line 2", "ply\nformat ascii\nend_header\n": "line 2", "ply\nproperty float x\nend_header\n": "line 2", "ply\nelement vertex 1\nproperty quad x\nend_header\n": "line 3",
	"ply\nelement vertex 1\nproperty list quad int x\nend_header\n": "line 3", "ply\nelement vertex 1\nproperty list int x\nend_header\n": "line 3", "ply\nelement vertex 1\nproperty lost int int x\nend_header\n": "line 3", "ply\nend_header\n": "format \"\"",
	"ply\nformat ascii 1.0\nelement face 1\nproperty list int int vertex_indices\nend_header\n1 0\n": "elements face come before those of vertices", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n1\n1 0\n": "strips of triangles",
	"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n0\n": "element face has no vertices", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n1 -1\n": "element face has a vertex -1: want 0 to 0",
	"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n1\n1 0.5\n": "has a vertex 0.5", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n-1 0\n": "a list of -1 values",
	"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n1\n2 1 1\n": "want different vertices",
	"$Nodes": "no $MeshFormat", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n": "no $Nodes", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n": "no $Elements", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n": "node 1 is given twice", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$End\n": "line 7: \"$End\": want $EndNodes",
	"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2 1 1\n0 1 0 2\n1\n1\n0 0 0\n0 0 0\n$EndNodes\n": "node 1 is given twice", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 15 0 1\n$EndNodes\n": "want $EndElements", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n2 0 0 0\n$EndNodes\n$Elements\n1\n1 1 0 2 2\n$EndElements\n": "line 11: face [1 1]: want different vertices",
	"$MeshFormat\n4 0 8\n": "version \"4\"", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n99 1 1 1\n": "99 blocks are more than",
	"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n": "line 6: a face has a vertex 3", "OFF\n900000000000 1 0\n": "more than the rest of the file can hold", "OFF\n2 1\n0 0 0\n1 0 x\n": `line 4: a coordinate is "x"`,
	"OFF\n1 1 0\n0 0 0\n": "ends too early", "OFF BINARY\n": "want a text one", "4OFF\n": "want points in space", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 1\n": "want different vertices",
	"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n1 ": "ends too early", "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nend_header\n": "more than the rest", "ply\nformat x 1.0\nend_header\n": `format "x"`, "ply\nelement vertex 5": "the header does not end",
	"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n999999999 1\n": "longer than the rest", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nproperty list int int vertex_indices\nend_header\n1\n1 1\n": "has a vertex 1",
	"$MeshFormat\n4.1 1 8\n": "want a text one", "$MeshFormat\n3 0 8\n": `version "3"`, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 99 0 1 1 1 1 1 1 1 1\n": "an element of type 99", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n": "come before $Nodes", "$Nodes\n": "no $MeshFormat", "$Physical\n": "does not end",
	"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 15 0 2\n": "a node 2, which is not there",
	"ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nend_header\n1 2 3\n":                "9 elements vertex are more than the rest of the file can hold", "ply\nformat ascii 1.0\nelement vertex 17\nproperty float x\nelement cell 1\nproperty list int int vertex_indices\nend_header\n0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n17 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n": "element cell of 17 vertices: want at most 16",
	"ply\nformat ascii 1.0\nelement vertex 17\nproperty float x\nelement cell 1\nproperty list int int vertex_indices\nend_header\n0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n": "", "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty char x\nelement face 1\nproperty list uchar uchar vertex_indices\nend_header\n012\x03\x00\x01\x02": "",
	"ply\nformat ascii 1.0\nelement material 4000000000\nelement vertex 1\nproperty float x\nend_header\n1\n": "", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n$EndNodes\n": "line 5: 4 nodes are more than the rest of the file can hold", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n$EndNodes\n": "line 7: the number of a vertex is \"$EndNodes\"",
	"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15": "", "0 1\x00 2\n": "no format", "-1 0\n": "line 1: a vertex is \"-1\"", "# a note\n0 1\n": "", "\n\n 0 1 2\n": "", "": "",
	"0 1 2\n3 x\n": `line 2: a vertex is "x"`, "0 1 1\n": "line 1: vertex 1 is given twice", "0 -1\n": "from 0 on", "\x00\x01": "no format", "solid x\n": "endsolid is missing", "SIMPLEX1": "damaged", strings.Repeat("1 ", 1): "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16": "more than 16 vertices",
}

func damagedIsTold(t *testing.T) {
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

// Given simplices that are faces of others are removed, even if there is only one.
func facesAreLeftOut(t *testing.T) {
	for text, want := range map[string][][]uint32{
		"0 1\n1\n": {nil, {0, 1}}, "0 1\n1\n2\n": {{2}, {0, 1}}, "0 1 2\n2 1\n": {nil, nil, {0, 1, 2}}, "0 1 2\n2\n3 0\n0 1\n": {nil, {0, 3}, {0, 1, 2}}, "4 5 6\n2\n": {{0}, nil, {1, 2, 3}}, "3 4\n": {nil, {0, 1}}, "7\n5\n7\n": {{1, 0, 1}},
	} {
		if c, err := Read([]byte(text)); err != nil || !slices.EqualFunc(c.Tops, want, slices.Equal) || !slices.Equal(c.Counts(), NewFaces(c, 1).Counts()) {
			t.Errorf("%q: %+v, %v, want %v", text, c, err, want)
		}
	}
}

// A line of a PLY header is read up to 4096 bytes.
func longLinesOfPLY(t *testing.T) {
	for blanks, want := range map[int]bool{4096 - len("property") - len("float") - len("x"): true, 4096 - len("property") - len("float"): false} {
		_, err := Read([]byte("ply\nformat ascii 1.0\nelement vertex 1\nproperty" + strings.Repeat(" ", blanks-1) + "float x\nend_header\n1\n"))
		if (err == nil) != want {
			t.Errorf("%d blanks in a line: %v", blanks, err)
		}
	}
}

func filesBesideEachOther(t *testing.T) {
	if _, err := ReadFile("testdata/nowhere.ele"); err == nil || err.Error() != "input testdata/nowhere.ele: no such file or directory; check the path" {
		t.Error(err)
	}
	n, err := Named("testdata/cube.1.ele")
	if err != nil || !slices.Equal(n.Files(), []string{"testdata/cube.1.ele", "testdata/cube.1.node"}) {
		t.Error(n.Files(), err)
	}
	dir := t.TempDir()
	m := mesh{[][3]float64{{}, {1}, {0, 1}, {0, 0, 1}}, [][]uint32{{0, 1, 3, 2}}}
	elements, nodes := m.tetGen(1, 1)
	for name, marked := range map[string]string{"a.ele": elements, "a.node": nodes, "b.ele": elements, "c.node": nodes, "d.off": "OFF\n1 1 0\n0 0 0\n1 x\n", "e.txt": m.text(), "f.ele": "x", "f.node": nodes, "h.ele": "\ufeff" + elements, "h.node": "\ufeff" + nodes} {
		text, _ := wordsOf(marked)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a.ele": "", "h.ele": "", "a.node": "", "e.txt": "", "b.ele": "b.node: no such", "c.node": "c.ele: no such", "d.off": "d.off: line 4", "f.ele": "f.ele: .ele: line 1", "g.off": "g.off: no such"} {
		c, err := ReadFile(filepath.Join(dir, name))
		if want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), "input "+filepath.Join(dir, want)) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			continue
		}
		read := m.read()
		if name == "e.txt" {
			read.Points = nil
		}
		asRead(t, name, c, err, read)
	}
}

// An invalid complex is an error.
func wrongComplexes(t *testing.T) {
	list := func(d int, simplices ...uint32) [][]uint32 { return append(make([][]uint32, d), simplices) }
	for want, c := range map[string]*Complex{
		"dimension 16: want at most 15": {Tops: list(16, 0), Vertices: 99}, "-1 vertices": {Vertices: -1}, "4294967296 vertices: want at most 4294967295": {Vertices: 1 << 32}, "3 coordinates of 2 vertices": {Tops: list(0, 0, 1), Vertices: 2, Points: make([]float64, 3)},
		"3 vertices in simplices of 2": {Tops: list(1, 0, 1, 2), Vertices: 3}, "simplex [0 3] has a vertex 3: want 0 to 2": {Tops: list(1, 1, 2, 0, 3), Vertices: 3}, "simplex [1 2 1] has vertex 1 twice": {Tops: list(2, 0, 1, 2, 1, 2, 1), Vertices: 3}, "the list of the greatest dimension is empty": {Tops: list(1), Vertices: 3}, "the list of the greatest dimension": {Tops: [][]uint32{{}}},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for listed, want := range map[[2]int]bool{{1 << 28, 0}: true, {1<<28 + 1, 0}: false, {3 << 28, 2}: true, {3<<28 + 3, 2}: false} {
		if err := givenFit(listed[0], listed[1]); (err == nil) != want {
			t.Errorf("%d vertices of simplices of dimension %d: %v", listed[0], listed[1], err)
		}
	}
	for _, c := range []*Complex{{}, {Vertices: math.MaxUint32}, {Tops: list(15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), Vertices: 16}, {Tops: list(0, 2, 0, 2), Vertices: 3, Points: make([]float64, 9)}} {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	// The limit of vertices is 64 times those in use, plus 1024, unless the complex has points.
	for n, want := range map[int]bool{64*3 + 1024: true, 64*3 + 1025: false} {
		c := &Complex{Tops: list(2, 0, 1, 2), Vertices: n}
		if err := boundedVertices(c); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "numbered up to 1216, and simplices have 3") {
			t.Errorf("%d vertices: %v", n, err)
		}
		if c.Points = make([]float64, 3*n); boundedVertices(c) != nil {
			t.Errorf("%d points: %v", n, boundedVertices(c))
		}
	}
	c := &Complex{Tops: [][]uint32{{4}, {0, 1, 1, 2}}, Vertices: 5, Points: make([]float64, 15)}
	if c.Dim() != 1 || c.Given() != 3 || c.Bytes() != 140 || c.Simplices() != 6 || (&Complex{}).Dim() != -1 {
		t.Errorf("dimension %d, %d simplices of %d, %d bytes", c.Dim(), c.Given(), c.Simplices(), c.Bytes())
	}
}

// Voxels as cubes have one face for each cell of the image in the T-construction.
func voxelsAreSimplices(t *testing.T) {
	c := open(t, "voxels/at=0/of=constant/shape=3x2x2/type=uint8")
	if d := open(t, "kuhn/shape=4x3x3"); !slices.Equal(c.Counts(), d.Counts()) {
		t.Errorf("%v, want %v", c.Counts(), d.Counts())
	}
	// The number of vertices is limited to that of a grid, along every axis.
	for s, want := range map[grid.Shape]bool{{D: 511, H: 511, W: 511}: true, {D: 512, H: 511, W: 511}: false, {D: 511, H: 512, W: 511}: false, {D: 511, H: 511, W: 512}: false, {D: 1, H: 8191, W: 8191}: true} {
		if v, err := verticesOf(s); (err == nil) != want || v != (grid.Shape{D: s.D + 1, H: s.H + 1, W: s.W + 1}) {
			t.Errorf("%v voxels have %v vertices, %v", s, v, err)
		}
	}
	// A file without an image is an error.
	path := filepath.Join(t.TempDir(), "a.npy")
	head := fmt.Sprintf("\x93NUMPY\x01\x00v\x00%-117s\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }")
	if err := os.WriteFile(path, append([]byte(head), 0, 0, 0xc0, 0x7f), 0o666); err != nil {
		t.Fatal(err)
	}
	n, err := ParseName("voxels/at=0/of=file/path=" + path)
	if err == nil {
		_, err = n.Open()
	}
	if err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("voxels of what is no number: %v", err)
	}
}

// The complex of a name never changes, on any machine. It has the number of simplices in the
// literature, or by arithmetic.
func namesAreOfComplexes(t *testing.T) {
	for name, want := range map[string]struct {
		digest string
		counts []int64
	}{
		"rp2":                                    {"f53a443bcba8139e", []int64{6, 15, 10}},
		"torus/shape=5x4":                        {"fc7ef6cc502f80c0", []int64{20, 60, 40}},
		"klein/shape=4x5/order=random/seed=7":    {"c37c95eba3802189", []int64{20, 60, 40}},
		"sphere/dim=0":                           {"", []int64{2}},
		"sphere/dim=3":                           {"a452356caf64f19d", []int64{5, 10, 10, 5}},
		"moore/n=4":                              {"6cc43d9845ba22b9", []int64{16, 51, 36}},
		"lens/p=5/q=2":                           {"0be5d1b65bc8d448", []int64{88, 568, 960, 480}},
		"dodecahedral/tenths=1":                  {"2b9d266638f352f4", []int64{524, 3404, 5760, 2880}},
		"dodecahedral/tenths=3":                  {"ffcb689580e463e7", []int64{508, 3388, 5760, 2880}},
		"dodecahedral/tenths=5":                  {"251e98173e5bfb78", []int64{544, 3424, 5760, 2880}},
		"join/with=rp2/of=moore/n=2":             {"ea108c23edd4bda8", []int64{16, 102, 340, 613, 540, 180}},
		"wedge/with=rp2/of=moore/n=2":            {"e0b5924734821b55", []int64{15, 42, 28}},
		"random":                                 {"eda099dbe5fc1639", []int64{12, 53, 35}},
		"random/vertices=5/dim=4/count=3":        {"", []int64{5, 10, 10, 5, 1}},
		"random/vertices=5/dim=0/count=30":       {"", []int64{5}},
		"random/vertices=7/dim=3/count=9/seed=5": {"1dd613b212b6c73a", []int64{7, 20, 23, 8}},
		"kuhn/shape=2x2x2":                       {"", []int64{8, 19, 18, 6}},
		"five/shape=2x2x2":                       {"", []int64{8, 18, 16, 5}},
		"kuhn/shape=3x2":                         {"", []int64{6, 9, 4}},
		"kuhn/shape=5x4x3/drills=1/order=random": {"59f720d34eee191b", []int64{60, 250, 322, 132}},
		"five/shape=6x6x6/drills=1/cavities=2":   {"2834965fdc2738e5", []int64{216, 984, 1360, 590}},
		"kuhn/shape=6x5/drills=2":                {"032485221eae7f13", []int64{30, 67, 36}},
		"voxels/at=100/of=noise/shape=7x6x5/type=uint8/seed=8":        {"60a720a9c69a7342", []int64{278, 1060, 1222, 450}},
		"voxels/at=100/cut=five/of=noise/shape=7x6/type=uint8/seed=8": {"3f947d66fd1e154a", []int64{74, 233, 244, 85}},
	} {
		c := open(t, name)
		h := sha256.New()
		for _, tops := range c.Tops {
			binary.Write(h, binary.LittleEndian, uint32(len(tops)))
			binary.Write(h, binary.LittleEndian, tops)
		}
		binary.Write(h, binary.LittleEndian, c.Points)
		if got := hex.EncodeToString(h.Sum(nil)[:8]); want.digest != "" && got != want.digest {
			t.Errorf("%s: digest %s, want %s", name, got, want.digest)
		}
		if got := c.Counts(); !slices.Equal(got, want.counts) || c.Points == nil && int64(c.Vertices) != got[0] {
			t.Errorf("%s: %v of %d vertices, want %v", name, got, c.Vertices, want.counts)
		}
	}
	// Canonical names contain the default values.
	for name, want := range map[string]string{
		"torus": "torus/shape=5x5", "klein/seed=3": "klein/shape=5x5", "sphere": "sphere/dim=2", "moore": "moore/n=3", "lens": "lens/p=3/q=1", "dodecahedral": "dodecahedral/tenths=1", "kuhn/shape=3x3/order=random": "kuhn/shape=3x3/drills=0/cavities=0/order=random/seed=1",
		"random": "random/vertices=12/dim=2/count=40/seed=1", "voxels/at=3/of=ball/shape=4x4": "voxels/at=3/cut=kuhn/of=ball/shape=4x4", "join/with=rp2/of=klein": "join/with=rp2/of=klein", "moore/n=007": "moore/n=7",
	} {
		if n, err := ParseName(name); err != nil || n.String() != want {
			t.Errorf("%s: %v, %v; want %s", name, n, err, want)
		}
	}
	for name, want := range map[string]struct {
		files []string
		shown string
	}{
		"rp2": {nil, "rp2"}, "file/path=a/b.off": {[]string{"a/b.off"}, "b.off"}, "file/path=a/b.1.node": {[]string{"a/b.1.node", "a/b.1.ele"}, "b.1.node"}, "voxels/at=0/of=file/path=c/d.npy": {[]string{"c/d.npy"}, "voxels/at=0/cut=kuhn/of=file/path=c/d.npy"},
	} {
		n, err := ParseName(name)
		if err != nil || !slices.Equal(n.Files(), want.files) || n.Shown() != want.shown {
			t.Errorf("%s: of %v, shown as %s, %v", name, n.Files(), n.Shown(), err)
		}
	}
}

// The simplices of a grid fill each kept cube once. Two cubes that touch share the triangles of the
// square between them.
func gridsAreCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 24 {
		w, h, d, cut, each, inner := 2+rng.IntN(4), 2+rng.IntN(4), 1+rng.IntN(4), Kuhn, 6, int64(6)
		if round%2 == 1 {
			cut, each, inner = Five, 5, 4
		}
		per := 3 // number of axes of a simplex
		if d == 1 {
			per, each, inner = 2, 2, 1
		}
		kept := map[[3]int]float64{}
		c := Grid(w, h, d, cut, func(x, y, z int) bool {
			if x < 0 || y < 0 || z < 0 || x >= w-1 || y >= h-1 || z >= max(1, d-1) {
				t.Errorf("%d, %d, %d of %dx%dx%d vertices is asked for", x, y, z, w, h, d)
			}
			if rng.IntN(4) > 0 && round > 1 { // the first two grids keep all cubes
				kept[[3]int{x, y, z}] = 0
			}
			_, ok := kept[[3]int{x, y, z}]
			return ok
		})
		dim := per
		if len(kept) == 0 {
			dim = -1
		}
		if c.Vertices != w*h*d || len(c.Points) != 3*w*h*d || c.Given() != int64(each*len(kept)) || c.Dim() != dim {
			t.Fatalf("%dx%dx%d in %s: %d vertices, %d simplices of dimension %d, want %d in each of %d", w, h, d, cut, c.Vertices, c.Given(), c.Dim(), each, len(kept))
		}
		for v := range c.Vertices {
			if got, want := c.Points[3*v:3*v+3], []float64{float64(v % w), float64(v / w % h), float64(v / w / h)}; !slices.Equal(got, want) {
				t.Fatalf("%dx%dx%d: vertex %d is at %v, want %v", w, h, d, v, got, want)
			}
		}
		if len(kept) == 0 {
			continue
		}
		squares := map[[4]int]bool{} // of cubes, or sides of squares: along an axis, from a place
		for at := range kept {
			for axis := range per {
				next := at
				next[axis]++
				squares[[4]int{axis, at[0], at[1], at[2]}], squares[[4]int{axis, next[0], next[1], next[2]}] = true, true
			}
		}
		if got, want := c.Counts()[per-1], inner*int64(len(kept))+int64(per-1)*int64(len(squares)); got != want {
			t.Errorf("%dx%dx%d in %s: %d faces, want %d", w, h, d, cut, got, want)
		}
		for at := 0; at < len(c.Tops[per]); at += per + 1 {
			p := c.Points
			s := c.Tops[per][at : at+per+1]
			var cube [3]int
			var v [3][3]float64
			v[2][2] = 1
			for k := range 3 {
				least := math.Inf(1)
				for i, w := range s {
					least = min(least, p[3*w+uint32(k)])
					if i > 0 {
						v[i-1][k] = p[3*w+uint32(k)] - p[3*s[0]+uint32(k)]
					}
				}
				cube[k] = int(least)
			}
			for k := range per {
				for i := range per {
					if math.Abs(v[i][k]) > 1 {
						t.Fatalf("%dx%dx%d in %s: simplex %v is of several cubes", w, h, d, cut, s)
					}
				}
			}
			if _, ok := kept[cube]; !ok {
				t.Fatalf("%dx%dx%d in %s: simplex %v is of cube %v, which is left out", w, h, d, cut, s, cube)
			}
			kept[cube] += math.Abs(dot(v[0], cross(v[1], v[2]))) / []float64{1, 1, 2, 6}[per]
		}
		for at, volume := range kept {
			if math.Abs(volume-1) > 1e-9 {
				t.Errorf("%dx%dx%d in %s: simplices fill %v of cube %v", w, h, d, cut, volume, at)
			}
		}
	}
}

// Grids have the number of holes in their names, up to the number that fits.
func holesAreLeftOut(t *testing.T) {
	for _, c := range []struct{ w, h, d, columns, deep int64 }{{4, 4, 4, 1, 1}, {5, 6, 7, 2, 2}, {8, 4, 3, 3, 0}, {2, 9, 9, 0, 3}, {9, 7, 1, 6, 0}, {3, 3, 3, 0, 0}} {
		for drills := range c.columns + 2 {
			for _, cavities := range []int64{0, 1, max(0, c.columns-drills) * c.deep, (c.columns-drills)*c.deep + 1} {
				if cavities < 0 {
					continue
				}
				p := piercing{int(c.w), int(c.h), int(c.d), []Cut{Five, Kuhn}[drills%2], drills, cavities}
				err := p.check()
				if fits := drills <= c.columns && cavities <= (c.columns-drills)*c.deep; (err == nil) != fits {
					t.Errorf("%+v: %d drills, %d cavities: %v", c, drills, cavities, err)
				} else if !fits {
					continue
				}
				g := p.complex()
				if want := countFaces(g, 1); !slices.Equal(g.Counts(), want) {
					t.Errorf("%+v: %v simplices, want %v", p, g.Counts(), want)
				}
				if s := p.sketch(); s != nil && (s.Given() != g.Given() || s.Bytes() != g.Bytes() || s.Vertices != g.Vertices || !slices.Equal(s.Counts(), g.Counts())) {
					t.Errorf("%+v: a sketch has another size", p)
				}
				cubes, each := (c.w-1)*(c.h-1)*(c.d-1)-drills*(c.d-1)-cavities, int64(5+drills%2)
				if c.d == 1 {
					cubes, each = (c.w-1)*(c.h-1)-drills, 2
				}
				if g.Given() != each*cubes {
					t.Errorf("%+v: %d drills, %d cavities: %d simplices, want %d in each of %d", c, drills, cavities, g.Given(), each, cubes)
				}
			}
		}
	}
}

// Stand-ins have nearly as many simplices as the data, and their description has their shape and
// cut.
func standInsAreOfTheirSize(t *testing.T) {
	for name, want := range map[string]string{"blunt": "40x32x32 vertices, five cut, 512 cavities", "post": "38x76x38 vertices, five cut, 1000 cavities", "bucky": "64x64x64 vertices, five cut, 4096 cavities", "synth": "75x75x75 vertices, kuhn cut, 5832 cavities"} {
		n, err := ParseName(name)
		if err != nil || !strings.Contains(n.kind.Doc, want) || !strings.Contains(want, ", "+n.Get("cavities")+" ") {
			t.Errorf("%s: %s with %s, %v; want %s", name, n.kind.Doc, n.Get("cavities"), err, want)
		}
	}
	if c := open(t, "blunt"); c.Vertices != 40*32*32 || c.Given() != 5*(39*31*31-512) {
		t.Errorf("blunt: %d vertices, %d simplices", c.Vertices, c.Given())
	}
}

// The faces of dimension d are the subsets of d+1 vertices of a simplex, each once, with ascending
// vertices. A boundary has the faces with one vertex less.
func facesAreDefined(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 60 {
		c, vertices := &Complex{}, 1+rng.IntN(12)
		for range rng.IntN(20) {
			var s []uint32
			for _, v := range rng.Perm(vertices)[:1+rng.IntN(min(vertices, 6))] {
				s = append(s, uint32(v))
			}
			c.Add(s...)
		}
		want := make([][][]uint32, len(c.Tops))
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
					want[len(face)-1] = append(want[len(face)-1], face)
				}
			}
		}
		f := NewFaces(c, 1+round%3)
		if got := countFaces(c, 1+round%3); !slices.Equal(got, f.Counts()) {
			t.Fatalf("simplices %v: %v, want %v of each dimension", c.Tops, got, f.Counts())
		}
		for d, list := range want {
			if d < c.Dim() { // those of the greatest dimension are in the order in which they come
				slices.SortFunc(list, slices.Compare)
			}
			seen := map[string]bool{}
			list = slices.DeleteFunc(list, func(s []uint32) bool {
				twice := seen[keyOf(s)]
				seen[keyOf(s)] = true
				return twice
			})
			if !slices.Equal(f.Vertices[d], slices.Concat(list...)) {
				t.Fatalf("simplices %v: faces of dimension %d are %v, want %v", c.Tops, d, f.Vertices[d], list)
			}
			for i, s := range list {
				for k := range s {
					if d == 0 {
						break
					}
					at := int(f.Boundary[d][i*(d+1)+k])
					if got, want := f.Vertices[d-1][at*d:(at+1)*d], slices.Delete(slices.Clone(s), k, k+1); !slices.Equal(got, want) {
						t.Fatalf("face %d of %v is %v", k, s, got)
					}
				}
			}
		}
	}
}

// The numbers of faces are the same for every number of cores.
func facesOnCores(t *testing.T) {
	for _, name := range []string{"kuhn/shape=14x13x12/order=random", "five/shape=20x20x3", "random/vertices=60/dim=4/count=9000", "random/vertices=3000/dim=1/count=40000"} {
		c := open(t, name)
		want := NewFaces(c, 1)
		for _, cores := range []int{2, 3, 40} {
			got := NewFaces(c, cores)
			if !slices.Equal(countFaces(c, cores), want.Counts()) || !slices.EqualFunc(got.Vertices, want.Vertices, slices.Equal) || !slices.EqualFunc(got.Boundary, want.Boundary, slices.Equal) {
				t.Errorf("%s: %d cores have other numbers", name, cores)
			}
		}
	}
}

// Faces keep their order if vertex numbers are so great that some do not fit a record. The numbers
// are far apart, or differ in their last bits only.
func facesOfGreatNumbers(t *testing.T) {
	for _, name := range []string{"random/vertices=14/dim=3/count=200", "random/vertices=12/dim=5/count=150", "random/vertices=15/dim=4/count=300", "random/vertices=14/dim=4/count=200", "kuhn/shape=14x13x12/order=random"} {
		c := open(t, name)
		want := NewFaces(c, 1)
		several, apart := []int{1, 3}, uint32(121)
		if c.Vertices < 100 { // one core numbers so few
			several, apart = several[:1], 1021
		}
		places := []func(v uint32) uint32{func(v uint32) uint32 { return v * apart }}
		for _, bits := range []int{10, 11, 12, 13, 16, 17, 18} { // those of some just fill a record, or all but the last bit
			places = append(places, func(v uint32) uint32 { return v + 1<<bits })
		}
		for _, far := range places {
			number := func(list []uint32) []uint32 {
				list = slices.Clone(list)
				for i, v := range list {
					list[i] = far(v)
				}
				return list
			}
			great := &Complex{Vertices: int(far(uint32(c.Vertices)))}
			for _, tops := range c.Tops {
				great.Tops = append(great.Tops, number(tops))
			}
			for _, cores := range several {
				got := NewFaces(great, cores)
				if counts := countFaces(great, cores); !slices.Equal(counts, want.Counts()) {
					t.Errorf("%s, vertices up to %d, %d cores: %v simplices, want %v", name, great.Vertices, cores, counts, want.Counts())
				}
				for d := range want.Vertices {
					if !slices.Equal(got.Vertices[d], number(want.Vertices[d])) || !slices.Equal(got.Boundary[d], want.Boundary[d]) {
						t.Errorf("%s, vertices up to %d, %d cores: other simplices of dimension %d", name, great.Vertices, cores, d)
					}
				}
			}
		}
	}
}

// A join or wedge with an empty complex changes nothing.
func joinsWithNothing(t *testing.T) {
	c := open(t, "rp2")
	for _, of := range [][2]*Complex{{c, {}}, {{}, c}} {
		for _, both := range []func(a, b *Complex) (*Complex, error){Join, Wedge} {
			if j, err := both(of[0], of[1]); err != nil || j.Vertices != c.Vertices || !slices.EqualFunc(j.Tops, c.Tops, slices.Equal) {
				t.Errorf("%v, %v", j, err)
			}
		}
	}
	// The greatest dimension that is accepted.
	if j, err := Join(sphere(7), sphere(7)); err != nil || j.Dim() != MaxDim || j.Given() != 81 {
		t.Error(err)
	}
	if _, err := Join(sphere(8), sphere(7)); err == nil {
		t.Error("a join of dimension 16")
	}
}

// The centre of a face moves to that of the opposite face, and distances stay the same.
func screwsAreFar(t *testing.T) {
	centre := [3]float64{1, 2, -0.5}
	for _, angle := range []float64{0, 0.7, 3} {
		p := [3]float64{3, 1.5, 1.5} // in the plane of the face
		q, middle := screw(p, centre, angle), screw(centre, centre, angle)
		far := 0.0
		for i := range p {
			far += (q[i] - middle[i]) * (q[i] - middle[i])
			if math.Abs(middle[i]+centre[i]) > 1e-12 {
				t.Errorf("the middle comes to %v", middle)
			}
		}
		if math.Abs(far-8.25) > 1e-12 {
			t.Errorf("turned by %v: %v² from the middle, want 8.25", angle, far)
		}
	}
}

// Nodes are numbered from 0 or 1 on. Elements with three or six nodes are triangles.
func trianglesOfTetGen(t *testing.T) {
	for base, nodes := range []string{"4 2 0 0\n0 0 0\n1 1 0\n2 0 1\n3 1 1\n", "4 2 0 0\n1 0 0\n2 1 0\n3 0 1\n4 1 1\n"} {
		for _, elements := range []string{"2 3 0\n%1 0 1 2\n%2 1 2 3\n", "2 6 0\n%1 0 1 2 0 0 0\n%2 1 2 3 0 0 0\n"} {
			var b strings.Builder
			for i, line := range strings.Split(elements, "\n") {
				words := strings.Fields(line)
				for k, w := range words {
					if i > 0 && k > 0 {
						w = string(rune(w[0] + byte(base)))
					}
					b.WriteString(strings.TrimPrefix(w, "%") + " ")
				}
				b.WriteByte('\n')
			}
			c, err := readTetGen([]byte(b.String()), []byte(nodes))
			if err != nil || len(c.Tops) != 3 || !slices.Equal(c.Tops[2], []uint32{0, 1, 2, 1, 2, 3}) {
				t.Errorf("numbered from %d on: %v, %v", base, c, err)
			}
		}
	}
	const tetrahedra, four = "1 4 0\n1 1 2 3 4\n", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
	for _, c := range []struct{ elements, nodes, want string }{
		{tetrahedra, "1 4 0 0\n1 0 0 0 0\n", ".node: line 1: dimension 4: want 2 or 3"}, {tetrahedra, "1 1 0 0\n1 0\n", ".node: line 1: the dimension is \"1\": want a whole number from 2 on"}, {tetrahedra, "1 3 0 0\n2 0 0 0\n", ".node: node 0 has the number 2: want them in order, from 0 or 1 on"},
		{tetrahedra, "2 3 0 0\n0 0 0 0\n2 0 0 0\n", ".node: node 1 has the number 2"}, {tetrahedra, "99 3\n", ".node: line 1: 99 nodes are more"}, {tetrahedra, "1 3\n1 0 0", ".node: a coordinate is missing"}, {"1 5 0\n1 1 2 3 4 1\n", four, ".ele: elements of 5 nodes: want tetrahedra or triangles"},
		{"0 2 0\n", four, ".ele: line 1: the number of nodes of an element is \"2\": want a whole number from 3 on"}, {"1 4 0\n1 1 2 3 5\n", four, ".ele: line 2: an element has a node 5: want 1 to 4"}, {"1 4 0\n1 0 2 3 4\n", four, ".ele: line 2: a node of an element is \"0\": want a whole number from 1 on"},
		{"1 4 0\n1 1 2 3 3\n", four, "vertex 2 twice"}, {"9 4 0\n", four, ".ele: line 1: 9 elements are more"}, {"", four, ".ele: the number of elements is missing"}, {tetrahedra, four, ""}, {"0 4 0\n", "0 3 0 0\n", ""}, {"0 4 0\n", "1 3 0 0\n1 0 0 0\n", ""},
	} {
		if _, err := readTetGen([]byte(c.elements), []byte(c.nodes)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %q", c.elements, c.nodes, err, c.want)
		}
	}
}
