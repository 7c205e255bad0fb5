// Package chains finds the persistence pairs of an image with the help of the chains of an answer, which it trusts in
// nothing: it is the witness of package pairs.
//
// Components and parts of the complement have pairs by two forests. Pairs of dimension 1 in 3D come from a log of a
// reduction, whose steps are confirmed by a random hash. The proof is in doc/proofs/pairs.md.
package chains

import (
	"iter"
	"slices"
	"time"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// A Pair is a pair of an image: Pair of package pairs. Never is -1.
type Pair struct {
	Dim          int
	Birth, Death int64
}

// Pairs are the pairs of an image.
type Pairs struct {
	box   *box
	found found
}

// Confirm returns the pairs of an image without periodic axes, or the first fault of a log, which must be nil for a 2D
// image. It draws the key of the hash.
func Confirm(in grid.Source, superlevel, vertices bool, log *Log, threads int) (*Pairs, *verify.Diff, error) {
	b, err := newBox(in, superlevel, vertices)
	if err != nil {
		return nil, nil, err
	}
	if is := log != nil; is != (b.n == 3) {
		d := &verify.Diff{Where: "chains", Want: "chains of a 3D image", Got: "none"}
		if is {
			d.Want, d.Got = "no chains of a 2D image", "chains"
		}
		return nil, d, nil
	}
	f := growForests(b, threads)
	if log != nil {
		if d := (&reduction{forests: f, Log: log}).examine(threads); d != nil {
			return nil, d, nil
		}
	}
	p := &Pairs{b, f.found}
	if !b.dual {
		p.found.addEssential(b)
	}
	crew.Each(len(p.found), func(i int) { slices.Sort(p.found[i]) })
	return p, nil, nil
}

// addEssential adds the component of the first vertex, which never ends.
func (f *found) addEssential(b *box) {
	least := ^uint64(0)
	for p, k := range b.key {
		if k != outside {
			least = min(least, b.rank(p))
		}
	}
	if p := int(uint32(least)); b.key[p] != b.absent() {
		f[0] = append(f[0], uint64(b.voxel(p))<<32)
	}
}

// All yields the pairs in order.
func (p *Pairs) All() iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for dim, list := range p.found {
			for _, pair := range list {
				if !yield(Pair{dim, int64(pair >> 32), int64(uint32(pair)) - 1}) {
					return
				}
			}
		}
	}
}

// Len returns the number of pairs.
func (p *Pairs) Len() int { return len(p.found[0]) + len(p.found[1]) + len(p.found[2]) }

// Voxel formats the coordinates and the value of a voxel.
func (p *Pairs) Voxel(i int64) string { return p.box.describe(i) }

// Work estimates the time of Confirm for noise on one core. Smooth images need a fifth.
func Work(s grid.Source) time.Duration {
	return time.Duration(s.Shape().Voxels()) * 800 * time.Nanosecond
}

// Memory is an upper bound of the memory of Confirm: 21 bytes per place of the box and its margin, and lists of
// vertices, pairs and columns.
func Memory(s grid.Source) int64 {
	shape := s.Shape()
	places := (shape.W + 4) * (shape.H + 4)
	if shape.Dim() == 3 {
		places *= shape.D + 4
	}
	return grid.SlabBytes(s) + 21*places + 64*shape.Voxels() + 1<<20
}
