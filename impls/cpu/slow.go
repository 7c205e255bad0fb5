//go:build slow5 || slow20

package cpu

// waste is what again needs of a core.
type waste struct {
	wasted []int64
	row    []int32
}

// again does a share of the rows of slice z once more, in steps spread evenly
// over the image, and throws away what it counts: a slowdown that is planted for
// tests of the gate. c.slices are those around z.
func (w *waste) again(j *job, c *core, z int64) {
	slab, at := j.resident, z
	if slab == nil {
		return // what it would read again may have left the slab
	}
	if w.wasted == nil {
		w.wasted, w.row = make([]int64, j.levels), make([]int32, j.w)
	}
	stride, size := j.w+2, j.h*j.w*j.size
	plane := slab[at*size : (at+1)*size]
	s := &c.slices
	for y := range j.h {
		i := z*j.h + y
		if (i+1)*slowdown/100 == i*slowdown/100 {
			continue
		}
		j.convert.Convert(w.row, plane[y*j.w*j.size:(y+1)*j.w*j.size])
		if j.flat {
			j.row(w.wasted, s[0], s[1], s[2], 0)
			continue
		}
		r := y * stride
		j.voxels(w.wasted, [9][]int32{
			s[0][r:][:stride], s[0][r+stride:][:stride], s[0][r+2*stride:][:stride],
			s[1][r:][:stride], s[1][r+stride:][:stride], s[1][r+2*stride:][:stride],
			s[2][r:][:stride], s[2][r+stride:][:stride], s[2][r+2*stride:][:stride],
		}, 0)
	}
}
