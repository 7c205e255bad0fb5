package ondevice

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/workloads/eigenmap"
)

// matrices returns matrices of many sizes: random ones, and ones with a 0 next to the diagonal and
// so with double values. Others have values as close as the values of a path.
func matrices() map[string]Tridiagonal {
	random := func(n int) (t Tridiagonal) {
		for i := range n {
			t.Diagonal = append(t.Diagonal, 1+eigenmap.Uniform(1, uint64(i)))
			t.OffDiagonal = append(t.OffDiagonal, 0.5+eigenmap.Uniform(2, uint64(i)))
		}
		return t
	}
	twice := random(12)
	twice = Tridiagonal{append(twice.Diagonal, twice.Diagonal...), append(twice.OffDiagonal, twice.OffDiagonal...)}
	twice.OffDiagonal[11] = 0
	path := Tridiagonal{}
	for range 300 {
		path.Diagonal, path.OffDiagonal = append(path.Diagonal, 2), append(path.OffDiagonal, -1)
	}
	return map[string]Tridiagonal{"one": random(1), "two": random(2), "forty": random(40), "twice": twice, "path": path, "zero": {make([]float64, 5), make([]float64, 5)}}
}

func (t Tridiagonal) dense() *mat.SymDense {
	s := mat.NewSymDense(len(t.Diagonal), nil)
	for i, d := range t.Diagonal {
		if s.SetSym(i, i, d); i > 0 {
			s.SetSym(i-1, i, t.OffDiagonal[i-1])
		}
	}
	return s
}

func TestLowestPairs(t *testing.T) {
	for name, m := range matrices() {
		n := len(m.Diagonal)
		var e mat.EigenSym
		if !e.Factorize(m.dense(), false) {
			t.Fatal(name)
		}
		k := min(n, 4)
		values, vectors, err := m.Lowest(k)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, want := range e.Values(nil)[:k] {
			if math.Abs(values[i]-want) > 1e-13 {
				t.Errorf("%s: value %d is %v, want %v", name, i, values[i], want)
			}
			var rest mat.VecDense
			x := mat.NewVecDense(n, vectors[i])
			rest.MulVec(m.dense(), x)
			rest.AddScaledVec(&rest, -values[i], x)
			if left := mat.Norm(&rest, 2); left > 1e-13 {
				t.Errorf("%s: pair %d leaves %v", name, i, left)
			}
			for j, y := range vectors[:i+1] {
				want := 0.0
				if i == j {
					want = 1
				}
				if got := mat.Dot(x, mat.NewVecDense(n, y)); math.Abs(got-want) > 1e-13 {
					t.Errorf("%s: vectors %d and %d: %v", name, i, j, got)
				}
			}
		}
	}
}

func TestLowestPairsAreRefused(t *testing.T) {
	for name, m := range map[string]Tridiagonal{"no number": {[]float64{1, math.NaN()}, []float64{1, 0}}, "infinite": {[]float64{1, 2}, []float64{math.Inf(1), 0}}} {
		if _, _, err := m.Lowest(1); err == nil {
			t.Error(name)
		}
	}
	if _, _, err := (Tridiagonal{[]float64{1}, []float64{0}}).Lowest(2); err == nil {
		t.Error("two pairs of one number")
	}
}

// A correction solves the equation in the complement of the pair.
func TestCorrection(t *testing.T) {
	m := matrices()["forty"]
	values, vectors, err := m.Lowest(1)
	if err != nil {
		t.Fatal(err)
	}
	n, u := len(m.Diagonal), vectors[0]
	c := make([]float64, n)
	for i := range c {
		c[i] = eigenmap.Uniform(3, uint64(i))
	}
	y := append([]float64(nil), c...)
	if err := m.Correct(values[0], u, y); err != nil {
		t.Fatal(err)
	}
	take(c, u)
	var rest mat.VecDense
	rest.MulVec(m.dense(), mat.NewVecDense(n, y))
	rest.AddScaledVec(&rest, -values[0], mat.NewVecDense(n, y))
	rest.SubVec(&rest, mat.NewVecDense(n, c))
	if left := mat.Norm(&rest, 2); left > 1e-8 {
		t.Errorf("%v is left", left)
	}
}
