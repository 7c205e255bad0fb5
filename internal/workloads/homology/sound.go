package homology

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eccbench/internal/simplicial"
	"eccbench/internal/sound"
)

// Checks are of complexes, and of what groups are judged by and carried in: rings, two enumerations of faces, ranks and
// torsion, laws that see what is wrong, names, encoding and sharing.
func Checks() []sound.Check {
	return append(simplicial.Checks(), []sound.Check{
		{Name: "rings", Of: ringsAreRead},
		{Name: "orders of cyclic parts", Of: factorsDivide},
		{Name: "universal coefficients", Of: universalCoefficients},
		{Name: "two enumerations", Of: enumerationsAgree},
		{Name: "the Smith form of a projective plane", Of: smithByHand},
		{Name: "known torsion", Of: torsionIsKnown},
		{Name: "orders that are wrong by a square", Of: squaresAreTold},
		{Name: "encoded groups", Of: encoding},
		{Name: "shared complexes", Of: sharedIsAttached},
		{Name: "names", Of: namesSayRings},
		{Name: "laws of wrong groups", Of: lawsRefuse},
		{Name: "primes that divide orders", Of: primesAreFound},
		{Name: "groups of joins", Of: joinsMultiply},
		{Name: "groups that follow from names", Of: namesAreKnown},
	}...)
}

func problem(t sound.T, name string) *Problem {
	t.Helper()
	p, err := Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ringsAreRead(t sound.T) {
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

func factorsDivide(t sound.T) {
	for _, c := range [][2][]uint64{{{4, 6}, {2, 12}}, {{2, 3, 5}, {30}}, {{1}, {}}, {nil, {}}, {{2, 2, 4, 9}, {2, 2, 36}}} {
		if got := Factors(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%v: %v, want %v", c[0], got, c[1])
		}
	}
}

// The projective plane, by its closed form and by ranks.
func universalCoefficients(t sound.T) {
	g := Groups{[]int64{1, 0, 0}, [][]uint64{nil, {2}, nil}}
	for r, want := range map[Ring][]int64{2: {1, 1, 1}, 3: {1, 0, 0}, Rationals: {1, 0, 0}} {
		if got := g.over(r); !slices.Equal(got.Betti, want) {
			t.Errorf("over %v: %v, want %v", r, got, want)
		}
		if r > Integers && !slices.Equal(chainsOf(problem(t, "rp2")).betti(int64(r)), want) {
			t.Errorf("ranks over %v", r)
		}
	}
	if s := g.String(); s != "(1, 0 + Z/2, 0)" {
		t.Error(s)
	}
}

// Those who enumerate faces share nothing, and count the same.
func enumerationsAgree(t sound.T) {
	for _, name := range []string{"lens/p=3/q=2", "random/vertices=14/dim=5/count=60", "five/shape=4x5x4/order=random", "join/with=rp2/of=torus"} {
		p := problem(t, name)
		if a, b := chainsOf(p).count, p.Counts(); !slices.Equal(a, b) {
			t.Errorf("%s: %v and %v", name, a, b)
		}
	}
}

func smithByHand(t sound.T) {
	// Of triangles of the projective plane.
	f := simplicial.NewFaces(problem(t, "rp2").Complex, 1)
	rank, torsion := Smith(10, 15, func(i int64) []uint32 { return f.Boundary[2][3*i : 3*i+3] })
	if rank != 10 || !slices.Equal(torsion, []uint64{2}) {
		t.Errorf("rank %d, torsion %v", rank, torsion)
	}
}

// Rows that hold little and full ones come to the same orders.
func torsionIsKnown(t sound.T) {
	for name, want := range map[string][]uint64{
		"rp2": {2}, "moore/n=12": {12}, "lens/p=6/q=5": {6}, "wedge/with=moore,n=4/of=moore/n=6": {2, 12}, "dodecahedral/tenths=3": {5, 5, 5}, "torus": {},
	} {
		got, err := chainsOf(problem(t, name)).torsion(2)
		if got = Factors(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
}

// An order that is wrong by a square is told, though the ranks over primes are the same.
func squaresAreTold(t sound.T) {
	p := problem(t, "moore/n=4/over=Z")
	for order, want := range map[uint64]bool{4: true, 2: false, 8: false, 6: false} {
		out := Groups{[]int64{1, 0, 0}, [][]uint64{nil, {order}, nil}}
		d, err := byRanks(p, out, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (d == nil) != want {
			t.Errorf("order %d: %v", order, d)
		}
	}
}

func encoding(t sound.T) {
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
}

func sharedIsAttached(t sound.T) {
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

// Names say the ring before what holds the rest of the name.
func namesSayRings(t sound.T) {
	for name, want := range map[string]string{
		"rp2": "rp2/over=2", "rp2/over=Z": "rp2/over=Z", "join/with=rp2/over=Q/of=klein": "join/with=rp2/over=Q/of=klein", "over=3/x.off": "file/over=2/path=over=3/x.off",
		"join/with=rp2/of=klein/over=Z": "",
	} {
		got, err := question().Named(name)
		if want == "" {
			continue // the ring of what a join is of: refused when it is opened
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	if got, err := Of("rp2/over=Z", 3); err != nil || got != "rp2/over=3" {
		t.Error(got, err)
	}
	if _, err := (Inputs{}).Open("rp2/over=4"); err == nil || !strings.Contains(err.Error(), "want a prime") {
		t.Error(err)
	}
}

// Each law finds an answer that is wrong.
func lawsRefuse(t sound.T) {
	p := problem(t, "torus/over=2")
	right := Groups{[]int64{1, 2, 1}, make([][]uint64, 3)}
	for _, l := range laws() {
		answer := func(q *Problem) (Groups, error) {
			out := NewGroups(len(q.Tops))
			copy(out.Betti, chainsOf(q).betti(2))
			return out, nil
		}
		if d, err := l.Check(p, right, answer); d != nil || err != nil {
			t.Errorf("%s: %v, %v of a right answer", l.Name, d, err)
		}
		wrong := Groups{[]int64{1, 2, 2}, make([][]uint64, 3)}
		if d, _ := l.Check(p, wrong, answer); d == nil {
			t.Errorf("%s: keeps a wrong answer", l.Name)
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

// Large primes are found, each once, and those of another ring are its own.
func primesAreFound(t sound.T) {
	const large = 1<<20 + 7 // a prime
	for _, c := range []struct {
		ring Ring
		of   []uint64
		want []int64
	}{
		{Integers, nil, []int64{mostPrime, 2}}, {Integers, []uint64{3, 12}, []int64{mostPrime, 2, 3}},
		{Integers, []uint64{2 * large, large, 7}, []int64{mostPrime, 2, large, 7}}, {5, []uint64{7}, []int64{5}},
	} {
		if got := primes(c.ring, Groups{[]int64{1, 0}, [][]uint64{nil, c.of}}); !slices.Equal(got, c.want) {
			t.Errorf("over %v, of orders %v: %v, want %v", c.ring, c.of, got, c.want)
		}
	}
}

// Each two orders of a join make two groups of what divides both.
func joinsMultiply(t sound.T) {
	a := Groups{[]int64{1, 0, 0}, [][]uint64{nil, {2, 4}, nil}}
	got := joined(a, a)
	for d, torsion := range got.Torsion {
		var want []uint64
		if d == 3 || d == 4 {
			want = []uint64{2, 2, 2, 4}
		}
		if !slices.Equal(Factors(torsion), Factors(want)) {
			t.Errorf("dimension %d: %v, want %v", d, torsion, want)
		}
	}
}

// What follows from a name is of its ring, and nothing follows about another.
func namesAreKnown(t sound.T) {
	for _, ring := range []string{"2", "3", "Q", "Z"} {
		p := problem(t, "rp2/over="+ring)
		for _, of := range []string{"2", "3", "Q", "Z"} {
			g, ok := known("rp2/over="+of, p)
			if ok != (of == ring) {
				t.Errorf("over %s, by the name over %s: %v, %v", ring, of, g, ok)
			}
		}
	}
}
