package eigenmap

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
)

// A random system proves right pairs, also of multiple values and of several parts. It never proves
// pairs if one is missing, nor those of another graph.
func TestRandomSystemProvesOnlyAllPairs(t *testing.T) {
	for _, of := range []string{
		"k=3/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=constant/shape=12x12/type=uint8",
		"k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=constant/shape=12x12/type=uint8", // a double value across the end
		"k=4/tol=6/sigma=30/floor=0/corners=0/plain=0/of=ball/shape=14x15/type=uint8",         // two parts
		"k=5/tol=6/sigma=100/floor=1000/corners=0/plain=1/of=noise/shape=11x13/type=uint8/seed=5",
		"k=4/tol=6/sigma=300/floor=1000/corners=1/plain=0/of=grf/shape=9x8x7/type=float32/levels=1024/smooth=2/seed=3",
		"k=4/tol=6/sigma=100/floor=1/corners=0/plain=0/of=noise/shape=15x13/type=uint8/seed=2",
		"k=3/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=23x23/type=uint8/seed=2",  // a hierarchy of two graphs
		"k=4/tol=6/sigma=0.05/floor=1e-6/corners=0/plain=1/of=noise/shape=23x23/type=uint8/seed=3", // clusters with weak links
	} {
		p := open(t, Grid+"/"+of)
		_, m := dense(t, p)
		list, err := definite(p, m, nil)
		if err != nil || !keepLimits(list) {
			t.Errorf("%s: %v, %v", of, list, err)
		}
		for k := range p.K {
			if list, err := definite(p, without(t, p, k), nil); k > 0 && p.K == 2 {
				// The other vector of the double value is a right answer.
				if err != nil || !keepLimits(list) {
					t.Errorf("%s, another vector: %v, %v", of, list, err)
				}
			} else if err == nil && keepLimits(list) {
				t.Errorf("%s without pair %d passes: %v", of, k+1, list)
			}
		}
		other := *p
		other.Sigma *= 1.01
		if list, err := definite(other.ready(), m, nil); strings.Contains(of, "noise") && err == nil && keepLimits(list) {
			t.Errorf("%s: pairs of another graph pass: %v", of, list)
		}
	}
}

// Of small random images with floors down to 1e-7 no wrong pairs are proven, and most right ones.
func TestRandomSystemsOfRandomImages(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	proven, found := 0, 0
	const images = 40
	for range images {
		s := grid.Shape{D: 1, H: 5 + random.Int64N(14), W: 5 + random.Int64N(14)}
		image := make([]byte, s.Voxels())
		most := []int{1, 4, 256}[random.IntN(3)]
		for i := range image {
			image[i] = byte(random.IntN(most))
		}
		for range random.IntN(8) {
			image[random.IntN(len(image))] = 250 // isolated
		}
		p := OfVoxels(gridtest.OfBytes(t, s, image...), 2+random.IntN(4), 1e-6, 0.1, math.Pow(10, -2-5*random.Float64()),
			random.IntN(3) == 0, random.IntN(3) == 0)
		_, m := dense(t, p)
		list, err := definite(p, m, nil)
		if err == nil && !keepLimits(list) {
			t.Errorf("%v with floor %g: right pairs are refuted: %v", s, p.Floor, list)
		} else if err == nil {
			proven++
		}
		for k := 1; k < p.K; k++ {
			wrong := without(t, p, k)
			list, err := definite(p, wrong, nil)
			if err != nil {
				continue
			}
			if !keepLimits(list) {
				found++
				continue
			}
			for i, v := range wrong.Values {
				if v-m.Values[i] > allowed(v) {
					t.Errorf("%v with floor %g without pair %d passes: %v, right are %v", s, p.Floor, k+1, wrong.Values, m.Values)
				}
			}
		}
	}
	if proven < images*3/4 || found < images {
		t.Errorf("%d of %d right maps are proven, %d wrong ones refuted", proven, images, found)
	}
}

// The bounds of all eigenvalues follow from that of the complement of the pairs, for any residuals.
func TestBoundsFollowFromTheComplement(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	const n, k = 7, 3
	for range 300 {
		// Pairs 1 to 3 are the first unit vectors: values and residuals, then the rest.
		a := mat.NewSymDense(n, nil)
		b := &bounds{lower: make([]float64, k), skew: make([]float64, k)}
		rest, size := 1+4*random.Float64(), math.Pow(10, -3*random.Float64())
		squares := 0.0
		for i := range k {
			b.values = append(b.values, (float64(i)+random.Float64())*rest/2)
			a.SetSym(i, i, b.values[i])
			for j := k; j < n; j++ {
				r := size * random.NormFloat64()
				a.SetSym(i, j, r)
				squares += r * r
			}
			b.squares = append(b.squares, squares)
		}
		for j := k; j < n; j++ {
			a.SetSym(j, j, rest*(1+float64(j-k)*random.Float64()))
		}
		b.above(rest)
		var e mat.EigenSym
		e.Factorize(a, false)
		for i, low := range b.lower {
			if v := max(0, e.Values(nil)[i]); low > v+1e-12 {
				t.Fatalf("eigenvalue %d is %g, below its bound %g: values %v, rest %g", i+1, v, low, b.values, rest)
			}
		}
	}
	// Values without residuals are their own bounds, also those above the complement's least.
	b := &bounds{values: []float64{1, 2, 4}, lower: make([]float64, 3), squares: make([]float64, 3), skew: make([]float64, 3)}
	if b.above(3); !slices.Equal(b.lower, []float64{1, 2, 3}) {
		t.Errorf("bounds %v", b.lower)
	}
	if rho, err := b.least(100); err != nil || math.Abs(rho-3.96) > 1e-9 {
		t.Errorf("the complement has to be above %g, %v", rho, err)
	}
	b.squares[2] = 100
	if _, err := b.least(100); !errors.As(err, new(verify.UndecidedError)) || !strings.Contains(err.Error(), "residuals of up to 10") {
		t.Errorf("residuals that are too large: %v", err)
	}
}

// The pairs of an image of one value are products of cosines. A hierarchy that is swept in parts
// proves them, and never without one of them.
func TestRandomSystemInParts(t *testing.T) {
	const w, h, n = 98, 89, 98 * 89
	p := open(t, "eigenmap/k=4/tol=1e-6/sigma=0.1/floor=0.001/corners=0/plain=1/of=constant/shape=98x89/type=uint8")
	g, err := p.Define()
	if err != nil {
		t.Fatal(err)
	}
	wave := func(kx, ky int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Cos(math.Pi*float64(kx)*(float64(i%w)+0.5)/w) * math.Cos(math.Pi*float64(ky)*(float64(i/w)+0.5)/h)
		}
		scale(x, 1/algebra.Norm(x))
		return x
	}
	all := [][]float64{wave(0, 0), wave(1, 0), wave(0, 1), wave(1, 1), wave(2, 0)} // by ascending values
	for missing := range all {
		m := Map{Vectors: slices.Delete(slices.Clone(all), missing, missing+1), Values: make([]float64, p.K)}
		copy(m.Values, g.Apply(slices.Repeat([][]float64{make([]float64, n)}, p.K), m.Vectors))
		list, err := definite(p, m, nil)
		if proven := err == nil && keepLimits(list); proven != (missing == len(all)-1) {
			t.Errorf("without pair %d: proven is %v: %v, %v", missing+1, proven, list, err)
		}
	}
}

// The preconditioner is symmetric, and between a hundredth of the inverse and 1.6 times it. Below the bound and with more
// rounding than allowed there is no proof.
func TestHierarchies(t *testing.T) {
	const systems = algebra.Systems
	for _, of := range []string{
		"noise/shape=96x97/type=uint8/seed=1", "tubes/shape=24x25x20/type=uint8", "constant/shape=700x1/type=uint8", "ball/shape=90x93/type=uint8",
		"grf/shape=40x41x42/type=uint8/levels=256/smooth=3/seed=1",
	} {
		p := open(t, "eigenmap/k=1/tol=6/sigma=100/floor=1000/corners=0/plain=0/of="+of)
		g, err := p.Define()
		if err != nil {
			t.Fatal(err)
		}
		const shift = 1e-4
		n := g.Nodes()
		h, random := algebra.NewHierarchy(g.mass, 2*n*len(g.toward), g.row, shift), rand.New(rand.NewPCG(1, 1))
		right, solution, diagonal, _ := h.Finest()
		// inverses returns the solutions, after a check of the sums over all.
		inverses := func(r [systems][]float64) (x [systems][]float64) {
			for i := range right {
				right[i] = r[i%systems][i/systems]
			}
			product, square := h.Cycle()
			for i, v := range solution[:len(right)] {
				x[i%systems] = append(x[i%systems], v)
				product -= v * right[i]
				square -= v * v * diagonal[i/systems]
			}
			if size := algebra.Norm(solution) * algebra.Norm(right); math.Abs(product)+math.Abs(square) > 1e-9*size {
				t.Errorf("%s: sums of a cycle are off by %g and %g, of %g", of, product, square, size)
			}
			return x
		}
		apply := func(x []float64) []float64 { // (D − W + shift·M)x
			r := make([]float64, n)
			g.flowVoxels(r, nil, x, 0, n)
			for i := range r {
				r[i] += shift * g.mass[i] * x[i]
			}
			return r
		}
		var x, r [systems][]float64
		for s := range x {
			x[s] = make([]float64, n)
			for i := range x[s] {
				x[s][i] = random.NormFloat64()
				if s == systems-1 {
					x[s][i] = math.Cos(float64(i) / float64(n))
				}
			}
		}
		// With r = Ax, xᵀr is at least rᵀBr divided by 1.6, and not much more. Steps towards the largest such quotient.
		for step := range 12 {
			for s := range x {
				r[s] = apply(x[s])
			}
			bx := inverses(r)
			for s := range x {
				is, most := algebra.Dot(r[s], bx[s]), algebra.Dot(r[s], x[s])
				if !(is <= 1.6*most*(1+1e-5) && (is >= most/100 || step > 0)) {
					t.Errorf("%s: rᵀBr is %g after %d steps, xᵀr %g", of, is, step, most)
				}
				if a, b := algebra.Dot(r[0], bx[s]), algebra.Dot(r[s], bx[0]); math.Abs(a-b) > 1e-11*algebra.Norm(r[s])*algebra.Norm(bx[0]) {
					t.Errorf("%s: not symmetric: %g and %g", of, a, b)
				}
				x[s] = slices.Clone(bx[s])
				scale(x[s], 1/algebra.Norm(x[s]))
			}
		}
		kernel := [][]float64{slices.Clone(g.root)}
		scale(kernel[0], 1/algebra.Norm(g.root))
		if _, err := g.solve(kernel, 1.2); !errors.Is(err, errBelow) {
			t.Errorf("%s: values below 1.2: %v", of, err)
		}
		if _, err := g.solve(nil, 1e-6); !errors.Is(err, errBelow) {
			t.Errorf("%s: the kernel is below 1e-6: %v", of, err)
		}
		if size, err := g.solve(kernel, 1e-13); strings.Contains(of, "ball") && !errors.As(err, new(verify.UndecidedError)) {
			t.Errorf("%s: rounding of values of 1e-13: %g, %v", of, size, err)
		}
	}
}

// A graph without links between its many parts has a rung without links.
func TestSolveWithoutLinks(t *testing.T) {
	s := grid.Shape{D: 16, H: 16, W: 16}
	image := make([]byte, s.Voxels())
	for i := range image {
		image[i] = byte(255 * ((i%16/2 + i/16%16/2 + i/256/2) % 2))
	}
	g, err := OfVoxels(gridtest.OfBytes(t, s, image...), 2, 1e-6, 0.03, 0, false, false).Define()
	if err != nil {
		t.Fatal(err)
	}
	if _, parts := g.components(); parts != 512 {
		t.Fatalf("%d parts, want 512", parts)
	}
	if _, err := g.solve(nil, 1e-3); !errors.Is(err, errBelow) {
		t.Errorf("the kernel of all parts: %v, want %v", err, errBelow)
	}
}

// In a graph of more parts than pairs the values of the kernel are 0, not only small.
func TestKernelOfManyParts(t *testing.T) {
	s := grid.Shape{D: 1, H: 12, W: 18}
	image := make([]byte, s.Voxels())
	for i := range image {
		image[i] = []byte{0, 255, 226}[i%18/6]
	}
	problem := func(k int) *Problem {
		return OfVoxels(gridtest.OfBytes(t, s, image...), k, 1e-6, 0.03, 0, false, false)
	}
	_, all := dense(t, problem(4))
	for first, proven := range []bool{true, true, false} {
		m := Map{Values: all.Values[first:][:1], Vectors: all.Vectors[first:][:1]}
		for name, proof := range map[string]func(*Problem, Map, ask) ([]verify.Measure, error){
			"definite": definite, "complete": complete,
		} {
			list, err := proof(problem(1), m, nil)
			if got := err == nil && keepLimits(list); got != proven {
				t.Errorf("%s: value %g is proven: %v, want %v (%v, %v)", name, m.Values[0], got, proven, list, err)
			}
		}
	}
}
