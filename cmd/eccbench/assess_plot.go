package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"eccbench/impls/assess/runs"
	"eccbench/internal/report"
	"eccbench/internal/workloads/assess"
)

// mostSlices is how many slices are drawn.
const mostSlices = 3

// drawSlices draws the slices with the worst errors of a set in a construction.
func (a assessed) drawSlices(w io.Writer, set assess.Set, construction int) error {
	all := runs.Differences(a.pair, set, construction, runtime.GOMAXPROCS(0))
	list := a.slicesOf(all)
	if len(list) == 0 {
		list = a.slicesByEuler(set, construction)
	}
	panels := make([]report.MaskSlice, len(list))
	for i, s := range list {
		panels[i] = a.maskSlice(set, s.z)
		if panels[i].Title = s.title; a.dims == 3 {
			panels[i].Title = fmt.Sprintf("z = %d: %s", s.z, s.title)
		}
	}
	title := fmt.Sprintf("%s against %s, label %s, foreground %d-connected: %d %s", a.predName, a.truth,
		set.Name, assess.Connectivity(construction, a.dims), len(all), counted(int64(len(all)), "error"))
	return report.Slices(w, title, "VERIFIED by "+a.answer.Witness+"; "+version(), panels)
}

// A drawnSlice is a slice and a title for it.
type drawnSlice struct {
	z     int64
	title string
}

// slicesOf chooses slices through the most errors. Each counts only errors that no slice before it cuts.
func (a assessed) slicesOf(left []assess.Difference) (list []drawnSlice) {
	for len(list) < mostSlices && len(left) > 0 {
		ends := make([]int, a.shape.D+1)
		for _, d := range left {
			ends[d.Least[2]]++
			ends[d.Greatest[2]+1]--
		}
		best, most, open := int64(0), 0, 0
		for z, change := range ends {
			if open += change; open > most {
				best, most = int64(z), open
			}
		}
		cut := func(d assess.Difference) bool { return d.Least[2] <= best && best <= d.Greatest[2] }
		worst := assess.Difference{}
		for _, d := range left {
			if cut(d) && d.Voxels > worst.Voxels {
				worst = d
			}
		}
		title := fmt.Sprintf("%s, %d %s", worst.Kind, worst.Voxels, counted(worst.Voxels, "voxel"))
		if most > 1 {
			title += fmt.Sprintf("; %d more", most-1)
		}
		list = append(list, drawnSlice{best, title})
		left = slices.DeleteFunc(slices.Clone(left), cut)
	}
	return list
}

// slicesByEuler are the slices with the greatest local differences of χ, where no error is listed, such as of tunnels.
func (a assessed) slicesByEuler(set assess.Set, construction int) []drawnSlice {
	sums := make([]float64, a.shape.D)
	for i, v := range assess.LocalEuler(a.pair, set, construction) {
		sums[int64(i)/a.shape.SliceVoxels()] += math.Abs(float64(v))
	}
	order := make([]int64, a.shape.D)
	for z := range order {
		order[z] = int64(z)
	}
	slices.SortStableFunc(order, func(i, j int64) int { return cmp.Compare(sums[j], sums[i]) })
	var list []drawnSlice
	for _, z := range order[:min(len(order), mostSlices)] {
		list = append(list, drawnSlice{z, fmt.Sprintf("sum of local |χ difference|: %.0f", sums[z])})
	}
	return list
}

// maskSlice is a slice of both masks of a set.
func (a assessed) maskSlice(set assess.Set, z int64) report.MaskSlice {
	n := a.shape.H * a.shape.W
	s := report.MaskSlice{W: int(a.shape.W), Pred: make([]bool, n), Truth: make([]bool, n)}
	for i := range n {
		s.Pred[i], s.Truth[i] = a.pair.Has(set, z*n+i)
	}
	return s
}
