package assess

import (
	"bytes"
	"encoding/binary"
	"math"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// counts are numbers of voxels by pair of codes.
type counts struct {
	codes int
	pairs []int64 // index: first code × codes + second code; nil for many codes
	many  map[[2]uint16]int64
}

func newCounts(codes int) counts {
	c := counts{codes: codes}
	if codes <= mostPaired {
		c.pairs = make([]int64, codes*codes)
	} else {
		c.many = map[[2]uint16]int64{}
	}
	return c
}

// each calls f with each pair of codes that occurs, and its number of voxels.
func (c counts) each(f func(a, b uint16, n int64)) {
	for i, n := range c.pairs {
		if n != 0 {
			f(uint16(i/c.codes), uint16(i%c.codes), n)
		}
	}
	for pair, n := range c.many {
		f(pair[0], pair[1], n)
	}
}

// add counts n voxels of a pair of codes.
func (c counts) add(a, b uint16, n int64) {
	if c.pairs != nil {
		c.pairs[int(a)*c.codes+int(b)] += n
	} else {
		c.many[[2]uint16{a, b}] += n
	}
}

// directions is the number of neighbours of a voxel that come before it.
const directions = 13

// Surfaces estimates the surface areas of both masks of each set, the prediction first; of images with 2 axes their
// perimeters. spacing is the distance of voxels along x, y and z.
//
// The estimate uses Crofton's formula. It counts boundaries along lines in the 13 directions of
// neighbours (4 in 2D). The weight of a direction is the fraction of the sphere nearest to it
// (Ohser and Mücklich 2000).
func Surfaces(p *Pair, axes int, spacing [3]float64) [][2]float64 {
	flat := axes == 2
	weights, factor := crofton(spacing, flat), 4*spacing[0]*spacing[1]*spacing[2]
	if flat {
		factor = math.Pi * spacing[0] * spacing[1]
	}
	setsOf, fields := p.setsOf(), p.Fields()
	out := make([][2]float64, len(p.Sets))
	crew.Each(2, func(side int) {
		f := fields[side]
		var crossed [directions]counts
		for d := range crossed {
			crossed[d] = newCounts(len(p.Labels))
		}
		if f.Type() == grid.Uint8 {
			cross(f.Data(), f.Shape(), &crossed)
		} else {
			cross(grid.Values[uint16](f.Data()), f.Shape(), &crossed)
		}
		for d, c := range crossed {
			crossings := make([]int64, len(p.Sets)) // whole numbers: their sum does not depend on the order of pairs
			c.each(func(a, b uint16, n int64) {
				for _, i := range setsOf[a] {
					if !p.Sets[i].has(b) {
						crossings[i] += n
					}
				}
			})
			for i, n := range crossings {
				out[i][side] += factor * weights[d] * float64(n)
			}
		}
	})
	return out
}

// crofton returns the weights of the directions of earlier, each divided by the distance of voxels
// along it.
func crofton(spacing [3]float64, flat bool) (weights [directions]float64) {
	var unit [directions][3]float64 // x, y, z
	var length [directions]float64
	for i, e := range earlier() {
		if flat && e[0] != 0 {
			continue
		}
		for axis := range unit[i] {
			unit[i][axis] = float64(e[2-axis]) * spacing[axis]
			length[i] = math.Hypot(length[i], unit[i][axis])
		}
		for axis := range unit[i] {
			unit[i][axis] /= length[i]
		}
	}
	const points = 1 << 15 // of a spiral on the upper half of the sphere
	for k := range points {
		z := (float64(k) + 0.5) / points
		angle := float64(k) * math.Pi * (3 - math.Sqrt(5))
		if flat {
			z, angle = 0, z*math.Pi
		}
		r := math.Sqrt(1 - z*z)
		at, nearest, most := [3]float64{r * math.Cos(angle), r * math.Sin(angle), z}, 0, -1.0
		for i, u := range unit {
			if cos := math.Abs(at[0]*u[0] + at[1]*u[1] + at[2]*u[2]); cos > most {
				nearest, most = i, cos
			}
		}
		weights[nearest] += 1 / (points * length[nearest])
	}
	return weights
}

// cross counts, in each direction, the voxels by their code and a different code of their
// neighbour. The outside of the image is background.
func cross[E uint8 | uint16](codes []E, s grid.Shape, crossed *[directions]counts) {
	eachUneven(codes, s, 0, s.D*s.H, func(_, x int64, rows *[ownRow + 1][]E) {
		a := rows[ownRow][x+1]
		for d := 0; d < directions; d++ { // in the order of earlier
			if b := rows[d/3][x+int64(d%3)]; a != b {
				crossed[d].add(uint16(a), uint16(b), 1)
			}
		}
	})
}

// ownRow is the index of the row of a voxel, after the four rows of its earlier neighbours.
const ownRow = 4

// eachUneven calls f with the labelled voxels of rows lo ≤ i < hi that have an earlier neighbour of
// another code, and with some others. The first code of the given rows belongs to the voxel before
// the row.
func eachUneven[E uint8 | uint16](codes []E, s grid.Shape, lo, hi int64, f func(row, x int64, rows *[ownRow + 1][]E)) {
	size := grid.TypeOf[E]().Size()
	lanes := word / size
	var rows [ownRow + 1][]E // background at both ends
	var data [len(rows)][]byte
	for i := range rows {
		rows[i] = make([]E, s.W+2+2*lanes)
		data[i] = grid.Bytes(rows[i])
	}
	none := make([]byte, s.W*size)
	for row := lo; row < hi; row++ {
		if bytes.Equal(grid.Bytes(codes[row*s.W:][:s.W]), none) {
			continue
		}
		z, y := row/s.H, row%s.H
		for i, by := range [len(rows)][2]int64{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 0}} {
			if r, c := z+by[0], y+by[1]; r >= 0 && c >= 0 && c < s.H {
				copy(rows[i][1:], codes[(r*s.H+c)*s.W:][:s.W])
			} else {
				clear(rows[i])
			}
		}
		for x := int64(0); x < s.W; x += lanes {
			for x%step == 0 && x+step < s.W && isUniform(&rows, x) {
				x += step
			}
			load := func(row int, by int64) uint64 { return binary.LittleEndian.Uint64(data[row][(x+by)*size:]) }
			v := load(ownRow, 1)
			if v == 0 {
				continue
			}
			differs := v ^ load(ownRow, 0)
			for i := range ownRow {
				differs |= (v ^ load(i, 0)) | (v ^ load(i, 1)) | (v ^ load(i, 2))
			}
			for at := x; differs != 0 && at < x+lanes; at++ {
				if rows[ownRow][at+1] != 0 {
					f(row, at, &rows)
				}
			}
		}
	}
}

// isUniform reports whether some voxels from x on are background, or have equal codes as all of
// their neighbours.
func isUniform[E uint8 | uint16](rows *[ownRow + 1][]E, x int64) bool {
	own := rows[ownRow][x:][:step+2]
	if !allEqual(own[1 : step+1]) {
		return false
	}
	if own[1] == 0 {
		return true
	}
	for _, row := range rows {
		if !bytes.Equal(grid.Bytes(row[x:][:step+2]), grid.Bytes(own)) {
			return false
		}
	}
	return own[0] == own[1] && own[step+1] == own[1]
}
