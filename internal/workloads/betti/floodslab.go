package betti

import (
	"cmp"

	"eccbench/internal/crew"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// Unlike compares a slab with the flood fill of its piece, on the given number of cores. It returns
// the first difference, or nil.
func Unlike(p Piece, said Slab, threads int) (*verify.Diff, error) {
	filled, err := floodSlab(p, threads)
	if err != nil {
		return nil, err
	}
	return filled.firstDifference(said, p.Flat, p.Vertices), nil
}

// floodSlab fills the components of a piece, and of its first and last slice alone.
func floodSlab(p Piece, threads int) (Slab, error) { return floodPlanes(p, 0, mainWords, threads) }

// floodPlanes does the same in slabs of the given number of planes, or of a suitable number for 0.
// Components of at most few words are small.
func floodPlanes(p Piece, planes int64, few, threads int) (s Slab, err error) {
	piece := &flood{
		in: p.Image, planes: planes, few: few, convention: ecc.Convention{Vertices: p.Vertices}, flat: p.Flat,
		ends: p.Ends, keeps: [2]bool{!p.Ends[0], !p.Ends[1]}, cores: int64(max(1, threads)),
	}
	piece.d, piece.h, piece.w = p.Stack()
	set, rest := NeededComponents(p.Flat, p.Vertices)
	piece.omits = [kinds]bool{!set, !rest}
	if err := piece.fill(); err != nil {
		return s, err
	}
	var errs [kinds]error
	var wg crew.Group
	if set {
		wg.Go(func() { s.Set, errs[ofSet] = piece.components(ofSet) })
	}
	if rest {
		wg.Go(func() { s.Rest, errs[ofRest] = piece.components(ofRest) })
	}
	wg.Wait()
	return s, cmp.Or(errs[:]...)
}

// components returns the components of a kind in a filled piece. It identifies them by the
// components of the first and last plane alone.
func (f *flood) components(kind int) (c Components, err error) {
	slabs := f.slabs
	same := shared(kind)
	last := &slabs[len(slabs)-1].of[kind]
	nodes := int64(same)
	for k := range slabs {
		nodes += int64(slabs[k].of[kind].nodes - same)
	}
	// of holds the component of each node; numbers has the components that reach the planes.
	of := make([]int64, nodes)
	n := countComponents(slabs, kind, func(node, component int64) { of[node] = component })
	numbers := map[int64]int32{}
	if kind == ofRest {
		numbers[of[0]] = outsideNumber
	}
	next := int32(outsideNumber)
	list := func(z int64, main int32, b *border, node func(number int32) int64) ([]int32, error) {
		listed := []int32{}
		alone, n, err := f.planeComponentsOf(z, kind)
		if err != nil {
			return nil, err
		}
		seen := make([]bool, n+1)
		for number := range same + 1 {
			seen[number] = true
		}
		plane := b.labels(main, f.h, f.w, f.words)
		for i, own := range alone {
			if seen[own] {
				continue
			}
			seen[own] = true
			component := of[node(plane[i])]
			if _, is := numbers[component]; !is {
				next++
				numbers[component] = next
			}
			listed = append(listed, numbers[component])
		}
		return listed, nil
	}
	if f.keeps[0] {
		if c.First, err = list(0, slabs[0].of[kind].main, slabs[0].of[kind].first, func(number int32) int64 { return int64(number - 1) }); err != nil {
			return c, err
		}
	}
	if f.keeps[1] {
		before := nodes - int64(last.nodes-same)
		if c.Last, err = list(f.d-1, last.main, last.last, func(number int32) int64 {
			if number <= same {
				return int64(number - 1)
			}
			return before + int64(number-1-same)
		}); err != nil {
			return c, err
		}
	}
	c.Inner = n - int64(len(numbers))
	return c, nil
}

// planeComponentsOf numbers the components of a kind in a plane alone. It returns the number of
// each voxel, 0 for voxels of the other kind, and the greatest number.
func (f *flood) planeComponentsOf(z int64, kind int) (of []int32, most int32, err error) {
	plane := &flood{
		in: f.in, convention: f.convention, flat: f.flat, keeps: [2]bool{true, false}, omits: [kinds]bool{true, true},
		cores: 1, d: 1, h: f.h, w: f.w, skip: f.skip + z, planes: 1, few: f.few,
	}
	plane.omits[kind] = false
	if err := plane.fill(); err != nil {
		return nil, 0, err
	}
	c := &plane.slabs[0].of[kind]
	return c.first.labels(c.main, f.h, f.w, f.words), c.nodes, nil
}
