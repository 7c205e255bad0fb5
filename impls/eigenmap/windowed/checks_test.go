package windowed

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test vector instructions.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		eigentest.Calls(i, eigenmap.Patch, "correct", "degrees", "groups", "pairs", "weights"),
		eigentest.Answers(i, nil,
			"eigenmap-patch/k=3/tol=12/alpha=40/beta=3/side=2/of=grf/shape=19x16/type=float32/levels=1024/smooth=2/seed=1",
			"eigenmap-patch/k=2/tol=9/alpha=60/beta=2/side=2/of=noise/shape=6x5x9/type=int16/levels=1000/seed=1",
			"eigenmap-patch/k=2/tol=9/alpha=100/beta=50/side=1/of=noise/shape=4x4x4/type=uint8/seed=3",
			"eigenmap-patch/k=12/tol=6/alpha=100/beta=2/side=1/of=noise/shape=12x1/type=uint8/seed=2", // all pairs
			"eigenmap-patch/k=1/tol=6/alpha=100/beta=2/side=1/of=noise/shape=2x1/type=uint8/seed=2",
			"eigenmap-patch/k=5/tol=8/alpha=40/beta=5/side=1/of=constant/shape=8x5/type=uint8", // few groups
			"eigenmap-patch/k=2/tol=8/alpha=1/beta=5/side=1/of=ramp/shape=12x1/type=float32"),  // weights down to 1e-230
		// 600 patches with weights up to 7 patches away along an axis.
		eigentest.CheckEstimates(i, map[string]eigentest.Estimate{
			"eigenmap-patch/k=2/tol=6/alpha=40/beta=1/side=2/of=noise/shape=60x40/type=uint8/seed=1":   {NS: 600 * 15 * 15 * 300, Bytes: 4*600*15*15 + 8*600*(300+8*2) + 24*2400},
			"eigenmap-patch/k=3/tol=6/alpha=40/beta=1/side=2/of=noise/shape=40x20x6/type=uint8/seed=1": {NS: 600 * 15 * 10 * 3 * 300, Bytes: 4*600*15*10*3 + 8*600*(300+8*3) + 24*4800},
			"eigenmap-patch/k=3/tol=6/alpha=40/beta=1/side=2/of=noise/shape=6x20x40/type=uint8/seed=1": {NS: 600 * 15 * 10 * 3 * 300, Bytes: 4*600*15*10*3 + 8*600*(300+8*3) + 24*4800},
			"eigenmap-patch/k=149/tol=6/alpha=40/beta=1/side=1/of=noise/shape=301x1/type=uint8/seed=1": {NS: 301 * 15 * 300, Bytes: 4*301*15 + 8*301*(300+8*149) + 24*301},
		}),
		{Name: "most pairs", Of: func(t *testing.T) {
			for name, want := range map[string]bool{"k=150/of=300x1": true, "k=150/of=301x1": false, "k=300/of=300x1": true} {
				k, shape, _ := strings.Cut(name, "/of=")
				p, err := eigenmap.Inputs(eigenmap.Patch).Open("eigenmap-patch/" + k + "/tol=6/alpha=40/beta=1/side=1/of=noise/shape=" + shape + "/type=uint8/seed=1")
				if err != nil {
					t.Fatal(err)
				}
				if err := i.CanDo(p, bench.Conditions{}); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "up to 149 pairs") {
					t.Errorf("%s: %v", name, err)
				}
			}
		}},
		{Name: "patches that have none alike near", Of: farAreCounted},
		{Name: "groups of patches", Of: groupsAreWhole},
		{Name: "groups that are not solved", Of: unsolvedIsTold},
		{Name: "corrected pairs", Of: pairsAreCorrected},
		{Name: "distances", Of: distancesAre}, {Name: "products", Of: productsAre},
		{Name: "lists that are too short", Of: shortListsAreRefused},
		{Name: "windows", Of: windowsEnd},
		{Name: "kept weights", Of: keptWeights},
		{Name: "corrections", Of: correctionsSolve},
		{Name: "corrections that fail", Of: failuresAreTold},
		{Name: "bits and products", Of: func(t *testing.T) {
			bitsAndProducts(t, map[string]int{
				"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=grf/shape=160x104/type=uint8/levels=256/smooth=3/seed=1":  18,
				"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=tubes/shape=160x104/type=uint8/levels=256/seed=1":         30,
				"eigenmap-patch/k=3/tol=8/alpha=40/beta=2/side=4/of=grf/shape=36x32x28/type=uint8/levels=256/smooth=4/seed=1": 33,
			}, 1, 3)
		}},
	}
}

// Vector instructions and Go code find the same distances, also for the largest features.
func distancesAre(t *testing.T) {
	if !eigenmap.Vectors() {
		return
	}
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := make([]int16, 16), make([]int16, 16*103)
	for i := range b {
		b[i] = int16(255 * rng.IntN(2))
		if i > 300 {
			b[i] = int16(rng.IntN(256))
		}
	}
	for i := range a {
		a[i] = int16(255 * (i & 1))
	}
	got := make([]int32, 103)
	n := unlikeVector(got, a, b)
	if n != 100 || got[100] != 0 {
		t.Fatalf("%d distances, and behind them %d", n, got[100])
	}
	for k, d := range got[:n] {
		if want := squaredDistance(a, b[16*k:][:16]); d != want {
			t.Errorf("patch %d: %d, not %d", k, d, want)
		}
	}
}

// Vector instructions and Go code give the same products up to rounding, and write nothing beyond
// the weights.
func productsAre(t *testing.T) {
	if !eigenmap.Vectors() {
		return
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, lanes, 3 * lanes, 8 * lanes} {
		weights, x := make([]float32, n), make([]float64, n+1)
		got, want := make([]float64, n+1), make([]float64, n+1)
		for i := range weights {
			weights[i], x[i], got[i] = rng.Float32(), rng.NormFloat64(), rng.NormFloat64()
		}
		got[n] = 5
		copy(want, got)
		a, b := multiplySymmetric(true, got, x, weights, 0.75), multiplySymmetric(false, want, x, weights, 0.75)
		if math.Abs(a-b) > 1e-13 {
			t.Errorf("%d weights: a product of %v, not %v", n, a, b)
		}
		for i, v := range want {
			if math.Abs(got[i]-v) > 1e-15*(1+math.Abs(v)) {
				t.Errorf("%d weights: number %d is %v, not %v", n, i, got[i], v)
			}
		}
	}
}

// A list that is one number too short is rejected before anything outside of it is read or written.
func shortListsAreRefused(t *testing.T) {
	const n = 3 * lanes
	numbers := func(n int) []float64 { return make([]float64, n) }
	for what, do := range map[string]func(fast bool){
		"what products are added to": func(fast bool) { multiplySymmetric(fast, numbers(n-1), numbers(n), make([]float32, n), 1) },
		"what weights are times":     func(fast bool) { multiplySymmetric(fast, numbers(n), numbers(n-1), make([]float32, n), 1) },
	} {
		for _, fast := range []bool{false, eigenmap.Vectors()} {
			checktest.Panics(t, what, func() { do(fast) })
		}
	}
	if eigenmap.Vectors() {
		checktest.Panics(t, "own features", func() { unlikeVector(make([]int32, 4), make([]int16, 15), make([]int16, 64)) })
		checktest.Panics(t, "features of eight patches", func() { unlikeVector(make([]int32, 8), make([]int16, 16), make([]int16, 127)) })
	}
}

// A window ends where the distance factor is negligible, or where the patches end.
func windowsEnd(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 1, H: 90, W: 80}, {D: 1, H: 3, W: 4}, {D: 5, H: 6, W: 9}} {
		for _, beta := range []float64{0.1, 1, 2.5, 8} {
			p := eigenmap.OfPatches(gridtest.OfBytes(t, shape, make([]byte, shape.Voxels())...), 2, 1e-6, 40, beta, 1)
			far := window(p)
			factor := func(far int64) float64 { return math.Exp(-float64(far*far) / (2 * beta * beta)) }
			corner := (shape.W-1)*(shape.W-1) + (shape.H-1)*(shape.H-1) + (shape.D-1)*(shape.D-1)
			if factor(far-1) < nearest || factor(far) > nearest && far*far < corner || (far-1)*(far-1) > corner {
				t.Errorf("%v, β %v: a window of %d, beyond which are factors of %g", shape, beta, far, factor(far+1))
			}
		}
	}
}

// graphOf returns the graph of an image's patches and its kernel.
func graphOf(t *testing.T, name string) (p *eigenmap.Problem, g *graph, kernel []float64) {
	t.Helper()
	p, err := eigenmap.Inputs(eigenmap.Patch).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = newGraph(p, 2); err != nil {
		t.Fatal(err)
	}
	return p, g, kernelOf(eigenmap.NewOutput(p).Map, g.degree)
}

func random(seed uint64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = eigenmap.Uniform(seed, uint64(i))
	}
	return x
}

// Products with the kept weights agree with the definition's weights up to the same distance.
// Products with all weights in float64 agree with the definition, and so do degrees.
func keptWeights(t *testing.T) {
	for _, name := range []string{"eigenmap-patch/k=2/tol=8/alpha=60/beta=3/side=4/of=noise/shape=68x44/type=uint8/seed=1", "eigenmap-patch/k=2/tol=8/alpha=90/beta=2/side=1/of=noise/shape=7x5x6/type=uint8/seed=1", "eigenmap-patch/k=2/tol=8/alpha=90/beta=2/side=3/of=noise/shape=3x120/type=uint8/seed=1"} {
		p, g, _ := graphOf(t, name)
		features, err := p.Patches()
		if err != nil {
			t.Fatal(err)
		}
		const reach = 2
		s, x := g.nearGraph(reach), random(1, g.n)
		kept, all := append([]float64(nil), x...), append([]float64(nil), x...) // the diagonal part
		for i := range g.n {
			az, ay, ax := g.shape.Coordinates(int64(i))
			degree := 0.0
			for j := range g.n {
				bz, by, bx := g.shape.Coordinates(int64(j))
				if i == j {
					continue
				}
				apart, unlike := (ax-bx)*(ax-bx)+(ay-by)*(ay-by)+(az-bz)*(az-bz), 0.0
				for k, v := range features[i*g.m:][:g.m] {
					d := float64(v - features[j*g.m+k])
					unlike += d * d
				}
				w := math.Exp(-unlike/(float64(g.m)*p.Alpha*p.Alpha) - float64(apart)/(2*p.Beta*p.Beta))
				degree += w
				w /= math.Sqrt(g.degree[i] * g.degree[j])
				all[i] -= w * x[j]
				if apart <= reach*reach {
					kept[i] -= w * x[j]
				}
			}
			if math.Abs(g.degree[i]-degree) > 1e-12*degree {
				t.Fatalf("%s: degree %d is %v, want %v", name, i, g.degree[i], degree)
			}
		}
		of := make([]float64, g.n)
		for what, c := range map[string]struct {
			apply func()
			want  []float64
			most  float64
		}{"those that are kept": {func() { s.apply(of, x) }, kept, 1e-6}, "all": {func() { g.apply([][]float64{of}, [][]float64{x}) }, all, 1e-12}} {
			c.apply()
			for i, v := range of {
				if !(math.Abs(v-c.want[i]) <= c.most) {
					t.Fatalf("%s: of %s number %d is %v, want %v", name, what, i, v, c.want[i])
				}
			}
		}
	}
}

// A correction solves its equation with the kept weights to a thousandth, in the complement of the
// kernel and the pairs. Removing these from a vector leaves nothing along them.
func correctionsSolve(t *testing.T) {
	for _, name := range []string{"eigenmap-patch/k=3/tol=8/alpha=40/beta=5/side=4/of=grf/shape=96x80/type=uint8/levels=256/smooth=3/seed=1", "eigenmap-patch/k=2/tol=8/alpha=60/beta=2/side=4/of=noise/shape=68x44/type=uint8/seed=1"} {
		p, g, kernel := graphOf(t, name)
		j := jobOf(t, p, 2)
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		c, err := g.coarsen(p)
		if err != nil {
			t.Fatal(err)
		}
		s, rest, value, pairs := g.nearGraph(window(p)), random(2, g.n), j.Values[1], j.Vectors[1:]
		g.orthogonal(rest, kernel, pairs)
		for k, v := range append(pairs[:len(pairs):len(pairs)], kernel) {
			if e := dot(rest, v); math.Abs(e) > 1e-14*norm(rest) {
				t.Errorf("%s: %g is left along vector %d", name, e, k)
			}
		}
		rounded := slices.Clone(kernel) // nearly in the kernel: one pass would leave rounding errors
		axpy(1e-10, rest, rounded)
		if g.orthogonal(rounded, kernel, pairs); math.Abs(dot(rounded, kernel)) > 1e-14*norm(rounded) {
			t.Errorf("%s: %g of %g is left along the kernel", name, dot(rounded, kernel), norm(rounded))
		}
		size := norm(rest)
		x, err := s.solve(c, slices.Clone(rest), value, kernel, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range append(pairs[:len(pairs):len(pairs)], kernel) {
			if e := dot(x, v); math.Abs(e) > 1e-12*norm(x) {
				t.Errorf("%s: a correction has %g along vector %d", name, e, k)
			}
		}
		of := make([]float64, g.n)
		s.apply(of, x)
		axpy(-value, x, of)
		g.orthogonal(of, kernel, pairs)
		axpy(-1, rest, of)
		if left := norm(of) / size; !(left <= 1.01e-3 && left > 1e-5) { // and it stops there
			t.Errorf("%s: a correction leaves %g", name, left)
		}
		// Above all values no step leads down, and a zero vector has no step.
		for value, rest := range map[float64][]float64{3: rest, value: make([]float64, g.n)} {
			if x, err := s.solve(c, slices.Clone(rest), value, kernel, pairs); err != nil || norm(x) != 0 {
				t.Errorf("%s, value %v: a correction of length %v, %v", name, value, norm(x), err)
			}
		}
		// A failed guess is an error.
		j.guesses = 0
		if err := j.Do(nil); err == nil || !strings.Contains(err.Error(), "0 corrections leave") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func jobOf(t *testing.T, p *eigenmap.Problem, threads int) *job {
	t.Helper()
	j, err := Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: threads}})
	if err != nil {
		t.Fatal(err)
	}
	return j.(*job)
}

// If only distant patches are similar to a patch, they still count in its degree.
func farAreCounted(t *testing.T) {
	values := make([]byte, 39)
	for i := range values {
		values[i] = byte(i % 13 * 19)
	}
	p := eigenmap.OfPatches(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 39}, values...), 2, 1e-8, 2, 1, 1)
	want, err := p.Define()
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGraph(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range g.degree {
		if w := want.Degree[i]; math.Abs(d-w) > 1e-10*w {
			t.Errorf("degree %d is %g, want %g", i, d, w)
		}
	}
}

// Groups with a nearly singular matrix are not solved, which is an error.
func unsolvedIsTold(t *testing.T) {
	_, g, kernel := graphOf(t, "eigenmap-patch/k=2/tol=8/alpha=60/beta=2/side=1/of=noise/shape=2x1/type=uint8/seed=1")
	c := &coarse{of: []int32{0, 1}, share: []float64{1, 1}, kernel: mat.NewVecDense(2, []float64{1, 0})}
	c.factors.Factorize(mat.NewDiagDense(2, []float64{1, 1e-20}))
	guessed := c.guess(zeros(1, 2))
	_, solved := c.solve([]float64{1, 2})
	_, corrected := g.nearGraph(1).solve(c, []float64{1, 2}, 0, kernel, nil)
	if guessed == nil || solved == nil || corrected == nil {
		t.Errorf("a guess, a solution and a correction: %v, %v, %v", guessed, solved, corrected)
	}
}

// Each patch is in one group of near and similar patches, and there are not too many groups. Their
// vectors have length 1, and their matrix has only the shift in the kernel.
func groupsAreWhole(t *testing.T) {
	for _, name := range []string{
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=3/side=2/of=grf/shape=59x31/type=uint8/levels=256/smooth=3/seed=1", "eigenmap-patch/k=2/tol=8/alpha=10/beta=1/side=1/of=noise/shape=7x13x6/type=uint8/seed=1",
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=3/side=2/of=tubes/shape=31x59/type=uint8/levels=256/seed=1", "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=1/of=constant/shape=3x1/type=uint8",
		"eigenmap-patch/k=2/tol=8/alpha=10/beta=1/side=1/of=noise/shape=150x4/type=uint8/seed=1",
	} {
		p, g, kernel := graphOf(t, name)
		c, err := g.coarsen(p)
		if err != nil {
			t.Fatal(err)
		}
		n := c.kernel.Len()
		lengths, along := make([]float64, n), make([]float64, n)
		for i, k := range c.of {
			lengths[k] += c.share[i] * c.share[i]
			along[k] += c.share[i] * kernel[i]
		}
		for k, v := range lengths {
			if math.Abs(v-1) > 1e-12 || math.Abs(along[k]-c.kernel.AtVec(k)) > 1e-12 {
				t.Fatalf("%s: group %d of %d has the length %v, and of the kernel %v, not %v", name, k, n, v, c.kernel.AtVec(k), along[k])
			}
		}
		if _, width := c.factors.SymBand(); g.shape.W == 150 && width > n/4 {
			t.Errorf("%s: of %d groups those up to %d away count", name, n, width)
		}
		if n > max(1, g.n/4) {
			t.Errorf("%s: %d groups of %d patches", name, n, g.n)
		}
		var x mat.VecDense
		if err := c.factors.SolveVecTo(&x, c.kernel); err != nil {
			t.Fatal(err)
		}
		x.AddScaledVec(&x, -1/shift, c.kernel)
		if left := mat.Norm(&x, 2) * shift; !(left < 1e-6) {
			t.Errorf("%s: the kernel of groups is off by %g", name, left)
		}
		to := zeros(max(1, min(4, n-1)), g.n)
		if err := c.guess(to); err != nil {
			t.Fatal(err)
		}
		for k, v := range to {
			if g.orthogonal(v, kernel, to[:k]); !(norm(v) > 1e-6) && (n > 1 || norm(v) != 0) { // a single group has the kernel
				t.Errorf("%s: guess %d has nothing that others have not: %g", name, k, norm(v))
			}
			scale(v, 1/norm(v))
		}
	}
}

// The lowest pairs of a matrix with known pairs are found to any tolerance, from any guess, and in
// a basis of any size. Otherwise the error states the number of corrections.
func pairsAreCorrected(t *testing.T) {
	const n = 24
	p := eigenmap.OfPatches(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: n}, make([]byte, n)...), 6, 1e-6, 40, 5, 1)
	kernel := make([]float64, n)
	kernel[0] = 1
	g := &graph{n: n, threads: 1}
	m := eigenmap.NewOutput(p).Map
	products, before := 0, []int(nil) // numbers of earlier vectors, by call
	of := func(wanted, basis int, guess func(to [][]float64)) corrector {
		m.Values, m.Vectors = m.Values[:wanted+1], m.Vectors[:wanted+1]
		products, before = 0, nil
		return corrector{
			apply: func(to, from [][]float64) error {
				for k, x := range from {
					products++
					for i, v := range x {
						to[k][i] = v * float64(i) / n
					}
				}
				return nil
			},
			guess:      func(to [][]float64) error { guess(to); return nil },
			correction: func(rest []float64, _ float64, _ int) ([]float64, error) { return slices.Clone(rest), nil },
			orthogonal: func(v, kernel []float64, off [][]float64) {
				before = append(before, len(off))
				g.orthogonal(v, kernel, off)
			},
			kernel: kernel, basis: basis,
		}
	}
	start := func(by float64) func(to [][]float64) {
		return func(to [][]float64) {
			for k := range to {
				copy(to[k], random(uint64(k+1), n))
				scale(to[k], by)
			}
		}
	}
	held := func(what string, tol float64) {
		t.Helper()
		for k := 1; k < len(m.Values); k++ {
			left := 0.0
			for i, v := range m.Vectors[k] {
				left += (float64(i)/n - m.Values[k]) * (float64(i)/n - m.Values[k]) * v * v
			}
			if !(math.Sqrt(left) <= 0.9*tol+1e-14) || math.Abs(m.Values[k]-float64(k)/n) > tol || math.Abs(norm(m.Vectors[k])-1) > 1e-12 {
				t.Errorf("%s, tolerance %g: value %d is %v, %g is left", what, tol, k, m.Values[k], math.Sqrt(left))
			}
		}
	}
	for tol := 1e-2; tol > 1e-10; tol /= 2 {
		if err := of(1, 100, start(1)).pairs(m, tol, 100); err != nil {
			t.Errorf("tolerance %g: %v", tol, err)
		}
		held("one pair", tol)
	}
	m = eigenmap.NewOutput(p).Map
	for what, guess := range map[string]func(to [][]float64){
		"short": start(1e-20), "long": start(1e20), "the same twice": func(to [][]float64) { start(1)(to); copy(to[1], to[0]) },
		"nothing": func(to [][]float64) { start(1)(to); clear(to[1]) }, "the kernel": func(to [][]float64) { start(1)(to); copy(to[0], kernel) },
	} {
		c := of(3, 100, guess)
		c.beside = 1
		if err := c.pairs(m, 1e-8, 100); err != nil {
			t.Errorf("a guess of %s: %v", what, err)
		}
		held("a guess of "+what, 1e-8)
		if products > n-1 {
			t.Errorf("a guess of %s: %d products of a space of %d", what, products, n-1)
		}
	}
	for _, c := range [][2]int{{12, 3}, {12, 1}, {16, 3}, {16, 1}, {16, 5}} {
		m = eigenmap.NewOutput(p).Map
		basis, wanted := c[0], c[1]
		err := of(wanted, basis, start(1)).pairs(m, 1e-6, 200)
		if found := wanted < 5; (err == nil) != found { // false if there is too little room
			t.Errorf("%d pairs in a basis of %d: %v", wanted, basis, err)
		} else if found {
			held("few vectors", 1e-6)
		}
		least, most := n, 0
		for k := 1; k < len(before); k++ {
			if most = max(most, before[k]+1); before[k] < before[k-1] {
				least = min(least, before[k])
			}
		}
		if want := min(wanted+basis/4, basis/2); most > basis || wanted == 1 && most < basis || least != want {
			t.Errorf("%d pairs in a basis of %d: up to %d vectors, %d of which go on, want %d", wanted, basis, most, least, want)
		}
	}
	m = eigenmap.NewOutput(p).Map
	hard := of(1, 8, start(1))
	for most, want := range map[int]string{3: "3 corrections", 100: "12 corrections"} { // or the residuals stop decreasing
		if most == 100 {
			hard.correction = func([]float64, float64, int) ([]float64, error) { products++; return random(uint64(products), n), nil }
		}
		if err := hard.pairs(m, 1e-12, most); err == nil || !strings.HasPrefix(err.Error(), want+" leave residuals up to 0.") || !strings.Contains(err.Error(), "not 1e-12") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	hard.correction = func([]float64, float64, int) ([]float64, error) { return random(1, n), nil } // like the guess
	if err := hard.pairs(m, 1e-12, 100); err == nil || !strings.HasPrefix(err.Error(), "1 corrections") {
		t.Error(err)
	}
	hard.apply = func(to, _ [][]float64) error {
		for _, v := range to {
			v[1] = math.NaN()
		}
		return nil
	}
	if err := hard.pairs(m, 1e-12, 100); err == nil {
		t.Error("what is no number has pairs")
	}
}

// An error in a product, a guess or a correction is returned, and no pairs are found.
func failuresAreTold(t *testing.T) {
	p, g, kernel := graphOf(t, "eigenmap-patch/k=2/tol=8/alpha=60/beta=2/side=4/of=noise/shape=28x24/type=uint8/seed=1")
	none := errors.New("no device")
	for failing := range 4 {
		fails := func(k int) error {
			if k == failing {
				return none
			}
			return nil
		}
		err := corrector{
			apply: func(to, from [][]float64) error {
				g.apply(to, from)
				return fails(0)
			},
			guess: func(to [][]float64) error {
				copy(to[0], random(1, g.n))
				return fails(1)
			},
			correction: func(rest []float64, _ float64, _ int) ([]float64, error) { return slices.Clone(rest), fails(2) },
			orthogonal: g.orthogonal, kernel: kernel, basis: mostBasis,
		}.pairs(eigenmap.NewOutput(p).Map, 1e-6, 50)
		if errors.Is(err, none) != (failing < 3) || err != nil && failing == 3 {
			t.Errorf("where %d fails: %v", failing, err)
		}
	}
}

// bitsAndProducts checks that answers have the same bits on any number of cores, and need at most
// some number of products.
func bitsAndProducts(t *testing.T, of map[string]int, threads ...int) {
	t.Helper()
	for name, most := range of {
		p, err := eigenmap.Inputs(eigenmap.Patch).Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var first []float64
		for _, threads := range threads {
			j := jobOf(t, p, threads)
			if err := j.Do(nil); err != nil {
				t.Fatal(err)
			}
			if j.products > most || j.products < 3 {
				t.Errorf("%s: %d products, want 3 to %d", name, j.products, most)
			}
			bits := slices.Concat(j.Values, j.Vectors[1])
			if first == nil {
				first = bits
			}
			if !slices.Equal(bits, first) {
				t.Errorf("%s: other bits on %d cores", name, threads)
			}
		}
	}
}
