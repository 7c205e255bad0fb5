package windowed

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/sound"
	"eccbench/internal/sound/grids"
	"eccbench/internal/workloads/eigenmap"
)

// Checks are of vector instructions.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		eigenmap.Calls(i, eigenmap.Patch, "correct", "degrees", "groups", "pairs", "weights"),
		{Name: "distances", Of: distancesAre}, {Name: "products", Of: productsAre},
		{Name: "lists that are too short", Of: shortListsAreRefused},
		{Name: "windows", Of: windowsEnd},
		{Name: "kept weights", Of: keptWeights},
		{Name: "corrections", Of: correctionsSolve},
		{Name: "corrections that fail", Of: failuresAreTold},
		{Name: "bits and products", Of: func(t sound.T) {
			bitsAndProducts(t, map[string]int{
				"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=grf/shape=160x104/type=uint8/levels=256/smooth=3/seed=1":  18,
				"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=tubes/shape=160x104/type=uint8/levels=256/seed=1":         30,
				"eigenmap-patch/k=3/tol=8/alpha=40/beta=2/side=4/of=grf/shape=36x32x28/type=uint8/levels=256/smooth=4/seed=1": 33,
			}, 1, 3)
		}},
	}
}

// Vector instructions find the distances that Go finds, of the largest features, too.
func distancesAre(t sound.T) {
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
		if want := unlike(a, b[16*k:][:16]); d != want {
			t.Errorf("patch %d: %d, not %d", k, d, want)
		}
	}
}

// Vector instructions multiply as Go does, but for rounding, and write no further than weights go.
func productsAre(t sound.T) {
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
		a, b := both(true, got, x, weights, 0.75), both(false, want, x, weights, 0.75)
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

// A list that lacks a number is refused, of whichever nothing would be read or set that is not of the list.
func shortListsAreRefused(t sound.T) {
	const n = 3 * lanes
	numbers := func(n int) []float64 { return make([]float64, n) }
	for what, do := range map[string]func(fast bool){
		"what products are added to": func(fast bool) { both(fast, numbers(n-1), numbers(n), make([]float32, n), 1) },
		"what weights are times":     func(fast bool) { both(fast, numbers(n), numbers(n-1), make([]float32, n), 1) },
	} {
		for _, fast := range []bool{false, eigenmap.Vectors()} {
			sound.Refused(t, what, func() { do(fast) })
		}
	}
	if eigenmap.Vectors() {
		sound.Refused(t, "own features", func() { unlikeVector(make([]int32, 4), make([]int16, 15), make([]int16, 64)) })
		sound.Refused(t, "features of four patches", func() { unlikeVector(make([]int32, 4), make([]int16, 16), make([]int16, 63)) })
	}
}

// A window ends where the factor of distance is as small as is not kept, or where the patches end.
func windowsEnd(t sound.T) {
	for _, shape := range []grid.Shape{{D: 1, H: 90, W: 80}, {D: 1, H: 3, W: 4}, {D: 5, H: 6, W: 9}} {
		for _, beta := range []float64{0.1, 1, 2.5, 8} {
			p := eigenmap.OfPatches(grids.OfBytes(t, shape, make([]byte, shape.Voxels())...), 2, 1e-6, 40, beta, 1)
			far := window(p)
			factor := func(far int64) float64 { return math.Exp(-float64(far*far) / (2 * beta * beta)) }
			corner := (shape.W-1)*(shape.W-1) + (shape.H-1)*(shape.H-1) + (shape.D-1)*(shape.D-1)
			if factor(far-1) < nearest || factor(far) > nearest && far*far < corner || (far-1)*(far-1) > corner {
				t.Errorf("%v, β %v: a window of %d, beyond which are factors of %g", shape, beta, far, factor(far+1))
			}
		}
	}
}

// graphOf is the graph of an image's patches, and its kernel.
func graphOf(t sound.T, name string) (p *eigenmap.Problem, g *graph, kernel []float64) {
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

// What the weights that are kept make of a vector is what those by the definition make of it that are
// no farther away, and what all make in float64 is what those make; so are degrees.
func keptWeights(t sound.T) {
	for _, name := range []string{"eigenmap-patch/k=2/tol=8/alpha=60/beta=3/side=4/of=noise/shape=68x44/type=uint8/seed=1", "eigenmap-patch/k=2/tol=8/alpha=90/beta=2/side=1/of=noise/shape=7x5x6/type=uint8/seed=1", "eigenmap-patch/k=2/tol=8/alpha=90/beta=2/side=3/of=noise/shape=3x120/type=uint8/seed=1"} {
		p, g, _ := graphOf(t, name)
		features, err := p.Patches()
		if err != nil {
			t.Fatal(err)
		}
		const reach = 2
		s, x := g.near(reach), random(1, g.n)
		kept, all := append([]float64(nil), x...), append([]float64(nil), x...) // from the diagonal
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

// A correction solves its equation of the kept weights, beside the kernel and the pairs, to a thousandth;
// and what is taken off a vector leaves nothing along these.
func correctionsSolve(t sound.T) {
	for _, name := range []string{"eigenmap-patch/k=3/tol=8/alpha=40/beta=5/side=4/of=grf/shape=96x80/type=uint8/levels=256/smooth=3/seed=1", "eigenmap-patch/k=2/tol=8/alpha=60/beta=2/side=4/of=noise/shape=68x44/type=uint8/seed=1"} {
		p, g, kernel := graphOf(t, name)
		j := &job{p: p, threads: 2, Output: eigenmap.NewOutput(p)}
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		c, err := g.coarsen(p)
		if err != nil {
			t.Fatal(err)
		}
		s, rest, value, pairs := g.near(window(p)), random(2, g.n), j.Values[1], j.Vectors[1:]
		g.orthogonal(rest, kernel, pairs)
		for k, v := range append(pairs[:len(pairs):len(pairs)], kernel) {
			if e := dot(rest, v); math.Abs(e) > 1e-14*norm(rest) {
				t.Errorf("%s: %g is left along vector %d", name, e, k)
			}
		}
		size := norm(rest)
		x, err := s.solve(c, slices.Clone(rest), value, kernel, pairs)
		if err != nil {
			t.Fatal(err)
		}
		of := make([]float64, g.n)
		s.apply(of, x)
		axpy(-value, x, of)
		g.orthogonal(of, kernel, pairs)
		axpy(-1, rest, of)
		if left := norm(of) / size; !(left <= 1.01e-3) {
			t.Errorf("%s: a correction leaves %g", name, left)
		}
	}
}

// Where vectors are not multiplied, guessed or corrected, pairs are not found, and it is said why.
func failuresAreTold(t sound.T) {
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
			orthogonal: g.orthogonal, kernel: kernel,
		}.pairs(eigenmap.NewOutput(p).Map, 1e-6, 50)
		if errors.Is(err, none) != (failing < 3) || err != nil && failing == 3 {
			t.Errorf("where %d fails: %v", failing, err)
		}
	}
}

// bitsAndProducts holds answers to the same bits on any number of cores, and to so many products at most.
func bitsAndProducts(t sound.T, of map[string]int, threads ...int) {
	t.Helper()
	for name, most := range of {
		p, err := eigenmap.Inputs(eigenmap.Patch).Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var first []float64
		for _, threads := range threads {
			j := &job{p: p, threads: threads, Output: eigenmap.NewOutput(p)}
			if err := j.Do(nil); err != nil {
				t.Fatal(err)
			}
			if j.products > most {
				t.Errorf("%s: %d products, want at most %d", name, j.products, most)
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
