package softecc

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eccbench/internal/grid"
	"eccbench/internal/sound"
	"eccbench/internal/sound/grids"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// Checks are of what curves are judged by and carried in: the definition and its gradients, exact
// limits, a policy that sees what is wrong, what is refused, names and sharing.
func Checks() []sound.Check {
	return []sound.Check{
		{Name: "one voxel", Of: oneVoxel},
		{Name: "gradients by differences", Of: gradientsAreSlopes},
		{Name: "a direction across one plane", Of: onePlane},
		{Name: "the limit of steep sigmoids", Of: limitIsExact},
		{Name: "answers that are wrong", Of: policyCatches},
		{Name: "problems without an answer", Of: problemsAreRefused},
		{Name: "names and shared images", Of: namesAndSharing},
		{Name: "changes of voxels", Of: changesAddUp},
		{Name: "what names draw", Of: namesDraw},
	}
}

func open(t sound.T, name string) *Problem {
	t.Helper()
	p, err := Inputs().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func define(t sound.T, p *Problem) Answer {
	t.Helper()
	a, err := Define(p)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// One voxel has a closed form: all its cells come with it, and their signs add up to 1.
func oneVoxel(t sound.T) {
	p := open(t, "softecc/m=5/lambda=7/alpha=100/dir=3/of=noise/shape=1x1x1/type=uint8/seed=5")
	values, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	a := define(t, p)
	dx, dlambda := 0.0, 0.0
	for j, tau := range p.Tau {
		z := tau - float64(values[0])
		s := 1 / (1 + math.Exp(-p.Lambda*z))
		if math.Abs(a.Chi[j]-s) > 1e-15 || math.Abs(a.DTau[j]-p.G[j]*p.Lambda*s*(1-s)) > 1e-15 {
			t.Errorf("τ = %g: χ %g, ∂τ %g", tau, a.Chi[j], a.DTau[j])
		}
		dx -= p.G[j] * p.Lambda * s * (1 - s)
		dlambda += p.G[j] * z * s * (1 - s)
	}
	if math.Abs(float64(a.DX[0])-dx) > 1e-7*math.Abs(dx) || math.Abs(a.Lambda-dlambda) > 1e-12 || a.Alpha != 0 || a.DV != [3]float64{} {
		t.Errorf("%+v, want ∂X %g, ∂λ %g, and no direction", a, dx, dlambda)
	}
}

// The definition's gradients are those of its curve: central differences of two steps leave
// terms of the fourth order, on an image on which no step makes voxels change places.
func gradientsAreSlopes(t sound.T) {
	for _, name := range []string{
		"softecc/m=6/lambda=12/alpha=300/dir=4/of=distinct/shape=5x4x3/type=float32/seed=3", "softecc/m=6/lambda=12/alpha=300/dir=5/of=distinct/shape=7x6/type=float32/seed=3",
	} {
		p := open(t, name)
		p.Lambda, p.Alpha, p.V[2] = p.Lambda*0.7, p.Alpha*1.3, 0.8 // across the plane, too, where there is one
		a := define(t, p)
		check := func(what string, got, h, tolerance float64, change func(q *Problem, h float64)) {
			t.Helper()
			want, err := slope(h, func(h float64) ([]float64, error) {
				q := p.with(func(q *Problem) { change(q, h) })
				a, err := Define(q)
				return []float64{p.loss(a.Chi)}, err
			})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got-want[0]) > tolerance*math.Max(math.Abs(want[0]), largest(p.G)*p.Lambda/4) {
				t.Errorf("%s: %s is %g, by differences %g", name, what, got, want[0])
			}
		}
		for j := range p.Tau {
			check("∂τ", a.DTau[j], 0.05/p.Lambda, 1e-5, func(q *Problem, h float64) { q.Tau[j] += h })
		}
		check("∂λ", a.Lambda, 0.02*p.Lambda, 1e-5, func(q *Problem, h float64) { q.Lambda += h })
		// Y is rounded, and one whole number of grey value is between any two of its values.
		check("∂α", a.Alpha, 0.002*p.Alpha, 1e-3*p.half(), func(q *Problem, h float64) { q.Alpha += h })
		for i := range p.V {
			check("∂v", a.DV[i], 0.002, 1e-3*p.Alpha*p.half(), func(q *Problem, h float64) { q.V[i] += h })
		}
		values, err := p.Values()
		if err != nil {
			t.Fatal(err)
		}
		for i := range values {
			check("∂X", float64(a.DX[i]), 0.05, 1e-3, func(q *Problem, h float64) {
				moved := append([]float32(nil), values...)
				moved[i] += float32(h)
				f, err := p.of(moved, func(v float64) float64 { return v })
				if err != nil {
					t.Fatal(err)
				}
				q.Source = f
			})
		}
	}
}

// What a direction across the planes takes of a step along them is the same for one plane as
// for the middle one of three.
func onePlane(t sound.T) {
	p := open(t, "softecc/m=6/lambda=12/alpha=300/dir=5/of=distinct/shape=7x6/type=float32/seed=3")
	if p.V[2] != 0 {
		t.Errorf("the direction of a 2D image is %v: want one of its plane", p.V)
	}
	p.V[2] = 2
	plane, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	three, err := grid.Trusted(grid.Shape{W: 7, H: 6, D: 3}, grid.Float32, grid.Bytes(slices.Repeat(plane, 3)), p.Ladder())
	if err != nil {
		t.Fatal(err)
	}
	of, err := p.Y()
	if err != nil {
		t.Fatal(err)
	}
	middle, err := p.with(func(q *Problem) { q.Source = three }).Y()
	if err != nil {
		t.Fatal(err)
	}
	if middle = middle[42:84]; !slices.Equal(of, middle) || slices.Equal(of, plane) {
		t.Errorf("Y of one plane is %v, of the middle one of three %v", of, middle)
	}
}

// The soft curve with a steep sigmoid is the exact one of workload ecc, at every level.
func limitIsExact(t sound.T) {
	for _, image := range []string{"noise/shape=9x8x7/type=uint8/levels=5/seed=3", "grf/shape=19x17/type=uint8/levels=50/smooth=1/seed=3"} {
		p := open(t, "softecc/m=1/lambda=1/alpha=0/dir=4/of="+image)
		p.Lambda, p.Tau, p.G = 1700, nil, nil
		for k := range p.Ladder().Len() {
			p.Tau, p.G = append(p.Tau, float64(p.Ladder().Value(k))+0.5), append(p.G, 1)
		}
		for k, chi := range define(t, p).Chi {
			if want, err := ecc.Characteristic(p.Source, int64(k)); err != nil || float64(want) != chi {
				t.Fatalf("%s, level %d: %v, want %d, %v", image, k, chi, want, err)
			}
		}
	}
}

func judge(p *Problem, out Answer) verify.Verdict {
	return verify.Judge([]string{"p"}, Policy().Check(verify.Question[*Problem, Answer]{Name: "p", In: p, Out: out, Budget: 1 << 45, Thorough: true, Ask: Define}))
}

func policyCatches(t sound.T) {
	for _, vertices := range []string{"", "/vertices=1"} {
		catches(t, open(t, "softecc/m=12/lambda=100/alpha=100/dir=3"+vertices+"/of=grf/shape=11x10x8/levels=1024/type=float32/smooth=1/seed=3"))
	}
}

func catches(t sound.T, p *Problem) {
	right := define(t, p)
	if v := judge(p, right); v.Status != verify.Verified {
		t.Fatalf("%s: %s", v.Status, v.Reason)
	}
	spoil := func(change func(a *Answer)) Answer {
		var b bytes.Buffer
		if err := Encode(&b, right); err != nil {
			t.Fatal(err)
		}
		a, err := Decode(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		change(&a)
		return a
	}
	for what, change := range map[string]func(a *Answer){
		"χ":            func(a *Answer) { a.Chi[6] += 1e-4 * largest(a.Chi) },
		"∂τ":           func(a *Answer) { a.DTau[6] *= 1.001 },
		"∂X":           func(a *Answer) { a.DX[len(a.DX)/2] += 1 },
		"∂v":           func(a *Answer) { a.DV[1] *= 1.001 },
		"∂α":           func(a *Answer) { a.Alpha *= 1.001 },
		"∂λ":           func(a *Answer) { a.Lambda *= 1.1 },
		"NaN":          func(a *Answer) { a.DX[5] = float32(math.NaN()) },
		"no χ":         func(a *Answer) { a.Chi = nil },
		"a short ∂X":   func(a *Answer) { a.DX = a.DX[1:] },
		"no ∂τ":        func(a *Answer) { a.DTau = a.DTau[:3] },
		"the zero one": func(a *Answer) { *a = Answer{} },
	} {
		wrong := spoil(change)
		if what == "∂X" { // the voxels that are sampled are all of a small image, some of a large one
			for i := range wrong.DX {
				wrong.DX[i] = 1.001 * right.DX[i]
			}
		}
		if v := judge(p, wrong); v.Status != verify.Wrong {
			t.Errorf("%s: %s %s", what, v.Status, v.Reason)
		}
		if d, _ := Policy().Compare(p, right, wrong); d == nil {
			t.Errorf("%s: is near the right answer", what)
		}
	}
	if d, list := Policy().Compare(p, right, spoil(func(a *Answer) { a.Chi[6] += 1e-7 })); d != nil || list[0].Value == 0 {
		t.Errorf("%v: a difference within the limit is %v", d, list)
	}
}

// A problem without an answer, or with one that float32 does not hold, is refused by what it is.
func problemsAreRefused(t sound.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, change := range map[string]func(p *Problem){
		"3 thresholds with 2 upstream": func(p *Problem) { p.G = p.G[1:] },
		"0 thresholds":                 func(p *Problem) { p.Tau, p.G = nil, nil },
		"want finite numbers, λ":       func(p *Problem) { p.Tau[1] = nan },
		"thresholds, upstream":         func(p *Problem) { p.G[2] = inf },
		"want finite numbers":          func(p *Problem) { p.Lambda = 0 },
		"or the direction: want":       func(p *Problem) { p.V = [3]float64{} },
		"α or the direction":           func(p *Problem) { p.Alpha = nan },
		"λ is -1: want more than 0":    func(p *Problem) { p.Lambda = -1 },
		"beyond float32":               func(p *Problem) { p.G, p.Lambda = []float64{1, -1, 0}, 9.73e37 },
	} {
		p := open(t, "softecc/m=3/lambda=7/alpha=100/dir=3/of=noise/shape=3x3x3/type=uint8/seed=5")
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		change(p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p := open(t, "softecc/m=3/lambda=7/alpha=100/dir=3/of=noise/shape=3x3x3/type=uint8/seed=5")
	p.G, p.Lambda = []float64{1, -1, 0}, 9.72e37
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

func namesAndSharing(t sound.T) {
	name := "softecc/m=3/lambda=20/alpha=10/dir=5/of=noise/shape=9x7x5/levels=4/type=float32/seed=1"
	p := open(t, name)
	// Thresholds are in the middle of thirds of 0 to ¾; around one level they are spread over 1.
	if !slices.Equal(p.Tau, []float64{0.125, 0.375, 0.625}) || p.Lambda != 20/0.75 {
		t.Errorf("thresholds %v, λ %v", p.Tau, p.Lambda)
	}
	flat, err := grid.Affine(7, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	one, err := pose(grids.Image(t, grid.Shape{D: 1, H: 2, W: 3}, grid.Float32, flat, func(int64) float64 { return 7 }), []int64{2, 20, 10, 5, 0})
	if err != nil || !slices.Equal(one.Tau, []float64{6.75, 7.25}) || one.Lambda != 20 {
		t.Errorf("thresholds %v around 7, λ %v, %v", one.Tau, one.Lambda, err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Inputs().Share(p, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil || int64(len(data)) > Inputs().Size(p) {
		t.Fatal(len(data), Inputs().Size(p), err)
	}
	got, err := Inputs().Attach(data)
	if err != nil {
		t.Fatal(err)
	}
	if d, list := Policy().Compare(p, define(t, p), define(t, got)); d != nil || verify.Worst(list)[0].Value != 0 {
		t.Errorf("the shared problem has another answer: %v", list)
	}
	for i := range 40 {
		if _, err := Inputs().Attach(data[:i]); err == nil {
			t.Fatalf("a problem cut at %d was attached", i)
		}
	}
	names, err := Inputs().Variants(name, 2)
	if err != nil || len(names) != 2 || !strings.HasSuffix(names[1], "seed=2") || !strings.HasPrefix(names[1], "softecc/m=3/lambda=20/alpha=10/dir=5/of=") {
		t.Error(names, err)
	}
	if cost := Inputs().Cost(name, p); cost.Items != 315 || cost.Bytes != 8*315 || cost.Class != "m=3/lambda=20/alpha=10/gen=noise/dim=3/levels=4/type=float32" {
		t.Errorf("%+v", cost)
	}
	for _, s := range Inputs().Smaller(name) {
		open(t, s)
	}
	for _, bad := range []string{
		"softecc/m=0/lambda=20/alpha=10/dir=5/of=noise/shape=4x4", "softecc/m=3/of=noise/shape=4x4", "noise/shape=4x4",
		"softecc/m=3/lambda=0/alpha=10/dir=5/of=noise/shape=4x4", "softecc/m=3/lambda=1/alpha=-1/dir=5/of=noise/shape=4x4",
		"softecc/m=3/lambda=20/alpha=10/dir=5/of=noise/shape=4x4/levels=2/lo=-1e36/step=2e36", // levels too far apart
		"softecc/m=3/lambda=1/alpha=0/dir=5/vertices=2/of=noise/shape=4x4", "softecc/m=3/lambda=1/alpha=0/dir=5/vertices=0/of=noise/shape=4x4",
	} {
		if _, err := Inputs().Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for what, change := range map[string]func(q *Problem){
		"λ 0": func(q *Problem) { q.Lambda = 0 }, "λ < 0": func(q *Problem) { q.Lambda = -1 }, "no direction": func(q *Problem) { q.V = [3]float64{} },
		"no thresholds": func(q *Problem) { q.Tau, q.G = nil, nil }, "NaN": func(q *Problem) { q.Tau[0] = math.NaN() }, "g": func(q *Problem) { q.G = q.G[1:] },
	} {
		if _, err := Define(p.with(change)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The changes of all voxels add up to χ of the box, and none is beyond the bound, which the
// middle of a cube reaches.
func changesAddUp(t sound.T) {
	for _, image := range []string{"of=noise/shape=24x23x22/type=float32/seed=1", "of=noise/shape=61x59/type=uint8/levels=3/seed=1", "of=constant/shape=4x3x2/type=uint8", "vertices=1/of=noise/shape=24x23x22/type=float32/seed=1", "vertices=1/of=noise/shape=61x59/type=uint8/levels=3/seed=1"} {
		p := open(t, "softecc/m=1/lambda=20/alpha=0/dir=5/"+image)
		y, err := p.Y()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i := range y {
			c := changeAt(p.Shape(), y, int64(i), p.Vertices)
			if c < -mostChange || c > mostChange {
				t.Errorf("%s: voxel %d changes χ by %d", image, i, c)
			}
			sum += c
		}
		if sum != 1 {
			t.Errorf("%s: the changes add up to %d, want 1", image, sum)
		}
	}
	y := make([]float32, 27)
	for i := range y {
		y[i] = 2
		if i%3 != 1 && i/3%3 != 1 && i/9 != 1 {
			y[i] = 0
		}
	}
	y[13] = 1
	if c := changeAt(grid.Shape{D: 3, H: 3, W: 3}, y, 13, false); c != -mostChange {
		t.Errorf("the voxel that joins eight changes χ by %d", c)
	}
	for i := range y {
		y[i] = 2 - y[i]
	}
	if c := changeAt(grid.Shape{D: 3, H: 3, W: 3}, y, 13, true); c != mostChange {
		t.Errorf("the vertex below eight changes χ by %d", c)
	}
}

// A direction is drawn by its number alone, and the rise along it has a bound.
func namesDraw(t sound.T) {
	of := func(alpha, dir string) *Problem {
		return open(t, "softecc/m=5/lambda=7/alpha="+alpha+"/dir="+dir+"/of=noise/shape=4x3x5/type=uint8/seed=5")
	}
	a, b, c := of("100", "1"), of("100", "2"), of("300", "1")
	if a.V == b.V || a.V != c.V || a.Alpha >= c.Alpha || of("1048576", "1").Alpha <= c.Alpha {
		t.Errorf("%v, %v and %v", a.V, b.V, c.V)
	}
	if _, err := Inputs().Open("softecc/m=5/lambda=7/alpha=1048577/dir=1/of=noise/shape=4x3x5/type=uint8/seed=5"); err == nil {
		t.Error("a rise that is too large")
	}
}
