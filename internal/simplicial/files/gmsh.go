package files

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// gmshCells are the elements of Gmsh by type number.
var gmshCells = map[int64]cellType{
	15: {separate, 1, 1}, 1: {chain, 2, 2}, 8: {chain, 2, 3}, 26: {chain, 2, 4}, 27: {chain, 2, 5}, 28: {chain, 2, 6},
	2: {ring, 3, 3}, 9: {ring, 3, 6}, 20: {ring, 3, 9}, 21: {ring, 3, 10}, 22: {ring, 3, 12}, 23: {ring, 3, 15},
	24: {ring, 3, 15}, 25: {ring, 3, 21},
	3: {ring, 4, 4}, 10: {ring, 4, 9}, 16: {ring, 4, 8}, 36: {ring, 4, 16}, 37: {ring, 4, 25}, 38: {ring, 4, 36},
	4: {tetrahedron, 4, 4}, 11: {tetrahedron, 4, 10}, 29: {tetrahedron, 4, 20}, 30: {tetrahedron, 4, 35},
	31: {tetrahedron, 4, 56},
	5:  {prism, 8, 8}, 12: {prism, 8, 27}, 17: {prism, 8, 20}, 92: {prism, 8, 64}, 93: {prism, 8, 125},
	6: {prism, 6, 6}, 13: {prism, 6, 18}, 18: {prism, 6, 15}, 7: {pyramid, 5, 5}, 14: {pyramid, 5, 14},
	19: {pyramid, 5, 13},
}

// A gmsh is the state of a reader of Gmsh files.
type gmsh struct {
	*words
	c   *Mesh
	ids map[int64]uint32
}

// readGmsh reads the meshes of Gmsh, versions 2 and 4.1, as text.
func readGmsh(data []byte) (*Mesh, error) {
	g := &gmsh{words: &words{data: data}, c: &Mesh{}, ids: map[int64]uint32{}}
	version := ""
	nodes, elements := false, false
	for {
		section := g.next()
		switch {
		case section == "" && !nodes:
			return nil, errors.New("the file has no $Nodes")
		case section == "" && !elements:
			return nil, errors.New("the file has no $Elements")
		case section == "":
			return g.c, nil
		case section == "$MeshFormat":
			version = g.next()
			if kind := g.next(); kind != "0" {
				return nil, errors.New("a binary Gmsh file: want a text one, gmsh -save -format msh -bin 0")
			}
			if version != "4.1" && !strings.HasPrefix(version, "2") {
				return nil, fmt.Errorf("version %.20q of Gmsh's format: want 2.2 or 4.1", version)
			}
			g.next() // the size of numbers in binary files
		case section == "$Nodes" || section == "$Elements":
			if version == "" {
				return nil, errors.New("the file has no $MeshFormat before its nodes and elements")
			}
			if section == "$Elements" && !nodes {
				return nil, errors.New("$Elements come before $Nodes")
			}
			read := map[string]func() error{"$Nodes2": g.nodes2, "$Nodes4": g.nodes4, "$Elements2": g.elements2,
				"$Elements4": g.elements4}[section+version[:1]]
			if err := read(); err != nil {
				return nil, err
			}
			nodes, elements = true, elements || section == "$Elements"
			if end := g.next(); end != "$End"+section[1:] {
				return nil, g.errorf("%.40q: want $End%s", end, section[1:])
			}
		case section == "$EndMeshFormat":
		case strings.HasPrefix(section, "$"):
			for word := section; word != "$End"+section[1:]; word = g.next() {
				if word == "" {
					return nil, fmt.Errorf("%.40q does not end", section)
				}
			}
		default:
			return nil, g.errorf("%.40q: want a section", section)
		}
	}
}

func (g *gmsh) node(id int64) error {
	if _, ok := g.ids[id]; ok {
		return g.errorf("node %d is given twice", id)
	}
	g.ids[id] = uint32(g.c.Vertices)
	g.c.Vertices++
	return nil
}

func (g *gmsh) nodes2() error {
	n, err := g.count("nodes", 8)
	if err != nil {
		return err
	}
	points, ids, err := g.points(n, 3, true)
	if err != nil {
		return err
	}
	g.c.Points = append(g.c.Points, points...)
	for _, id := range ids {
		if err := g.node(id); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads some whole numbers.
func (g *gmsh) numbers(what string, into ...*int64) (err error) {
	for _, v := range into {
		if *v, err = g.int(what, 0); err != nil {
			return err
		}
	}
	return nil
}

// blocks reads the head of the nodes or elements of version 4, and calls block with the size of
// each block.
func (g *gmsh) blocks(what string, bytesEach int64, block func(kind, n int64) error) error {
	blocks, err := g.count("blocks", 8)
	if err != nil {
		return err
	}
	var total, least, most, found int64
	if err := g.numbers("the head of the "+what, &total, &least, &most); err != nil {
		return err
	}
	for range blocks {
		var dim, kind int64
		if _, err := g.int("the dimension of a block", 0); err != nil {
			return err
		}
		if err := g.numbers("the head of a block", &dim, &kind); err != nil {
			return err
		}
		n, err := g.count(what, bytesEach)
		if err != nil {
			return err
		}
		if err := block(kind, n); err != nil {
			return err
		}
		found += n
	}
	if found != total {
		return g.errorf("%d %s in blocks: the section states %d", found, what, total)
	}
	return nil
}

func (g *gmsh) nodes4() error {
	return g.blocks("nodes", 8, func(_, n int64) error {
		for range n {
			id, err := g.int("the number of a node", 0)
			if err == nil {
				err = g.node(id)
			}
			if err != nil {
				return err
			}
		}
		g.newline()
		points, _, err := g.points(n, 3, false) // parameters may follow on a line
		g.c.Points = append(g.c.Points, points...)
		return err
	})
}

// element reads the nodes of an element.
func (g *gmsh) element(kind int64) error {
	k, ok := gmshCells[kind]
	if !ok {
		return g.errorf("an element of type %d: want points, lines, triangles, quadrangles, tetrahedra, hexahedra, prisms "+
			"or pyramids", kind)
	}
	var s []uint32
	for range k.nodes {
		id, err := g.int("a node of an element", 0)
		if err != nil {
			return err
		}
		v, ok := g.ids[id]
		if !ok {
			return g.errorf("an element has a node %d, which is not there", id)
		}
		s = append(s, v)
	}
	if err := g.c.cell(k, s); err != nil {
		return g.errorf("%w", err)
	}
	return nil
}

func (g *gmsh) elements2() error {
	n, err := g.count("elements", 9)
	if err != nil {
		return err
	}
	for range n {
		var id, kind, tags int64
		if err := g.numbers("the head of an element", &id, &kind, &tags); err != nil {
			return err
		}
		for range tags {
			if _, err := g.int("a tag of an element", math.MinInt64); err != nil {
				return err
			}
		}
		if err := g.element(kind); err != nil {
			return err
		}
	}
	return nil
}

func (g *gmsh) elements4() error {
	return g.blocks("elements", 4, func(kind, n int64) error {
		for range n {
			if _, err := g.int("the number of an element", 0); err != nil {
				return err
			}
			if err := g.element(kind); err != nil {
				return err
			}
		}
		return nil
	})
}
