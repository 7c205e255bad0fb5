package simplicial

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A mesh is a random mesh, which is written to files and read again.
type mesh struct {
	points    [][3]float64
	simplices [][]uint32
}

// drawn returns a random mesh of given dimensions. If they include 0, a vertex that no simplex has
// becomes a point.
func drawn(rng *rand.Rand, vertices, count int, dims ...int) mesh {
	m := mesh{}
	for range vertices {
		m.points = append(m.points, [3]float64{float64(rng.IntN(200) - 100), float64(rng.IntN(200) - 100), float64(rng.IntN(200) - 100)})
	}
	free := map[uint32]bool{}
	for v := range uint32(vertices) {
		free[v] = true
	}
	for range count {
		var s []uint32
		for _, v := range rng.Perm(vertices)[:1+dims[rng.IntN(len(dims))]] {
			s = append(s, uint32(v))
			delete(free, uint32(v))
		}
		m.simplices = append(m.simplices, s)
	}
	if dims[0] == 0 {
		for v := range uint32(vertices) {
			if free[v] {
				m.simplices = append(m.simplices, []uint32{v})
			}
		}
	}
	return m
}

// of returns the simplices of a dimension.
func (m mesh) of(d int) (list [][]uint32) {
	for _, s := range m.simplices {
		if len(s) == d+1 {
			list = append(list, s)
		}
	}
	return list
}

// read returns the complex that a reader must return: the simplices of the greatest dimension in
// the given order, and the others in lexicographic order if they are no faces.
func (m mesh) read() *Complex {
	c := &Complex{Vertices: len(m.points)}
	for _, p := range m.points {
		c.Points = append(c.Points, p[:]...)
	}
	top := 0
	for _, s := range m.simplices {
		top = max(top, len(s)-1)
	}
	c.Tops = make([][]uint32, top+1)
	for d := range c.Tops {
		var list [][]uint32
		for _, s := range m.of(d) {
			inside := slices.ContainsFunc(m.simplices, func(t []uint32) bool {
				return len(t) > len(s) && !slices.ContainsFunc(s, func(v uint32) bool { return !slices.Contains(t, v) })
			})
			if d == top {
				list = append(list, s)
			} else if !inside {
				list = append(list, slices.Sorted(slices.Values(s)))
			}
		}
		if d < top {
			slices.SortFunc(list, slices.Compare)
			list = slices.CompactFunc(list, slices.Equal)
		}
		c.Tops[d] = slices.Concat(list...)
	}
	return c
}

// joined returns numbers as words.
func joined[T any](list []T) string { return strings.Trim(fmt.Sprint(list), "[]") }

// In the following texts, ~ marks a word that readers ignore.

func (m mesh) off(head string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d %d ~0\n# a note\n\n", head, len(m.points), len(m.simplices))
	for i, p := range m.points {
		fmt.Fprintf(&b, "%s%s\n", joined(p[:]), strings.Repeat(" ~7", i%3))
	}
	for i, s := range m.simplices {
		fmt.Fprintf(&b, "%d %s%s\n", len(s), joined(s), strings.Repeat(" ~255", i%4))
	}
	return b.String()
}

// gmshTypes are the types of Gmsh by the number of corners, of first and higher order. Each has its
// number and its number of nodes.
var gmshTypes = [][][2]int{{{15, 1}}, {{1, 2}, {8, 3}, {26, 4}}, {{2, 3}, {9, 6}, {21, 10}}, {{4, 4}, {11, 10}, {29, 20}}}

func (m mesh) gmsh(rng *rand.Rand, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "$MeshFormat\n%s 0 ~8\n$EndMeshFormat\n$PhysicalNames\n~1\n~2 ~3 ~\"cube\"\n$EndPhysicalNames\n$Nodes\n", version)
	ids := rng.Perm(3 * len(m.points))[:len(m.points)]
	nodes := func(s []uint32, n int) string {
		var list []int
		for _, v := range s {
			list = append(list, ids[v])
		}
		for len(list) < n {
			list = append(list, ids[rng.IntN(len(ids))])
		}
		return joined(list)
	}
	if version[0] == '2' {
		fmt.Fprintln(&b, len(ids))
		for i, p := range m.points {
			fmt.Fprintln(&b, ids[i], joined(p[:]))
		}
		fmt.Fprintf(&b, "$EndNodes\n$Elements\n%d\n", len(m.simplices))
		for i, s := range m.simplices {
			k := gmshTypes[len(s)-1][i%len(gmshTypes[len(s)-1])]
			fmt.Fprintf(&b, "%d %d %d%s %s\n", 2*i, k[0], i%4, strings.Repeat(" -5", i%4), nodes(s, k[1]))
		}
	} else {
		half := len(ids) / 2
		fmt.Fprintln(&b, 3, len(ids), slices.Min(ids), slices.Max(ids))
		for _, part := range [][2]int{{0, half}, {half, half}, {half, len(ids)}} {
			fmt.Fprintln(&b, 3, 1, 0, part[1]-part[0])
			for _, id := range ids[part[0]:part[1]] {
				fmt.Fprintln(&b, id)
			}
			for _, p := range m.points[part[0]:part[1]] {
				fmt.Fprintln(&b, joined(p[:]), "~0.5")
			}
		}
		fmt.Fprintf(&b, "$EndNodes\n$Elements\n4 %d 1 %d\n", len(m.simplices), len(m.simplices))
		for d, types := range gmshTypes {
			k := types[rng.IntN(len(types))]
			fmt.Fprintf(&b, "%d 1 %d %d\n", d, k[0], len(m.of(d)))
			for i, s := range m.of(d) {
				fmt.Fprintln(&b, i+1, nodes(s, k[1]))
			}
		}
	}
	return b.String() + "$EndElements\n"
}

// tetGen writes tetrahedra or triangles, of the first or second order, and nodes that are numbered
// from 0 or 1 on.
func (m mesh) tetGen(base uint32, order int) (elements, nodes string) {
	k := len(m.simplices[0])
	each := map[[2]int]int{{3, 1}: 3, {3, 2}: 6, {4, 1}: 4, {4, 2}: 10}[[2]int{k, order}]
	var e, n strings.Builder
	fmt.Fprintf(&e, "# elements\n%d %d ~1\n", len(m.simplices), each)
	for i, s := range m.simplices {
		fmt.Fprint(&e, i+int(base))
		for _, v := range s {
			fmt.Fprint(&e, " ", v+base)
		}
		fmt.Fprintln(&e, strings.Repeat(" ~1", each-k), "~9")
	}
	fmt.Fprintf(&n, "%d %d ~1 ~0 # nodes\n", len(m.points), k-1)
	for i, p := range m.points {
		fmt.Fprintln(&n, i+int(base), joined(p[:k-1]), "~8.5")
	}
	return e.String(), n.String()
}

// text writes simplices with other vertex numbers in the same order.
func (m mesh) text() string {
	var b strings.Builder
	b.WriteString("# simplices\n")
	for i, s := range m.simplices {
		for k, v := range s {
			fmt.Fprint(&b, []string{"", ", ", "\t"}[min(k, 1+i%2)], 10*v+v%7)
		}
		b.WriteString([]string{"\n", " # one\n", "\r\n\n"}[i%3])
	}
	return b.String()
}

// plyNames are the types of PLY by both of their names, with the least and the greatest value.
var plyNames = []struct {
	names       [2]string
	least, most float64
}{
	{[2]string{"char", "int8"}, -128, 127}, {[2]string{"uchar", "uint8"}, 0, 255}, {[2]string{"short", "int16"}, -32768, 32767}, {[2]string{"ushort", "uint16"}, 0, 65535},
	{[2]string{"int", "int32"}, -1 << 31, 1<<31 - 1}, {[2]string{"uint", "uint32"}, 0, 1<<32 - 1}, {[2]string{"float", "float32"}, -math.MaxFloat32, 1.5}, {[2]string{"double", "float64"}, -math.MaxFloat64, 0.1},
}

// A plyFile is written as text if it has no byte order, and as bytes otherwise.
type plyFile struct {
	bytes.Buffer
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
}

func (f *plyFile) put(kind int, v float64) {
	var b []byte
	switch {
	case f.order == nil:
		fmt.Fprintf(f, " %v", v)
	case kind < 2:
		b = []byte{byte(int64(v))}
	case kind < 4:
		b = f.order.AppendUint16(nil, uint16(int64(v)))
	case kind < 6:
		b = f.order.AppendUint32(nil, uint32(int64(v)))
	case kind == 6:
		b = f.order.AppendUint32(nil, math.Float32bits(float32(v)))
	default:
		b = f.order.AppendUint64(nil, math.Float64bits(v))
	}
	f.Write(b)
}

func (f *plyFile) head() {
	format := "ascii"
	switch f.order {
	case binary.LittleEndian:
		format = "binary_little_endian"
	case binary.BigEndian:
		format = "binary_big_endian"
	}
	fmt.Fprintf(f, "ply\ncomment by hand\nobj_info of two\nformat %s ~1.0\n", format)
}

func (f *plyFile) line() {
	if f.order == nil {
		f.WriteByte('\n')
	}
}

// ply writes coordinates in another order, edges, faces, tetrahedra, and properties that readers
// ignore.
func (m mesh) ply(rng *rand.Rand, f *plyFile) string {
	kind := func(of ...int) (int, string) {
		k := of[rng.IntN(len(of))]
		return k, plyNames[k].names[rng.IntN(2)]
	}
	signed, a := kind(0, 2, 4, 6, 7)
	index, b := kind(0, 1, 2, 3, 4, 5, 6, 7)
	length, c := kind(0, 1, 2, 3, 4, 5)
	name := []string{"vertex_indices", "vertex_index", "vertex_idx", "indices"}[rng.IntN(4)]
	f.head()
	fmt.Fprintf(f, "element vertex %d\nproperty %s y\nproperty uchar red\nproperty list uchar float x_of_others\nproperty %s x\nproperty %s z\n", len(m.points), a, a, a)
	fmt.Fprintf(f, "element edge %d\nproperty %s vertex2\nproperty %s vertex1\n", len(m.of(1)), b, b)
	for d, of := range []string{"face", "tet"} {
		fmt.Fprintf(f, "element %s %d\nproperty list uchar short colours\nproperty list %s %s %s\nproperty short flags\n", of, len(m.of(d+2)), c, b, name)
	}
	f.WriteString("end_header\n")
	others := func() {
		f.put(1, 2)
		f.put(2, 7)
		f.put(2, 1)
	}
	for _, p := range m.points {
		f.put(signed, p[1])
		f.put(1, 255)
		f.put(1, 1)
		f.put(6, 77)
		f.put(signed, p[0])
		f.put(signed, p[2])
		f.line()
	}
	for _, s := range m.of(1) {
		f.put(index, float64(s[1]))
		f.put(index, float64(s[0]))
		f.line()
	}
	for d := 2; d < 4; d++ {
		for _, s := range m.of(d) {
			others()
			f.put(length, float64(len(s)))
			for _, v := range s {
				f.put(index, float64(v))
			}
			f.put(2, -1)
			f.line()
		}
	}
	return f.String()
}

// A word is a word of a text by its begin and end.
type word struct{ from, to, line int }

// wordsOf removes the marks of ignored words from a text, and returns the other words.
func wordsOf(marked string) (text string, list []word) {
	var b strings.Builder
	line := 1
	for at := 0; at < len(marked); {
		n := strings.IndexAny(marked[at:], " \t\r\n,")
		if n < 0 {
			n = len(marked) - at
		}
		w := marked[at : at+n]
		b.WriteString(strings.TrimPrefix(w, "~"))
		if w != "" && w[0] != '~' {
			list = append(list, word{b.Len() - len(w), b.Len(), line})
		}
		if at += n; at < len(marked) {
			b.WriteByte(marked[at])
			if marked[at] == '\n' {
				line++
			}
			at++
		}
	}
	return b.String(), list
}

// asRead reports a complex that differs from the mesh of its file.
func asRead(t *testing.T, what string, c *Complex, err error, want *Complex) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if c.Vertices != want.Vertices || !slices.Equal(c.Points, want.Points) || !slices.EqualFunc(c.Tops, want.Tops, slices.Equal) {
		t.Errorf("%s: %d vertices at %v, simplices %v, want %d at %v, %v", what, c.Vertices, c.Points, c.Tops, want.Vertices, want.Points, want.Tops)
	} else if counts := NewFaces(want, 1).Counts(); !slices.Equal(c.Counts(), counts) {
		t.Errorf("%s: %v simplices, want %v", what, c.Counts(), counts)
	}
}

// Each format returns the written points and simplices, and ignored words have no effect. A word
// that is no number is an error with its line. A truncated file is an error.
func filesAreRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for round := range 12 {
		all, flat := drawn(rng, 9+round, 3+round, 0, 1, 2, 3), drawn(rng, 9+round, 3+round, 0, 1, 2)
		if round == 11 { // numbers of more than a byte
			all, flat = drawn(rng, 300, 200, 0, 1, 2, 3), drawn(rng, 300, 200, 0, 1, 2)
		}
		check := func(what, marked string, m mesh, read func(string) (*Complex, error)) {
			t.Helper()
			want := m.read()
			if what == "text" {
				want.Points = nil
			}
			text, list := wordsOf(marked)
			c, err := read(text)
			asRead(t, what, c, err, want)
			if round > 3 {
				return
			}
			comment := 0
			for _, w := range list {
				if text[w.from] == '#' {
					comment = w.line
				}
				if comment == w.line || !strings.ContainsRune("-0123456789", rune(text[w.from])) {
					continue
				}
				_, err := read(text[:w.from] + "?" + text[w.to:])
				line := fmt.Sprintf("line %d: ", w.line)
				if w.line == 2 && strings.HasPrefix(what, "gmsh") { // the version, which is not a plain number
					line = ""
				}
				if err == nil || !strings.Contains(err.Error(), line) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s, %q as ?: %v, want %q", what, text[w.from:w.to], err, line)
				}
				if _, err := read(text[:w.from]); err == nil && what != "text" {
					t.Errorf("%s, before %q of line %d: read", what, text[w.from:w.to], w.line)
				}
			}
		}
		one := func(text string) (*Complex, error) { return Read([]byte(text)) }
		for _, head := range []string{"OFF\n", "COFF # colours\n", "off "} {
			check(head, flat.off(head), flat, one)
		}
		check("gmsh 2.2", all.gmsh(rng, "2.2"), all, one)
		check("gmsh 4.1", all.gmsh(rng, "4.1"), all, one)
		check("text", all.text(), all, one)
		both := mesh{all.points, slices.DeleteFunc(slices.Clone(all.simplices), func(s []uint32) bool { return len(s) == 1 })}
		check("ply", both.ply(rng, &plyFile{}), both, one)
		for _, f := range []*plyFile{{order: binary.LittleEndian}, {order: binary.BigEndian}} {
			for _, few := range []bool{false, true} {
				m := both
				if few || round == 11 { // so few that they fit any type
					m = drawn(rng, 9, 6, 1, 2, 3)
				}
				f.Reset()
				text := m.ply(rng, f)
				c, err := one(text)
				asRead(t, "ply of bytes", c, err, m.read())
				if body := strings.Index(text, "end_header\n"); few {
					for end := body; end < len(text); end++ {
						if _, err := one(text[:end]); err == nil {
							t.Errorf("ply of %d of %d bytes: read", end, len(text))
						}
					}
				}
			}
		}
		for d := 2; d < 4; d++ {
			m := drawn(rng, 9+round, 3+round, d)
			for i := range m.points {
				if d == 2 {
					m.points[i][2] = 0
				}
			}
			for base := range uint32(2) {
				elements, nodes := m.tetGen(base, 1+round%2)
				other, _ := wordsOf(nodes)
				check(".ele", elements, m, func(s string) (*Complex, error) { return readTetGen([]byte(s), []byte(other)) })
				other, _ = wordsOf(elements)
				check(".node", nodes, m, func(s string) (*Complex, error) { return readTetGen([]byte(other), []byte(s)) })
			}
		}
	}
}

// Numbers of each type are read as written, from the least to the greatest.
func typesOfPLY(t *testing.T) {
	for kind, k := range plyNames {
		for _, name := range k.names {
			for _, f := range []*plyFile{{order: binary.LittleEndian}, {order: binary.BigEndian}} {
				f.head()
				fmt.Fprintf(f, "element vertex 1\nproperty %s x\nproperty %s y\nproperty %s z\nend_header\n", name, name, name)
				want := []float64{k.least, 1, k.most}
				for _, v := range want {
					f.put(kind, v)
				}
				c, err := Read(f.Bytes())
				if err != nil || !slices.Equal(c.Points, want) {
					t.Errorf("%s, %v: %v, want %v", name, f.order, err, want)
				}
			}
		}
	}
}

// A count is accepted if the rest of the file can contain its elements, each of the shortest form.
// One more is an error.
func countsFit(t *testing.T) {
	const gmsh2, gmsh4 = "$MeshFormat\n2 0 8\n$EndMeshFormat\n$Nodes\n", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n"
	const text, bytes = "ply\nformat ascii 1.0\n", "ply\nformat binary_little_endian 1.0\n"
	one := func(s string) error { _, err := Read([]byte(s)); return err }
	for _, c := range []struct {
		head, each string
		read       func(string) error
	}{
		{"OFF\n%d 0", "\n0 0 0", one}, {"OFF\n0 %d", "\n1 0", one}, {"OFF\n0 1\n%d", " 0", one},
		{gmsh2 + "%d", "\n1 0 0 0", one}, {gmsh2 + "0\n$EndNodes\n$Elements\n%d", "\n1 15 0 1", one},
		{gmsh4 + "%d", "\n0 0 0 0", one}, {gmsh4 + "1 1 1 1\n0 0 0 %d", "\n0 0 0 0", one}, {gmsh4 + "0 0 0 0\n$EndNodes\n$Elements\n1 1 1 1\n0 0 15 %d", "\n0 0", one},
		{"%d", "\n0 0 0", func(s string) error { _, err := readTetGen(nil, []byte(s)); return err }}, {"%d", "\n0 0 0 0", func(s string) error { _, err := readTetGen([]byte(s), []byte("0 3\n")); return err }},
		{text + "element vertex %d\nproperty char x\nend_header\n", "0 ", one}, {text + "element vertex 1\nproperty list char char x\nend_header\n%d", " 0", one},
		{bytes + "element vertex %d\nproperty char x\nend_header\n", "0", one},
	} {
		const most = 40
		rest := strings.Repeat(c.each, most)
		for n := most - 1; n <= most+1; n++ {
			// The last blank is optional.
			if err := c.read(fmt.Sprintf(c.head, n) + strings.TrimRight(rest, " ")); (err != nil && strings.Contains(err.Error(), "rest of the file")) != (n > most) {
				t.Errorf("%q of %q, %d times: %v", c.head, c.each, most, err)
			}
		}
	}
}
