package homology

import (
	"errors"
	"math/big"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology/torsion"
)

var errLong = errors.New("a torsion coefficient has more than 64 bits; use a field, such as Q")

// chained are the orders of a sum of cyclic groups as invariant factors, or errLong.
func chained(orders []uint64) ([]uint64, error) {
	var list []*big.Int
	for _, v := range orders {
		list = append(list, new(big.Int).SetUint64(v))
	}
	return short(torsion.Chain(list))
}

// short are numbers of 64 bits, or errLong.
func short(list []*big.Int) (out []uint64, err error) {
	for _, v := range list {
		if !v.IsUint64() {
			return nil, errLong
		}
		out = append(out, v.Uint64())
	}
	return out, nil
}

// overRing returns the homology over a ring of a complex with these groups over the integers. By
// the universal coefficient theorem, a cyclic part whose order p divides counts in its dimension
// and in the next.
func (g Groups) overRing(r Ring) Groups {
	if r == Integers {
		return g
	}
	out := NewGroups(len(g.Betti))
	for d := range g.Betti {
		out.Betti[d] += g.Betti[d]
		for _, t := range g.Torsion[d] {
			if r != Rationals && t%uint64(r) == 0 {
				out.Betti[d]++
				out.Betti[d+1]++
			}
		}
	}
	return out
}

// factored returns the groups with the invariant factors of their torsion, if these fit.
func (g Groups) factored() (Groups, bool) {
	for d, orders := range g.Torsion {
		var err error
		if g.Torsion[d], err = chained(orders); err != nil {
			return Groups{}, false
		}
	}
	return g, true
}

// integral is the homology over the integers that follows from the name of a complex.
func integral(n simplicial.Name) (Groups, bool) {
	of := func(betti ...int64) Groups { return Groups{betti, make([][]uint64, len(betti))} }
	with := func(g Groups, d int, torsion ...uint64) (Groups, bool) {
		g.Torsion[d] = torsion
		return g.factored()
	}
	switch n.Kind {
	case "rp2":
		return with(of(1, 0, 0), 1, 2)
	case "torus":
		return of(1, 2, 1), true
	case "klein":
		return with(of(1, 1, 0), 1, 2)
	case "sphere":
		g := NewGroups(int(n.Int("dim")) + 1)
		g.Betti[0]++
		g.Betti[n.Int("dim")]++
		return g, true
	case "moore":
		return with(of(1, 0, 0), 1, uint64(n.Int("n")))
	case "lens":
		return with(of(1, 0, 0, 1), 1, uint64(n.Int("p")))
	case "dodecahedral":
		switch n.Int("tenths") {
		case 1:
			return of(1, 0, 0, 1), true
		case 3:
			return with(of(1, 0, 0, 1), 1, 5, 5, 5)
		}
		return with(of(1, 0, 0, 1), 1, 2)
	case "join", "wedge":
		a, b, err := n.Parts()
		if err != nil {
			return Groups{}, false
		}
		x, ok := integral(a)
		y, ok2 := integral(b)
		if !ok || !ok2 {
			return Groups{}, false
		}
		if n.Kind == "wedge" {
			return wedged(x, y).factored()
		}
		return joined(x, y).factored()
	case "kuhn", "five":
		if s, err := grid.ParseShape(n.Get("shape")); err != nil || s.D == 1 {
			return of(1, n.Int("drills"), 0), true
		}
		return of(1, n.Int("drills"), n.Int("cavities"), 0), true
	case "blunt", "post", "bucky", "synth":
		return of(1, 0, n.Int("cavities"), 0), true
	}
	return Groups{}, false
}

// knownGroups is the answer that follows from the name.
func knownGroups(name string, p *Problem) (Groups, bool) {
	n, ring, err := parse(name, simplicial.ParseName)
	if err != nil || ring != p.Over {
		return Groups{}, false
	}
	g, ok := integral(n)
	return g.overRing(ring), ok
}

// wedged is the homology of two complexes that share a vertex: the sum, of the reduced groups.
func wedged(a, b Groups) Groups {
	out := NewGroups(max(len(a.Betti), len(b.Betti)))
	for _, g := range []Groups{a, b} {
		for d := range g.Betti {
			out.Betti[d] += g.Betti[d]
			out.Torsion[d] = append(out.Torsion[d], g.Torsion[d]...)
		}
	}
	out.Betti[0]--
	return out
}

// joined returns the homology of a join by Künneth's formula. In reduced homology the tensor
// products count one dimension higher than their sum, and the torsion products two dimensions
// higher.
func joined(a, b Groups) Groups {
	out := NewGroups(len(a.Betti) + len(b.Betti))
	reduced := func(g Groups) []int64 {
		list := slices.Clone(g.Betti)
		list[0]--
		return list
	}
	x, y := reduced(a), reduced(b)
	for i := range x {
		for j := range y {
			d := i + j + 1
			out.Betti[d] += x[i] * y[j]
			for range y[j] {
				out.Torsion[d] = append(out.Torsion[d], a.Torsion[i]...)
			}
			for range x[i] {
				out.Torsion[d] = append(out.Torsion[d], b.Torsion[j]...)
			}
			for _, s := range a.Torsion[i] {
				for _, t := range b.Torsion[j] {
					g := new(big.Int).GCD(nil, nil, new(big.Int).SetUint64(s), new(big.Int).SetUint64(t)).Uint64() // order 1: no group
					out.Torsion[d] = append(out.Torsion[d], g)
					out.Torsion[d+1] = append(out.Torsion[d+1], g)
				}
			}
		}
	}
	out.Betti[0]++
	return out
}
