package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A plyProperty is a value of each element of a kind, or a list of values.
type plyProperty struct {
	name   string
	number numberType
	length numberType // of a list; size 0 for a single value
}

type plyElement struct {
	name       string
	count      int64
	properties []plyProperty
}

// A plyReader reads the values of a file, one after the other.
type plyReader struct {
	words *words           // of a text file
	data  []byte           // of a binary file
	order binary.ByteOrder // nil for a text file
}

func (r *plyReader) left() int64 {
	if r.order == nil {
		return (int64(len(r.words.data)-r.words.at) + 1) / 2 // a digit and a blank each
	}
	return int64(len(r.data))
}

func (r *plyReader) value(t numberType) (float64, error) {
	if r.order == nil {
		return r.words.float("a value")
	}
	if len(r.data) < t.size {
		return 0, errors.New("the file ends too early")
	}
	b := r.data[:t.size]
	r.data = r.data[t.size:]
	return t.get(r.order, b), nil
}

// end returns an error if data follow the last element.
func (r *plyReader) end(n int64) error {
	if r.order == nil {
		return r.words.end(n, "elements")
	}
	if len(r.data) > 0 {
		return fmt.Errorf("%d bytes follow %d elements, as many as the header states; correct the header or cut off the rest",
			len(r.data), n)
	}
	return nil
}

// plyHead reads the header of a file: its kinds of elements, and a reader of the rest.
func plyHead(data []byte) (elements []plyElement, r *plyReader, err error) {
	r = &plyReader{}
	line, format := 0, ""
	for {
		text, rest, more := bytes.Cut(data, []byte("\n"))
		if !more && line > 0 {
			return nil, nil, errors.New("the header does not end")
		}
		data = rest
		line++
		w := strings.Fields(string(text[:min(len(text), 1<<12)]))
		wrong := func() ([]plyElement, *plyReader, error) {
			return nil, nil, fmt.Errorf("line %d: %.60q: want a PLY header", line, text)
		}
		if len(w) == 0 || w[0] == "comment" || w[0] == "obj_info" || line == 1 {
			continue
		}
		switch {
		case w[0] == "end_header":
			switch format {
			case "ascii":
				r.words = &words{data: data, line: line}
			case "binary_little_endian":
				r.data, r.order = data, binary.LittleEndian
			case "binary_big_endian":
				r.data, r.order = data, binary.BigEndian
			default:
				return nil, nil, fmt.Errorf("format %.40q: want ascii, binary_little_endian or binary_big_endian", format)
			}
			return elements, r, nil
		case w[0] == "format" && len(w) == 3:
			format = w[1]
		case w[0] == "element" && len(w) == 3:
			n, err := strconv.ParseInt(w[2], 10, 64)
			if err != nil || n < 0 {
				return wrong()
			}
			elements = append(elements, plyElement{name: w[1], count: n})
		case w[0] == "property" && len(w) > 2 && len(elements) > 0:
			list := len(w) == 5 && w[1] == "list"
			p := plyProperty{name: w[len(w)-1]}
			known, long := true, true
			if list {
				p.length, long = numberTypes[w[2]]
			}
			if p.number, known = numberTypes[w[len(w)-2]]; !known || !long || len(w) != 3 && !list {
				return wrong()
			}
			e := &elements[len(elements)-1]
			e.properties = append(e.properties, p)
		default:
			return wrong()
		}
	}
}

// readPLY reads the Polygon File Format of Stanford, as text or bytes: vertices, faces, edges
// and tetrahedra.
func readPLY(data []byte) (*Mesh, error) {
	elements, r, err := plyHead(data)
	if err != nil {
		return nil, err
	}
	c := &Mesh{}
	vertices, total := int64(-1), int64(0)
	for _, e := range elements {
		if e.count > r.left() && len(e.properties) > 0 {
			return nil, fmt.Errorf("%d elements %s are more than the rest of the file can hold", e.count, e.name)
		}
		if len(e.properties) == 0 {
			continue
		}
		total += e.count
		if e.name == "vertex" {
			vertices = e.count
			c.Vertices = int(vertices)
		}
		for range e.count {
			one, list, err := r.element(e)
			if err != nil {
				return nil, fmt.Errorf("element %s: %w", e.name, err)
			}
			switch e.name {
			case "vertex":
				c.Points = append(c.Points, one["x"], one["y"], one["z"])
			case "edge":
				list = []float64{one["vertex1"], one["vertex2"]}
				fallthrough
			case "face", "tristrips", "tet", "tetra", "tetrahedron", "cell":
				if vertices < 0 {
					return nil, fmt.Errorf("elements %s come before those of vertices", e.name)
				}
				if err := c.plyCell(e.name, list, vertices); err != nil {
					return nil, err
				}
			default:
				if list != nil {
					return nil, fmt.Errorf("elements %s have vertices: want faces, edges or tetrahedra", e.name)
				}
			}
		}
	}
	return c, r.end(total)
}

// plyCell adds a face, an edge or a tetrahedron with a list of the file's vertices. The mesh may have
// more: the middles of faces.
func (c *Mesh) plyCell(kind string, list []float64, vertices int64) error {
	if kind == "tristrips" {
		return errors.New("strips of triangles: want faces")
	}
	ring := make([]uint32, len(list))
	for i, v := range list {
		if !(v >= 0 && v < float64(vertices)) || v != math.Trunc(v) {
			return fmt.Errorf("element %s has a vertex %v: want 0 to %d", kind, v, vertices-1)
		}
		ring[i] = uint32(v)
	}
	switch {
	case len(ring) == 0:
		return fmt.Errorf("element %s has no vertices", kind)
	case kind == "face" || len(ring) <= 3:
		return c.polygon(ring)
	case len(ring) > MaxDim+1:
		return fmt.Errorf("element %s of %d vertices: want at most %d", kind, len(ring), MaxDim+1)
	}
	c.add(ring...)
	return nil
}

// element reads an element: its values by name, and the list of its vertices.
func (r *plyReader) element(e plyElement) (one map[string]float64, vertices []float64, err error) {
	wanted := []string{"x", "y", "z", "vertex1", "vertex2"}
	one = map[string]float64{}
	for _, p := range e.properties {
		if p.length.size == 0 {
			v, err := r.value(p.number)
			if err != nil {
				return nil, nil, err
			}
			if slices.Contains(wanted, p.name) {
				one[p.name] = v
			}
			continue
		}
		n, err := r.value(p.length)
		if err != nil {
			return nil, nil, err
		}
		if !(n >= 0 && n <= float64(r.left())) {
			return nil, nil, fmt.Errorf("a list of %v values is longer than the rest of the file", n)
		}
		keep := strings.HasPrefix(p.name, "vertex_ind") || strings.HasPrefix(p.name, "vertex_idx") || p.name == "indices"
		for range int64(n) {
			v, err := r.value(p.number)
			if err != nil {
				return nil, nil, err
			}
			if keep {
				vertices = append(vertices, v)
			}
		}
	}
	return one, vertices, nil
}
