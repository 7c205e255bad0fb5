package inertia

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"eccbench/internal/checktest"

	"gonum.org/v1/gonum/mat"
)

// graph returns random weights, some of them 0.
func graph(size [3]int, square int, floor float64, seed uint64) (Graph, [][]float64) {
	n := size[0] * size[1] * size[2]
	random := rand.New(rand.NewPCG(seed, 1))
	g := Graph{Size: size, Square: square, Degree: make([]float64, n)}
	type link struct {
		j int
		w float64
	}
	links := make([][]link, n)
	at := func(i int) [3]int { return [3]int{i % size[0], i / size[0] % size[1], i / size[0] / size[1]} }
	r := int(math.Sqrt(float64(square)))
	for i := range n {
		a := at(i)
		for z := max(0, a[2]-r); z < min(size[2], a[2]+r+1); z++ {
			for y := max(0, a[1]-r); y < min(size[1], a[1]+r+1); y++ {
				for x := max(0, a[0]-r); x < min(size[0], a[0]+r+1); x++ {
					d := (x-a[0])*(x-a[0]) + (y-a[1])*(y-a[1]) + (z-a[2])*(z-a[2])
					j := (z*size[1]+y)*size[0] + x
					if d == 0 || d > square || j > i {
						continue
					}
					w := floor + math.Exp(-20*random.Float64()*random.Float64())
					links[i], links[j] = append(links[i], link{j, w}), append(links[j], link{i, w})
					g.Degree[i] += w
					g.Degree[j] += w
				}
			}
		}
	}
	g.Mass = g.Degree
	g.Row = func(i int, f func(j int, w float64)) {
		for _, l := range links[i] {
			f(l.j, l.w)
		}
	}
	var dense [][]float64
	if n <= 700 {
		dense = make([][]float64, n)
		for i := range dense {
			dense[i] = make([]float64, n)
			dense[i][i] = 1
			for _, l := range links[i] {
				dense[i][l.j] = -l.w / math.Sqrt(g.Degree[i]) / math.Sqrt(g.Degree[l.j])
			}
		}
	}
	return g, dense
}

// Products of any size are those of plain loops, by each instruction set.
func TestProducts(t *testing.T) {
	defer func(f, w bool) { fast, wide = f, w }(fast, wide)
	for _, set := range [][2]bool{{fast, wide}, {fast, false}, {false, false}} {
		fast, wide = set[0], set[1]
		for seed := range uint32(10) {
			if err := SelfTest(seed); err != nil {
				t.Errorf("vectors %v: %v", set, err)
			}
		}
	}
}

// A count equals the number among all eigenvalues, and its rounding error is small. Boxes have any
// shape, near and far neighbours, and run on one core and on several.
func TestCountsAreThoseOfAllEigenvalues(t *testing.T) {
	for k, c := range []struct {
		size   [3]int
		square int
	}{
		{[3]int{1, 1, 1}, 1}, {[3]int{70, 1, 1}, 1}, {[3]int{1, 2, 90}, 1}, {[3]int{23, 17, 1}, 1}, {[3]int{9, 8, 8}, 1}, {[3]int{7, 9, 7}, corners}, {[3]int{16, 15, 1}, corners},
		{[3]int{17, 19, 1}, 9}, {[3]int{8, 8, 9}, 4},
	} {
		g, dense := graph(c.size, c.square, 1e-4, uint64(k))
		n := len(dense)
		l := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				l.SetSym(i, j, dense[i][j])
			}
		}
		if n == 1 {
			continue
		}
		var e mat.EigenSym
		e.Factorize(l, false)
		values := e.Values(nil)
		for k := 1; k < n; k += 1 + k/3 {
			if values[k]-values[k-1] < 1e-9 {
				continue
			}
			for _, threads := range []int{1, 3} {
				got, moved, err := g.Count((values[k]+values[k-1])/2, threads)
				if err != nil || got != k || !(moved > 1e-15 && moved < 1e-6) {
					t.Errorf("%v within %d by %d threads: %d below the middle of values %d and %d, moved by %g, %v", c.size, c.square, threads, got, k, k+1, moved, err)
				}
			}
		}
	}
}

// Cores that share a large front have memory of their own, so the count and its rounding are those of one core.
func TestCountsOfSharedFronts(t *testing.T) {
	g, _ := graph([3]int{16, 16, 16}, 1, 1e-4, 5)
	want, rounding, err := g.Count(0.3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		got, moved, err := g.Count(0.3, 8)
		if err != nil || got != want || math.Abs(moved-rounding) > 1e-9*rounding {
			t.Fatalf("8 cores count %d, moved by %g, %v; one core %d and %g", got, moved, err, want, rounding)
		}
	}
}

// TestCost compares the memory of counts with its bound, which is not far above it.
func TestCost(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	for _, size := range [][3]int{{1024, 1024, 1}, {26, 26, 26}} {
		g, _ := graph(size, 1, 1e-3, 1)
		for _, threads := range []int{1, 2} {
			took := checktest.Peak(t, func() {
				if _, _, err := g.Count(0.01, threads); err != nil {
					t.Error(err)
				}
			})
			if _, bytes := Cost(size, 1, threads); took > bytes || bytes > 4*took+int64(threads)*threadBytes {
				t.Errorf("%v: a count on %d threads takes %d KiB, and at most %d are stated", size, threads, took>>10, bytes>>10)
			}
		}
	}
}

// BenchmarkCount counts in a plane and in a volume, in products per second.
func BenchmarkCount(b *testing.B) {
	for _, size := range [][3]int{{512, 512, 1}, {40, 40, 40}} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			g, _ := graph(size, 1, 1e-3, 1)
			products, _ := Cost(size, 1, 2)
			for b.Loop() {
				if _, _, err := g.Count(1e-6, 2); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(products*float64(b.N)/b.Elapsed().Seconds(), "products/s")
		})
	}
}
