package simplicial

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/simplicial/files"
)

const (
	square   = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
	corners  = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
	triangle = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"
	vtkText  = "# vtk DataFile Version 3.0\na title\nASCII\nDATASET "
	cube     = "POINTS 8 float\n0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1\n"
	vtuHead  = `<VTKFile type="UnstructuredGrid" byte_order="LittleEndian"><UnstructuredGrid><Piece NumberOfPoints="3" NumberOfCells="1"><Points><DataArray type="Float32" NumberOfComponents="3">0 0 0 1 0 0 0 1 0</DataArray></Points><Cells>`
	vtuTail  = `</Cells></Piece></UnstructuredGrid></VTKFile>`
)

func vtu(connectivity, offsets, types string) string {
	array := func(name, numbers string) string {
		return fmt.Sprintf(`<DataArray type="Int64" Name="%s" format="ascii">%s</DataArray>`, name, numbers)
	}
	return vtuHead + array("connectivity", connectivity) + array("offsets", offsets) + array("types", types) + vtuTail
}

func gmsh(elements string) string {
	return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n" + elements + "$EndElements\n"
}

// binarySTL returns a file of triangles with corners on a line, followed by other bytes.
func binarySTL(count uint32, triangles [][3]float32, rest string) string {
	b := binary.LittleEndian.AppendUint32(append([]byte("solid by a program"), make([]byte, 62)...), count)
	for _, t := range triangles {
		b = append(b, make([]byte, 12)...)
		for i, x := range t {
			for _, v := range []float32{x, x * x, float32(i) * 0} {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
			}
		}
		b = append(b, 7, 7)
	}
	return string(b) + rest
}

// readable maps files to their numbers of simplices.
var readable = map[string][]int64{
	// OFF: the counts may follow OFF in the same word, a comment may come first, colours and normals follow coordinates.
	"OFF4 4 6\n" + corners + "3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n": {4, 6, 4}, "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2": {3, 3, 1}, "# a note\nOFF\n3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 # a note": {3, 3, 1}, "\ufeffCOFF3 1 0\n0 0 0 1 1 1 1\n1 0 0 0 0 0 1\n0 1 0 0 0 0 1\n3 0 1 2\n": {3, 3, 1},
	"STCNOFF\n3 1 0\n0 0 0 9 9 9 9 9 9 9 9 9\n1 0 0\n0 1 0\n3 0 1 2\n": {3, 3, 1},
	// A repeated face, rotated or reversed, is one face; with crossed corners it is another.
	"OFF 4 1 0\n" + square + "4 0 1 2 3\n": {5, 8, 4}, "OFF 4 3 0\n" + square + "4 0 1 2 3\n4 2 3 0 1\n4 3 2 1 0\n": {5, 8, 4}, "OFF 4 2 0\n" + square + "4 0 1 2 3\n4 0 2 1 3\n": {6, 14, 8},
	"OFF 5 2 0\n" + square + "0 0 1\n5 0 1 2 3 4\n5 1 0 4 3 2\n": {6, 10, 5},
	// Quadrangles of Gmsh are the faces of OFF.
	gmsh("1\n1 3 2 0 0 1 2 3 4\n"): {5, 8, 4}, gmsh("2\n1 3 0 1 2 3 4\n2 16 0 2 3 4 1 1 1 1 1\n"): {5, 8, 4},
	// STL: corners at the same place are one vertex, minus zero is zero, and a triangle with two corners there is an edge.
	triangle: {3, 3, 1}, triangle + strings.ReplaceAll(strings.ToUpper(triangle), "VERTEX 0 0 0", "vertex -0 0 1e0"): {4, 5, 2}, strings.Replace(triangle, "1 0 0", "0 0 0", 1): {2, 1}, strings.ReplaceAll(strings.Replace(triangle, "0 1 0", "0 0 0", 1), "1 0 0", "0 0 0"): {1},
	strings.Replace(triangle, "0 0 1", "nan nan nan", 1): {3, 3, 1}, "solid\nendsolid\n": {},
	binarySTL(2, [][3]float32{{0, 1, 2}, {1, 2, 3}}, ""): {4, 5, 2}, binarySTL(0, nil, ""): {}, "<?>ly" + binarySTL(1, [][3]float32{{0, 1, 2}}, "")[5:]: {3, 3, 1}, binarySTL(1, [][3]float32{{1, 1, 2}}, ""): {2, 1}, binarySTL(1, [][3]float32{{0, float32(math.Copysign(0, -1)), 2}}, ""): {2, 1},
	// OBJ: forms of vertices, numbers from the end, lines that go on, vertices that come later, lines and points.
	"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n": {3, 3, 1}, "# a note \\\nof two lines\no a\nv 0 0 0 1 0.5 0.5\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2//1 3/1\n": {3, 3, 1}, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 \\\n -2 -1\nv 2 2 2\nv 3 3 3\nl -2 \\\r\n-1\r\n": {5, 4, 1},
	"f 1 2 3 4\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n": {5, 8, 4}, "v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2 3 1\n": {3, 3}, "v 0 0 0\nv 1 0 0\nv 0 1 0\np 1 2\n": {2}, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\\\n 3": {3, 3, 1},
	// VTK: each type of cells is its corners, and cells share the middles of faces.
	vtkText + "POLYDATA\n" + cube + "VERTICES 1 3\n2 0 1\nLINES 1 4 3 2 3 4\nPOLYGONS 1 5 4 4 5 6 7\nMETADATA\nINFORMATION 0\n\nTRIANGLE_STRIPS 1 5 4 0 1 2 3\n": {9, 14, 6}, vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 1\n12\nCELL_DATA 1\nSCALARS a int\nLOOKUP_TABLE default\n1\n": {15, 50, 60, 24},
	vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 9\n8 0 1 3 2 4 5 7 6\nCELL_TYPES 1\n11\n": {15, 50, 60, 24}, vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 3 23\n8 0 1 2 3 4 5 6 7\n8 0 1 3 2 4 5 7 6\n4 3 2 1 0\nCELL_TYPES 3\n12 11 9\n": {15, 50, 60, 24},
	vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 2 12\n6 0 1 3 4 5 7\n4 0 1 2 4\nCELL_TYPES 2\n13 10\n": {11, 34, 39, 15}, vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 6\n5 0 1 2 3 4\nCELL_TYPES 1\n14\n": {7, 18, 20, 8}, vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 3 13\n4 0 1 3 2\n6 0 1 2 4 5 6\n0\nCELL_TYPES 3\n8 22 0\n": {5, 9, 5}, vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 0 0\nCELL_TYPES 0\n": {},
	"# vtk DataFile Version 5.1\n\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD a 2\nTIME 1 1 double\n0.5\nMETADATA\nINFORMATION 0\n\nb 2 1 int\n1 2\n" + cube + "CELLS 3 5\nOFFSETS vtktypeint64\n0 3 5\nCONNECTIVITY vtktypeint64\n0 1 2 6 7\nCELL_TYPES 2\n5 3\n": {5, 4, 1},
	vtu("0 1 2", "3", "5"): {3, 3, 1}, vtu("0 1 2", "3", "4"): {3, 2}, vtu("0 1 2", "3", "2"): {3}, vtu("0 1 2", "3", "69"): {3, 3, 1},
}

func TestReadable(t *testing.T) {
	for text, want := range readable {
		c, err := Read([]byte(text))
		if err != nil {
			t.Errorf("%.300q: %v", text, err)
		} else if got := c.Counts(); !slices.Equal(got, want) || c.Check() != nil {
			t.Errorf("%.300q: %v, %v, want %v", text, got, c.Check(), want)
		}
	}
}

// Lines may end in line feeds, carriage returns, or both.
func TestEndsOfLines(t *testing.T) {
	for text, want := range readable {
		if strings.ContainsAny(text, "\x00\r") || strings.Contains(strings.ToLower(text), "binary") {
			continue
		}
		for _, end := range []string{"\r", "\r\n"} {
			if c, err := Read([]byte(strings.ReplaceAll(text, "\n", end))); err != nil {
				t.Errorf("%.300q with %q: %v", text, end, err)
			} else if got := c.Counts(); !slices.Equal(got, want) {
				t.Errorf("%.300q with %q: %v, want %v", text, end, got, want)
			}
		}
	}
	if c, err := Read([]byte("0 1\r2 3\r")); err != nil || !slices.Equal(c.Counts(), []int64{4, 2}) {
		t.Errorf("two edges: %v, %v", c, err)
	}
}

// rejected maps files to their error. Elements after the header's count are an error.
var rejected = map[string]string{
	"OFF\n4 3 6\n" + corners + "3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n": `line 10: "3" follows 3 faces, as many as the header states`, "NOFF\n1 0 0\n0 0 0 0 0 1\n0 0 0\n": `line 4: "0" follows 0 faces`,
	"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n2\n": `line 7: "2" follows 1 elements`, "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty char x\nend_header\n12": "1 bytes follow 1 elements",
	gmsh("1\n1 15 0 1\n2 15 0 2\n"): `line 14: "2": want $EndElements`, gmsh("0\n") + "1 15 0 1\n": `line 14: "1": want a section`, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n0 0 0 2\n1\n2\n0 0 0\n0 0 0\n$EndNodes\n": "line 11: 2 nodes in blocks: the section states 1",
	"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement range_grid 1\nproperty list uchar int vertex_indices\nend_header\n1\n1 0\n": "elements range_grid have vertices", "4OFF\n1 0 0\n": "4OFF: want points in space", "STnOFF3 1 0\n": "want points in space", "OFF BINARY\n": "a binary OFF file", "XOFF\n": `line 1: "XOFF": want OFF`,
	strings.Replace(triangle, "endfacet", "vertex 1 1 1", 1): `line 8: "vertex": want endfacet`, triangle + "0": `line 10: "0": want solid`, strings.Replace(triangle, "endsolid a", "", 1): "endsolid is missing", strings.Replace(triangle, "1 0 0", "1 0 inf", 1): "want finite numbers", strings.Replace(triangle, "endloop", "vertex 1 1 1", 1): `"vertex": want endloop`,
	"v 0 0 0\nf 1 2 3\n": "line 2: a vertex is 3: want 1 to 1", "v 0 0 0\nf 0\n": `line 2: a vertex is "0"`, "v 0 0 0\nf -2\n": `line 2: a vertex is "-2"`, "v 0 0 0\nf 1 1\n": "line 2: face [0 0]", "v 0 0 0\nl 1\n": "line 2: a cell of 1 nodes", "v 0 0 0\nf\n": "line 2: f without vertices", "v 0 0 0\ncstype bezier\n": `line 2: "cstype": want polygons`, "v 0 0 0\ncall b.obj\n": `line 2: "call"`, "v 0 0\n": "a coordinate is missing",
	vtkText + "POLYDATA\n" + cube + "POLYGONS 1 4\n3 0 1 2\n3 0 1 3\n": `line 9: "3": want a section`, vtkText + "POLYDATA\n" + cube + "POLYGONS 1 8\n3 0 1 2\n3 0 1 3\n": "line 9: 4 numbers follow 1 cells", vtkText + "POLYDATA\n" + cube + "POLYGONS 2 4\n3 0 1 2\n": "line 8: 2 cells have more than 4 numbers", vtkText + "POLYDATA\n" + cube + "POLYGONS 1 4\n3 0 1 8\n": "cell 0 has a point 8", vtkText + "POLYDATA\n" + cube + "POLYGONS 1 5\n4 0 1 8 0.5\n": "a point",
	vtkText + "STRUCTURED_POINTS\n": `line 4: a data set "STRUCTURED_POINTS": want POLYDATA or UNSTRUCTURED_GRID`, vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n42\n": "cell 0 is of type 42, a polyhedron", vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n9 9\n": "2 types of 1 cells", vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 5\n4 0 1 2 3\n": "0 types of 1 cells", vtkText + "POLYDATA\n": "no POINTS", vtkText + "POLYDATA\n" + cube: "points and no VERTICES", vtkText + "UNSTRUCTURED_GRID\n" + cube + "METADATA\nINFORMATION ": "no CELLS",
	vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n9\nCELL_DATA 1\nSCALARS vtkGhostType unsigned_char\nLOOKUP_TABLE default\n1\n": "marked as ghosts", vtkText + "UNSTRUCTURED_GRID\n" + cube + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n": "a cell of 4 nodes: want 8", "# vtk DataFile Version x\n": "line 1: want", "# vtk DataFile Version 3.0\n\nASCI\n": `line 3: "ASCI": want ASCII or BINARY`,
	vtu("0 1 2 0 1 2", "3", "5"): "array Cells connectivity, line 1: 6 numbers: want 3, as the header states", vtu("0 1 2 0 1 2", "3 6", "5 5"): "array Cells offsets, line 1: 2 numbers: want 1", vtu("0 1 2", "3", "5 5"): "array Cells types, line 1: 2 numbers: want 1", vtu("0 1 2", "3", "42"): "a polyhedron", vtu("0 1 3", "3", "5"): "cell 0 has a point 3", vtu("0 1 1", "3", "5"): "want different vertices",
	vtu("0 1 2", "3", "5") + "3 0 1 2": "line 1: \"3 0 1 2\" follows the end", strings.Replace(vtu("0 1 2", "3", "5"), "</Piece>", "</Piece><Piece></Piece>", 1): "several pieces", strings.Replace(vtu("0 1 2", "3", "5"), "<Cells>", `<CellData><DataArray type="UInt8" Name="vtkGhostType">1</DataArray></CellData><Cells>`, 1): "marked as ghosts", strings.Replace(vtu("0 1 2", "3", "5"), "Little", "Middle", 1): "byte_order", strings.Replace(vtu("0 1 2", "3", "5"), "byte_order", `compressor="vtkLZ4DataCompressor" byte_order`, 1): "compressor",
	strings.Replace(vtu("0 1 2", "3", "5"), "byte_order", `header_type="Int8" byte_order`, 1): "header_type", `<VTKFile type="ImageData">`: `VTKFile of the type "ImageData"`, "<a/>": `a of the type ""`, vtuHead: "XML syntax error on line 1", strings.Replace(vtu("0 1 2", "3", "5"), `NumberOfComponents="3"`, `NumberOfComponents="2"`, 1): "points of \"2\" components", "<": "XML",
	strings.Replace(vtu("0 1 2", "3", "5"), `format="ascii">0 1 2<`, `format="binary">CAAAAAAAAAAAAAAAAA==<`, 1): "the data continue", strings.Replace(vtu("0 1 2", "3", "5"), `format="ascii">0 1 2<`, `format="binary">CAAAAAAA<`, 1): "the data end too early",
}

func TestRejected(t *testing.T) {
	for _, text := range []string{"\v", "\f\n", "\n\v", "\u00a0", "hello\n"} { // white space that separates no words
		if _, err := Read([]byte(text)); !errors.Is(err, files.ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range rejected {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.300q: %v, want %q", text, err, want)
		}
	}
	four := "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
	for _, c := range [][3]string{{"1 4 0\n1 1 2 3 4\n2 1 2 3 4\n", four, `.ele: line 3: "2" follows 1 elements`}, {"1 4 0\n1 1 2 3 4\n# made by hand\n", four + "5 1 1 1\n", `.node: line 6: "5" follows 4 nodes`}} {
		if _, err := readTetGen([]byte(c[0]), []byte(c[1])); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%q: %v, want %q", c[0], err, c[2])
		}
	}
}

// The file name extension decides if the contents do not show the format, or no longer.
func TestEndOfName(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.STL", binarySTL(1, [][3]float32{{0, 1, 2}}, "x"), "135 bytes: a binary STL file of 1 triangles, as the header states, has 134"}, {"b.stl", binarySTL(2, [][3]float32{{0, 1, 2}}, "")[1:], "133 bytes: a binary STL file of"}, {"c.stl", "sol", "3 bytes: a binary STL file has at least 84"},
		{"d.obj", "mystery 1\n", `line 1: "mystery"`},
		{"k.off", "3 1 0\n0 2 1\n1 5 0\n0 1 3\n3 0 1 2\n", `its first word "3" begins no .off file`},
		{"k.msh", "3 1 0\n", "begins no .msh file"}, {"e.off", "", "the file is empty"}, {"f.msh", " \n", "the file is empty"}, {"g.txt", "", "the file has no simplices"}, {"i.stl", "#" + binarySTL(1, [][3]float32{{0, 1, 2}}, "")[1:], ""}, {"h.vtu", "", "the file is empty"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if strings.HasPrefix(c.text, "solid") { // binary files need not begin with solid
			c.text = "SOLIX" + c.text[5:]
		}
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Compressed files are read as their contents are, by their names or first bytes.
func TestCompressedFiles(t *testing.T) {
	const text = "OFF\n4 2 0\n" + square + "3 0 1 2\n3 0 2 3\n"
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(text))
	w.Close()
	zstd := "\x28\xb5\x2f\xfd\x20" + string([]byte{byte(len(text)), byte(len(text)<<3&255 | 1), byte(len(text) >> 5), 0}) + text // one raw block
	const bzip2 = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x51\x50\x98\x4c\x00\x00\x18\xdc\x00\x00\x10\x40\x00\x7c\x00\x01\x00\xa0\x00\x31\x06" +
		"\x4c\x40\xcd\x29\xa6\xd4\x46\xb2\xec\xdc\x40\x71\x11\x16\x65\x6e\xa1\x21\x0d\x0e\xfa\x7c\x5d\xc9\x14\xe1\x42\x41\x45\x42\x61\x30"
	folder := t.TempDir()
	for name, c := range map[string]struct{ data, want string }{
		"a.off.gz": {zipped.String(), ""}, "a.OFF.ZST": {zstd, ""}, "a.off.bz2": {bzip2, ""}, "gz": {zipped.String(), ""},
		"zst.off": {zstd, ""}, "bz2": {bzip2, ""},
		"b.off.gz":  {zipped.String()[:zipped.Len()-9], "truncated: the data by gzip end too early; copy the file again"},
		"c.off.zst": {text, "decompressing: "}, "d.off.bz2": {bzip2[:40], "truncated: the data by bzip2"},
		"e.1.ele.gz": {zipped.String(), "decompress the .ele and the .node file"},
		"f.txt.gz":   {strings.Replace(zstd, "OFF", "XYZ", 1), "decompressing: "}, "g.stl.zst": {zstd, "a binary STL file"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(c.data), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "input "+path+": ")):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want == "" && !slices.Equal(got.Counts(), []int64{4, 5, 2}):
			t.Errorf("%s: %v simplices", name, got.Counts())
		}
	}
}

// The files are from VTK 9.7's writers: a hexahedron, a voxel next to it, a pyramid on it and one
// of its faces again. Others have a square, a closed line and a point.
func TestFilesOfVTK(t *testing.T) {
	paths, err := filepath.Glob("files/testdata/*")
	if err != nil || len(paths) < 11 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		want := []int64{27, 102, 132, 56}
		if strings.Contains(path, "flat") {
			want = []int64{9, 11, 4}
		}
		c, err := ReadFile(path)
		if err != nil {
			t.Error(err)
		} else if got := c.Counts(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cells := strings.Index(string(data), "CELL_DATA")
		if cells < 0 || !strings.HasSuffix(path, ".vtk") {
			cells = len(data) - len("\n  </AppendedData>\n</VTKFile>\n")
		}
		for end := cells - 20; end > 0; end -= 1 + len(data)/50 {
			if got, err := Read(data[:end]); err == nil && slices.Equal(got.Counts(), want) {
				t.Errorf("%s, %d of %d bytes: read", path, end, len(data))
			}
		}
	}
}

// Read reads a complex from the bytes of a single file.
func Read(data []byte) (*Complex, error) { return read(data, "") }
