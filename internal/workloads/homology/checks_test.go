package homology

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/impls/homology/smith"
	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/homology/torsion"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover complexes, and the parts of the judge: rings, two enumerations of faces, ranks and
// torsion, laws, names, encoding and sharing.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "rings", Of: ringsAreRead},
		{Name: "orders of cyclic parts", Of: factorsDivide},
		{Name: "universal coefficients", Of: universalCoefficients},
		{Name: "two enumerations", Of: enumerationsAgree},
		{Name: "three lowest vertices", Of: lowestVertices},
		{Name: "numbers of vertices", Of: numbersDiffer},
		{Name: "ranks and torsion of random complexes", Of: ranksAreOfSmith},
		{Name: "sums that grow", Of: sumsGrow},
		{Name: "orders that are wrong", Of: wrongOrdersAreTold},
		{Name: "encoded groups", Of: encoding},
		{Name: "shared complexes", Of: sharedIsAttached},
		{Name: "names", Of: namesSayRings},
		{Name: "laws of wrong groups", Of: lawsRefuse},
		{Name: "groups of joins", Of: joinsMultiply},
		{Name: "groups that follow from names", Of: namesAreKnown},
		{Name: "closed forms", Of: closedFormsAreRight},
		{Name: "where groups differ", Of: differencesAreTold},
		{Name: "what proves little", Of: weakIsTold},
		{Name: "what laws ask for", Of: lawsAskForComplexes},
		{Name: "what laws take", Of: lawsSayWhatTheyTake},
		{Name: "what is said of problems", Of: problemsAreCounted},
	}
}

func problem(t *testing.T, name string) *Problem {
	t.Helper()
	p, err := Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ringsAreRead(t *testing.T) {
	for _, s := range []string{"2", "3", "2147483647", "Q", "Z"} {
		if r, err := ParseRing(s); err != nil || r.String() != s {
			t.Errorf("%s: %v, %v", s, r, err)
		}
	}
	for _, s := range []string{"", "1", "0", "4", "-2", "2147483659", "z"} {
		if r, err := ParseRing(s); err == nil {
			t.Errorf("%q is %v", s, r)
		}
	}
}

func factorsDivide(t *testing.T) {
	for _, c := range [][2][]uint64{{{4, 6}, {2, 12}}, {{2, 3, 5}, {30}}, {{1}, {}}, {nil, {}}, {{2, 2, 4, 9}, {2, 2, 36}}, {{4, 6, 9}, {6, 36}}, {{6, 10, 15}, {30, 30}}} {
		got, err := chained(c[0])
		if err != nil || dividing(Groups{[]int64{1}, [][]uint64{got}}) != nil {
			t.Errorf("%v: %v, %v", c[0], got, err)
		}
	}
	for _, orders := range [][]uint64{{1}, {0}, {2, 3}, {2, 2, 5}, {4, 2}} {
		if d := dividing(Groups{[]int64{1, 0}, [][]uint64{nil, orders}}); d == nil || d.Where != "torsion of b1" {
			t.Errorf("%v: %v", orders, d)
		}
	}
	// Nothing follows from names of groups whose orders have more than 64 bits, but over a field.
	for most, want := range map[int]bool{47: true, 53: false} {
		n, err := simplicial.ParseName(primorial(most))
		if err != nil {
			t.Fatal(err)
		}
		if g, ok := integral(n); ok != want || ok && g.String() != "(1, 0 + Z/614889782588491410, 0)" {
			t.Errorf("primes up to %d: %v, %v", most, g, ok)
		}
	}
}

// primorial names a complex with one torsion group, whose order is the product of the primes up to
// most: more than 64 bits from 53 on.
func primorial(most int) string {
	name := "moore/n=2"
	for p := 3; p <= most; p++ {
		if big.NewInt(int64(p)).ProbablyPrime(0) {
			name = fmt.Sprintf("wedge/with=moore,n=%d/of=%s", p, name)
		}
	}
	return name
}

// longTorsion is a complex with torsion of an order of more than 64 bits.
func longTorsion(t *testing.T, over Ring) *Problem {
	t.Helper()
	name, err := NameOf(primorial(53), over)
	if err != nil {
		t.Fatal(err)
	}
	return problem(t, name)
}

func bettiBy(t *testing.T, c *chains, p int64) []int64 {
	t.Helper()
	b, err := c.betti(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Many triangles of few vertices end undecided, before their values need more memory than the law has.
func TestManyTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &simplicial.Complex{Tops: make([][]uint32, 3), Vertices: 400}
	for range 60000 {
		for _, v := range rng.Perm(400)[:3] {
			c.Tops[2] = append(c.Tops[2], uint32(v))
		}
	}
	_, err := chainsOf(&Problem{c, 2}).betti(2)
	if !errors.As(err, new(verify.UndecidedError)) {
		t.Error(err)
	}
}

// The projective plane, by its closed form and by ranks.
func universalCoefficients(t *testing.T) {
	g := Groups{[]int64{1, 0, 0}, [][]uint64{nil, {2}, nil}}
	for r, want := range map[Ring][]int64{2: {1, 1, 1}, 3: {1, 0, 0}, Rationals: {1, 0, 0}} {
		if got := g.overRing(r); !slices.Equal(got.Betti, want) {
			t.Errorf("over %v: %v, want %v", r, got, want)
		}
		if r > Integers && !slices.Equal(bettiBy(t, chainsOf(problem(t, "rp2")), int64(r)), want) {
			t.Errorf("ranks over %v", r)
		}
	}
	if s := g.String(); s != "(1, 0 + Z/2, 0)" {
		t.Error(s)
	}
}

// The two enumerations of faces share no code, and agree.
func enumerationsAgree(t *testing.T) {
	for _, name := range []string{"lens/p=3/q=2", "random/vertices=14/dim=5/count=60", "five/shape=4x5x4/order=random", "join/with=rp2/of=torus", "kuhn/shape=16x15x14/order=random"} {
		p := problem(t, name)
		if a, b := chainsOf(p).count, p.Counts(); !slices.Equal(a, b) {
			t.Errorf("%s: %v and %v", name, a, b)
		}
	}
}

// Lost orders, orders wrong by a square, and orders that do not divide each other are reported.
// This holds for a file too, whose name does not give its torsion.
func wrongOrdersAreTold(t *testing.T) {
	for name, want := range map[string][]uint64{
		"rp2": {2}, "moore/n=12": {12}, "lens/p=6/q=5": {6}, "dodecahedral/tenths=3": {5, 5, 5}, "moore/n=5": {5}, "moore/n=9": {9}, "moore/n=4": {4},
		"wedge/with=moore,n=4/of=moore/n=6": {2, 12}, "wedge/with=moore,n=9/of=wedge/with=moore,n=4/of=moore/n=6": {6, 36}, "wedge/with=moore,n=15/of=wedge/with=moore,n=10/of=moore/n=6": {30, 30},
	} {
		n, err := NameOf(name, Integers)
		if err != nil {
			t.Fatal(err)
		}
		p := problem(t, n)
		right := NewGroups(len(p.Tops))
		right.Betti[0], right.Torsion[1] = 1, want
		if len(p.Tops) == 4 {
			right.Betti[3] = 1
		}
		if d, err := byRanks(p, right, nil); d != nil || err != nil {
			t.Errorf("%s: %v, %v", name, d, err)
		}
		last := want[len(want)-1]
		for _, wrong := range [][]uint64{nil, want[1:], {last * 2}, {last, last}, slices.Concat(want, []uint64{last * 7}), {2, 3, last}, {last * 9}} {
			out := Groups{right.Betti, slices.Clone(right.Torsion)}
			if out.Torsion[1] = wrong; slices.Equal(wrong, want) {
				continue
			}
			if d, err := byRanks(p, out, nil); d == nil {
				t.Errorf("%s: orders %v pass: %v", name, wrong, err)
			}
		}
	}
	if d, err := byRanks(problem(t, "moore/n=4/over=3"), Groups{[]int64{1, 1, 0}, make([][]uint64, 3)}, nil); err != nil || d == nil || d.Where != "b1" {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := byRanks(longTorsion(t, Integers), Groups{[]int64{1, 0, 0}, [][]uint64{nil, {2}, nil}}, nil); err != errLong {
		t.Errorf("an order of more than 64 bits: %v", err)
	}
	p := problem(t, "moore/n=4/over=Z")
	if d, err := byRanks(p, NewGroups(2), nil); err != nil || d == nil || d.Where != "dimensions" || d.Want != "3" || d.Got != "2" {
		t.Errorf("%v, %v", d, err)
	}
	// Where elimination over the integers is not affordable primes refute, and confirm nothing but ranks over the
	// rationals.
	why := verify.Undecided("too large")
	for betti, want := range map[int64]bool{0: true, 1: false} {
		out := Groups{[]int64{1, betti, 0}, [][]uint64{nil, {4}, nil}}
		if d, err := chainsOf(p).byPrimes(p, out, why); (d == nil) != want || want && err != why {
			t.Errorf("b1 of %d: %v, %v", betti, d, err)
		}
		rational := &Problem{p.Complex, Rationals}
		if d, err := chainsOf(p).byPrimes(rational, out.overRing(Rationals), why); (d == nil) != want || err != nil {
			t.Errorf("b1 of %d over Q: %v, %v", betti, d, err)
		}
	}
	if d, _ := chainsOf(p).byPrimes(p, Groups{[]int64{1, 0, 0}, [][]uint64{nil, {3}, nil}}, why); d == nil || !strings.Contains(d.Where, "b1 over Z/2, as it follows from (1, 0 + Z/3, 0)") {
		t.Errorf("another prime: %v", d)
	}
}

func encoding(t *testing.T) {
	for _, g := range []Groups{NewGroups(0), Poisoned(), {[]int64{1, 2, 0}, [][]uint64{nil, {2, 4}, nil}}, {[]int64{1, 0}, [][]uint64{nil, slices.Repeat([]uint64{3}, 30)}}} {
		got, err := Decode(Encode(g))
		if err != nil || agree(nil, g, got) != nil {
			t.Errorf("%v: %v, %v", g, got, err)
		}
		if b := Encode(g); len(b) > 8 {
			if _, err := Decode(b[:len(b)-1]); err == nil {
				t.Error("cut off and read")
			}
		}
	}
	if _, err := Decode([]byte{255, 255, 255, 255, 255, 255, 255, 255}); err == nil {
		t.Error("dimensions without end")
	}
	g := Groups{[]int64{1, 2, 0}, [][]uint64{nil, {2, 4}, nil}}
	b := Encode(g)
	for end := range b {
		if _, err := Decode(b[:end]); err == nil {
			t.Errorf("cut off at %d of %d bytes and read", end, len(b))
		}
	}
	if _, err := Decode(append(b, 0)); err == nil {
		t.Error("read with what is behind")
	}
}

func sharedIsAttached(t *testing.T) {
	for _, name := range []string{"kuhn/shape=4x4x4/over=Q", "moore/n=2/order=random/over=Z"} {
		p := problem(t, name)
		f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
		if err != nil {
			t.Fatal(err)
		}
		if err := (Inputs{}).Share(p, f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		data, err := os.ReadFile(f.Name())
		if err != nil || int64(len(data)) != (Inputs{}).Size(p) {
			t.Fatal(len(data), err)
		}
		got, err := Inputs{}.Attach(data)
		if err != nil || got.Over != p.Over || !slices.EqualFunc(got.Tops, p.Tops, slices.Equal) || !slices.Equal(got.Counts(), p.Counts()) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := (Inputs{}).Attach(data[:20]); err == nil {
			t.Error("cut off and attached")
		}
	}
}

// Names have the ring before the key that holds the rest of the name.
func namesSayRings(t *testing.T) {
	for name, want := range map[string]string{
		"rp2": "rp2/over=2", "rp2/over=Z": "rp2/over=Z", "join/with=rp2/over=Q/of=klein": "join/with=rp2/over=Q/of=klein", "over=3/x.off": "file/over=2/path=over=3/x.off", "file/over=3/path=a/over=Z/b.off": "file/over=3/path=a/over=Z/b.off",
		"join/with=rp2/of=klein/over=Z": "",
	} {
		got, err := question().Named(name)
		if want == "" {
			continue // the ring of a part of a join is rejected when it is opened
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	if p, err := (Inputs{}).Open("join/with=rp2/of=klein/over=Z"); err == nil {
		t.Errorf("the ring of what a join is of is that of the join, %v", p.Over)
	}
	if got, err := NameOf("rp2/over=Z", 3); err != nil || got != "rp2/over=3" {
		t.Error(got, err)
	}
	if _, err := (Inputs{}).Open("rp2/over=4"); err == nil || !strings.Contains(err.Error(), "want a prime") {
		t.Error(err)
	}
}

// Each law finds an answer that is wrong.
func lawsRefuse(t *testing.T) {
	p := problem(t, "torus/over=2")
	right := Groups{[]int64{1, 2, 1}, make([][]uint64, 3)}
	for _, l := range laws() {
		answer := func(q *Problem) (Groups, error) {
			out := NewGroups(len(q.Tops))
			copy(out.Betti, bettiBy(t, chainsOf(q), 2))
			return out, nil
		}
		if d, err := l.Check(p, right, answer); d != nil || err != nil {
			t.Errorf("%s: %v, %v of a right answer", l.Name, d, err)
		}
		wrong := Groups{[]int64{1, 2, 2}, make([][]uint64, 3)}
		if d, _ := l.Check(p, wrong, answer); d == nil {
			t.Errorf("%s: keeps a wrong answer", l.Name)
		}
		if _, err := l.Check(p, right, func(*Problem) (Groups, error) { return right, errLong }); (err == errLong) != (l.Calls > 0) {
			t.Errorf("%s: %v where nothing answers", l.Name, err)
		}
		constant := func(*Problem) (Groups, error) { return right, nil }
		if d, _ := l.Check(p, right, constant); d == nil && (l.Name == "suspension" || l.Name == "a simplex more") {
			t.Errorf("%s: keeps a constant", l.Name)
		}
	}
	if policy().Weak(p, right) != "" || policy().Weak(p, Groups{[]int64{1, 0, 0, 0}, make([][]uint64, 4)}) == "" {
		t.Error("what proves little is not told")
	}
}

// Each pair of orders of a join makes two groups, of the greatest common divisor.
func joinsMultiply(t *testing.T) {
	a := Groups{[]int64{1, 0, 0}, [][]uint64{nil, {2, 4}, nil}}
	got := joined(a, a)
	for d, torsion := range got.Torsion {
		var want []uint64
		if d == 3 || d == 4 {
			want = []uint64{2, 2, 2, 4}
		}
		if torsion, err := chained(torsion); err != nil || !slices.Equal(torsion, want) {
			t.Errorf("dimension %d: %v, want %v", d, torsion, want)
		}
	}
}

// The closed form of a name applies to its ring only.
func namesAreKnown(t *testing.T) {
	for _, ring := range []string{"2", "3", "Q", "Z"} {
		p := problem(t, "rp2/over="+ring)
		for _, of := range []string{"2", "3", "Q", "Z"} {
			g, ok := knownGroups("rp2/over="+of, p)
			if ok != (of == ring) {
				t.Errorf("over %s, by the name over %s: %v, %v", ring, of, g, ok)
			}
		}
	}
}

// A ring of edges with three lowest vertices has three critical edges, in an odd cycle.
func lowestVertices(t *testing.T) {
	ring := &simplicial.Complex{}
	for v := range uint32(6) {
		ring.Add(v, (v+1)%6)
		ring.Points = append(ring.Points, 0, 0, float64(v%2))
	}
	for _, over := range []Ring{2, 3, Rationals, Integers} {
		out := Groups{[]int64{1, 1}, make([][]uint64, 2)}
		if d, err := byRanks(&Problem{ring, over}, out, nil); d != nil || err != nil {
			t.Errorf("over %v: %v, %v", over, d, err)
		}
	}
}

// Vertices that an implementation gives one number are two in the witness.
func numbersDiffer(t *testing.T) {
	for _, c := range [][2][]uint32{{{2, 0, 1}, {2, 0, 1}}, {{1, 0, 1, 0}, {2, 0, 3, 1}}, {{7, 3}, {1, 0}}, {{0, 2}, {0, 1}}} {
		if got := distinct(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%v: %v, want %v", c[0], got, c[1])
		}
	}
}

// The ranks of a random complex over primes, and its torsion by rows that hold little, follow from
// the Smith forms of full matrices.
func ranksAreOfSmith(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for seed := range 12 {
		for _, of := range []string{"random/vertices=6/dim=2/count=12", "random/vertices=8/dim=3/count=14", "random/vertices=7/dim=1/count=9", "wedge/with=moore,n=2/of=moore/n=3", "join/with=sphere,dim=0/of=moore/n=2"} {
			name := fmt.Sprintf("%s/seed=%d", of, seed)
			if prefix, last, two := strings.Cut(of, "/of="); two {
				if seed > 0 {
					continue
				}
				name = prefix + "/order=random/of=" + last
			}
			p := problem(t, name)
			c := chainsOf(p)
			g, f := NewGroups(len(c.count)), simplicial.NewFaces(p.Complex, 1)
			for d, n := range f.Counts() {
				if g.Betti[d] += n; d > 0 {
					rank, torsion, err := smith.Form(n, f.Count(d-1), func(i int64) []uint32 { return f.Boundary[d][i*int64(d+1) : (i+1)*int64(d+1)] })
					g.Betti[d] -= rank
					g.Betti[d-1] -= rank
					if err == nil {
						g.Torsion[d-1], err = smith.Factors(torsion)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			scattered := &simplicial.Complex{Tops: p.Tops, Vertices: p.Vertices}
			for range 3 * p.Vertices { // many vertices are lower than their neighbours
				scattered.Points = append(scattered.Points, rng.Float64()-0.5)
			}
			for _, prime := range []int64{2, 3, 5, mostPrime} {
				for _, c := range []*chains{c, chainsOf(&Problem{scattered, Ring(prime)})} {
					if got, want := bettiBy(t, c, prime), g.overRing(Ring(prime)); !slices.Equal(got, want.Betti) {
						t.Fatalf("%s over %d: %v, want %v", name, prime, got, want)
					}
				}
			}
			for _, r := range []Ring{Integers, Rationals, 2, 3} {
				for _, complex := range []*simplicial.Complex{p.Complex, scattered} {
					if d, err := byRanks(&Problem{complex, r}, g.overRing(r), nil); d != nil || err != nil {
						t.Fatalf("%s over %v: %v, %v", name, r, d, err)
					}
				}
			}
		}
	}
}

// The groups of a name agree with textbooks and with the ranks of its complex.
func closedFormsAreRight(t *testing.T) {
	for name, want := range map[string]string{
		"rp2": "(1, 0 + Z/2, 0)", "torus/shape=4x5": "(1, 2, 1)", "klein/shape=4x4": "(1, 1 + Z/2, 0)", "sphere/dim=0": "(2)", "sphere/dim=3": "(1, 0, 0, 1)", "moore/n=1": "(1, 0, 0)", "moore/n=6": "(1, 0 + Z/6, 0)", "lens/p=3/q=2": "(1, 0 + Z/3, 0, 1)",
		"dodecahedral/tenths=1": "(1, 0, 0, 1)", "dodecahedral/tenths=3": "(1, 0 + Z/5 + Z/5 + Z/5, 0, 1)", "dodecahedral/tenths=5": "(1, 0 + Z/2, 0, 1)",
		"join/with=moore,n=4/of=moore/n=6": "(1, 0, 0, 0 + Z/2, 0 + Z/2, 0)", "join/with=sphere,dim=1/of=klein": "(1, 0, 0, 1 + Z/2, 0)", "join/with=rp2/of=torus/shape=4x4": "(1, 0, 0, 0 + Z/2 + Z/2, 0 + Z/2, 0)", "join/with=sphere,dim=0/of=sphere/dim=0": "(1, 1)", "join/with=klein,shape=4x4/of=klein/shape=4x4": "(1, 0, 0, 1 + Z/2 + Z/2 + Z/2, 0 + Z/2, 0)",
		"wedge/with=moore,n=4/of=moore/n=6": "(1, 0 + Z/2 + Z/12, 0)", "wedge/with=klein,shape=4x4/of=sphere/dim=3": "(1, 1 + Z/2, 0, 1)", "wedge/with=sphere,dim=0/of=rp2": "(2, 0 + Z/2, 0)", "wedge/with=wedge,with=rp2/of=torus": "",
		"kuhn/shape=6x7x5/drills=2/cavities=1": "(1, 2, 1, 0)", "five/shape=6x7/drills=3": "(1, 3, 0)", "kuhn/shape=4x4x2": "(1, 0, 0, 0)", "kuhn/shape=4x4x1/drills=1": "(1, 1, 0)", "blunt": "(1, 0, 512, 0)", "post": "(1, 0, 1000, 0)", "bucky/cavities=7": "(1, 0, 7, 0)", "synth": "(1, 0, 5832, 0)", "join/with=random/of=rp2": "", "wedge/with=rp2/of=random": "", "random": "",
	} {
		n, err := simplicial.ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		g, ok := integral(n)
		if ok != (want != "") || ok && g.String() != want {
			t.Errorf("%s: %v, %v, want %s", name, g, ok, want)
		}
		if !ok || slices.Contains([]string{"dodecahedral", "blunt", "post", "bucky", "synth"}, n.Kind) { // which take longer
			continue
		}
		for _, r := range []Ring{Integers, Rationals, 2, 3} {
			name, err := NameOf(name, r)
			if err != nil {
				t.Fatal(err)
			}
			p := problem(t, name)
			got, ok := knownGroups(name, p)
			if d, err := byRanks(p, got, nil); d != nil || err != nil || !ok {
				t.Errorf("%s: %v, %v", name, d, err)
			}
		}
	}
}

// The first difference is reported, with its dimension.
func differencesAreTold(t *testing.T) {
	right := Groups{[]int64{1, 2, 0}, [][]uint64{nil, {2, 4}, nil}}
	for _, c := range []struct {
		got              Groups
		where, want, has string
	}{
		{right, "", "", ""}, {Groups{[]int64{1, 2}, right.Torsion[:2]}, "dimensions", "3", "2"}, {Groups{[]int64{1, 2, 7}, right.Torsion}, "b2", "0", "7"}, {Groups{[]int64{0, 1, 0}, right.Torsion}, "b0", "1", "0"},
		{Groups{right.Betti, [][]uint64{nil, {2, 8}, {3}}}, "torsion in dimension 1", "[2 4]", "[2 8]"}, {Groups{right.Betti, [][]uint64{nil, {2, 4}, {3}}}, "torsion in dimension 2", "[]", "[3]"},
	} {
		d := agree(nil, right, c.got)
		if (d == nil) != (c.where == "") || d != nil && (d.Where != c.where || d.Want != c.want || d.Got != c.has || !strings.Contains(d.Context, "want "+right.String()+", got "+c.got.String())) {
			t.Errorf("%v of %v, want another in %s", d, c.got, c.where)
		}
	}
	for b0, want := range map[int64]string{2: "", 3: "alternating sum of the Betti numbers: want 1, got 2 of (3, 1, 0)"} {
		d, err := euler(problem(t, "rp2"), Groups{[]int64{b0, 1, 0}, make([][]uint64, 3)}, nil)
		if err != nil || (d == nil) != (want == "") || d != nil && d.String() != want {
			t.Errorf("%v, %v, want %s", d, err, want)
		}
	}
}

// One component alone is weak: a program that ignores its input could answer it.
func weakIsTold(t *testing.T) {
	for _, c := range []struct {
		g    Groups
		weak bool
	}{
		{Groups{[]int64{1, 0, 0}, make([][]uint64, 3)}, true}, {Groups{[]int64{0, 0}, make([][]uint64, 2)}, true}, {NewGroups(0), true}, {Groups{[]int64{2, 0}, make([][]uint64, 2)}, false}, {Groups{[]int64{1, 0, 1}, make([][]uint64, 3)}, false}, {Groups{[]int64{1, 1}, make([][]uint64, 2)}, false}, {Groups{[]int64{1, 0}, [][]uint64{nil, {2}}}, false},
	} {
		if got := weak(nil, c.g); (got != "") != c.weak || c.weak && !strings.Contains(got, c.g.String()) {
			t.Errorf("%v: %q", c.g, got)
		}
	}
}

// Laws keep the coordinates of complexes in space. Simplices cut at an inner point fill the same
// volume. An added simplex has a volume, and lies outside of all others.
func lawsAskForComplexes(t *testing.T) {
	var asked *Problem
	answer := func(p *Problem) (Groups, error) {
		if err := p.Check(); err != nil {
			return Groups{}, err
		}
		asked = p
		return NewGroups(len(p.Tops)), nil
	}
	ask := func(name string, p *Problem) {
		t.Helper()
		asked = nil
		for _, l := range laws() {
			if strings.Contains(l.Name, name) {
				if _, err := l.Check(p, NewGroups(len(p.Tops)), answer); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if asked == nil || asked.Over != p.Over {
			t.Fatalf("%s asks for %v", name, asked)
		}
	}
	for _, name := range []string{"five/shape=4x5x3/drills=1/order=random/over=Z", "kuhn/shape=5x4/drills=1/over=3"} {
		p := problem(t, name)
		d := p.Dim()
		p.Tops[d] = append(p.Tops[d], p.Tops[d][:d+1]...) // given twice
		n := len(p.Tops[d])/(d+1) - 1
		ask("cut", p)
		if was, is := volume(p.Complex, p.Tops[d][:n*(d+1)]), volume(asked.Complex, asked.Tops[d]); asked.Given() != int64(n*(d+1)) || math.Abs(is-was) > 1e-9 || asked.Vertices != p.Vertices+n {
			t.Errorf("%s: cut in %d simplices of volume %v, want %d of %v", name, asked.Given(), is, n*(d+1), was)
		}
		for i, most := 0, slices.Max(p.Points); i < len(p.Points); i++ {
			p.Points[i] -= most // so that 0 is the greatest
		}
		ask("more", p)
		last := asked.Tops[d][len(p.Tops[d]):]
		if len(last) != d+1 || volume(asked.Complex, last) == 0 || !slices.Equal(asked.Tops[d][:len(p.Tops[d])], p.Tops[d]) || !slices.Equal(asked.Points[:len(p.Points)], p.Points) {
			t.Errorf("%s: with %v more at %v", name, last, asked.Points[len(p.Points):])
		}
		for _, x := range asked.Points[len(p.Points):] {
			if x <= slices.Max(p.Points) {
				t.Errorf("%s: a simplex more is at %v", name, asked.Points[len(p.Points):])
			}
		}
		ask("other numbers", p)
		if was, is := volume(p.Complex, p.Tops[d]), volume(asked.Complex, asked.Tops[d]); math.Abs(is-was) > 1e-9 || slices.Equal(asked.Tops[d], p.Tops[d]) {
			t.Errorf("%s: in other numbers of volume %v, want %v", name, is, was)
		}
	}
	// Points are not cut, and the greatest dimension has no suspension.
	if c := problem(t, "sphere/dim=0").Complex; starred(c) != c {
		t.Error("points are cut")
	}
	for dim, want := range map[int]error{-1: verify.ErrNotApplicable, 0: nil, simplicial.MaxDim - 1: nil, simplicial.MaxDim: verify.ErrNotApplicable} {
		p := &Problem{&simplicial.Complex{}, 2}
		if dim >= 0 {
			p.Add([]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}[:dim+1]...)
		}
		if _, err := suspension(p, NewGroups(dim+1), answer); err != want {
			t.Errorf("a suspension of dimension %d: %v", dim+1, err)
		} else if err == nil && (asked.Dim() != dim+1 || asked.Given() != 2 || asked.Vertices != dim+3) {
			t.Errorf("the suspension of a simplex is %v", asked.Tops)
		}
		if dim < 0 {
			for _, l := range laws()[2:] {
				if _, err := l.Check(p, NewGroups(0), answer); err != verify.ErrNotApplicable {
					t.Errorf("%s of nothing: %v", l.Name, err)
				}
			}
		}
	}
	if n := faces(problem(t, "sphere/dim=3")); n != 5*16 {
		t.Errorf("%d faces at most", n)
	}
}

// Laws estimate their cost: some nanoseconds for each simplex and its faces, more over the integers
// than over a field, or some calls.
func lawsSayWhatTheyTake(t *testing.T) {
	for i, want := range []struct{ two, integers, calls float64 }{{two: 900, integers: 1600}, {two: 200, integers: 200}, {calls: 1.2}, {calls: 5}, {calls: 6}, {calls: 1.1}} {
		l := laws()[i]
		if l.Independent != (i == 0) || float64(l.Calls) != want.calls || (l.Work == nil) != (want.calls > 0) {
			t.Errorf("%s: independent %v, %v calls", l.Name, l.Independent, l.Calls)
		}
		if l.Work == nil {
			continue
		}
		for over, each := range map[Ring]float64{2: want.two, Integers: want.integers} {
			if got := l.Work(&Problem{problem(t, "sphere/dim=3").Complex, over}); got != time.Duration(5*16*each) {
				t.Errorf("%s over %v: %v", l.Name, over, got)
			}
		}
	}
	if !big.NewInt(firstPrimes[1]).ProbablyPrime(0) || !slices.Equal(minima([]int64{1, 5, 2}, []int64{3, 4, 2}), []int64{1, 4, 2}) {
		t.Errorf("ranks over %d, and the lesser ones", firstPrimes[1])
	}
}

// volume sums the volumes of simplices in space, or a third of the areas in a plane.
func volume(c *simplicial.Complex, tops []uint32) (sum float64) {
	d := c.Dim()
	for at := 0; at < len(tops); at += d + 1 {
		v := [3][3]float64{2: {2: 1}}
		for i := range d {
			for k := range 3 {
				v[i][k] = c.Points[3*tops[at+i+1]+uint32(k)] - c.Points[3*tops[at]+uint32(k)]
			}
		}
		sum += math.Abs(v[0][0]*(v[1][1]*v[2][2]-v[1][2]*v[2][1])-v[0][1]*(v[1][0]*v[2][2]-v[1][2]*v[2][0])+v[0][2]*(v[1][0]*v[2][1]-v[1][1]*v[2][0])) / 6
	}
	return sum
}

// Problems have the variants, files and weight of their complexes, over the ring that they are over.
func problemsAreCounted(t *testing.T) {
	in := Inputs{}
	if got, err := in.Variants("kuhn/shape=6x6x6/cavities=2/over=Q", 2); err != nil || !slices.Equal(got, []string{"kuhn/shape=6x6x6/drills=0/cavities=2/over=Q", "kuhn/shape=6x6x6/drills=0/cavities=1/over=Q"}) {
		t.Errorf("%v, %v", got, err)
	}
	if got := in.Smaller("random/count=9/over=Z"); !slices.Equal(got, []string{"random/vertices=12/dim=2/count=4/seed=1/over=Z", "random/vertices=12/dim=2/count=8/seed=1/over=Z"}) {
		t.Error(got)
	}
	if got := in.Files("file/over=3/path=a/b.ele"); !slices.Equal(got, []string{"a/b.ele", "a/b.node"}) {
		t.Error(got)
	}
	for _, name := range []string{"nothing", "rp2/over=9"} {
		if list, err := in.Variants(name, 3); err == nil || in.Smaller(name) != nil || in.Files(name) != nil {
			t.Errorf("%s: %v", name, list)
		}
		if _, err := in.Open(name); err == nil {
			t.Errorf("%s is opened", name)
		}
	}
	if _, err := in.Open("torus/shape=3x3/over=2"); err == nil {
		t.Error("a torus of 3x3 is opened")
	}
	if _, err := question().Named("rp2/over=9"); err == nil {
		t.Error("a ring of 9 elements is named")
	}
	p := problem(t, "rp2/over=Z")
	for name, class := range map[string]string{
		"rp2/over=Z": "gen=rp2/over=Z/order=lex", "rp2/order=random/seed=4/over=3": "gen=rp2/over=3/order=random", "file/over=2/path=a/b.off": "gen=file/over=2/name=b.off", "voxels/at=1/over=2/of=file/path=a/b.npy": "gen=voxels/over=2/name=voxels/at=1/cut=kuhn/of=file/path=a/b.npy", "what": "gen=unknown",
	} {
		if got, want := in.Cost(name, p), (bench.Cost{Items: 31, Unit: "simplices", Bytes: 120, Class: class, Size: "31 simplices"}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	kinds, q := simplicial.Kinds(), Workload()
	if q.Name != "homology" || q.Reference != "" || len(q.Question.Kinds) != len(kinds) || q.Question.Kinds[3] != (bench.Kind{Name: kinds[3].Name, Doc: kinds[3].Doc, Example: kinds[3].Example}) {
		t.Errorf("the workload %s is of %d kinds", q.Name, len(q.Question.Kinds))
	}
	if q := Workload(named("first"), named("second")); q.Reference != "first" {
		t.Errorf("the reference is %q, want the first", q.Reference)
	}
	for _, data := range [][]byte{nil, make([]byte, ringBytes-1), make([]byte, ringBytes), append(make([]byte, ringBytes), "SIMPLEX1"...)} {
		if _, err := in.Attach(data); err == nil || !strings.HasPrefix(err.Error(), "shared complex: ") {
			t.Errorf("%d bytes: %v", len(data), err)
		}
	}
}

// named is an implementation that has a name alone.
func named(name string) bench.Implementation[*Problem, Groups] {
	return nameOnly{about: bench.About{Name: name}}
}

type nameOnly struct {
	bench.Implementation[*Problem, Groups]
	about bench.About
}

func (n nameOnly) About() bench.About { return n.about }

// A sum beyond the bound has no value, like all sums of it.
func sumsGrow(t *testing.T) {
	f := &flow{d: 2}
	f.known.reset(0, 9)
	f.star.reset(1, 9)
	f.star.add([]uint32{0, 1}) // a triangle, whose edges to the top are cells 1 and 2
	for _, c := range []struct {
		values [2][]torsion.Term // of these edges
		want   []torsion.Term
	}{
		{[2][]torsion.Term{{{Row: 5, Times: 3}}, {{Row: 5, Times: 1}}}, []torsion.Term{{Row: 5, Times: -2}}},
		{[2][]torsion.Term{{{Row: 5, Times: mostTimes}}, {{Row: 5, Times: -1}}}, overgrown()},
		{[2][]torsion.Term{{{Row: 5, Times: -mostTimes}}, nil}, []torsion.Term{{Row: 5, Times: mostTimes}}},
		{[2][]torsion.Term{overgrown(), overgrown()}, overgrown()},
		{[2][]torsion.Term{{{Row: 5, Times: 3}}, overgrown()}, overgrown()},
	} {
		f.at = [][]torsion.Term{nil, c.values[0], c.values[1], nil}
		if got := f.sum(3, 3); !slices.Equal(got, c.want) {
			t.Errorf("%v: the sum is %v, want %v", c.values, got, c.want)
		}
	}
}
