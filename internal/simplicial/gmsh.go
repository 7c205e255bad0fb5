package simplicial

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// corners are how many nodes the types of elements of Gmsh have, and how many of them, the
// first, are corners: points, lines, triangles and tetrahedra of the first, second and third
// order.
var corners = map[int64]struct{ nodes, corners int }{
	15: {1, 1}, 1: {2, 2}, 8: {3, 2}, 26: {4, 2}, 2: {3, 3}, 9: {6, 3}, 21: {10, 3}, 4: {4, 4}, 11: {10, 4}, 29: {20, 4},
}

// A gmsh is a file of Gmsh while it is read.
type gmsh struct {
	*words
	c   *Complex
	ids map[int64]uint32
}

// readGmsh reads the meshes of Gmsh, versions 2 and 4.1, as text.
func readGmsh(data []byte) (*Complex, error) {
	g := &gmsh{words: &words{data: data}, c: &Complex{}, ids: map[int64]uint32{}}
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
		case section == "$Nodes" || section == "$Elements":
			if version == "" {
				return nil, errors.New("the file has no $MeshFormat before its nodes and elements")
			}
			if section == "$Elements" && !nodes {
				return nil, errors.New("$Elements come before $Nodes")
			}
			read := map[string]func() error{"$Nodes2": g.nodes2, "$Nodes4": g.nodes4, "$Elements2": g.elements2, "$Elements4": g.elements4}[section+version[:1]]
			if err := read(); err != nil {
				return nil, err
			}
			nodes, elements = true, elements || section == "$Elements"
			if end := g.next(); end != "$End"+section[1:] {
				return nil, g.errorf("%.40q: want $End%s", end, section[1:])
			}
		case strings.HasPrefix(section, "$End"): // of the head
		case strings.HasPrefix(section, "$"):
			for word := section; word != "$End"+section[1:]; word = g.next() {
				if word == "" {
					return nil, fmt.Errorf("%.40q does not end", section)
				}
			}
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

// blocks reads the head of nodes or elements of version 4, and how many there are in each block.
func (g *gmsh) blocks(what string, bytesEach int64, block func(kind, n int64) error) error {
	blocks, err := g.count("blocks", 8)
	if err != nil {
		return err
	}
	var total, least, most int64
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
	k, ok := corners[kind]
	if !ok {
		return g.errorf("an element of type %d: want points, lines, triangles or tetrahedra", kind)
	}
	var s []uint32
	for i := range k.nodes {
		id, err := g.int("a node of an element", 0)
		if err != nil {
			return err
		}
		v, ok := g.ids[id]
		if !ok {
			return g.errorf("an element has a node %d, which is not there", id)
		}
		if i < k.corners {
			s = append(s, v)
		}
	}
	g.c.Add(s...)
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
