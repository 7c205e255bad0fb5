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
	img := &edited{shape: s.Shape(), typ: s.Type(), ladder: s.Ladder(), data: data, vertices: vertices,
		now: map[int64]int64{}}
	n, size := img.shape.Voxels(), img.typ.Size()
	for range mostTries {
		at, from := rand.Int64N(n), rand.Int64N(n)
		if len(plan) == mostEdits {
			break
		}
		if _, again := img.now[at]; again || img.before(at) == img.before(from) {
			continue
		}
		changes := map[int64]int64{}
		img.count(at, from, changes)
		img.now[at] = from
		value := func(i int64) []byte { return slices.Clone(data[i*size : (i+1)*size]) }
		plan = append(plan, edit{at * size, value(at), value(from), changes})
	}
	return plan
}

// An edited image has the values of other voxels at some voxels.
type edited struct {
	shape    grid.Shape
	typ      grid.Type
	ladder   grid.Ladder
	data     []byte
	vertices bool            // voxels are vertices, not closed cubes
	now      map[int64]int64 // the voxel whose value another one has
}

// level returns the level of a voxel.
func (e *edited) level(i int64) int64 {
	if from, ok := e.now[i]; ok {
		i = from
	}
	return e.before(i)
}

// before returns the level of a voxel of the image without edits.
func (e *edited) before(i int64) int64 {
	var v float32
	switch e.typ {
	case grid.Uint8:
		v = float32(e.data[i])
	case grid.Int16:
		v = float32(grid.Values[int16](e.data)[i])
	case grid.Uint16:
		v = float32(grid.Values[uint16](e.data)[i])
	case grid.Float32:
		v = grid.Values[float32](e.data)[i]
	}
	return e.ladder.Level(v)
}

// A cell at a voxel: the others of its voxels in the 3³ neighbourhood, and its sign in χ if voxels are vertices. As
// closed cubes, the same voxels have a cell of 3 − dim dimensions in common.
type cell struct {
	others []int
	sign   int64
}

var cells = cellsAround()

func cellsAround() (all [27]cell) {
	for c := range all {
		reached := []int{13}
		all[c].sign = 1
		for _, step := range [3]int{9, 3, 1} {
			if d := c/step%3 - 1; d != 0 {
				for _, at := range slices.Clone(reached) {
					reached = append(reached, at+d*step)
				}
				all[c].sign *= -1
			}
		}
		all[c].others = reached[1:]
	}
	return all
}

// count adds the changes by a voxel that gets the level of another one. A cell of closed cubes is at the lowest level
// around it, and one of vertices at the highest; it may be outside.
func (e *edited) count(at, from int64, changes map[int64]int64) {
	shape, levels := e.shape, e.ladder.Len()
	z, y, x := shape.Coordinates(at)
	var near [27]int64 // the levels around the voxel, −1 outside
	for c := range int64(27) {
		z, y, x := z+c/9-1, y+c/3%3-1, x+c%3-1
		near[c] = -1
		if z >= 0 && z < shape.D && y >= 0 && y < shape.H && x >= 0 && x < shape.W {
			near[c] = e.level((z*shape.H+y)*shape.W + x)
		}
	}
	now := e.before(from)
next:
	for _, c := range &cells {
		was, is := near[13], now
		for _, i := range c.others {
			switch l := near[i]; {
			case l < 0 && e.vertices:
				continue next
			case e.vertices:
				was, is = max(was, l), max(is, l)
			case l >= 0:
				was, is = min(was, l), min(is, l)
			}
		}
		sign := c.sign
		if !e.vertices {
			sign = -sign
		}
		if was != is && was < levels {
			changes[was] -= sign
		}
		if was != is && is < levels {
			changes[is] += sign
		}
	}
}
