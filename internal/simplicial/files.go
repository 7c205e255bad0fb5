package simplicial

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets"
)

// Formats are the files that can be read.
func Formats() []string {
	return []string{"our own binary", "OFF", "PLY", "Gmsh .msh 2.2 and 4.1 (text)", "TetGen .ele with its .node", "text with the vertices of a simplex a line"}
}

// ReadFile reads a complex from a file of any of the formats.
func ReadFile(path string) (*Complex, error) {
	wrong := func(err error) (*Complex, error) {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			path, err = pe.Path, pe.Err
		}
		return nil, fmt.Errorf("input %s: %w", path, err)
	}
	if ext := filepath.Ext(path); ext == ".ele" || ext == ".node" {
		base := path[:len(path)-len(ext)]
		elements, err := datasets.ReadFile(base + ".ele")
		if err != nil {
			return wrong(err)
		}
		nodes, err := datasets.ReadFile(base + ".node")
		if err != nil {
			return wrong(err)
		}
		c, err := readTetGen(elements, nodes)
		if err != nil {
			return wrong(err)
		}
		return c, nil
	}
	data, err := datasets.ReadFile(path)
	if err != nil {
		return wrong(err)
	}
	c, err := Read(data)
	if err != nil {
		return wrong(err)
	}
	return c, nil
}

// beside are the files that are read with one.
func beside(path string) []string {
	base, ext := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	switch ext {
	case ".ele":
		return []string{base + ".node"}
	case ".node":
		return []string{base + ".ele"}
	}
	return nil
}

// Read reads a complex from the bytes of a file that is read alone.
func Read(data []byte) (*Complex, error) {
	first, _, _ := bytes.Cut(bytes.TrimSpace(data[:min(len(data), 1<<10)]), []byte("\n"))
	head := strings.TrimSpace(string(first))
	var c *Complex
	var err error
	switch {
	case bytes.HasPrefix(data, []byte(magic)):
		return ReadNative(data, false)
	case head == "ply":
		c, err = readPLY(data)
	case strings.HasPrefix(head, "$"):
		c, err = readGmsh(data)
	case strings.Contains(strings.ToUpper(head), "OFF"):
		c, err = readOFF(data)
	case bytes.IndexByte(data[:min(len(data), 1<<12)], 0) >= 0 || head != "" && !strings.ContainsAny(head[:1], "0123456789-+#"):
		return nil, ErrFormat
	default:
		c, err = readText(data)
	}
	if err != nil {
		return nil, err
	}
	return finished(c)
}

// finished is a complex that was read: right, and without the simplices that are faces of
// others.
func finished(c *Complex) (*Complex, error) {
	c.trim()
	if err := boundedVertices(c); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	lower := 0
	for d := range c.Dim() {
		lower += len(c.Tops[d])
	}
	if lower == 0 {
		return c, nil
	}
	f := NewFaces(c, runtime.GOMAXPROCS(0))
	c.counts = f.Counts()
	for d := range c.Dim() {
		covered := make([]bool, f.Count(d))
		for _, face := range f.Boundary[d+1] {
			covered[face] = true
		}
		c.Tops[d] = c.Tops[d][:0]
		for i, inside := range covered {
			if !inside {
				c.Tops[d] = append(c.Tops[d], f.Vertices[d][i*(d+1):(i+1)*(d+1)]...)
			}
		}
	}
	return c, nil
}

// words are the words of a text, line by line. Its errors name the line.
type words struct {
	data []byte
	at   int
	line int
	hash bool // what follows a # on a line is a comment
}

// next is the next word of the text, "" at its end.
func (w *words) next() string {
	for {
		if word, ok := w.here(); ok {
			return word
		}
		if !w.newline() {
			return ""
		}
	}
}

// here is the next word of the line, and whether there is one.
func (w *words) here() (string, bool) {
	for w.at < len(w.data) && (w.data[w.at] == ' ' || w.data[w.at] == '\t' || w.data[w.at] == '\r' || w.data[w.at] == ',') {
		w.at++
	}
	if w.at == len(w.data) || w.data[w.at] == '\n' || w.hash && w.data[w.at] == '#' {
		return "", false
	}
	from := w.at
	for w.at < len(w.data) && !strings.ContainsRune(" \t\r\n,", rune(w.data[w.at])) {
		w.at++
	}
	return string(w.data[from:w.at]), true
}

// newline goes to the next line, and reports whether there is one.
func (w *words) newline() bool {
	end := bytes.IndexByte(w.data[w.at:], '\n')
	if end < 0 {
		w.at = len(w.data)
		return false
	}
	w.at += end + 1
	w.line++
	return w.at < len(w.data)
}

func (w *words) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", w.line+1, fmt.Errorf(format, args...))
}

// int is the next word, a whole number from least on.
func (w *words) int(what string, least int64) (int64, error) {
	return w.number(w.next(), what, least)
}

func (w *words) number(word, what string, least int64) (int64, error) {
	if word == "" {
		return 0, fmt.Errorf("%s is missing: the file ends too early", what)
	}
	v, err := strconv.ParseInt(word, 10, 64)
	if err != nil || v < least {
		return 0, w.errorf("%s is %.40q: want a whole number from %d on", what, word, least)
	}
	return v, nil
}

func (w *words) float(what string) (float64, error) {
	word := w.next()
	if word == "" {
		return 0, fmt.Errorf("%s is missing: the file ends too early", what)
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0, w.errorf("%s is %.40q: want a number", what, word)
	}
	return v, nil
}

// count is a number of things of which each takes so many bytes at least, with what parts its words
// from those before, as many as there can be in what is left.
func (w *words) count(what string, bytesEach int64) (int64, error) {
	n, err := w.int("the number of "+what, 0)
	if err == nil && n > int64(len(w.data)-w.at)/bytesEach {
		err = w.errorf("%d %s are more than the rest of the file can hold", n, what)
	}
	return n, err
}

// points reads three coordinates of each of n vertices, numbered before where numbered says so;
// further words of a line are left out.
func (w *words) points(n int64, dim int, numbered bool) (points []float64, ids []int64, err error) {
	for range n {
		if numbered {
			id, err := w.int("the number of a vertex", 0)
			if err != nil {
				return nil, nil, err
			}
			ids = append(ids, id)
		}
		for k := range 3 {
			v := 0.0
			if k < dim {
				if v, err = w.float("a coordinate"); err != nil {
					return nil, nil, err
				}
			}
			points = append(points, v)
		}
		w.newline()
	}
	return points, ids, nil
}

// mostRing is how many vertices a face has at most.
const mostRing = 4096

// polygon gives a point, an edge, a triangle, or the triangles that a longer ring makes with a
// point of its own in its middle.
func (c *Complex) polygon(ring []uint32) error {
	if len(ring) > mostRing {
		return fmt.Errorf("a face of %d vertices: want at most %d", len(ring), mostRing)
	}
	for i, v := range ring {
		if int64(v) >= int64(c.Vertices) || slices.Contains(ring[:i], v) {
			return fmt.Errorf("face %v: want different vertices from 0 to %d", ring, c.Vertices-1)
		}
	}
	if len(ring) <= 3 {
		c.Add(ring...)
		return nil
	}
	middle := uint32(c.Vertices)
	if c.Points != nil {
		var sum [3]float64
		for _, v := range ring {
			for k := range sum {
				sum[k] += c.Points[3*v+uint32(k)] / float64(len(ring))
			}
		}
		c.Points = append(c.Points, sum[:]...)
	}
	for i, v := range ring {
		c.Add(v, ring[(i+1)%len(ring)], middle)
	}
	return nil
}

// readOFF reads the Object File Format of Geomview as text.
func readOFF(data []byte) (*Complex, error) {
	w := &words{data: data, hash: true}
	if head := w.next(); !strings.HasSuffix(strings.ToUpper(head), "OFF") {
		return nil, w.errorf("%.40q: want OFF", head)
	} else if strings.Contains(head[:len(head)-3], "4") || strings.Contains(head[:len(head)-3], "n") {
		return nil, w.errorf("%s: want points in space", head)
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
	w.newline() // the number of edges may be left out, and means nothing
	c := &Complex{Vertices: int(n)}
	if c.Points, _, err = w.points(n, 3, false); err != nil {
		return nil, err
	}
	for range faces {
		k, err := w.count("vertices of a face", 2)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			return nil, w.errorf("a face without vertices")
		}
		ring := make([]uint32, 0, k)
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
	return c, nil
}

// readTetGen reads the elements and the nodes of TetGen, or of Triangle.
func readTetGen(elements, nodes []byte) (*Complex, error) {
	w := &words{data: nodes, hash: true}
	n, err := w.count("nodes", 6)
	if err != nil {
		return nil, fmt.Errorf(".node: %w", err)
	}
	dim, err := w.int("the dimension", 2)
	if err == nil && dim > 3 {
		err = w.errorf("dimension %d: want 2 or 3", dim)
	}
	if err != nil {
		return nil, fmt.Errorf(".node: %w", err)
	}
	w.newline()
	c := &Complex{Vertices: int(n)}
	points, ids, err := w.points(n, int(dim), true)
	if err != nil {
		return nil, fmt.Errorf(".node: %w", err)
	}
	c.Points = points
	base := int64(0)
	if len(ids) > 0 {
		base = ids[0]
	}
	for i, id := range ids {
		if id != base+int64(i) || base > 1 {
			return nil, fmt.Errorf(".node: node %d has the number %d: want them in order, from 0 or 1 on", i, id)
		}
	}
	w = &words{data: elements, hash: true}
	count, err := w.count("elements", 8)
	if err != nil {
		return nil, fmt.Errorf(".ele: %w", err)
	}
	each, err := w.int("the number of nodes of an element", 3)
	if err != nil {
		return nil, fmt.Errorf(".ele: %w", err)
	}
	corners := int64(4) // ten are a tetrahedron with points on its edges, six a triangle
	if each == 3 || each == 6 {
		corners = 3
	} else if each != 4 && each != 10 {
		return nil, fmt.Errorf(".ele: elements of %d nodes: want tetrahedra or triangles", each)
	}
	w.newline()
	for range count {
		if _, err := w.int("the number of an element", 0); err != nil {
			return nil, fmt.Errorf(".ele: %w", err)
		}
		var s []uint32
		for range corners {
			v, err := w.int("a node of an element", base)
			if err == nil && v-base >= n {
				err = w.errorf("an element has a node %d: want %d to %d", v, base, base+n-1)
			}
			if err != nil {
				return nil, fmt.Errorf(".ele: %w", err)
			}
			s = append(s, uint32(v-base))
		}
		c.Add(s...)
		w.newline()
	}
	return finished(c)
}

// readText reads a simplex a line: its vertices, separated by blanks or commas.
func readText(data []byte) (*Complex, error) {
	w := &words{data: data, hash: true}
	var simplices [][]int64
	ids := map[int64]uint32{}
	for {
		var s []int64
		for word, ok := w.here(); ok; word, ok = w.here() {
			v, err := w.number(word, "a vertex", 0)
			if err != nil {
				return nil, err
			}
			if slices.Contains(s, v) {
				return nil, w.errorf("vertex %d is given twice", v)
			}
			if s = append(s, v); len(s) > MaxDim+1 {
				return nil, w.errorf("more than %d vertices in a simplex", MaxDim+1)
			}
			ids[v] = 0
		}
		if len(s) > 0 {
			simplices = append(simplices, s)
		}
		if !w.newline() {
			break
		}
	}
	order := make([]int64, 0, len(ids))
	for v := range ids {
		order = append(order, v)
	}
	slices.Sort(order)
	for i, v := range order {
		ids[v] = uint32(i)
	}
	c := &Complex{}
	for _, s := range simplices {
		t := make([]uint32, len(s))
		for i, v := range s {
			t[i] = ids[v]
		}
		c.Add(t...)
	}
	return c, nil
}
