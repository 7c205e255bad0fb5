package simplicial

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
	name, typ string
	length    string // type of the length of a list, "" for one value
}

type plyElement struct {
	name       string
	count      int64
	properties []plyProperty
}

// plySizes are the bytes of each type, by both of its names.
var plySizes = map[string]int{
	"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "double": 8,
	"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "float32": 4, "float64": 8,
}

// A plyReader gives the values of a file, one after the other.
type plyReader struct {
	words *words           // of text
	data  []byte           // of bytes
	order binary.ByteOrder // nil of text
}

func (r *plyReader) left() int64 {
	if r.order == nil {
		return (int64(len(r.words.data)-r.words.at) + 1) / 2 // a digit and a blank each
	}
	return int64(len(r.data))
}

func (r *plyReader) value(typ string) (float64, error) {
	if r.order == nil {
		return r.words.float("a value")
	}
	n := plySizes[typ]
	if len(r.data) < n {
		return 0, errors.New("the file ends too early")
	}
	b := r.data[:n]
	r.data = r.data[n:]
	switch typ {
	case "char", "int8":
		return float64(int8(b[0])), nil
	case "uchar", "uint8":
		return float64(b[0]), nil
	case "short", "int16":
		return float64(int16(r.order.Uint16(b))), nil
	case "ushort", "uint16":
		return float64(r.order.Uint16(b)), nil
	case "int", "int32":
		return float64(int32(r.order.Uint32(b))), nil
	case "uint", "uint32":
		return float64(r.order.Uint32(b)), nil
	case "float", "float32":
		return float64(math.Float32frombits(r.order.Uint32(b))), nil
	default:
		return math.Float64frombits(r.order.Uint64(b)), nil
	}
}

// plyHead reads the header of a file: its kinds of elements, and what follows.
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
		case w[0] == "property" && len(elements) > 0:
			p := plyProperty{}
			switch {
			case len(w) == 3:
				p.typ, p.name = w[1], w[2]
			case len(w) == 5 && w[1] == "list":
				p.length, p.typ, p.name = w[2], w[3], w[4]
			default:
				return wrong()
			}
			if plySizes[p.typ] == 0 || p.length != "" && plySizes[p.length] == 0 {
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
func readPLY(data []byte) (*Complex, error) {
	elements, r, err := plyHead(data)
	if err != nil {
		return nil, err
	}
	c := &Complex{}
	vertices := int64(-1)
	for _, e := range elements {
		if e.count > r.left() && len(e.properties) > 0 {
			return nil, fmt.Errorf("%d elements %s are more than the rest of the file can hold", e.count, e.name)
		}
		if len(e.properties) == 0 {
			continue
		}
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
				if e.name == "tristrips" {
					return nil, errors.New("strips of triangles: want faces")
				}
				ring := make([]uint32, len(list))
				for i, v := range list {
					if !(v >= 0 && v < float64(vertices)) || v != math.Trunc(v) {
						return nil, fmt.Errorf("element %s has a vertex %v: want 0 to %d", e.name, v, vertices-1)
					}
					ring[i] = uint32(v)
				}
				switch {
				case len(ring) == 0:
					return nil, fmt.Errorf("element %s has no vertices", e.name)
				case e.name == "face" || len(ring) <= 3:
					err = c.polygon(ring)
				case len(ring) > MaxDim+1:
					err = fmt.Errorf("element %s of %d vertices: want at most %d", e.name, len(ring), MaxDim+1)
				default:
					c.Add(ring...)
				}
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return c, nil
}

// element reads an element: its values by name, and the list of its vertices.
func (r *plyReader) element(e plyElement) (one map[string]float64, vertices []float64, err error) {
	wanted := []string{"x", "y", "z", "vertex1", "vertex2"}
	one = map[string]float64{}
	for _, p := range e.properties {
		if p.length == "" {
			v, err := r.value(p.typ)
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
			v, err := r.value(p.typ)
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
