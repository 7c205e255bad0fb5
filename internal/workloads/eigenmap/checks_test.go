package eigenmap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/isa"
	"eccbench/internal/name/nametest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
	"eccbench/internal/workloads/eigenmap/inertia"
	"eccbench/internal/workloads/eigenmap/masks"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover the verification and the encoding of pairs: the definition, counts and searches for
// missing pairs, cuts and masks, the recurrence of steps, names, encoding and files, and vector
// instructions.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "graphs by hand", Of: graphsByHand},
		{Name: "what is left out of graphs", Of: rowsAreWhole},
		{Name: "patches that are far", Of: farAreCounted},
		{Name: "patches that are near", Of: nearAreAsMany},
		{Name: "labels as numbers", Of: labelsAreNumbers},
		{Name: "pairs that are off", Of: pairsAreHeld},
		{Name: "laws of other answers", Of: lawsSeeOthers},
		{Name: "limits of laws", Of: limitsOfLaws},
		{Name: "laws that are not tried", Of: failuresAreTold},
		{Name: "numbers at random", Of: numbersAreOfTheSeed},
		{Name: "projections", Of: projectionsLeaveNothing},
		{Name: "estimates by hand", Of: estimatesByHand},
		{Name: "problems that have no answer", Of: problemsAreRefused},
		{Name: "values below a bound", Of: inertiaCounts},
		{Name: "searches for what is missing", Of: searchFinds},
		{Name: "searches of long lines", Of: searchComesFar},
		{Name: "cuts", Of: cutsBound},
		{Name: "cuts as quotients", Of: cutsAreQuotients},
		{Name: "sets that are cut off", Of: sweepsAreEven},
		{Name: "masks of patches", Of: maskOfPatches},
		{Name: "masks of cubes", Of: maskOfCubes},
		{Name: "costs", Of: costs},
		{Name: "names and shared images", Of: namesAndSharing},
		{Name: "numbers in names", Of: namesHold},
		{Name: "encoded pairs", Of: encoding},
		{Name: "the recurrence of steps", Of: recurrenceSees},
		{Name: "limits of the recurrence", Of: limitsByHand},
		{Name: "what is told of residuals", Of: residualIsTold},
		{Name: "certificates", Of: certificateIsOfTheMap},
		{Name: "vector instructions", Of: kernelsAgree},
		{Name: "lists that are too short", Of: shortListsAreRefused},
		{Name: "files of masks and vectors", Of: filesHold},
		{Name: "pictures", Of: picturesShow},
	}
}

func open(t *testing.T, name string) *Problem {
	t.Helper()
	kind, _, _ := strings.Cut(name, "/")
	p, err := Inputs(kind).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// dense returns L by the definition, and all its pairs.
func dense(t *testing.T, p *Problem) (l *mat.SymDense, m Map) {
	t.Helper()
	g, err := p.Define()
	if err != nil {
		t.Fatal(err)
	}
	l = g.Matrix()
	var e mat.EigenSym
	if !e.Factorize(l, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	m = Map{Values: e.Values(nil)[:p.K]}
	for k := range p.K {
		m.Vectors = append(m.Vectors, mat.Col(nil, k, &v))
	}
	copy(m.Values, g.Apply(slices.Repeat([][]float64{make([]float64, g.Nodes())}, p.K), m.Vectors))
	return l, m
}

// The graphs of three voxels 0, ½ and 1, and of two patches, agree with hand calculation.
func graphsByHand(t *testing.T) {
	p := OfVoxels(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 3}, 10, 30, 50), 3, 1e-8, 0.5, 0.25, false, false)
	g, err := p.Define()
	if err != nil {
		t.Fatal(err)
	}
	w := math.Exp(-1) + 0.25
	if !slices.Equal(g.Degree, []float64{w, 2 * w, w}) {
		t.Errorf("degrees %v of weights %v", g.Degree, w)
	}
	// A path of three has the values 0, 1 and 2, for any weight.
	_, m := dense(t, p)
	for k, want := range []float64{0, 1, 2} {
		if math.Abs(m.Values[k]-want) > 1e-14 {
			t.Errorf("value %d is %v, not %v", k+1, m.Values[k], want)
		}
	}
	// A radius of 2 has 12 neighbours in the plane and 32 in space; each pair counts once.
	for s, want := range map[grid.Shape]float64{{D: 1, H: 5, W: 5}: 12, {D: 5, H: 5, W: 5}: 32} {
		flat := gridtest.OfBytes(t, s, make([]uint8, s.Voxels())...)
		near, err := OfVoxels(flat, 2, 1e-8, 1, 0, false, false).WithRadius(2).Define()
		if err != nil || near.Degree[s.Voxels()/2] != want {
			t.Errorf("%v: %v, %v", s, near.Degree, err)
		}
	}
	q := OfPatches(gridtest.OfBytes(t, grid.Shape{D: 1, H: 3, W: 5}, 1, 2, 3, 4, 9, 5, 6, 7, 9, 9, 9, 9, 9, 9, 9), 2, 1e-8, 3, 2, 2)
	features, err := q.Patches()
	if err != nil || !slices.Equal(features, []int32{1, 2, 5, 6, 3, 4, 7, 9}) {
		t.Errorf("features %v, %v", features, err)
	}
	g, err = q.Define()
	// The squared distances are 4+4+4+9 = 21 of features and 1 of positions.
	if want := math.Exp(-21.0/(4*9) - 1.0/8); err != nil || math.Abs(g.Degree[0]-want) > 1e-16 || g.Degree[1] != g.Degree[0] {
		t.Errorf("degrees %v, want %v, %v", g.Degree, want, err)
	}
}

// Distant patches count if all others are as distant: the opposite corners of a cube, and patches
// unlike all near ones.
func farAreCounted(t *testing.T) {
	alike := make([]byte, 39)
	for i := range alike {
		alike[i] = byte(i % 13 * 19)
	}
	for _, p := range []*Problem{
		OfPatches(gridtest.OfBytes(t, grid.Shape{D: 4, H: 4, W: 4}, make([]byte, 64)...), 2, 1e-8, 40, 1e3, 1),
		OfPatches(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 39}, alike...), 2, 1e-8, 2, 1, 1),
	} {
		g, err := p.Define()
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range g.Degree {
			whole := 0.0
			for j := range g.Degree {
				if j != i {
					whole += g.weight(i, j)
				}
			}
			if math.Abs(d-whole) > 1e-11*whole {
				t.Errorf("%v: patch %d has the degree %g, all weights are %g", g.shape, i, d, whole)
			}
		}
	}
}

// A degree is the sum of all weights by the definition, except for the share that may be omitted.
// Weights of far patches are indeed omitted.
func rowsAreWhole(t *testing.T) {
	for _, c := range []struct {
		name string
		left float64
	}{
		{"eigenmap-patch/k=2/tol=1/alpha=300/beta=1/side=1/of=noise/shape=50x3/type=uint8/seed=1", 1e-5}, {"eigenmap-patch/k=2/tol=1/alpha=2/beta=1/side=1/of=noise/shape=150x3/type=uint8/seed=1", 1e-5},
		{"eigenmap-patch/k=2/tol=3/alpha=100/beta=2/side=2/of=noise/shape=8x90/type=uint8/seed=2", 1e-7},
		{"eigenmap-patch/k=2/tol=12/alpha=40/beta=1/side=1/of=noise/shape=60x2x2/type=uint8/seed=3", 1e-16}, {"eigenmap-lanczos/steps=3/alpha=40/beta=1/side=1/start=1/of=noise/shape=60x4/type=uint8/seed=3", 1e-16},
	} {
		p := open(t, c.name)
		g, err := p.Define()
		if err != nil {
			t.Fatal(err)
		}
		if left := p.leftOut(); math.Abs(left-c.left) > 1e-12*c.left {
			t.Errorf("%s: %g of a row may be left out, want %g", c.name, left, c.left)
		}
		for i, d := range g.Degree {
			whole := 0.0
			for j := range g.Degree {
				if j != i {
					whole += g.weight(i, j)
				}
			}
			if e := (whole - d) / whole; e < -1e-13 || e > c.left+1e-13 {
				t.Fatalf("%s: patch %d has the degree %v, all weights are %v", c.name, i, d, whole)
			}
		}
		if s := g.shape; g.reach >= max(s.W, s.H)-1 {
			t.Errorf("%s: nothing is left out", c.name)
		}
	}
}

// Near patches are those with a significant distance factor along each axis. If there were too many
// pairs, the distance is reduced to the allowed number.
func nearAreAsMany(t *testing.T) {
	for _, name := range []string{
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=3/side=1/of=noise/shape=31x23/type=uint8/seed=1", "eigenmap-patch/k=2/tol=8/alpha=40/beta=2/side=1/of=noise/shape=9x13x5/type=uint8/seed=1",
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=2/side=1/of=noise/shape=5x13x9/type=uint8/seed=1", "eigenmap-patch/k=2/tol=8/alpha=40/beta=2/side=1/of=noise/shape=5x3x40/type=uint8/seed=1",
	} {
		g, err := open(t, name).Define()
		if err != nil {
			t.Fatal(err)
		}
		abs := func(v int64) int64 { return max(v, -v) }
		pairs := func(reach int64) (n int64) { // as if all patches had the number of the middle one
			s := g.shape
			for i := range s.Voxels() {
				z, y, x := s.Coordinates(i)
				if max(abs(x-s.W/2), abs(y-s.H/2), abs(z-s.D/2)) <= reach {
					n++
				}
			}
			return n * s.Voxels()
		}
		factor := func(reach int64) float64 { return math.Exp(-float64(reach*reach) / (2 * g.p.Beta * g.p.Beta)) }
		all := g.nearby(1 << 40)
		if factor(all) < nearest || factor(all+1) > nearest && all < g.reach {
			t.Errorf("%s: near are those up to %d away, of %d", name, all, g.reach)
		}
		for reach := int64(1); reach <= all; reach++ {
			for _, most := range []int64{pairs(reach) - 1, pairs(reach), pairs(reach) + 1} {
				got := g.nearby(most)
				if got < 1 || got > 1 && pairs(got) > most || got < all && pairs(got+1) <= most {
					t.Errorf("%s: of at most %d pairs near are those up to %d away: %d pairs, and %d of one more", name, most, got, pairs(got), pairs(got+1))
				}
			}
		}
	}
}

// Labels of an image are replaced by their numbers, halved if float64 cannot hold their range. Grey
// values follow from these numbers.
func labelsAreNumbers(t *testing.T) {
	s := grid.Shape{D: 1, H: 2, W: 2}
	for _, c := range []struct{ labels, want []float64 }{
		{[]float64{-2, 0.5, 3}, []float64{3, -2, 0.5, -2}}, {[]float64{-1.5e308, 0, 1.5e308}, []float64{0.75e308, -0.75e308, 0, -0.75e308}},
	} {
		p := OfPatches(gridtest.Labelled(t, s, c.labels, 2, 0, 1, 0), 2, 1e-6, 40, 5, 1)
		if got, err := p.Numbers(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("numbers %v, %v, want %v", got, err, c.want)
		}
		if got, err := p.Patches(); err != nil || !slices.Equal(got, []int32{255, 0, 128, 0}) {
			t.Errorf("grey values %v, %v", got, err)
		}
	}
	plain := OfPatches(gridtest.OfBytes(t, s, 7, 0, 9, 200), 2, 1e-6, 40, 5, 1)
	if got, err := plain.Patches(); err != nil || !slices.Equal(got, []int32{7, 0, 9, 200}) {
		t.Errorf("grey values %v, %v", got, err)
	}
}

// The count below a bound equals the number of eigenvalues, for graphs of voxels and of patches.
// The rounding error is small.
func inertiaCounts(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=1/tol=6/sigma=100/floor=1000/corners=1/plain=0/of=noise/shape=7x5x3/type=uint8/seed=1", "eigenmap/k=1/tol=6/sigma=100/floor=1000/corners=1/plain=0/of=noise/shape=2x4x7/type=uint8/seed=1",
		"eigenmap/k=1/tol=6/sigma=300/floor=1000/corners=0/plain=1/of=noise/shape=9x14/type=uint8/seed=2",
		"eigenmap-patch/k=1/tol=6/alpha=40/beta=3/side=2/of=noise/shape=16x12/type=uint8/seed=1",
	} {
		p := open(t, name)
		l, _ := dense(t, p)
		var e mat.EigenSym
		e.Factorize(l, false)
		values := e.Values(nil)
		g, _ := p.Define()
		for k := 1; k < len(values); k++ {
			if values[k]-values[k-1] < 1e-9 {
				continue
			}
			n, rounding, err := g.countBelow((values[k] + values[k-1]) / 2)
			if err != nil || n != k || rounding > 1e-6 {
				t.Errorf("%s: %d below the middle of values %d and %d, rounding %g, %v", name, n, k, k+1, rounding, err)
			}
		}
	}
}

// Each measure detects a pair that is slightly beyond its limit, and accepts one slightly within.
func pairsAreHeld(t *testing.T) {
	p := open(t, "eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=ball/shape=9x8/type=uint8")
	apart := open(t, "eigenmap/k=3/tol=6/sigma=30/floor=0/corners=0/plain=1/of=ball/shape=9x8/type=uint8")
	answers := map[*Problem]Map{}
	for _, p := range []*Problem{p, apart} {
		_, answers[p] = dense(t, p)
	}
	type change struct {
		of     *Problem
		change func(m *Map)
		seen   string // the measure that detects it, and where
	}
	changes := map[string]change{
		"nothing":                         {p, func(*Map) {}, ""},
		"nothing of two parts":            {apart, func(*Map) {}, ""},
		"a value by less than may be":     {p, func(m *Map) { m.Values[3] *= 1 + 0.9e-6 }, ""},
		"a value by more":                 {p, func(m *Map) { m.Values[3] *= 1 + 1.2e-6 }, "value off at pair 4: "},
		"a value by less, below":          {p, func(m *Map) { m.Values[3] *= 1 - 0.9e-6 }, ""},
		"a value by more, below":          {p, func(m *Map) { m.Values[3] *= 1 - 1.2e-6 }, "value off"},
		"a value that is 0 by less":       {p, func(m *Map) { m.Values[0] = 1.9e-13 }, ""},
		"a value that is 0 by more":       {p, func(m *Map) { m.Values[0] = 2.2e-13 }, "value off at pair 1: "},
		"the order of pairs":              {p, func(m *Map) { slices.Reverse(m.Values[1:]); slices.Reverse(m.Vectors[1:]) }, "value off at pair 4: "},
		"a length by less than may be":    {p, func(m *Map) { scale(m.Vectors[1], 1+4e-11) }, ""},
		"a length by more":                {p, func(m *Map) { scale(m.Vectors[1], 1+6e-11) }, "orthogonality at vectors 2 and 2"},
		"a length by more, below":         {p, func(m *Map) { scale(m.Vectors[1], 1-6e-11) }, "orthogonality"},
		"an angle by more":                {p, func(m *Map) { algebra.AddTimes(1.5e-10, m.Vectors[0], m.Vectors[3]) }, "orthogonality at vectors 1 and 4"},
		"a vector by more":                {p, func(m *Map) { m.Vectors[2][5] += 1e-4 }, residual + " at pair 3"},
		"vectors that lack a pair":        {p, func(m *Map) { m.Vectors = m.Vectors[:3] }, residual + " at the map: want 4 pairs, got 4 values, 3 vectors"},
		"values that lack one":            {p, func(m *Map) { m.Values = m.Values[:3] }, residual},
		"a vector that lacks a number":    {p, func(m *Map) { m.Vectors[3] = m.Vectors[3][1:] }, residual + " at vector 4: want 72 numbers, got 71"},
		"steps that were not asked for":   {p, func(m *Map) { m.Diagonal = []float64{1} }, residual + " at the steps: want 0, got 1 of T"},
		"a kernel that is another pair's": {apart, func(m *Map) { m.Vectors[0], m.Vectors[2] = m.Vectors[2], m.Vectors[0]; m.Values[0] = m.Values[2] }, "values that are 0 at pair 1 of a graph in 2 parts"},
		"a kernel that is missed": {apart, func(m *Map) { // the first part remains
			g, _ := apart.graph()
			part, _ := g.components()
			for i, c := range part {
				m.Vectors[0][i] = float64(1 - c)
			}
			scale(m.Vectors[0], 1/algebra.Norm(m.Vectors[0]))
			m.Vectors[1] = m.Vectors[2]
		}, "angle of the kernel at part 2 of 2"},
	}
	for k := range 4 { // a NaN in any pair is detected
		for _, seen := range []string{residual, "value off"} {
			changes[fmt.Sprintf("a value %d that is none, by the %s", k, seen)] = change{p, func(m *Map) { m.Values[k] = math.NaN() }, seen}
		}
		for _, seen := range []string{residual, "orthogonality", "value off", "angle of"} {
			changes[fmt.Sprintf("a number of vector %d that is none, by the %s", k, seen)] = change{p, func(m *Map) { m.Vectors[k][5] = math.NaN() }, seen}
		}
	}
	for what, c := range changes {
		m := answers[c.of]
		m.Values, m.Vectors = slices.Clone(m.Values), slices.Clone(m.Vectors)
		for k, x := range m.Vectors {
			m.Vectors[k] = slices.Clone(x)
		}
		c.change(&m)
		list, _, err := c.of.measuresOf(m)
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for _, e := range list {
			if !e.IsWithinLimit() {
				seen = append(seen, e.Name)
			}
		}
		name, at, _ := strings.Cut(c.seen, " at ")
		if (c.seen == "") != (seen == nil) || c.seen != "" && !slices.ContainsFunc(list, func(e measure) bool {
			return !e.IsWithinLimit() && strings.HasPrefix(e.Name, name) && strings.HasPrefix(e.At, at)
		}) {
			t.Errorf("%s: seen by %q, want %q, of %v", what, seen, c.seen, list)
		}
	}
}

// Laws that compare with another image accept right pairs, and values wrong by half a tolerance.
// They detect larger errors, wrong vectors, NaN and missing pairs.
func lawsSeeOthers(t *testing.T) {
	define := func(p *Problem) Map {
		_, m := dense(t, p)
		return m
	}
	for _, c := range []struct {
		name    string
		laws    []string
		measure []func(*Problem, Map, ask) ([]measure, error)
	}{
		{"eigenmap/k=3/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=5x4x3/type=uint8/seed=1", []string{"spectrum", "flip"}, []func(*Problem, Map, ask) ([]measure, error){spectrum, flipped}},
		{"eigenmap/k=6/tol=6/sigma=300/floor=1000/corners=1/plain=1/of=noise/shape=3x2/type=uint8/seed=1", []string{"spectrum", "flip"}, []func(*Problem, Map, ask) ([]measure, error){spectrum, flipped}},
		{"eigenmap-patch/k=2/tol=6/alpha=100/beta=2/side=2/of=noise/shape=8x7/type=uint8/seed=1", []string{"flip"}, []func(*Problem, Map, ask) ([]measure, error){flipped}},
	} {
		p := open(t, c.name)
		right := define(p)
		for i, l := range c.measure {
			var asked Map
			for what, change := range map[string]func(m *Map){
				"nothing":                         func(m *Map) {},
				"half a tolerance":                func(m *Map) { m.Values[1] += 0.5e-6 },
				"a tolerance and a half":          func(m *Map) { m.Values[1] += 1.5e-6 },
				"a tolerance and a half, below":   func(m *Map) { m.Values[p.K-1] -= 1.5e-6 },
				"a value that is none":            func(m *Map) { m.Values[0] = math.NaN() },
				"a number of a vector":            func(m *Map) { m.Vectors[0][2] += 1e-3 },
				"a number of a vector, not one":   func(m *Map) { m.Vectors[0][2] = math.NaN() },
				"values that lack one":            func(m *Map) { m.Values = m.Values[:p.K-1] },
				"vectors one of which is another": func(m *Map) { m.Vectors[0] = m.Vectors[1] },
			} {
				if c.laws[i] == "flip" && strings.Contains(what, "vector") {
					continue // it compares only values
				}
				list, err := l(p, right, func(q *Problem) (Map, error) {
					if asked.Values == nil {
						asked = define(q)
					}
					m := asked
					m.Values, m.Vectors = slices.Clone(m.Values), slices.Clone(m.Vectors)
					m.Vectors[0] = slices.Clone(m.Vectors[0])
					change(&m)
					return m, nil
				})
				passes := err == nil && !slices.ContainsFunc(list, func(m measure) bool { return !m.IsWithinLimit() })
				where := map[string]string{"a tolerance and a half": "pair 2", "a tolerance and a half, below": fmt.Sprintf("pair %d", p.K), "a number of a vector": "mode [0 0 0]", "a value that is none": "pair 1"}[what]
				said := slices.ContainsFunc(list, func(m measure) bool { return !m.IsWithinLimit() && strings.HasPrefix(m.At, where) })
				if want := what == "nothing" || what == "half a tolerance"; passes != want || where != "" && !said {
					t.Errorf("%s: %s where %s is off: right is %v, %v, %v", c.name, c.laws[i], what, passes, list, err)
				}
			}
		}
	}
	for shape, want := range map[grid.Shape]bool{{D: 1, H: 9, W: 8}: true, {D: 1, H: 8, W: 9}: false} { // odd width
		values := make([]byte, shape.Voxels())
		for i := range values {
			values[i] = byte(i * i)
		}
		p := OfPatches(gridtest.OfBytes(t, shape, values...), 2, 1e-6, 100, 2, 2)
		if _, err := flipped(p, define(p), func(p *Problem) (Map, error) { return define(p), nil }); (err == nil) != want {
			t.Errorf("%v in reverse: %v", shape, err)
		}
	}
	// A value may be half a percent above the least cut, but not more than one percent.
	p := open(t, "eigenmap/k=2/tol=3/sigma=100/floor=1000/corners=0/plain=0/of=ball/shape=21x20/type=uint8")
	m := define(p)
	sweeps, err := p.sweeps(m)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Define()
	if err != nil {
		t.Fatal(err)
	}
	least := math.Inf(1)
	for _, cuts := range g.cuts(sweeps) {
		least = min(least, slices.Min(cuts))
	}
	for by, want := range map[float64]bool{0.5: true, 1.5: false} {
		m.Values[1] = least * (1 + by*ofProof)
		if list, err := cuts(p, m, nil); err != nil || list[0].IsWithinLimit() != want {
			t.Errorf("a value %v hundredths above the least cut: %v, %v", by, list, err)
		}
	}
}

// A projection of a vector nearly in the span leaves only rounding errors.
func projectionsLeaveNothing(t *testing.T) {
	off := [][]float64{make([]float64, 100), make([]float64, 100)}
	x := make([]float64, 100)
	for i := range x {
		off[i%2][i], x[i] = 1/math.Sqrt(50), Uniform(1, uint64(i))*1e-10+1
	}
	algebra.Project(x, off)
	for k, y := range off {
		if e := math.Abs(algebra.Dot(x, y)); e > 1e-14*algebra.Norm(x) {
			t.Errorf("%g of vector %d is left in %g", e, k, algebra.Norm(x))
		}
	}
}

// Limits agree with hand calculation, and the largest matrix with a proof is as specified.
func limitsOfLaws(t *testing.T) {
	flat := gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 4}, 1, 2, 3, 4)
	for _, c := range []struct {
		p    *Problem
		want float64
	}{
		{OfVoxels(flat, 2, 1e-3, 1, 0.5, false, false), 2}, {OfVoxels(flat, 2, 1e-3, 1, 0.5, false, true), 4 * 3 * 1.5}, {OfVoxels(flat, 2, 1e-3, 1, 0.5, true, true), 4 * 13 * 1.5},
		{OfVoxels(flat, 2, 1e-3, 1, 0, false, true).WithRadius(2), 4 * 16}, {OfPatches(flat, 2, 1e-3, 40, 5, 1), 2},
	} {
		if got := c.p.length(); got != c.want {
			t.Errorf("%+v: a norm of %v, want %v", c.p, got, c.want)
		}
	}
	for n, want := range map[int]bool{1817: true, 1818: false} {
		if got := factored(n); got != want {
			t.Errorf("%d patches are factored: %v", n, got)
		}
	}
	// The omitted share of rows counts three times as residual.
	p := open(t, "eigenmap-patch/k=2/tol=1/alpha=300/beta=1/side=1/of=noise/shape=20x3/type=uint8/seed=1")
	_, m := dense(t, p)
	if c, err := p.certify(m); err != nil || math.Abs(c.residuals[1]-3e-5) > 1e-12 {
		t.Errorf("residuals %v, %v", c.residuals, err)
	}
	q := open(t, "eigenmap-lanczos/steps=5/alpha=40/beta=2/side=1/start=3/of=noise/shape=6x5/type=uint8/seed=1")
	taken, err := q.lanczos()
	if err != nil {
		t.Fatal(err)
	}
	if list, _, err := q.pairs(taken); err != nil || list[0].Limit != 2 || list[1].Limit != 1e-10 {
		t.Errorf("%v, %v", list, err)
	}
	// The cosines of four voxels in a row have the values 0, 2 − √2 and 2 for weights of 1.5. The
	// limit of the angle depends on the gap above the last pair; all pairs have no gap.
	for k, want := range map[int]float64{2: 2*math.Sqrt2*1e-3/(1.5*math.Sqrt2) + 1e-9, 4: 1e-9} {
		list, err := spectrum(OfVoxels(flat, k, 1e-3, 1, 0.5, false, true), Map{}, func(p *Problem) (Map, error) {
			_, m := dense(t, p)
			return m, nil
		})
		if err != nil || len(list) != 2 || list[0].Limit != 1e-3 || math.Abs(list[1].Limit-want) > 1e-12 {
			t.Errorf("%d pairs: %v, %v, want an angle of %v", k, list, err, want)
		}
	}
}

// A law returns the error if any read of the image fails, if a derived question has no answer, and
// if the map does not fit the problem. The measures of pairs do too.
func failuresAreTold(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=3/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=6x5/type=uint8/seed=1", "eigenmap-patch/k=2/tol=6/alpha=100/beta=2/side=2/of=noise/shape=8x6/type=uint8/seed=1",
		"eigenmap-lanczos/steps=5/alpha=40/beta=2/side=1/start=3/of=noise/shape=6x5/type=uint8/seed=1",
	} {
		p, policy := open(t, name), certifiedPolicy()
		_, m := dense(t, p)
		if p.Kind == Lanczos {
			policy = stepsPolicy()
			m, _ = p.lanczos()
		}
		measures := []func(p *Problem) ([]measure, error){
			func(p *Problem) ([]measure, error) { return policy.Distance(p, m, m), nil },
			func(p *Problem) ([]measure, error) { _, err := p.Residuals(m); return nil, err },
			func(p *Problem) ([]measure, error) {
				return Complete(p)[0].Measure(p, m, nil)
			},
		}
		answered := func(*Problem) (Map, error) { return m, nil }
		for _, l := range policy.Laws {
			measures = append(measures, func(p *Problem) ([]measure, error) { return l.Measure(p, m, answered) })
			list, err := l.Measure(p, m, func(*Problem) (Map, error) { return Map{}, gridtest.ErrUnread })
			if passes := !errors.Is(err, gridtest.ErrUnread) && !errors.Is(err, verify.ErrNotApplicable); passes != (l.Calls == 0 && l.Name != nothingBelow().Name) {
				t.Errorf("%s: %q of no answer: %v, %v", name, l.Name, list, err)
			}
			for _, less := range []Map{{}, {Values: m.Values, Vectors: m.Vectors[1:], Steps: m.Steps}} {
				list, err := l.Measure(p, less, answered)
				if err == nil && l.Calls == 0 && !slices.ContainsFunc(list, func(m measure) bool { return !m.IsWithinLimit() }) {
					t.Errorf("%s: %q of %d vectors: %v", name, l.Name, len(less.Vectors), list)
				}
			}
		}
		for k, measure := range measures {
			for reads := int64(0); ; reads++ {
				broken := gridtest.BreaksAfter(p.Source, reads, nil)
				list, err := measure(p.ForImage(broken))
				if err == nil && len(list) > 0 && strings.Contains(list[0].At, gridtest.ErrUnread.Error()) && !list[0].IsWithinLimit() {
					err = gridtest.ErrUnread
				}
				if failed := broken.Left() < 0; failed != errors.Is(err, gridtest.ErrUnread) {
					t.Errorf("%s: measure %d where read %d fails, %v: %v, %v", name, k, reads, failed, list, err)
				}
				if broken.Left() >= 0 {
					break
				}
			}
		}
	}
	// A problem whose proofs take too much time or memory gets a search.
	for name, want := range map[string][]law{
		"eigenmap-patch/k=2/tol=6/alpha=40/beta=1/side=1/of=noise/shape=45x40/type=uint8/seed=1": {nothingMissed()}, "eigenmap-patch/k=2/tol=6/alpha=40/beta=1/side=1/of=noise/shape=46x40/type=uint8/seed=1": {nothingFound()},
		"eigenmap/k=2/tol=6/sigma=100/floor=0/corners=0/plain=0/of=constant/shape=1024x1024/type=uint8": {nothingMissed()}, "eigenmap/k=2/tol=6/sigma=100/floor=0/corners=0/plain=0/of=constant/shape=96x96x96/type=uint8": {nothingBelow()},
		"eigenmap/k=2/tol=6/sigma=100/floor=0/corners=0/plain=0/of=constant/shape=44x44x44/type=uint8":    {nothingBelow(), nothingMissed()},
		"eigenmap/k=2/tol=6/sigma=100/floor=0/corners=0/plain=0/of=constant/shape=512x512x512/type=uint8": {nothingFound()},
	} {
		same := func(a, b law) bool { return a.Name == b.Name }
		if laws := Complete(open(t, name)); !slices.EqualFunc(laws, want, same) {
			t.Errorf("%s: %d laws, the first is %q", name, len(laws), laws[0].Name)
		}
	}
}

// Random numbers are the known outputs of SplitMix64 for a seed.
func numbersAreOfTheSeed(t *testing.T) {
	p := Problem{Seed: 1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := p.Start(i); got != float64(want>>11)/(1<<53)-0.5 {
			t.Errorf("number %d is %v", i, got)
		}
	}
}

// The estimated time of laws counts edges, nodes and products, on all cores except for the
// factorisation of patches.
func estimatesByHand(t *testing.T) {
	if cores := runtime.GOMAXPROCS(2); cores != 2 {
		defer runtime.GOMAXPROCS(cores)
	}
	edge := func(fast float64) float64 { // for patches
		if Vectors() {
			return fast
		}
		return 20
	}
	// Twice the exponent up to which n patches are visited, if a share of a row may be omitted.
	twice := func(n, left float64) float64 { return 2 * (math.Log(n) - math.Log(1e-2) - math.Log(left)) }
	flat, solid := math.Pi*twice(400, 1e-12)*1, 4./3*math.Pi*math.Pow(twice(1000, 1e-12), 1.5)
	near, nearSolid := math.Pi*2*math.Log(1e3), 4./3*math.Pi*math.Pow(2*math.Log(1e3), 1.5)
	for name, c := range map[string]struct {
		policy verify.Policy[*Problem, Map]
		edges  float64 // edges of a pass, on two cores
		want   []float64
	}{
		"eigenmap/k=2/tol=8/sigma=100/floor=0/corners=0/plain=0/of=noise/shape=7x5x3/type=uint8/seed=1":        {certifiedPolicy(), 20 * 6 * 105 / 2, []float64{0, (inertia.ProductNS()*(2*(45*45*45/6.+45*45*15/2.+45*15*15/2.)+15*15*15/6.) + inertia.NodeNS()*105) / 2, 3 * 40 * 30 * 105 / 2, 100 * 105 / 2, 0, 5 * 105 / 2}},
		"eigenmap/k=2/tol=8/sigma=100/floor=0/corners=0/plain=0/radius=2/of=noise/shape=7x5/type=uint8/seed=1": {certifiedPolicy(), 20 * 32 * 35 / 2, []float64{0, (inertia.ProductNS()*35*35*35/6. + inertia.NodeNS()*35) / 2, 3 * 40 * 30 * 35 / 2, 100 * 35 / 2, 0, 5 * 35 / 2}},
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=1/side=2/of=noise/shape=40x40/type=uint8/seed=1":               {certifiedPolicy(), edge(4.25) * 400 * flat / 2, []float64{0, 400 * 400 * 400, 3 * 40 * 400 * (30 + near) / 2, 100 * 400 / 2, 0, 5 * 400 / 2}},
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=1/side=1/of=noise/shape=10x10x10/type=uint8/seed=1":            {certifiedPolicy(), edge(4.0625) * 1000 * min(1000, solid) / 2, []float64{0, 1000 * 1000 * 1000, 3 * 40 * 1000 * (30 + nearSolid) / 2, 100 * 1000 / 2, 0, 5 * 1000 / 2}},
		"eigenmap-lanczos/steps=7/alpha=40/beta=50/side=2/start=1/of=noise/shape=40x40/type=uint8/seed=1":      {stepsPolicy(), edge(4.25) * 400 * 400 / 2, []float64{12 * 7 * 400 / 2, 7 * 7 * 400 * 4}},
	} {
		p := open(t, name)
		passes := []float64{0, 3, 3, 0, 2, 0}
		switch p.Kind {
		case Grid:
			passes[1] = 0
		case Lanczos:
			passes = []float64{3, 7}
		}
		calls := []float64{0, 0, 0, 1, 0, 1}
		for k, l := range c.policy.Laws {
			if l.Calls != calls[k] || l.Independent != (k <= 1) {
				t.Errorf("%q takes %v calls, independent %v", l.Name, l.Calls, l.Independent)
			}
			if got, want := float64(l.Work(p)), passes[k]*c.edges+c.want[k]; math.Abs(got-want) > 3 {
				t.Errorf("%s: %q is said to take %v ns, want %v", name, l.Name, got, want)
			}
		}
	}
	if took := factoring(open(t, "eigenmap-patch/k=2/tol=8/alpha=40/beta=1/side=1/of=noise/shape=60x60/type=uint8/seed=1")); took != 0 {
		t.Errorf("what is too large to be factored is said to take %v", took)
	}
	large := open(t, "eigenmap/k=2/tol=8/sigma=100/floor=0/corners=0/plain=0/of=constant/shape=96x96x96/type=uint8")
	per := 6000 + 3*3000
	if !algebra.Fast() {
		per *= 3
	}
	if took, memory := solving(large), systems(large); int(took) != 96*96*96*per/2 || memory != 96*96*96*(512+3*32) {
		t.Errorf("a random system of 96x96x96 is said to take %v and %d bytes", took, memory)
	}
	for shape, want := range map[string]bool{"1024x1024": false, "20x20x20": false, "28x28x28": true} {
		p := open(t, "eigenmap/k=2/tol=8/sigma=100/floor=0/corners=0/plain=0/of=constant/shape="+shape+"/type=uint8")
		if by := solving(p) > 0; by != want && algebra.Fast() {
			t.Errorf("a random system of %s is tried: %v", shape, by)
		}
	}
}

// A problem without an answer is rejected, and one just within the limits is not.
func problemsAreRefused(t *testing.T) {
	image := func(d, h, w int64) grid.Source {
		s := grid.Shape{D: d, H: h, W: w}
		return gridtest.OfBytes(t, s, make([]byte, s.Voxels())...)
	}
	flat, solid, large := image(1, 4, 6), image(2, 4, 6), image(1, 182, 364)
	nan, inf := math.NaN(), math.Inf(1)
	voxels := func(k int, tol, sigma, floor float64, corners bool, radius int64) *Problem {
		return OfVoxels(flat, k, tol, sigma, floor, corners, false).WithRadius(radius)
	}
	patches := func(s grid.Source, k int, tol, alpha, beta float64, side int64) *Problem {
		return OfPatches(s, k, tol, alpha, beta, side)
	}
	steps := func(k, steps int) *Problem { return OfSteps(flat, k, steps, 1, 40, 5, 2) }
	for _, c := range []struct {
		want string // "" if it has one
		list []*Problem
	}{
		{"", []*Problem{voxels(24, 1e-6, 1, 0, true, 1), voxels(1, 0.999, 1e-9, 1e9, false, 64), patches(flat, 6, 1e-6, 1, 1, 2), patches(solid, 6, 1e-6, 1, 1, 2), patches(flat, 1, 1e-6, 1e-9, 1e9, 3), patches(large, 2, 1e-6, 1, 1, 181), steps(2, 2), steps(2, 6), steps(6, 6)}},
		{"radius", []*Problem{voxels(1, 1e-6, 1, 0, false, 0), voxels(1, 1e-6, 1, 0, false, 65), voxels(1, 1e-6, 1, 0, true, 2)}},
		{"sigma", []*Problem{voxels(1, 1e-6, 0, 0, false, 1), voxels(1, 1e-6, nan, 0, false, 1), voxels(1, 1e-6, inf, 0, false, 1)}},
		{"floor", []*Problem{voxels(1, 1e-6, 1, -1e-9, false, 1), voxels(1, 1e-6, 1, nan, false, 1), voxels(1, 1e-6, 1, inf, false, 1)}},
		{"pairs of", []*Problem{voxels(0, 1e-6, 1, 0, false, 1), voxels(25, 1e-6, 1, 0, false, 1), patches(flat, 7, 1e-6, 1, 1, 2)}},
		{"tolerance", []*Problem{voxels(1, 0, 1, 0, false, 1), voxels(1, 1, 1, 0, false, 1), voxels(1, nan, 1, 0, false, 1), patches(flat, 2, -1e-6, 1, 1, 2)}},
		{"patches of", []*Problem{patches(flat, 1, 1e-6, 1, 1, 0), patches(flat, 1, 1e-6, 1, 1, 5), patches(solid, 1, 1e-6, 1, 1, 3), patches(large, 1, 1e-6, 1, 1, 182)}},
		{"alpha", []*Problem{patches(flat, 1, 1e-6, 0, 1, 2), patches(flat, 1, 1e-6, 1, 0, 2), patches(flat, 1, 1e-6, inf, 1, 2), patches(flat, 1, 1e-6, 1, nan, 2)}},
		{"a graph of 1 node", []*Problem{patches(flat, 1, 1e-6, 1, 1, 4)}},
		{"steps for", []*Problem{steps(2, 1), steps(3, 2), steps(2, 7)}},
	} {
		for i, p := range c.list {
			if err := p.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("problem %d of %q: %v", i, c.want, err)
			}
		}
	}
	if err := steps(2, 2).CheckKind(Grid, Patch); err == nil || !strings.Contains(err.Error(), "answers [eigenmap eigenmap-patch], not eigenmap-lanczos") {
		t.Error(err)
	}
	if err := steps(2, 2).CheckKind(Grid, Lanczos); err != nil {
		t.Error(err)
	}
}

// A search finds any missing pair if factoring is too large.
func searchFinds(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=5/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=20x19/type=float32/levels=1024/smooth=3/seed=1", "eigenmap-patch/k=5/tol=6/alpha=40/beta=2/side=2/of=grf/shape=32x30/type=uint8/smooth=3/seed=1",
	} {
		p := open(t, name)
		_, all := dense(t, p)
		q := open(t, strings.Replace(name, "k=5", "k=4", 1))
		for without := range 5 {
			m := Map{Values: slices.Delete(slices.Clone(all.Values), without, without+1), Vectors: slices.Delete(slices.Clone(all.Vectors), without, without+1)}
			for _, l := range []struct {
				name    string
				measure func(*Problem, Map, ask) ([]measure, error)
				said    string // part of the position
			}{{"search", search, "start %g of 3 finds %g"}, {"inertia", complete, "%g, by %s"}} {
				list, err := l.measure(q, m, nil)
				if err != nil {
					t.Fatal(err)
				}
				last := list[len(list)-1]
				if (last.Value > last.Limit) != (without < 4) {
					t.Errorf("%s, %s without pair %d: %v", name, l.name, without+1, last)
				}
				if l.name == "inertia" {
					continue
				}
				var from, value float64
				n, err := fmt.Sscanf(last.At, l.said, &from, &value)
				if from < 1 || from > starts || last.Value != max(0, m.Values[3]-value) || n != 2 || err != nil {
					t.Errorf("%s, %s: %v is %q", name, l.name, last, last.At)
				}
			}
		}
	}
}

// A search finds the lowest value of a line so long that steps alone do not reach from one end to
// the other.
func searchComesFar(t *testing.T) {
	g, err := open(t, "eigenmap/k=1/tol=6/sigma=100/floor=0/corners=0/plain=1/of=constant/shape=500x1/type=uint8").Define()
	if err != nil {
		t.Fatal(err)
	}
	kernel := slices.Repeat([]float64{1 / math.Sqrt(500)}, 500)
	c, apply := g.searching()
	x := g.seek(apply, [][]float64{kernel}, c, 1)
	got, want := g.Apply([][]float64{make([]float64, len(x))}, [][]float64{x})[0], 4*math.Pow(math.Sin(math.Pi/1000), 2)
	if !(got < want*(1+1e-7)) {
		t.Errorf("a search comes to %g, the value is %g", got, want)
	}
	// Nothing is left outside of a complete span.
	two, err := open(t, "eigenmap/k=2/tol=6/sigma=100/floor=0/corners=0/plain=1/of=constant/shape=2x1/type=uint8").Define()
	if err != nil {
		t.Fatal(err)
	}
	if c, apply := two.searching(); two.seek(apply, [][]float64{{1, 0}, {0, 1}}, c, 1) != nil {
		t.Error("something is left of a whole space")
	}
	// It continues without blocks that are not factored.
	x = g.seek(apply, [][]float64{kernel}, nil, 1)
	if less := g.Apply([][]float64{make([]float64, len(x))}, [][]float64{x})[0]; !(less > got && less < 0.1) {
		t.Errorf("a search without blocks comes to %g, with them to %g", less, got)
	}
}

// A set's cut is never below the second value, and is close to it if a weak link connects two halves.
func cutsBound(t *testing.T) {
	p := open(t, "eigenmap/k=2/tol=8/sigma=100/floor=1000/corners=0/plain=0/of=ball/shape=21x20/type=uint8")
	_, m := dense(t, p)
	list, err := cuts(p, m, nil)
	if err != nil || !(list[0].Value <= 1) || list[0].Value < 0.5 {
		t.Errorf("%v, %v", list, err)
	}
	m.Values[1] *= 3
	if list, _ := cuts(p, m, nil); list[0].IsWithinLimit() {
		t.Errorf("a value three times as large: %v", list)
	}
	inside := 0
	for _, in := range p.Nodewise(m) {
		if in {
			inside++
		}
	}
	if inside == 0 || inside > 210 {
		t.Errorf("the mask has %d of 420 voxels", inside)
	}
}

// A cut is the Rayleigh quotient of its set's vector.
func cutsAreQuotients(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=2/tol=8/sigma=100/floor=1000/corners=1/plain=0/of=noise/shape=9x7x5/type=uint8/seed=5",
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=grf/shape=67x51/type=float32/levels=1024/smooth=3/seed=3",
		"eigenmap/k=2/tol=8/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=9001x1/type=uint8/seed=5", // parts
	} {
		p := open(t, name)
		m := Map{Vectors: [][]float64{nil, make([]float64, p.Nodes().Voxels())}}
		for i := range m.Vectors[1] {
			m.Vectors[1][i] = Uniform(1, uint64(i))
		}
		g, err := p.Define()
		if err != nil {
			t.Fatal(err)
		}
		sweeps, err := p.sweeps(m)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for s, cuts := range g.cuts(sweeps) {
			for k, cut := range cuts {
				x, inside, all := make([]float64, g.Nodes()), 0.0, algebra.Sum(g.mass)
				for i, r := range sweeps[s].rank {
					if int(r) <= k {
						inside += g.mass[i]
					}
				}
				if math.IsInf(cut, 1) {
					if inside > 0 && inside < all*(1-1e-12) {
						t.Errorf("%s: no cut of %v of %v", sweeps[s].names[k], inside, all)
					}
					continue
				}
				for i, r := range sweeps[s].rank {
					x[i] = -math.Sqrt(g.mass[i]) / (all - inside)
					if int(r) <= k {
						x[i] = math.Sqrt(g.mass[i]) / inside
					}
				}
				scale(x, 1/algebra.Norm(x))
				if want := g.Apply([][]float64{make([]float64, len(x))}, [][]float64{x})[0]; math.Abs(cut-want) > 1e-12 {
					t.Errorf("%s: %v, not %v", sweeps[s].names[k], cut, want)
				}
				seen++
			}
		}
		if seen < 20 {
			t.Errorf("%s: %d cuts", name, seen)
		}
	}
}

// The sets for cuts: halves along each axis, and prefixes of 16 parts of the sorted values without
// the last.
func sweepsAreEven(t *testing.T) {
	for _, name := range []string{"eigenmap/k=2/tol=8/sigma=100/floor=1000/corners=0/plain=0/of=distinct/shape=9x7x5/type=float32/seed=5", "eigenmap-patch/k=2/tol=8/alpha=400/beta=9/side=1/of=distinct/shape=15x9/type=uint8/seed=5"} {
		p := open(t, name)
		_, m := dense(t, p)
		sweeps, err := p.sweeps(m)
		if err != nil {
			t.Fatal(err)
		}
		s, n := p.Nodes(), int(p.Nodes().Voxels())
		mask := 0
		for _, in := range p.Nodewise(m) {
			if in {
				mask++
			}
		}
		want := [][]int{{mask}, {n / int(s.W) * int(s.W/2)}, {n / int(s.H) * int(s.H/2)}, {n / int(s.D) * int(s.D/2)}, nil, nil}
		for k := 1; k < 16; k++ {
			for i := 4; i < 6; i++ {
				want[i] = append(want[i], n*k/16)
			}
		}
		for i, sweep := range sweeps {
			var got []int
			for k := range sweep.names {
				inside := 0
				for _, r := range sweep.rank {
					if int(r) <= k {
						inside++
					}
				}
				got = append(got, inside)
			}
			if len(sweeps) != len(want) || !slices.Equal(got, want[i]) {
				t.Errorf("%s: %s and so on have %v nodes, want %v", name, sweep.names[0], got, want[i])
			}
		}
	}
}

func maskOfPatches(t *testing.T) {
	p := OfPatches(gridtest.OfBytes(t, grid.Shape{D: 1, H: 5, W: 7}, make([]byte, 35)...), 2, 1e-6, 40, 5, 2)
	m := Map{Values: []float64{0, 1}, Vectors: [][]float64{make([]float64, 6), {0.1, -0.9, 0.1, 0.2, -0.3, 0.1}}}
	nodes := p.Nodewise(m)
	if !slices.Equal(nodes, []bool{false, true, false, false, true, false}) {
		t.Error(nodes)
	}
	voxels := Voxelwise(p, nodes)
	for i, in := range voxels {
		x, y := i%7, i/7
		if want := nodes[min(y/2, 1)*3+min(x/2, 2)]; in != want {
			t.Errorf("voxel %d, %d is %v", x, y, in)
		}
	}
}

// A mask has patches that are cubes in a volume, and single voxels for the graph of voxels. A
// vector has the sign of its largest number, the first of several.
func maskOfCubes(t *testing.T) {
	s := grid.Shape{D: 5, H: 4, W: 7}
	p := OfPatches(gridtest.OfBytes(t, s, make([]byte, s.Voxels())...), 2, 1e-6, 40, 5, 2)
	nodes := make([]int, 12)
	for i := range nodes {
		nodes[i] = i
	}
	for i, got := range Voxelwise(p, nodes) {
		z, y, x := s.Coordinates(int64(i))
		if want := int((min(z/2, 1)*2+y/2)*3 + min(x/2, 2)); got != want {
			t.Errorf("voxel %d, %d, %d is of patch %d, want %d", x, y, z, got, want)
		}
	}
	q := OfVoxels(p.Source, 1, 1e-6, 1, 0, false, false)
	if got := Voxelwise(q, []int{5, 6}); !slices.Equal(got, []int{5, 6}) {
		t.Errorf("voxels of a mask are %v", got)
	}
	if in := q.Nodewise(Map{Values: []float64{0}, Vectors: [][]float64{{1}}}); slices.Contains(in, true) || int64(len(in)) != s.Voxels() {
		t.Errorf("a single vector has the mask %v", in)
	}
	for _, c := range [][2][]float64{{{1, -2, 2}, {-1, 2, -2}}, {{1, 2, -2}, {1, 2, -2}}, {{0, -1}, {0, 1}}, {{0, 0}, {0, 0}}} {
		if got := Signed(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%v signed is %v, want %v", c[0], got, c[1])
		}
	}
}

// The costs in a table: the counted steps, the bytes read and written, and the answers in the
// table.
func costs(t *testing.T) {
	const of = "noise/shape=8x6x4/levels=16/type=uint8/seed=3"
	classes := map[string]bool{}
	for name, want := range map[string]bench.Cost{
		"eigenmap/k=3/tol=1e-5/sigma=0.07/floor=1e-5/corners=1/plain=1/of=" + of:          {Items: 192, Bytes: 192 + 8*3*192, Unit: "vox"},
		"eigenmap/k=3/tol=1e-5/sigma=0.07/floor=1e-5/corners=0/plain=1/radius=3/of=" + of: {Items: 192, Bytes: 192 + 8*3*192, Unit: "vox"},
		"eigenmap/k=3/tol=1e-5/sigma=0.07/floor=1e-5/corners=0/plain=1/of=" + of:          {Items: 192, Bytes: 192 + 8*3*192, Unit: "vox"},
		"eigenmap-patch/k=2/tol=1e-7/alpha=30/beta=4/side=2/of=" + of:                     {Items: 24, Bytes: 192 + 8*2*24, Unit: "patch"},
		"eigenmap-lanczos/steps=5/alpha=30/beta=4/side=2/start=9/of=" + of:                {Items: 5, Bytes: 192 + 8*(2+5)*24, Unit: "matvec"},
	} {
		p := open(t, name)
		got := Inputs(p.Kind).Cost(name, p)
		keys, _, _ := strings.Cut(name, "/of=")
		_, keys, _ = strings.Cut(keys, "/")
		if got.Items != want.Items || got.Bytes != want.Bytes || got.Unit != want.Unit || !strings.HasPrefix(got.Class, keys+"/") || classes[got.Class] {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		classes[got.Class] = true
		if p.Image() != p.Source || len(p.Keys()) == 0 {
			t.Errorf("%s: keys %v", name, p.Keys())
		}
	}
	for values, want := range map[[2]byte]bool{{7, 7}: true, {7, 8}: false} {
		p := OfVoxels(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 2}, values[0], values[1]), 1, 1e-6, 1, 0, false, false)
		if said := weak(p, Map{}); (said != "") != want {
			t.Errorf("values %v are weak: %q", values, said)
		}
	}
}

func namesAndSharing(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=3/tol=5/sigma=70/floor=10/corners=1/plain=1/of=noise/shape=9x8x7/levels=16/type=uint8/seed=3", "eigenmap/k=3/tol=5/sigma=70/floor=10/corners=0/plain=1/radius=3/of=noise/shape=9x8x7/levels=16/type=uint8/seed=3", "eigenmap-patch/k=2/tol=7/alpha=30/beta=4/side=2/of=noise/shape=9x8/levels=16/type=float32/seed=3",
		"eigenmap-lanczos/steps=5/alpha=30/beta=4/side=2/start=9/of=noise/shape=9x8/levels=16/type=float32/seed=3",
	} {
		p := open(t, name)
		kind, _, _ := strings.Cut(name, "/")
		in := Inputs(kind)
		path := filepath.Join(t.TempDir(), "shared")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := in.Share(p, file); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || int64(len(data)) > in.Size(p) {
			t.Fatalf("%d bytes of %d, %v", len(data), in.Size(p), err)
		}
		q, err := in.Attach(data)
		if err != nil || q.K != p.K || q.Tol != p.Tol || q.Steps != p.Steps || q.Sigma != p.Sigma || q.Floor != p.Floor || q.Corners != p.Corners || q.Radius != p.Radius || q.Plain != p.Plain || q.Alpha != p.Alpha || q.Beta != p.Beta || q.Side != p.Side || q.Seed != p.Seed {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
		for _, smaller := range in.Smaller(name) {
			if _, err := in.Open(smaller); err != nil {
				t.Error(err)
			}
		}
	}
	for _, bad := range []string{
		"eigenmap/k=0/tol=6/sigma=100/floor=0/corners=0/plain=0/of=noise/shape=3x3", "eigenmap/k=10/tol=6/sigma=100/floor=0/corners=0/plain=0/of=noise/shape=3x3", "eigenmap/k=1/tol=6/sigma=0/floor=0/corners=0/plain=0/of=noise/shape=3x3",
		"eigenmap/k=1/tol=6/sigma=100/floor=0/corners=0/plain=0/of=noise/shape=1x1", "eigenmap/k=1/tol=13/sigma=100/floor=0/corners=0/plain=0/of=noise/shape=3x3", "eigenmap/k=1/of=noise/shape=3x3",
	} {
		if _, err := Inputs(Grid).Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := Inputs(Patch).Open("eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=5/of=noise/shape=9x4/type=uint8"); err == nil || !strings.Contains(err.Error(), "want 1 to 4") {
		t.Error(err)
	}
}

// Names have these default values and reject values out of range.
func namesHold(t *testing.T) {
	nametest.Holds(t, form(Grid), "eigenmap/k=4/tol=1e-6/sigma=0.1/floor=0.001/corners=0/plain=0/of=x", map[string][2]float64{
		"k": {1, 1024}, "tol": {1e-12, 0.1}, "sigma": {1e-6, 10}, "floor": {0, 1}, "corners": {0, 1}, "plain": {0, 1}, "radius": {1, 64},
	})
	nametest.Holds(t, form(Patch), "eigenmap-patch/k=2/tol=1e-8/alpha=40/beta=5/side=4/of=x", map[string][2]float64{
		"k": {1, 1024}, "tol": {1e-12, 0.1}, "alpha": {1e-3, 1 << 20}, "beta": {1e-3, 1 << 20}, "side": {1, 1024},
	})
	nametest.Holds(t, form(Lanczos), "eigenmap-lanczos/steps=250/alpha=40/beta=5/side=4/start=1/of=x", map[string][2]float64{
		"steps": {2, 1 << 20}, "alpha": {1e-3, 1 << 20}, "beta": {1e-3, 1 << 20}, "side": {1, 1024}, "start": {0, 1 << 40},
	})
}

func encoding(t *testing.T) {
	pairs := Map{Values: []float64{0, 0.5}, Vectors: [][]float64{{1, 2, math.Inf(1)}, {-1, 0, 3}}}
	steps := pairs
	steps.Steps = Steps{[]float64{1, 2, 3}, []float64{4, 5}, []float64{9, 8, 7, 6, 5, 4, 3, 2, 1}}
	for _, m := range []Map{{Values: nil, Vectors: [][]float64{}}, pairs, steps} {
		var b bytes.Buffer
		if err := Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		if g, err := Decode(b.Bytes()); err != nil || !reflect.DeepEqual(g, m) {
			t.Errorf("%v, not %v, %v", g, m, err)
		}
		for _, bad := range [][]byte{nil, b.Bytes()[:b.Len()-1], b.Bytes()[:b.Len()-8], append(b.Bytes(), make([]byte, 8)...), bytes.Repeat([]byte{255}, 40), append(make([]byte, 23), 200), append(append(make([]byte, 15), 200), make([]byte, 8)...)} {
			if g, err := Decode(bad); err == nil {
				t.Errorf("%d bytes: %v", len(bad), g)
			}
		}
	}
	steps.OffDiagonal = steps.OffDiagonal[:1]
	if err := Encode(io.Discard, steps); err == nil {
		t.Error("a matrix that lacks a number is written")
	}
}

// The recurrence detects a change in any part of the result of steps, and accepts the definition's
// steps.
func recurrenceSees(t *testing.T) {
	p := open(t, "eigenmap-lanczos/steps=20/alpha=40/beta=1/side=4/start=3/of=grf/shape=64x60/type=uint8/smooth=3/seed=1")
	taken := func() Map {
		m, err := p.lanczos()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	n := int(p.Nodes().Voxels())
	for name, change := range map[string]func(m *Map){
		"nothing":                   func(*Map) {},
		"a number of T":             func(m *Map) { m.Diagonal[7] += 1e-7 },
		"the last number of T":      func(m *Map) { m.Diagonal[19] += 1e-7 },
		"a number beside":           func(m *Map) { m.OffDiagonal[11] += 1e-7 },
		"a number of a vector":      func(m *Map) { m.Basis[9*n+5] += 1e-6 },
		"the last vector":           func(m *Map) { m.Basis[19*n+5] += 1e-6 },
		"the start":                 func(m *Map) { m.Basis[3] += 1e-6 },
		"the sign of a vector":      func(m *Map) { scale(m.Basis[4*n:5*n], -1) },
		"a value":                   func(m *Map) { m.Values[0] += 1e-7 },
		"a pair that is not lowest": func(m *Map) { m.Values[1], m.Vectors[1] = p.ritz(t, *m, 2) },
		"a vector that is off":      func(m *Map) { m.Vectors[1][4] += 1e-7 },
		"a number that is not one":  func(m *Map) { m.Basis[2*n+1] = math.NaN() },
		"T that is not a number":    func(m *Map) { m.Diagonal[3] = math.NaN() },
		"a step less":               func(m *Map) { m.Diagonal, m.OffDiagonal, m.Basis = m.Diagonal[:19], m.OffDiagonal[:18], m.Basis[:19*n] },
		"a start of another seed":   func(m *Map) { q := *p; q.Seed++; *m, _ = q.ready().lanczos() },
		"steps of another alpha":    func(m *Map) { q := *p; q.Alpha++; *m, _ = q.ready().lanczos() },
		"another space, as good": func(m *Map) {
			q := *p
			q.Steps++
			*m, _ = q.ready().lanczos()
			m.Diagonal, m.OffDiagonal, m.Basis = m.Diagonal[:20], m.OffDiagonal[:19], m.Basis[:20*n]
		},
		"steps that do not continue": func(m *Map) { m.OffDiagonal[12] = 0 },
	} {
		m := taken()
		change(&m)
		list, err := recurrence(p, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		right := true
		for _, e := range list {
			if !e.IsWithinLimit() {
				right = false
			}
		}
		if right != (name == "nothing") {
			t.Errorf("%s: %v", name, list)
		}
		if name == "nothing" || name == "a value" {
			list, err := stepped(p, m, nil)
			if err != nil || list[len(list)-1].IsWithinLimit() != right || !strings.Contains(list[len(list)-1].Name, "steps") {
				t.Errorf("%s: by the definition's steps %v, %v", name, list, err)
			}
		}
	}
}

// The rounding error of 4 steps of 8 patches agrees with hand calculation. A column has eight units
// of sums of 16 terms, and all columns have ten times that.
func limitsByHand(t *testing.T) {
	p := OfSteps(gridtest.OfBytes(t, grid.Shape{D: 1, H: 2, W: 4}, make([]byte, 8)...), 2, 4, 1, 40, 5, 1)
	if got, want := p.rounded(), 10*(8*2*4./(1<<53))+3e-16; math.Abs(got-want) > 1e-20 {
		t.Errorf("rounding may leave %g, want %g", got, want)
	}
	if a, b, nan := larger(1, 2), larger(2, 1), larger(1, math.NaN()); a != 2 || b != 2 || !math.IsNaN(nan) {
		t.Errorf("the larger of 1 and 2 is %v and %v, and of what is no number %v", a, b, nan)
	}
}

// ritz returns a pair of T as a map contains it.
func (p *Problem) ritz(t *testing.T, m Map, k int) (float64, []float64) {
	s := mat.NewSymDense(len(m.Diagonal), nil)
	for i, a := range m.Diagonal {
		if s.SetSym(i, i, a); i > 0 {
			s.SetSym(i-1, i, m.OffDiagonal[i-1])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		t.Fatal("no eigenvalues")
	}
	var u mat.Dense
	e.VectorsTo(&u)
	return e.Values(nil)[k], m.combined(mat.Col(nil, k, &u))
}

// Only the residual is shown with a number.
func residualIsTold(t *testing.T) {
	p := open(t, "eigenmap/k=3/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=20x19/type=uint8/smooth=3/seed=1")
	_, m := dense(t, p)
	policy := OnGrid().Policy
	list := policy.Distance(p, m, m)
	more, err := policy.Laws[1].Measure(p, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, beside := append(list, more...), 0
	for _, e := range all {
		if !e.Aside {
			beside++
		}
		if e.Aside == (e.Name == "residual") {
			t.Errorf("%v, aside: %v", e, e.Aside)
		}
	}
	if beside != 2 || len(all) < 10 {
		t.Errorf("%d measures, %d of them not aside", len(all), beside)
	}
}

// A map is certified once, and a changed map again.
func certificateIsOfTheMap(t *testing.T) {
	p := open(t, "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=grf/shape=67x51/type=uint8/smooth=3/seed=3")
	_, m := dense(t, p)
	first, err := p.certify(m)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := p.certify(m); &again.residuals[0] != &first.residuals[0] {
		t.Error("the same map is certified twice")
	}
	m.Vectors[1][0] += 1e-3
	if other, _ := p.certify(m); !(other.residuals[1] > 1e-4) {
		t.Errorf("residual %g of a vector that was changed in place", other.residuals[1])
	}
}

// Vector instructions give the weights and products of Go code, for features up to 255 in any
// number, and 0 for negligible weights.
func kernelsAgree(t *testing.T) {
	if want := slices.Contains(isa.Available(assembled), isa.AVX2) && isa.FMA(); Vectors() != want {
		t.Fatalf("vector instructions are used: %v, want %v", Vectors(), want)
	}
	if !Vectors() {
		return
	}
	for _, name := range []string{
		"eigenmap-patch/k=2/tol=12/alpha=40/beta=5/side=4/of=noise/shape=120x80/type=uint8/seed=1", "eigenmap-patch/k=2/tol=12/alpha=4/beta=1/side=3/of=checkerboard/shape=48x36/type=uint8",
		"eigenmap-patch/k=2/tol=12/alpha=100/beta=2/side=1/of=noise/shape=31x17/type=int16/levels=1000/seed=2", "eigenmap-patch/k=2/tol=12/alpha=40/beta=3/side=4/of=noise/shape=24x20x28/type=uint8/seed=3",
	} {
		p := open(t, name)
		g, err := p.Define()
		if err != nil || !g.fast {
			t.Fatal(g.fast, err)
		}
		slow := *g
		slow.fast = false
		slow.portable()
		slow.places()
		zero := 0
		for i := range g.Nodes() {
			var all [2][]float64
			for k, g := range []*Graph{g, &slow} {
				g.runs(i, func(first int, weights []float64) { all[k] = append(append(all[k], float64(first)), weights...) })
			}
			if len(all[0]) != len(all[1]) {
				t.Fatalf("%s: %d and %d numbers", name, len(all[0]), len(all[1]))
			}
			for k, v := range all[0] {
				if want := all[1][k]; math.Abs(v-want) > 1e-13*want+1e-307 {
					t.Fatalf("%s: patch %d: %v, not %v", name, i, v, want)
				}
				if v == 0 {
					zero++
				}
			}
		}
		if zero == 0 {
			t.Errorf("%s: no weight is 0", name)
		}
		x, to, want := make([]float64, g.Nodes()), make([]float64, g.Nodes()), make([]float64, g.Nodes())
		for i := range x {
			x[i] = Uniform(1, uint64(i))
		}
		a, b := g.Apply([][]float64{to}, [][]float64{x}), slow.Apply([][]float64{want}, [][]float64{x})
		algebra.AddTimes(-1, want, to)
		if !(algebra.Norm(to) < 1e-13*algebra.Norm(x)) || math.Abs(a[0]-b[0]) > 1e-13*b[0] {
			t.Errorf("%s: a product is off by %g, an energy %v, not %v", name, algebra.Norm(to), a[0], b[0])
		}
	}
	weights, x := make([]float32, 3*lanes), make([]float64, 3*lanes)
	for i := range weights {
		weights[i], x[i] = float32(Uniform(2, uint64(i))), Uniform(3, uint64(i))
	}
	for n := 0; n <= len(x); n += lanes {
		if a, b := weighted(true, x, weights[:n]), weighted(false, x, weights[:n]); math.Abs(a-b) > 1e-15 {
			t.Errorf("%d weights: %v, not %v", n, a, b)
		}
	}
}

// Lists that are too short are rejected, because vector instructions would access memory after
// them.
func shortListsAreRefused(t *testing.T) {
	if !Vectors() {
		return
	}
	const n, row, own = 2 * lanes, 50, 3
	numbers := func(n int) []float64 { return make([]float64, n) }
	for what, c := range map[string]struct {
		lengths []int
		do      func(n []int)
	}{
		"weights": {[]int{(own-1)*row + n, n}, func(k []int) {
			weighVector(numbers(n), make([]int32, k[0]), row, make([]int32, own), numbers(k[1]), 0, 1)
		}},
		"flows":    {[]int{n}, func(k []int) { flowVector(numbers(k[0]), numbers(n), 1) }},
		"products": {[]int{n}, func(k []int) { productVector(numbers(k[0]), make([]float32, n)) }},
	} {
		checktest.PanicsIfShorter(t, what, c.lengths, c.do)
	}
}

// blank is an image of a shape without voxels, optionally with more axes.
type blank struct {
	grid.Source
	s    grid.Shape
	axes int
}

func (b blank) Shape() grid.Shape { return b.s }
func (b blank) Dim() int          { return max(b.axes, b.s.Dim()) }

// Each format ends with the numbers, in its order.
func filesHold(t *testing.T) {
	solid, flat := grid.Shape{D: 2, H: 1, W: 3}, grid.Shape{D: 1, H: 2, W: 3}
	mask, vectors := []bool{true, false, false, false, true, true}, [][]float64{{1, 0, 0, 0, 0, -1}, {0, 0.5, 0, 0, 0, -0.25}}
	bits := "\x01\x00\x00\x00\x01\x01"
	floats := "\x00\x00\x80\x3f" + strings.Repeat("\x00", 16) + "\x00\x00\x80\xbf" + "\x00\x00\x00\x00" + "\x00\x00\x00\x3f" + strings.Repeat("\x00", 12) + "\x00\x00\x80\xbe"
	for _, c := range []struct {
		extension, mask, vectors string
		shape                    grid.Shape
	}{
		{".npy", "'|u1', 'fortran_order': False, 'shape': (2, 3), ", "'<f4', 'fortran_order': False, 'shape': (2, 2, 3), ", flat},
		{".npy", "'shape': (2, 1, 3), ", "'shape': (2, 2, 1, 3), ", solid},
		{".nii", "\x03\x00\x03\x00\x01\x00\x02\x00\x01\x00", "\x04\x00\x03\x00\x01\x00\x02\x00\x02\x00", solid},
		{".nii.gz", "a note", "eigenvectors", flat},
	} {
		var one, two bytes.Buffer
		if err := masks.WriteMask(&one, c.extension, blank{s: c.shape}, mask, nil, "a note"); err != nil {
			t.Fatal(err)
		}
		if err := masks.WriteVectors(&two, c.extension, blank{s: c.shape}, vectors, nil, "a note"); err != nil {
			t.Fatal(err)
		}
		for what, b := range map[string]*bytes.Buffer{"mask": &one, "vectors": &two} {
			data := b.Bytes()
			if c.extension == ".nii.gz" {
				z, err := gzip.NewReader(b)
				if err != nil {
					t.Fatal(err)
				}
				if data, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			end, says := bits, c.mask
			if what == "vectors" {
				end, says = floats, c.vectors
			}
			if !strings.HasSuffix(string(data), end) || !strings.Contains(string(data), says) {
				t.Errorf("%s of %s: %q", what, c.extension, data)
			}
		}
	}
	if err := masks.WriteMask(io.Discard, ".jpg", blank{s: flat}, mask, nil, ""); err == nil {
		t.Error("a format that there is not")
	}
	var volume bytes.Buffer
	if err := masks.WriteMask(&volume, ".npy", blank{s: flat, axes: 3}, mask, nil, ""); err != nil || !strings.Contains(volume.String(), "'shape': (1, 2, 3), ") {
		t.Errorf("a volume of one slice: %q, %v", volume.String(), err)
	}
	for path, want := range map[string]string{"a.NII.GZ": ".nii.gz", "b.nii": ".nii", "c.npy": ".npy", "d.PNG": ".png", "e.gz": "", "f": ""} {
		if got := masks.Extension(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for s, want := range map[grid.Shape]bool{{D: 1, H: 1, W: 1 << 16}: true, {D: 1, H: 1, W: 1<<16 + 1}: false, {D: 1, H: 1 << 16, W: 1}: true, {D: 3, H: 1 << 15, W: 1}: false} {
		if err := masks.WriteMask(io.Discard, ".png", blank{s: s}, make([]bool, s.Voxels()), nil, ""); (err == nil) != want {
			t.Errorf("a picture of %v: %v", s, err)
		}
	}
}

// In pictures slices are below each other, vectors are side by side, and 0 is grey.
func picturesShow(t *testing.T) {
	const gap = 4 // pixels between vectors
	s := blank{s: grid.Shape{D: 2, H: 1, W: 3}}
	for _, c := range []struct {
		write         func(io.Writer) error
		width         int
		x, y          int
		want, another uint8
	}{
		{func(w io.Writer) error {
			return masks.WriteMask(w, ".png", s, []bool{true, false, false, false, true, true}, nil, "")
		}, 3, 1, 1, 255, 0},
		{func(w io.Writer) error {
			return masks.WriteVectors(w, ".png", s, [][]float64{{1, 0, 0, 0, 0, -1}, {0, 0.5, 0, 0, 0, -0.25}}, nil, "")
		}, 3 + gap + 3, 3 + gap + 1, 0, 255, 128},
		{func(w io.Writer) error {
			return masks.WriteVectors(w, ".png", s, [][]float64{make([]float64, 6)}, nil, "")
		}, 3, 2, 1, 128, 128},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil || img.Bounds().Dx() != c.width || img.Bounds().Dy() != 2 {
			t.Fatalf("%v, %v", img.Bounds(), err)
		}
		grey := func(x, y int) uint8 { r, _, _, _ := img.At(x, y).RGBA(); return uint8(r >> 8) }
		if grey(c.x, c.y) != c.want || grey(1, 0) != c.another {
			t.Errorf("%d and %d, want %d and %d", grey(c.x, c.y), grey(1, 0), c.want, c.another)
		}
	}
}
