package paper

import (
	"fmt"

	"eccbench/impls/homology/reductions"
	"eccbench/internal/simplicial"
)

// murty2013 returns the claims of Murty 2013, by section. Claims about figures without printed
// values are checked against the numbers here alone.
func murty2013(p Paper) []Claim {
	const race = "race-gpu" // the paper's algorithm on a device
	// line returns the line of an implementation on a row of a table, if it has a number.
	line := func(n numbers, table int, r Row, impl string) (Line, bool) {
		for _, l := range n.of[table] {
			if l.Impl == impl && l.Row.Label == r.Label && l.Measured > 0 && l.Mark == "" {
				return l, true
			}
		}
		return Line{}, false
	}
	each := func(n numbers, value func(l Line, table int, r Row) (float64, bool)) (s span) {
		for _, t := range p.Tables {
			for _, r := range t.Rows {
				s.of++
				if l, ok := line(n, t.N, r, n.impl); ok {
					if v, ok := value(l, t.N, r); ok {
						s.add(v)
					}
				}
			}
		}
		return s
	}
	// Table 1 and table 2 have the same published numbers.
	published := func(n numbers, value func(r Row) float64) (s span) {
		for _, r := range p.Tables[0].Rows {
			if s.of++; n.impl == "" {
				s.add(value(r))
			}
		}
		return s
	}
	printed := func(r Row, key string) float64 {
		v, _ := p.Tables[0].Value(r, key)
		return v.V
	}
	faster := func(n numbers, part func(Line) float64) span {
		return each(n, func(l Line, table int, r Row) (float64, bool) {
			one, ok := line(n, table, r, "reductions")
			return part(one) / part(l), ok && part(l) > 0
		})
	}
	whole := func(l Line) float64 { return l.Measured }
	reducing := func(l Line) float64 { return l.Parts["reductions"] + l.Parts["reductions of parts"] }
	building := func(l Line) float64 { return l.Parts["faces"] + l.Parts["reducible complex"] }
	none := func(numbers) finding { return span{of: len(p.Tables[0].Rows)}.finding(true, "") }
	return []Claim{
		{Section: "5.1", Says: "to keep to the reductions that cost least would leave little to do at a time, so that " +
			"some cost more by a margin", Test: "rounds of race with no margin over rounds with one of 8, of a shuffled grid " +
			"of 12³ vertices with cavities, more than 1", compute: func() (finding, error) {
			return overRounds("/order=random/seed=1", func(r func(margin uint32, numbered bool) (int, int, error)) (a, b int,
				err error) {
				if a, _, err = r(0, false); err == nil {
					b, _, err = r(8, false)
				}
				return a, b, err
			})
		}},
		{Section: "5.1", Says: "where threads' numbers break ties, few win on a lexicographic order of cells, because " +
			"conflicts cascade", Test: "rounds of race with ties by number over rounds with ties by lot, of the same grid in " +
			"lexicographic order, more than 1", compute: func() (finding, error) {
			return overRounds("", func(r func(margin uint32, numbered bool) (int, int, error)) (a, b int, err error) {
				if a, _, err = r(8, true); err == nil {
					b, _, err = r(8, false)
				}
				return a, b, err
			})
		}},
		{Section: "5.1", Says: "reductions at the boundary of the complex, which its cost prefers, leave boundaries of " +
			"cells short, others do not", Test: "the longest boundary in any order, with a margin of 10⁹, over the longest " +
			"with one of 8, of the same grid, more than 1", compute: func() (finding, error) {
			return overRounds("", func(r func(margin uint32, numbered bool) (int, int, error)) (a, b int, err error) {
				if _, a, err = r(1e9, false); err == nil {
					_, b, err = r(8, false)
				}
				return a, b, err
			})
		}},
		{"6.1", "the construction of the reducible complex takes longest, then the reductions",
			"one core: faces and lists take more than the reductions", func(n numbers) finding {
				s := each(n, func(l Line, _ int, _ Row) (float64, bool) { return building(l) / reducing(l), reducing(l) > 0 })
				return s.finding(s.lo > 1, " times as long")
			}, []string{"reductions"}, nil, nil},
		{"6.1", "the reduction step is up to 10.7 times as fast with 16 threads on 8 cores",
			"reductions of one core over those in a part for each of the run's threads, somewhere 10.7",
			func(n numbers) finding {
				s := faster(n, reducing)
				return s.finding(s.hi >= 10.7, " times")
			}, []string{"partitions"}, nil, nil},
		{"abstract, 6.1", "all of it is up to 4.9 times as fast with 16 threads on 8 cores, 7.2 with 32 cores",
			"one core over a part for each of the run's threads, somewhere 4.9", func(n numbers) finding {
				s := faster(n, whole)
				return s.finding(s.hi >= 4.9, " times")
			}, []string{"partitions"}, nil, nil},
		{"6.1", "the construction of the reducible complex is up to 8.76 times as fast with 16 threads",
			"none: parts here are cut from one complex", none, []string{race}, nil, nil},
		{"6.2", "times vary over different runs of one data set, because the algorithm draws random numbers",
			"the longest over the shortest of 20 runs more than 1", func(n numbers) finding {
				s := published(n, func(r Row) float64 { return printed(r, "max") / printed(r, "min") })
				return s.finding(s.lo > 1, "")
			}, []string{race}, nil, nil},
		{"6.2", "the average is between the shortest and the longest",
			"the average over the shortest, and the longest over the average, at least 1", func(n numbers) finding {
				s := published(n, func(r Row) float64 {
					return min(printed(r, "avg")/printed(r, "min"), printed(r, "max")/printed(r, "avg"))
				})
				return s.finding(s.lo >= 1, "")
			}, []string{race}, nil, nil},
		{"6.2", "40 times as fast as its sequential reductions for SYNTH and POST", "none: no sequential time is printed",
			none, []string{race}, nil, nil},
		{"6.2", "up to 4.5 times as fast as REDHOM with all its engines", "none: no time of REDHOM is printed", none,
			[]string{race}, nil, nil},
		{"6.2", "less time than REDHOM takes to construct the simplicial complex alone, in all cases",
			"none: no time of REDHOM is printed", none, []string{race}, nil, nil},
	}
}

// overRounds divides two numbers of races on a grid in an order. A race has a margin, breaks ties
// by cell number or by lot, and returns its rounds and the longest boundary of a cell.
func overRounds(order string, two func(race func(margin uint32, numbered bool) (rounds, longest int, err error)) (a,
	b int, err error)) (finding, error) {
	n, err := simplicial.ParseName("kuhn/shape=12x12x12/cavities=20" + order)
	if err != nil {
		return finding{}, err
	}
	c, err := n.Open()
	if err != nil {
		return finding{}, err
	}
	a, b, err := two(func(margin uint32, numbered bool) (int, int,
		error) {
		return reductions.Rounds(c, margin, numbered)
	})
	return finding{a > b, fmt.Sprintf("%d over %d", a, b), 1, 1}, err
}
