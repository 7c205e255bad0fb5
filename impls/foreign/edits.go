package foreign

import (
	"math/rand/v2"
	"slices"

	"eccbench/internal/grid"
)

// edits are small changes of an image before a call, and the changes of the answer by level. So
// every call is about a new image: neither an earlier answer nor a look at some voxels is enough.
type edits []edit

type edit struct {
	at         int64           // byte of the image
	was, value []byte          // there
	changes    map[int64]int64 // of the answer, by level
}

// apply makes the changes.
func (e edits) apply(image []byte) {
	for _, d := range e {
		copy(image[d.at:], d.value)
	}
}

// undo reverts the changes.
func (e edits) undo(image []byte) {
	for _, d := range e {
		copy(image[d.at:], d.was)
	}
}

// takeOff subtracts the changes of the answer, once.
func (e edits) takeOff(answer [][]byte) {
	for k, d := range e {
		for level, change := range d.changes {
			grid.Values[int64](answer[0])[level] -= change
		}
		e[k].changes = nil
	}
}

// mostEdits is the number of changes before a call, mostTries the number of draws for one of them.
const mostEdits, mostTries = 8, 64

// planEdits draws voxels of an image that get the values of others. It counts the changes of the
// Euler characteristic curve by the definition, in the 3³ neighbourhood of each.
func planEdits(s grid.Source, data []byte, vertices bool) (plan edits) {
	n, size := s.Shape().Voxels(), s.Type().Size()
	img := edited{s: s, data: data, vertices: vertices, now: map[int64]int64{}}
	for range mostTries {
		at, from := rand.Int64N(n), rand.Int64N(n)
		if len(plan) == mostEdits {
			break
		}
		if _, again := img.now[at]; again || img.before(at) == img.before(from) {
			continue
		}
		changes := map[int64]int64{}
		img.count(at, -1, changes)
		img.now[at] = from
		img.count(at, 1, changes)
		value := func(i int64) []byte { return slices.Clone(data[i*size : (i+1)*size]) }
		plan = append(plan, edit{at * size, value(at), value(from), changes})
	}
	return plan
}

// An edited image has the values of other voxels at some voxels.
type edited struct {
	s        grid.Source
	data     []byte
	vertices bool            // voxels are vertices, not closed cubes
	now      map[int64]int64 // the voxel whose value another one has
}

// level returns the level of a voxel.
func (e edited) level(i int64) int64 {
	if from, ok := e.now[i]; ok {
		i = from
	}
	return e.before(i)
}

// before returns the level of a voxel of the image without edits.
func (e edited) before(i int64) int64 {
	var v float32
	switch e.s.Type() {
	case grid.Uint8:
		v = float32(e.data[i])
	case grid.Int16:
		v = float32(grid.Values[int16](e.data)[i])
	case grid.Uint16:
		v = float32(grid.Values[uint16](e.data)[i])
	case grid.Float32:
		v = grid.Values[float32](e.data)[i]
	}
	return e.s.Ladder().Level(v)
}

// count adds the cells that a voxel is part of to the changes, times a factor.
func (e edited) count(at, times int64, changes map[int64]int64) {
	shape := e.s.Shape()
	z, y, x := shape.Coordinates(at)
	var near [27]int64 // the levels around the voxel, −1 outside
	for c := range int64(27) {
		z, y, x := z+c/9-1, y+c/3%3-1, x+c%3-1
		near[c] = -1
		if z >= 0 && z < shape.D && y >= 0 && y < shape.H && x >= 0 && x < shape.W {
			near[c] = e.level((z*shape.H+y)*shape.W + x)
		}
	}
	for c := range 27 {
		level, dim, ok := e.cell(&near, [3]int{c/9 - 1, c/3%3 - 1, c%3 - 1})
		if !ok {
			continue
		}
		if dim%2 != 0 {
			changes[level] -= times
		} else {
			changes[level] += times
		}
	}
}

// cell returns the level and the dimension of the cell on one side of a voxel. For closed cubes it
// is the cube, or its face, edge or vertex in that direction, at the lowest level around it. For
// vertices it spans the voxel and its neighbours in that direction, at the highest level; it may be
// outside.
func (e edited) cell(near *[27]int64, side [3]int) (level int64, dim int, ok bool) {
	level = -1
	for corner := range 8 {
		at, part := 13, true
		for axis, d := range side {
			if corner>>axis&1 == 1 {
				at += d * [3]int{9, 3, 1}[axis]
				part = part && d != 0
			}
		}
		if !part {
			continue
		}
		l := near[at]
		if l < 0 {
			if e.vertices {
				return 0, 0, false
			}
			continue
		}
		if level < 0 || e.vertices && l > level || !e.vertices && l < level {
			level = l
		}
	}
	for _, d := range side {
		if (d != 0) == e.vertices {
			dim++
		}
	}
	return level, dim, level < e.s.Ladder().Len()
}
