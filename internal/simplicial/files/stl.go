package files

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A soup is triangles without vertex numbers: corners at the same place are one vertex.
type soup struct {
	c   Mesh
	ids map[[3]float64]uint32
}

// add adds a triangle. Corners at the same place reduce it to an edge or a point.
func (s *soup) add(corners [3][3]float64) error {
	var vertices []uint32
	for _, p := range corners {
		for _, x := range p {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("a corner is at %v: want finite numbers", p)
			}
		}
		id, ok := s.ids[p]
		if !ok {
			id = uint32(s.c.Vertices)
			s.ids[p] = id
			s.c.Vertices++
			s.c.Points = append(s.c.Points, p[:]...)
		}
		if !slices.Contains(vertices, id) {
			vertices = append(vertices, id)
		}
	}
	s.c.add(vertices...)
	return nil
}

const (
	stlHead = 84 // 80 bytes of free use, and the number of triangles
	stlEach = 50 // the normal and the corners as float32, and 2 bytes of free use
)

// isBinarySTL reports whether a file has the length of a binary one.
func isBinarySTL(data []byte) bool {
	return len(data) >= stlHead && int64(len(data)) == stlHead+stlEach*int64(binary.LittleEndian.Uint32(data[stlHead-4:]))
}

func readBinarySTL(data []byte) (*Mesh, error) {
	if len(data) < stlHead {
		return nil, fmt.Errorf("%d bytes: a binary STL file has at least %d, and a text one begins with solid", len(data),
			stlHead)
	}
	if !isBinarySTL(data) {
		n := binary.LittleEndian.Uint32(data[stlHead-4:])
		return nil, fmt.Errorf("%d bytes: a binary STL file of %d triangles, as the header states, has %d",
			len(data), n, stlHead+stlEach*int64(n))
	}
	s := soup{ids: map[[3]float64]uint32{}}
	for t := data[stlHead:]; len(t) > 0; t = t[stlEach:] {
		var corners [3][3]float64
		for i := range 9 {
			corners[i/3][i%3] = float64(math.Float32frombits(binary.LittleEndian.Uint32(t[12+4*i:])))
		}
		if err := s.add(corners); err != nil {
			return nil, fmt.Errorf("triangle %d: %w", (len(data)-stlHead-len(t))/stlEach, err)
		}
	}
	return &s.c, nil
}

// readSTL reads the solids of a text file. Vertices at the same place are shared.
func readSTL(data []byte) (*Mesh, error) {
	w := &words{data: data}
	s := soup{ids: map[[3]float64]uint32{}}
	expect := func(wanted string) error {
		for _, want := range strings.Fields(wanted) {
			if word := w.next(); word == "" {
				return fmt.Errorf("%s is missing: the file ends too early", want)
			} else if !strings.EqualFold(word, want) {
				return w.errorf("%.40q: want %s", word, want)
			}
		}
		return nil
	}
	facet := func() (err error) {
		if err := expect("normal"); err != nil {
			return err
		}
		for range 3 { // of the normal, which is ignored
			w.next()
		}
		if err := expect("outer loop"); err != nil {
			return err
		}
		var corners [3][3]float64
		for i := range corners {
			if err := expect("vertex"); err != nil {
				return err
			}
			for k := range corners[i] {
				if corners[i][k], err = w.float("a coordinate"); err != nil {
					return err
				}
			}
		}
		if err := s.add(corners); err != nil {
			return w.errorf("%w", err)
		}
		return expect("endloop endfacet")
	}
	for inside := false; ; {
		switch word := w.next(); {
		case word == "" && inside:
			return nil, fmt.Errorf("endsolid is missing: the file ends too early")
		case word == "":
			return &s.c, nil
		case inside && strings.EqualFold(word, "facet"):
			if err := facet(); err != nil {
				return nil, err
			}
		case !inside && strings.EqualFold(word, "solid"), inside && strings.EqualFold(word, "endsolid"):
			inside = !inside
			w.newline() // a name may follow
		default:
			return nil, w.errorf("%.40q: want %s", word, map[bool]string{false: "solid", true: "facet or endsolid"}[inside])
		}
	}
}
