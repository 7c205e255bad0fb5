package pairs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the question: answers in bytes and their differences, times of voxels, and the limits of an image.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "answers in bytes", Of: answersAreWritten},
		{Name: "malformed bytes", Of: malformedIsTold},
		{Name: "differences", Of: differencesAreTold},
		{Name: "pairs that are not valid", Of: invalidIsTold},
		{Name: "weak answers", Of: weakIsTold},
		{Name: "closed forms", Of: knownFollows},
		{Name: "times of voxels", Of: timesAreRead},
		{Name: "images that are too large", Of: limitsAreTold},
		{Name: "conventions", Of: conventionsAreOfImplementations},
		{Name: "changes of curves", Of: curvesAreCounted},
	}
}

func encoded(t *testing.T, a Answer) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// answers are answers whose bytes all differ.
func answers() []Answer {
	return []Answer{
		{Pairs: []Pair{}}, {Pairs: []Pair{{0, 3, Never}}}, {Pairs: []Pair{{0, 3, 2}, {0, 3, 2}, {1, 0, 9}, {2, 1 << 40, 1<<40 + 1}}},
		{Pairs: []Pair{}, Chains: &Chains{Words: []uint32{}}}, {Pairs: []Pair{}, Chains: &Chains{Dual: true, Words: []uint32{}}},
		{Pairs: []Pair{{0, 0, Never}}, Chains: &Chains{Words: []uint32{5, 0, 0, 1, math.MaxUint32}}}, {Pairs: []Pair{{0, 0, Never}}, Chains: &Chains{Dual: true, Words: []uint32{5, 0, 0, 1, math.MaxUint32}}},
		Poisoned(), {Pairs: []Pair{{math.MinInt64, math.MaxInt64, math.MinInt64}}},
	}
}

// Decode is the inverse of Encode, and different answers have different bytes.
func answersAreWritten(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range answers() {
		b := encoded(t, a)
		if got, err := Decode(b); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%+v is read as %+v, %v", a, got, err)
		}
		if seen[string(b)] {
			t.Errorf("%+v has the bytes of another", a)
		}
		seen[string(b)] = true
	}
	if err := Encode(broken{}, Answer{Pairs: make([]Pair, 1<<17)}); err != errBroken {
		t.Errorf("%v, want %v", err, errBroken)
	}
}

var errBroken = errors.New("no space left")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// Bytes that end early, or go on, are an error.
func malformedIsTold(t *testing.T) {
	for _, a := range answers() {
		b := encoded(t, a)
		for n := range b {
			if got, err := Decode(b[:n]); err == nil && (a.Chains == nil || len(got.Chains.Words) >= len(a.Chains.Words)) {
				t.Errorf("%d of %d bytes of %+v are read as %+v", n, len(b), a, got)
			}
		}
		if _, err := Decode(append(b, 0)); err == nil {
			t.Errorf("a byte after %+v is ignored", a)
		}
	}
	if _, err := Decode([]byte{cohomologyChains + 1, 0}); err == nil {
		t.Error("chains of no kind are read")
	}
}

// The distance of answers is the number of pairs that only one has, with the first of them. Chains do not count.
func differencesAreTold(t *testing.T) {
	in := gridtest.OfBytes(t, grid.Shape{D: 2, H: 2, W: 3}, make([]uint8, 12)...)
	flat := gridtest.OfBytes(t, grid.Shape{D: 1, H: 2, W: 3}, make([]uint8, 6)...)
	right := []Pair{{0, 1, Never}, {0, 5, 7}, {0, 5, 7}, {1, 2, 3}}
	with := func(i int, p Pair) []Pair {
		list := slices.Clone(right)
		list[i] = p
		return list
	}
	for _, c := range []struct {
		in     grid.Source
		got    []Pair
		number float64
		at     string
	}{
		{in, right, 0, ""}, {in, right[1:], 1, "pair of dimension 0 from voxel 1 (x 1, y 0, z 0) to the end: missing"},
		{in, right[:3], 1, "pair of dimension 1 from voxel 2 (x 2, y 0, z 0) to voxel 3 (x 0, y 1, z 0): missing"},
		{in, slices.Delete(slices.Clone(right), 1, 2), 1, "pair of dimension 0 from voxel 5 (x 2, y 1, z 0) to voxel 7 (x 1, y 0, z 1): missing"},
		{in, append(slices.Clone(right), Pair{2, 99, -7}), 1, "pair of dimension 2 from voxel 99 to voxel -7: not expected"},
		{flat, with(0, Pair{0, 0, 4}), 2, "pair of dimension 0 from voxel 0 (x 0, y 0) to voxel 4 (x 1, y 1): not expected"},
		{in, nil, 4, "pair of dimension 0 from voxel 1 (x 1, y 0, z 0) to the end: missing"},
	} {
		list := distance(c.in, Answer{Pairs: right}, Answer{Pairs: c.got, Chains: &Chains{}})
		if want := (verify.Measure{Name: "different pairs", Value: c.number, At: c.at, Aside: true}); len(list) != 1 || list[0] != want {
			t.Errorf("%v: %+v, want %+v", c.got, list, want)
		}
		if d, _ := policy().Compare(c.in, Answer{Pairs: right}, Answer{Pairs: c.got}); (d == nil) != (c.number == 0) {
			t.Errorf("%v: %v", c.got, d)
		}
	}
}

// Pairs are of voxels of the image, in order, and end after they begin.
func invalidIsTold(t *testing.T) {
	in := gridtest.OfBytes(t, grid.Shape{D: 1, H: 2, W: 3}, 0, 1, 1, 2, 3, 9)
	in, err := grid.Trusted(in.Shape(), in.Type(), in.Data(), affine(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		list  []Pair
		valid bool
	}{
		{nil, true}, {[]Pair{{0, 0, Never}, {0, 1, 3}, {0, 1, 3}, {1, 0, 4}}, true}, {[]Pair{{0, 1, 3}, {0, 0, Never}}, false}, {[]Pair{{2, 0, 3}}, false}, {[]Pair{{-1, 0, 3}}, false},
		{[]Pair{{0, -1, 3}}, false}, {[]Pair{{0, 6, Never}}, false}, {[]Pair{{0, 0, 6}}, false}, {[]Pair{{0, 0, -2}}, false}, {[]Pair{{0, 1, 2}}, false}, {[]Pair{{0, 3, 1}}, false}, {[]Pair{{0, 0, 5}}, false}, {[]Pair{{0, 5, Never}}, false},
	} {
		list, d, err := spans(in, false, Answer{Pairs: c.list})
		if err != nil || (d == nil) != c.valid || c.valid && len(list) != len(c.list) {
			t.Errorf("%v: %v, %v, %v", c.list, list, d, err)
		}
	}
	list, _, _ := spans(in, true, Answer{Pairs: []Pair{{0, 4, Never}, {0, 4, 0}}})
	if want := "[{0 0 3} {0 0 4294967295}]"; fmt.Sprint(list) != want {
		t.Errorf("%v, want %v", list, want)
	}
	for i, want := range []string{"dimension 0 from level 0 to 3", "dimension 0 from level 0 on", "none"} {
		if got := spanAt(list, i); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if _, _, err := spans(gridtest.Unread{Source: in}, false, Answer{}); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("%v of an image that cannot be read", err)
	}
}

func affine(t *testing.T, levels int64) grid.Ladder {
	t.Helper()
	l, err := grid.Affine(0, 1, levels)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// One component alone is weak.
func weakIsTold(t *testing.T) {
	for n, isWeak := range map[int]bool{0: true, 1: true, 2: false} {
		if why := weak(nil, Answer{Pairs: make([]Pair, n)}); (why != "") != isWeak || isWeak && !strings.Contains(why, fmt.Sprintf("%d pairs", n)) {
			t.Errorf("%d pairs: %q", n, why)
		}
	}
}

// Closed forms are of names alone. Tests of the definition compare them.
func knownFollows(t *testing.T) {
	in := gridtest.VastOf(grid.Shape{D: 5, H: 7, W: 10}, grid.Uint8)
	for name, want := range map[string]string{
		"constant/shape=10x7x5": "[{0 0 -1}]", "constant/shape=10x7x5/roll=1": "[{0 0 -1}]", "ramp/shape=10x7x5": "[{0 0 -1}]", "point/shape=10x7x5": "[{0 175 -1}]",
		"point/shape=10x7x5/roll=1": "", "noise/shape=10x7x5": "", "what": "",
	} {
		if got, ok := known(name, in); ok != (want != "") || ok && fmt.Sprint(got.Pairs) != want {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}

// Times are levels, from the last one on for superlevel sets.
func timesAreRead(t *testing.T) {
	inf := float32(math.Inf(1))
	table, err := grid.Table([]float32{-1, 0, 2.5})
	if err != nil {
		t.Fatal(err)
	}
	const every = 2*0x7f7fffff + 1
	for _, c := range []struct {
		ladder   grid.Ladder
		values   []float32
		up, down []uint32
	}{
		{table, []float32{-1, 2.5, 0, inf, -5, 2}, []uint32{0, 2, 1, Absent, 0, 2}, []uint32{2, 0, 1, Absent, 2, 0}},
		{grid.Identity(grid.Float32), []float32{0, -math.MaxFloat32, math.MaxFloat32, inf}, []uint32{0x7f7fffff, 0, every - 1, Absent}, []uint32{0x7f7fffff, every - 1, 0, Absent}},
	} {
		f, err := grid.Trusted(grid.Shape{D: 1, H: 1, W: int64(len(c.values))}, grid.Float32, grid.Bytes(c.values), c.ladder)
		if err != nil {
			t.Fatal(err)
		}
		up, err := ReadTimes(f, false)
		down, err2 := ReadTimes(f, true)
		if err := errors.Join(err, err2); err != nil || !slices.Equal(up, c.up) || !slices.Equal(down, c.down) {
			t.Errorf("%v: %v and %v, %v, want %v and %v", c.values, up, down, err, c.up, c.down)
		}
	}
	if _, err := ReadTimes(gridtest.Unread{Source: gridtest.VastOf(grid.Shape{D: 2, H: 2, W: 2}, grid.Uint8)}, false); !errors.Is(err, gridtest.ErrUnread) {
		t.Error(err)
	}
}

// An image has as many cells with a layer around it as 32 bits count.
func limitsAreTold(t *testing.T) {
	for _, c := range []struct {
		shape grid.Shape
		in    ecc.Convention
		want  string
	}{
		{grid.Shape{D: 1, H: 1, W: 1}, ecc.Convention{}, ""}, {grid.Shape{D: 1, H: 1, W: mostBox/3 - 2}, ecc.Convention{Vertices: true}, ""},
		{grid.Shape{D: 1, H: 1, W: mostBox/3 - 1}, ecc.Convention{}, "at most 1431655765 are supported"}, {grid.Shape{D: 1126, H: 1125, W: 1125}, ecc.Convention{}, "voxels with a layer around it"},
		{grid.Shape{D: 1123, H: 1125, W: 1125}, ecc.Convention{}, ""}, {grid.Shape{D: 2, H: 2, W: 2}, ecc.Convention{Periodic: grid.Axes{Z: true}}, "periodic axes are not supported"},
	} {
		if err := Supported(gridtest.VastOf(c.shape, grid.Uint8), c.in); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v in %+v: %v, want %q", c.shape, c.in, err, c.want)
		}
	}
}

// conventional is an implementation of a convention, and plain one of none.
type (
	plain struct {
		bench.Implementation[grid.Source, Answer]
	}
	conventional struct {
		plain
		in ecc.Convention
	}
)

func (plain) About() bench.About                        { return bench.About{Name: "plain"} }
func (conventional) In(c ecc.Convention) Implementation { return conventional{in: c} }

// The workload in a convention has the implementations in it, and neither closed forms nor laws of others.
func conventionsAreOfImplementations(t *testing.T) {
	w := Workload(conventional{})
	w.Impls = append(w.Impls, plain{})
	if got := InConvention(w, ecc.Convention{}); w.Reference != "plain" || len(got.Impls) != 2 || got.Policy.Known == nil {
		t.Errorf("%d implementations, reference %q", len(got.Impls), w.Reference)
	}
	c := ecc.Convention{Vertices: true}
	got := InConvention(w, c)
	if len(got.Impls) != 1 || got.Impls[0].(conventional).in != c || got.Policy.Known != nil || len(got.Policy.Laws) != 2 || !got.Policy.Laws[0].Independent || got.Policy.Laws[1].Independent {
		t.Errorf("%d implementations, %d laws", len(got.Impls), len(got.Policy.Laws))
	}
}

// Curves add up pairs by the level of their times.
func curvesAreCounted(t *testing.T) {
	list := []span{{0, 1, Absent}, {0, 2, 4}, {1, 2, 3}, {2, 3, 4}, {1, 3, 4}, {1, 4, Absent}}
	for superlevel, want := range map[bool]betti.Curves{
		false: {{Level: 1, Numbers: betti.Numbers{B0: 1}}, {Level: 2, Numbers: betti.Numbers{B0: 1, B1: 1}}, {Level: 3, Numbers: betti.Numbers{B2: 1}}, {Level: 4, Numbers: betti.Numbers{B0: -1, B2: -1}}},
		true:  {{Level: 0, Numbers: betti.Numbers{B0: -1, B2: -1}}, {Level: 1, Numbers: betti.Numbers{B2: 1}}, {Level: 2, Numbers: betti.Numbers{B0: 1, B1: 1}}, {Level: 3, Numbers: betti.Numbers{B0: 1}}},
	} {
		if got := curves(list, 5, superlevel); !slices.Equal(got, want) {
			t.Errorf("superlevel %v: %v, want %v", superlevel, got, want)
		}
	}
}
