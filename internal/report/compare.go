package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
)

// A Comparison is one implementation on one input in two results files, A and B.
type Comparison struct {
	Workload string `json:"workload"`
	Impl     string `json:"impl"`
	Input    string `json:"input"`
	Size     string `json:"size"`
	bench.Setting
	A *Row `json:"a,omitempty"` // nil where the file has no such cell
	B *Row `json:"b,omitempty"`
	// Ratio is the rate of B divided by the rate of A: above 1 if B is faster, 0 if there is no
	// ratio. Lo and Hi divide the interval of B's median by the opposite ends of A's.
	Ratio float64 `json:"ratio,omitempty"`
	Lo    float64 `json:"lo,omitempty"`
	Hi    float64 `json:"hi,omitempty"`
	// Note gives the reason why there is no ratio, or a warning about it.
	Note string `json:"note,omitempty"`
}

// A side is a row of one of the files, with its machine and the digests of its answers.
type side struct {
	Row
	machine bench.Machine
	digests map[string]string // of the answers, by input
	paired  bool
}

// Compare pairs the cells of two files. It computes a ratio only if both cells have quotable
// numbers, equal machine fingerprints and the same answers. Scope, threads, instruction set and
// cache state must also be the same. Otherwise the note gives the reason.
func Compare(a, b bench.Records) []Comparison {
	as, bs := sides(a), sides(b)
	var list []Comparison
	pair := func(x, y *side) {
		x.paired, y.paired = true, true
		list = append(list, compare(x, y))
	}
	// Cells that are equal in every setting are paired first, so that each of several scopes finds
	// its counterpart.
	match := func(same func(x, y Row) bool) {
		for _, x := range as {
			for _, y := range bs {
				if !x.paired && !y.paired && x.Workload == y.Workload && x.Impl == y.Impl && x.Input == y.Input &&
					same(x.Row, y.Row) {
					pair(x, y)
				}
			}
		}
	}
	match(func(x, y Row) bool { return x.Setting == y.Setting && x.Machine == y.Machine })
	match(func(x, y Row) bool { return x.Setting == y.Setting })
	match(func(x, y Row) bool {
		return x.Scope == y.Scope && x.Threads == y.Threads && x.ISA == y.ISA && x.Hot == y.Hot
	})
	match(func(x, y Row) bool { return x.Scope == y.Scope && x.Threads == y.Threads && x.ISA == y.ISA })
	match(func(x, y Row) bool { return x.Scope == y.Scope && x.Threads == y.Threads })
	match(func(x, y Row) bool { return x.Scope == y.Scope })
	match(func(x, y Row) bool { return true })
	for _, x := range as {
		if !x.paired {
			c := named(x.Row)
			c.A, c.Note = &x.Row, "only in A"
			list = append(list, c)
		}
	}
	for _, y := range bs {
		if !y.paired {
			c := named(y.Row)
			c.B, c.Note = &y.Row, "only in B"
			list = append(list, c)
		}
	}
	return list
}

// sides returns the rows of a file with their machines and digests.
func sides(r bench.Records) []*side {
	var list []*side
	stations := r.Stations()
	for _, row := range Rows(r, "") {
		s := &side{Row: row, digests: map[string]string{}}
		for _, c := range r.Cells {
			key := rowKey{c.Key(), stations[c.Run], c.Device}
			key.Process = 0
			if !key.meets(row.key()) {
				continue
			}
			s.machine, _ = r.Machine(c.Run)
			for i, d := range c.Digests {
				if i < len(c.Inputs) {
					s.digests[c.Inputs[i]] = d
				}
			}
		}
		list = append(list, s)
	}
	return list
}

func caches(hot bool) string {
	if hot {
		return "hot"
	}
	return "cold"
}

func named(r Row) Comparison {
	return Comparison{Workload: r.Workload, Impl: r.Impl, Input: r.Input, Size: r.Size, Setting: r.Setting}
}

func compare(x, y *side) Comparison {
	c := named(x.Row)
	c.A, c.B = &x.Row, &y.Row
	if why := incomparable(x, y); why != "" {
		c.Note = "not comparable: " + why
		return c
	}
	if x.Rate <= 0 || y.Rate <= 0 {
		var notes []string
		for i, s := range []*side{x, y} {
			if s.Rate <= 0 {
				notes = append(notes, fmt.Sprintf("%s in %c", s.Status, 'A'+i))
			}
		}
		c.Note = strings.Join(notes, ", ")
		return c
	}
	c.Ratio = y.Rate / x.Rate
	if x.Hi > 0 && y.Hi > 0 && x.Lo > 0 {
		c.Lo, c.Hi = y.Lo/x.Hi, y.Hi/x.Lo
	}
	var notes []string
	for i, s := range []*side{x, y} {
		if !s.plain() {
			notes = append(notes, fmt.Sprintf("%s in %c", s.Status, 'A'+i))
		}
		if n := s.Processes; n < stats.Fewest && x.Processes != y.Processes {
			notes = append(notes, fmt.Sprintf("%s in %c", quantity.Count(n, "process"), 'A'+i))
		}
	}
	if n := x.Processes; n < stats.Fewest && n == y.Processes {
		notes = append(notes, quantity.Count(n, "process")+" each")
	}
	c.Note = strings.Join(notes, ", ")
	return c
}

// incomparable returns the reason why the ratio of two sides is meaningless, or "".
func incomparable(x, y *side) string {
	switch {
	case x.Scope != y.Scope:
		return fmt.Sprintf("scope %s against %s", x.Scope, y.Scope)
	case x.Threads != y.Threads:
		return fmt.Sprintf("%d threads against %d", x.Threads, y.Threads)
	case x.ISA != y.ISA:
		return fmt.Sprintf("instruction set %s against %s", cmp.Or(x.ISA, "none"), cmp.Or(y.ISA, "none"))
	case x.Options != y.Options:
		return fmt.Sprintf("options %s against %s", cmp.Or(x.Options, "none"), cmp.Or(y.Options, "none"))
	case x.Hot != y.Hot:
		return fmt.Sprintf("caches %s against %s", caches(x.Hot), caches(y.Hot))
	}
	if d := x.machine.Differs(y.machine); len(d) > 0 {
		return "another machine: " + strings.Join(d, ", ")
	}
	if x.Tolerant || y.Tolerant {
		return "" // each answer was verified separately; two right answers may differ
	}
	for _, input := range slices.Sorted(maps.Keys(x.digests)) {
		if other, ok := y.digests[input]; ok && other != x.digests[input] {
			return "the answers to " + input + " differ"
		}
	}
	return ""
}
