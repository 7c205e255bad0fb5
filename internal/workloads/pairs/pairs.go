// Package pairs defines a question: the persistence pairs of an image, over the field of two elements.
//
// The sets of an image (sublevel, or superlevel) grow by one voxel at a time, in the order of their values, then of
// their indices. A pair is a class of homology that a voxel begins and a later voxel ends (Edelsbrunner, Letscher and
// Zomorodian 2002).
package pairs

import "cmp"

// Name is the name of the workload.
const Name = "pairs"

// Never is the death of a class that no voxel ends.
const Never = -1

// A Pair is a class of homology of a dimension (0, 1, 2): a component, a tunnel, a cavity. Birth and Death are the
// indices of the voxels that begin and end it, x fastest. Their levels differ.
type Pair struct {
	Dim          int
	Birth, Death int64
}

// Compare orders pairs by dimension, birth and death.
func (p Pair) Compare(q Pair) int {
	return cmp.Or(cmp.Compare(p.Dim, q.Dim), cmp.Compare(p.Birth, q.Birth), cmp.Compare(p.Death, q.Death))
}

// An Answer is the pairs of an image in order, and for a 3D image the chains that prove those of dimension 1.
type Answer struct {
	Pairs  []Pair
	Chains *Chains
}

// Chains are a reduction of the boundaries of squares (homology), or of the coboundaries of edges (Dual, cohomology),
// on the box of the image's V filtration (of the dual image for construction T; doc/proofs/pairs.md). Words has a
// column after the other: the cell, the number of added columns and their indices in this list, the number of added
// cells and these, the number of cells of the reduced chain, the pivot first, and these. A cell is 3·corner + axis:
// its lowest corner on the box and the axis of an edge, or the normal of a square (0 is the fastest axis).
type Chains struct {
	Dual  bool
	Words []uint32
}
