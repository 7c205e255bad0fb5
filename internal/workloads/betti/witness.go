package betti

import (
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/flood"
	"eccbench/internal/workloads/ecc"
)

// A mask is a binary image in memory, one byte per voxel.
type mask struct {
	d, h, w int64
	inside  []bool
}

// maskOf reads the set of an image: the values at or below the threshold, or at or above it.
func maskOf(i *Image, superlevel bool) (*mask, error) {
	s := i.Shape()
	m := &mask{s.D, s.H, s.W, make([]bool, s.Voxels())}
	n, size := s.Slices(), s.SliceVoxels()
	parts := min(n, int64(runtime.GOMAXPROCS(0)))
	err := crew.Try(int(parts), int(parts), func(_, part int) error {
		const step = 1 << 22 // bytes at a time
		each := max(1, step/grid.SliceBytes(i.Source))
		p := int64(part)
		hi := n * (p + 1) / parts
		for lo := n * p / parts; lo < hi; lo += each {
			slab, err := slabOf(i, lo, min(hi, lo+each))
			if err != nil {
				return err
			}
			put(m.inside[lo*size:min(hi, lo+each)*size], i.Type(), slab, i.Threshold, superlevel)
		}
		return nil
	})
	return m, err
}

func put(to []bool, t grid.Type, slab []byte, threshold float32, superlevel bool) {
	switch t {
	case grid.Uint8:
		compare(to, grid.Values[uint8](slab), threshold, superlevel)
	case grid.Int16:
		compare(to, grid.Values[int16](slab), threshold, superlevel)
	case grid.Uint16:
		compare(to, grid.Values[uint16](slab), threshold, superlevel)
	case grid.Float32:
		compare(to, grid.Values[float32](slab), threshold, superlevel)
	}
}

func compare[T grid.Element](to []bool, values []T, t float32, superlevel bool) {
	for i, v := range values {
		if superlevel {
			to[i] = float32(v) >= t
		} else {
			to[i] = float32(v) <= t
		}
	}
}

// ByFlooding returns the Betti numbers of an image in a convention. Flood fill counts components
// and cavities, and in 2D the holes. In 3D the tunnels follow from the Euler characteristic, which
// counts cells by the definition. It uses no disjoint sets.
func ByFlooding(i *Image, c ecc.Convention) (Numbers, error) {
	t, err := flood.Count(i.Source, floodSet(i.Threshold, c))
	if err != nil {
		return Numbers{}, err
	}
	enclosed := t.Rest - 1 // without the outside
	if i.Shape().Dim() == 2 {
		return Numbers{t.Set, enclosed, 0}, nil
	}
	return NewNumbers(t.Set, enclosed, t.Characteristic), nil
}

func floodSet(threshold float32, c ecc.Convention) flood.Set {
	return flood.Set{Threshold: threshold, Superlevel: c.Superlevel, Vertices: c.Vertices, Masked: c.Masked}
}

// Keeping returns an image whose set in a convention is filled while it is read.
func Keeping(in *Image, c ecc.Convention) *Image {
	return in.viewOf(flood.Keeping(in.Source, floodSet(in.Threshold, c)))
}

// floodSlab fills the components of a piece, and of its first and last slice alone.
func floodSlab(p Piece, threads int) (Slab, error) {
	set := floodSet(p.Image.Threshold, ecc.Convention{Vertices: p.Vertices})
	part := flood.Part{Source: p.Image.Source, Set: set, Flat: p.Flat, Ends: p.Ends}
	part.D, part.H, part.W = p.Stack()
	part.OfSet, part.OfRest = NeededComponents(p.Flat, p.Vertices)
	ofSet, ofRest, err := part.Fill(threads)
	return Slab{Components(ofSet), Components(ofRest)}, err
}

// CompareSlab compares a slab with the flood fill of its piece, on the given number of cores. It returns
// the first difference, or nil.
func CompareSlab(p Piece, said Slab, threads int) (*verify.Diff, error) {
	filled, err := floodSlab(p, threads)
	if err != nil {
		return nil, err
	}
	return filled.firstDifference(said, p.Flat, p.Vertices), nil
}
