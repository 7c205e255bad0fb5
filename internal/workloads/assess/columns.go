package assess

import (
	"fmt"
	"math"
)

// Columns are the names of the numbers that Values gives, in its order.
//
// An error of a number is the absolute difference; a matching error is how many features of both masks
// are not matched, with a least and a greatest value where it is not known exactly.
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

// Values are the numbers of a comparison in a construction, of images of dims dimensions: whole but for
// the ratios of voxels, which are NaN or infinite where they are not defined.
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

// Connectivity is the connectivity of the foreground in a construction, of images of dims dimensions.
func Connectivity(construction, dims int) int {
	return [Constructions][2]int{{8, 26}, {4, 6}}[construction][dims-2]
}

// A Difference is one topological error of a prediction: a component or a hole of a mask that has no
// counterpart or several.
type Difference struct {
	Kind   string `json:"kind"`
	Label  string `json:"label"`
	Voxels int64  `json:"voxels"`
	Meets  int64  `json:"meets"` // components of the other mask
	// Least and Greatest are the corners of the bounding box, x, y and z; both are within.
	Least    [3]int64 `json:"least"`
	Greatest [3]int64 `json:"greatest"`
}
