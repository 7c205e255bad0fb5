package binned

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync/atomic"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/softecc"
	"eccbench/internal/workloads/softecc/softtest"
)

func TestChecks(t *testing.T) {
	for _, isa := range available() {
		t.Run(isa, func(t *testing.T) { checktest.Run(t, checks(t, isa)...) })
	}
}

// checks test the functions of an instruction set separately, bins and the table at their edges,
// and Layers for images in a caller's memory.
func checks(t *testing.T, set string) []checktest.Check {
	t.Helper()
	var i Implementation
	k, err := choose(set)
	if err != nil {
		t.Fatal(err)
	}
	return append(columnChecks(set),
		checktest.Check{Name: "changes of voxels, " + set, Of: func(t *testing.T) { changesAre(t, k) }},
		checktest.Check{Name: "rows that are tilted, " + set, Of: func(t *testing.T) { tiltsAre(t, k) }},
		checktest.Check{Name: "changes in an image of float64", Of: func(t *testing.T) { changesAre(t, inGo[float64]()) }},
		checktest.Check{Name: "strips and chunks", Of: sweepsAreCut},
		checktest.Check{Name: "bins", Of: binsAreLaid},
		checktest.Check{Name: "values in bins", Of: binsAreNear},
		checktest.Check{Name: "values on nodes, " + set, Of: func(t *testing.T) { nodesAreNear(t, k) }},
		checktest.Check{Name: "whole numbers of nodes, " + set, Of: func(t *testing.T) { nodesAreExact(t, k) }},
		checktest.Check{Name: "problems without nodes", Of: nodesAreFew},
		checktest.Check{Name: "thresholds within reach", Of: reachIsFull},
		checktest.Check{Name: "tallies", Of: talliesAddUp},
		checktest.Check{Name: "jobs", Of: func(t *testing.T) { jobsAnswer(t, i) }},
		checktest.Check{Name: "images of callers", Of: func(t *testing.T) { layersAnswer(t, ofCallers()) }},
		checktest.Check{Name: "images of float64 that are tilted", Of: tiltedLayers},
		checktest.Check{Name: "the extent of an image", Of: extentsAre},
		checktest.Check{Name: "images of callers in bins", Of: layersHaveBins},
		checktest.Check{Name: "images without an answer", Of: layersRefuse},
		checktest.Check{Name: "answers that are cancelled", Of: cancelled},
	)
}

func open(t *testing.T, name string) *softecc.Problem {
	t.Helper()
	p, err := softecc.Inputs().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func define(t *testing.T, p *softecc.Problem) softecc.Answer {
	t.Helper()
	a, err := softecc.Define(p)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// changesAre compares the change of every voxel with the definition's for any strips and chunks.
// Widths range from one to two vectors and more, with many ties and with none. The definition's
// changes follow from ∂X for sigmoids so wide that their slope is λ/4 at all values.
func changesAre[T value](t *testing.T, k kernel[T]) {
	rng := rand.New(rand.NewPCG(31, 7))
	for i, of := range [][3]int64{
		{1, 1, 1}, {1, 5, 1}, {1, 1, 9}, {1, 7, 16}, {1, 4, 33}, {3, 1, 1}, {2, 2, 2}, {3, 1, 17}, {4, 3, 5}, {5, 4, 7}, {3, 5, 8}, {4, 2, 15}, {3, 3, 16}, {2, 5, 31}, {3, 2, 32}, {2, 3, 40},
	} {
		shape := grid.Shape{D: of[0], H: of[1], W: of[2]}
		values := make([]float32, shape.Voxels())
		for at := range values {
			values[at] = float32(rng.IntN(3))
			if i%3 == 2 {
				values[at] = rng.Float32() * 3
			}
		}
		ladder, err := grid.Table([]float32{0, 3})
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Trusted(shape, grid.Float32, grid.Bytes(values), ladder)
		if err != nil {
			t.Fatal(err)
		}
		const lambda = 1e-3
		for _, vertices := range []bool{false, true} {
			p := &softecc.Problem{Source: f, Tau: []float64{0}, G: []float64{1}, Lambda: lambda, V: [3]float64{1}, Vertices: vertices}
			var want []uint8
			for _, v := range define(t, p).DX {
				c := math.Round(-4 / lambda * float64(v))
				if vertices { // counted negated
					c = -c
				}
				want = append(want, uint8(int8(c)))
			}
			for _, cut := range []struct {
				strip, chunk int64
				threads      int
			}{{1, 1, 3}, {2, 1, 1}, {1, 2, 2}, {3, 2, 1}, {99, 99, 1}} {
				if got := changesOf(t, k, p, values, cut.strip, cut.chunk, cut.threads); !slices.Equal(got, want) {
					t.Fatalf("%v, vertices %v, strips of %d, chunks of %d: changes %v, want %v", shape, vertices, cut.strip, cut.chunk, got, want)
				}
			}
		}
	}
}

// changesOf returns the changes of all voxels of an image cut into strips and chunks, and checks
// that the bins contain each. No memory around them may be written.
func changesOf[T value](t *testing.T, k kernel[T], p *softecc.Problem, values []float32, strip, chunk int64, threads int) []uint8 {
	t.Helper()
	const beside, mark = 64, 77
	q, l := turned(p), Layer[T]{Problem: p}
	for _, v := range values {
		l.Image = append(l.Image, T(v))
	}
	s := newSweep(q, k, layBins(p), threads, l.rows(k))
	s.strip, s.chunk = min(strip, s.h), min(chunk, s.n)
	all := slices.Repeat([]uint8{mark}, len(values)+2*beside)
	s.changes = all[beside:][:len(values)]
	s.forward()
	want := 0.0
	for i, v := range all {
		if i >= beside && i < beside+len(values) {
			want += float64(int8(v))
		} else if v != mark {
			t.Fatalf("%v: a byte beside the changes is %d", p.Shape(), v)
		}
	}
	got := 0.0
	for _, b := range s.total().list {
		got += b.c
	}
	if got != want {
		t.Errorf("%v: bins have changes of %v in all, want %v", p.Shape(), got, want)
	}
	return s.changes
}

// A strip has the rows that fit a cache, at least one. A chunk has the planes for four turns of
// each core, at least one. Each row has room for a vector around it.
func sweepsAreCut(t *testing.T) {
	for _, s := range []grid.Shape{
		{D: 1, H: 1, W: 1}, {D: 1, H: 100, W: 16}, {D: 7, H: 3, W: 15}, {D: 16, H: 500, W: 900}, {D: 17, H: 900, W: 900}, {D: 3, H: 9, W: 9600}, {D: 3, H: 2, W: 30000},
	} {
		p := &softecc.Problem{Source: Blank(s)}
		for _, threads := range []int64{1, 2, 4} {
			cut := newSweep(p, inGo[float32](), bins{}, int(threads), nil)
			if bytes := 9 * (cut.strip + 2) * cut.stride; cut.strip < 1 || cut.strip > cut.h || cut.strip > 1 && bytes > stripBytes || cut.strip < cut.h && bytes+9*cut.stride <= stripBytes {
				t.Errorf("%v: strips of %d rows of %d", s, cut.strip, cut.h)
			}
			if before, behind := cut.stride-lead-cut.w, cut.stride%lanes; before < lanes || before > 2*lanes || behind != 0 {
				t.Errorf("%v: rows are %d apart", s, cut.stride)
			}
			if turns := 4 * threads; cut.chunk < 1 || cut.chunk*turns < cut.n || (cut.chunk-1)*turns >= cut.n || len(cut.cores) != int(threads) {
				t.Errorf("%v: chunks of %d planes of %d for %d cores", s, cut.chunk, cut.n, len(cut.cores))
			}
		}
	}
}

// tiltsAre compares rows of Y with their rounded sums, for all lengths around the length of vectors.
func tiltsAre[T value](t *testing.T, k kernel[T]) {
	rng := rand.New(rand.NewPCG(32, 7))
	for n := range 3*lanes + 2 {
		row, along, dst := make([]T, n), make([]T, n), make([]T, n+lanes)
		for i := range row {
			row[i], along[i] = T(rng.NormFloat64()*1000), T(rng.NormFloat64())
		}
		of := T(rng.NormFloat64() * 10)
		k.tilt(dst[:n], row, of, along)
		for i, v := range dst {
			want := T(0)
			if i < n {
				want = of + along[i]
				want = row[i] + want
			}
			if v != want {
				t.Fatalf("value %d of %d is %v, want %v", i, n, v, want)
			}
		}
	}
}

// layings returns problems of some λ, with evenly spaced levels or others, and with Y on them or
// not.
func layings(t *testing.T, lambdas ...string) (list []*softecc.Problem) {
	for _, lambda := range lambdas {
		for _, image := range []string{"noise/shape=5x4x3/type=float32/levels=1024/seed=5", "noise/shape=5x4/type=uint8/seed=1", "between/shape=5x4x3/levels=70/seed=2", "noise/shape=5x4x3/type=int16/levels=300/seed=2"} {
			for _, alpha := range []string{"0", "700"} {
				list = append(list, open(t, "softecc/m=3/lambda="+lambda+"/alpha="+alpha+"/dir=2/of="+image))
			}
		}
		// Whole numbers on a table are 1 or more apart.
		p := open(t, "softecc/m=3/lambda="+lambda+"/alpha=0/dir=2/of=noise/shape=5x4x3/type=uint8/seed=1")
		table, err := grid.Table([]float32{3, 4, 9, 200})
		if err != nil {
			t.Fatal(err)
		}
		p.Source = gridtest.Image(t, p.Shape(), grid.Uint8, table, func(i int64) float64 { return float64(table.Value(i % 4)) })
		list = append(list, p)
	}
	return list
}

// Bins are as narrow as the bound of doc/proofs/softecc.md requires, and not too many. They cover
// all values of Y, and levels are in the middle of bins if Y is on levels.
func binsAreLaid(t *testing.T) {
	for _, p := range layings(t, "1", "20", "500", "3000", "13000", "100000") {
		for _, vertices := range []bool{false, true} {
			p.Vertices = vertices
			l := p.Ladder()
			b, name := layBins(p), p.Shape().String()+" on "+l.String()
			lo, hi := float64(l.Value(0)), float64(l.Value(l.Len()-1))
			u, _ := p.U()
			s := p.Shape()
			for i, n := range []int64{s.W, s.H, s.D} {
				rise := math.Abs(p.Alpha * u[i] * softecc.Place(0, n))
				lo, hi = lo-rise, hi+rise
			}
			if vertices {
				lo, hi = -hi, -lo
			}
			span := hi - lo
			if b.n == 0 {
				if span*perLambda*p.Lambda < most {
					t.Errorf("%s, λ %g: no bins", name, p.Lambda)
				}
				continue
			}
			if first, last := b.at(0), b.at(b.n-1); first > lo-b.width/2 || first < lo-2*b.width || last < hi+b.width/2 || last > hi+3*b.width {
				t.Errorf("%s, λ %g: %d bins of %g from %g to %g, want them about %g to %g", name, p.Lambda, b.n, b.width, first, last, lo, hi)
			}
			if !(b.width*b.inverse > 1-1e-15 && b.width*b.inverse < 1+1e-15) || b.width*p.Lambda > 1.0/perLambda*(1+1e-12) || b.n < least || b.n > most+4 || b.lambda != p.Lambda {
				t.Errorf("%s: %d bins of %g for λ %g", name, b.n, b.width, p.Lambda)
			}
			if _, even := spacing(p); even && p.Alpha == 0 {
				for k := range l.Len() {
					v := float64(l.Value(k))
					if vertices {
						v = -v
					}
					at := (v - b.lo) / b.width
					if math.Abs(at-math.Round(at)) > 1e-6 {
						t.Fatalf("%s, λ %g: level %d is at %g bins", name, p.Lambda, k, at)
					}
				}
			}
		}
	}
}

// Bins and the table are within the bound of doc/proofs/softecc.md for a value at any position in a
// bin and at any distance from thresholds. A value in no bin is exact.
func binsAreNear(t *testing.T) {
	for i, p := range layings(t, "20", "500", "100000") { // the last has no bins
		b := layBins(p)
		var values []float64
		if b.n > 0 {
			for _, k := range []int{0, 1, b.n / 3, b.n / 2, b.n - 2, b.n - 1} {
				for _, part := range []float64{-0.4999, -0.25, 0, 0.1, 0.4999} {
					values = append(values, b.at(k)+part*b.width)
				}
			}
			values = append(values, b.at(0)-b.width, b.at(b.n-1)+b.width, b.at(0)-b.width/2*1.0001, b.at(b.n-1)+b.width/2*1.0001)
		}
		for _, tau := range p.Tau {
			// Near a threshold, and where the sigmoid is nearly 0 or 1.
			for _, away := range []float64{0, 0.3, 1.5, 9, 19, 39, 41, 300} {
				values = append(values, tau-away/p.Lambda, tau+away/p.Lambda)
				if b.n > 0 { // also in the middle of a bin
					k := math.Round((tau - away/p.Lambda - b.lo) * b.inverse)
					values = append(values, b.at(int(k)))
				}
			}
		}
		curve, slopes := newTally(p, b, nil, reach), newTable(p, b, reach, 1+i%3)
		steepest := 0.0
		for _, g := range p.G {
			steepest += math.Abs(g) * p.Lambda
		}
		for k, y := range values {
			change := []int8{1, -1, 3, -7}[k%4]
			curve.reset()
			curve.add(y, change)
			got, c, slope := curveOf(curve, p, 1+i%2), float64(change), 0.0
			in, within := uint(int((y-b.lo)*b.inverse+0.5)) < uint(b.n), 1e-13
			if in { // by the distance from the middle of its bin
				_, off := math.Modf((y-b.lo)*b.inverse + 0.5)
				within += 3.4e-7 * math.Pow(2*math.Abs(off-0.5), 3)
			}
			for j, tau := range p.Tau {
				z := tau - y
				v, d := softecc.Sigmoid(p.Lambda * z)
				slope += p.G[j] * p.Lambda * d
				// The third derivative of z·σ' has that of σ' times z, and 3 times that of σ.
				if e := within * math.Abs(c); !nearly(got.Chi[j], c*v, e) || !nearly(got.ByTau[j], c*p.Lambda*d, e*p.Lambda) || !nearly(got.ByLambda[j], c*z*d, e*(math.Abs(z)+3/p.Lambda)) {
					t.Fatalf("problem %d, %d bins: change %d of value %g by threshold %g: %g, %g, %g, want %g, %g, %g",
						i, b.n, change, y, tau, got.Chi[j], got.ByTau[j], got.ByLambda[j], c*v, c*p.Lambda*d, c*z*d)
				}
			}
			limit := 5e-7 // also the error of float32
			if !in {
				limit = 1e-14
			}
			if v := slopes.slope(y); !nearly(v, slope, limit*steepest) {
				t.Fatalf("problem %d, %d bins: the slope at %g is %g, want %g", i, b.n, y, v, slope)
			}
		}
	}
}

// curveOf returns the curve of a tally with its derivatives.
func curveOf(t *tally, p *softecc.Problem, threads int) Curve {
	c := newCurve(len(p.Tau))
	t.convolve(c, p, threads)
	return c
}

// Nodes give the sigmoids and slopes of a value within the bound of doc/proofs/softecc.md, at any
// position between nodes, below all of them and above. Many thresholds are between nodes, too.
func nodesAreNear(t *testing.T, k kernel[float32]) {
	for i, p := range layings(t, "1", "20", "500") {
		nodesAreNearOf(t, k, p, 2.1e-8)
		lo, hi := slices.Min(p.Tau), slices.Max(p.Tau)
		for p.Tau, p.G = nil, nil; len(p.Tau) < 100*(1+i%2); {
			p.Tau, p.G = append(p.Tau, lo+float64(len(p.Tau)*37%101)*(hi-lo)/100), append(p.G, float64(len(p.G)%5)-1.5)
		}
		want := min(len(p.Tau), int((slices.Max(p.Tau)-slices.Min(p.Tau))*(perWidth*p.Lambda))+2+sharedNodes)
		if places := len(newNodes(p, false).from); places != want {
			t.Errorf("%d places of %d thresholds, want %d", places, len(p.Tau), want)
		}
		nodesAreNearOf(t, k, p, 4.2e-8)
	}
}

func nodesAreNearOf(t *testing.T, kernel kernel[float32], p *softecc.Problem, bound float64) {
	t.Helper()
	k, steep := newNodes(p, false), newNodes(p, true)
	k.kernel, steep.kernel = kernel, kernel
	curve, table, list := newTally(p, bins{}, k, reach), make([]float64, k.n), make([]float64, k.n)
	k.slopes(table, p.G)
	if steep.slopes(list, p.G); !slices.Equal(list, table) {
		t.Errorf("slopes alone are %v, want %v", list, table)
	}
	steepest := 0.0
	for _, g := range p.G {
		steepest += math.Abs(g) * p.Lambda
	}
	lo, hi := slices.Min(p.Tau), slices.Max(p.Tau)
	for n := range 200 {
		away := 25 / p.Lambda
		y := []float32{0, float32(lo - away + (hi-lo+2*away)*float64(n)/199), float32(math.NaN()), 0}
		curve.reset()
		row := make([]shared, 1)
		kernel.place(row, k, slices.Concat(y, make([]float32, lanes)), []uint8{0, 3, 1, 0})
		want := shared{}
		want.set(1, k.place(float64(y[1])))
		for n, share := range row[0].share {
			if row[0].first[1] != want.first[1] || share[1] != want.share[n][1] {
				t.Fatalf("λ %g: value %g has shares %v, want %v", p.Lambda, y[1], row[0], want)
			}
		}
		k.spread(curve.sums, row, []uint8{0, 3, 0, 0})
		got, slope := curveOf(curve, p, 1), 0.0
		for j, tau := range p.Tau {
			z := tau - float64(y[1])
			v, d := softecc.Sigmoid(p.Lambda * z)
			slope += p.G[j] * p.Lambda * d
			if !nearly(got.Chi[j], 3*v, 3*bound) || !nearly(got.ByTau[j], 3*p.Lambda*d, 3*bound*p.Lambda) || !nearly(got.ByLambda[j], 3*z*d, 3*bound*(math.Abs(z)+6/p.Lambda)) {
				t.Fatalf("λ %g: value %g by threshold %g: %g, %g, %g, want %g, %g, %g",
					p.Lambda, y[1], tau, got.Chi[j], got.ByTau[j], got.ByLambda[j], 3*v, 3*p.Lambda*d, 3*z*d)
			}
		}
		if v := row[0].interpolate(table, 1); !nearly(v, slope, bound*steepest) {
			t.Fatalf("λ %g: the slope at %g is %g, want %g", p.Lambda, y[1], v, slope)
		}
	}
}

// χ of nodes is a whole number where no value is near a threshold, also of thresholds between nodes.
func nodesAreExact(t *testing.T, kernel kernel[float32]) {
	rng := rand.New(rand.NewPCG(35, 7))
	p := open(t, "softecc/m=3/lambda=1/alpha=0/dir=2/of=noise/shape=5x4/type=float32/levels=1024/seed=5")
	for _, m := range []int{2, 3000} {
		p.Lambda, p.Tau = 97.3, nil
		for j := range m {
			p.Tau = append(p.Tau, float64(j%2)+float64(j)*1e-5)
		}
		k := newNodes(p, false)
		k.kernel = kernel
		curve, want := newTally(p, bins{}, k, reach), [2]float64{}
		for range 1000 {
			y, change := rng.Float32()*0.4+0.3, rng.IntN(15)-7 // between both groups of thresholds
			if rng.IntN(2) > 0 {
				y, want[0] = -0.3-y, want[0]+float64(change)
			}
			want[1] += float64(change)
			row := make([]shared, 1)
			kernel.place(row, k, append(make([]float32, 0, lanes), y, 0, 0, 0, 0, 0, 0, 0), []uint8{uint8(int8(change))})
			k.spread(curve.sums, row, []uint8{uint8(int8(change))})
		}
		for j, v := range curveOf(curve, p, 1).Chi {
			if v != want[j%2] {
				t.Fatalf("%d thresholds: χ at %g is %v, want %v", m, p.Tau[j], v, want[j%2])
			}
		}
	}
}

// Problems with too many nodes have none.
func nodesAreFew(t *testing.T) {
	p := layings(t, "20")[0]
	for _, change := range []func(q *softecc.Problem){
		func(q *softecc.Problem) { q.Lambda = 1e300 }, func(q *softecc.Problem) { q.Tau = []float64{0, 1e300} },
		func(q *softecc.Problem) { q.Tau, q.G = []float64{2e6 / q.Lambda}, []float64{1} },
		func(q *softecc.Problem) { q.Source = Blank{D: 1, H: int64(len(q.Tau)), W: least} },
	} {
		q := *p
		if change(&q); newNodes(&q, false) != nil {
			t.Errorf("λ %g, thresholds %v, shape %v have nodes", q.Lambda, q.Tau, q.Shape())
		}
	}
	p.Source = Blank{D: 1, H: 1, W: least*int64(len(p.Tau)) - 1}
	if newNodes(p, false) == nil {
		t.Errorf("%v has no nodes", p.Shape())
	}
}

// Thresholds and bins are within reach of a value if they are no farther than reach.
func reachIsFull(t *testing.T) {
	tau := []float64{-3, -1, -1, 0, 2, 2, 5}
	for y := -8.0; y <= 10; y++ {
		for window := range 4 {
			from, to := near(tau, y, float64(window))
			if a, b := sort.SearchFloat64s(tau, y-float64(window)-0.5), sort.SearchFloat64s(tau, y+float64(window)+0.5); from != a || to != b {
				t.Errorf("thresholds %d to %d of %v are within %d of %g, want %d to %d", from, to, tau, window, y, a, b)
			}
		}
	}
	// Bins with the middles 10, 10¼, 10½, … within 3/λ of a threshold, and one more at either end.
	b := bins{lambda: 2, lo: 10, width: 0.25, inverse: 4, n: 100}
	for tau, want := range map[float64][2]int{-50: {0, 0}, 8: {0, 0}, 8.25: {0, 1}, 10.5: {0, 10}, 11.5: {0, 14}, 12: {1, 16}, 20: {33, 48}, 33: {85, 100}, 36.5: {99, 100}, 36.75: {100, 100}, 90: {100, 100}} {
		if from, to := b.within(tau, 3); from != want[0] || to != want[1] {
			t.Errorf("bins %d to %d are within reach of %g, want %v", from, to, tau, want)
		}
	}
	// Without bins none are within reach, even if float64 overflows.
	if from, to := (bins{lambda: 1e-300}).within(math.MaxFloat64, reach); from != 0 || to != 0 {
		t.Errorf("of no bins %d to %d are within reach", from, to)
	}
}

// Jobs answer on all available instruction sets.
func jobsAnswer(t *testing.T, i Implementation) {
	softtest.Answers(t, i, "backward", "curve", "forward", "table")
	p := open(t, "softecc/m=1/lambda=90/alpha=0/dir=2/of=noise/shape=4x7/type=uint8/seed=5")
	if _, err := i.Setup(p, bench.Conditions{Setting: bench.Setting{ISA: "none"}}); err == nil {
		t.Error("answers on an instruction set that there is not")
	}
}

// Merged tallies of many voxels equal the sum over single voxels, for rows of any length and values
// in bins and in none.
func talliesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 7))
	p := open(t, "softecc/m=9/lambda=90/alpha=0/dir=2/of=noise/shape=5x4x3/type=float32/levels=1024/seed=5")
	p.Tau[2], p.Tau[5], p.Tau[7] = p.Tau[5], -3, p.Tau[5] // not sorted, and two of them equal
	b := layBins(p)
	want := newCurve(len(p.Tau))
	parts := []*tally{newTally(p, b, nil, reach), newTally(p, b, nil, reach), newTally(p, b, nil, reach)}
	for n := range 40 {
		y, changes := make([]float32, n), make([]uint8, n)
		for x := range y {
			k := rng.IntN(b.n + 800)
			y[x] = float32(b.at(k)) // some beyond the bins
			if rng.IntN(3) > 0 {
				changes[x] = uint8(int8(rng.IntN(15) - 7))
			}
			c := float64(int8(changes[x]))
			for j, tau := range p.Tau {
				z := tau - float64(y[x])
				v, d := softecc.Sigmoid(p.Lambda * z)
				want.Chi[j] += c * v
				want.ByTau[j] += c * p.Lambda * d
				want.ByLambda[j] += c * z * d
			}
		}
		addRow(parts[n%3], y, changes)
	}
	parts[0].merge(parts[1])
	parts[0].merge(parts[2])
	for _, threads := range []int{1, 2, 20} {
		got := curveOf(parts[0], p, threads)
		for j := range p.Tau {
			// Bins are so narrow here that the remainder is negligible.
			if !nearly(got.Chi[j], want.Chi[j], 1e-6) || !nearly(got.ByTau[j], want.ByTau[j], 1e-6*p.Lambda) || !nearly(got.ByLambda[j], want.ByLambda[j], 1e-6) {
				t.Errorf("threshold %d: %g, %g, %g, want %g, %g, %g", j, got.Chi[j], got.ByTau[j], got.ByLambda[j], want.Chi[j], want.ByTau[j], want.ByLambda[j])
			}
		}
	}
	parts[0].reset()
	if c := curveOf(parts[0], p, 1); slices.ContainsFunc(slices.Concat(c.Chi, c.ByTau, c.ByLambda), func(v float64) bool { return v != 0 }) {
		t.Errorf("a tally of nothing is %v", c)
	}
}

// layered returns the answer of a layer, forward and backward.
func layered[T float32 | float64](t *testing.T, p *softecc.Problem, threads int, nodes *Nodes) (softecc.Answer, []T) {
	t.Helper()
	values, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	image := make([]T, len(values))
	for i, v := range values {
		image[i] = T(v)
	}
	return layeredOf(t, p, image, threads, nodes)
}

// layeredOf is layered for an image with other values than the problem's.
func layeredOf[T float32 | float64](t *testing.T, p *softecc.Problem, image []T, threads int, nodes *Nodes) (softecc.Answer, []T) {
	t.Helper()
	q := *p
	q.Source = Blank(p.Shape())
	l := Layer[T]{Problem: &q, Image: image, Changes: slices.Repeat([]uint8{77}, len(image)), Threads: threads, Nodes: nodes}
	before, dx := slices.Clone(l.Image), slices.Repeat([]T{T(math.NaN())}, len(image)) // arbitrary earlier contents
	c := newCurve(len(p.Tau))
	err := l.Forward(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	a := softecc.Answer{Chi: c.Chi}
	for j, g := range p.G {
		a.DTau = append(a.DTau, g*c.ByTau[j])
		a.Lambda += g * c.ByLambda[j]
	}
	if a.DV, a.Alpha, err = l.Backward(context.Background(), dx); err != nil {
		t.Fatal(err)
	}
	for _, v := range dx {
		a.DX = append(a.DX, float32(v))
	}
	if !slices.Equal(before, l.Image) {
		t.Error("the image was written to")
	}
	return a, dx
}

// ofCallers returns problems for layers: with fewer voxels than bins, and with bins.
func ofCallers() []string {
	return []string{
		"softecc/m=5/lambda=100/alpha=100/dir=1/of=noise/shape=1x1/type=uint8/seed=5", "softecc/m=4/lambda=100/alpha=0/dir=2/of=constant/shape=9x7x5/type=float32",
		"softecc/m=5/lambda=100/alpha=100/dir=1/of=grf/shape=20x18x16/type=float32/levels=1024/smooth=1/seed=1", "softecc/m=5/lambda=300/alpha=0/dir=2/of=noise/shape=95x50/type=float32/levels=70000/seed=5",
		"softecc/m=16/lambda=20/alpha=100/dir=3/of=noise/shape=31x13/levels=64/type=float32/seed=5", "softecc/m=64/lambda=1/alpha=0/dir=1/of=noise/shape=40x7/levels=1024/type=float32/seed=1", "softecc/m=9/lambda=1000000/alpha=50/dir=7/of=noise/shape=7x6x5/type=uint16/levels=300/seed=7",
	}
}

// A layer agrees with the definition for either type and in both constructions, and returns the
// same bits each time.
func layersAnswer(t *testing.T, names []string) {
	for i := range 4 * len(names) {
		p := open(t, names[i/4])
		p.Vertices = i%2 > 0
		var nodes *Nodes
		if i%4 > 1 {
			nodes = newNodes(p, false)
		}
		want := define(t, p)
		got, dx := layered[float32](t, p, 3, nodes)
		if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
			t.Errorf("%s, vertices %v, nodes %v: %v", names[i/4], p.Vertices, nodes != nil, d)
		}
		again, same := layered[float32](t, p, 3, nodes)
		if !slices.Equal(got.Chi, again.Chi) || !slices.Equal(dx, same) || got.DV != again.DV {
			t.Errorf("%s: other bits, of the same call", names[i/4])
		}
		if p.Alpha != 0 || i%4 > 1 { // Y of float64 is a different image
			continue
		}
		wide, _ := layered[float64](t, p, 3, nil)
		for _, m := range softecc.Distance(p, want, wide) {
			if m.Value > 1e-12 && m.Name != "error of ∂X" || m.Value > 1e-7 {
				t.Errorf("%s, vertices %v, float64: %v", names[i/4], p.Vertices, m)
			}
		}
	}
}

// A tilted float64 image has the same answer as its Y without a tilt.
func tiltedLayers(t *testing.T) {
	for i, image := range []string{"noise/shape=9x8x7/type=float32/levels=1024/seed=1", "noise/shape=11x6/type=float32/levels=1024/seed=1"} {
		for _, vertices := range []bool{false, true} {
			p := open(t, "softecc/m=5/lambda=30/alpha=300/dir=4/of="+image)
			p.Vertices, p.V[2] = vertices, p.V[0]/2-float64(i)
			values, err := p.Values()
			if err != nil {
				t.Fatal(err)
			}
			s := p.Shape()
			u, _ := p.U()
			x, y := make([]float64, len(values)), make([]float64, len(values))
			for at, v := range values {
				pz, py, px := s.Coordinates(int64(at))
				x[at] = float64(v)
				y[at] = x[at] + p.Alpha*(u[0]*softecc.Place(px, s.W)+u[1]*softecc.Place(py, s.H)+u[2]*softecc.Place(pz, s.D))
			}
			got, dx := layeredOf(t, p, x, 2, nil)
			flat := *p
			flat.Alpha = 0
			want, same := layeredOf(t, &flat, y, 1, nil)
			var moment [3]float64
			for at, v := range same {
				pz, py, px := s.Coordinates(int64(at))
				for a, place := range []float64{softecc.Place(px, s.W), softecc.Place(py, s.H), softecc.Place(pz, s.D)} {
					moment[a] -= v * place
				}
				if !nearly(dx[at], v, 1e-9*p.Lambda) {
					t.Fatalf("%s, vertices %v: ∂X of voxel %d is %g, want %g", image, vertices, at, dx[at], v)
				}
			}
			p.Direction(&want, moment)
			for _, m := range softecc.Distance(p, want, got) {
				if m.Value > 1e-9 && m.Name != "error of ∂X" {
					t.Errorf("%s, vertices %v: %v", image, vertices, m)
				}
			}
		}
	}
}

// The extent of an image is from its least to its greatest value as they are counted, at any
// position.
func extentsAre(t *testing.T) {
	for _, n := range []int64{1, 2, 1<<14 - 1, 1 << 14, 1<<14 + 1, 3<<14 + 5} {
		p := &softecc.Problem{Source: Blank{D: 1, H: 1, W: n}, Tau: []float64{0}, G: []float64{1}, Lambda: 1, V: [3]float64{1}}
		l := Layer[float64]{Problem: p, Image: slices.Repeat([]float64{3}, int(n)), Changes: make([]uint8, n), Threads: 2}
		for _, at := range []int64{0, n / 2, n - 1} {
			for _, v := range []float64{1, 7} {
				l.Image[at] = v
				for _, vertices := range []bool{false, true} {
					p.Vertices, l.kept = vertices, nil
					want := [2]float64{slices.Min(l.Image), slices.Max(l.Image)}
					if vertices {
						want[0], want[1] = -want[1], -want[0]
					}
					s, err := l.sweep(context.Background(), false)
					if err != nil {
						t.Fatal(err)
					}
					if lo, hi, err := l.extent(s); err != nil || lo != want[0] || hi != want[1] {
						t.Errorf("%d values, %g at %d, vertices %v: from %g to %g, %v, want %v", n, v, at, vertices, lo, hi, err, want)
					}
				}
			}
			l.Image[at] = 3
		}
	}
}

// A float32 image with at least as many voxels as bins has bins; others have none.
func layersHaveBins(t *testing.T) {
	of := func(w int64) *softecc.Problem {
		return &softecc.Problem{Source: Blank{D: 1, H: 1, W: w}, Tau: []float64{0}, G: []float64{1}, Lambda: 1, V: [3]float64{1}}
	}
	image := make([]float32, 2*least)
	image[5] = 1
	n := int64(layBinsOver(of(9), 0, 1).n)
	for w, want := range map[int64]int{9: 0, n - 1: 0, n: int(n), n + 1: int(n)} {
		s, err := (&Layer[float32]{Problem: of(w), Image: image[:w], Threads: 1}).sweep(context.Background(), false)
		if err != nil || s.bins.n != want {
			t.Errorf("%d voxels of float32: %d bins, want %d, %v", w, s.bins.n, want, err)
		}
	}
	s, err := (&Layer[float64]{Problem: of(2 * least), Image: make([]float64, 2*least), Threads: 1}).sweep(context.Background(), false)
	if err != nil || s.bins.n != 0 {
		t.Errorf("an image of float64 has %d bins, %v", s.bins.n, err)
	}
}

// Values that are not finite give an error forward, and NaN backward. A cancelled call ends.
func layersRefuse(t *testing.T) {
	p := open(t, "softecc/m=3/lambda=100/alpha=100/dir=1/of=noise/shape=5x4x3/type=float32/seed=1")
	p.Source = Blank(p.Shape())
	l := Layer[float64]{Problem: p, Image: make([]float64, 60), Changes: make([]uint8, 60), Threads: 2}
	l.Image[23], l.Image[31] = math.NaN(), math.Inf(-1)
	var bad *grid.NotFiniteError
	if err := l.Forward(context.Background(), newCurve(3)); !errors.As(err, &bad) || *bad != (grid.NotFiniteError{Count: 2, First: 23, Z: 1, Y: 0, X: 3}) {
		t.Errorf("%v", err)
	}
	l.Image[23], l.Image[31] = 0, 0
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Forward(ctx, newCurve(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, _, err := l.Backward(ctx, make([]float64, 60)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	p.Lambda, p.G[0], p.G[2] = 1, 0, 0
	const most = math.MaxFloat32 / 1.75 // the gradient of a voxel may be 7/4 of it
	for _, g := range []float64{math.NaN(), math.Inf(1), most * 1.000001} {
		p.G[1] = g
		dx := make([]float64, 60)
		v, alpha, err := l.Backward(context.Background(), dx)
		if err != nil || !math.IsNaN(v[0]) || !math.IsNaN(alpha) || slices.ContainsFunc(dx, func(v float64) bool { return !math.IsNaN(v) }) {
			t.Errorf("%v: %v, %v, %v", g, v, alpha, err)
		}
	}
	p.G[1] = most
	dx := make([]float64, 60)
	if v, alpha, err := l.Backward(context.Background(), dx); err != nil || math.IsNaN(v[0]) || math.IsNaN(alpha) || math.IsNaN(dx[0]) {
		t.Errorf("%v: %v, %v, %v", most, v, alpha, err)
	}
}

// An ending context is cancelled after a number of queries.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A call cancelled at any time returns an error, not part of an answer.
func cancelled(t *testing.T) {
	p := open(t, "softecc/m=3/lambda=100/alpha=100/dir=1/of=noise/shape=7x6x5/type=float32/seed=1")
	values, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	want, dx := layeredOf(t, p, values, 1, nil)
	l := Layer[float32]{Problem: p, Image: values, Changes: make([]uint8, len(values)), Threads: 1}
	asked := 0
	for err := context.Canceled; err != nil; asked++ {
		ctx := &ending{Context: context.Background()}
		ctx.left.Store(int64(asked))
		c := newCurve(len(p.Tau))
		if err = l.Forward(ctx, c); err == nil && !slices.Equal(c.Chi, want.Chi) || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("asked %d times: %v, want %v, %v", asked, c.Chi, want.Chi, err)
		}
	}
	backwards := 0
	for err := context.Canceled; err != nil; backwards++ {
		ctx, got := &ending{Context: context.Background()}, make([]float32, len(values))
		ctx.left.Store(int64(backwards))
		if _, _, err = l.Backward(ctx, got); err == nil && !slices.Equal(got, dx) || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("asked %d times backward: ∂X %v, want %v, %v", backwards, got, dx, err)
		}
	}
	if asked < 7 || backwards < 4 {
		t.Errorf("asked whether all is cancelled %d times forward and %d times backward", asked-1, backwards-1)
	}
}

// nearly reports whether two numbers are within a limit of each other.
func nearly(a, b, within float64) bool { return math.Abs(a-b) <= within }
