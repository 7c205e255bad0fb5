package multigrid

import (
	"math"
	"math/rand/v2"

	"eccbench/internal/sound"
	"eccbench/internal/workloads/eigenmap"
)

// Checks are of vector instructions, and of levels and what goes from one to the next.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		eigenmap.Calls(i, eigenmap.Grid, "guess", "levels", "links", "solve"),
		{Name: "vector instructions", Of: vectorsAgree},
		{Name: "restriction", Of: restrictionIsTheTranspose},
		{Name: "links of coarser levels", Of: linksOfCoarserLevels},
	}
}

// Vector instructions do what the kernels in Go do, but for rounding, and set nothing beside.
func vectorsAgree(t sound.T) {
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
		a, b, mass := list(lanes*n), list(lanes*n), list(n)
		var c [lanes * lanes]float64
		copy(c[:], list(lanes*lanes))
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
			l.f[i], l.u[lanes+i] = rng.Float32(), rng.Float32()
		}
		start := append([]float32(nil), l.u...)
		c := l.coarser()
		c.ready()
		for i := range l.rest {
			l.rest[i] = rng.Float32()
		}
		for i := range c.f {
			c.u[lanes+i] = rng.Float32()
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

// Restriction is the transpose of interpolation, so that a cycle is a symmetric operator.
func restrictionIsTheTranspose(t sound.T) {
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
			for i := range lanes * c.cells() {
				c.u[lanes+i] = rng.Float32() - 0.5
			}
			l.interpolate(c)
			l.restrict(c)
			one, other, size := 0.0, 0.0, 0.0
			for i, v := range l.rest {
				one += float64(v) * float64(l.u[lanes+i])
				size += math.Abs(float64(v) * float64(l.u[lanes+i]))
			}
			for i, v := range c.f {
				other += float64(v) * float64(c.u[lanes+i])
			}
			if math.Abs(one-other) > 1e-5*size {
				t.Errorf("%s, level %d: products are %g and %g", name, k, one, other)
			}
		}
	}
}

// What A makes of the place along each axis is found from shares alone, and coarser links are what they
// are said to be: so that coarser levels are not much too weak.
func linksOfCoarserLevels(t sound.T) {
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
		place, of := make(block, lanes*l.cells()), make(block, lanes*l.cells())
		c.ready()
		for a := range 3 {
			for i := range c.cells() {
				at := [lanes]int{i % c.nx, i / c.nx % c.ny, i / (c.nx * c.ny)}
				for k, v := range at {
					c.u[lanes*(i+1)+k] = float32(v)
				}
			}
			clear(l.u)
			l.interpolate(c)
			for i := range place {
				place[i] = float64(l.u[lanes+i])
			}
			l.apply(of, place, 0, l.ny*l.nz)
			energy, links := make([]float64, c.cells()), make([]float64, c.cells())
			for i := range l.cells() {
				at := [3]int{i % l.nx, i / l.nx % l.ny, i / (l.nx * l.ny)}
				if pull := l.pull(a, i, at); size[a] > 1 && math.Abs(pull-of[lanes*i+a]) > 1e-4 {
					t.Fatalf("%s, axis %d, cell %v: A makes %g of the place, and not %g", name, a, at, of[lanes*i+a], pull)
				}
				// Half of the energy lies where the place is not that of the middle.
				to := at
				for b, f := range [3]int{l.foldx, l.foldy, l.foldz} {
					to[b] /= f
				}
				k := (to[2]*c.ny+to[1])*c.nx + to[0]
				beside := (place[lanes*i+a] - float64(to[a])) * of[lanes*i+a]
				switch next := i + l.stride()[a]; {
				case at[a]&1 == 1 && at[a]+1 < size[a]:
					before, after := l.halves(a, at[a], i)
					links[k] += 1 / (before + 1/l.link[a][i] + after)
					energy[k] += beside + l.link[a][i]*(place[lanes*next+a]-place[lanes*i+a])
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

func open(t sound.T, name string) *eigenmap.Problem {
	t.Helper()
	p, err := eigenmap.OnGrid().Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
