package runs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"eccbench/internal/workloads/assess"
)

// Differences lists the topological errors of sets of labels in some constructions. It returns one
// list per set and construction, sorted by kind and then by size, the largest first. Components
// correspond if they share voxels. In T a list includes the parts of the prediction that touch the
// rest of their component only at edges or corners.
func Differences(in *assess.Pair, sets []assess.Set, constructions []int, cores int) [][]assess.Difference {
	places, lists := survey(in, cores), make([][]assess.Difference, len(sets)*len(constructions))
	for i, set := range sets {
		f := finderOf(in, set, places)
		if f.box.d == 0 {
			continue
		}
		m := newMasks(f, f.box, cores)
		m.each(union, m.joinRuns, m.joinGaps)
		for k, construction := range constructions {
			lists[i*len(constructions)+k] = m.differences(set.Name, construction)
		}
	}
	return lists
}

// differences lists the errors in a construction.
func (m *masks) differences(label string, construction int) (list []assess.Difference) {
	for side, names := range [][4]string{{"extra component", "extra voxel", "merge", "extra cavity"},
		{"missing component", "missing voxel", "split", "missing cavity"}} {
		if m.flat {
			names[3] = strings.Replace(names[3], "cavity", "hole", 1)
		}
		other := 1 - side
		for _, p := range partsOf(m.parts[side], m.parts[other], construction) {
			switch {
			case p.Meets > 1:
				p.Kind = names[2]
			case p.Meets == 0 && p.Voxels == 1:
				p.Kind = names[1]
			case p.Meets == 0:
				p.Kind = names[0]
			default:
				continue
			}
			list = append(list, p)
		}
		for _, p := range partsOf(m.gaps[side], m.gaps[other], construction) {
			if p.Kind = names[3]; p.Meets == 0 {
				list = append(list, p)
			}
		}
	}
	if construction == assess.T {
		list = append(list, m.contacts()...)
	}
	for i := range list {
		d := &list[i]
		d.Label = label
		for axis, from := range [3]int{0, m.y, m.z} {
			d.Least[axis] += int64(from)
			d.Greatest[axis] += int64(from)
		}
	}
	slices.SortStableFunc(list, func(a, b assess.Difference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Voxels, a.Voxels))
	})
	return list
}

// contacts returns the parts of the prediction that touch the rest of their component only at edges
// or corners. It skips parts that the truth has too.
func (m *masks) contacts() (list []assess.Difference) {
	same := map[assess.Difference]bool{}
	for _, d := range m.loose(truth, pred) {
		same[d] = true
	}
	return slices.DeleteFunc(m.loose(pred, truth), func(d assess.Difference) bool { return same[d] })
}

// loose returns the components of a mask in V, except the largest of each component in T.
func (m *masks) loose(side, other int) (list []assess.Difference) {
	faces, corners := m.parts[side].parent[assess.V], m.parts[side].parent[assess.T]
	all := partsOf(m.parts[side], m.parts[other], assess.V)
	var of []int32 // the component in T of each component in V
	for i, root := range faces[1:] {
		if root == int32(i+1) {
			of = append(of, corners[root])
		}
	}
	largest := map[int32]int{}
	for i, d := range all {
		if k, ok := largest[of[i]]; !ok || d.Voxels > all[k].Voxels {
			largest[of[i]] = i
		}
	}
	for i, d := range all {
		if largest[of[i]] != i {
			d.Kind = "corner contact"
			list = append(list, d)
		}
	}
	return list
}

// partsOf returns the components of one side, ordered by first voxel, each with the number of
// components of the other side that it meets. The trunk is excluded on both sides.
func partsOf(side, other *forest, construction int) (list []assess.Difference) {
	parent, its := side.parent[construction], other.parent[construction]
	index := map[int32]int{}
	side.eachRun(func(node int32, z, y, lo, hi int) {
		root := parent[node]
		if root == 0 {
			return
		}
		k, ok := index[root]
		if !ok {
			k = len(list)
			index[root] = k
			list = append(list, assess.Difference{Least: [3]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}})
		}
		d := &list[k]
		d.Voxels += int64(hi - lo)
		for axis, span := range [3][2]int{{lo, hi - 1}, {y, y}, {z, z}} {
			d.Least[axis] = min(d.Least[axis], int64(span[0]))
			d.Greatest[axis] = max(d.Greatest[axis], int64(span[1]))
		}
	})
	met := map[[2]int32]bool{}
	side.meet(other, func(i, j int32) {
		pair := [2]int32{parent[i], its[j]}
		if pair[0] != 0 && pair[1] != 0 && !met[pair] {
			met[pair] = true
			list[index[pair[0]]].Meets++
		}
	})
	return list
}
