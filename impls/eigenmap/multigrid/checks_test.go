package multigrid

import (
	"fmt"
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

// checks test vector instructions, levels, and the transfer between levels.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		eigentest.Calls(i, eigenmap.Grid, "guess", "links", "solve"),
		eigentest.Answers(i, faulty(),
			"eigenmap/k=5/tol=7/sigma=300/floor=1000/corners=0/plain=1/of=noise/shape=5x13x3/type=uint8/seed=2",
			"eigenmap/k=12/tol=9/sigma=300/floor=1000/corners=0/plain=0/of=noise/shape=12x1/type=uint8/seed=5", // all pairs
			"eigenmap/k=5/tol=9/sigma=300/floor=1000/corners=1/plain=0/of=noise/shape=3x2x4/type=uint8/seed=5", // corners
			"eigenmap/k=2/tol=6/sigma=300/floor=1000/corners=0/plain=0/radius=4/of=noise/shape=2x2x9/type=uint8/seed=7",
			"eigenmap/k=3/tol=9/sigma=30/floor=0/corners=0/plain=0/of=ball/shape=7x6/type=uint8",         // two components
			"eigenmap/k=3/tol=9/sigma=70/floor=0/corners=0/plain=0/of=noise/shape=3x3/type=uint8/seed=1", // nearly two parts
			"eigenmap/k=2/tol=8/sigma=4/floor=0/corners=0/plain=0/of=ramp/shape=12x1/type=float32"),      // weights of 1e-225
		eigentest.CheckEstimates(i, map[string]eigentest.Estimate{
			// 132 voxels, two fours of vectors and the direct solver; then three, twice. The direct solver has
			// 60.5 + 67.5 + 84 + 2·587.5 + 2·810 numbers of 12 bytes.
			"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=12x11/type=uint8/seed=1":             {NS: 132 * 4 * 1500, Bytes: 132 * ((6*8*4*2+80+8*5+8*4)*4/3 + 273)},
			"eigenmap/k=5/tol=6/sigma=100/floor=1000/corners=1/plain=0/of=noise/shape=12x11/type=uint8/seed=1":             {NS: 132 * 9 * 1500, Bytes: 132 * ((6*8*4*3+80+8*18+8*5)*4/3 + 273)},
			"eigenmap/k=8/tol=6/sigma=100/floor=1000/corners=0/plain=0/radius=3/of=noise/shape=12x11/type=uint8/seed=1":    {NS: 132 * 9 * (1500 + 200*(3+13)), Bytes: 132 * ((6*8*4*3+80+8*18+8*8)*4/3 + 433)},
			"eigenmap/k=1/tol=6/sigma=100/floor=1000/corners=0/plain=0/radius=2/of=noise/shape=12x11x10/type=uint8/seed=1": {NS: 1320 * 4 * (1500 + 200*19), Bytes: 1320 * ((6*8*4*2+80+8*21+8)*4/3 + 2252)},
		}),
		{Name: "vector instructions", Of: vectorsAgree},
		{Name: "lists that are too short", Of: shortListsAreRefused},
		{Name: "small pencils", Of: pencilsAreSolved},
		{Name: "vectors in chunks", Of: chunksAreWhole},
		{Name: "connected parts", Of: partsAreConnected},
		{Name: "values near 0", Of: smallValues},
		{Name: "restriction", Of: restrictionIsTheTranspose},
		{Name: "links of coarser levels", Of: linksOfCoarserLevels},
		{Name: "cycles as operators", Of: cyclesAreSymmetric},
		{Name: "support of far links", Of: supportHolds},
		{Name: "direct solver", Of: directSolves},
		{Name: "estimates of dissections", Of: dissectionsAreEstimated},
		{Name: "bits and iterations", Of: bitsAndIterations},
	}
}

// Vector instructions agree with the Go kernels up to rounding, and write nothing outside.
func vectorsAgree(t *testing.T) {
	if !eigenmap.Vectors() {
		return
	}
	rng := rand.New(rand.NewPCG(1, 1))
	list := func(n int) block {
		out := make(block, n)
		for i := range out {
			out[i] = rng.Float64() - 0.5
		}
		return out
	}
	near := func(what string, a, b []float64) {
		t.Helper()
		for i, v := range a {
			if math.Abs(v-b[i]) > 1e-12 {
				t.Fatalf("%s: number %d is %g and %g", what, i, v, b[i])
			}
		}
	}
	for _, n := range []int{0, 1, 2, 7, 100} {
		a, b, mass := list(Lanes*n), list(Lanes*n), list(n)
		var c [Lanes * Lanes]float64
		copy(c[:], list(Lanes*Lanes))
		for _, m := range [][]float64{nil, mass} {
			one, other := c, c
			gram(true, one[:], a, b, m, 0, n)
			gram(false, other[:], a, b, m, 0, n)
			near("gram", one[:], other[:])
		}
		one, other := append(block(nil), b...), append(block(nil), b...)
		accumulate(true, one, a, &c)
		accumulate(false, other, a, &c)
		near("accumulate", one, other)
		flow(true, one, a, b, mass)
		flow(false, other, a, b, mass)
		near("flow", one, other)
	}
	for _, size := range [][3]int{{1, 1, 1}, {2, 1, 1}, {7, 5, 1}, {6, 4, 3}, {1, 9, 2}, {33, 2, 2}} {
		l := newLevel(size[0], size[1], size[2], 1)
		stride := [3]int{1, l.nx, l.nx * l.ny}
		for i := range l.mass {
			l.mass[i] = 1
			at := [3]int{i % l.nx, i / l.nx % l.ny, i / l.nx / l.ny}
			for a := range l.link {
				if i+stride[a] < l.cells() && at[a]+1 < size[a] {
					l.link[a][i] = rng.Float64() + 0.1
				}
			}
		}
		l.ready()
		for i := range l.f {
			l.f[i], l.u[Lanes+i] = rng.Float32(), rng.Float32()
		}
		start := append([]float32(nil), l.u...)
		c := l.coarser()
		c.ready()
		for i := range l.rest {
			l.rest[i] = rng.Float32()
		}
		for i := range c.f {
			c.u[Lanes+i] = rng.Float32()
		}
		passes := map[string]struct {
			pass func()
			of   []float32
		}{
			"restrict":    {func() { l.restrict(c) }, c.f},
			"interpolate": {func() { l.interpolate(c) }, l.u},
		}
		for name, p := range passes {
			var got [2][]float32
			for k := range got {
				copy(l.u, start)
				l.fast = k == 1
				p.pass()
				got[k] = append([]float32(nil), p.of...)
			}
			for i, v := range got[0] {
				if math.Abs(float64(v-got[1][i])) > 1e-5*(1+math.Abs(float64(v))) {
					t.Fatalf("%v, %s: number %d is %g and %g", size, name, i, v, got[1][i])
				}
			}
		}
		for colour := range 2 {
			var got [2][]float32
			for k := range got {
				copy(l.u, start)
				l.fast = k == 1
				l.relax(colour)
				got[k] = append([]float32(nil), l.u...)
			}
			for i, v := range got[0] {
				if math.Abs(float64(v-got[1][i])) > 1e-5*(1+math.Abs(float64(v))) {
					t.Fatalf("%v, colour %d: number %d of u is %g and %g", size, colour, i, v, got[1][i])
				}
			}
		}
	}
}

// A list that is one number too short is rejected before vector instructions read or write outside
// of it.
func shortListsAreRefused(t *testing.T) {
	if !eigenmap.Vectors() {
		return
	}
	const n = 3 // cells, or pairs of cells
	numbers := func(n int) []float64 { return make([]float64, n) }
	values := func(n int) []float32 { return make([]float32, n) }
	// Calls of lists of these lengths.
	for what, c := range map[string]struct {
		lengths []int
		do      func(n []int)
	}{
		"gram":          {[]int{Lanes * Lanes, Lanes * n}, func(k []int) { gramVector(numbers(k[0]), numbers(Lanes*n), numbers(k[1]), nil) }},
		"gram by mass":  {[]int{Lanes * Lanes, Lanes * n, n}, func(k []int) { gramVector(numbers(k[0]), numbers(Lanes*n), numbers(k[1]), numbers(k[2])) }},
		"accumulate":    {[]int{Lanes * n}, func(k []int) { accumulateVector(numbers(k[0]), numbers(Lanes*n), new([Lanes * Lanes]float64)) }},
		"flow":          {[]int{Lanes * n, Lanes * n, Lanes * n}, func(k []int) { flowVector(numbers(k[0]), numbers(k[1]), numbers(k[2]), numbers(n)) }},
		"gather":        {[]int{Lanes * n, 2 * Lanes * n, 2 * n}, func(k []int) { gatherVector(values(k[0]), values(k[1]), values(k[2]), n, false) }},
		"gather across": {[]int{Lanes * (n + 1), 2 * Lanes * n, 2 * n}, func(k []int) { gatherVector(values(k[0]), values(k[1]), values(k[2]), n, true) }},
		"relax": {[]int{Lanes * (2*n + 1), Lanes * (2*n - 1), 2*n - 1, 2 * n, 2*n - 1, 2*n - 1, 2*n - 1, 2*n - 1}, func(k []int) {
			l := &level{u: values(k[0]), f: values(k[1]), inv: values(k[2]), along: values(k[3])}
			l.relaxVector(0, n, [4][]float32{values(k[4]), values(k[5]), values(k[6]), values(k[7])}, [4]int{})
		}},
		"interpolate": {[]int{Lanes * (2*n + 1), 2 * n, 2 * n, 2 * n, 2 * n, Lanes * (n + 2)}, func(k []int) {
			l := &level{u: values(k[0]), own: values(k[1]), share: [3][]float32{values(k[2]), values(k[3]), values(k[4])}}
			l.interpolateVector(0, n, values(k[5]), Lanes, 0, 0)
		}},
	} {
		checktest.PanicsIfShorter(t, what, c.lengths, c.do)
	}
}

// For dependent vectors, vectors of any length and zero vectors, the lowest pairs are those of
// their span, and no more than its dimension.
func pencilsAreSolved(t *testing.T) {
	mass, links := mat.NewDiagDense(3, []float64{1, 4, 1}), mat.NewDiagDense(3, []float64{1, 2, 5})
	for _, c := range []struct {
		columns []float64 // of three numbers
		values  []float64 // of their span
	}{
		{[]float64{1, 2, 3, 4, 0, 1, 2, -1, 0}, []float64{0.5, 1, 5}},
		{[]float64{1, 2, 3, 1, 2, 3, 4, 0, 1, 0, 0, 0, 2e-30, -1e-30, 0}, []float64{0.5, 1, 5}},
		{[]float64{0, 1, 0, 0, 2, 0, 0, 0, 3e20}, []float64{0.5, 5}},
		{make([]float64, 9), nil},
	} {
		n := len(c.columns) / 3
		u := mat.DenseCopyOf(mat.NewDense(n, 3, c.columns).T())
		small := func(m mat.Matrix) *mat.SymDense {
			var half, whole mat.Dense
			half.Mul(m, u)
			whole.Mul(u.T(), &half)
			s := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i + 1 {
					s.SetSym(i, j, whole.At(i, j))
				}
			}
			return s
		}
		for want := 1; want <= n; want++ {
			values, by, err := Ritz(small(mass), small(links), want)
			if few := fmt.Sprintf("%d vectors of a basis of %d are independent", len(c.values), n); (err == nil) != (want <= len(c.values)) || err != nil && !strings.Contains(err.Error(), few) {
				t.Errorf("%v: %d pairs of %v: %v", c.columns, want, c.values, err)
			}
			if err != nil {
				continue
			}
			var x, rest mat.Dense
			x.Mul(u, by)
			for k, v := range values {
				rest.Mul(mass, &x)
				one := mat.Dot(x.ColView(k), rest.ColView(k))
				rest.Scale(-v, &rest)
				var of mat.Dense
				of.Mul(links, &x)
				rest.Add(&of, &rest)
				if left := mat.Norm(rest.ColView(k), 2); math.Abs(v-c.values[k]) > 1e-9 || math.Abs(one-1) > 1e-9 || !(left < 1e-9) {
					t.Errorf("%v: value %d of %d is %v, not %v, of the length %v, and leaves %v", c.columns, k, want, v, c.values[k], one, left)
				}
			}
		}
	}
}

// Sums and combinations count each cell once, for chunks that end with the cells, before or after
// them. The remainder of the equations agrees with A, and its norms are in the normalised form.
func chunksAreWhole(t *testing.T) {
	for n := chunk - 1; n <= chunk+1; n++ {
		for of, v := range sums(n, 2, 2, func(lo, hi int, to []float64) { to[0] += float64(hi - lo); to[1]++ }) {
			if want := []int{n, (n + chunk - 1) / chunk}[of]; v != float64(want) {
				t.Errorf("%d cells: sum %d is %v, want %d", n, of, v, want)
			}
		}
		l := newLevel(n, 1, 1, 2)
		for i := range n {
			l.mass[i] = 0.1 + float64(i%7)
			if i+1 < n {
				l.link[0][i] = 1 + float64(i%3)
			}
		}
		s := newSolver(hierarchy{l}, 1, nil, 1)
		lists := [][]block{s.x, s.w, s.p}
		var before [3]block
		for k, list := range lists {
			for i := range list[0] {
				list[0][i] = eigenmap.Uniform(uint64(k), uint64(i))
			}
			before[k] = slices.Clone(list[0])
		}
		c := mat.NewDense(3*Lanes, Lanes, nil)
		for i := range 3 * Lanes {
			for k := range Lanes {
				c.Set(i, k, eigenmap.Uniform(9, uint64(Lanes*i+k)))
			}
		}
		s.combine(c, true)
		for i := range Lanes * n {
			x, p := 0.0, 0.0
			for k := range Lanes {
				at := i/Lanes*Lanes + k
				x += before[0][at] * c.At(k, i%Lanes)
				p += before[1][at]*c.At(Lanes+k, i%Lanes) + before[2][at]*c.At(2*Lanes+k, i%Lanes)
			}
			if math.Abs(s.x[0][i]-x-p)+math.Abs(s.p[0][i]-p) > 1e-14 {
				t.Fatalf("%d cells: number %d of x is %v, of p %v, want %v and %v", n, i, s.x[0][i], s.p[0][i], x+p, p)
			}
		}
		if err := s.begin(); err != nil {
			t.Fatal(err)
		}
		s.remainders()
		a := make(block, Lanes*n)
		l.apply(a, s.x[0], 0, 1)
		var squares wide
		for i, v := range s.x[0] {
			rest := a[i] - s.values[i%Lanes]*l.mass[i/Lanes]*v
			if squares[i%Lanes] += rest * rest / l.mass[i/Lanes]; math.Abs(rest-s.w[0][i]) > 1e-12 {
				t.Fatalf("%d cells: of equation %d is left %v, want %v", n, i, s.w[0][i], rest)
			}
		}
		for k, v := range squares {
			if math.Abs(s.residuals[k]-math.Sqrt(v)) > 1e-12 {
				t.Errorf("%d cells: residual %d is %v, want %v", n, k, s.residuals[k], math.Sqrt(v))
			}
		}
	}
}

// Cells connected by links above 0 from either end are in one part, and others are not.
func partsAreConnected(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, name := range []string{"corners=0/plain=0/of=constant/shape=9x7", "corners=0/plain=0/of=constant/shape=5x4x3", "corners=0/plain=0/of=constant/shape=2x3x6", "corners=1/plain=0/of=constant/shape=5x6", "corners=1/plain=0/of=constant/shape=4x3x4"} {
		for draw := range 12 {
			l, err := finest(open(t, "eigenmap/k=1/tol=6/sigma=100/floor=0/"+name+"/type=uint8"), 1)
			if err != nil {
				t.Fatal(err)
			}
			all := l.beside
			if all == nil {
				all = []offset{{1, 0, 0, l.link[0]}, {0, 1, 0, l.link[1]}, {0, 0, 1, l.link[2]}}
			}
			want := make([]int, l.cells()) // the first cell of each cell's part
			for i := range want {
				want[i] = i
			}
			cut := false
			for k, o := range all {
				for i, w := range o.link {
					if w > 0 && (draw == 0 && i == l.cells()/2 || draw > 1 && rng.IntN(12) < draw) { // one along each axis, none, or some
						o.link[i] = 0
						cut = cut || k < 3
					}
				}
			}
			if l.connected() == cut {
				t.Fatalf("%s: links that are 0: %v", name, cut)
			}
			for changed := true; changed; {
				changed = false
				for _, o := range all {
					for i, w := range o.link {
						if by := (o.z*l.ny+o.y)*l.nx + o.x; w > 0 && want[i] != want[i+by] {
							want[i], want[i+by], changed = min(want[i], want[i+by]), min(want[i], want[i+by]), true
						}
					}
				}
			}
			number, n := map[int]int{}, 0
			for i, first := range want {
				if first == i {
					number[i], n = n, n+1
				}
			}
			part, parts := l.parts()
			if parts != n || (part == nil) != (n == 1) {
				t.Fatalf("%s: %d parts, want %d", name, parts, n)
			}
			for i, p := range part {
				if p != number[want[i]] {
					t.Fatalf("%s: cell %d of part %d, want %d", name, i, p, number[want[i]])
				}
			}
		}
	}
}

// Two voxels connected by a negligible weight have a second value of twice that weight.
func smallValues(t *testing.T) {
	p := eigenmap.OfVoxels(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 2}, 0, 9), 2, 1e-6, 0.1, 0, false, true)
	m, err := bench.Answer[*eigenmap.Problem, eigenmap.Map](Implementation{}, p, bench.Conditions{})
	if want := 2 * math.Exp(-100); err != nil || math.Abs(m.Values[1]-want) > 1e-9*want {
		t.Errorf("values %v, %v, want %v", m.Values, err, want)
	}
}

// Restriction is the transpose of interpolation, so that a cycle is a symmetric operator.
func restrictionIsTheTranspose(t *testing.T) {
	for _, name := range []string{"eigenmap/k=2/tol=6/sigma=200/floor=1000/corners=0/plain=0/of=noise/shape=45x37x11/type=uint8/seed=1", "eigenmap/k=2/tol=6/sigma=200/floor=1000/corners=0/plain=0/of=noise/shape=131x62/type=uint8/seed=1"} {
		l, err := finest(open(t, name), 2)
		if err != nil {
			t.Fatal(err)
		}
		h := newHierarchy(l)
		rng := rand.New(rand.NewPCG(1, 1))
		for k, l := range h[:len(h)-1] {
			c := h[k+1]
			for i := range l.rest {
				l.rest[i] = rng.Float32() - 0.5
			}
			clear(l.u)
			for i := range Lanes * c.cells() {
				c.u[Lanes+i] = rng.Float32() - 0.5
			}
			l.interpolate(c)
			l.restrict(c)
			one, other, size := 0.0, 0.0, 0.0
			for i, v := range l.rest {
				one += float64(v) * float64(l.u[Lanes+i])
				size += math.Abs(float64(v) * float64(l.u[Lanes+i]))
			}
			for i, v := range c.f {
				other += float64(v) * float64(c.u[Lanes+i])
			}
			if math.Abs(one-other) > 1e-5*size {
				t.Errorf("%s, level %d: products are %g and %g", name, k, one, other)
			}
		}
	}
}

// The product of A with the coordinate along each axis follows from the shares alone, and coarser
// links have the stated values. So coarser levels are not much too weak.
func linksOfCoarserLevels(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=tubes/shape=31x28x17/type=uint8/levels=256/seed=1",
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=tubes/shape=67x45/type=uint8/levels=256/seed=1",
	} {
		l, err := finest(open(t, name), 2)
		if err != nil {
			t.Fatal(err)
		}
		l.ready()
		c := l.coarser()
		size := l.size()
		place, of := make(block, Lanes*l.cells()), make(block, Lanes*l.cells())
		c.ready()
		for a := range 3 {
			for i := range c.cells() {
				at := [Lanes]int{i % c.nx, i / c.nx % c.ny, i / (c.nx * c.ny)}
				for k, v := range at {
					c.u[Lanes*(i+1)+k] = float32(v)
				}
			}
			clear(l.u)
			l.interpolate(c)
			for i := range place {
				place[i] = float64(l.u[Lanes+i])
			}
			l.apply(of, place, 0, l.ny*l.nz)
			energy, links := make([]float64, c.cells()), make([]float64, c.cells())
			for i := range l.cells() {
				at := [3]int{i % l.nx, i / l.nx % l.ny, i / (l.nx * l.ny)}
				if pull := l.pull(a, i, at); size[a] > 1 && math.Abs(pull-of[Lanes*i+a]) > 1e-4 {
					t.Fatalf("%s, axis %d, cell %v: A makes %g of the place, and not %g", name, a, at, of[Lanes*i+a], pull)
				}
				// Half of the energy is in the cells other than the middle one.
				to := at
				for b, f := range [3]int{l.foldx, l.foldy, l.foldz} {
					to[b] /= f
				}
				k := (to[2]*c.ny+to[1])*c.nx + to[0]
				beside := (place[Lanes*i+a] - float64(to[a])) * of[Lanes*i+a]
				switch next := i + l.stride()[a]; {
				case at[a]&1 == 1 && at[a]+1 < size[a]:
					before, after := l.halves(a, at[a], i)
					links[k] += 1 / (before + 1/l.link[a][i] + after)
					energy[k] += beside + l.link[a][i]*(place[Lanes*next+a]-place[Lanes*i+a])
				case at[a]&1 == 0 && at[a] > 0:
					energy[k-c.stride()[a]] += beside
				}
			}
			stronger := 0
			for k, v := range c.link[a] {
				if want := max(links[k], energy[k]/2); math.Abs(v-want) > 1e-4*(1+want) {
					t.Fatalf("%s, axis %d: link %d is %g, want %g", name, a, k, v, want)
				}
				if v > 2*links[k] {
					stronger++
				}
			}
			if size[a] > 1 && stronger == 0 {
				t.Errorf("%s, axis %d: no link is far from that of the resistances", name, a)
			}
		}
	}
}

// A cycle is a symmetric operator on each level. Its first values equal one relaxation of both
// colours from 0. The remainder agrees with the operator, and a cell's mass is the sum of its
// cells' masses.
func cyclesAreSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, name := range []string{"eigenmap/k=2/tol=6/sigma=200/floor=1000/corners=0/plain=0/of=noise/shape=25x17x11/type=uint8/seed=1", "eigenmap/k=2/tol=6/sigma=200/floor=1000/corners=0/plain=0/of=noise/shape=71x62/type=uint8/seed=1"} {
		l, err := finest(open(t, name), 2)
		if err != nil {
			t.Fatal(err)
		}
		h := newHierarchy(l)
		for k, l := range h[:len(h)-1] {
			masses := make([]float64, h[k+1].cells())
			for i, m := range l.mass {
				x, y, z := i%l.nx, i/l.nx%l.ny, i/(l.nx*l.ny)
				masses[(z/l.foldz*h[k+1].ny+y/l.foldy)*h[k+1].nx+x/l.foldx] += m
			}
			for i, m := range h[k+1].mass {
				if math.Abs(m-masses[i]) > 1e-12*m {
					t.Fatalf("%s, level %d: cell %d has the mass %g, and those it holds %g", name, k+1, i, m, masses[i])
				}
			}
			random := func() []float32 {
				list := make([]float32, Lanes*l.cells())
				for i := range list {
					list[i] = rng.Float32() - 0.5
				}
				return list
			}
			f, g := random(), random()
			values := func() []float32 { return slices.Clone(l.u[Lanes : Lanes+len(f)]) }
			near := func(what string, got, want []float32, size float64) {
				t.Helper()
				for i, v := range got {
					if !(math.Abs(float64(v-want[i])) <= 1e-5*size) {
						t.Fatalf("%s, level %d: %s: number %d is %g, want %g", name, k, what, i, v, want[i])
					}
				}
			}
			copy(l.f, f)
			copy(l.u[Lanes:], g)
			l.first()
			begun := values()
			clear(l.u)
			l.relax(0)
			l.relax(1)
			near("what it begins with", begun, values(), 1e2)
			u, of := make(block, len(f)), make(block, len(f))
			for i, v := range begun {
				u[i] = float64(v)
			}
			l.apply(of, u, 0, l.ny*l.nz)
			l.remain(1)
			left := make([]float32, len(f))
			for i, v := range of {
				left[i] = f[i] - float32(v)
			}
			near("what is left", l.rest, left, 10)
			by := func(f []float32) []float32 {
				copy(l.f, f)
				h.cycle(k, 2)
				return values()
			}
			one, other, size := 0.0, 0.0, 0.0
			bf, bg := by(f), by(g)
			for i, v := range bf {
				one, other = one+float64(v)*float64(g[i]), other+float64(f[i])*float64(bg[i])
				size += math.Abs(float64(v) * float64(g[i]))
			}
			if math.Abs(one-other) > 1e-4*size {
				t.Errorf("%s, level %d: products are %g and %g of %g", name, k, one, other, size)
			}
		}
	}
}

// Links between faces have at least the energy of all the links that they replace: for a single
// displaced cell and for random values. For coordinates along the axes they have the stated energy.
// Degrees agree with the definition.
func supportHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, name := range []string{"eigenmap/k=2/tol=6/sigma=300/floor=1000/corners=0/plain=0/radius=3/of=noise/shape=9x8/type=uint8/seed=1", "eigenmap/k=2/tol=6/sigma=300/floor=1000/corners=0/plain=0/radius=2/of=noise/shape=6x5x7/type=uint8/seed=1", "eigenmap/k=2/tol=6/sigma=300/floor=1000/corners=1/plain=0/of=noise/shape=6x5x7/type=uint8/seed=1"} {
		p := open(t, name)
		l, err := finest(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Define()
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range l.mass {
			if math.Abs(d-want.Degree[i]) > 1e-12*d {
				t.Fatalf("%s: cell %d has the degree %v, want %v", name, i, d, want.Degree[i])
			}
		}
		all := l.beside
		l.support()
		faces := []offset{{1, 0, 0, l.link[0]}, {0, 1, 0, l.link[1]}, {0, 0, 1, l.link[2]}}
		energy := func(links []offset, u func(i int) float64) (sum float64) {
			for _, o := range links {
				for i, w := range o.link {
					if w > 0 {
						d := u(i) - u(i+(o.z*l.ny+o.y)*l.nx+o.x)
						sum += w * d * d
					}
				}
			}
			return sum
		}
		values := make([]float64, l.cells())
		for cell := range values {
			for i := range values {
				values[i] = rng.Float64()
			}
			one := func(i int) float64 {
				if i == cell {
					return 1
				}
				return 0
			}
			for _, u := range []func(i int) float64{one, func(i int) float64 { return values[i] }} {
				if all, now := energy(all, u), energy(faces, u); now < all*(1-1e-12) {
					t.Fatalf("%s: links between faces hold %g, and all %g", name, now, all)
				}
			}
		}
		given, places := 0.0, 0.0
		for _, o := range all {
			for _, w := range o.link {
				steps := float64(max(o.x, -o.x) + max(o.y, -o.y) + max(o.z, -o.z))
				given += w * steps * steps
			}
		}
		for a, stride := range l.stride() {
			places += energy(faces, func(i int) float64 { return float64(i / stride % l.size()[a]) })
		}
		if math.Abs(given-places) > 1e-12*given {
			t.Errorf("%s: links between faces hold %g of the places, and were given %g", name, places, given)
		}
	}
}

// The direct solver solves A + σM, with the same bits on any number of cores.
func directSolves(t *testing.T) {
	for _, name := range []string{
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=1x1x9/type=uint8/seed=1",
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=101x83/type=uint8/seed=1",
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=19x18x17/type=uint8/seed=1",
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=1/plain=0/of=noise/shape=9x12x10/type=uint8/seed=1",
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/radius=3/of=noise/shape=37x29/type=uint8/seed=1",
	} {
		p := open(t, name)
		var first block
		for _, threads := range []int{1, 2, 3} {
			l, err := finest(p, threads)
			if err != nil {
				t.Fatal(err)
			}
			x := make(block, Lanes*l.cells()) // without a component in the kernel, which σ alone would hold
			for i := range x[Lanes:] {
				x[i], x[Lanes+i] = x[i]+eigenmap.Uniform(1, uint64(i)), x[Lanes+i]-eigenmap.Uniform(1, uint64(i))
			}
			solution, product := slices.Clone(x), make(block, len(x))
			newDirect(l, reach(p)).precondition(solution)
			if l.apply(product, solution, 0, l.ny*l.nz); first == nil {
				first = solution
			}
			if !slices.Equal(solution, first) {
				t.Errorf("%s: other bits on %d cores", name, threads)
			}
			for i, v := range product {
				if math.Abs(v-x[i]) > 1e-7 {
					t.Fatalf("%s: number %d of A times the solution is %g, want %g", name, i, v, x[i])
				}
			}
		}
	}
}

// Estimates are the sums over all boxes, and look at few boxes of any image. Factors have at most 1 GB.
func dissectionsAreEstimated(t *testing.T) {
	for _, c := range [][2][3]int{{{101, 83, 1}, {1, 1, 0}}, {{19, 18, 17}, {1, 1, 1}}, {{64, 67, 1}, {5, 5, 0}}, {{40, 2, 31}, {4, 1, 4}}} {
		size, apart := c[0], c[1]
		var want estimate
		var visit func(b box)
		visit = func(b box) {
			sides, pivots := b.cut(apart)
			p, around := float64(pivots.cells()), 1
			for a, n := range apart {
				around *= min(size[a], b.hi[a]+n) - max(0, b.lo[a]-n)
			}
			border := float64(around - b.cells())
			want.products += p*p*p/6 + p*border*(p+border)/2
			want.numbers += p*p/2 + p*border
			for _, side := range sides {
				visit(side)
			}
		}
		visit(box{hi: size})
		if got, _ := dissectBox(size, apart); math.Abs(got.products-want.products)+math.Abs(got.numbers-want.numbers) > 1e-9*want.products {
			t.Errorf("%v: estimate %v, want %v", size, got, want)
		}
	}
	for _, size := range [][3]int{{1 << 20, 1 << 20, 1 << 20}, {1 << 20, 1 << 20, 1}, {1<<30 + 1, 1, 1}, {1<<20 + 3, 5, 6}, {1023, 1025, 1}} {
		e, boxes := dissectBox(size, [3]int{1, min(1, size[1]-1), min(1, size[2]-1)})
		if boxes > 1000 || e.products > mostFactored != (size[0] > 1<<10) {
			t.Errorf("%v: %v of %d boxes", size, e, boxes)
		}
	}
	for name, want := range map[string]map[int64]bool{"1024x1024": {0: true, 2 << 30: true, 1 << 30: false}, "1200x1200": {0: false}} {
		p := open(t, "eigenmap/k=1/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=ramp/shape="+name+"/type=uint8")
		for memory, factors := range want {
			j, err := Implementation{}.Setup(p, bench.Conditions{Memory: memory})
			if err != nil || j.(*job).factors != factors {
				t.Errorf("%s in %d bytes: factors %v, %v", name, memory, !factors, err)
			}
		}
	}
}

// The bits are the same on any number of cores. Smooth images need few iterations, and thin tubes a
// bounded number.
func bitsAndIterations(t *testing.T) {
	for k := 1; k < 20; k++ {
		if n := Lanes * Quads(k); n < k || n-Lanes >= k {
			t.Errorf("%d vectors for %d pairs", n, k)
		}
	}
	for name, most := range map[string]int{
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=140x131/levels=1024/type=float32/smooth=3/seed=1":  12,
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=31x33x29/levels=1024/type=float32/smooth=3/seed=1": 14,
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=tubes/shape=103x90/levels=256/type=uint8/seed=1":             28,
		"eigenmap/k=4/tol=7/sigma=30/floor=100/corners=0/plain=1/of=dots/shape=40x30/type=uint8":                                   60,
	} {
		p := open(t, name)
		var first []float64
		for _, threads := range []int{1, 3} {
			j, err := Implementation{cycles: true}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Do(nil); err != nil {
				t.Fatal(err)
			}
			own := j.(*job)
			if own.iterations > most || own.iterations < 2 {
				t.Errorf("%s: %d iterations, want 2 to %d", name, own.iterations, most)
			}
			bits := slices.Concat(own.Values, own.Vectors[3])
			if first == nil {
				first = bits
			}
			if !slices.Equal(bits, first) {
				t.Errorf("%s: other bits on %d cores", name, threads)
			}
		}
	}
}

func open(t testing.TB, name string) *eigenmap.Problem {
	t.Helper()
	p, err := eigenmap.OnGrid().Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
