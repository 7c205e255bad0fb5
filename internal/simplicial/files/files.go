// Package files reads meshes and simplicial complexes from common file formats.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Formats returns the supported formats.
func Formats() []string {
	return []string{"OFF", "PLY", "STL", "OBJ", "VTK legacy, .vtu and .vtp", "Gmsh .msh 2.2 and 4.1 (text)",
		"TetGen .ele with its .node", "text with the vertices of a simplex a line"}
}

// ErrFormat is the error of a file in no supported format.
var ErrFormat = errors.New("no format that can be read; want " + strings.Join(Formats(), ", "))

// Read reads a mesh in the format of the file's first word. The end of its name, "" for none,
// decides if the word does not.
func Read(data []byte, ext string) (*Mesh, error) {
	data = withLines(data)
	head := data[:min(len(data), 1<<12)]
	w := &words{data: head, hash: true, wrap: true}
	first := w.next()
	_, isOBJ := objStatements[first]
	switch {
	case isBinarySTL(data): // with any first 80 bytes
		return readBinarySTL(data)
	case first == "" && ext != "" && ext != ".txt":
		return nil, errors.New("the file is empty")
	case first == "ply":
		return readPLY(data)
	case bytes.HasPrefix(head, []byte(vtkHead)):
		return readVTK(data)
	case strings.HasPrefix(first, "<"):
		return readVTKXML(data)
	case ext == ".stl" && !strings.EqualFold(first, "solid"):
		return readBinarySTL(data)
	case strings.EqualFold(first, "solid"):
		return readSTL(data)
	case strings.HasPrefix(first, "$"):
		return readGmsh(data)
	case strings.Contains(strings.ToUpper(first), "OFF"):
		return readOFF(data)
	case isOBJ || ext == ".obj":
		return readOBJ(data)
	case bytes.IndexByte(head, 0) >= 0 || first != "" &&
		!strings.Contains("0123456789-+#", string(bytes.TrimLeft(head, " \t\r\n")[:1])):
		return nil, ErrFormat
	case slices.Contains([]string{".off", ".ply", ".vtk", ".vtu", ".vtp", ".msh"}, ext):
		// Numbers of a mesh without its first word are not simplices.
		return nil, fmt.Errorf("its first word %.40q begins no %s file; add it, or rename a list of simplices to .txt",
			first, ext)
	}
	return readText(data)
}

// withLines returns a text without a byte order mark, and with line feeds if its lines end in carriage
// returns alone. Otherwise all lines would be read as one.
func withLines(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, 0) >= 0 {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}

// offHead is the first word of OFF. Prefixes announce texture, colours and normals after the
// coordinates on each line; 4 and n announce points of other dimensions. In some files the word
// also contains the first number.
var offHead = regexp.MustCompile(`^(?i:ST)?[Cc]?N?(4?n?)(?i:OFF)(\d*)$`)

// readOFF reads the Object File Format of Geomview as text.
func readOFF(data []byte) (*Mesh, error) {
	w := &words{data: data, hash: true}
	head := w.next()
	switch kind := offHead.FindStringSubmatch(head); {
	case kind == nil:
		return nil, w.errorf("%.40q: want OFF", head)
	case kind[1] != "":
		return nil, w.errorf("%s: want points in space", head)
	default:
		w.at -= len(kind[2])
	}
	if word, more := w.here(); more {
		if strings.EqualFold(word, "BINARY") {
			return nil, errors.New("a binary OFF file: want a text one")
		}
		w.at -= len(word)
	}
	n, err := w.count("vertices", 6)
	if err != nil {
		return nil, err
	}
	faces, err := w.count("faces", 4)
	if err != nil {
		return nil, err
	}
	w.newline() // the number of edges is optional and ignored
	c := &Mesh{Vertices: int(n)}
	if c.Points, _, err = w.points(n, 3, false); err != nil {
		return nil, err
	}
	var ring []uint32
	for range faces {
		k, err := w.count("vertices of a face", 2)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			return nil, w.errorf("a face without vertices")
		}
		ring = ring[:0]
		for range k {
			v, err := w.int("a vertex of a face", 0)
			if err != nil {
				return nil, err
			}
			if v >= n {
				return nil, w.errorf("a face has a vertex %d: want 0 to %d", v, n-1)
			}
			ring = append(ring, uint32(v))
		}
		if err := c.polygon(ring); err != nil {
			return nil, w.errorf("%w", err)
		}
		w.newline() // a colour may follow
	}
	return c, w.end(faces, "faces")
}

// ReadTetGen reads the elements and the nodes of TetGen, or of Triangle.
func ReadTetGen(elements, nodes []byte) (*Mesh, error) {
	c := &Mesh{}
	base, err := c.tetGenNodes(withLines(nodes))
	if err != nil {
		return nil, fmt.Errorf(".node: %w", err)
	}
	if err := c.tetGenElements(withLines(elements), base); err != nil {
		return nil, fmt.Errorf(".ele: %w", err)
	}
	return c, nil
}

// tetGenNodes reads the points, and returns the number of the first one.
func (c *Mesh) tetGenNodes(nodes []byte) (base int64, err error) {
	w := &words{data: nodes, hash: true}
	n, err := w.count("nodes", 6)
	if err != nil {
		return 0, err
	}
	dim, err := w.int("the dimension", 2)
	if err == nil && dim > 3 {
		err = w.errorf("dimension %d: want 2 or 3", dim)
	}
	if err != nil {
		return 0, err
	}
	w.newline()
	c.Vertices = int(n)
	points, ids, err := w.points(n, int(dim), true)
	if err != nil {
		return 0, err
	}
	c.Points = points
	if err := w.end(n, "nodes"); err != nil {
		return 0, err
	}
	if len(ids) > 0 {
		base = ids[0]
	}
	for i, id := range ids {
		if id != base+int64(i) || base > 1 {
			return 0, fmt.Errorf("node %d has the number %d: want them in order, from 0 or 1 on", i, id)
		}
	}
	return base, nil
}

// tetGenElements reads tetrahedra or triangles.
func (c *Mesh) tetGenElements(elements []byte, base int64) error {
	w, n := &words{data: elements, hash: true}, int64(c.Vertices)
	count, err := w.count("elements", 8)
	if err != nil {
		return err
	}
	each, err := w.int("the number of nodes of an element", 3)
	if err != nil {
		return err
	}
	corners := int64(4) // ten nodes are a tetrahedron with points on its edges, six a triangle
	if each == 3 || each == 6 {
		corners = 3
	} else if each != 4 && each != 10 {
		return fmt.Errorf("elements of %d nodes: want tetrahedra or triangles", each)
	}
	w.newline()
	s := make([]uint32, 0, corners*count)
	for range count {
		if _, err := w.int("the number of an element", 0); err != nil {
			return err
		}
		for range corners {
			v, err := w.int("a node of an element", base)
			if err == nil && v-base >= n {
				err = w.errorf("an element has a node %d: want %d to %d", v, base, base+n-1)
			}
			if err != nil {
				return err
			}
			s = append(s, uint32(v-base))
		}
		w.newline()
	}
	c.Tops = make([][]uint32, corners)
	c.Tops[corners-1] = s
	return w.end(count, "elements")
}

// readText reads one simplex per line: its vertices, separated by blanks or commas.
func readText(data []byte) (*Mesh, error) {
	c, err := textOf[uint32](data)
	if errors.Is(err, errWide) {
		return textOf[int64](data)
	}
	return c, err
}

// errWide is the error of a number that needs 64 bits.
var errWide = errors.New("a number of more than 32 bits")

// textOf reads a text with numbers of a type. Numbers of 32 bits need no more memory than the mesh.
func textOf[T uint32 | int64](data []byte) (*Mesh, error) {
	w := &words{data: data, hash: true}
	// Usually a number is between two blanks or line feeds.
	room := bytes.Count(data, []byte(" ")) + bytes.Count(data, []byte("\n")) + 1
	all := make([]T, 0, room)
	type run struct { // of consecutive simplices
		size  uint16 // vertices of each
		count uint32
	}
	var runs []run
	for more := len(data) > 0; more; more = w.newline() {
		from := len(all)
		for {
			v, ok := w.digits()
			if !ok {
				word, ok := w.here()
				if !ok {
					break
				}
				var err error
				if v, err = w.number(word, "a vertex", 0); err != nil {
					return nil, err
				}
			}
			if int64(T(v)) != v {
				return nil, errWide
			}
			if slices.Contains(all[from:], T(v)) {
				return nil, w.errorf("vertex %d is given twice", v)
			}
			if all = append(all, T(v)); len(all)-from > MaxDim+1 {
				return nil, w.errorf("more than %d vertices in a simplex", MaxDim+1)
			}
		}
		size := len(all) - from
		if last := len(runs) - 1; last >= 0 && int(runs[last].size) == size && runs[last].count < math.MaxUint32 {
			runs[last].count++
		} else if size > 0 {
			runs = append(runs, run{uint16(size), 1})
		}
	}
	number, vertices := ranked(all)
	c := &Mesh{Vertices: vertices}
	if len(runs) == 1 { // the list of the mesh
		c.Tops = make([][]uint32, runs[0].size)
		c.Tops[runs[0].size-1] = number
		return c, nil
	}
	for _, r := range runs {
		n := int(r.size) * int(r.count)
		c.addAll(int(r.size)-1, number[:n])
		number = number[n:]
	}
	return c, nil
}

// ranked returns the rank of each value among the distinct ones, and their number. Ranks of 32 bits
// replace the values.
func ranked[T uint32 | int64](all []T) (ranks []uint32, distinct int) {
	ranks, inPlace := any(all).([]uint32)
	if !inPlace {
		ranks = make([]uint32, len(all))
	}
	if len(all) == 0 {
		return ranks, 0
	}
	if most := slices.Max(all); int64(most) < 4*int64(len(all)) { // a table is small
		of := make([]uint32, most+1)
		for _, v := range all {
			of[v] = 1
		}
		for v, seen := range of {
			of[v] = uint32(distinct)
			distinct += int(seen)
		}
		if inPlace && distinct == len(of) { // the values are the ranks
			return ranks, distinct
		}
		for i, v := range all {
			ranks[i] = of[v]
		}
		return ranks, distinct
	}
	order := slices.Clone(all)
	slices.Sort(order)
	order = slices.Compact(order)
	for i, v := range all {
		at, _ := slices.BinarySearch(order, v)
		ranks[i] = uint32(at)
	}
	return ranks, len(order)
}
