package betti

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/flood"
)

// A Slab describes the components of some slices of a binary image. Slabs of neighbours, which
// share a slice, can be joined.
type Slab struct{ Set, Rest Components }

// Components are the components of a slab's set or of its complement. Both slabs with a shared slice
// have the same list of its components. Both lists of a slab with one slice are equal.
type Components flood.Components

const outsideNumber = flood.Outside

// A Piece is a range of slices of an image.
type Piece struct {
	Image    *Image
	Vertices bool    // in the V-construction
	Flat     bool    // of a 2D image
	Ends     [2]bool // the image begins with the first slice, ends with the last one
}

// Stack returns the piece's size in planes, rows and voxels. The planes of a 2D image have one row.
func (p Piece) Stack() (d, h, w int64) {
	s := p.Image.Shape()
	if p.Flat {
		return s.H, 1, s.W
	}
	return s.D, s.H, s.W
}

// A Slabber is an implementation that can answer for slabs.
type Slabber interface {
	// Slab returns the components of a slab's sublevel set that its numbers need.
	Slab(in Piece, threads int) (Slab, error)
}

// NeededComponents returns which components determine the numbers of an image. In 3D the set and
// the complement are needed. In 2D only the set is needed, or only the complement if voxels are
// vertices. The rest follows from the Euler characteristic.
func NeededComponents(flat, vertices bool) (set, rest bool) {
	return !flat || !vertices, !flat || vertices
}

// Count returns the number of components, including the outside.
func (c Components) Count() int64 {
	most := int32(outsideNumber)
	for _, list := range [][]int32{c.First, c.Last} {
		for _, v := range list {
			most = max(most, v)
		}
	}
	return c.Inner + int64(most)
}

// NumbersOf returns the numbers of an image that is one slab, from its Euler characteristic.
func NumbersOf(s Slab, flat, vertices bool, chi int64) Numbers {
	set, rest := s.Set.Count(), s.Rest.Count()
	switch {
	case !flat:
		return NewNumbers(set, rest, chi)
	case vertices:
		return Numbers{B0: rest + chi, B1: rest}
	}
	return Numbers{B0: set, B1: set - chi}
}

// errShared means that two slabs belong to different images.
var errShared = errors.New("two slabs have different components in the slice that they share")

func errMany(n int64) error {
	return fmt.Errorf("%d components touch the slices that slabs share: at most %d; use more shards", n, math.MaxInt32)
}

// Join joins two slabs. The second begins with the last slice of the first.
func Join(a, b Slab) (s Slab, err error) {
	if s.Set, err = join(a.Set, b.Set); err == nil {
		s.Rest, err = join(a.Rest, b.Rest)
	}
	return s, err
}

// join unites the components of the slice that two slabs share.
func join(a, b Components) (Components, error) {
	if len(a.Last) != len(b.First) {
		return Components{}, errShared
	}
	n := int64(1) + a.Count() - a.Inner + b.Count() - b.Inner
	if n > math.MaxInt32 {
		return Components{}, errMany(n)
	}
	of := int32(a.Count() - a.Inner) // the numbers of b follow the numbers of a
	parent := make([]int32, n)
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	second := func(v int32) int32 {
		if v == outsideNumber {
			return v
		}
		return of + v
	}
	classes := n - 1 // without the outside
	for i, v := range a.Last {
		p, q := find(v), find(second(b.First[i]))
		if p != q {
			parent[max(p, q)] = min(p, q)
			classes--
		}
	}
	// The numbers of the remaining components. Negative entries replace parents that are no longer
	// needed.
	joined := Components{Inner: a.Inner + b.Inner + classes}
	numbers := make([]int32, n)
	next := int32(outsideNumber)
	list := func(from []int32, node func(int32) int32) (to []int32) {
		if from == nil {
			return nil
		}
		to = make([]int32, len(from))
		for i, v := range from {
			root := find(node(v))
			if root != outsideNumber && numbers[root] == 0 {
				next++
				numbers[root] = next
				joined.Inner--
			}
			to[i] = numbers[root]
		}
		return to
	}
	joined.First = list(a.First, func(v int32) int32 { return v })
	joined.Last = list(b.Last, second)
	return joined, nil
}

// Chain joins several slabs; each begins with the last slice of the previous one. It is independent
// of Join: components that share one of a slice are neighbours, and are filled from neighbour to
// neighbour.
func Chain(slabs []Slab) (s Slab, err error) {
	of := func(get func(Slab) Components) (list []Components) {
		for _, slab := range slabs {
			list = append(list, get(slab))
		}
		return list
	}
	if s.Set, err = chain(of(func(s Slab) Components { return s.Set })); err == nil {
		s.Rest, err = chain(of(func(s Slab) Components { return s.Rest }))
	}
	return s, err
}

func chain(list []Components) (s Components, err error) {
	if len(list) == 0 {
		return s, nil
	}
	for i, c := range list[1:] {
		if len(list[i].Last) != len(c.First) {
			return s, errShared
		}
	}
	n, node := chainedNodes(list)
	if n > math.MaxInt32 {
		return s, errMany(n)
	}
	links := flood.NewLinks(n, func(link func(from, to int64)) {
		for i, c := range list[1:] {
			for k, v := range c.First {
				a, b := node(i, list[i].Last[k]), node(i+1, v)
				link(a, b)
				link(b, a)
			}
		}
	})
	filled := slices.Repeat([]int32{empty}, int(n))
	fill := func(from int64, number int32) {
		replaceEmpty(filled, from, number)
		links.Fill(from, func(node int64) bool { return replaceEmpty(filled, node, number) })
	}
	fill(outsideNumber, outsideNumber)
	next := int32(outsideNumber)
	numbered := func(slab int, from []int32) (to []int32) {
		if from == nil {
			return nil
		}
		to = make([]int32, len(from))
		for i, v := range from {
			p := node(slab, v)
			if filled[p] == empty {
				next++
				fill(p, next)
			}
			to[i] = filled[p]
		}
		return to
	}
	s.First = numbered(0, list[0].First)
	s.Last = numbered(len(list)-1, list[len(list)-1].Last)
	for _, c := range list {
		s.Inner += c.Inner
	}
	for p, number := range filled {
		if number == empty {
			s.Inner++
			fill(int64(p), innerNumber)
		}
	}
	return s, nil
}

// empty is the number of nodes that are not filled yet; innerNumber marks components that reach no end
// of a chain.
const empty, innerNumber = -1, -2

// replaceEmpty sets the number of a node that has none, and reports whether it had none.
func replaceEmpty(filled []int32, node int64, number int32) bool {
	if filled[node] != empty {
		return false
	}
	filled[node] = number
	return true
}

// chainedNodes returns the number of nodes of a chain, which are the outside and the components of each
// slab in order, and a function for the node of a slab's component.
func chainedNodes(list []Components) (n int64, node func(slab int, number int32) int64) {
	before := make([]int64, len(list))
	n = 1
	for i, c := range list {
		before[i] = n - 1
		n += c.Count() - c.Inner
	}
	return n, func(slab int, number int32) int64 {
		if number == outsideNumber {
			return outsideNumber
		}
		return before[slab] + int64(number)
	}
}

// firstDifference returns the first disagreement of two slabs in the needed components, or nil.
func (s Slab) firstDifference(t Slab, flat, vertices bool) *verify.Diff {
	set, rest := NeededComponents(flat, vertices)
	if set {
		if d := s.Set.firstDifference(t.Set, "set"); d != nil {
			return d
		}
	}
	if rest {
		return s.Rest.firstDifference(t.Rest, "rest")
	}
	return nil
}

func (c Components) firstDifference(d Components, of string) *verify.Diff {
	if c.Inner != d.Inner {
		return &verify.Diff{Where: "components of the " + of + " that come to no shared slice", Want: fmt.Sprint(c.Inner),
			Got: fmt.Sprint(d.Inner)}
	}
	for _, slice := range []struct {
		name      string
		want, got []int32
	}{{"first", c.First, d.First}, {"last", c.Last, d.Last}} {
		if len(slice.want) != len(slice.got) {
			return &verify.Diff{Where: fmt.Sprintf("components of the %s in the %s slice", of, slice.name),
				Want: fmt.Sprint(len(slice.want)), Got: fmt.Sprint(len(slice.got))}
		}
		for i, v := range slice.want {
			if v != slice.got[i] {
				return &verify.Diff{Where: fmt.Sprintf("component of the %s in the %s slice, %d of %d", of, slice.name,
					i+1, len(slice.want)), Want: fmt.Sprint(v), Got: fmt.Sprint(slice.got[i])}
			}
		}
	}
	return nil
}

// EncodeSlabs encodes each slab by AppendBinary.
func EncodeSlabs(slabs []Slab) (list [][]byte, err error) {
	for _, s := range slabs {
		b, err := s.AppendBinary(nil)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// DecodeSlabs decodes the output of EncodeSlabs, and rejects anything else.
func DecodeSlabs(list [][]byte) ([]Slab, error) {
	slabs := make([]Slab, len(list))
	for k, b := range list {
		if err := slabs[k].UnmarshalBinary(b); err != nil {
			return nil, err
		}
	}
	return slabs, nil
}

// AppendBinary encodes a slab as varints. For the set and the complement it writes the number of
// inner components. For each shared slice it writes the length of the list plus 1, or 0 for none.
// Each number is written as its distance below the next unused number.
func (s Slab) AppendBinary(b []byte) ([]byte, error) {
	for _, c := range []Components{s.Set, s.Rest} {
		b = binary.AppendUvarint(b, uint64(c.Inner))
		next := int32(outsideNumber + 1)
		for _, list := range [][]int32{c.First, c.Last} {
			if list == nil {
				b = append(b, 0)
				continue
			}
			b = binary.AppendUvarint(b, uint64(len(list))+1)
			for _, v := range list {
				b = binary.AppendUvarint(b, uint64(next-v))
				if v == next {
					next++
				}
			}
		}
	}
	return b, nil
}

// UnmarshalBinary decodes the output of AppendBinary, and rejects anything else.
func (s *Slab) UnmarshalBinary(b []byte) error {
	malformed := errors.New("malformed components")
	number := func() (uint64, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, false
		}
		b = b[n:]
		return v, true
	}
	*s = Slab{}
	for _, c := range []*Components{&s.Set, &s.Rest} {
		inner, ok := number()
		if !ok || inner > math.MaxInt64 {
			return malformed
		}
		c.Inner = int64(inner)
		next := uint64(outsideNumber + 1)
		for _, list := range []*[]int32{&c.First, &c.Last} {
			n, ok := number()
			if !ok || n > uint64(len(b))+1 { // each takes at least a byte
				return malformed
			}
			if n == 0 {
				continue
			}
			*list = make([]int32, n-1)
			for i := range *list {
				below, ok := number()
				if !ok || below > next || next > math.MaxInt32 {
					return malformed
				}
				(*list)[i] = int32(next - below)
				if below == 0 {
					next++
				}
			}
		}
	}
	if len(b) > 0 {
		return malformed
	}
	return nil
}
