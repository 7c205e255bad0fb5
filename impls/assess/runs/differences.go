package runs

import (
	"cmp"
	"slices"

	"eccbench/internal/workloads/assess"
)

// Differences lists the topological errors of a set of labels in a construction, the largest first of
// each kind. Components correspond where they have voxels in common.
func Differences(in *assess.Pair, set assess.Set, construction, cores int) (list []assess.Difference) {
	b := emptyBox
	boxes := boxesOf(in, cores)
	for _, c := range set.Codes {
		b = b.bounds(boxes[c])
	}
	if b == emptyBox {
		return nil
	}
	m := newMasks(in, set, b, cores)
	for side, names := range [][3]string{{"extra component", "merge", "extra cavity"},
		{"missing component", "split", "missing cavity"}} {
		if m.flat {
			names[2] = names[2][:len(names[2])-len("cavity")] + "hole"
		}
		other := 1 - side
		parts := m.partsOf(m.set, side, other, m.parts[side][construction].parent,
			m.parts[other][construction].parent)
		for _, p := range parts {
			if p.Kind = names[0]; p.Meets > 1 {
				p.Kind = names[1]
			}
			if p.Meets != 1 {
				list = append(list, p)
			}
		}
		for _, p := range m.partsOf(m.rest, side, other, m.gaps[side][construction].parent,
			m.gaps[other][construction].parent) {
			if p.Kind = names[2]; p.Meets == 0 {
				list = append(list, p)
			}
		}
	}
	for i := range list {
		d := &list[i]
		d.Label = set.Name
		for axis := range d.Least {
			d.Least[axis] += b.lo[2-axis]
			d.Greatest[axis] += b.lo[2-axis]
		}
	}
	slices.SortStableFunc(list, func(a, b assess.Difference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Voxels, a.Voxels))
	})
	return list
}

// partsOf are the components of one side in order of their first voxel, without the outside, and how many
// of the other's, without its outside, each meets.
func (m *masks) partsOf(all [bitmaps]runs, side, other int, parent, its []int32) []assess.Difference {
	var list []assess.Difference
	index := map[int32]int{}
	mine, h := all[side], m.bits[side].h
	for row := range len(mine.start) - 1 {
		for i := mine.start[row]; i < mine.start[row+1]; i++ {
			root, r := parent[i+1], mine.list[i]
			if root == 0 {
				continue
			}
			k, ok := index[root]
			if !ok {
				k = len(list)
				index[root] = k
				list = append(list, assess.Difference{Least: [3]int64{far, far, far}})
			}
			d := &list[k]
			d.Voxels += int64(r.hi - r.lo)
			for axis, span := range [3][2]int{{int(r.lo), int(r.hi) - 1}, {row % h, row % h}, {row / h, row / h}} {
				d.Least[axis] = min(d.Least[axis], int64(span[0]))
				d.Greatest[axis] = max(d.Greatest[axis], int64(span[1]))
			}
		}
	}
	met := map[[2]int32]bool{}
	mine.meet(all[other], func(i, j int32) {
		pair := [2]int32{parent[i], its[j]}
		if pair[0] != 0 && pair[1] != 0 && !met[pair] {
			met[pair] = true
			list[index[pair[0]]].Meets++
		}
	})
	return list
}
