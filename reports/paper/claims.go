package paper

import (
	"fmt"
	"io"

	"eccbench/internal/quantity"
	"eccbench/internal/report"
)

// A Claim is what a paper says of its implementation, as a check on numbers: on
// the published ones, and on those of each implementation that was measured; or of its method,
// as a check that is computed.
type Claim struct {
	Section, Says string
	Test          string // the check in words
	check         func(numbers) finding
	impls         []string // whose numbers are put to the check
	// lines are those of an implementation that the check looks at; nil for all.
	lines func(impl string, of map[int][]Line) map[int][]Line
	// compute, in place of all of these, is of no numbers of a table.
	compute func() (finding, error)
}

// A finding is what a check comes to: whether the numbers hold, what they are, and of how
// many of the rows that the claim is about they are.
type finding struct {
	holds    bool
	say      string
	have, of int
}

// verdict says how far a claim holds. One counterexample is enough.
func (f finding) verdict() string {
	switch {
	case !f.holds:
		return "does not hold"
	case f.have < f.of:
		return "holds so far"
	}
	return "holds"
}

// numbers prints a finding's, and of how many rows they are where that is not all.
func (f finding) numbers() string {
	if f.have < f.of {
		return fmt.Sprintf("%s, in %d of %d rows", f.say, f.have, f.of)
	}
	return f.say
}

// numbers are those of one side: published, or an implementation's.
type numbers struct {
	p    Paper
	of   map[int][]Line // by table
	impl string         // "" for the published ones
}

// value is the number of a row in a column.
func (n numbers) value(table int, r Row, column string) (float64, bool) {
	if n.impl == "" {
		v, ok := n.p.Tables[table-1].Value(r, column)
		return v.V, ok
	}
	for _, l := range n.of[table] {
		if l.Impl == n.impl && l.Series.Column == column && l.is(r) {
			return l.Measured, true
		}
	}
	return 0, false
}

// is reports whether a line has a row's number, verified and over what the
// published one is.
func (l Line) is(r Row) bool {
	return l.Row.Data == r.Data && l.Row.Label == r.Label && l.Measured > 0 && l.Mark == "" && l.Why == ""
}

// best is the least time of a row in a column over implementations on the host.
func (n numbers) best(table int, r Row, column string) (float64, bool) {
	if n.impl == "" {
		return n.value(table, r, column)
	}
	least := 0.0
	for _, l := range n.of[table] {
		if l.Series.Column == column && l.is(r) && (least == 0 || l.Measured < least) {
			least = l.Measured
		}
	}
	return least, least > 0
}

// A span is the least and the greatest of some numbers, and of how many rows they could be.
type span struct {
	lo, hi float64
	n, of  int
}

func (s span) finding(holds bool, unit string) finding {
	return finding{holds, s.String() + unit, s.n, s.of}
}

func (s *span) add(v float64) {
	if s.n == 0 || v < s.lo {
		s.lo = v
	}
	s.hi = max(s.hi, v)
	s.n++
}

func (s span) String() string {
	lo, hi := quantity.Significant(s.lo, 3), quantity.Significant(s.hi, 3)
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}

// claimsOf are what papers say, by their IDs: each paper's in a file of its own.
func claimsOf() map[string]func(Paper) []Claim {
	return map[string]func(Paper) []Claim{"wang2022": wang2022, "saxena2025": saxena2025, "smistad2012": smistad2012, "murty2013": murty2013, "cheng2014": cheng2014}
}

// Claims are what the paper says of its implementation, section by section.
func (p Paper) Claims() []Claim {
	if claims, ok := claimsOf()[p.ID]; ok {
		return claims(p)
	}
	return nil
}

// PrintClaims prints each claim with what the published numbers say of it and
// what those of each implementation that was measured do; lines are those of each
// table.
func (p Paper) PrintClaims(w io.Writer, f report.Format, lines map[int][]Line) error {
	var cells [][]string
	for _, c := range p.Claims() {
		if c.compute != nil {
			f, err := c.compute()
			if err != nil {
				return err
			}
			cells = append(cells, []string{c.Section, c.Says, c.Test, "computed", f.verdict(), f.numbers()})
			continue
		}
		published := numbers{p: p}
		row := func(whose string, n numbers) bool {
			f := c.check(n)
			if f.have > 0 {
				cells = append(cells, []string{c.Section, c.Says, c.Test, whose, f.verdict(), f.numbers()})
			}
			return f.have > 0
		}
		row("published", published)
		measured := false
		for _, impl := range c.impls {
			n := numbers{p: p, of: lines, impl: impl}
			if c.lines != nil {
				n.of = c.lines(impl, lines)
			}
			measured = row(impl+" here", n) || measured
		}
		if !measured {
			cells = append(cells, []string{c.Section, c.Says, c.Test, "here", "not measured", "—"})
		}
	}
	if len(cells) == 0 {
		return nil
	}
	title := "What " + p.ID + " says of its implementation, as checks"
	if f == report.Markdown {
		title = "**" + title + "**"
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", title); err != nil {
		return err
	}
	return report.Table(w, f, []string{"section", "claim", "check", "whose", "verdict", "numbers"}, cells)
}
