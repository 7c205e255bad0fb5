package cpu

import "sync/atomic"

// A voxel v precedes a neighbour u if v < u, or if v = u and v has the lower row-major position. In
// terms of signs, v − u is negative for an earlier neighbour, and v − 1 − u for a later one. The
// sign of a conjunction is the sign of the bitwise and. Levels are at least 0, so no difference
// overflows, and the border is above every level.

// plane adds the cells that the voxels of a slice of a 3D image introduce. The slices have a border
// of one voxel. earlier is 0; a test of the tie rule passes 1, which is subtracted in comparisons
// with earlier neighbours. A nil table means the shared one.
func (j *job) plane(changes []int64, before, at, after []int32, earlier int32) {
	stride := j.w + 2
	for y := range j.h {
		r := y * stride
		j.voxels(changes, [9][]int32{
			before[r:][:stride], before[r+stride:][:stride], before[r+2*stride:][:stride],
			at[r:][:stride], at[r+stride:][:stride], at[r+2*stride:][:stride],
			after[r:][:stride], after[r+stride:][:stride], after[r+2*stride:][:stride],
		}, earlier)
	}
}

// voxels adds the cells of one row of voxels, given the 3 × 3 rows around it: minus the cube, plus
// the squares, minus the edges, plus the vertices that the voxel introduces.
func (j *job) voxels(changes []int64, rows [9][]int32, earlier int32) {
	c1 := rows[4]
	a0, a1, a2 := rows[0][:len(c1)], rows[1][:len(c1)], rows[2][:len(c1)]
	c0, c2 := rows[3][:len(c1)], rows[5][:len(c1)]
	b0, b1, b2 := rows[6][:len(c1)], rows[7][:len(c1)], rows[8][:len(c1)]
	for x := 0; x+2 < len(c1); x++ {
		v := c1[x+1]
		e := v - earlier // for earlier neighbours
		l := v - 1       // for later neighbours

		// squares: one face neighbour each
		za, zb := e-a1[x+1], l-b1[x+1]
		ya, yb := e-c0[x+1], l-c2[x+1]
		xa, xb := e-c1[x], l-c1[x+2]
		squares := uint32(za)>>31 + uint32(zb)>>31 + uint32(ya)>>31 + uint32(yb)>>31 + uint32(xa)>>31 + uint32(xb)>>31

		// edges: two face neighbours, and the voxel diagonally between them
		zaya, zayb := za&ya&(e-a0[x+1]), za&yb&(e-a2[x+1])
		zbya, zbyb := zb&ya&(l-b0[x+1]), zb&yb&(l-b2[x+1])
		zaxa, zaxb := za&xa&(e-a1[x]), za&xb&(e-a1[x+2])
		zbxa, zbxb := zb&xa&(l-b1[x]), zb&xb&(l-b1[x+2])
		yaxa, yaxb := ya&xa&(e-c0[x]), ya&xb&(e-c0[x+2])
		ybxa, ybxb := yb&xa&(l-c2[x]), yb&xb&(l-c2[x+2])
		edges := uint32(zaya)>>31 + uint32(zayb)>>31 + uint32(zbya)>>31 + uint32(zbyb)>>31 +
			uint32(zaxa)>>31 + uint32(zaxb)>>31 + uint32(zbxa)>>31 + uint32(zbxb)>>31 +
			uint32(yaxa)>>31 + uint32(yaxb)>>31 + uint32(ybxa)>>31 + uint32(ybxb)>>31

		// vertices: the three edges that meet there, and the voxel at the corner
		vertices := uint32(zaya&zaxa&yaxa&(e-a0[x]))>>31 + uint32(zaya&zaxb&yaxb&(e-a0[x+2]))>>31 +
			uint32(zayb&zaxa&ybxa&(e-a2[x]))>>31 + uint32(zayb&zaxb&ybxb&(e-a2[x+2]))>>31 +
			uint32(zbya&zbxa&yaxa&(l-b0[x]))>>31 + uint32(zbya&zbxb&yaxb&(l-b0[x+2]))>>31 +
			uint32(zbyb&zbxa&ybxa&(l-b2[x]))>>31 + uint32(zbyb&zbxb&ybxb&(l-b2[x+2]))>>31

		change := int64(squares) - int64(edges) + int64(vertices) - 1
		if changes != nil {
			changes[v] += change
		} else if change != 0 {
			atomic.AddInt64(&j.total[v], change)
		}
	}
}

// row adds the cells that the pixels of a row of a 2D image introduce: plus the square, minus the
// edges, plus the vertices. The rows have a border of one pixel.
func (j *job) row(changes []int64, before, at, after []int32, earlier int32) {
	before, after = before[:len(at)], after[:len(at)]
	for x := 0; x+2 < len(at); x++ {
		v := at[x+1]
		e, l := v-earlier, v-1
		ya, yb := e-before[x+1], l-after[x+1]
		xa, xb := e-at[x], l-at[x+2]
		edges := uint32(ya)>>31 + uint32(yb)>>31 + uint32(xa)>>31 + uint32(xb)>>31
		vertices := uint32(ya&xa&(e-before[x]))>>31 + uint32(ya&xb&(e-before[x+2]))>>31 +
			uint32(yb&xa&(l-after[x]))>>31 + uint32(yb&xb&(l-after[x+2]))>>31
		change := 1 - int64(edges) + int64(vertices)
		if changes != nil {
			changes[v] += change
		} else if change != 0 {
			atomic.AddInt64(&j.total[v], change)
		}
	}
}
