package simplicial

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"eccbench/internal/sound"
)

// Checks are of what complexes are made of, numbered, written and read by.
func Checks() []sound.Check {
	return []sound.Check{
		{Name: "shuffled complexes", Of: shuffledIsTheSame},
		{Name: "names of complexes", Of: namesAreRead},
		{Name: "smaller complexes", Of: variantsAndSmaller},
		{Name: "written complexes", Of: nativeIsWritten},
		{Name: "polygons", Of: polygonsAreDiscs},
		{Name: "damaged files", Of: damagedIsTold},
		{Name: "files beside each other", Of: filesBesideEachOther},
		{Name: "voxels", Of: voxelsAreSimplices},
		{Name: "joins with nothing", Of: joinsWithNothing},
		{Name: "opposite faces", Of: screwsAreFar},
		{Name: "triangles of a plane", Of: trianglesOfTetGen},
		{Name: "faces on several cores", Of: facesOnCores},
		{Name: "faces of vertices with great numbers", Of: facesOfGreatNumbers},
	}
}

func open(t sound.T, s string) *Complex {
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

func shuffledIsTheSame(t sound.T) {
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

func namesAreRead(t sound.T) {
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

func variantsAndSmaller(t sound.T) {
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

func nativeIsWritten(t sound.T) {
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

func polygonsAreDiscs(t sound.T) {
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

func damagedIsTold(t sound.T) {
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

func filesBesideEachOther(t sound.T) {
	if _, err := ReadFile("testdata/nowhere.ele"); err == nil || err.Error() != "input testdata/nowhere.ele: no such file or directory" {
		t.Error(err)
	}
	n, err := Named("testdata/cube.1.ele")
	if err != nil || !slices.Equal(n.Files(), []string{"testdata/cube.1.ele", "testdata/cube.1.node"}) {
		t.Error(n.Files(), err)
	}
}

// Voxels as cubes have as many of their faces as the T-construction has cells of an image.
func voxelsAreSimplices(t sound.T) {
	c := open(t, "voxels/at=0/of=constant/shape=3x2x2/type=uint8")
	if d := open(t, "kuhn/shape=4x3x3"); !slices.Equal(c.Counts(), d.Counts()) {
		t.Errorf("%v, want %v", c.Counts(), d.Counts())
	}
}

// However many cores number the faces, the numbers are the same.
func facesOnCores(t sound.T) {
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

// Faces are in the same order where the numbers of vertices are so great that not all of them fit a
// record, be they far apart or differ in their last bits alone.
func facesOfGreatNumbers(t sound.T) {
	for _, name := range []string{"random/vertices=14/dim=3/count=200", "random/vertices=12/dim=5/count=150", "kuhn/shape=14x13x12/order=random"} {
		c := open(t, name)
		want := NewFaces(c, 1)
		for _, far := range []func(v uint32) uint32{
			func(v uint32) uint32 { return v * 1021 },
			func(v uint32) uint32 { return v + 1<<22 },
		} {
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
			for _, cores := range []int{1, 3} {
				got := NewFaces(great, cores)
				for d := range want.Vertices {
					if !slices.Equal(got.Vertices[d], number(want.Vertices[d])) || !slices.Equal(got.Boundary[d], want.Boundary[d]) {
						t.Errorf("%s, vertices up to %d, %d cores: other simplices of dimension %d", name, great.Vertices, cores, d)
					}
				}
			}
		}
	}
}

// A complex without simplices changes nothing.
func joinsWithNothing(t sound.T) {
	c := open(t, "rp2")
	for _, of := range [][2]*Complex{{c, {}}, {{}, c}} {
		if j, err := Join(of[0], of[1]); err != nil || j.Vertices != c.Vertices || !slices.EqualFunc(j.Tops, c.Tops, slices.Equal) {
			t.Errorf("%v, %v", j, err)
		}
	}
}

// The middle of a face is moved to that of the opposite one, and no two points come nearer.
func screwsAreFar(t sound.T) {
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

// Nodes are numbered from 0 or 1 on, and elements are triangles where they have three or six.
func trianglesOfTetGen(t sound.T) {
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
}
