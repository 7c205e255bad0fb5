package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// vtkHead is the start of a legacy VTK file.
const vtkHead = "# vtk DataFile Version "

// The VTK types of cells in data sets of polygons.
const (
	vtkVertices = 2
	vtkLines    = 4
	vtkStrips   = 6
	vtkPolygons = 7
)

// vtkCells are the types of cells by number. An empty cell has no points.
var vtkCells = map[float64]cellType{
	0: {separate, 0, 0}, 1: {separate, 1, 1}, vtkVertices: {separate, 0, 0}, 3: {chain, 2, 2}, vtkLines: {chain, 0, 0},
	5: {ring, 3, 3}, vtkStrips: {strip, 0, 0}, vtkPolygons: {ring, 0, 0},
	8: {pixel, 4, 4}, 9: {ring, 4, 4}, 10: {tetrahedron, 4, 4}, 11: {voxel, 8, 8}, 12: {prism, 8, 8}, 13: {prism, 6, 6},
	14: {pyramid, 5, 5}, 15: {prism, 10, 10}, 16: {prism, 12, 12},
	21: {chain, 2, 3}, 22: {ring, 3, 6}, 23: {ring, 4, 8}, 24: {tetrahedron, 4, 10}, 25: {prism, 8, 20},
	26: {prism, 6, 15}, 27: {pyramid, 5, 13}, 28: {ring, 4, 9}, 29: {prism, 8, 27},
	30: {ring, 4, 6}, 31: {prism, 6, 12}, 32: {prism, 6, 18}, 33: {prism, 8, 24}, 34: {ring, 3, 7}, 35: {chain, 2, 4},
	37: {pyramid, 5, 19},
	// Lagrange
	68: {chain, 2, 0}, 69: {ring, 3, 0}, 70: {ring, 4, 0}, 71: {tetrahedron, 4, 0}, 72: {prism, 8, 0},
	73: {prism, 6, 0}, 74: {pyramid, 5, 0},
	// Bézier
	75: {chain, 2, 0}, 76: {ring, 3, 0}, 77: {ring, 4, 0}, 78: {tetrahedron, 4, 0}, 79: {prism, 8, 0},
	80: {prism, 6, 0}, 81: {pyramid, 5, 0},
}

// vtkOthers are the names of unsupported types of cells.
var vtkOthers = map[float64]string{36: ", a quadratic polygon", 41: ", a convex set of points", 42: ", a polyhedron"}

// errGhosts is the error of a file that marks cells as hidden or as belonging to another file.
var errGhosts = errors.New("some cells are marked as ghosts (vtkGhostType or vtkGhostLevels): remove them first")

// A vtkList is a list of cells. ends[i] is the end of cell i in nodes.
type vtkList struct {
	kind        float64 // of all cells, 0 if each has a type
	types       []float64
	ends, nodes []float64
}

// vtkMesh returns the mesh of points and cells.
func vtkMesh(points []float64, lists []vtkList) (*Mesh, error) {
	c := &Mesh{Points: points, Vertices: len(points) / 3}
	n := float64(c.Vertices)
	for _, l := range lists {
		if l.kind == 0 && len(l.types) != len(l.ends) {
			return nil, fmt.Errorf("%d types of %d cells", len(l.types), len(l.ends))
		}
		var s []uint32
		from := 0.0
		for i, end := range l.ends {
			if !(end >= from && end <= float64(len(l.nodes))) || end != math.Trunc(end) {
				return nil, fmt.Errorf("cell %d ends at node %v: want %v to %d", i, end, from, len(l.nodes))
			}
			s = s[:0]
			for _, v := range l.nodes[int(from):int(end)] {
				if !(v >= 0 && v < n) || v != math.Trunc(v) {
					return nil, fmt.Errorf("cell %d has a point %v: want 0 to %v", i, v, n-1)
				}
				s = append(s, uint32(v))
			}
			from = end
			kind := l.kind
			if kind == 0 {
				kind = l.types[i]
			}
			t, ok := vtkCells[kind]
			if !ok {
				return nil, fmt.Errorf("cell %d is of type %v%s, which is not read: triangulate it first", i, kind, vtkOthers[kind])
			}
			if t.shape == ring && len(s) == 0 {
				return nil, fmt.Errorf("cell %d has no points", i)
			}
			if err := c.cell(t, s); err != nil {
				return nil, fmt.Errorf("cell %d: %w", i, err)
			}
		}
		if from != float64(len(l.nodes)) {
			return nil, fmt.Errorf("%d cells have %v nodes, and the file %d", len(l.ends), from, len(l.nodes))
		}
	}
	return c, nil
}

// A vtk is the state of a reader of legacy files.
type vtk struct {
	*words
	binary bool
	grid   bool // unstructured: cells are required
	ends   bool // from version 5 on, a cell is given by the end of its nodes
	points []float64
	lists  []vtkList
	types  []float64
}

// readVTK reads a legacy file of VTK, of polygons or an unstructured grid.
func readVTK(data []byte) (*Mesh, error) {
	v := &vtk{words: &words{data: data}}
	var version int
	if _, err := fmt.Sscanf(string(data[len(vtkHead):min(len(data), len(vtkHead)+20)]), "%d.", &version); err != nil {
		return nil, v.errorf("want %sN.N", vtkHead)
	}
	v.ends = version >= 5
	v.newline() // to the title
	v.newline()
	switch kind := v.next(); strings.ToUpper(kind) {
	case "ASCII":
	case "BINARY":
		v.binary = true
	default:
		return nil, v.errorf("%.40q: want ASCII or BINARY", kind)
	}
	for {
		word := v.next()
		switch strings.ToUpper(word) {
		case "":
			return v.mesh()
		case "POINT_DATA", "CELL_DATA": // only values follow
			if bytes.Contains(v.data[v.at:], []byte("vtkGhost")) {
				return nil, errGhosts
			}
			return v.mesh()
		}
		if err := v.section(word); err != nil {
			return nil, err
		}
	}
}

// vtkLists maps the sections of cells to their type.
var vtkLists = map[string]float64{
	"VERTICES": vtkVertices, "LINES": vtkLines, "TRIANGLE_STRIPS": vtkStrips, "POLYGONS": vtkPolygons, "CELLS": 0,
}

// section reads the section of a keyword.
func (v *vtk) section(word string) (err error) {
	var n int64
	keyword := strings.ToUpper(word)
	if kind, ok := vtkLists[keyword]; ok {
		return v.cells(kind)
	}
	switch keyword {
	case "DATASET":
		kind := v.next()
		v.grid = strings.EqualFold(kind, "UNSTRUCTURED_GRID")
		if !v.grid && !strings.EqualFold(kind, "POLYDATA") {
			return v.errorf("a data set %.40q: want POLYDATA or UNSTRUCTURED_GRID", kind)
		}
	case "METADATA":
		v.skipMetadata()
	case "FIELD":
		return v.field()
	case "POINTS":
		if v.points != nil {
			return v.errorf("POINTS are given twice")
		}
		if n, err = v.count("points", 3); err == nil {
			v.points, err = v.numbers(3*n, v.next())
		}
	case "CELL_TYPES":
		if n, err = v.count("types of cells", 1); err == nil {
			v.types, err = v.numbers(n, "int")
		}
	default:
		return v.errorf("%.40q: want a section of a file of polygons or of an unstructured grid", word)
	}
	return err
}

func (v *vtk) mesh() (*Mesh, error) {
	if v.points == nil {
		return nil, errors.New("the file has no POINTS")
	}
	switch {
	case v.lists != nil:
	case v.grid:
		return nil, errors.New("truncated: the unstructured grid has no CELLS; copy the file again")
	case len(v.points) > 0:
		return nil, errors.New("truncated: the file has points and no VERTICES, LINES or POLYGONS; copy it again, or save " +
			"the points as VERTICES")
	}
	for i := range v.lists {
		if v.lists[i].kind == 0 {
			v.lists[i].types, v.types = v.types, nil
		}
	}
	if v.types != nil {
		return nil, errors.New("the file has CELL_TYPES without CELLS")
	}
	return vtkMesh(v.points, v.lists)
}

// skipMetadata skips lines up to an empty one.
func (v *vtk) skipMetadata() {
	for v.newline() {
		if _, more := v.here(); !more {
			return
		}
	}
}

// numbers reads numbers of a type, from the line after its name.
func (v *vtk) numbers(n int64, typ string) ([]float64, error) {
	t, ok := numberTypes[strings.ToLower(typ)]
	if !ok {
		return nil, v.errorf("numbers of the type %.40q are not read", typ)
	}
	if v.binary {
		v.newline()
		rest := v.data[v.at:]
		if n > int64(len(rest)/t.size) {
			return nil, fmt.Errorf("%d numbers are more than the rest of the file can hold", n)
		}
		v.at += int(n) * t.size
		return t.all(binary.BigEndian, rest[:int(n)*t.size]), nil
	}
	if n > int64(len(v.data)-v.at+1)/2 {
		return nil, v.errorf("%d numbers are more than the rest of the file can hold", n)
	}
	list := make([]float64, n)
	for i := range list {
		var err error
		if list[i], err = v.float("a number"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// cells reads cells of a kind.
func (v *vtk) cells(kind float64) error {
	n, err := v.count("cells", 1)
	if err != nil {
		return err
	}
	size, err := v.count("numbers of cells", 1)
	if err != nil {
		return err
	}
	l := vtkList{kind: kind}
	if v.ends {
		for _, part := range []struct {
			name string
			n    int64
			list *[]float64
		}{{"OFFSETS", n, &l.ends}, {"CONNECTIVITY", size, &l.nodes}} {
			if word := v.next(); !strings.EqualFold(word, part.name) {
				return v.errorf("%.40q: want %s", word, part.name)
			}
			if *part.list, err = v.numbers(part.n, v.next()); err != nil {
				return err
			}
		}
		if len(l.ends) > 0 {
			if l.ends[0] != 0 {
				return v.errorf("the first cell begins at node %v: want 0", l.ends[0])
			}
			l.ends = l.ends[1:]
		}
	} else {
		list, err := v.numbers(size, "int")
		if err != nil {
			return err
		}
		for range n {
			if len(list) == 0 || !(list[0] >= 0 && list[0] < float64(len(list))) || list[0] != math.Trunc(list[0]) {
				return v.errorf("%d cells have more than %d numbers, as the header states", n, size)
			}
			k := 1 + int(list[0])
			l.nodes = append(l.nodes, list[1:k]...)
			l.ends = append(l.ends, float64(len(l.nodes)))
			list = list[k:]
		}
		if len(list) > 0 {
			return v.errorf("%d numbers follow %d cells, as many as the header states", len(list), n)
		}
	}
	v.lists = append(v.lists, l)
	return nil
}

// field skips arrays of values that belong to the whole file.
func (v *vtk) field() error {
	v.next() // its name
	n, err := v.count("arrays", 4)
	if err != nil {
		return err
	}
	for n > 0 {
		if name := v.next(); name == "METADATA" {
			v.skipMetadata()
			continue
		}
		each, err := v.int("the number of values of a tuple", 0)
		if err != nil {
			return err
		}
		tuples, err := v.int("the number of tuples", 0)
		if err != nil {
			return err
		}
		if each > 0 && tuples > int64(len(v.data))/each {
			return v.errorf("%d tuples are more than the rest of the file can hold", tuples)
		}
		if _, err := v.numbers(each*tuples, v.next()); err != nil {
			return err
		}
		n--
	}
	return nil
}
