package assess

import (
	"sync"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// earlier returns the offsets (z, y, x) of the neighbours that precede a voxel.
func earlier() (list [][3]int) {
	for z := -1; z <= 0; z++ {
		for y := -1; y <= 1; y++ {
			for x := -1; x <= 1; x++ {
				if z < 0 || y < 0 || y == 0 && x < 0 {
					list = append(list, [3]int{z, y, x})
				}
			}
		}
	}
	return list
}

// tables are the tables of introduced by construction, computed once.
var tables = [Constructions]func() []int8{
	sync.OnceValue(func() []int8 { return introduced(T) }),
	sync.OnceValue(func() []int8 { return introduced(V) }),
}

// introduced returns the change of the Euler characteristic when a voxel joins a mask in order. The
// index is a bit mask of the earlier neighbours in the mask.
func introduced(construction int) []int8 {
	before := earlier()
	table := make([]int8, 1<<len(before))
	for pattern := range table {
		has := func(f [3]int) (is, known bool) {
			for i, b := range before {
				if b == f {
					return pattern>>i&1 == 1, true
				}
			}
			return false, false
		}
		for cell := range 27 {
			e := [3]int{cell/9 - 1, cell/3%3 - 1, cell%3 - 1}
			if adds(e, construction, has) {
				sign := int8(1)
				for _, v := range e {
					if (v == 0) == (construction == T) {
						sign = -sign
					}
				}
				table[pattern] += sign
			}
		}
	}
	return table
}

// adds reports whether a voxel adds the cell towards e. In T the voxels between it and e share that
// cell, so none of them may precede it. In V they are the corners of the cell, so all of them must
// precede it and be in the mask.
func adds(e [3]int, construction int, has func([3]int) (is, known bool)) bool {
	for sub := 1; sub < 8; sub++ {
		var f [3]int
		for i := range f {
			f[i] = e[i] * (sub >> i & 1)
		}
		if f == [3]int{} {
			continue
		}
		is, known := has(f)
		if construction == T && is || construction == V && !(known && is) {
			return false
		}
	}
	return true
}

// LocalEuler returns, for each voxel, its change of the Euler characteristic in the prediction
// minus that in the truth. The sum over all voxels is the difference of both characteristics.
func LocalEuler(p *Pair, s Set, construction int) []float32 {
	shape, member := p.Shape(), p.members(s)
	out := make([]float32, shape.Voxels())
	table := tables[construction]()
	for k, f := range p.Fields() {
		sign := float32(1 - 2*k)
		crew.Each(2, func(part int) {
			lo, hi := shape.D*shape.H*int64(part)/2, shape.D*shape.H*int64(part+1)/2
			if f.Type() == grid.Uint8 {
				local(out, f.Data(), shape, member, table, sign, lo, hi)
			} else {
				local(out, grid.Values[uint16](f.Data()), shape, member, table, sign, lo, hi)
			}
		})
	}
	return out
}

// local adds the changes of the rows lo ≤ i < hi. A voxel whose earlier neighbours are
// all in the mask changes nothing.
func local[E uint8 | uint16](out []float32, codes []E, s grid.Shape, member []bool, table []int8, sign float32,
	lo, hi int64) {
	eachUneven(codes, s, lo, hi, func(row, x int64, rows *[ownRow + 1][]E) {
		if !member[rows[ownRow][x+1]] {
			return
		}
		pattern := 0
		for d := range directions {
			if member[rows[d/3][x+int64(d%3)]] {
				pattern |= 1 << d
			}
		}
		out[row*s.W+x] += sign * float32(table[pattern])
	})
}
