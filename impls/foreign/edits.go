package foreign

import (
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/grid"
)

// edits are small changes of an image before a call, and the changes of the answer by level. So
// every call is about a new image: neither an earlier answer nor a look at some voxels is enough.
type edits []edit

type edit struct {
	at, size   int64   // of the voxel, in bytes
	was, value [4]byte // there
	voxel      [3]int64
	now        float32
	changes    [28]change // of the answer: one for each value around the voxel, and the new one
	count      int        // of the changes
}

type change struct{ level, by int64 }

// apply makes the changes.
func (e edits) apply(image []byte) {
	for k := range e {
		d := &e[k]
		copy(image[d.at:], d.value[:d.size])
	}
}

// undo reverts the changes.
func (e edits) undo(image []byte) {
	for k := range e {
		d := &e[k]
		copy(image[d.at:], d.was[:d.size])
	}
}

// takeOff subtracts the changes of the answer, once.
func (e edits) takeOff(answer [][]byte) {
	for k := range e {
		for _, c := range e[k].changes[:e[k].count] {
			grid.Values[int64](answer[0])[c.level] -= c.by
		}
		e[k].count = 0
	}
}

// mostEdits is the number of changes before a call, mostTries the number of draws for one of them.
const mostEdits, mostTries = 8, 64

// planEdits draws voxels of an image that get the values of others. It counts the changes of the
// Euler characteristic curve by the definition, in the 3³ neighbourhood of each. It returns earlier edits overwritten.
func planEdits(s grid.Source, data []byte, vertices bool, earlier edits) edits {
	img := &edited{shape: s.Shape(), typ: s.Type(), ladder: s.Ladder(), data: data, vertices: vertices,
		plan: slices.Grow(earlier[:0], mostEdits)}
	n := img.shape.Voxels()
	for range mostTries {
		at, from := rand.Int64N(n), rand.Int64N(n)
		if len(img.plan) == mostEdits {
			break
		}
		if !img.has(at) && img.ladder.Level(img.value(at)) != img.ladder.Level(img.value(from)) {
			img.edit(at, from)
		}
	}
	return img.plan
}

// An edited image has the values of other voxels at some voxels.
type edited struct {
	shape    grid.Shape
	typ      grid.Type
	ladder   grid.Ladder
	data     []byte
	vertices bool // voxels are vertices, not closed cubes
	plan     edits
}

// has reports whether a voxel has an edit.
func (e *edited) has(voxel int64) bool {
	for k := range e.plan {
		if e.plan[k].at == voxel*e.plan[k].size {
			return true
		}
	}
	return false
}

// value returns the value of a voxel of the image without edits.
func (e *edited) value(i int64) float32 {
	switch e.typ {
	case grid.Uint8:
		return float32(e.data[i])
	case grid.Int16:
		return float32(grid.Values[int16](e.data)[i])
	case grid.Uint16:
		return float32(grid.Values[uint16](e.data)[i])
	}
	return grid.Values[float32](e.data)[i]
}

// A cell at a voxel, if voxels are vertices. As closed cubes, the same voxels have a cell of 3 − dim dimensions in
// common.
type cell struct {
	corner int   // the vertex opposite the voxel: its number in the 3³ neighbourhood
	within []int // the corners of the cells at the voxel that it contains, of one dimension less
	sign   int64 // in χ
}

var cells = cellsAround()

// cellsAround returns the cells by dimension.
func cellsAround() []cell {
	var byDim [4][]cell
	for c := range 27 {
		this, dim := cell{corner: c, sign: 1}, 0
		for _, step := range [3]int{9, 3, 1} {
			if d := c/step%3 - 1; d != 0 {
				this.within, this.sign = append(this.within, c-d*step), -this.sign
				dim++
			}
		}
		byDim[dim] = append(byDim[dim], this)
	}
	return slices.Concat(byDim[:]...)
}

// edit adds the edit of a voxel that gets the value of another one, with the changes. A cell of closed cubes is at the
// lowest value around it, and one of vertices at the highest; it may be outside.
func (e *edited) edit(at, from int64) {
	size := e.typ.Size()
	z, y, x := e.shape.Coordinates(at)
	e.plan = append(e.plan, edit{at: at * size, size: size, voxel: [3]int64{z, y, x}, now: e.value(from)})
	d := &e.plan[len(e.plan)-1]
	copy(d.was[:size], e.data[at*size:])
	copy(d.value[:size], e.data[from*size:])
	near, factor := e.around(z, y, x), float32(1)
	if e.vertices { // the highest value is the lowest one of their negatives
		factor = -1
	}
	for c := range near {
		near[c] *= factor
	}
	was, now, none := near[13], d.now*factor, float32(math.Inf(1))
	near[13] = none // then near has the lowest value of each cell, without that of the voxel
	var values [len(d.changes)]float32
	add := func(v float32, by int64) {
		k := 0
		for k < d.count && values[k] != v {
			k++
		}
		values[k], d.changes[k].by, d.count = v, d.changes[k].by+by, max(d.count, k+1)
	}
	for k := range cells {
		c := &cells[k]
		lowest := near[c.corner]
		for _, i := range c.within {
			lowest = min(lowest, near[i])
		}
		near[c.corner] = lowest
		if before, after := min(was, lowest), min(now, lowest); before != after {
			sign := -c.sign * int64(factor)
			add(before, -sign)
			add(after, sign)
		}
	}
	n := 0
	for k, v := range values[:d.count] {
		if level := e.ladder.Level(v * factor); level < e.ladder.Len() {
			d.changes[n] = change{level, d.changes[k].by}
			n++
		}
	}
	d.count = n
}

// around returns the values in the 3³ neighbourhood of a voxel with the edits before, +Inf outside.
func (e *edited) around(z, y, x int64) (near [27]float32) {
	shape := e.shape
	for c := range int64(27) {
		z, y, x := z+c/9-1, y+c/3%3-1, x+c%3-1
		near[c] = float32(math.Inf(1))
		if uint64(z) < uint64(shape.D) && uint64(y) < uint64(shape.H) && uint64(x) < uint64(shape.W) {
			near[c] = e.value((z*shape.H+y)*shape.W + x)
		}
	}
	for k := range e.plan[:len(e.plan)-1] {
		d := &e.plan[k]
		z, y, x := d.voxel[0]-z+1, d.voxel[1]-y+1, d.voxel[2]-x+1
		if uint64(z) < 3 && uint64(y) < 3 && uint64(x) < 3 {
			near[9*z+3*y+x] = d.now
		}
	}
	return near
}
