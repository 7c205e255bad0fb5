package runs

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/assess"
)

// random makes a pair of label images that differ in some voxels.
func random(t testing.TB, rng *rand.Rand, s grid.Shape, labels int, filled float64) *assess.Pair {
	a, b := grid.NewBuffer(s.Voxels()), grid.NewBuffer(s.Voxels())
	changed := rng.Float64()
	for i := range a {
		if rng.Float64() < filled {
			a[i] = uint8(1 + rng.IntN(labels))
		}
		b[i] = a[i]
		if rng.Float64() < changed {
			b[i] = uint8(rng.IntN(labels + 1))
		}
	}
	var f [2]*grid.Field
	for i, data := range [][]byte{a, b} {
		var err error
		if f[i], err = grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := assess.NewPair(f[0], f[1], nil, []assess.Group{{Name: "first two", Labels: grid.Numbers(1, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func answer(t testing.TB, i Implementation, p *assess.Pair) assess.Comparisons {
	out, err := bench.Answer(i, p, bench.Conditions{Setting: bench.Setting{Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLaws checks answers for random pairs by all laws of the workload.
func TestLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := assess.Workload(Implementation{})
	n := 300
	if testing.Short() {
		n = 60
	}
	for i := range n {
		s := grid.Shape{D: 1 + rng.Int64N(9), H: 1 + rng.Int64N(9), W: 1 + rng.Int64N(140)}
		p := random(t, rng, s, 1+rng.IntN(3), rng.Float64())
		out := answer(t, Implementation{}, p)
		q := verify.Question[*assess.Pair, assess.Comparisons]{
			Name: fmt.Sprint("pair ", i), In: p, Out: out, Budget: time.Hour, Thorough: true,
			Ask: func(p *assess.Pair) (assess.Comparisons, error) { return answer(t, Implementation{}, p), nil },
		}
		evidence := w.Policy.Check(q)
		for _, e := range evidence {
			if !e.Passed {
				t.Fatalf("%v: %s: %v %s", s, e.Witness, e.Diff, e.Note)
			}
		}
		if want := len(w.Policy.Laws); len(evidence) != want {
			t.Fatalf("%d laws were tried, want %d", len(evidence), want)
		}
	}
}

// TestJudgeNotices plants mistakes in answers, most with the right voxel counts and χ.
func TestJudgeNotices(t *testing.T) {
	faults := map[string]func(*assess.Topology){
		"a component is lost":      func(o *assess.Topology) { o.Pred.B0, o.Pred.B1 = o.Pred.B0-1, o.Pred.B1-1 },
		"two are merged":           func(o *assess.Topology) { o.Union.B0, o.Union.B1 = o.Union.B0-1, o.Union.B1-1 },
		"a cavity is lost":         func(o *assess.Topology) { o.Truth.B1, o.Truth.B2 = o.Truth.B1-1, o.Truth.B2-1 },
		"a matched component less": func(o *assess.Topology) { o.Components-- },
		"a matched cavity more":    func(o *assess.Topology) { o.Holes++ },
	}
	rng := rand.New(rand.NewPCG(13, 14))
	s := grid.Shape{D: 16, H: 14, W: 140}
	p := random(t, rng, s, 1, 0.6)
	p.Sets = p.Sets[:1]
	want, agree := assess.BySearch(p), assess.Workload().Policy.Agree
	for name, plant := range faults {
		for k := range assess.Constructions {
			out := answer(t, Implementation{}, p)
			if d := agree(p, want, out); d != nil {
				t.Fatal(d)
			}
			if plant(&out[0].In[k]); agree(p, want, out) == nil {
				t.Errorf("construction %d: the judge does not notice: %s", k, name)
			}
		}
	}
	pred := p.Fields()[0].Data()
	for y := range s.H / 2 { // a block of the middle plane is that of the plane before
		at := (s.D/2*s.H + y) * s.W
		copy(pred[at:][:64], pred[at-s.H*s.W:])
	}
	if out := answer(t, Implementation{}, p); agree(p, want, out) == nil {
		t.Error("the judge does not notice a stale block")
	}
}

// TestPlanesOfOneLabel compares masks whose planes have one label each, or several.
func TestPlanesOfOneLabel(t *testing.T) {
	for label := uint8(255); label > 0; label-- {
		voxels := map[[3]int64]uint8{{0, 1, 3}: 1, {1, 1, 3}: label, {2, 2, 69}: label, {2, 3, 3}: 1}
		for range 2 { // then without the planes of other labels
			p := pairOfVoxels(t, grid.Shape{D: 3, H: 4, W: 70}, voxels)
			if d := assess.Workload().Policy.Agree(p, assess.BySearch(p), answer(t, Implementation{}, p)); d != nil {
				t.Errorf("label %d: %v", label, d)
			}
			if !slices.ContainsFunc(p.Sets, func(s assess.Set) bool { return s.Name == fmt.Sprint(label) }) {
				t.Errorf("no set of label %d", label)
			}
			voxels = map[[3]int64]uint8{{1, 1, 3}: label}
		}
	}
}

// TestPacked compares the answers and the errors of a pair that was packed as it was read with those of the same pair
// in memory.
func TestPacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 100 {
		s := grid.Shape{D: 2 + rng.Int64N(9), H: 1 + rng.Int64N(9), W: 1 + rng.Int64N(200)}
		images := random(t, rng, s, 1, rng.Float64()).Fields()
		p, err := assess.NewPair(images[0], images[1], nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := assess.PackPair(images[0], images[1], nil, nil, 2)
		if err != nil || packed == nil {
			if err == nil && len(p.Sets[0].Codes) == 0 {
				continue
			}
			t.Fatal(packed, err)
		}
		if d := assess.Workload().Policy.Agree(p, answer(t, Implementation{}, p), answer(t, Implementation{}, packed)); d != nil {
			t.Fatalf("%v: %v", s, d)
		}
		list := func(p *assess.Pair) [][]assess.Difference {
			return Differences(p, p.Sets, []int{assess.T, assess.V}, 2)
		}
		if got, want := list(packed), list(p); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: errors %v, want %v", s, got, want)
		}
	}
}

// TestOneSlice compares masks that lie in one slice of a volume.
func TestOneSlice(t *testing.T) {
	p := pairOf(t, []string{"....", "....", "....", "....", "....", "...."},
		[]string{"bbb.", "b.b.", "bbb.", "....", "....", ".pt."})
	want := assess.BySearch(p)
	if d := assess.Workload().Policy.Agree(p, want, answer(t, Implementation{}, p)); d != nil {
		t.Error(d)
	}
}

// TestCavityAcrossWords compares masks with a hole whose later rows begin in the word before, or end in the next.
func TestCavityAcrossWords(t *testing.T) {
	row := strings.Repeat("b", 80)
	gap := func(lo, hi int) string { return row[:lo] + strings.Repeat(".", hi-lo) + row[hi:] }
	for _, plane := range [][]string{
		{row, gap(66, 68), gap(60, 67), row},
		{row, gap(60, 62), gap(61, 67), row},
		{row, gap(66, 68), gap(60, 67), gap(60, 61), gap(60, 61)}, // open
		{row, gap(62, 66), gap(62, 63), gap(60, 63), row},
	} {
		p := pairOf(t, plane)
		out := answer(t, Implementation{}, p)
		if d := assess.Workload().Policy.Agree(p, assess.BySearch(p), out); d != nil {
			t.Error(d)
		}
		want := int64(1)
		if plane[len(plane)-1] != row {
			want = 0
		}
		if got := out[0].In[assess.T].Pred.B1; got != want {
			t.Errorf("%d holes, want %d", got, want)
		}
	}
}
