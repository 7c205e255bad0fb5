//go:build slow5 || slow20

package cpu

// waste is the extra state of a core for a planted slowdown.
type waste struct {
	wasted []int64
	row    []int32
}

// repeat counts a share of the rows of slice z a second time and discards the result. It is a
// planted slowdown that tests the gate. The rows are spread evenly over the image. c.slices are the
// slices around z.
func (w *waste) repeat(j *job, c *core, z int64) {
	slab, at := j.resident, z
	if slab == nil {
		return // the slab may no longer contain the slice
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
