package eigenmap

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/grid"
)

func open(t testing.TB, name string) *Problem {
	t.Helper()
	kind, _, _ := strings.Cut(name, "/")
	p, err := Inputs(kind).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func imageOf(t *testing.T, shape grid.Shape, values ...uint8) grid.Source {
	t.Helper()
	f, err := grid.NewField(shape, grid.Uint8, values, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dense is L as the definition applies it, and all its pairs.
func dense(t *testing.T, p *Problem) (l *mat.SymDense, m Map) {
	t.Helper()
	g, err := p.Define()
	if err != nil {
		t.Fatal(err)
	}
	n := g.Nodes()
	l = mat.NewSymDense(n, nil)
	unit, to := [][]float64{make([]float64, n)}, [][]float64{make([]float64, n)}
	for i := range n {
		unit[0][i] = 1
		g.Apply(to, unit)
		unit[0][i] = 0
		for k := i; k < n; k++ {
			l.SetSym(i, k, to[0][k])
		}
	}
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
	copy(m.Values, g.Apply(slices.Repeat(to, p.K), m.Vectors))
	return l, m
}

// Three voxels of 0, ½ and 1 by hand, and two patches.
func TestByHand(t *testing.T) {
	p := OfVoxels(imageOf(t, grid.Shape{D: 1, H: 1, W: 3}, 10, 30, 50), 3, 1e-8, 0.5, 0.25, false, false)
	g, err := p.Define()
	if err != nil {
		t.Fatal(err)
	}
	w := math.Exp(-1) + 0.25
	if !slices.Equal(g.Degree, []float64{w, 2 * w, w}) {
		t.Errorf("degrees %v of weights %v", g.Degree, w)
	}
	// A path of three has the values 0, 1 and 2, whatever its weight.
	_, m := dense(t, p)
	for k, want := range []float64{0, 1, 2} {
		if math.Abs(m.Values[k]-want) > 1e-14 {
			t.Errorf("value %d is %v, not %v", k+1, m.Values[k], want)
		}
	}
	// Within a radius of 2 are 12 of a plane and 32 of space, each once behind.
	for s, want := range map[grid.Shape]float64{{D: 1, H: 5, W: 5}: 12, {D: 5, H: 5, W: 5}: 32} {
		flat := imageOf(t, s, make([]uint8, s.Voxels())...)
		near, err := OfVoxels(flat, 2, 1e-8, 1, 0, false, false).Within(2).Define()
		if err != nil || near.Degree[s.Voxels()/2] != want {
			t.Errorf("%v: %v, %v", s, near.Degree, err)
		}
	}
	q := OfPatches(imageOf(t, grid.Shape{D: 1, H: 3, W: 5}, 1, 2, 3, 4, 9, 5, 6, 7, 9, 9, 9, 9, 9, 9, 9), 2, 1e-8, 3, 2, 2)
	features, err := q.Patches()
	if err != nil || !slices.Equal(features, []int32{1, 2, 5, 6, 3, 4, 7, 9}) {
		t.Errorf("features %v, %v", features, err)
	}
	g, err = q.Define()
	// Squares of distances are 4+4+4+9 = 21 of features and 1 of places.
	if want := math.Exp(-21.0/(4*9) - 1.0/8); err != nil || math.Abs(g.Degree[0]-want) > 1e-16 || g.Degree[1] != g.Degree[0] {
		t.Errorf("degrees %v, want %v, %v", g.Degree, want, err)
	}
}

// The count below a bound is that of all eigenvalues, of graphs of voxels and of patches, and what
// rounding may do is small.
func TestInertiaCounts(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=1/tol=6/sigma=100/floor=1000/corners=1/plain=0/of=noise/shape=7x5x3/type=uint8/seed=1", "eigenmap/k=1/tol=6/sigma=300/floor=1000/corners=0/plain=1/of=noise/shape=9x14/type=uint8/seed=2",
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
			n, rounding, err := g.below((values[k] + values[k-1]) / 2)
			if err != nil || n != k || rounding > 1e-6 {
				t.Errorf("%s: %d below the middle of values %d and %d, rounding %g, %v", name, n, k, k+1, rounding, err)
			}
		}
	}
}

// A search alone finds what is left out, wherever a factorisation is too large: of all pairs but one.
func TestSearchFindsWhatIsMissing(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=5/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=20x19/type=float32/levels=1024/smooth=3/seed=1", "eigenmap-patch/k=5/tol=6/alpha=40/beta=2/side=2/of=grf/shape=32x30/type=uint8/smooth=3/seed=1",
	} {
		p := open(t, name)
		_, all := dense(t, p)
		q := open(t, strings.Replace(name, "k=5", "k=4", 1))
		for without := range 5 {
			m := Map{slices.Delete(slices.Clone(all.Values), without, without+1), slices.Delete(slices.Clone(all.Vectors), without, without+1)}
			for _, l := range []struct {
				name    string
				measure func(*Problem, Map, ask) ([]float64, error)
			}{{"search", last(search)}, {"inertia", last(inertia)}} {
				list, err := l.measure(q, m, nil)
				if err != nil || (list[0] > list[1]) != (without < 4) {
					t.Errorf("%s, %s without pair %d: %g of at most %g, %v", name, l.name, without+1, list[0], list[1], err)
				}
			}
		}
	}
}

// last is the value and the limit of a law's last measure.
func last(l func(*Problem, Map, ask) ([]measure, error)) func(*Problem, Map, ask) ([]float64, error) {
	return func(p *Problem, m Map, ask ask) ([]float64, error) {
		list, err := l(p, m, ask)
		if err != nil {
			return nil, err
		}
		return []float64{list[len(list)-1].Value, list[len(list)-1].Limit}, nil
	}
}

// A set's cut is never below the second value, and comes near it where two halves hang by a thread.
func TestCuts(t *testing.T) {
	p := open(t, "eigenmap/k=2/tol=8/sigma=100/floor=1000/corners=0/plain=0/of=ball/shape=21x20/type=uint8")
	_, m := dense(t, p)
	list, err := cuts(p, m, nil)
	if err != nil || !(list[0].Value <= 1) || list[0].Value < 0.5 {
		t.Errorf("%v, %v", list, err)
	}
	m.Values[1] *= 3
	if list, _ := cuts(p, m, nil); list[0].Within() {
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
func TestCutsAreQuotients(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=2/tol=8/sigma=100/floor=1000/corners=1/plain=0/of=noise/shape=9x7x5/type=uint8/seed=5",
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=grf/shape=67x51/type=float32/levels=1024/smooth=3/seed=3",
	} {
		p := open(t, name)
		_, m := dense(t, p)
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
				x, inside, all := make([]float64, g.Nodes()), 0.0, sum(g.mass)
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
				scale(x, 1/norm(x))
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

func TestDice(t *testing.T) {
	truth := []bool{false, true, true, false, true}
	if d := Dice(truth, []bool{false, true, false, true, true}); math.Abs(d-2.0/3) > 1e-15 {
		t.Error(d)
	}
	if d := Dice(make([]bool, 3), make([]bool, 3)); d != 1 {
		t.Error(d)
	}
	if d, at, above := BestThreshold([]float64{1, 5, 4, 1, 3}, truth); d != 1 || at != 3 || !above {
		t.Error(d, at, above)
	}
	if d, at, above := BestThreshold([]float64{7, 5, 4, 9, 3}, truth); d != 1 || at != 5 || above {
		t.Error(d, at, above)
	}
	if d, _, _ := BestThreshold([]float64{2, 2, 2, 2, 2}, truth); d != 0.75 {
		t.Error(d)
	}
}

func TestMaskOfPatches(t *testing.T) {
	p := OfPatches(imageOf(t, grid.Shape{D: 1, H: 5, W: 7}, make([]byte, 35)...), 2, 1e-6, 40, 5, 2)
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

func TestNamesAndSharing(t *testing.T) {
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

func TestEncoding(t *testing.T) {
	m := Map{[]float64{0, 0.5}, [][]float64{{1, 2, math.Inf(1)}, {-1, 0, 3}}}
	var b bytes.Buffer
	if err := Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	g, err := Decode(b.Bytes())
	if err != nil || !slices.Equal(g.Values, m.Values) || !slices.Equal(g.Vectors[0], m.Vectors[0]) || !slices.Equal(g.Vectors[1], m.Vectors[1]) {
		t.Errorf("%v, %v", g, err)
	}
	for _, bad := range [][]byte{nil, b.Bytes()[:b.Len()-1], b.Bytes()[:b.Len()-8], bytes.Repeat([]byte{255}, 40), append(make([]byte, 15), 200)} {
		if g, err := Decode(bad); err == nil {
			t.Errorf("%d bytes: %v", len(bad), g)
		}
	}
}
