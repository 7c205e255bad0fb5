package flood

import (
	"cmp"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// A Part is a range of planes of an image.
type Part struct {
	grid.Source
	Set           Set
	D, H, W       int64   // planes, rows, voxels
	Flat          bool    // the planes are the rows of a 2D image
	Ends          [2]bool // the image begins with the first plane, ends with the last one
	OfSet, OfRest bool    // the needed components
}

// Components are the components of a part's set or of its complement. In the complement, everything
// that reaches a side of the image is one component with the outside.
//
// A plane shared with another part is described by the components of this plane alone, in the order
// of their first voxels. Components of the complement that reach a side of the plane belong to the
// outside and are not listed.
type Components struct {
	Inner int64 // components that reach no shared plane and are not outside
	// First and Last map each component of the first plane and of the last plane to a component of
	// the part. Outside is one; others are numbered from 1 in the order of the lists. A list is nil at
	// an end of the image.
	First, Last []int32
}

// Outside is the number of the component outside the image.
const Outside = 0

// Fill fills the needed components of a part, and of its first and last plane alone, on the given
// number of cores.
func (p Part) Fill(threads int) (set, rest Components, err error) {
	return p.fill(0, mainWords, threads)
}

// fill does the same in slabs of the given number of planes, or of a suitable number for 0.
// Components of at most few words are small.
func (p Part) fill(planes int64, few, threads int) (set, rest Components, err error) {
	piece := &flood{
		in: p.Source, set: p.Set, planes: planes, few: few, flat: p.Flat, ends: p.Ends,
		keeps: [2]bool{!p.Ends[0], !p.Ends[1]}, omits: [kinds]bool{!p.OfSet, !p.OfRest},
		cores: int64(max(1, threads)), d: p.D, h: p.H, w: p.W,
	}
	if err := piece.fill(); err != nil {
		return set, rest, err
	}
	var errs [kinds]error
	var wg crew.Group
	if p.OfSet {
		wg.Go(func() { set, errs[ofSet] = piece.components(ofSet) })
	}
	if p.OfRest {
		wg.Go(func() { rest, errs[ofRest] = piece.components(ofRest) })
	}
	wg.Wait()
	return set, rest, cmp.Or(errs[:]...)
}

// components returns the components of a kind in a filled piece. It identifies them by the
// components of the first and last plane alone.
func (f *flood) components(kind int) (c Components, err error) {
	slabs := f.slabs
	same := shared(kind)
	first, last := &slabs[0].of[kind], &slabs[len(slabs)-1].of[kind]
	nodes := int64(same)
	for k := range slabs {
		nodes += int64(slabs[k].of[kind].nodes - same)
	}
	// of holds the component of each node; numbers has the components that reach the planes.
	of := make([]int64, nodes)
	n := countComponents(slabs, kind, func(node, component int64) { of[node] = component })
	numbers := map[int64]int32{}
	if kind == ofRest {
		numbers[of[0]] = Outside
	}
	if f.keeps[0] {
		plane := first.first.labels(first.main, f.h, f.w, f.words)
		if c.First, err = f.list(0, kind, plane, numbers, func(number int32) int64 { return of[number-1] }); err != nil {
			return c, err
		}
	}
	if f.keeps[1] {
		before := nodes - int64(last.nodes-same)
		plane := last.last.labels(last.main, f.h, f.w, f.words)
		if c.Last, err = f.list(f.d-1, kind, plane, numbers, func(number int32) int64 {
			if number <= same {
				return of[number-1]
			}
			return of[before+int64(number-1-same)]
		}); err != nil {
			return c, err
		}
	}
	c.Inner = n - int64(len(numbers))
	return c, nil
}

// list returns the number of the component of each component of a plane alone. New ones get the next
// number.
func (f *flood) list(z int64, kind int, plane []int32, numbers map[int64]int32,
	component func(number int32) int64) ([]int32, error) {
	listed, same := []int32{}, shared(kind)
	alone, n, err := f.planeComponentsOf(z, kind)
	if err != nil {
		return nil, err
	}
	seen := make([]bool, n+1)
	for number := range same + 1 {
		seen[number] = true
	}
	for i, own := range alone {
		if seen[own] {
			continue
		}
		seen[own] = true
		c := component(plane[i])
		if _, is := numbers[c]; !is {
			numbers[c] = int32(len(numbers)) - same + 1 // Outside is not counted
		}
		listed = append(listed, numbers[c])
	}
	return listed, nil
}

// planeComponentsOf numbers the components of a kind in a plane alone. It returns the number of
// each voxel, 0 for voxels of the other kind, and the greatest number.
func (f *flood) planeComponentsOf(z int64, kind int) (of []int32, most int32, err error) {
	plane := &flood{
		in: f.in, set: f.set, flat: f.flat, keeps: [2]bool{true, false}, omits: [kinds]bool{true, true},
		cores: 1, d: 1, h: f.h, w: f.w, skip: f.skip + z, planes: 1, few: f.few,
	}
	plane.omits[kind] = false
	if err := plane.fill(); err != nil {
		return nil, 0, err
	}
	c := &plane.slabs[0].of[kind]
	return c.first.labels(c.main, f.h, f.w, f.words), c.nodes, nil
}
