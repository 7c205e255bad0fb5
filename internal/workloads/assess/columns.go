package assess

import (
	"fmt"
	"math"
)

// Columns are the names of the numbers that Values returns, in its order.
//
// The error of a number is the absolute difference. A matching error is the number of unmatched
// features of both masks, with bounds where the exact number is unknown.
func Columns() []string {
	list := []string{"pred_voxels", "truth_voxels", "common_voxels", "dice", "iou", "volume_error"}
	for _, n := range []string{"chi", "b0", "b1", "b2"} {
		list = append(list, n+"_pred", n+"_truth", n+"_error")
	}
	for k := range 3 {
		list = append(list, fmt.Sprintf("matched%d_min", k), fmt.Sprintf("matched%d_max", k),
			fmt.Sprintf("matching_error%d_min", k), fmt.Sprintf("matching_error%d_max", k))
	}
	return list
}

// Values returns the numbers of a comparison in a construction, for images of dims dimensions. All
// are whole except the ratios of voxels, which are NaN or infinite where they are undefined.
func (c Comparison) Values(construction, dims int) []float64 {
	t := c.In[construction]
	list := []float64{float64(c.Pred), float64(c.Truth), float64(c.Both), c.Dice(), c.IoU(), c.VolumeError()}
	pred, truth := numbers(t.Pred), numbers(t.Truth)
	add := func(p, t int64) {
		list = append(list, float64(p), float64(t), math.Abs(float64(p-t)))
	}
	add(t.Pred.Euler(), t.Truth.Euler())
	for k := range pred {
		add(pred[k], truth[k])
	}
	for k := range 3 {
		least, most := c.Matched(construction, k, dims)
		fewest, greatest := c.MatchingError(construction, k, dims)
		list = append(list, float64(least), float64(most), float64(fewest), float64(greatest))
	}
	return list
}

// Connectivity returns the connectivity of the foreground, for images of dims dimensions.
func Connectivity(construction, dims int) int {
	return [Constructions][2]int{{8, 26}, {4, 6}}[construction][dims-2]
}

// A Difference is one topological error of a prediction: a component or a hole of one mask with no
// counterpart or several in the other.
type Difference struct {
	Kind   string `json:"kind"`
	Label  string `json:"label"`
	Voxels int64  `json:"voxels"`
	Meets  int64  `json:"meets"` // components of the other mask
	// Least and Greatest are the corners of the bounding box, as x, y and z; both are inclusive.
	Least    [3]int64 `json:"least"`
	Greatest [3]int64 `json:"greatest"`
}
