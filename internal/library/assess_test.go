package library

import (
	"testing"

	"eccbench/internal/ask"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// TestAssess compares a ring with the ring with a gap.
func TestAssess(t *testing.T) {
	pred := []byte{1, 1, 1, 1, 0, 1, 1, 1, 1}
	truth := []byte{1, 1, 1, 1, 0, 0, 1, 1, 1}
	r := Request{Shape: []int64{3, 3}, Type: "uint8", Images: 2, Options: ask.Options{Construction: "T"}, Threads: 2, Verify: true,
		Assess: &Assess{Groups: []assess.Group{{Name: "both", Labels: grid.Numbers(1, 2)}}}}
	answers, err := Answers(t.Context(), r, append(pred, truth...), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := answers[0]
	if a.Verdict != "VERIFIED" || len(a.Sets) != 2 || a.Sets[1] != "both" || a.Rows != int64(4*len(a.Columns)) {
		t.Fatalf("got %+v", a)
	}
	numbers := grid.NewBuffer(8 * a.Rows)
	if err := a.Fill(numbers, nil); err != nil {
		t.Fatal(err)
	}
	values := grid.Values[float64](numbers)
	for i, column := range a.Columns {
		if column == "b1_error" && values[i] != 1 || column == "pred_voxels" && values[i] != 8 {
			t.Errorf("%s is %v", column, values[i])
		}
	}
	r.Images = 1
	if _, err := Answers(t.Context(), r, pred, nil); err == nil {
		t.Error("one image was compared")
	}
}
