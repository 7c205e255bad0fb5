package files

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"eccbench/internal/decimal"
)

// A vtkArray is an undecoded array of numbers of a piece.
type vtkArray struct {
	attr map[string]string
	text []byte
	line int
}

// A vtkXML is the state of a reader of .vtu or .vtp files.
type vtkXML struct {
	kind       string
	order      binary.ByteOrder
	header     numberType
	compressed bool
	piece      map[string]string   // attributes of the piece
	arrays     map[string]vtkArray // by name of the enclosing element and of the array
	encoding   string              // of appended data
	appended   []byte
}

func attributes(e xml.StartElement) map[string]string {
	m := map[string]string{}
	for _, a := range e.Attr {
		m[a.Name.Local] = a.Value
	}
	return m
}

// readVTKXML reads an unstructured grid or polygons in the XML format of VTK.
func readVTKXML(data []byte) (*Mesh, error) {
	x := &vtkXML{arrays: map[string]vtkArray{}}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var open []string
	var array vtkArray
	for x.encoding == "" {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, errors.New(strings.ToValidUTF8(err.Error(), "?"))
		}
		line, _ := d.InputPos()
		within := ""
		if len(open) > 0 {
			within = open[len(open)-1]
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := x.start(within, t.Name.Local, attributes(t), data[d.InputOffset():]); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			if open = append(open, t.Name.Local); t.Name.Local == "DataArray" {
				array = vtkArray{attr: attributes(t), line: line}
			}
		case xml.CharData:
			if within == "DataArray" {
				array.text = append(array.text, t...)
			} else if text := bytes.TrimSpace(t); within == "" && len(text) > 0 {
				return nil, fmt.Errorf("line %d: %.40q follows the end of the file's element", line, text)
			}
		case xml.EndElement:
			if open = open[:len(open)-1]; within == "DataArray" {
				of := open[len(open)-1]
				name := of + " " + array.attr["Name"]
				if of == "Points" {
					name = of
				}
				if _, twice := x.arrays[name]; twice {
					return nil, fmt.Errorf("line %d: %s is given twice, as for several times: want one", line, name)
				}
				x.arrays[name] = array
			}
		}
	}
	if x.piece == nil {
		return nil, errors.New("the file has no piece of polygons or of an unstructured grid")
	}
	return x.mesh()
}

// start handles the start of an element within another.
func (x *vtkXML) start(within, name string, attr map[string]string, rest []byte) error {
	switch {
	case within == "":
		return x.head(name, attr)
	case name == "Piece":
		if x.piece != nil {
			return errors.New("the file has several pieces, which share no points: merge them first")
		}
		x.piece = attr
	case name == "AppendedData":
		at := bytes.IndexByte(rest, '_')
		if x.encoding = attr["encoding"]; x.encoding != "raw" && x.encoding != "base64" || at < 0 {
			return fmt.Errorf("appended data encoded as %.40q: want raw or base64, after a _", x.encoding)
		}
		x.appended = rest[at+1:]
	case name == "DataArray" && strings.HasPrefix(attr["Name"], "vtkGhost"):
		return errGhosts
	}
	return nil
}

// head checks the first element.
func (x *vtkXML) head(name string, attr map[string]string) error {
	x.kind = attr["type"]
	if name != "VTKFile" || x.kind != "UnstructuredGrid" && x.kind != "PolyData" {
		return fmt.Errorf("%s of the type %.40q: want a VTKFile of the type UnstructuredGrid or PolyData", name, x.kind)
	}
	switch attr["byte_order"] {
	case "", "LittleEndian":
		x.order = binary.LittleEndian
	case "BigEndian":
		x.order = binary.BigEndian
	default:
		return fmt.Errorf("byte_order %.40q: want LittleEndian or BigEndian", attr["byte_order"])
	}
	switch attr["header_type"] {
	case "", "UInt32":
		x.header = numberTypes["uint32"]
	case "UInt64":
		x.header = numberTypes["uint64"]
	default:
		return fmt.Errorf("header_type %.40q: want UInt32 or UInt64", attr["header_type"])
	}
	x.compressed = attr["compressor"] == "vtkZLibDataCompressor"
	if c := attr["compressor"]; c != "" && !x.compressed {
		return fmt.Errorf("compressor %.40q: want none or vtkZLibDataCompressor", c)
	}
	return nil
}

// mesh reads the arrays of the points and cells.
func (x *vtkXML) mesh() (*Mesh, error) {
	n, err := x.count("NumberOfPoints")
	if err != nil {
		return nil, err
	}
	if c := x.arrays["Points"].attr["NumberOfComponents"]; n > 0 && c != "3" {
		return nil, fmt.Errorf("points of %.40q components: want 3", c)
	}
	points, err := x.array("Points", 3*n)
	if err != nil {
		return nil, err
	}
	kinds := []struct {
		of, count string
		kind      float64
	}{{"Verts", "NumberOfVerts", vtkVertices}, {"Lines", "NumberOfLines", vtkLines},
		{"Strips", "NumberOfStrips", vtkStrips}, {"Polys", "NumberOfPolys", vtkPolygons}}
	if x.kind == "UnstructuredGrid" {
		kinds = kinds[:1]
		kinds[0].of, kinds[0].count, kinds[0].kind = "Cells", "NumberOfCells", 0
	}
	var lists []vtkList
	for _, k := range kinds {
		l := vtkList{kind: k.kind}
		if n, err = x.count(k.count); err != nil {
			return nil, err
		}
		if l.ends, err = x.array(k.of+" offsets", n); err != nil {
			return nil, err
		}
		if k.kind == 0 {
			if l.types, err = x.array(k.of+" types", n); err != nil {
				return nil, err
			}
		}
		nodes := 0.0
		if n > 0 {
			nodes = l.ends[n-1]
		}
		if l.nodes, err = x.array(k.of+" connectivity", int64(max(0, min(nodes, 1<<40)))); err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	return vtkMesh(points, lists)
}

// count returns a number of things of the piece.
func (x *vtkXML) count(name string) (int64, error) {
	if x.piece[name] == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(x.piece[name]), 10, 40)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %.40q: want a whole number from 0 on", name, x.piece[name])
	}
	return n, nil
}

// array reads n numbers; a missing array has none.
func (x *vtkXML) array(name string, n int64) ([]float64, error) {
	a, ok := x.arrays[name]
	if !ok && n == 0 {
		return []float64{}, nil
	} else if !ok {
		return nil, fmt.Errorf("the file has no array %s", name)
	}
	list, err := x.numbers(a)
	if err == nil && int64(len(list)) != n {
		err = fmt.Errorf("%d numbers: want %d, as the header states", len(list), n)
	}
	if err != nil {
		return nil, fmt.Errorf("array %s, line %d: %w", name, a.line, err)
	}
	return list, nil
}

func (x *vtkXML) numbers(a vtkArray) ([]float64, error) {
	t, ok := numberTypes[strings.ToLower(a.attr["type"])]
	if !ok {
		return nil, fmt.Errorf("numbers of the type %.40q are not read", a.attr["type"])
	}
	encoding, from := "base64", a.text
	switch a.attr["format"] {
	case "", "ascii":
		var list []float64
		w := &words{data: a.text}
		for word := w.next(); word != ""; word = w.next() {
			v, err := decimal.ParseFloat(word, 64)
			if err != nil {
				return nil, fmt.Errorf("%.40q: want a number", word)
			}
			list = append(list, v)
		}
		return list, nil
	case "binary":
	case "appended":
		at, err := strconv.ParseInt(a.attr["offset"], 10, 64)
		if err != nil || at < 0 || at > int64(len(x.appended)) {
			return nil, fmt.Errorf("offset %.40q: want one within the appended data", a.attr["offset"])
		}
		encoding, from = x.encoding, x.appended[at:]
	default:
		return nil, fmt.Errorf("format %.40q: want ascii, binary or appended", a.attr["format"])
	}
	r := io.Reader(bytes.NewReader(from))
	if encoding == "base64" {
		r = &quads{r: bufio.NewReader(r)}
	}
	b, err := x.block(r, int64(len(from)))
	if err == nil && len(b)%t.size != 0 {
		err = fmt.Errorf("%d bytes: want whole numbers of %d", len(b), t.size)
	}
	if err == nil && a.attr["format"] == "binary" {
		if rest, e := io.ReadAll(r); e != nil || len(rest) > 0 {
			err = errors.New("the data continue after the bytes that their header states")
		}
	}
	if err != nil {
		return nil, err
	}
	return t.all(x.order, b), nil
}

// block reads the bytes of an array after their header. limit is the size of the source.
func (x *vtkXML) block(r io.Reader, limit int64) ([]byte, error) {
	early := errors.New("the data end too early")
	head := func(n int64) ([]float64, error) {
		b, err := take(r, n*int64(x.header.size), limit)
		if err != nil {
			return nil, early
		}
		return x.header.all(x.order, b), nil
	}
	if !x.compressed {
		n, err := head(1)
		if err != nil {
			return nil, err
		}
		b, err := take(r, int64(n[0]), limit)
		if err != nil {
			return nil, early
		}
		return b, nil
	}
	h, err := head(1)
	if err != nil {
		return nil, err
	}
	sizes, err := head(2)
	if h[0] == 0 { // without blocks, their sizes may be missing
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	packed, err := head(int64(min(h[0], 1<<40)))
	if err != nil {
		return nil, err
	}
	var out []byte
	for i, p := range packed {
		want := int64(sizes[0])
		if i == len(packed)-1 && sizes[1] != 0 {
			want = int64(sizes[1])
		}
		b, err := take(r, int64(p), limit)
		if err != nil {
			return nil, early
		}
		z, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, errors.New("the compressed data are damaged")
		}
		plain, err := io.ReadAll(io.LimitReader(z, want))
		if err == nil { // read on, to its checksum
			_, err = io.ReadFull(z, make([]byte, 1))
		}
		if err != io.EOF || int64(len(plain)) != want {
			return nil, errors.New("the compressed data are damaged")
		}
		out = append(out, plain...)
	}
	return out, nil
}

// take reads n bytes, at most the size of the source.
func take(r io.Reader, n, limit int64) ([]byte, error) {
	if n < 0 || n > limit {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// A quads reader decodes base64 in groups of four characters. Padding may occur before the end,
// because the header of an array and its data are often encoded separately.
type quads struct {
	r    *bufio.Reader
	left []byte
	buf  [3]byte
}

func (q *quads) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(q.left) == 0 {
			if err := q.decode(); err != nil {
				return n, err
			}
		}
		k := copy(p[n:], q.left)
		q.left, n = q.left[k:], n+k
	}
	return n, nil
}

func (q *quads) decode() error {
	var four [4]byte
	for i := 0; i < 4; {
		c, err := q.r.ReadByte()
		if err != nil {
			return err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			four[i] = c
			i++
		}
	}
	n, err := base64.StdEncoding.Decode(q.buf[:], four[:])
	q.left = q.buf[:n]
	return err
}
