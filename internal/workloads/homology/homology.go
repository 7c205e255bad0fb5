// Package homology defines the question of the homology groups of a simplicial complex (Murty
// 2013): its Betti numbers over a field, or over the integers with its torsion.
package homology

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/ranks"
	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
)

// Name is the name of the workload.
const Name = "homology"

// A Ring is the coefficient ring of chains; a prime p means the field of p elements.
type Ring int64

// The rings that are no prime fields.
const (
	Rationals Ring = 0
	Integers  Ring = 1
)

// mostPrime is the greatest prime of a field, so that products fit 64 bits.
const mostPrime = ranks.MostPrime

// ParseRing reads a prime, Q or Z.
func ParseRing(s string) (Ring, error) {
	switch s {
	case "Q":
		return Rationals, nil
	case "Z":
		return Integers, nil
	}
	p, err := strconv.ParseInt(s, 10, 64)
	if err != nil || p > mostPrime || !big.NewInt(p).ProbablyPrime(0) { // which is sure below 2⁶⁴
		return 0, fmt.Errorf("coefficients %.40q: want a prime up to %d, Q or Z", s, int64(mostPrime))
	}
	return Ring(p), nil
}

// String is the ring as ParseRing reads it.
func (r Ring) String() string {
	switch r {
	case Rationals:
		return "Q"
	case Integers:
		return "Z"
	}
	return strconv.FormatInt(int64(r), 10)
}

// Groups are the homology groups of a complex, by dimension.
type Groups struct {
	// Betti are the ranks of the groups, one for each dimension of the complex.
	Betti []int64
	// Torsion are, over the integers, the orders of the cyclic parts of each group: more than
	// 1, and each divides the next. There are none over a field.
	Torsion [][]uint64
}

// NewGroups returns zero groups of the given number of dimensions.
func NewGroups(dims int) Groups {
	return Groups{make([]int64, dims), make([][]uint64, dims)}
}

// Poisoned returns the value with which jobs overwrite their answer.
func Poisoned() Groups { return Groups{[]int64{bench.Poison}, [][]uint64{nil}} }

// String is the groups as people write them: "(1, 1, 1)", with torsion "(1, 0 + Z/2, 0)".
func (g Groups) String() string {
	list := make([]string, len(g.Betti))
	for d, b := range g.Betti {
		list[d] = fmt.Sprint(b)
		for _, t := range g.Torsion[d] {
			list[d] += fmt.Sprintf(" + Z/%d", t)
		}
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// A Problem is a complex with the ring of its coefficients.
type Problem struct {
	*simplicial.Complex
	Over Ring
}

// Workload is the question, put to implementations. The first is the reference.
func Workload(impls ...bench.Implementation[*Problem, Groups]) bench.Workload[*Problem, Groups] {
	return bench.Workload[*Problem, Groups]{
		Name: Name, Question: question(), Inputs: Inputs{}, Impls: impls, Policy: policy(),
		Encode: bench.Small(Encode), Decode: Decode,
		Reference: bench.NameOfFirst(impls),
	}
}

func question() bench.Question {
	q := bench.Question{
		Doc: "the homology of a simplicial complex: Betti numbers, and torsion over the integers",
		Adversarial: []string{
			"rp2", "rp2/over=3", "rp2/over=Q", "rp2/over=Z", "klein/over=2", "klein/over=Z",
			"torus/order=random/seed=2/over=Z", "sphere/dim=0", "sphere/dim=4/over=Z",
			"moore/n=1/over=Z", "moore/n=6/over=2", "moore/n=6/over=3", "moore/n=12/order=random/seed=3/over=Z", "lens/p=3/q=1/over=3", "lens/p=5/q=2/over=Z",
			"dodecahedral/tenths=1/over=Z", "dodecahedral/tenths=3/order=random/seed=4/over=Z", "dodecahedral/tenths=5/over=5",
			"join/with=moore,n=4/over=Z/of=moore/n=6", "join/with=sphere,dim=1/over=Z/of=rp2", "join/with=rp2/over=2/of=sphere/dim=0",
			"wedge/with=moore,n=4/over=Z/of=moore/n=6", "wedge/with=klein/over=2/of=sphere/dim=3",
			"kuhn/shape=12x11x10/drills=3/cavities=20", "kuhn/shape=12x11x10/drills=3/cavities=20/order=random/seed=5", "five/shape=9x8x10/drills=1/cavities=8/order=random/seed=6/over=Z",
			"kuhn/shape=20x17/drills=9/over=Q", "five/shape=6x6x6/drills=4", "kuhn/shape=2x2x2",
			"voxels/at=127/over=2/of=noise/shape=7x6x5/type=uint8/seed=8",
			"voxels/at=100/over=Z/of=noise/shape=9x7/type=uint8/seed=9",
			"voxels/at=0/cut=five/order=random/over=Q/of=shell/shape=15x15x15/type=uint8",
			"random/vertices=9/dim=2/count=40/seed=1/over=Z", "random/vertices=14/dim=3/count=90/seed=2/over=3",
			"random/vertices=40/dim=1/count=60/seed=3", "random/vertices=11/dim=4/count=40/seed=4/over=Q",
		},
		Small: []string{"kuhn/shape=34x34x34/cavities=512", "kuhn/shape=34x34x34/drills=64/order=random/seed=1"},
		Long:  []string{"synth/order=random/seed=1"},
		Named: func(s string) (string, error) {
			n, over, err := parseGiven(s)
			return nameOf(n, over), err
		},
	}
	for _, k := range simplicial.Kinds() {
		q.Kinds = append(q.Kinds, bench.Kind{Name: k.Name, Doc: k.Doc, Example: k.Example})
	}
	return q
}

// Inputs makes problems from names of complexes. The key over=RING selects the ring, Z/2 by
// default.
type Inputs struct{}

const over = "over"

// parse splits a name into the complex, read by the given function, and the ring.
func parse(s string, complex func(string) (simplicial.Name, error)) (simplicial.Name, Ring, error) {
	ring, rest := Ring(2), s
	parts := strings.Split(s, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "of=") || strings.HasPrefix(part, "path=") || i == 0 {
			if i > 0 {
				break
			}
			continue
		}
		if value, ok := strings.CutPrefix(part, over+"="); ok {
			var err error
			if ring, err = ParseRing(value); err != nil {
				return simplicial.Name{}, 0, fmt.Errorf("input %q: %w", s, err)
			}
			rest = strings.Join(slices.Delete(parts, i, i+1), "/")
			break
		}
	}
	n, err := complex(rest)
	return n, ring, err
}

// parseGiven parses a name or the path of a file. A word that is both is an error.
func parseGiven(s string) (simplicial.Name, Ring, error) {
	n, ring, err := parse(s, simplicial.Named)
	if info, e := os.Stat(s); err == nil && n.Kind != simplicial.File && e == nil && info.Mode().IsRegular() {
		err = fmt.Errorf("%s is a file and a built-in complex; want ./%[1]s or %[1]s/over=%v", s, ring)
	}
	return n, ring, err
}

// nameOf is the name of a problem.
func nameOf(n simplicial.Name, r Ring) string { return n.Change(over, r.String()).String() }

// NameOf returns the name of the problem of a named complex over a ring.
func NameOf(s string, r Ring) (string, error) {
	n, _, err := parseGiven(s)
	return nameOf(n, r), err
}

// Open makes the problem that a name describes.
func (Inputs) Open(name string) (*Problem, error) {
	n, ring, err := parse(name, simplicial.ParseName)
	if err != nil {
		return nil, err
	}
	c, err := n.Open()
	if err != nil {
		return nil, err
	}
	return &Problem{c, ring}, nil
}

// Sketch returns a problem of the size of a named complex, if its kind determines the size.
func (Inputs) Sketch(name string) (*Problem, bool) {
	n, ring, err := parse(name, simplicial.ParseName)
	if err != nil {
		return nil, false
	}
	c := n.Sketch()
	return &Problem{c, ring}, c != nil
}

// Variants names problems of complexes that weigh about the same.
func (Inputs) Variants(name string, k int) ([]string, error) {
	n, ring, err := parse(name, simplicial.ParseName)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, v := range n.Variants(k) {
		names = append(names, nameOf(v, ring))
	}
	return names, nil
}

// Files returns the files of the complex.
func (Inputs) Files(name string) []string {
	n, _, err := parse(name, simplicial.ParseName)
	if err != nil {
		return nil
	}
	return n.Files()
}

// Smaller names problems of smaller complexes.
func (Inputs) Smaller(name string) []string {
	n, ring, err := parse(name, simplicial.ParseName)
	if err != nil {
		return nil
	}
	var names []string
	for _, v := range n.Smaller() {
		names = append(names, nameOf(v, ring))
	}
	return names
}

// Cost counts all simplices including faces, and the bytes of the given ones.
func (Inputs) Cost(name string, p *Problem) bench.Cost {
	class := "gen=unknown"
	if n, ring, err := parse(name, simplicial.ParseName); err == nil {
		class = fmt.Sprintf("gen=%s/over=%v", n.Kind, ring)
		if len(n.Files()) > 0 {
			class += "/name=" + n.Shown()
		} else if order := n.Get("order"); order != "" {
			class += "/order=" + order
		} else {
			class += "/order=lex"
		}
	}
	n := p.Simplices()
	return bench.Cost{Items: n, Unit: "simplices", Bytes: p.Bytes(), Class: class, Size: fmt.Sprintf("%d simplices", n)}
}

// ringBytes is the size of the ring before the complex.
const ringBytes = 8

// Size returns the size of the complex in our own format, and of the ring before it.
func (Inputs) Size(p *Problem) int64 { return ringBytes + simplicial.NativeSize(p.Complex) }

// Share writes the ring and the complex, whose simplices are counted.
func (Inputs) Share(p *Problem, f *os.File) error {
	p.Counts()
	_, err := f.Write(binary.LittleEndian.AppendUint64(nil, uint64(p.Over)))
	return errors.Join(err, simplicial.WriteNative(f, p.Complex))
}

// Attach makes the problem of bytes that Share wrote.
func (Inputs) Attach(mapped []byte) (*Problem, error) {
	if len(mapped) < ringBytes {
		return nil, errors.New("shared complex: too short")
	}
	c, err := simplicial.ReadNative(mapped[ringBytes:], true)
	if err != nil {
		return nil, fmt.Errorf("shared complex: %w", err)
	}
	return &Problem{c, Ring(binary.LittleEndian.Uint64(mapped))}, nil
}

// Encode writes the number of dimensions and, for each, the Betti number, the number of cyclic
// parts and their orders.
func Encode(g Groups) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(g.Betti)))
	for d, n := range g.Betti {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
		b = binary.LittleEndian.AppendUint64(b, uint64(len(g.Torsion[d])))
		for _, t := range g.Torsion[d] {
			b = binary.LittleEndian.AppendUint64(b, t)
		}
	}
	return b
}

// Decode is the inverse of Encode.
func Decode(b []byte) (Groups, error) {
	malformed := errors.New("malformed homology groups")
	next := func() (v uint64, ok bool) {
		if len(b) < 8 {
			return 0, false
		}
		v, b = binary.LittleEndian.Uint64(b), b[8:]
		return v, true
	}
	dims, ok := next()
	if !ok || dims > uint64(len(b))/16 {
		return Groups{}, malformed
	}
	g := NewGroups(int(dims))
	for d := range g.Betti {
		betti, _ := next()
		n, ok := next()
		if !ok || n > uint64(len(b))/8 {
			return Groups{}, malformed
		}
		g.Betti[d] = int64(betti)
		for range n {
			t, _ := next()
			g.Torsion[d] = append(g.Torsion[d], t)
		}
	}
	if len(b) > 0 {
		return Groups{}, malformed
	}
	return g, nil
}

// agree is the first group of two answers that differs.
func agree(_ *Problem, want, got Groups) *verify.Diff {
	context := fmt.Sprintf("all of them: want %v, got %v", want, got)
	if len(want.Betti) != len(got.Betti) {
		return &verify.Diff{Where: "dimensions", Want: fmt.Sprint(len(want.Betti)), Got: fmt.Sprint(len(got.Betti)),
			Context: context}
	}
	for d := range want.Betti {
		if want.Betti[d] != got.Betti[d] {
			return &verify.Diff{Where: fmt.Sprintf("b%d", d), Want: fmt.Sprint(want.Betti[d]), Got: fmt.Sprint(got.Betti[d]),
				Context: context}
		}
		if !slices.Equal(want.Torsion[d], got.Torsion[d]) {
			return &verify.Diff{Where: fmt.Sprintf("torsion in dimension %d", d), Want: fmt.Sprint(want.Torsion[d]),
				Got: fmt.Sprint(got.Torsion[d]), Context: context}
		}
	}
	return nil
}
