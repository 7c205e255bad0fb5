package paper

import (
	"fmt"
	"io"

	"eccbench/internal/quantity"
	"eccbench/internal/report"
)

// A Claim is a paper's statement with a check. A check reads the published numbers and numbers of
// each measured implementation, or it is computed.
type Claim struct {
	Section, Says string
	Test          string // implementations whose numbers are checked
	check         func(numbers) finding
	impls         []string // whose numbers are put to the check
	// lines selects the lines of an implementation that the check reads; nil for all.
	lines func(impl string, of map[int][]Line) map[int][]Line
	// compute replaces check for a claim that needs no numbers of a table.
	compute func() (finding, error)
}

// A finding is the result of a check: whether the numbers hold, their text, and the rows that have
// numbers among the rows of the claim.
type finding struct {
	holds    bool
	say      string
	have, of int
}

// verdict returns the state of a claim. One counterexample is enough.
func (f finding) verdict() string {
	switch {
	case !f.holds:
		return "does not hold"
	case f.have < f.of:
		return "holds so far"
	}
	return "holds"
}

// numbers prints a finding's numbers, with the number of rows if some are missing.
func (f finding) numbers() string {
	if f.have < f.of {
		return fmt.Sprintf("%s, in %d of %d rows", f.say, f.have, f.of)
	}
	return f.say
}

// numbers is one side of a comparison: the published numbers, or an implementation's.
type numbers struct {
	p    Paper
	of   map[int][]Line // by table
	impl string         // "" for the published ones
}

// value returns the number of a row in a column.
func (n numbers) value(table int, r Row, column string) (float64, bool) {
	if n.impl == "" {
		v, ok := n.p.Tables[table-1].Value(r, column)
		return v.V, ok
	}
	for _, l := range n.of[table] {
		if l.Impl == n.impl && l.Series.Column == column && l.matches(r) {
			return l.Measured, true
		}
	}
	return 0, false
}

// matches reports whether a line has a row's number, verified and comparable with the published one.
func (l Line) matches(r Row) bool {
	return l.Row.Data == r.Data && l.Row.Label == r.Label && l.Measured > 0 && l.Mark == "" && l.Why == ""
}

// best returns the least time of a row in a column over implementations on the host.
func (n numbers) best(table int, r Row, column string) (float64, bool) {
	if n.impl == "" {
		return n.value(table, r, column)
	}
	least := 0.0
	for _, l := range n.of[table] {
		if l.Series.Column == column && l.matches(r) && (least == 0 || l.Measured < least) {
			least = l.Measured
		}
	}
	return least, least > 0
}

// A span is the range of n numbers, out of the rows that could have one.
type span struct {
	lo, hi float64
	n, of  int
}

// spanOf returns the span of a number of each element of a list. An element may lack it.
func spanOf[T any](list []T, value func(T) (float64, bool)) (s span) {
	for _, e := range list {
		s.take(value(e))
	}
	return s
}

// ratio returns the number of a row in one column over that in another.
func (n numbers) ratio(table int, r Row, above, below string) (float64, bool) {
	a, ok := n.value(table, r, above)
	b, ok2 := n.value(table, r, below)
	return a / b, ok && ok2 && b > 0
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

// take adds a number that may be missing.
func (s *span) take(v float64, ok bool) {
	if s.of++; ok {
		s.add(v)
	}
}

func (s span) String() string {
	lo, hi := quantity.Significant(s.lo, 3), quantity.Significant(s.hi, 3)
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}

// claimsOf returns the claims by the ID of the paper. Each paper's claims have a file of their own.
func claimsOf() map[string]func(Paper) []Claim {
	return map[string]func(Paper) []Claim{"wang2022": wang2022, "saxena2025": saxena2025, "smistad2012": smistad2012,
		"murty2013": murty2013, "cheng2014": cheng2014}
}

// Claims returns the paper's claims about its implementation, by section.
func (p Paper) Claims() []Claim {
	if claims, ok := claimsOf()[p.ID]; ok {
		return claims(p)
	}
	return nil
}

// PrintClaims prints the verdict of each claim on the published numbers and on numbers of each
// measured implementation. The map has the lines of each table.
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
