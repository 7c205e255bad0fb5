package runs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// pairOf returns a pair of masks drawn as planes of rows: p is a voxel of the prediction, t of the
// truth, b of both.
func pairOf(t *testing.T, planes ...[]string) *assess.Pair {
	s := grid.Shape{D: int64(len(planes)), H: int64(len(planes[0])), W: int64(len(planes[0][0]))}
	a, b := grid.NewBuffer(s.Voxels()), grid.NewBuffer(s.Voxels())
	i := 0
	for _, plane := range planes {
		for _, row := range plane {
			for _, c := range row {
				if c == 'p' || c == 'b' {
					a[i] = 1
				}
				if c == 't' || c == 'b' {
					b[i] = 1
				}
				i++
			}
		}
	}
	p, err := grid.NewField(s, grid.Uint8, a, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	q, err := grid.NewField(s, grid.Uint8, b, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := assess.NewPair(p, q, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// TestDifferences lists the errors of a drawing that has one of each kind.
func TestDifferences(t *testing.T) {
	p := pairOf(t, []string{
		"bb.pp..ttt.",
		"bb.....t.t.",
		"bppb...ttt.",
		"b..b.......",
		".....b.t.bp",
		"ttt..ttt...",
	})
	want := []assess.Difference{
		{Kind: "extra component", Label: "1", Voxels: 2, Least: [3]int64{3, 0, 0}, Greatest: [3]int64{4, 0, 0}},
		{Kind: "merge", Label: "1", Voxels: 10, Meets: 2, Least: [3]int64{0, 0, 0}, Greatest: [3]int64{3, 3, 0}},
		{Kind: "missing component", Label: "1", Voxels: 8, Least: [3]int64{7, 0, 0}, Greatest: [3]int64{9, 2, 0}},
		{Kind: "missing component", Label: "1", Voxels: 3, Least: [3]int64{0, 5, 0}, Greatest: [3]int64{2, 5, 0}},
		{Kind: "missing hole", Label: "1", Voxels: 1, Least: [3]int64{8, 1, 0}, Greatest: [3]int64{8, 1, 0}},
	}
	got := Differences(p, p.Sets[:1], []int{assess.V}, 2)[0]
	if len(got) != len(want) {
		t.Fatalf("want %d differences, got %+v", len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("want %+v, got %+v", want[i], got[i])
		}
	}
}

// TestContacts lists the corner contacts and single voxels of a drawing, without contacts of both
// masks.
func TestContacts(t *testing.T) {
	p := pairOf(t, []string{
		"bbb...b..",
		"bbb..b..p",
		"...pp....",
		"...pp..t.",
	})
	kinds := func(p *assess.Pair, construction int) (list []string) {
		for _, d := range Differences(p, p.Sets[:1], []int{construction}, 1)[0] {
			list = append(list, fmt.Sprintf("%s %d %v", d.Kind, d.Voxels, d.Least))
		}
		return list
	}
	want := []string{
		"corner contact 4 [3 2 0]", "corner contact 1 [6 0 0]", "extra voxel 1 [8 1 0]", "merge 12 [0 0 0]",
		"missing voxel 1 [7 3 0]",
	}
	if got := kinds(p, assess.T); !slices.Equal(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
	want = []string{"extra component 4 [3 2 0]", "extra voxel 1 [8 1 0]", "missing voxel 1 [7 3 0]"}
	if got := kinds(p, assess.V); !slices.Equal(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
	p, err := assess.NewPair(p.Fields()[0], p.Fields()[0], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := kinds(p, assess.T); len(got) > 0 {
		t.Errorf("the prediction against itself has %v", got)
	}
}

// TestDifferencesCount compares lists with the verified numbers: features of the union in only one
// mask are extra or missing, and nothing is listed twice.
func TestDifferencesCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		p := random(t, rng, grid.Shape{D: 1 + rng.Int64N(6), H: 1 + rng.Int64N(7), W: 1 + rng.Int64N(70)}, 2,
			0.3*rng.Float64())
		lists := Differences(p, p.Sets, []int{assess.T, assess.V}, 1)
		for i, c := range answer(t, Implementation{}, p) {
			for k, topology := range c.In {
				listed := map[string]int64{}
				for _, d := range lists[i*assess.Constructions+k] {
					listed[d.Kind]++
				}
				extra := listed["extra component"] + listed["extra voxel"]
				missing := listed["missing component"] + listed["missing voxel"]
				if n := extra + listed["merge"]; n > topology.Pred.B0 {
					t.Fatalf("%d of %d components are listed", n, topology.Pred.B0)
				}
				if only := topology.Union.B0 - topology.Components; extra+missing < only {
					t.Fatalf("%d components of the union are of one mask alone, %v are listed", only, listed)
				}
			}
		}
	}
}

// TestLocalEuler compares the sum of the map with the difference of the Euler characteristics.
func TestLocalEuler(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 60 {
		p := random(t, rng, grid.Shape{D: 1 + rng.Int64N(6), H: 1 + rng.Int64N(7), W: 1 + rng.Int64N(20)}, 2,
			rng.Float64())
		out := answer(t, Implementation{}, p)
		for i, set := range p.Sets {
			for k := range assess.Constructions {
				sum := 0.0
				for _, v := range assess.LocalEuler(p, set, k) {
					sum += float64(v)
				}
				topology := out[i].In[k]
				if want := topology.Pred.Euler() - topology.Truth.Euler(); sum != float64(want) {
					t.Fatalf("%v, label %s, construction %d: the map sums to %v, want %d", p.Shape(), set.Name, k,
						sum, want)
				}
			}
		}
	}
}

// TestSeparateBall adds a ball apart from both masks to the prediction: one more component,
// unmatched.
func TestSeparateBall(t *testing.T) {
	before := pairOf(t, []string{"bb.....", "b......", "......."}, []string{"bt.....", "bb.....", "......."},
		[]string{"b......", ".......", "......."})
	after := pairOf(t, []string{"bb...pp", "b....pp", ".....pp"}, []string{"bt...pp", "bb...pp", ".....pp"},
		[]string{"b....pp", ".....pp", "......."})
	a, b := answer(t, Implementation{}, before)[0], answer(t, Implementation{}, after)[0]
	for k := range a.In {
		a.In[k].Pred.B0++
		a.In[k].Union.B0++
	}
	a.Pred = b.Pred
	if a != b {
		t.Errorf("want %+v, got %+v", a, b)
	}
}

// TestComplement compares the numbers in T with the numbers of the complement in V, with a layer of
// background around it. By Alexander duality components of one are cavities of the other, and the
// layer is one more component.
func TestComplement(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		s := grid.Shape{D: 1 + rng.Int64N(6), H: 1 + rng.Int64N(7), W: 1 + rng.Int64N(20)}
		p := random(t, rng, s, 1, rng.Float64())
		padded := grid.Shape{D: s.D + 2, H: s.H + 2, W: s.W + 2}
		if s.D == 1 {
			padded.D = 1
		}
		data := grid.NewBuffer(padded.Voxels())
		for i := range data {
			data[i] = 1
		}
		for i, v := range p.Fields()[0].Data() {
			z, y, x := s.Coordinates(int64(i))
			if v != 0 {
				data[((z+padded.D/2-s.D/2)*padded.H+y+1)*padded.W+x+1] = 0
			}
		}
		if s.D > 1 && padded.D/2-s.D/2 != 1 {
			t.Fatal("the layer is not of one plane")
		}
		f, err := grid.NewField(padded, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		other, err := assess.NewPair(f, f, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, m := answer(t, Implementation{}, p)[0].In[assess.T].Pred, answer(t, Implementation{},
			other)[0].In[assess.V].Pred
		want := [3]int64{m.B2, m.B1, m.B0 - 1}
		if s.D == 1 {
			want = [3]int64{m.B1, m.B0 - 1, 0}
		}
		if got := [3]int64{n.B0, n.B1, n.B2}; got != want {
			t.Fatalf("%v: T has %v, V of the complement says %v", s, got, want)
		}
	}
}

// TestConnectivityOrder compares the two predictions of the guide: the connectivity decides which
// has the smaller error of b0.
func TestConnectivityOrder(t *testing.T) {
	joined := answer(t, Implementation{}, pairOf(t, []string{"b..b", "bp.b", "b.pb", "b..b"}))[0]
	broken := answer(t, Implementation{}, pairOf(t, []string{"b..b", "b..b", "tp.b", "tp.b"}))[0]
	want := [4]int64{1, 0, 0, 1}
	if got := [4]int64{joined.In[assess.T].Error(0), broken.In[assess.T].Error(0), joined.In[assess.V].Error(0),
		broken.In[assess.V].Error(0)}; got != want {
		t.Errorf("errors of b0: want %v, got %v", want, got)
	}
}
