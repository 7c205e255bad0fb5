package arrays

import (
	"math"

	"eccbench/datasets/files/format"
)

// niftiGeometryOf returns the geometry in the header of a file.
func niftiGeometryOf(in format.Input) (*format.Geometry, error) {
	header, _, err := niftiPair(in)
	if err != nil {
		return nil, err
	}
	head, _, err := niftiHead(header)
	if err != nil || !matchesNifti(head) {
		return nil, err
	}
	return niftiGeometry(head), nil
}

// niftiGeometry returns the geometry of a header: its sform, else its qform, else its spacing.
func niftiGeometry(head []byte) *format.Geometry {
	order, size := niftiOrder(head)
	single := func(at int) float64 { return float64(math.Float32frombits(order.Uint32(head[at:]))) }
	pixdim, quaternion, offset, row, step := 76, 256, 268, 280, 4
	qform, sform, unit := order.Uint16(head[252:]), order.Uint16(head[254:]), head[123]
	axes := uint64(order.Uint16(head[40:]))
	if size == nifti2HeaderSize {
		if len(head) < nifti2HeaderSize {
			return nil
		}
		single = func(at int) float64 { return math.Float64frombits(order.Uint64(head[at:])) }
		pixdim, quaternion, offset, row, step = 104, 352, 376, 400, 8
		qform, sform = uint16(order.Uint32(head[344:])), uint16(order.Uint32(head[348:]))
		axes = order.Uint64(head[16:])
		unit = byte(order.Uint32(head[500:]))
	}
	g := &format.Geometry{Flat: axes == 2}
	var spacing [4]float64
	for i := range spacing {
		spacing[i] = single(pixdim + step*i)
	}
	switch {
	case sform > 0:
		for r := range 3 {
			for c := range 4 {
				g.Affine[r][c] = single(row + step*(4*r+c))
			}
		}
	case qform > 0:
		b, c, d := single(quaternion), single(quaternion+step), single(quaternion+2*step)
		a := math.Sqrt(max(0, 1-b*b-c*c-d*d))
		turn := [3][3]float64{
			{a*a + b*b - c*c - d*d, 2 * (b*c - a*d), 2 * (b*d + a*c)},
			{2 * (b*c + a*d), a*a + c*c - b*b - d*d, 2 * (c*d - a*b)},
			{2 * (b*d - a*c), 2 * (c*d + a*b), a*a + d*d - b*b - c*c},
		}
		if spacing[0] < 0 { // the handedness
			spacing[3] = -spacing[3]
		}
		for r := range 3 {
			for c := range 3 {
				g.Affine[r][c] = turn[r][c] * spacing[c+1]
			}
			g.Affine[r][3] = single(offset + step*r)
		}
	default:
		g.Unplaced = true
		for r := range 3 {
			g.Affine[r][r] = spacing[r+1]
		}
	}
	niftiScale(g, unit)
	return g.Valid()
}

// niftiScale converts lengths in the unit of a NIfTI header to millimetres.
func niftiScale(g *format.Geometry, unit byte) {
	millimetres := 1.0
	switch unit & 7 { // the other bits are the unit of time
	case 1: // metres
		millimetres = 1e3
	case 3: // micrometres
		millimetres = 1e-3
	}
	for r := range g.Affine {
		for c := range g.Affine[r] {
			g.Affine[r][c] *= millimetres
		}
	}
}
