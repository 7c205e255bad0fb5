package files

import (
	"slices"
	"strconv"
	"strings"
)

// objStatements are the known statements of OBJ. The value is false for ignored ones, which change
// no vertex: texture coordinates, normals, names, groups, materials and drawing options.
var objStatements = map[string]bool{
	"v": true, "f": true, "fo": true, "l": true, "p": true, "vt": false, "vn": false, "vp": false, "o": false, "g": false,
	"s": false, "mg": false, "usemtl": false, "mtllib": false,
	"usemap": false, "maplib": false, "bevel": false, "c_interp": false, "d_interp": false, "lod": false,
	"shadow_obj": false, "trace_obj": false, "ctech": false, "stech": false,
}

// An objElement is an element that waits for its vertices, which may follow it.
type objElement struct {
	cellType
	line     int
	vertices []uint32
}

// readOBJ reads the polygons, lines and points of Wavefront's format.
func readOBJ(data []byte) (*Mesh, error) {
	w := &words{data: data, hash: true, wrap: true}
	c := &Mesh{Points: []float64{}}
	var elements []objElement
	for {
		statement := w.next()
		kind, known := objStatements[statement]
		switch {
		case statement == "":
			n := c.Vertices
			for _, e := range elements {
				w.line = e.line
				if v := slices.Max(e.vertices); int64(v) >= int64(n) {
					return nil, w.errorf("a vertex is %d: want 1 to %d", int64(v)+1, n)
				}
				if err := c.cell(e.cellType, e.vertices); err != nil {
					return nil, w.errorf("%w", err)
				}
			}
			return c, nil
		case !known:
			return nil, w.errorf("%.40q: want polygons (f), lines (l) and points (p); convert curves and surfaces to "+
				"polygons first", statement)
		case statement == "v":
			p, _, err := w.points(1, 3, false)
			if err != nil {
				return nil, err
			}
			c.Points = append(c.Points, p...)
			c.Vertices++
			continue // points moved to the next line
		case kind:
			e := objElement{line: w.line, cellType: cellType{shape: map[byte]shape{'f': ring, 'l': chain,
				'p': separate}[statement[0]]}}
			for word, ok := w.here(); ok; word, ok = w.here() {
				number, _, _ := strings.Cut(word, "/")
				v, err := strconv.ParseInt(number, 10, 32)
				if err != nil || v == 0 || v < -int64(c.Vertices) {
					return nil, w.errorf("a vertex is %.40q: want 1 to %d, or -%[2]d to -1", word, c.Vertices)
				}
				if v < 0 {
					v += int64(c.Vertices) + 1
				}
				e.vertices = append(e.vertices, uint32(v-1))
			}
			if len(e.vertices) == 0 {
				return nil, w.errorf("%s without vertices", statement)
			}
			elements = append(elements, e)
		}
		w.newline()
	}
}
