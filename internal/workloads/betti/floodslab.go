package betti

import (
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// Unlike is where what is said of a piece differs from what floods it, on so many cores; nil for
// nowhere.
func Unlike(p Piece, said Slab, threads int) (*verify.Diff, error) {
	filled, err := floodSlab(p, threads)
	if err != nil {
		return nil, err
	}
	return filled.unlike(said, p.Flat, p.Vertices), nil
}

// floodSlab fills the components of a piece, and those of its first and last slice alone, on
// so many cores: each fills some slices, and Chain puts them together.
func floodSlab(p Piece, threads int) (Slab, error) {
	d, h, w := p.Stack()
	blocks := max(1, min(int64(threads), d-1))
	slabs := make([]Slab, blocks)
	var wg crew.Group
	for i := range blocks {
		wg.Go(func() {
			lo, hi := (d-1)*i/blocks, (d-1)*(i+1)/blocks+1 // they share a slice
			m := &mask{hi - lo, h, w, make([]bool, (hi-lo)*h*w)}
			size := h * w * p.Image.Type().Size()
			f := p.Image.Source.(*grid.Field) // pieces are in memory
			put(m.inside, f.Type(), f.Data()[lo*size:hi*size], p.Image.Threshold, false)
			slabs[i] = m.slab(p.Vertices, p.Flat, [2]bool{p.Ends[0] && i == 0, p.Ends[1] && i == blocks-1})
		})
	}
	wg.Wait()
	return Chain(slabs)
}

// slab fills both kinds of components.
func (m *mask) slab(vertices, flat bool, ends [2]bool) (s Slab) {
	set, rest := Needs(flat, vertices)
	var wg crew.Group
	if set {
		wg.Go(func() { s.Set = m.components(filling{true, !vertices, [2]bool{false, flat}, ends}) })
	}
	if rest {
		wg.Go(func() { s.Rest = m.components(filling{false, vertices, [2]bool{false, flat}, ends}) })
	}
	wg.Wait()
	return s
}

// components fills those of planes, and tells which come to the first one and to the last one
// where others have it, too.
func (m *mask) components(f filling) (c Components) {
	first, ofFirst := m.planeComponents(f, 0)
	last, ofLast := m.planeComponents(f, m.d-1)
	const unseen = -1
	number := func(list []int32) []int64 { // of the component of each one in the list
		to := make([]int64, len(list))
		for i := range to {
			to[i] = unseen
		}
		return to
	}
	atFirst, atLast := number(first), number(last)
	outside := map[int64]bool{}
	n := m.fillEach(f, func(z, y, x, n int64) {
		if z < 0 || z >= m.d || y < 0 || y >= m.h || x < 0 || x >= m.w {
			outside[n] = true
			return
		}
		if z == 0 {
			if v := ofFirst[y*m.w+x]; v >= 0 {
				atFirst[v] = n
			}
		}
		if z == m.d-1 {
			if v := ofLast[y*m.w+x]; v >= 0 {
				atLast[v] = n
			}
		}
	})
	numbers := map[int64]int32{}
	for o := range outside {
		numbers[o] = outsideNumber
	}
	next := int32(outsideNumber)
	named := func(at []int64) (list []int32) {
		list = make([]int32, len(at))
		for i, n := range at {
			if _, is := numbers[n]; !is {
				next++
				numbers[n] = next
			}
			list[i] = numbers[n]
		}
		return list
	}
	if !f.ends[0] {
		c.First = named(atFirst)
	}
	if !f.ends[1] {
		c.Last = named(atLast)
	}
	c.Inner = n - int64(len(numbers))
	return c
}

// planeComponents fills those of a plane alone: a number for each that is not outside, in the
// order of their first voxels, and the place of each voxel's one in that list, or less than 0.
func (m *mask) planeComponents(f filling, z int64) (list, of []int32) {
	of = make([]int32, m.h*m.w)
	const none = -1
	for i := range of {
		of[i] = none
	}
	plane := &mask{1, m.h, m.w, m.inside[z*m.h*m.w:][:m.h*m.w]}
	f.flat[0] = true
	outside := map[int64]bool{}
	n := plane.fillEach(f, func(_, y, x, n int64) {
		if y < 0 || y >= m.h || x < 0 || x >= m.w {
			outside[n] = true
			return
		}
		of[y*m.w+x] = int32(n)
	})
	places := make([]int32, n)
	for n := range places {
		if places[n] = none; !outside[int64(n)] {
			places[n] = int32(len(list))
			list = append(list, int32(n))
		}
	}
	for i, v := range of {
		if v >= 0 {
			of[i] = places[v]
		}
	}
	return list, of
}
