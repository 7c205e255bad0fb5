package homology

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
)

type (
	law = verify.Law[*Problem, Groups]
	ask = verify.Ask[*Problem, Groups]
)

// policy returns the rules to verify groups. The alternating sum of the Betti numbers always agrees
// for an answer that computes one of them from it. So elimination verifies the ranks too.
func policy() verify.Policy[*Problem, Groups] {
	return verify.Policy[*Problem, Groups]{Agree: agree, Known: knownGroups, Laws: laws(), Weak: weak}
}

// weak returns the reason why a right answer would not expose a wrong program, or "".
func weak(_ *Problem, out Groups) string {
	for d, b := range out.Betti {
		if d == 0 && b > 1 || d > 0 && b > 0 || len(out.Torsion[d]) > 0 {
			return ""
		}
	}
	return fmt.Sprintf("the groups are %v, which a program that ignores its input could answer", out)
}

// The cost of a simplex in nanoseconds, about three times the measured cost with two busy cores: to
// enumerate, and to eliminate over a field and over the integers.
const (
	enumerateNS = 200
	eliminateNS = 700
	integersNS  = 1400
)

func laws() []law {
	return verify.Bounded([]law{
		{Name: "elimination of the boundary matrices", Independent: true, Work: func(p *Problem) time.Duration {
			each := time.Duration(eliminateNS)
			if p.Over < 2 {
				each = integersNS
			}
			return time.Duration(faces(p)) * (enumerateNS + each)
		}, Check: byRanks},
		{Name: "Euler–Poincaré with the numbers of simplices",
			Work: func(p *Problem) time.Duration { return time.Duration(faces(p)) * enumerateNS }, Check: euler},
		{Name: "other numbers of vertices, another order", Calls: 1.2,
			Check: invariantUnder(func(c *simplicial.Complex) *simplicial.Complex {
				return simplicial.Shuffled(c, uint64(c.Given()))
			})},
		{Name: "simplices cut at a point within", Calls: 5, Check: invariantUnder(starred)},
		{Name: "suspension", Calls: 6, Check: suspension},
		{Name: "a simplex more", Calls: 1.1, Check: oneMore},
	}, func(p *Problem) int64 { return 16 * faces(p) })
}

// faces bounds the number of simplices without counting them.
func faces(p *Problem) int64 {
	n := int64(0)
	for d, tops := range p.Tops {
		n += int64(len(tops)/(d+1)) << (d + 1)
	}
	return n
}

// firstPrimes are the primes that replace the integers and the rationals if elimination over the
// integers is too expensive: two large ones and 2.
var firstPrimes = []int64{mostPrime, mostPrime - 18, 2}

// minima returns the lesser of each pair of numbers.
func minima(a, b []int64) []int64 {
	for i := range a {
		a[i] = min(a[i], b[i])
	}
	return a
}

func byRanks(p *Problem, out Groups, _ ask) (*verify.Diff, error) {
	c := chainsOf(p)
	if len(out.Betti) != len(c.count) || len(out.Torsion) != len(c.count) {
		return agree(p, NewGroups(len(c.count)), out), nil
	}
	if p.Over >= 2 {
		want := NewGroups(len(c.count))
		var err error
		if want.Betti, err = c.betti(int64(p.Over)); err != nil {
			return nil, err
		}
		return agree(p, want, out), nil
	}
	if d := dividing(out); d != nil {
		return d, nil
	}
	want, err := c.groups()
	if errors.As(err, new(verify.UndecidedError)) {
		return c.byPrimes(p, out, err)
	}
	if err != nil {
		return nil, err
	}
	return agree(p, want.overRing(p.Over), out), nil
}

// dividing reports an order that is less than 2, or does not divide the next one.
func dividing(out Groups) *verify.Diff {
	for d, orders := range out.Torsion {
		for i, t := range orders {
			if t < 2 || i > 0 && t%orders[i-1] != 0 {
				return &verify.Diff{Where: fmt.Sprintf("torsion of b%d", d),
					Want: "orders of 2 or more, each of which divides the next", Got: fmt.Sprint(orders)}
			}
		}
	}
	return nil
}

// byPrimes compares groups with ranks over some primes if elimination over the integers is too
// expensive; why is the reason. Ranks can contradict groups over the integers, but not confirm
// them. Over the rationals the lesser ranks of two large primes confirm, because torsion is very
// unlikely to be divisible by one of them.
func (c *chains) byPrimes(p *Problem, out Groups, why error) (*verify.Diff, error) {
	if p.Over == Rationals {
		want := NewGroups(len(c.count))
		one, err := c.betti(firstPrimes[0])
		if err != nil {
			return nil, err
		}
		two, err := c.betti(firstPrimes[1])
		if err != nil {
			return nil, err
		}
		want.Betti = minima(one, two)
		return agree(p, want, out), nil
	}
	for _, prime := range firstPrimes {
		want, got := NewGroups(len(c.count)), out.overRing(Ring(prime))
		var err error
		if want.Betti, err = c.betti(prime); err != nil {
			return nil, err
		}
		if d := agree(p, want, got); d != nil {
			d.Where += fmt.Sprintf(" over Z/%d, as it follows from %v", prime, out)
			return d, nil
		}
	}
	return nil, why
}

func euler(p *Problem, out Groups, _ ask) (*verify.Diff, error) {
	var chi, got int64
	for d, n := range chainsOf(p).count {
		chi += int64(1-2*(d&1)) * n
	}
	for d, b := range out.Betti {
		got += int64(1-2*(d&1)) * b
	}
	if got != chi {
		return &verify.Diff{Where: "alternating sum of the Betti numbers", Want: fmt.Sprint(chi),
			Got: fmt.Sprintf("%d of %v", got, out)}, nil
	}
	return nil, nil
}

func invariantUnder(
	change func(*simplicial.Complex) *simplicial.Complex,
) func(*Problem, Groups, ask) (*verify.Diff, error) {
	return verify.Invariant(func(p *Problem) (*Problem, error) {
		if p.Dim() < 0 {
			return nil, verify.ErrNotApplicable
		}
		return &Problem{change(p.Complex), p.Over}, nil
	}, agree)
}

// starred is the complex with each simplex of the greatest dimension cut at a point within, the
// mean of its vertices.
func starred(c *simplicial.Complex) *simplicial.Complex {
	d := c.Dim()
	if d == 0 {
		return c // a point has nothing within
	}
	out := &simplicial.Complex{Tops: slices.Clone(c.Tops), Vertices: c.Vertices, Points: slices.Clone(c.Points)}
	seen := map[string]bool{}
	var tops []uint32
	for at := 0; at < len(c.Tops[d]); at += d + 1 {
		s := c.Tops[d][at : at+d+1]
		key := fmt.Sprint(slices.Sorted(slices.Values(s)))
		if seen[key] {
			continue // a simplex given twice is cut once
		}
		seen[key] = true
		if out.Points != nil {
			var mean [3]float64
			for _, v := range s {
				for k := range mean {
					mean[k] += c.Points[3*int(v)+k] / float64(len(s))
				}
			}
			out.Points = append(out.Points, mean[:]...)
		}
		for k := range s {
			for i, v := range s {
				if i == k {
					v = uint32(out.Vertices)
				}
				tops = append(tops, v)
			}
		}
		out.Vertices++
	}
	out.Tops[d] = tops
	return out
}

// suspension asks for the join with two points. It has the same reduced groups, one dimension
// higher.
func suspension(p *Problem, out Groups, answer ask) (*verify.Diff, error) {
	if p.Dim() < 0 {
		return nil, verify.ErrNotApplicable
	}
	poles := &simplicial.Complex{}
	poles.Add(0)
	poles.Add(1)
	c, err := simplicial.Join(p.Complex, poles)
	if err != nil { // it would be too large
		return nil, verify.ErrNotApplicable
	}
	got, err := answer(&Problem{c, p.Over})
	if err != nil {
		return nil, err
	}
	want := NewGroups(len(out.Betti) + 1)
	copy(want.Betti[1:], out.Betti)
	copy(want.Torsion[1:], out.Torsion)
	want.Betti[1]--
	want.Betti[0] = 1
	return agree(p, want, got), nil
}

// oneMore asks for the complex with another simplex of the greatest dimension, on vertices of its
// own. It has one component more.
func oneMore(p *Problem, out Groups, answer ask) (*verify.Diff, error) {
	d := p.Dim()
	if d < 0 {
		return nil, verify.ErrNotApplicable
	}
	c := &simplicial.Complex{Tops: slices.Clone(p.Tops), Vertices: p.Vertices}
	if p.Points != nil { // far from all others
		c.Points = slices.Clone(p.Points)
		far := 1.0
		for _, x := range p.Points {
			far = max(far, 2*x)
		}
		for k := range d + 1 {
			at := [3]float64{far, far, far}
			if k > 0 {
				at[(k-1)%3]++
			}
			c.Points = append(c.Points, at[:]...)
		}
	}
	s := make([]uint32, d+1)
	for k := range s {
		s[k] = uint32(c.Vertices + k)
	}
	c.Tops[d] = append(slices.Clone(c.Tops[d]), s...)
	c.Vertices += d + 1
	want := Groups{slices.Clone(out.Betti), out.Torsion}
	want.Betti[0]++
	g, err := answer(&Problem{c, p.Over})
	if err != nil {
		return nil, err
	}
	return agree(p, want, g), nil
}
