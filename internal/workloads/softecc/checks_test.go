package softecc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/cells"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the workload: the definition and its gradients, exact limits, a policy that detects
// errors, rejected problems, names and sharing.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "one voxel", Of: oneVoxel},
		{Name: "gradients by differences", Of: gradientsAreSlopes},
		{Name: "a direction across one plane", Of: onePlane},
		{Name: "the limit of steep sigmoids", Of: limitIsExact},
		{Name: "answers that are wrong", Of: policyCatches},
		{Name: "each law", Of: lawsSee},
		{Name: "what errors are relative to", Of: scalesAre},
		{Name: "what errors of laws are relative to", Of: lawScalesAre},
		{Name: "what laws are about", Of: lawsApply},
		{Name: "what laws ask", Of: lawsAsk},
		{Name: "how long laws take", Of: lawsTake},
		{Name: "one pass", Of: onePassDefines},
		{Name: "a wrong number", Of: onePassSees},
		{Name: "what one pass takes", Of: onePassTakes},
		{Name: "a threshold above a table", Of: boxOfTables},
		{Name: "laws where λ is large", Of: lawsOfSteep},
		{Name: "answers that lack numbers", Of: lawsCount},
		{Name: "neighbours that tie", Of: tiesAreSeen},
		{Name: "waves over an image", Of: wavesAreLong},
		{Name: "problems without an answer", Of: problemsAreRefused},
		{Name: "names and shared images", Of: namesAndSharing},
		{Name: "problems that are smaller", Of: thresholdsAreFewer},
		{Name: "answers in bytes", Of: encoding},
		{Name: "the most of a voxel", Of: mostOfAVoxel},
		{Name: "what names draw", Of: namesDraw},
	}
}

func open(t *testing.T, name string) *Problem {
	t.Helper()
	p, err := Inputs().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func define(t *testing.T, p *Problem) Answer {
	t.Helper()
	a, err := Define(p)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// One voxel has a closed form: all its cells have its value, and their signs sum to 1.
func oneVoxel(t *testing.T) {
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

// The definition's gradients are the slopes of its curve. Central differences of two steps have an
// error of fourth order. No step may change the order of voxels of the image.
func gradientsAreSlopes(t *testing.T) {
	for _, name := range []string{
		"softecc/m=6/lambda=12/alpha=300/dir=4/of=distinct/shape=5x4x3/type=float32/seed=3", "softecc/m=6/lambda=12/alpha=300/dir=5/of=distinct/shape=7x6/type=float32/seed=3",
	} {
		p := open(t, name)
		p.Lambda, p.Alpha, p.V[2] = p.Lambda*0.7, p.Alpha*1.3, 0.8 // also across the plane of a 2D image
		a := define(t, p)
		check := func(what string, got, h, tolerance float64, change func(q *Problem, h float64)) {
			t.Helper()
			want, err := slope(h, func(h float64) ([]float64, error) {
				q := p.changed(func(q *Problem) { change(q, h) })
				a, err := Define(q)
				return []float64{p.loss(a)}, err
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
		// Y is rounded, and two of its values differ by at least one grey value.
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
				f, err := p.withValues(moved, func(v float64) float64 { return v })
				if err != nil {
					t.Fatal(err)
				}
				q.Source = f
			})
		}
	}
}

// A direction across the planes has the same effect on one plane as on the middle one of three.
func onePlane(t *testing.T) {
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
	middle, err := p.changed(func(q *Problem) { q.Source = three }).Y()
	if err != nil {
		t.Fatal(err)
	}
	if middle = middle[42:84]; !slices.Equal(of, middle) || slices.Equal(of, plane) {
		t.Errorf("Y of one plane is %v, of the middle one of three %v", of, middle)
	}
}

// The soft curve with a steep sigmoid is the exact one at every level. That is the curve of
// workload ecc, or the curve of the cells whose vertices are all at or below the level.
func limitIsExact(t *testing.T) {
	for _, image := range []string{"noise/shape=9x8x7/type=uint8/levels=5/seed=3", "grf/shape=19x17/type=uint8/levels=50/smooth=1/seed=3", "noise/shape=1x9/type=uint8/levels=9/seed=4", "noise/shape=2x1x6/type=uint8/levels=3/seed=4"} {
		for _, vertices := range []string{"", "/vertices=1"} {
			p := open(t, "softecc/m=1/lambda=1/alpha=0/dir=4"+vertices+"/of="+image)
			p.Lambda, p.Tau, p.G = 1700, nil, nil
			for k := range p.Ladder().Len() {
				p.Tau, p.G = append(p.Tau, float64(p.Ladder().Value(k))+0.5), append(p.G, 1)
			}
			values, err := p.Values()
			if err != nil {
				t.Fatal(err)
			}
			slow := allCells(p.changed(func(q *Problem) { q.Tau, q.G = q.Tau[:2], q.G[:2] }), values).chi
			fast := p.inOnePass().Answer(values, Limit).Chi
			for k, chi := range define(t, p).Chi {
				want, err := cells.Characteristic(p.Source, int64(k))
				if p.Vertices {
					want, err = ofVertices(p.Shape(), values, p.Ladder().Value(int64(k))), nil
				}
				if err != nil || float64(want) != chi || fast[k] != chi || k < 2 && slow[k] != chi {
					t.Fatalf("%s%s, level %d: %v, want %d, %v", image, vertices, k, chi, want, err)
				}
			}
		}
	}
}

// ofVertices returns χ of the cells whose vertices are all at or below a value. A cell has one or
// two vertices along each axis.
func ofVertices(s grid.Shape, values []float32, top float32) (chi int64) {
	for i := range s.Voxels() {
		z, y, x := s.Coordinates(i)
		for kind := range 8 {
			w, h, d := int64(kind&1), int64(kind>>1&1), int64(kind>>2)
			if x+w >= s.W || y+h >= s.H || z+d >= s.D {
				continue
			}
			all := true
			for corner := range int64(8) {
				all = all && values[i+(d*(corner>>2)*s.H+h*(corner>>1&1))*s.W+w*(corner&1)] <= top
			}
			if all {
				chi += 1 - 2*((w+h+d)&1)
			}
		}
	}
	return chi
}

func judge(p *Problem, out Answer) verify.Verdict {
	return verify.Judge([]string{"p"}, Policy().Check(verify.Question[*Problem, Answer]{Name: "p", In: p, Out: out, Budget: 1 << 45, Thorough: true, Ask: Define}))
}

func policyCatches(t *testing.T) {
	for _, vertices := range []string{"", "/vertices=1"} {
		catches(t, open(t, "softecc/m=12/lambda=100/alpha=100/dir=3"+vertices+"/of=grf/shape=11x10x8/levels=1024/type=float32/smooth=1/seed=3"))
	}
}

func catches(t *testing.T, p *Problem) {
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
		if what == "∂X" { // all voxels of a small image, a sample of a large one
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

// Each law confirms a right answer, with as many calls as it states, and no call may fail. It
// detects a small error of each number that it covers, in the answer or in a call's answer.
func lawsSee(t *testing.T) {
	const (
		chi = 1 << iota
		tau
		image
		direction
		lambda
		alpha
	)
	number := map[int]string{chi: "χ", tau: "∂τ", image: "∂X", direction: "∂v", lambda: "∂λ", alpha: "∂α"}
	// The error is a fraction of the scale of the number. For ∂X it is added to half of the voxels.
	wrong := func(p *Problem, a Answer, what int, by float64) Answer {
		a.Chi, a.DTau, a.DX = slices.Clone(a.Chi), slices.Clone(a.DTau), slices.Clone(a.DX)
		switch s := scalesOf(p, a); what {
		case chi:
			a.Chi[len(a.Chi)/2] += by * s.chi
		case tau:
			a.DTau[len(a.DTau)/2] += by * s.dtau
		case image:
			for i := range len(a.DX) / 2 {
				a.DX[i] += float32(by * s.dx)
			}
		case direction:
			a.DV[0] += by * s.dv
		case lambda:
			a.Lambda += by * s.lambda
		case alpha:
			a.Alpha += by * s.alpha
		}
		return a
	}
	gradients := tau | image | direction | lambda | alpha
	about := map[string]struct {
		out, asked  int
		by, askedBy float64
	}{
		"above all values χ is that of the box": {0, chi, 0, 1e-8},
		"one pass over all cells":               {chi | gradients, 0, 3e-5, 0},
		"the exact curve where λ → ∞":           {0, chi, 0, 1e-6},
		"∂τ and ∂λ by differences":              {tau | lambda, chi, 0.03, 0.1},
		"∂X along a direction by differences":   {image, chi, 0.002, 0.1},
		"∂v and ∂α by differences":              {direction | alpha, chi, 0.3, 0.1},
		"linear in the upstream gradient":       {chi | gradients, gradients, 2e-4, 2e-4},
		"the image and u flipped":               {chi | gradients, chi | gradients, 4e-5, 4e-5},
		"X and τ shifted":                       {0, chi | tau | image | lambda | alpha, 0, 4e-5},
		"everything twice as large":             {chi | gradients, chi | gradients, 4e-5, 2e-4},
	}
	for _, vertices := range []string{"", "/vertices=1"} {
		p := open(t, "softecc/m=6/lambda=30/alpha=100/dir=3"+vertices+"/of=distinct/shape=14x13x12/type=float32/seed=3")
		right := define(t, p)
		for _, l := range laws() {
			if _, ok := about[l.Name]; !ok {
				t.Errorf("%s: what is it about?", l.Name)
			}
			asked := 0
			answers := map[int]Answer{} // of Define, computed once
			try := func(out Answer, change func(i int, a Answer) Answer) (bool, []verify.Measure) {
				t.Helper()
				asked = 0
				d, list, err := l.Try(p, out, func(q *Problem) (Answer, error) {
					a, ok := answers[asked]
					if !ok {
						a = define(t, q)
						answers[asked] = a
					}
					asked++
					return change(asked-1, a), nil
				})
				if err != nil {
					t.Fatalf("%s: %v", l.Name, err)
				}
				return d == nil, list
			}
			as := func(_ int, a Answer) Answer { return a }
			if ok, list := try(right, as); !ok || len(list) == 0 || float64(asked) != l.Calls {
				t.Fatalf("%s: a right answer: %v, of %d that were asked for, want %g", l.Name, list, asked, l.Calls)
			}
			for i := range len(answers) {
				k := 0
				if _, _, err := l.Try(p, right, func(*Problem) (Answer, error) {
					if k++; k == i+1 {
						return Answer{}, gridtest.ErrUnread
					}
					return answers[k-1], nil
				}); !errors.Is(err, gridtest.ErrUnread) {
					t.Errorf("%s%s: where answer %d cannot be had: %v", l.Name, vertices, i, err)
				}
				if ok, _ := try(right, func(k int, a Answer) Answer {
					if k == i {
						return Answer{}
					}
					return a
				}); ok {
					t.Errorf("%s%s does not see that answer %d is none", l.Name, vertices, i)
				}
			}
			for some, failed := int64(0), true; failed; some++ { // some is a number of reads of the image
				part := gridtest.BreaksAfter(p.Source, some, nil)
				k := -1
				_, _, err := l.Try(p.changed(func(q *Problem) { q.Source = part }), right, func(*Problem) (Answer, error) {
					k++
					return answers[k], nil
				})
				if failed = part.Left() < 0; failed && !errors.Is(err, gridtest.ErrUnread) || !failed && err != nil {
					t.Errorf("%s%s: where the image can be read %d times: %v", l.Name, vertices, some, err)
				}
			}
			for what, name := range number {
				if about[l.Name].out&what != 0 {
					if ok, _ := try(wrong(p, right, what, about[l.Name].by), as); ok {
						t.Errorf("%s%s does not see %s", l.Name, vertices, name)
					}
				}
				for i := range len(answers) {
					if about[l.Name].asked&what == 0 {
						continue
					}
					if ok, _ := try(right, func(k int, a Answer) Answer {
						if k == i {
							return wrong(p, a, what, about[l.Name].askedBy)
						}
						return a
					}); ok {
						t.Errorf("%s%s does not see %s of answer %d", l.Name, vertices, name, i)
					}
				}
			}
		}
	}
}

// Errors are relative to the largest contribution of one cell, or to the largest number of the
// answer if that is more. A difference is reported with its position. An answer without a gradient
// is weak.
func scalesAre(t *testing.T) {
	of := func(shape grid.Shape, a Answer) scales {
		image := gridtest.OfBytes(t, shape, make([]uint8, shape.Voxels())...)
		return scalesOf(&Problem{Source: image, Tau: []float64{0, 0}, G: []float64{1, -2}, Lambda: 8, Alpha: 0.5, V: [3]float64{0, 3, -4}}, a)
	}
	one, box := grid.Shape{D: 1, H: 1, W: 1}, grid.Shape{D: 9, H: 9, W: 3} // box has √33 = |(1, 4, 4)|
	corner := math.Sqrt(33)
	for _, c := range []struct {
		shape grid.Shape
		a     Answer
		want  scales
	}{
		{one, Answer{}, scales{1, 4, 4, 0.2, 1. / 16, 2}},
		{box, Answer{}, scales{1, 4, 4, 0.4 * corner, 1. / 16, 4 * corner}},
		{box, Answer{Chi: []float64{1, -7}, DTau: []float64{-30, 40}, DX: []float32{3, -4, 12}}, scales{7, 40, 12, 1.3 * corner, 50. / 64, 13 * corner}},
		{box, Answer{DV: [3]float64{1, 2, -90}, Lambda: -5, Alpha: -1000}, scales{1, 4, 4, 90, 5, 1000}},
	} {
		got := of(c.shape, c.a)
		for k, pair := range [][2]float64{{got.chi, c.want.chi}, {got.dtau, c.want.dtau}, {got.dx, c.want.dx}, {got.dv, c.want.dv}, {got.lambda, c.want.lambda}, {got.alpha, c.want.alpha}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12*pair[1] {
				t.Errorf("%v, %+v: scale %d is %g, want %g", c.shape, c.a, k, pair[0], pair[1])
			}
		}
	}
	for what, m := range map[string]verify.Measure{
		"voxel 2: 7 in place of 3":       errorOf("", "voxel", []float32{1, 2, 3, 4}, []float32{1, 3, 7, 2}, 2, 1),
		"":                               errorOf("", "", []float64{3}, []float64{7}, 2, 1),
		"threshold 1: NaN in place of 2": errorOf("", "threshold", []float64{1, 2, 3}, []float64{9, math.NaN(), 1e9}, 2, 1),
		"2 in place of 1":                errorOf("", "axis", []float64{1}, []float64{1, 2}, 2, 1),
		"axis 0: 3 in place of 2":        errorOf("", "axis", []float64{2, 2, 2}, []float64{3, 3, 1}, 0.5, 1), // the first
	} {
		if number := strings.Contains(what, "NaN") || what == "2 in place of 1"; m.At != what || math.IsNaN(m.Value) != number || !number && m.Value != 2 {
			t.Errorf("%+v, want it at %q", m, what)
		}
	}
	if m := errorOf("", "axis", []float64{3}, []float64{3}, 0, 1); m.Value != 0 || m.At != "" {
		t.Errorf("the same is %g apart at %q", m.Value, m.At)
	}
	if weak := Policy().Weak; weak(nil, Answer{DX: []float32{0, 0}}) == "" || weak(nil, Answer{DX: []float32{0, -1e-30}}) != "" {
		t.Error("an answer is weak by another gradient")
	}
}

// Errors of laws are relative to the largest of all numbers involved. The answers here are no
// curves, so that each number can be the largest.
func lawScalesAre(t *testing.T) {
	p := open(t, "softecc/m=2/lambda=64/alpha=100/dir=3/of=distinct/shape=14x13/type=float32/seed=3")
	p.Alpha, p.Lambda = 0.25, 8 // so that steps exceed the rounding
	blank := Answer{Chi: make([]float64, 2), DTau: make([]float64, 2), DX: make([]float32, 14*13)}
	_, norm := p.U()
	// near compares the error with the expected one, for the slope of a curve that rises with each
	// call.
	near := func(what string, list []verify.Measure, err error, want float64) {
		t.Helper()
		if err != nil || len(list) != 1 || math.Abs(list[0].Value-want) > 1e-6*want {
			t.Errorf("%s: %v, want %g, %v", what, list, want, err)
		}
	}
	wave := waveOver(p.Shape())
	for _, c := range []struct{ dx, g, tau, rise float64 }{{1, 1e-9, 0, 0}, {1, 90, 0, 0}, {1, 1e-9, -70, 0}, {1, 2, 3, 1e-3}, {1, 1, 3, -5}} {
		q := p.changed(func(q *Problem) { q.G = []float64{c.g, -c.g / 2} })
		asked := 0
		rising := func(r *Problem) (Answer, error) {
			asked++
			a := blank
			a.Chi = []float64{c.rise * float64([]int{-2, -1, 1, 2}[(asked-1)%4]), 0}
			return a, nil
		}
		step := 0.1 / q.Lambda
		got := c.g * c.rise / step
		out := blank
		out.DX, out.DTau = make([]float32, 14*13), []float64{0, c.tau}
		out.DX[50] = float32(c.dx)
		list, err := waveDerivatives(q, out, rising)
		near(fmt.Sprintf("along, %+v", c), list, err, math.Abs(c.dx*wave[50]-got)/max(math.Abs(got), wave[50]*c.dx, c.g*q.Lambda/4, math.Abs(c.tau)))

		// The image has no gradient here, so ∂v and ∂α have the scales of one cell.
		out = blank
		out.DTau, out.Lambda = []float64{0, 9}, 0
		asked = 0
		list, err = differences(q, out, rising)
		byLambda := c.g * c.rise / (0.05 * q.Lambda)
		near(fmt.Sprintf("differences, %+v", c), list, err, max(max(9, math.Abs(got))/max(c.g*q.Lambda/4, math.Abs(got)), math.Abs(byLambda)/max(math.Abs(byLambda), math.Abs(got)/q.Lambda/q.Lambda, c.g/4/q.Lambda)))

		out = blank
		out.Alpha = 7 * c.g
		asked = 0
		list, err = turned(q, out, rising)
		s := scalesOf(q, out)
		turn := 0.1 / (q.Lambda * q.Alpha * q.half())
		byV, byAlpha := math.Abs(c.g*c.rise/turn), c.g*c.rise/turn/q.Alpha
		near(fmt.Sprintf("turned, %+v", c), list, err, max(byV/max(s.dv*norm, byV), math.Abs(byAlpha-7*c.g)/max(s.alpha, math.Abs(byAlpha))))
	}
	for k, what := range []string{"χ", "∂τ", "∂X", "∂v", "∂λ", "∂α"} {
		of := func(v float64) Answer {
			list := [6]float64{}
			list[k] = v
			return Answer{Chi: []float64{list[0], 0}, DTau: []float64{0, list[1]}, DX: []float32{float32(list[2])}, DV: [3]float64{0, 0, list[3]}, Lambda: list[4], Alpha: list[5]}
		}
		for largest := range 4 {
			answers := [4]Answer{of(0), of(0), of(0), of(0)}
			answers[largest] = of(-4e6)
			got := of(100)
			if largest == 1 {
				got = of(100 - 4e6)
			}
			list := symmetry(p, "by", answers[0], answers[1], got, answers[2], answers[3])
			near(fmt.Sprintf("%s by answer %d", what, largest), list, nil, 100/4e6)
			if m := list[0]; m.Name != "error by symmetries" || !strings.HasPrefix(m.At, what+", by") || strings.HasSuffix(m.At, " ") {
				t.Errorf("%+v", m)
			}
		}
	}
}

// Laws call the implementation with the problems that they state.
func lawsAsk(t *testing.T) {
	for _, c := range []struct {
		levels []float32
		by     float64 // shift of the values
	}{{[]float32{0, 1, 3}, 4}, {[]float32{-1, 3}, 4}, {[]float32{-5, -2}, 4}, {[]float32{2, 2.75}, 1}, {[]float32{0}, math.Exp2(-99)}} {
		l, err := grid.Table(c.levels)
		if err != nil {
			t.Fatal(err)
		}
		of := func(value float32) *Problem {
			f := gridtest.Image(t, grid.Shape{D: 1, H: 1, W: 1}, grid.Float32, l, func(int64) float64 { return float64(value) })
			return &Problem{Source: f, Tau: []float64{0}, G: []float64{1}, Lambda: 1, Alpha: 1, V: [3]float64{1}}
		}
		var asked []*Problem
		ask := func(q *Problem) (Answer, error) {
			asked = append(asked, q)
			return Answer{}, nil
		}
		if _, err := shifted(of(c.levels[0]), Answer{}, ask); err != nil || len(asked) != 2 || asked[0].Alpha != 0 || asked[1].Alpha != 0 || asked[0].Tau[0] != 0 || asked[1].Tau[0] != c.by || float64(asked[1].Ladder().Value(asked[1].Ladder().Len()-1)) != float64(c.levels[len(c.levels)-1])+c.by {
			t.Errorf("levels %v: %d questions, %v, want them shifted by %g", c.levels, len(asked), err, c.by)
		}
	}
	p := &Problem{Source: gridtest.Image(t, grid.Shape{D: 1, H: 1, W: 2}, grid.Float32, grid.Identity(grid.Float32), func(int64) float64 { return 2e38 }), Tau: []float64{0}, G: []float64{1}, Lambda: 1, Alpha: 1, V: [3]float64{1}}
	none := func(*Problem) (Answer, error) { return Answer{}, errors.New("asked") }
	if list, err := hard(p.changed(func(q *Problem) { q.Alpha = 4e38 }), Answer{}, none); err == nil || err.Error() == "asked" {
		t.Errorf("values that are infinite have a curve: %v, %v", list, err)
	}
	for name, measure := range map[string]func(*Problem, Answer, ask) ([]verify.Measure, error){"shifted": shifted, "doubled": doubled} {
		if _, err := measure(p, Answer{}, none); !errors.Is(err, verify.ErrNotApplicable) {
			t.Errorf("%s, of what float32 does not hold: %v", name, err)
		}
	}
	p.Source = gridtest.Image(t, p.Shape(), grid.Float32, grid.Identity(grid.Float32), func(int64) float64 { return 2 })
	if _, err := doubled(p, Answer{}, none); err == nil || err.Error() == "asked" || errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("levels of float32 are doubled: %v", err)
	}
	// A threshold is above all values for any steepness; its errors are whole numbers.
	l, err := grid.Affine(7, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	p = &Problem{Source: gridtest.Image(t, grid.Shape{D: 1, H: 1, W: 2}, grid.Float32, l, func(int64) float64 { return 7 }), Tau: []float64{0}, G: []float64{1}, Lambda: 1e9, V: [3]float64{1}}
	for name, measure := range map[string]func(*Problem, Answer, ask) ([]verify.Measure, error){"above all values": box, "λ → ∞": hard} {
		for _, off := range []float64{0, 0.5} {
			list, err := measure(p, Answer{}, func(q *Problem) (Answer, error) {
				a := define(t, q)
				a.Chi[0] += off
				return a, nil
			})
			if err != nil || len(list) != 1 || list[0].Value != off || list[0].Name != "error of exact χ" || !strings.HasPrefix(list[0].At, "χ, "+name) {
				t.Errorf("%s: %v, %v", name, list, err)
			}
		}
	}
}

// The time of laws is estimated per voxel, on all cores.
func lawsTake(t *testing.T) {
	cores := int64(runtime.GOMAXPROCS(0))
	for _, voxels := range []int64{1000, 1<<21 + 5} {
		p := &Problem{Source: gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: voxels}, make([]uint8, voxels)...), Tau: make([]float64, 9)}
		for _, vertices := range []bool{false, true} {
			p.Vertices = vertices
			curve := int64(60)
			if vertices {
				curve = 300 * someLevels
			}
			for name, want := range map[string]int64{"the exact curve where λ → ∞": curve, "∂X along a direction by differences": 80} {
				l := laws()[slices.IndexFunc(laws(), func(l law) bool { return l.Name == name })]
				if got := l.Work(p); int64(got) != want*voxels/cores {
					t.Errorf("%s takes %v of %d voxels, want %d ns for each", name, got, voxels, want)
				}
			}
		}
	}
}

// Laws apply until rounding exceeds their differences. A law that does not apply makes no calls.
func lawsApply(t *testing.T) {
	for _, levels := range [][]float32{{-2, -1}, {-2, 0, 1}, {-1, 2}, {-1, 0, 2}, {1, 2}} { // up to 2 + 3 from 0
		l, err := grid.Table(levels)
		if err != nil {
			t.Fatal(err)
		}
		p := &Problem{Source: gridtest.Image(t, grid.Shape{D: 1, H: 1, W: 3}, grid.Float32, l, func(i int64) float64 { return float64(levels[0]) }), Alpha: 3}
		for reach, want := range map[float64]bool{9999.5: false, 10000.5: true} {
			if p.Lambda = reach / 5; p.huge() != want {
				t.Errorf("λ of %g over the largest of levels %v is steep: %v", reach, levels, !want)
			}
		}
	}
	blank := func(s grid.Shape) grid.Source { return gridtest.OfBytes(t, s, make([]uint8, s.Voxels())...) }
	for shape, want := range map[grid.Shape]bool{
		{D: 12, H: 12, W: 12}: false, {D: 1, H: 12, W: 12}: false, {D: 11, H: 12, W: 12}: true, {D: 2, H: 12, W: 12}: true, {D: 12, H: 11, W: 12}: true, {D: 12, H: 12, W: 11}: true, {D: 1, H: 11, W: 12}: true,
	} {
		if p := (&Problem{Source: blank(shape)}); p.coarse() != want {
			t.Errorf("%v is coarse: %v", shape, p.coarse())
		}
	}
	// Right answers pass even if Y is rounded a lot.
	for name, apart := range map[string][]string{ // the laws that do not apply
		"softecc/m=64/lambda=10000/alpha=700/dir=3/of=noise/shape=13x12/type=uint16/levels=1000/seed=3": {"∂τ and ∂λ by differences", "∂X along a direction by differences", "∂v and ∂α by differences"},
		"softecc/m=3/lambda=100/alpha=100/dir=3/of=noise/shape=9x12/type=float32/levels=9/seed=3":       {"∂X along a direction by differences", "∂v and ∂α by differences"},
		"softecc/m=3/lambda=100/alpha=0/dir=3/of=constant/shape=40x30/type=float32":                     {"∂X along a direction by differences", "∂v and ∂α by differences"},
		// α is so small that u turns far before Y changes by 1/λ, or that no step changes Y.
		"softecc/m=1/lambda=100/alpha=0.001/dir=3/of=grf/shape=14x12x12/levels=256/type=float32/smooth=2/seed=31":     nil,
		"softecc/m=1/lambda=100/alpha=0.0000001/dir=3/of=grf/shape=14x12x12/levels=256/type=float32/smooth=2/seed=31": {"∂X along a direction by differences", "∂v and ∂α by differences"},
	} {
		p := open(t, name)
		right := define(t, p)
		for _, l := range laws() {
			asked := 0
			d, list, err := l.Try(p, right, func(q *Problem) (Answer, error) {
				asked++
				return Define(q)
			})
			if none := slices.Contains(apart, l.Name); d != nil || none != errors.Is(err, verify.ErrNotApplicable) || !none && (err != nil || len(list) == 0) || none && asked > 0 {
				t.Errorf("%s: %s: %v, %d numbers, %v", name, l.Name, d, len(list), err)
			}
		}
	}
}

// A threshold above all values is also above the values of a table.
func boxOfTables(t *testing.T) {
	p := open(t, "softecc/m=3/lambda=1/alpha=1000/dir=3/of=noise/shape=6x5/type=uint8/seed=3")
	values, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.withValues(values, func(v float64) float64 { return v })
	if err != nil {
		t.Fatal(err)
	}
	list, err := box(p.changed(func(q *Problem) { q.Source = f }), Answer{}, Define)
	if err != nil || len(list) != 1 || list[0].Value > list[0].Limit {
		t.Errorf("%v, %v", list, err)
	}
}

// A problem without an upstream gradient has an answer for any steepness.
func lawsOfSteep(t *testing.T) {
	l, err := grid.Affine(0, 1e-37, 4)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{Source: gridtest.Image(t, grid.Shape{D: 2, H: 3, W: 4}, grid.Float32, l, func(i int64) float64 { return float64(i%4) * 1e-37 }), Tau: []float64{1e-37}, G: []float64{0.1}, Lambda: 3e38, V: [3]float64{1}}
	for name, measure := range map[string]func(*Problem, Answer, ask) ([]verify.Measure, error){"box": box, "hard": hard} {
		if list, err := measure(p, Answer{}, Define); err != nil || len(list) != 1 || list[0].Value > list[0].Limit {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

// An answer with too many or too few numbers passes no measure, whatever its numbers are.
func lawsCount(t *testing.T) {
	p := open(t, "softecc/m=2/lambda=7/alpha=100/dir=3/of=noise/shape=3x2/type=uint8/seed=5")
	right := define(t, p)
	for what, change := range map[string]func(a *Answer){
		"no ∂τ, and thresholds for χ": func(a *Answer) { a.Chi, a.DTau = p.Tau, nil },
		"no ∂X":                       func(a *Answer) { a.DX = nil },
		"a ∂τ more":                   func(a *Answer) { a.DTau = append(slices.Clone(a.DTau), 0) },
	} {
		wrong := right
		change(&wrong)
		beyond := func(m verify.Measure) bool { return !(m.Value <= m.Limit) }
		if list, err := onePass(p, wrong, nil); err != nil || !slices.ContainsFunc(list, beyond) {
			t.Errorf("%s: %v, %v", what, list, err)
		}
		for last := range 2 {
			asked := 0
			if list, err := linear(p, right, func(q *Problem) (Answer, error) {
				if asked++; asked == 1+last {
					return wrong, nil
				}
				return Define(q)
			}); err != nil || !slices.ContainsFunc(list, beyond) {
				t.Errorf("%s of answer %d: %v, %v", what, last, list, err)
			}
		}
	}
	empty := func(*Problem) (Answer, error) { return right, nil }
	if list, err := linear(p, Answer{Chi: right.Chi, DTau: right.DTau}, empty); err != nil || !math.IsNaN(list[0].Value) {
		t.Errorf("no ∂X: %v, %v", list, err)
	}
}

// Two voxels tie if they are equal neighbours, also along a diagonal, and only then.
func tiesAreSeen(t *testing.T) {
	for _, s := range []grid.Shape{{D: 4, H: 4, W: 4}, {D: 1, H: 4, W: 4}} {
		for i := range s.Voxels() {
			for j := range i {
				y := make([]float32, s.Voxels())
				for k := range y {
					y[k] = float32(k)
				}
				y[i] = y[j]
				iz, iy, ix := s.Coordinates(i)
				jz, jy, jx := s.Coordinates(j)
				near := func(a, b int64) bool { return a-b <= 1 && b-a <= 1 }
				if want := near(ix, jx) && near(iy, jy) && near(iz, jz); tied(s, y) != want {
					t.Errorf("%v: voxels %d and %d tie: %v", s, i, j, !want)
				}
			}
		}
	}
}

// A wave has values between ½ and 1 and changes little from voxel to voxel along all axes.
func wavesAreLong(t *testing.T) {
	for _, s := range []grid.Shape{{D: 20, H: 21, W: 22}, {D: 12, H: 30, W: 13}, {D: 1, H: 40, W: 50}} {
		wave := waveOver(s)
		if lo, hi := slices.Min(wave), slices.Max(wave); lo < 0.5 || hi > 1 || hi-lo < 0.05 {
			t.Errorf("%v: a wave from %g to %g", s, lo, hi)
		}
		moved := [3]bool{}
		for i, v := range wave {
			z, y, x := s.Coordinates(int64(i))
			for axis, c := range [3]struct{ at, n, step int64 }{{x, s.W, 1}, {y, s.H, s.W}, {z, s.D, s.H * s.W}} {
				if c.at+1 == c.n {
					continue
				}
				if by := math.Abs(wave[int64(i)+c.step] - v); by > 0.5*math.Pi/float64(c.n) {
					t.Fatalf("%v: the wave changes by %g from voxel %d on", s, by, i)
				} else if by > 1e-4 {
					moved[axis] = true
				}
			}
		}
		if moved != [3]bool{true, true, s.D > 1} {
			t.Errorf("%v: a wave along x, y and z: %v", s, moved)
		}
	}
}

// A problem without an answer, or with numbers beyond float32, is rejected with the reason.
func problemsAreRefused(t *testing.T) {
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
		"beyond float32":               func(p *Problem) { p.G, p.Lambda = []float64{1, -1, 0}, math.Nextafter(math.MaxFloat32/3.5, 1e39) },
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
	p.G, p.Lambda = []float64{1, -1, 0}, math.MaxFloat32/3.5
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

func namesAndSharing(t *testing.T) {
	name := "softecc/m=3/lambda=20/alpha=10/dir=5/of=noise/shape=9x7x5/levels=4/type=float32/seed=1"
	p := open(t, name)
	// Thresholds are the centres of the thirds of 0 to ¾. Around a single level they are spread over
	// 1.
	if !slices.Equal(p.Tau, []float64{0.125, 0.375, 0.625}) || p.Lambda != 20/0.75 {
		t.Errorf("thresholds %v, λ %v", p.Tau, p.Lambda)
	}
	flat, err := grid.Affine(7, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	one, err := pose(gridtest.Image(t, grid.Shape{D: 1, H: 2, W: 3}, grid.Float32, flat, func(int64) float64 { return 7 }), []float64{2, 20, 0.01, 5, 0})
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
	if err != nil || len(names) != 2 || !strings.HasSuffix(names[1], "seed=2") || !strings.HasPrefix(names[1], "softecc/m=3/lambda=20/alpha=0.01/dir=5/of=") {
		t.Error(names, err)
	}
	if cost := Inputs().Cost(name, p); cost.Items != 315 || cost.Bytes != 8*315 || cost.Class != "m=3/lambda=20/alpha=0.01/gen=noise/dim=3/levels=4/type=float32" {
		t.Errorf("%+v", cost)
	}
	for keys, want := range map[string]bool{"dir=1": false, "dir=4/vertices=1": true} {
		name := "softecc/m=3/lambda=20/alpha=10/" + keys + "/of=noise/shape=9x7x5/levels=4/type=float32/seed=1"
		if class := Inputs().Cost(name, open(t, name)).Class; strings.Contains(class, "/vertices=1/") != want {
			t.Errorf("%s: rows of class %s", name, class)
		}
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
		if _, err := Define(p.changed(change)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A smaller problem has half of the thresholds, but at least one.
func thresholdsAreFewer(t *testing.T) {
	for m, want := range map[float64][][]float64{1: nil, 2: {{1, 5, 6}}, 3: {{2, 5, 6}}, 64: {{32, 5, 6}}} {
		if got := Inputs().Fewer([]float64{m, 5, 6}); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("fewer than %v thresholds: %v, want %v", m, got, want)
		}
	}
}

// full is a writer that fails after a number of writes.
type full struct{ writes int }

func (f *full) Write(b []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errors.New("full")
	}
	return len(b), nil
}

// Decode inverts Encode for any number of voxels, and rejects any other number of bytes.
func encoding(t *testing.T) {
	for _, c := range []struct{ m, voxels int }{{0, 0}, {0, 2}, {1, 1}, {3, 5}, {2, 1<<16 - 1}, {2, 1 << 16}, {1, 1<<17 + 3}} {
		a := Answer{DX: make([]float32, c.voxels), DV: [3]float64{-1, 1e-300, 3}, Lambda: 7, Alpha: -0.1}
		for j := range c.m {
			a.Chi, a.DTau = append(a.Chi, float64(j)+0.1), append(a.DTau, -float64(j*j)/3)
		}
		for i := range a.DX {
			a.DX[i] = float32(i)/3 - 1
		}
		var b bytes.Buffer
		if err := Encode(&b, a); err != nil {
			t.Fatal(err)
		}
		for writes := range 2 + c.voxels>>16 {
			if err := Encode(&full{writes: writes}, a); (err == nil) != (writes > (c.voxels+1<<16-1)>>16) {
				t.Errorf("%d thresholds, %d voxels, of which %d parts can be written: %v", c.m, c.voxels, writes, err)
			}
		}
		got, err := Decode(b.Bytes())
		if err != nil || !slices.Equal(got.Chi, a.Chi) || !slices.Equal(got.DTau, a.DTau) || !slices.Equal(got.DX, a.DX) || got.DV != a.DV || got.Lambda != a.Lambda || got.Alpha != a.Alpha {
			t.Errorf("%d thresholds, %d voxels: %v", c.m, c.voxels, err)
		}
		whole := 8 * (1 + 2*c.m + 5)
		for n := range min(b.Len(), whole+9) {
			a, err := Decode(b.Bytes()[:n])
			if right := n >= whole && (n-whole)%4 == 0; (err == nil) != right || right && len(a.DX) != (n-whole)/4 {
				t.Errorf("%d thresholds, %d bytes of %d: %d voxels, %v", c.m, n, b.Len(), len(a.DX), err)
			}
		}
		for _, m := range []uint64{1 << 59, 1 << 60, math.MaxUint64} {
			if _, err := Decode(append(binary.LittleEndian.AppendUint64(nil, m), b.Bytes()[8:]...)); err == nil {
				t.Errorf("%d bytes have %d thresholds", b.Len(), m)
			}
		}
	}
}

// The voxel that joins eight others, and the vertex below eight others, reach the bound of a
// gradient.
func mostOfAVoxel(t *testing.T) {
	for _, vertices := range []bool{false, true} {
		y := make([]float32, 27)
		for i := range y {
			y[i] = 2
			if i%3 != 1 && i/3%3 != 1 && i/9 != 1 {
				y[i] = 0
			}
			if vertices {
				y[i] = 2 - y[i]
			}
		}
		y[13] = 1
		f, err := fieldOf(grid.Shape{D: 3, H: 3, W: 3}, y, []float32{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		p := &Problem{Source: f, Tau: []float64{1}, G: []float64{3}, Lambda: 5, V: [3]float64{1}, Vertices: vertices}
		if got := float64(define(t, p).DX[13]); math.Abs(math.Abs(got)-p.Steepest()) > 1e-5 {
			t.Errorf("the voxel at eight others, vertices %v, has a gradient of %g, want %g", vertices, got, p.Steepest())
		}
	}
}

// The number dir alone determines the direction, and the rise along it is bounded. A name must
// always give the same problem, because results are recorded under it.
func namesDraw(t *testing.T) {
	of := func(alpha, dir string) *Problem {
		return open(t, "softecc/m=5/lambda=7/alpha="+alpha+"/dir="+dir+"/of=noise/shape=4x3x5/type=uint8/seed=5")
	}
	a, b, c := of("0.1", "1"), of("0.1", "2"), of("0.3", "1")
	if a.V == b.V || a.V != c.V || a.Alpha >= c.Alpha || of("10.0", "1").Alpha <= c.Alpha {
		t.Errorf("%v, %v and %v", a.V, b.V, c.V)
	}
	for at, want := range [][4]float64{{1, 1 << 16, 64}, {1e-3, 1 << 40, 100}, {0, 10, 0.1}, {0, 1 << 40, 1}, {0, 1, 0, 1}} {
		if k := form().Keys[at]; [3]float64{k.Min, k.Max, k.Default} != [3]float64(want[:3]) || k.Optional != (want[3] == 1) {
			t.Errorf("%s is from %v to %v, else %v, want %v", k.Key, k.Min, k.Max, k.Default, want)
		}
	}
	for shape, half := range map[string]float64{"4x3x5": math.Sqrt(1.5*1.5 + 1 + 4), "1x1": 0.5, "5x1": 2} {
		p := open(t, "softecc/m=5/lambda=7/alpha=300/dir=1/of=noise/shape="+shape+"/type=uint8/seed=5")
		if rise := p.Alpha * half; math.Abs(rise-0.3*255) > 1e-9 {
			t.Errorf("%s: a rise of %g to the corner, want %g", shape, rise, 0.3*255)
		}
	}
	if want := [3]float64{1.8298596555945528, 0.7104948471817063, -2.7346366189813542}; a.V != want || a.G[0] != -1.959288622091961 || a.G[4] != -0.5338031719756869 {
		t.Errorf("direction %v, upstream gradient %v", a.V, a.G)
	}
	for step, right := range map[float64]bool{3.402823e32: true, 3.402824e32: false} {
		l, err := grid.Affine(0, step, 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pose(gridtest.Image(t, grid.Shape{D: 1, H: 1, W: 2}, grid.Float32, l, func(int64) float64 { return 0 }), []float64{2, 20, 0.01, 5, 0}); (err == nil) != right {
			t.Errorf("levels %g apart: %v", step, err)
		}
	}
}
