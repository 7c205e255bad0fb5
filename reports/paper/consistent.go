package paper

import (
	"fmt"
	"math"

	"eccbench/internal/quantity"
)

// A Finding is a printed number that contradicts the numbers around it, for every rounding.
type Finding struct {
	Table  int
	Row    Row
	Column Column
	Say    string // the printed number, and the one that follows from the others
}

// String returns the number's name and its contradiction.
func (f Finding) String() string {
	return fmt.Sprintf("table %d, %s %s, %s: %s", f.Table, f.Row.Data, f.Row.Label, f.Column.What, f.Say)
}

// Findings derives numbers from a paper's other numbers and lists the contradictions. Speed-ups,
// averages and throughputs are quotients; sizes follow from shapes, types and counts. A printed
// number represents all numbers that round to it.
func (p Paper) Findings() []Finding {
	var all []Finding
	for _, t := range p.Tables {
		for _, r := range t.Rows {
			for _, c := range t.Columns {
				if say := t.contradiction(r, c); say != "" {
					all = append(all, Finding{t.N, r, c, say})
				}
			}
			if r.PrintedCount != 0 {
				all = append(all, Finding{t.N, r, Column{What: "iterations"},
					fmt.Sprintf("printed %d, but overall over its average is %d", r.PrintedCount, r.Count)})
			}
		}
	}
	return all
}

// contradiction describes the fault of one number, "" for none.
func (t Table) contradiction(r Row, c Column) string {
	got, ok := t.Value(r, c.Key)
	if !ok {
		return ""
	}
	lo, hi, of := t.expected(r, c)
	if of == "" {
		return ""
	}
	// The ends of the intervals are decimals that binary numbers miss by a bit.
	slack := 1e-9 * math.Abs(hi)
	if glo, ghi := got.Interval(); glo <= hi+slack && ghi >= lo-slack {
		return ""
	}
	between := quantity.Significant(lo/got.scale, 4)
	if hi > lo {
		between += " to " + quantity.Significant(hi/got.scale, 4)
	}
	return fmt.Sprintf("printed %s, but %s is %s", got.Printed, of, between)
}

// expected returns the range of a number and its derivation, "" if it has none.
func (t Table) expected(r Row, c Column) (lo, hi float64, of string) {
	if c.Unit == "B" {
		n := float64(r.Bytes() * r.Times())
		return n, n, fmt.Sprintf("%d × %s of %s", r.Times(), r.Shape, r.Type)
	}
	if len(c.Derived) != 2 {
		return 0, 0, ""
	}
	alo, ahi, a, ok := t.operand(r, c.Derived[0])
	blo, bhi, b, ok2 := t.operand(r, c.Derived[1])
	if !ok || !ok2 {
		return 0, 0, ""
	}
	lo, hi = alo/bhi, math.Inf(1)
	if blo > 0 {
		hi = ahi / blo
	}
	return lo, hi, a + " over " + b
}

func (t Table) operand(r Row, key string) (lo, hi float64, name string, ok bool) {
	switch key {
	case "voxels":
		n := float64(r.Voxels())
		return n, n, fmt.Sprintf("%d voxels", r.Voxels()), true
	case "count":
		n := float64(r.Times())
		return n, n, fmt.Sprint(r.Times()), true
	}
	v, ok := t.Value(r, key)
	lo, hi = v.Interval()
	return lo, hi, v.Printed, ok
}
