package library

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/pairs"
)

// Rows have the values of birth and death, the dimension and both voxels. Many short rows keep their axes.
func TestPairs(t *testing.T) {
	ring := []byte{0, 0, 0, 0, 9, 0, 0, 2, 0}
	tall := make([]byte, 2*300*3)
	for i := range tall {
		tall[i] = 1
	}
	tall[7], tall[1000] = 0, 0
	for _, c := range []struct {
		shape   []int64
		voxels  []byte
		mask    []byte
		pairs   string
		values  []float32
		numbers []int64
	}{
		{[]int64{3, 3}, ring, nil, "{}", []float32{0, 0, 2, 9}, []int64{0, 0, pairs.Never, 1, 7, 4}},
		{[]int64{3, 3}, ring, nil, `{"dims":[1]}`, []float32{2, 9}, []int64{1, 7, 4}},
		{[]int64{3, 3}, ring, nil, `{"persistence":7.5}`, []float32{0, 0}, []int64{0, 0, pairs.Never}},
		{[]int64{3, 3}, ring, []byte{0, 1, 1, 1, 1, 1, 1, 1, 1}, `{"dims":[0]}`, []float32{0, 0},
			[]int64{0, 1, pairs.Never}},
		{[]int64{2, 300, 3}, tall, nil, "{}", []float32{0, 0, 0, 1}, []int64{0, 7, pairs.Never, 0, 1000, 100}},
	} {
		r := request()
		if r.Shape = c.shape; len(c.shape) == 3 {
			r.Construction = "V"
		}
		if err := json.Unmarshal([]byte(c.pairs), &r.Pairs); err != nil {
			t.Fatal(err)
		}
		answers, err := Answers(t.Context(), r, c.voxels, c.mask)
		if err != nil {
			t.Errorf("%v: %v", c.shape, err)
			continue
		}
		a := answers[0]
		values, numbers := grid.NewBuffer(2*4*a.Rows), make([]int64, 3*a.Rows)
		if err := a.Fill(values, numbers); err != nil {
			t.Fatal(err)
		}
		if got := grid.Values[float32](values); !slices.Equal(got, c.values) || !slices.Equal(numbers, c.numbers) ||
			a.Verdict != "VERIFIED" {
			t.Errorf("%v %s: %v, %v, want %v, %v", c.shape, c.pairs, got, numbers, c.values, c.numbers)
		}
		if err := a.Fill(values[:4*a.Rows], numbers); err == nil {
			t.Error("half of the levels are enough")
		}
	}
}

// A mask keeps the values of an image whose type does not fit into float32.
func TestMaskedPairsHaveTheValuesOfTheImage(t *testing.T) {
	r := request()
	r.Shape, r.Type, r.Pairs = []int64{1, 4}, "float64", &Pairs{Persistence: 0.2}
	answers, err := Answers(t.Context(), r, grid.Bytes([]float64{0.1, 0.7, 0.3, 0.5}), []byte{1, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	values, numbers := grid.NewBuffer(2*grid.LabelBytes*answers[0].Rows), make([]int64, 3*answers[0].Rows)
	if err := answers[0].Fill(values, numbers); err != nil {
		t.Fatal(err)
	}
	if got := grid.Values[float64](values); !slices.Equal(got, []float64{0.1, 0.1, 0.3, 0.7}) ||
		!slices.Equal(numbers, []int64{0, 0, pairs.Never, 0, 2, 1}) {
		t.Errorf("%v, %v", got, numbers)
	}
}

func TestImpossiblePairs(t *testing.T) {
	for text, want := range map[string]string{
		`{"pairs":{"dims":[3]}}`:                       "dims [3]: want dimensions from 0 to 2",
		`{"pairs":{"persistence":-1}}`:                 "persistence -1: want a finite number",
		`{"pairs":{},"periodic":["x"]}`:                "periodic: persistence pairs are of images that are not periodic",
		`{"pairs":{},"betti":true}`:                    "leave levels and other questions out",
		`{"pairs":{},"at":[1]}`:                        "leave levels and other questions out",
		`{"pairs":{},"levels":3}`:                      "leave levels and other questions out",
		`{"pairs":{},"homology":{"coefficients":"2"}}`: "leave levels and other questions out",
	} {
		r := request()
		r.Shape = []int64{3, 3}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if _, err := Answers(t.Context(), r, make([]byte, 9), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
