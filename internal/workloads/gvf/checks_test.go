package gvf

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/name/nametest"
	"eccbench/internal/verify"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover the definition, the start of a flow, laws and boxes, storage, names, encoding and
// files.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "a row by hand", Of: rowByHand},
		{Name: "vector instructions", Of: func(t *testing.T) {
			for seed := range uint32(20) {
				if err := SelfTest(seed); err != nil {
					t.Error(err)
				}
			}
		}},
		{Name: "what fields start from", Of: startIsDefined},
		{Name: "values that stand for others", Of: labelsFlow},
		{Name: "passes of several steps", Of: passesAreSteps},
		{Name: "closed forms", Of: closedForms},
		{Name: "steps that grow", Of: unstableIsRefused},
		{Name: "names and shared images", Of: namesAndSharing},
		{Name: "numbers in names", Of: namesHold},
		{Name: "encoded fields", Of: encoding},
		{Name: "laws of wrong fields", Of: lawsSeeWrongFields},
		{Name: "laws of fields that are not at rest", Of: lawsSeeUnrest},
		{Name: "laws of fields of another shape", Of: lawsSeeShapes},
		{Name: "laws of images that are not read", Of: lawsRead},
		{Name: "energies", Of: energiesFall},
		{Name: "limits of laws", Of: limitsByHand},
		{Name: "closed forms along an axis", Of: turnsAreOfAxes},
		{Name: "digests of fields", Of: digests},
		{Name: "boxes", Of: boxesCover},
		{Name: "values of boxes", Of: boxesSee},
		{Name: "places of boxes", Of: boxesAreDrawn},
		{Name: "fields of 16 bits", Of: storageRounds},
		{Name: "files of fields", Of: filesHold},
		{Name: "fewer steps", Of: stepsAreFewer},
		{Name: "problems that are not taken", Of: problemsAreNotTaken},
		{Name: "what rounding changes", Of: unitsAreHalves},
		{Name: "laws of problems of each kind", Of: lawsApply},
		{Name: "estimates of laws", Of: estimates},
		{Name: "questions", Of: questionsAsk},
		{Name: "differences in words", Of: differencesAreTold},
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

// A row of three pixels by hand: f is 0, ½, 1, so V0 is ¼, ½, ¼ and b the squares. A step with μ =
// 1/8 is V0 + lap/8; the rows above and below are the pixel itself.
func rowByHand(t *testing.T) {
	s := gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 3}, 10, 30, 50)
	for boundary, want := range [][]float32{{.25 + .25/8, .5 - .5/8, .25 + .25/8}, {.25 + .5/8, .5 - .5/8, .25 + .5/8}} {
		f, err := Define(NewProblem(s, 0.125, 1, 0, Boundary(boundary)), 1)
		if err != nil || !slices.Equal(f.V[0], want) || !slices.Equal(f.V[1], []float32{0, 0, 0}) {
			t.Errorf("%v: %v, %v, want %v and zeros", Boundary(boundary), f.V, err, want)
		}
	}
	// The second step adds diffusion and pulls back to V0 by (V − V0)·b.
	f, err := Define(NewProblem(s, 0.125, 2, 0, Replicate), 1)
	first, second := float32(0.28125), float32(0.4375)
	want := first + ((second-first)/8 - (first-0.25)*0.0625)
	if err != nil || f.V[0][0] != want || f.V[0][2] != want {
		t.Errorf("after two steps %v, %v, want %v at the ends", f.V[0], err, want)
	}
}

// Start returns the bits of the definition, for every type and shape.
func startIsDefined(t *testing.T) {
	for _, image := range []string{
		"noise/shape=1x1/type=uint8/seed=5", "noise/shape=2x9/type=int16/levels=1000/seed=1", "noise/shape=33x1/type=uint16/levels=300/seed=2",
		"grf/shape=19x18x17/type=float32/levels=1024/smooth=1/seed=3", "noise/shape=1x2x3/type=uint8/seed=1", "between/shape=13x11x7/levels=1024/seed=20", "constant/shape=5x4x3/type=uint8",
	} {
		p := open(t, "gvf/steps=0/mu=50/boundary=0/of="+image)
		v0, b, err := p.definedStart()
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{0, 1, 3, 50} {
			s, err := p.Start(threads)
			if err != nil {
				t.Fatal(err)
			}
			if d := agree(p, Flow{v0}, Flow{s.V0}); d != nil || !slices.Equal(b, s.B) {
				t.Errorf("%s on %d goroutines: %v", image, threads, d)
			}
		}
		if f, err := Define(p, 1); err != nil || agree(p, Flow{v0}, f) != nil {
			t.Errorf("%s: without steps the field is not V0: %v", image, err)
		}
	}
	// A Starter reuses the memory of its last start.
	var k Starter
	for _, image := range []string{"noise/shape=5x4x3/type=uint8/seed=1", "constant/shape=5x4x3/type=uint8", "noise/shape=5x4x3/type=float32/levels=9/seed=2"} {
		p := open(t, "gvf/steps=0/mu=50/boundary=0/of="+image)
		v0, b, err := p.definedStart()
		if err != nil {
			t.Fatal(err)
		}
		if s, err := k.Start(p, 2); err != nil || agree(p, Flow{v0}, Flow{s.V0}) != nil || !slices.Equal(b, s.B) {
			t.Errorf("%s after another: %v", image, err)
		}
	}
	// All of V0 is written, of rows of one voxel too.
	for _, shape := range []string{"5x4x3", "1x4x3", "1x1"} {
		image := "noise/shape=" + shape + "/type=uint8/seed=1"
		p := open(t, "gvf/steps=0/mu=50/boundary=0/of="+image)
		out := NewOutput(p)
		out.Poison()
		into := Starter{V0: out.V}
		v0, _, err := p.definedStart()
		if err != nil {
			t.Fatal(err)
		}
		if s, err := into.Start(p, 2); err != nil || agree(p, Flow{v0}, out.Flow) != nil || &s.V0[0][0] != &out.V[0][0] {
			t.Errorf("%s into given lists: %v (%v)", image, out.V, err)
		}
	}
}

// An image with a table of values flows as the image of those values, even if float64 cannot hold
// their range.
func labelsFlow(t *testing.T) {
	s, ranks := grid.Shape{D: 1, H: 2, W: 3}, []int{2, 0, 1, 1, 0, 2}
	for _, c := range []struct{ labels, like []float64 }{{[]float64{-2, 0.5, 7}, []float64{-2, 0.5, 7}}, {[]float64{-1.5e308, -0.75e308, 1.5e308}, []float64{0, 1, 4}}} {
		p := NewProblem(gridtest.Labelled(t, s, c.labels, ranks...), 0.05, 0, 0, Replicate)
		q := NewProblem(gridtest.Image(t, s, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return c.like[ranks[i]] }), 0.05, 0, 0, Replicate)
		want, err := Define(q, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Define(p, 1)
		if err != nil || agree(p, want, got) != nil {
			t.Errorf("of %v: %v, %v, want %v", c.labels, got, err, want)
		}
		if start, err := p.Start(2); err != nil || agree(p, want, Flow{start.V0}) != nil {
			t.Errorf("of %v: %v, %v, want %v", c.labels, start.V0, err, want)
		}
	}
}

// Passes on any number of cores are as many sweeps of the whole field.
func passesAreSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for _, s := range []grid.Shape{{D: 1, H: 150, W: 20}, {D: 1, H: 1, W: 9}, {D: 37, H: 5, W: 11}, {D: 20, H: 1, W: 3}, {D: 19, H: 21, W: 520}, {D: 3, H: 40, W: 600}} {
		for threads := range 5 {
			p := NewProblem(gridtest.VastOf(s, grid.Uint8), 0.05, rng.Int64N(21), 0, Boundary(threads%2))
			v0, b := make([]float32, s.Voxels()), make([]float32, s.Voxels())
			for i := range v0 {
				v0[i], b[i] = rng.Float32()-0.5, rng.Float32()/9
			}
			want, next := slices.Clone(v0), make([]float32, s.Voxels())
			for range p.Steps {
				sweep(p, next, want, v0, b, 0, s.D*s.H)
				want, next = next, want
			}
			if got := evolve(p, v0, b, p.Steps, threads); !slices.Equal(got, want) {
				t.Errorf("%d steps of %v on %d cores differ from sweeps", p.Steps, s, threads)
			}
		}
	}
}

// The scheme in float64 matches its closed forms to 10⁻¹², so it can judge float32.
func closedForms(t *testing.T) {
	p := open(t, "gvf/steps=37/mu=90/boundary=0/of=noise/shape=13x9x7/type=uint8/seed=5")
	list, err := constantMagnitude(p, Flow{}, func(q *Problem) (Flow, error) {
		_, b, err := q.definedStart()
		if err != nil {
			return Flow{}, err
		}
		f := q.zeros()
		for c := range f.V {
			for i, v := range evolve(q, widened(q.V0[c]), widened(b), q.Steps, 2) {
				f.V[c][i] = float32(v)
			}
		}
		return f, nil
	})
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for _, m := range list {
		if m.Value > 1e-7 || m.Limit > 1e-3 {
			t.Error(m)
		}
	}
}

// Steps that may grow are rejected at the bound and accepted below it.
func unstableIsRefused(t *testing.T) {
	flat := gridtest.OfBytes(t, grid.Shape{D: 1, H: 2, W: 2}, 0, 0, 255, 255) // b is ¼
	solid := gridtest.OfBytes(t, grid.Shape{D: 2, H: 2, W: 2}, 0, 0, 0, 0, 255, 255, 255, 255)
	for _, c := range []struct {
		s      grid.Source
		mu     float32
		steps  int64
		stable bool
	}{{flat, 0.21875, 1, true}, {flat, 0.2188, 1, false}, {solid, 0.1458, 3, true}, {solid, 0.146, 3, false}, {solid, 5, 0, true}} {
		p := NewProblem(c.s, c.mu, c.steps, 0, Replicate)
		if err := p.Check(); (err == nil) != c.stable || err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "want μ of at most")) {
			t.Errorf("μ %v, %v: %v", c.mu, c.s.Shape(), err)
		}
	}
	for want, p := range map[string]*Problem{
		"in 2D: 4·2·μ + the largest |V0|² is 2.25 and steps above 2 grow without bound; want μ of at most 0.2188": NewProblem(flat, 0.25, 1, 0, Replicate),
		"in 3D: 4·3·μ + the largest |V0|² is 3.25 and steps above 2 grow without bound; want μ of at most 0.1458": NewProblem(solid, 0.25, 1, 0, Replicate),
		"μ is 0": NewProblem(flat, 0, 1, 0, Replicate), "μ is NaN": NewProblem(flat, float32(math.NaN()), 1, 0, Replicate), "-1 steps": NewProblem(flat, 0.1, -1, 0, Replicate),
		"boundary 2": NewProblem(flat, 0.1, 1, 0, 2), "tolerance 1": NewProblem(flat, 0.1, 0, 1, Replicate), "tolerance -1": NewProblem(flat, 0.1, 0, -1, Replicate),
	} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, c := range []struct {
		s     grid.Source
		mu    float32
		steps int64
		v0    [][]float32
		want  bool
	}{{flat, 0.1875, 1, nil, true}, {flat, 0.18751, 1, nil, false}, {flat, 9, 0, nil, true}, {flat, 0.1, 1, lists(2, 4), false}, {solid, 0.10416, 1, nil, true}, {solid, 0.10417, 1, nil, false}} {
		p := NewProblem(c.s, c.mu, c.steps, 0, Replicate)
		if p.V0 = c.v0; p.StableAnyway() != c.want {
			t.Errorf("%v, μ %v, %d steps: stable whatever it is: %v", c.s.Shape(), c.mu, c.steps, !c.want)
		}
	}
	if err := NewProblem(gridtest.Unread{Source: flat}, 0.2, 1, 0, Replicate).Check(); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("steps of what is not read: %v", err)
	}
	if err := NewProblem(flat, 7, 0, 1e-4, Replicate).Check(); err != nil {
		t.Errorf("a steady state takes no steps: %v", err)
	}
}

func namesAndSharing(t *testing.T) {
	classes := map[string]bool{}
	for _, name := range []string{"gvf/steps=12/mu=70/boundary=1/of=noise/shape=9x8x7/levels=16/type=uint8/seed=3", "gvf-steady/tol=5/mu=2000/boundary=0/of=noise/shape=9x8/levels=16/type=float32/seed=3",
		"gvf-float16/steps=12/mu=70/boundary=1/of=noise/shape=9x8x7/levels=16/type=uint8/seed=3", "gvf-snorm16/steps=12/mu=70/boundary=1/of=noise/shape=9x8x7/levels=16/type=uint8/seed=3"} {
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
		if err != nil || q.Mu != p.Mu || q.Steps != p.Steps || q.Tol != p.Tol || q.Boundary != p.Boundary || q.Shape() != p.Shape() {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
		cost := in.Cost(name, p)
		if kind == Name && (cost.Items != 12*9*8*7 || cost.Unit != "vox·it" || cost.Bytes != 504+12*504) || kind == Steady && (cost.Items != 72 || cost.Unit != "vox") {
			t.Errorf("%+v", cost)
		}
		want := map[string]string{Name: "steps=12/mu=0.07/boundary=third/", Steady: "tol=1e-5/mu=2.0/boundary=replicate/", NameFloat16: "storage=float16/steps=12/mu=0.07/boundary=third/", NameSnorm16: "storage=snorm16/steps=12/mu=0.07/boundary=third/"}[kind]
		if !strings.HasPrefix(cost.Class, want) {
			t.Errorf("%s: the class %s, want %s", name, cost.Class, want)
		}
		if classes[cost.Class] {
			t.Errorf("%s: rows of another question have the class %s", name, cost.Class)
		}
		classes[cost.Class] = true
		for _, smaller := range in.Smaller(name) {
			if _, err := in.Open(smaller); err != nil {
				t.Error(err)
			}
		}
	}
	for _, bad := range []string{"gvf/steps=-1/mu=50/boundary=0/of=noise/shape=3x3", "gvf/steps=1/mu=0/boundary=0/of=noise/shape=3x3", "gvf/steps=1/mu=50/boundary=2/of=noise/shape=3x3", "gvf/steps=1/mu=300/boundary=0/of=noise/shape=3x3", "gvf/mu=50/of=noise/shape=3x3"} {
		if _, err := Inputs(Name).Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// spelled is the name of three steps, or of a steady state to three digits.
func spelled(kind, image string, others ...float64) string {
	first := 3.0
	if kind == Steady {
		first = 1e-3
	}
	return Inputs(kind).NameOf(image, append([]float64{first}, others...)...)
}

// Names have these numbers by default, and hold no others than these.
func namesHold(t *testing.T) {
	others := map[string][2]float64{"mu": {1e-6, 10}, "boundary": {0, 1}}
	with := func(key string, least, most float64) map[string][2]float64 {
		ranges := maps.Clone(others)
		ranges[key] = [2]float64{least, most}
		return ranges
	}
	for _, kind := range []string{Name, NameFloat16, NameSnorm16} {
		nametest.Holds(t, form(kind), kind+"/steps=256/mu=0.05/boundary=0/of=x", with("steps", 0, 1<<40))
	}
	nametest.Holds(t, form(Steady), "gvf-steady/tol=1e-4/mu=0.05/boundary=0/of=x", with("tol", 1e-12, 0.1))
}

func encoding(t *testing.T) {
	f := Flow{[][]float32{{1, 2, float32(math.Inf(1))}, {-1, 0, 3}}}
	var b bytes.Buffer
	if err := Encode(&b, f); err != nil {
		t.Fatal(err)
	}
	g, err := Decode(b.Bytes())
	if err != nil || !slices.Equal(f.V[0], g.V[0]) || !slices.Equal(f.V[1], g.V[1]) {
		t.Errorf("%v, %v", g, err)
	}
	of := func(components, values uint64, rest int) []byte {
		b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, components), values)
		return append(b, make([]byte, rest)...)
	}
	for _, bad := range [][]byte{nil, of(0, 0, 0)[:15], b.Bytes()[:b.Len()-1], append(b.Bytes(), 0), bytes.Repeat([]byte{255}, 40), of(4, 1, 16), of(2, 1<<62, 0), of(0, 1, 0), of(1, 1, 3)} {
		if g, err := Decode(bad); err == nil {
			t.Errorf("%d bytes: %v", len(bad), g)
		}
	}
	for n, good := range [][]byte{of(0, 0, 0), of(1, 3, 12), of(2, 1, 8), of(3, 1, 12)} {
		b.Reset()
		g, err := Decode(good)
		if err = errors.Join(err, Encode(&b, g)); err != nil || len(g.V) != n || !bytes.Equal(b.Bytes(), good) {
			t.Errorf("%d components: %v, %v", n, g, err)
		}
	}
	if err := Encode(&b, Flow{[][]float32{{1, 2}, {1}}}); err == nil {
		t.Error("components of two lengths are written")
	}
}

// Each law accepts a right field and rejects a slightly wrong one.
func lawsSeeWrongFields(t *testing.T) {
	seeWrongFields(t, Name, stepsLaws())
	seeWrongFields(t, NameSnorm16, Keeping(NameSnorm16).Policy.Laws)
}

func seeWrongFields(t *testing.T, kind string, laws []law) {
	t.Helper()
	p := open(t, kind+"/steps=9/mu=80/boundary=0/of=grf/shape=17x13x11/type=float32/levels=1024/smooth=1/seed=3")
	define := func(p *Problem) (Flow, error) { return Define(p, 0) }
	right, err := define(p)
	if err != nil {
		t.Fatal(err)
	}
	check := func(l law, out Flow, ask ask) *verify.Diff {
		t.Helper()
		w := verify.Policy[*Problem, Flow]{Laws: []law{l}}
		e := w.Check(verify.Question[*Problem, Flow]{Name: "x", In: p, Out: out, Ask: ask, Budget: 1 << 50})
		if len(e) != 1 || e[0].Diff == nil && !e[0].Passed {
			t.Fatalf("%s: %s: %v", kind, l.Name, e)
		}
		return e[0].Diff
	}
	changed := func(f Flow, by float32) Flow {
		g := Flow{slices.Clone(f.V)}
		g.V[1] = slices.Clone(f.V[1])
		g.V[1][len(g.V[1])/2] += by
		return g
	}
	for _, l := range laws {
		if d := check(l, right, define); d != nil {
			t.Errorf("%s: %s: a right field: %v", kind, l.Name, d)
		}
		// The law rejects a wrong answer, and a right one when the field it asks for is wrong.
		for _, by := range []float32{3, float32(math.NaN())} {
			if check(l, changed(right, by), define) == nil && check(l, right, func(p *Problem) (Flow, error) {
				f, err := Define(p, 0)
				return changed(f, by), err
			}) == nil {
				t.Errorf("%s: %s does not see a value that is wrong by %v", kind, l.Name, by)
			}
		}
		if strings.Contains(l.Name, "plain") || strings.Contains(l.Name, "one step") {
			last := Flow{slices.Clone(right.V)}
			last.V[2] = slices.Clone(right.V[2])
			last.V[2][7] = math.Nextafter32(last.V[2][7], 2)
			if check(l, last, define) == nil {
				t.Errorf("%s: %s does not see the last bit", kind, l.Name)
			}
		}
	}
	if d := agree(p, right, Flow{right.V[:2]}); d == nil {
		t.Error("a field of two components agrees with one of three")
	}
}

// Each law accepts a field at rest. It rejects a field that is not, and a wrong answer to its
// question.
func lawsSeeUnrest(t *testing.T) {
	for _, name := range []string{"gvf-steady/tol=3/mu=50/boundary=0/of=noise/shape=5x6x7/type=uint8/seed=1", "gvf-steady/tol=4/mu=80/boundary=1/of=noise/shape=9x8/type=uint8/seed=1"} {
		p := open(t, name)
		right, err := atRest(p)
		if err != nil {
			t.Fatal(err)
		}
		unrest := func(f Flow, component int, by float32) Flow {
			f.V = slices.Clone(f.V)
			f.V[component] = slices.Clone(f.V[component])
			f.V[component][len(f.V[0])/3] += by
			return f
		}
		for _, l := range steadyLaws() {
			// An axis that turns back at the border has no closed form.
			if l.Calls == 3 && p.Boundary == Third {
				continue
			}
			var answers []Flow // answers to the law's questions, in order
			if !passes(l, p, right, func(p *Problem) (Flow, error) {
				f, err := atRest(p)
				answers = append(answers, f)
				return f, err
			}) {
				t.Errorf("%s: %s: a field at rest is not", name, l.Name)
			}
			if (answers == nil) != (l.Calls == 0) {
				t.Errorf("%s: %s asks for %d fields", name, l.Name, len(answers))
			}
			for component := range p.Dim() {
				for _, by := range []float32{0.03, float32(math.NaN())} {
					asked := -1
					if passes(l, p, unrest(right, component, by), func(*Problem) (Flow, error) {
						asked++
						return unrest(answers[asked], component, by), nil
					}) {
						t.Errorf("%s: %s: a field is at rest whose component %d is off by %v", name, l.Name, component, by)
					}
				}
			}
		}
	}
}

// atRest approximates the steady state: weak diffusion of a small field converges to float32
// accuracy in 2000 steps.
func atRest(p *Problem) (Flow, error) {
	q := p.afterSteps(2000)
	q.Tol = 0
	return Define(q, 1)
}

// passes reports that a law finds nothing.
func passes(l law, p *Problem, out Flow, ask ask) bool {
	right, err := judged(l, p, out, ask)
	return right && err == nil
}

func judged(l law, p *Problem, out Flow, ask ask) (right bool, err error) {
	if l.Check != nil {
		d, err := l.Check(p, out, ask)
		return d == nil, err
	}
	list, err := l.Measure(p, out, ask)
	return !slices.ContainsFunc(list, func(m verify.Measure) bool { return !m.IsWithinLimit() }), err
}

// A field without a component, or without some of its values, fails each law that reads it or asks
// for one.
func lawsSeeShapes(t *testing.T) {
	for _, c := range []struct {
		kind   string
		laws   []law
		define ask
	}{
		{Name, stepsLaws(), func(p *Problem) (Flow, error) { return Define(p, 1) }}, {Steady, steadyLaws(), atRest},
		{NameFloat16, Keeping(NameFloat16).Policy.Laws, func(p *Problem) (Flow, error) { return Define(p, 1) }},
	} {
		p := open(t, spelled(c.kind, "noise/shape=5x4x3/type=uint8/seed=1"))
		right, err := c.define(p)
		if err != nil {
			t.Fatal(err)
		}
		for what, less := range map[string]func(Flow) Flow{
			"a component": func(f Flow) Flow { return Flow{f.V[:2]} },
			"a value":     func(f Flow) Flow { return Flow{[][]float32{f.V[0], f.V[1], f.V[2][:len(f.V[2])-1]}} },
		} {
			for _, l := range c.laws {
				looks := !strings.Contains(l.Name, "constant") && !strings.Contains(l.Name, "made")
				if is, err := judged(l, p, less(right), c.define); is == looks || err != nil {
					t.Errorf("%s: %s of a field that lacks %s: right is %v, %v", c.kind, l.Name, what, is, err)
				}
				asks := func(p *Problem) (Flow, error) {
					f, err := c.define(p)
					return less(f), err
				}
				if is, err := judged(l, p, right, asks); is != (l.Calls == 0) || err != nil {
					t.Errorf("%s: %s of fields that lack %s: right is %v, %v", c.kind, l.Name, what, is, err)
				}
			}
		}
	}
	p := open(t, "gvf-steady/tol=3/mu=50/boundary=0/of=constant/shape=3x2/type=uint8")
	out := p.zeros()
	for _, v := range []float32{0, 1e-30} {
		if out.V[1][5] = v; passes(Rest(), p, out, nil) != (v == 0) {
			t.Errorf("a field with %v where all is 0: right is %v", v, v != 0)
		}
	}
}

// unread is the same problem of an image that cannot be read.
func (p *Problem) unread() *Problem {
	q := *p
	q.Source = gridtest.Unread{Source: p.Source}
	return &q
}

// No law accepts an answer for an image that cannot be read.
func lawsRead(t *testing.T) {
	for kind, laws := range map[string][]law{Name: stepsLaws(), Steady: steadyLaws(), NameFloat16: Keeping(NameFloat16).Policy.Laws} {
		p := open(t, spelled(kind, "noise/shape=5x4x3/type=uint8/seed=1"))
		p = p.unread()
		out := p.zeros()
		for _, list := range out.V {
			for i := range list {
				list[i] = float32(i)
			}
		}
		if kind == Steady {
			if list := steadyPolicy().Distance(p, out, out); !slices.ContainsFunc(list, func(m verify.Measure) bool { return !m.IsWithinLimit() }) {
				t.Errorf("a field is no distance from the steady state of an image that is not read: %v", list)
			}
		}
		for _, l := range laws {
			for what, ask := range map[string]ask{
				"where none is answered": func(*Problem) (Flow, error) { return Flow{}, gridtest.ErrUnread },
				"where one is answered":  func(*Problem) (Flow, error) { return out, nil },
			} {
				if passes(l, p, out, ask) {
					t.Errorf("%s: %s finds a field right of an image that is not read, %s", kind, l.Name, what)
				}
			}
		}
	}
}

// The energy equals that computed by hand. The law rejects a rise just above rounding, half way or
// at the end, and accepts an energy that has stopped falling.
func energiesFall(t *testing.T) {
	pair := NewProblem(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 2}, 0, 1), 0.5, 2, 0, Replicate)
	f, v0 := Flow{[][]float32{{1, 3}, {0, 0}}}, [][]float32{{0, 0}, {0, 5}}
	for want, mask := range map[float64][]float32{2 + 2 + 4*9 + 4*25: nil, 2 + 4*9 + 4*25: {1, 2}} {
		if pair.Mask = mask; pair.energy(f, v0, []float32{2, 4}) != want {
			t.Errorf("mask %v: an energy of %v, want %v", mask, pair.energy(f, v0, []float32{2, 4}), want)
		}
	}
	of := func(steps int64, boundary Boundary) *Problem {
		return open(t, Inputs(Name).NameOf("noise/shape=6x5x4/type=uint8/seed=1", float64(steps), 0.05, float64(boundary)))
	}
	for p, want := range map[*Problem]bool{of(1, Replicate): false, of(2, Third): false, of(2, Replicate): true, of(7, Replicate): true} {
		half, err := Define(p.afterSteps(p.Steps/2), 1)
		if err != nil {
			t.Fatal(err)
		}
		v0, b, err := p.definedStart()
		if err != nil {
			t.Fatal(err)
		}
		asks := func(f Flow) ask {
			return func(q *Problem) (Flow, error) {
				if q.Steps != p.Steps/2 {
					t.Errorf("half of %d steps are %d", p.Steps, q.Steps)
				}
				return f, nil
			}
		}
		// Fields on the line through V0 and the field at half the steps, up to the first whose
		// energy rises.
		on := func(share float32) Flow {
			f := p.zeros()
			for c := range f.V {
				for i, v := range half.V[c] {
					f.V[c][i] = v + share*(v0[c][i]-v)
				}
			}
			return f
		}
		share := float32(1)
		for p.energy(on(share/2), v0, b) > (1+3e-5)*p.energy(half, v0, b) {
			share /= 2
		}
		d, err := energyFalls(p, half, asks(half))
		if (err == nil) != want || d != nil {
			t.Errorf("%d steps, %v: an energy that stays: %v, %v", p.Steps, p.Boundary, d, err)
		}
		if d, _ := energyFalls(p, on(share), asks(half)); (d != nil) != want {
			t.Errorf("%d steps, %v: an energy that rises: %v", p.Steps, p.Boundary, d)
		}
		if d, _ := energyFalls(p, half, asks(on(2))); (d != nil) != want {
			t.Errorf("%d steps, %v: an energy that rises at first: %v", p.Steps, p.Boundary, d)
		}
	}
}

// Limits equal the bounds by hand of rounding and of a tolerance.
func limitsByHand(t *testing.T) {
	flat, solid := grid.Shape{D: 1, H: 1, W: 2}, grid.Shape{D: 2, H: 1, W: 2}
	for _, c := range []struct {
		s    grid.Shape
		mu   float32
		b    float32
		want float64 // want of two steps from ½ at most
	}{
		{flat, 0.125, 0.5, 16. / (1 << 24)}, {flat, 0.125, 0.5000001, 48. / (1 << 24)}, {flat, 0.25, 0.25, 48. / (1 << 24)},
		{solid, 0.125, 0.25, 16. / (1 << 24)}, {solid, 0.125, 0.2500001, 48. / (1 << 24)},
	} {
		p := NewProblem(gridtest.OfBytes(t, c.s, make([]byte, c.s.Voxels())...), c.mu, 2, 0, Replicate)
		if got := p.rounding([][]float32{{0.25, 0}, {0, -0.5}}, []float32{c.b / 2, c.b, 0}); got != c.want {
			t.Errorf("%v, μ %v, b %v: rounding makes %v, want %v", c.s, c.mu, c.b, got, c.want)
		}
		if got := p.rounding([][]float32{{0, 0}}, []float32{c.b}); got != 2e-44 {
			t.Errorf("what is 0 rounds by %v", got)
		}
	}
	of := func(name string, measure func(*Problem, Flow, ask) ([]verify.Measure, error)) (limits []float64) {
		p := open(t, name)
		list, err := measure(p, p.zeros(), func(p *Problem) (Flow, error) { return p.zeros(), nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			limits = append(limits, m.Limit)
		}
		return limits
	}
	// |V0| is ½, and 2dμ + b ¼ + ¼ in 2D.
	if got := of("gvf/steps=2/mu=63/boundary=0/of=noise/shape=5x1/type=uint8", constantMagnitude); len(got) != 1 || math.Abs(got[0]-3*2*16*0.5*unit-1e-9) > 0.2e-6 {
		t.Errorf("closed forms after steps within %v", got)
	}
	for _, limit := range of("gvf-steady/tol=3/mu=50/boundary=0/of=noise/shape=5x4/type=uint8", constantMagnitude) {
		if want := 1.01e-3 + 1./(1<<22); math.Abs(limit-want) > 1e-12 {
			t.Errorf("closed forms at rest within %v, want %v", limit, want)
		}
	}
	// The error of a made field at rest is at most the tolerance times all sources, over the least
	// b.
	given, b, err := []float64{0, 0, 0}, []float32(nil), error(nil)
	made := open(t, "gvf-steady/tol=3/mu=50/boundary=0/of=noise/shape=15x14x13/type=uint8")
	list, err := manufactured(made, Flow{}, func(q *Problem) (Flow, error) {
		if _, b, err = q.definedStart(); err != nil {
			t.Fatal(err)
		}
		for c, list := range q.V0 {
			for i, v := range list {
				given[c] += float64(b[i]) * float64(b[i]) * float64(v) * float64(v)
			}
		}
		return made.zeros(), nil
	})
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for c, m := range list {
		if want := 1.01e-3 * math.Sqrt(given[c]) / float64(slices.Min(b)); m.Limit < want || m.Limit > 1.01*want {
			t.Errorf("%s within %g, want %g", m.Name, m.Limit, want)
		}
	}
	for _, limit := range of("gvf-steady/tol=3/mu=50/boundary=0/of=noise/shape=5x4/type=uint8", residuals) {
		if limit != 1e-3 {
			t.Errorf("residuals within %v", limit)
		}
	}
	// Two steps from V0 of ½ along x, in halves: b is ¼, and three times ½ rounds by u.
	p := NewProblem(gridtest.OfBytes(t, flat, 0, 0), 0.125, 2, 0, Replicate).Flowing([][]float32{{0.5, 0.5}, {0, 0}}, 2)
	p.Storage = Float16
	u := 1.5 / 2048
	want := u + 2*16./(1<<24) + 2*(u+0.25*u+4*0.5*2*(1+u)*u)
	if list, err := fromFloat32(p, p.zeros(), nil); err != nil || math.Abs(list[0].Limit-want) > 1e-15 || list[0].Value != 0.5 {
		t.Errorf("%v, %v, want a difference of 0.5 and a limit of %v", list, err, want)
	}
}

// Closed forms are asked for along each axis of several voxels that is short enough to sum its
// cosines. They need the boundary replicate and no mask.
func turnsAreOfAxes(t *testing.T) {
	for _, c := range []struct {
		s    grid.Shape
		mu   float32
		of   Boundary
		axes []string
	}{
		{grid.Shape{D: 1, H: 1, W: 1}, 0.05, Replicate, nil}, {grid.Shape{D: 1, H: 1, W: mostTurned + 1}, 0.05, Replicate, nil}, {grid.Shape{D: 1, H: 2, W: 1}, 0.05, Replicate, []string{"along y"}},
		{grid.Shape{D: 2, H: 3, W: 4}, 0.05, Replicate, []string{"along x", "along y", "along z"}}, {grid.Shape{D: 2, H: 3, W: 4}, 0.05, Third, nil},
		{grid.Shape{D: 1, H: 3, W: 4}, 0.2497, Replicate, []string{"along x", "along y"}}, {grid.Shape{D: 1, H: 3, W: 4}, 0.24999, Replicate, nil},
	} {
		p := NewProblem(gridtest.OfBytes(t, c.s, make([]byte, c.s.Voxels())...), c.mu, 1, 0, c.of)
		asked := 0
		if c.s.W >= mostTurned { // not to the end, which takes seconds
			_, err := constantMagnitude(NewProblem(boxed{Source: gridtest.Unread{}, shape: grid.Shape{D: 1, H: 1, W: mostTurned}}, c.mu, 1, 0, c.of), Flow{}, func(*Problem) (Flow, error) { return Flow{}, gridtest.ErrUnread })
			if !errors.Is(err, gridtest.ErrUnread) {
				t.Errorf("an axis of %d has no closed form: %v", mostTurned, err)
			}
		}
		list, err := constantMagnitude(p, Flow{}, func(q *Problem) (Flow, error) {
			asked++
			if err := q.Check(); err != nil {
				t.Errorf("%v, μ %v: %v", c.s, c.mu, err)
			}
			return Define(q, 1)
		})
		var axes []string
		for _, m := range list {
			if axes = append(axes, m.At[:len("along x")]); !m.IsWithinLimit() {
				t.Errorf("%v, μ %v: %v", c.s, c.mu, m)
			}
		}
		if asked != len(c.axes) || !slices.Equal(axes, c.axes) || errors.Is(err, verify.ErrNotApplicable) != (c.axes == nil) {
			t.Errorf("%v, μ %v, %v: %d fields are asked for, %v, %v, want %v", c.s, c.mu, c.of, asked, list, err, c.axes)
		}
	}
}

// Boxes depend only on the sides of an image, the steps and a seed, so that another run can check
// the same boxes.
func boxesAreDrawn(t *testing.T) {
	h := sha256.New()
	source := gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 1}, 0)
	for _, s := range []grid.Shape{{D: 1, H: 4, W: 5}, {D: 1, H: 143, W: 190}, {D: 200, H: 5, W: 33}, {D: 40, H: 300, W: 300}, {D: 512, H: 512, W: 512}, {D: 1, H: 4096, W: 4096}} {
		for _, steps := range []int64{0, 1, 2, 3, 5, 7, 8, 9, 12, 16, 20, 25, 33, 50, 64, 80, 100, 128, 200} {
			p := NewProblem(boxed{source, s}, 0.05, steps, 0, Replicate)
			fmt.Fprintln(h, s, steps, p.boxes(7))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)[:16]); got != "56e0e6815bc49ffa6dcec29be0758a10" {
		t.Errorf("boxes of the digest %s", got)
	}
}

// The bits are the same on every processor: where products may be fused with sums, they are not.
func digests(t *testing.T) {
	for name, want := range map[string]string{
		"gvf/steps=37/mu=90/boundary=0/of=noise/shape=31x17x13/levels=300/type=uint16/seed=1": "1e8beef1e1382fb52d7df02bf19cb510",
		"gvf/steps=50/mu=150/boundary=1/of=noise/shape=61x43/type=uint8/seed=2":               "53e9de9860c8086a9fda4e996106991a",
		"gvf-float16/steps=9/mu=150/boundary=1/of=noise/shape=61x43/type=uint8/seed=2":        "839adb849e9e10d260dbb11e7ab53ea7",
		"gvf-snorm16/steps=9/mu=90/boundary=0/of=noise/shape=11x9x7/type=uint8/seed=2":        "7a77d890bebfad5ddf8a5c7691f68bf4",
	} {
		f, err := Define(open(t, name), 0)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, list := range f.V {
			if err := WriteValues(h, list); err != nil {
				t.Fatal(err)
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)[:16]); got != want {
			t.Errorf("%s: digest %s, want %s", name, got, want)
		}
	}
}

// Boxes lie within the image, include all corners, and cover a small part with their margins. A
// field of many steps has none.
func boxesCover(t *testing.T) {
	for _, c := range []struct {
		name  string
		count int
	}{
		{"gvf/steps=16/mu=50/boundary=0/of=noise/shape=512x512x512/type=uint8/seed=1", 24}, {"gvf/steps=64/mu=50/boundary=0/of=noise/shape=4096x4096/type=uint8/seed=1", 15},
		{"gvf/steps=3/mu=50/boundary=1/of=noise/shape=33x5x200/type=uint8/seed=1", 19}, {"gvf/steps=256/mu=50/boundary=0/of=noise/shape=256x256x256/type=uint8/seed=1", 0},
	} {
		p := open(t, c.name)
		list := p.boxes(7)
		if len(list) != c.count {
			t.Errorf("%s: %d boxes, want %d", c.name, len(list), c.count)
		}
		if slices.Equal(list, p.boxes(8)) != (c.count == 0) {
			t.Errorf("%s: another seed draws the same boxes", c.name)
		}
		corners, around := map[[3]int64]bool{}, int64(0)
		for _, b := range list {
			around += b.enlarged(p.Steps+1, p.sides()).shape().Voxels()
			var corner [3]int64
			for a, n := range p.sides() {
				if b.from[a] < 0 || b.to[a] > n || b.from[a] >= b.to[a] {
					t.Errorf("%s: box %+v", c.name, b)
				}
				if b.to[a] == n {
					corner[a]++
				}
				if b.from[a] == 0 {
					corner[a] += 2
				}
			}
			if !slices.Contains(corner[:], 0) {
				corners[corner] = true
			}
		}
		if c.count > 0 && (len(corners) < 1<<p.Dim() && p.Shape().H > 5 || around > max(p.Shape().Voxels()/boxShare, littleVoxels)) {
			t.Errorf("%s: %d corners, %d voxels in all", c.name, len(corners), around)
		}
	}
}

// Boxes accept a right field of each storage and boundary, and of a given V0. They read each of
// their values.
func boxesSee(t *testing.T) {
	for k, name := range []string{
		"gvf/steps=3/mu=50/boundary=0/of=noise/shape=43x31x26/type=uint8/seed=1", "gvf/steps=5/mu=80/boundary=1/of=noise/shape=190x143/type=int16/levels=1000/seed=1",
		"gvf-float16/steps=3/mu=50/boundary=1/of=between/shape=33x31x26/levels=1024/seed=20", "gvf-snorm16/steps=2/mu=50/boundary=0/of=noise/shape=2x1x70/type=float32/levels=1024/seed=1",
	} {
		p := open(t, name)
		if k == 1 {
			start, err := p.Start(1)
			if err != nil {
				t.Fatal(err)
			}
			p = p.Flowing(start.V0, p.Steps)
		}
		out, err := Define(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		all := p.boxes(3)
		if len(all) == 0 {
			t.Fatalf("%s: no boxes", name)
		}
		if d, err := p.inBoxes(all, out); d != nil || err != nil {
			t.Errorf("%s: %v, %v", name, d, err)
		}
		if _, err := p.inBoxes(nil, out); !errors.Is(err, verify.ErrNotApplicable) {
			t.Errorf("%s: no boxes find a field right: %v", name, err)
		}
		for i, b := range all {
			c, at := i%p.Dim(), [3]int64{}
			for a := range at {
				at[a] = []int64{b.from[a], b.to[a] - 1}[i>>a&1]
			}
			v := &out.V[c][(at[2]*p.Shape().H+at[1])*p.Shape().W+at[0]]
			was := *v
			*v = math.Nextafter32(was, 1)
			if d, err := p.inBoxes(all[i:i+1], out); d == nil || err != nil {
				t.Errorf("%s: box %+v does not see a bit, %v", name, b, err)
			}
			if i == len(all)-1 {
				if d, err := p.inBoxes(all, out); d == nil || err != nil {
					t.Errorf("%s: of all boxes the last is not looked at, %v", name, err)
				}
			}
			*v = was
		}
	}
}

// Each 16-bit number rounds to itself, and a value half way between two rounds to the even one.
func storageRounds(t *testing.T) {
	for _, s := range []Storage{Float16, Snorm16} {
		decode := func(bits uint16) float32 {
			return s.Decode([]float32{0}, binary.NativeEndian.AppendUint16(nil, bits))[0]
		}
		largest := uint16(0x7bff)
		if s == Snorm16 {
			largest = 32767
		}
		for bits := range largest {
			v, next := decode(bits), decode(bits+1)
			if v < 0 || next <= v {
				t.Fatalf("%v: %#x is %v, and the next %v", s, bits, v, next)
			}
			even := v
			if bits&1 == 1 {
				even = next
			}
			between := float32((float64(v) + float64(next)) / 2)
			cases := map[float32]float32{v: v, next: next, math.Nextafter32(between, 0): v, math.Nextafter32(between, 9e9): next, between: even}
			if s == Snorm16 {
				delete(cases, between) // which float32 does not hold
			}
			for from, want := range cases {
				if got := s.Round(from); got != want {
					t.Fatalf("%v rounds to %v in %v, want %v", from, got, s, want)
				}
				if got := s.Round(-from); got != -want {
					t.Fatalf("%v rounds to %v in %v, want %v", -from, got, s, -want)
				}
			}
		}
	}
	if v := Float16.Round(70000); !math.IsInf(float64(v), 1) || Float16.Decode([]float32{0}, []byte{0, 0xfc})[0] != float32(math.Inf(-1)) {
		t.Errorf("70000 is %v", v)
	}
	if v := Snorm16.Round(-1e-6); v != 0 || math.Signbit(float64(v)) {
		t.Errorf("-1e-6 is %v", v)
	}
	if got := Float32.Decode([]float32{0, 0}, grid.Bytes([]float32{0.1, -3})); !slices.Equal(got, []float32{0.1, -3}) {
		t.Errorf("0.1 and -3 are %v", got)
	}
	if Snorm16.Round(1.5) != 1 || Snorm16.Round(-3) != -1 || Float32.Round(0.1) != 0.1 {
		t.Error("what is beyond the ends, or in float32, is not kept as it should be")
	}
}

// Each file ends with the numbers, in the order of the format; the header has their count.
func filesHold(t *testing.T) {
	solid, flat := grid.Shape{D: 2, H: 1, W: 3}, grid.Shape{D: 1, H: 2, W: 3}
	three := Flow{[][]float32{{1, 2, 3, 4, 5, 6}, {-1, -2, -3, -4, -5, -6}, {10, 20, 30, 40, 50, 60}}}
	two := Flow{three.V[:2]}
	large := grid.Shape{D: 1, H: 300, W: 300}
	many := Flow{lists(2, large.Voxels())}
	for i := range many.V[0] {
		many.V[0][i], many.V[1][i] = float32(i), -float32(i)
	}
	for _, c := range []struct {
		extension string
		s         grid.Shape
		f         Flow
		header    string
		side      bool
	}{
		{".npy", solid, three, "'shape': (3, 2, 1, 3), ", false}, {".npy", flat, two, "'shape': (2, 2, 3), ", false},
		{".nii", solid, three, "\x05\x00\x03\x00\x01\x00\x02\x00\x01\x00\x03\x00", false}, {".nii.gz", flat, two, "\x05\x00\x03\x00\x02\x00\x01\x00\x01\x00\x02\x00", false},
		{".nrrd", solid, three, "# a note\ntype: float\ndimension: 4\nsizes: 3 1 2 3\n", false}, {".nrrd", flat, two, "dimension: 3\nsizes: 3 2 2\nkinds: domain domain vector\n", false},
		{".mha", solid, three, "NDims = 3\n", true}, {".mha", flat, two, "DimSize = 3 2\nElementNumberOfChannels = 2\n", true},
		{".mha", large, many, "DimSize = 300 300\n", true}, // more than is written at a time
	} {
		var b bytes.Buffer
		if err := Write(&b, c.extension, c.s, c.f, nil, "a note"); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		if c.extension == ".nii.gz" {
			z, err := gzip.NewReader(&b)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		values := len(c.f.V[0])
		n := values * len(c.f.V)
		header, rest := data[:len(data)-4*n], data[len(data)-4*n:]
		if !bytes.Contains(header, []byte(c.header)) {
			t.Errorf("%s of %v: header %q, want %q in it", c.extension, c.s, header, c.header)
		}
		if c.extension == ".npy" && len(header)%64 != 0 || strings.HasPrefix(c.extension, ".nii") && len(header) != 352 {
			t.Errorf("%s of %v: a header of %d bytes", c.extension, c.s, len(header))
		}
		var want, got []float32
		for i := range n {
			component, at := i/values, i%values
			if c.side {
				component, at = i%len(c.f.V), i/len(c.f.V)
			}
			want = append(want, c.f.V[component][at])
			got = append(got, math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:])))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s of %v: %v, want %v", c.extension, c.s, got[:6], want[:6])
		}
	}
	if err := Write(io.Discard, ".nii", grid.Shape{D: 1, H: 1, W: 1 << 15}, Flow{}, nil, ""); err == nil {
		t.Error("a NIfTI file has an axis of 32768")
	}
	if err := Write(io.Discard, ".png", flat, two, nil, ""); err == nil {
		t.Error("fields are pictures")
	}
	// Fields larger than any buffer are written completely.
	for _, extension := range Extensions() {
		for s, f := range map[grid.Shape]Flow{flat: two, large: many} {
			if err := Write(full{}, extension, s, f, nil, "a note"); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%s of %v, on a full disk: %v", extension, s, err)
			}
			if err := Encode(full{}, f); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("an answer of %v, on a full disk: %v", s, err)
			}
		}
	}
	for path, want := range map[string]string{"a.NII.GZ": ".nii.gz", "b.nii": ".nii", "c.npy": ".npy", "d.gz": "", "e": ""} {
		if got := Extension(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A problem that is smaller has half of the steps, or one less, and one at least.
func stepsAreFewer(t *testing.T) {
	for steps, want := range map[float64][]float64{1: nil, 2: {1, 1}, 3: {1, 2}, 9: {4, 8}} {
		var got []float64
		for _, keys := range Inputs(Name).Fewer([]float64{steps, 5, 6}) {
			if got = append(got, keys[0]); keys[1] != 5 || keys[2] != 6 {
				t.Errorf("%v steps: %v", steps, keys)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("fewer than %v steps: %v, want %v", steps, got, want)
		}
	}
}

// Invalid problems, and storage or questions that an implementation does not answer, are rejected.
// An image that cannot be read gives no start.
func problemsAreNotTaken(t *testing.T) {
	f := gridtest.Image(t, grid.Shape{D: 3, H: 4, W: 5}, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64(i) })
	of := func(change func(*Problem)) *Problem {
		p := NewProblem(f, 0.05, 3, 0, Replicate)
		change(p)
		return p
	}
	none := func(*Problem) {}
	for what, p := range map[string]*Problem{
		"": of(none), "μ": of(func(p *Problem) { p.Mu = float32(math.NaN()) }), "steps": of(func(p *Problem) { p.Steps = -1 }),
		"storage": of(func(p *Problem) { p.Storage = Float16 }), "rest": of(func(p *Problem) { p.Tol = 1e-3 }),
	} {
		if err := p.TakesStepsWithin(Snorm16); (err == nil) != (what == "") {
			t.Errorf("%q: %v", what, err)
		}
	}
	if err := of(func(p *Problem) { p.Storage = Float16 }).TakesStepsWithin(Float16); err != nil {
		t.Error(err)
	}
	masked := func(p *Problem) { p.Mask = make([]float32, 60) }
	for what, err := range map[string]error{
		"no mask is supported": of(masked).TakesSteps(), "not steps": of(none).ComesToRest(), "tolerance 2": of(func(p *Problem) { p.Tol = 2 }).ComesToRest(), "computes steps only": of(func(p *Problem) { p.Tol = 1e-3 }).TakesSteps(),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if err := errors.Join(of(none).TakesSteps(), of(masked).TakesStepsWithin(), of(func(p *Problem) { p.Tol = 1e-3 }).ComesToRest()); err != nil {
		t.Error(err)
	}
	if _, err := of(none).WithMask(gridtest.Unread{Source: f}); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("a mask that is not read: %v", err)
	}
	if _, err := of(none).unread().normalised(); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("what is not read: %v", err)
	}
	if _, err := Stored(of(none).unread(), Float16.Round); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("steps of what is not read: %v", err)
	}
}

// Rounding to 16 bits changes a value by at most half the distance of two numbers of the format.
func unitsAreHalves(t *testing.T) {
	for _, c := range []struct {
		of         Storage
		most, want float64
	}{{Float16, 1, 1. / 2048}, {Float16, 0.25, 1. / 8192}, {Float16, 0, 1. / (1 << 25)}, {Snorm16, 1, 0.5 / 32767}, {Snorm16, 0, 0.5 / 32767}} {
		if got := c.of.unit(c.most); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.of, c.most, got, c.want)
		}
	}
}

// Each law accepts a right field of every kind of problem, or does not apply.
func lawsApply(t *testing.T) {
	p, solid := open(t, "gvf/steps=3/mu=50/boundary=0/of=noise/shape=9x7/type=uint8/seed=1"), open(t, "gvf/steps=3/mu=50/boundary=0/of=noise/shape=5x4x3/type=uint8/seed=1")
	start, err := p.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	parts := make([]float32, p.Shape().Voxels())
	for i := range parts {
		parts[i] = float32(i / 4 % 3)
	}
	masked, err := p.WithinParts(parts)
	if err != nil {
		t.Fatal(err)
	}
	labelled := gridtest.Labelled(t, grid.Shape{D: 2, H: 1, W: 3}, []float64{-2, 0.5, 7}, 2, 0, 1, 1, 0, 2)
	fixed, boxes, turned, one, falls := "a constant V0 stays", "the plain loop in boxes, bit for bit", "closed form of |V0| constant along x, y and z", "one step from the field before", "the energy falls"
	x, y, z := "flip along x", "flip of the rows", "flip of the slices"
	for what, c := range map[string]struct {
		p    *Problem
		none []string
	}{
		"flat":     {p, []string{y}},
		"solid":    {solid, nil},
		"no steps": {p.afterSteps(0), []string{one, y, falls}},
		"one step": {p.afterSteps(1), []string{y, falls}},
		"third":    {NewProblem(p.Source, p.Mu, 3, 0, Third), []string{turned, y, falls}},
		"given":    {p.Flowing(start.V0, 3), []string{x, y, z}},
		"in parts": {masked, []string{boxes, turned, x, y, z}},
		"labelled": {NewProblem(labelled, 0.05, 3, 0, Replicate), []string{x, y, z}},
		"unstable": {NewProblem(p.Source, 0.249999, 3, 0, Replicate), []string{turned, fixed, y}},
		// A diffusion so strong that larger fields would grow.
		"strong":       {NewProblem(p.Source, 0.2495, 3, 0, Replicate), []string{y}},
		"strong solid": {NewProblem(solid.Source, 0.1655, 3, 0, Replicate), nil},
	} {
		define := func(p *Problem) (Flow, error) { return Define(p, 1) }
		out, err := define(c.p)
		if err != nil {
			t.Fatal(err)
		}
		var none []string
		for _, l := range stepsLaws() {
			var err error
			if l.Check != nil {
				_, err = l.Check(c.p, out, define)
			} else {
				_, err = l.Measure(c.p, out, define)
			}
			if errors.Is(err, verify.ErrNotApplicable) {
				none = append(none, l.Name)
			} else if !passes(l, c.p, out, define) {
				t.Errorf("%s: %s: a right field is wrong, %v", what, l.Name, err)
			}
		}
		if !slices.Equal(none, c.none) {
			t.Errorf("%s: these laws do not apply: %q, want %q", what, none, c.none)
		}
	}
}

// A law is estimated to take these nanoseconds of a voxel and a core, of an image that is all in each of
// 24 boxes.
func estimates(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for kind, want := range map[string][]int64{
		Name: {80 + 5*6, 10 + 24*(80+5*6), 80 + 5*6, 20, 5, 80, 5, 5, 5, 80}, Steady: {80, 20, 800, 5}, NameFloat16: {80 + 10*6, 10 + 24*(80+5*6), 80 + 5*6},
	} {
		p := open(t, spelled(kind, "noise/shape=32x30/type=uint8/seed=1"))
		var got []int64
		for _, l := range map[string][]law{Name: stepsLaws(), Steady: steadyLaws(), NameFloat16: Keeping(kind).Policy.Laws}[kind] {
			got = append(got, int64(l.Work(p))*2/p.Shape().Voxels())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: laws are said to take %v ns of a voxel, want %v", kind, got, want)
		}
	}
	p := open(t, "gvf/steps=3/mu=50/boundary=0/of=noise/shape=90x80/type=uint8/seed=1")
	want := int64(10*90*80+(80+5*6)*(40*24+24*30)) / 2
	if got := p.boxesTake([]box{{[3]int64{10, 60, 0}, [3]int64{42, 80, 1}}, {[3]int64{70, 0, 0}, [3]int64{90, 26, 1}}}); int64(got) != want {
		t.Errorf("two boxes are said to take %d ns, want %d", got, want)
	}
	// No boxes take as long as the whole image: they confirm nothing, so no plan relies on them.
	if got := p.boxesTake(nil); int64(got) != (80+5*6)*90*80/2 {
		t.Errorf("no boxes are said to take %d ns", got)
	}
}

// Names select the question that they describe, of images with the source in the name. The answers
// of constant images, and of a program that ignores its image, are known.
func questionsAsk(t *testing.T) {
	for _, w := range []bench.Workload[*Problem, Flow]{Steps(), ToSteady(), Keeping(NameFloat16), Keeping(NameSnorm16)} {
		image := "noise/shape=5x4/type=uint8/seed=1"
		name := spelled(w.Name, image, 0.07, 1)
		if w.Form.Kind != w.Name || w.Reference != "" || w.Reads == nil || w.Reads(name) != image {
			t.Errorf("%s: of the form %v", w.Name, w.Form)
		}
		p := open(t, name)
		want := NewProblem(p.Source, 0.07, 3, 0, Third)
		want.Storage = map[string]Storage{NameFloat16: Float16, NameSnorm16: Snorm16}[w.Name]
		if w.Name == Steady {
			want.Steps, want.Tol = 0, 1e-3
		}
		if p.Mu != want.Mu || p.Steps != want.Steps || p.Tol != want.Tol || p.Boundary != want.Boundary || p.Storage != want.Storage {
			t.Errorf("%s asks for %+v", name, p)
		}
	}
	for steps, items := range []int64{20, 20, 40} {
		name := Inputs(Name).NameOf("noise/shape=5x4/type=uint8/seed=1", float64(steps))
		if cost := Inputs(Name).Cost(name, open(t, name)); cost.Items != items {
			t.Errorf("%d steps of 20 voxels count as %d", steps, cost.Items)
		}
	}
	p := open(t, "gvf/steps=3/mu=50/boundary=0/of=noise/shape=5x4/type=uint8/seed=1")
	for input, want := range map[string]bool{"gvf/steps=3/mu=50/boundary=0/of=constant/shape=5x4/type=uint8": true, "gvf/steps=3/mu=50/boundary=0/of=noise/shape=5x4/type=uint8/seed=1": false, "constant/shape=5x4/type=uint8": false, "gvf/steps=3/mu=50/boundary=0/of=constant/": false} {
		f, ok := knownFlow(input, p)
		if ok != want || ok && agree(p, p.zeros(), f) != nil {
			t.Errorf("%s: the answer is known: %v", input, ok)
		}
		if _, ok := knownFlow(input, p.Flowing(p.zeros().V, 3)); ok {
			t.Errorf("%s: the answer to a field that is given is known", input)
		}
	}
	out := NewOutput(p)
	for c := range out.V {
		if weak(p, out.Flow) == "" {
			t.Error("a field of zeros is no weak answer")
		}
		out.V[c][7] = -1e-9
		if weak(p, out.Flow) != "" {
			t.Errorf("a field is a weak answer whose component %d is not 0", c)
		}
		out.V[c][7] = 0
	}
	out.Poison()
	for c, list := range out.V {
		if int64(len(list)) != p.Shape().Voxels() || slices.ContainsFunc(list, func(v float32) bool { return v != 1e30 }) {
			t.Errorf("component %d is overwritten by %v", c, list)
		}
	}
	if f, err := out.Out(); err != nil || agree(p, out.Flow, f) != nil {
		t.Errorf("an output gives another field: %v", err)
	}
}

// A difference reports the first place, both values, and the number of values that differ.
func differencesAreTold(t *testing.T) {
	flat, solid := open(t, "gvf/steps=1/mu=50/boundary=0/of=noise/shape=3x2/type=uint8/seed=1"), open(t, "gvf/steps=1/mu=50/boundary=0/of=noise/shape=3x2x4/type=uint8/seed=1")
	off := func(p *Problem, c int, at ...int) Flow {
		f := p.zeros()
		for _, i := range at {
			f.V[c][i] = 0.5
		}
		return f
	}
	for _, c := range []struct {
		p    *Problem
		f    Flow
		want verify.Diff
	}{
		{flat, off(flat, 1, 4, 5), verify.Diff{Where: "component y at x 1, y 1", Want: "0 (0x00000000)", Got: "0.5 (0x3f000000)", Context: "2 of 12 values differ"}},
		{solid, off(solid, 2, 23), verify.Diff{Where: "component z at x 2, y 1, z 3", Want: "0 (0x00000000)", Got: "0.5 (0x3f000000)", Context: "1 of 72 values differ"}},
		{flat, solid.zeros(), verify.Diff{Where: "the field", Want: "2 components", Got: "3"}},
		{flat, Flow{[][]float32{make([]float32, 6), make([]float32, 5)}}, verify.Diff{Where: "component y", Want: "6 values", Got: "5"}},
	} {
		if d := agree(c.p, c.p.zeros(), c.f); d == nil || *d != c.want {
			t.Errorf("%+v, want %+v", d, c.want)
		}
	}
}
