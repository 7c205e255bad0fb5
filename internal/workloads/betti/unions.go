package betti

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// An ordered image is its voxels in the order of their levels. It keeps a level and a place a
// voxel, and a parent while voxels are joined.
type ordered struct {
	image   grid.Source
	d, h, w int64
	levels  []uint32
	order   []int32
}

// WitnessBytes is what a voxel of curves takes to be joined in order: a level, a place and the
// parents of both graphs.
const WitnessBytes = 16

var errTooMany = errors.New("unions of all voxels are for fewer than 2³¹ of them")

func orderOf(s grid.Source) (*ordered, error) {
	n := s.Shape().Voxels()
	if n >= math.MaxInt32 {
		return nil, errTooMany
	}
	o := &ordered{image: s, d: s.Shape().D, h: s.Shape().H, w: s.Shape().W, levels: make([]uint32, n), order: make([]int32, n)}
	if err := o.read(s); err != nil {
		return nil, err
	}
	for i := range o.order {
		o.order[i] = int32(i)
	}
	most := slices.Max(o.levels)
	other := make([]int32, n)
	for shift := uint(0); shift < 32 && most>>shift > 0; shift += 16 {
		var first [1<<16 + 1]int32
		for _, k := range o.levels {
			first[k>>shift&0xffff+1]++
		}
		for i := range len(first) - 1 {
			first[i+1] += first[i]
		}
		for _, v := range o.order {
			digit := o.levels[v] >> shift & 0xffff
			other[first[digit]] = v
			first[digit]++
		}
		o.order, other = other, o.order
	}
	return o, nil
}

// read reads the levels of all voxels.
func (o *ordered) read(s grid.Source) error {
	size := s.Type().Size()
	if !s.Ladder().Indexed() {
		return grid.EachSlab(s, func(slab []byte, lo, _ int64) error {
			to := o.levels[lo*grid.SliceBytes(s)/size:]
			for i, v := range grid.Values[float32](slab) {
				to[i] = grid.EveryLevel(v)
			}
			return nil
		})
	}
	convert := grid.NewConverter(s.Type(), s.Ladder())
	var levels []int32
	return grid.EachSlab(s, func(slab []byte, lo, _ int64) error {
		n := int64(len(slab)) / size
		levels = slices.Grow(levels[:0], int(n))[:n]
		convert.Convert(levels, slab)
		to := o.levels[lo*grid.SliceBytes(s)/size:]
		for i, k := range levels {
			to[i] = uint32(k)
		}
		return nil
	})
}

// LevelsOf lists the levels of an image that its voxels are on, in order.
func LevelsOf(s grid.Source) ([]int64, error) {
	o := &ordered{levels: make([]uint32, s.Shape().Voxels())}
	if err := o.read(s); err != nil {
		return nil, err
	}
	slices.Sort(o.levels)
	var list []int64
	for _, k := range slices.Compact(o.levels) {
		if int64(k) < s.Ladder().Len() { // others are above all
			list = append(list, int64(k))
		}
	}
	return list, nil
}

// components are the changes in the number of components where voxels come level by level,
// from the first to the last or the other way: neighbours at faces, or at edges and corners
// too, in 2D those in the plane. Where there is an outside it comes before all, and voxels at
// the sides of the box touch it.
func (o *ordered) components(descending, corners, outside bool) (ecc.VCEC, error) {
	const absent = -1
	parent := make([]int32, len(o.levels)+1)
	for i := range parent {
		parent[i] = absent
	}
	find := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	beyond := int32(len(o.levels))
	if outside {
		parent[beyond] = beyond
	}
	type step struct {
		z, y, x int64
		by      int32
	}
	var near []step
	for dz := int64(-1); dz <= 1; dz++ {
		for dy := int64(-1); dy <= 1; dy++ {
			for dx := int64(-1); dx <= 1; dx++ {
				if steps := dz*dz + dy*dy + dx*dx; (steps == 1 || steps > 1 && corners) && (dz == 0 || o.d > 1) {
					near = append(near, step{dz, dy, dx, int32((dz*o.h+dy)*o.w + dx)})
				}
			}
		}
	}
	changes := ecc.VCEC{}
	for i, v := range o.order {
		if i%(1<<20) == 0 {
			if err := grid.Ended(o.image); err != nil {
				return nil, err
			}
		}
		if descending {
			v = o.order[len(o.order)-1-i]
		}
		level := int64(o.levels[v])
		change, root := int64(1), v
		parent[v] = v
		join := func(to int32) {
			if parent[to] == absent {
				return
			}
			if other := find(to); other != root {
				parent[root], root = other, other
				change--
			}
		}
		z, y, x := int64(v)/(o.h*o.w), int64(v)/o.w%o.h, int64(v)%o.w
		if y > 0 && y < o.h-1 && x > 0 && x < o.w-1 && (o.d == 1 || z > 0 && z < o.d-1) {
			for _, s := range near {
				join(v + s.by)
			}
		} else {
			for _, s := range near {
				to := beyond
				if c, b, a := z+s.z, y+s.y, x+s.x; c >= 0 && c < o.d && b >= 0 && b < o.h && a >= 0 && a < o.w {
					to = v + s.by
				}
				join(to)
			}
		}
		if n := len(changes); n > 0 && changes[n-1].Level == level {
			changes[n-1].Change += change
		} else {
			changes = append(changes, ecc.Step{Level: level, Change: change})
		}
	}
	if descending {
		slices.Reverse(changes)
	}
	return slices.DeleteFunc(changes, func(s ecc.Step) bool { return s.Change == 0 }), nil
}

// byUnions are the changes of b0 of an image's sets in a convention, and those of the
// cavities of a 3D image or the holes of a 2D one: every voxel is joined with its neighbours
// in the order of the levels, and for the rest in the reverse order. It looks for no minima
// and for no saddles.
func byUnions(s grid.Source, c ecc.Convention) (b0, rest ecc.VCEC, err error) {
	o, err := orderOf(s)
	if err != nil {
		return nil, nil, fmt.Errorf("%v: %w", s.Shape(), err)
	}
	var wg crew.Group
	var errs [2]error
	wg.Go(func() { b0, errs[0] = o.components(c.Superlevel, !c.Vertices, false) })
	wg.Go(func() { rest, errs[1] = o.components(!c.Superlevel, c.Vertices, true) })
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, nil, err
	}
	for i := range rest { // what comes to the set at a level goes from the rest
		rest[i].Change *= -1
	}
	levels := s.Ladder().Len()
	above := func(s ecc.Step) bool { return s.Level >= levels } // in no set
	return slices.DeleteFunc(b0, above), slices.DeleteFunc(rest, above), nil
}
