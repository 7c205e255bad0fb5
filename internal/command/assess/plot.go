package assess

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"eccbench/impls/assess/runs"
	"eccbench/internal/cli"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/workloads/assess"
)

// mostSlices is the greatest number of slices in a drawing.
const mostSlices = 3

// drawSlices draws the slices with the worst errors of the shown labels in the first construction.
func (a assessed) drawSlices(w io.Writer) error {
	set, construction := a.sets[a.shown], a.constructions[0]
	all := runs.Differences(a.pair, []assess.Set{set}, []int{construction}, a.threads)[0]
	list := a.slicesOf(all)
	if len(list) == 0 {
		list = a.slicesByEuler(set, construction)
	}
	panels := make([]report.MaskSlice, len(list))
	for i, s := range list {
		panels[i] = a.maskSlice(set, s)
	}
	title := fmt.Sprintf("%s against %s, label %s, foreground %d-connected: %s", a.predName, a.truth,
		set.Name, assess.Connectivity(construction, a.dims), quantity.Count(len(all), "error"))
	return report.Slices(w, title, "VERIFIED by "+a.answer.Witness+"; "+cli.Version(), panels)
}

// A drawnSlice is a slice and a title for it.
type drawnSlice struct {
	z     int64
	title string
}

// slicesOf chooses slices through the most errors. Each counts only errors that no slice before it
// cuts.
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
		title := fmt.Sprintf("%s, %s", worst.Kind, quantity.Count(worst.Voxels, "voxel"))
		if most > 1 {
			title += fmt.Sprintf("; %d more", most-1)
		}
		list = append(list, drawnSlice{best, title})
		left = slices.DeleteFunc(slices.Clone(left), cut)
	}
	return list
}

// slicesByEuler chooses the slices with the greatest local differences of χ. They show unlisted
// errors, such as tunnels.
func (a assessed) slicesByEuler(set assess.Set, construction int) []drawnSlice {
	sums := make([]float64, a.shape.D)
	for i, v := range assess.LocalEuler(a.pair, set, construction) {
		sums[int64(i)/(a.shape.W*a.shape.H)] += math.Abs(float64(v))
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

// maskSlice returns a slice of both masks of a set.
func (a assessed) maskSlice(set assess.Set, of drawnSlice) report.MaskSlice {
	n := a.shape.W * a.shape.H
	s := report.MaskSlice{Title: of.title, W: int(a.shape.W), Pred: make([]bool, n), Truth: make([]bool, n)}
	if a.dims == 3 {
		s.Title = fmt.Sprintf("z = %d: %s", of.z, of.title)
	}
	for i := range n {
		s.Pred[i], s.Truth[i] = a.pair.Has(set, of.z*n+i)
	}
	return s
}
