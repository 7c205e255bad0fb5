package reduced

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/homology"
)

// fileOf is the problem of a complex as a file holds it, from whose name nothing follows.
func fileOf(t *testing.T, name string) *homology.Problem {
	t.Helper()
	n, err := simplicial.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.Open()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for d, tops := range c.Tops {
		for at := 0; at < len(tops); at += d + 1 {
			for _, v := range tops[at : at+d+1] {
				fmt.Fprint(&text, v, " ")
			}
			fmt.Fprintln(&text)
		}
	}
	path := filepath.Join(t.TempDir(), "complex.txt")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := homology.Inputs{}.Open("file/over=Z/path=" + path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// faults are mistakes in torsion.
var faults = map[string]func(*homology.Problem, homology.Groups) homology.Groups{
	"pivots that are units only": func(_ *homology.Problem, g homology.Groups) homology.Groups {
		g = clone(g)
		for d, orders := range g.Torsion {
			if n := int64(len(orders)); n > 0 {
				g.Betti[d], g.Betti[d+1], g.Torsion[d] = g.Betti[d]+n, g.Betti[d+1]+n, nil
			}
		}
		return g
	},
	"no invariant factors": each(func(orders []uint64) (list []uint64) {
		for _, v := range orders {
			for p := uint64(2); p <= v; p++ {
				power := uint64(1)
				for ; v%p == 0; v /= p {
					power *= p
				}
				if power > 1 {
					list = append(list, power)
				}
			}
		}
		return list
	}),
	"one pass of divisors": each(func(orders []uint64) []uint64 {
		if len(orders) > 1 && orders[0]%2 == 0 && orders[1]%3 == 0 {
			return slices.Concat([]uint64{orders[0] / 2 * 3, orders[1] / 3 * 2}, orders[2:])
		}
		return orders
	}),
	"odd orders dropped": each(func(orders []uint64) []uint64 {
		return slices.DeleteFunc(orders, func(v uint64) bool { return v%2 == 1 })
	}),
	"powers of primes dropped": each(func(orders []uint64) []uint64 {
		for i, v := range orders {
			for p := uint64(2); p*p <= v; p++ {
				for v%(p*p) == 0 {
					v /= p
				}
			}
			orders[i] = v
		}
		return orders
	}),
}

func clone(g homology.Groups) homology.Groups {
	g.Betti, g.Torsion = slices.Clone(g.Betti), slices.Clone(g.Torsion)
	for d := range g.Torsion {
		g.Torsion[d] = slices.Clone(g.Torsion[d])
	}
	return g
}

// each changes the orders of each dimension.
func each(change func(orders []uint64) []uint64) func(*homology.Problem, homology.Groups) homology.Groups {
	return func(_ *homology.Problem, g homology.Groups) homology.Groups {
		g = clone(g)
		for d, orders := range g.Torsion {
			g.Torsion[d] = change(orders)
		}
		return g
	}
}

func TestPolicyCatchesWrongTorsion(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			wrong := judgedtest.Spoiled[*homology.Problem, homology.Groups](Implementation{}, fault)
			judgedtest.Caught(t, homology.Workload(wrong), false, 5*time.Second)
		})
	}
}

// The policy alone finds lost torsion of files, and orders that do not divide each other.
func TestPolicyCatchesLostTorsionOfFiles(t *testing.T) {
	const odd, powers, once = "odd orders dropped", "powers of primes dropped", "one pass of divisors"
	const mixed = "wedge/with=moore,n=9/of=wedge/with=moore,n=4/of=moore/n=6"
	for of, names := range map[string][]string{
		"moore/n=5": {"", odd}, "moore/n=9": {"", odd, powers}, mixed: {"", powers, once},
		"wedge/with=moore,n=15/of=wedge/with=moore,n=10/of=moore/n=6": {"", once}, "moore/n=4": {"", powers},
	} {
		p := fileOf(t, of)
		right, err := bench.Answer[*homology.Problem, homology.Groups](Implementation{}, p, bench.Conditions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			out, want := right, verify.Verified
			if name != "" {
				out, want = faults[name](p, right), verify.Wrong
			}
			evidence := homology.Workload().Policy.Check(verify.Question[*homology.Problem, homology.Groups]{Name: "a file", In: p, Out: out, Budget: 1 << 40})
			if v := verify.Judge([]string{"a file"}, evidence); v.Status != want {
				t.Errorf("%s with %q: %v is %v, %s", of, name, out, v.Status, v.Reason)
			}
		}
	}
}
