package fields

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// A scaled image has no answer if it has one voxel; otherwise its keys determine the answer.
type scaled struct {
	grid.Source
	keys []float64
}

func (s scaled) Image() grid.Source { return s.Source }
func (s scaled) Keys() []float64    { return s.keys }

func questions() Questions[scaled] {
	return Questions[scaled]{
		Form: name.Form{Kind: "scaled", Keys: []name.Key{{Key: "by", Min: 1, Max: 9}, {Key: "plus", Max: 5, Default: 2, Optional: true}}},
		Pose: func(in grid.Source, keys []float64) (scaled, error) {
			if in.Shape().Voxels() < 2 {
				return scaled{}, errors.New("one voxel")
			}
			return scaled{in, keys}, nil
		},
		Fewer: func(keys []float64) [][]float64 { return [][]float64{{keys[0] - 1, keys[1]}} },
		Weigh: func(_ scaled, keys []float64, image bench.Cost) bench.Cost {
			image.Items *= int64(keys[0])
			return image
		},
	}
}

func TestQuestions(t *testing.T) {
	q := questions()
	const asked = "scaled/by=3/plus=4/of=noise/shape=4x2/levels=4/type=uint8/seed=1"
	image, keys, err := q.Parse(asked)
	if err != nil || !slices.Equal(keys, []float64{3, 4}) || q.NameOf(image, keys...) != asked || q.NameOf(image, 3) != strings.Replace(asked, "/plus=4", "", 1) {
		t.Fatal(image, keys, err)
	}
	p, err := q.Open(asked)
	if err != nil {
		t.Fatal(err)
	}
	if cost := q.Cost(asked, p); cost.Items != 24 {
		t.Errorf("%d items of 3 times 8 voxels", cost.Items)
	}
	smaller := q.Smaller(asked)
	if len(smaller) < 2 || !strings.HasPrefix(smaller[0], "scaled/by=2/plus=4/of=") || slices.ContainsFunc(smaller, func(s string) bool { return strings.Contains(s, "shape=1x1/") }) {
		t.Error(smaller)
	}
	if _, err := q.Open(strings.Replace(asked, "4x2", "1x1", 1)); err == nil || !strings.HasPrefix(err.Error(), "scaled/by=3") || !strings.HasSuffix(err.Error(), ": one voxel") {
		t.Error(err)
	}
}

func TestQuestionsShared(t *testing.T) {
	q := questions()
	p, err := q.Open("scaled/by=3/plus=4/of=noise/shape=4x2/levels=4/type=uint8/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := q.Share(p, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil || int64(len(data)) > q.Size(p) {
		t.Fatal(len(data), q.Size(p), err)
	}
	got, err := q.Attach(data)
	if err != nil || !slices.Equal(got.keys, p.keys) {
		t.Fatal(got.keys, err)
	}
	want, err := grid.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	if have, err := grid.Load(got); err != nil || !reflect.DeepEqual(have.Floats(), want.Floats()) {
		t.Error("another image", err)
	}
	for _, at := range []int{16, 8} { // a key that no name has
		foreign := slices.Clone(data)
		copy(foreign[len(foreign)-at:], binary.LittleEndian.AppendUint64(nil, math.Float64bits(99)))
		if _, err := q.Attach(foreign); err == nil || !strings.Contains(err.Error(), "is 99") {
			t.Error(err)
		}
	}
	for n := range data {
		if _, err := q.Attach(data[:n:n]); err == nil {
			t.Fatalf("%d of %d bytes are taken", n, len(data))
		}
	}
}
