package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
)

// Spans prints the named intervals of one call of each cell as text or Markdown: their number, and
// their total time over all cores. The share is of that call, or of the median call if the record
// lacks its time. For intervals on a device that overlap others, it prints the share of the overlap.
// If device events time the call, the host's time is below the table.
func Spans(w io.Writer, style Format, cells []bench.CellRecord) error {
	header := []string{"implementation", "input", "scope", "part", "times", "at work", "of the call", "beside others"}
	var lines [][]string
	for _, c := range cells {
		name := []string{c.Impl, c.Input, string(c.Scope)}
		median := 0.0
		if c.Seconds != nil {
			median = c.Seconds.Median
		}
		whole := cmp.Or(c.Traced, median)
		share := func(s, of float64) string {
			if of <= 0 {
				return "—"
			}
			return quantity.Significant(100*s/of, 3) + " %"
		}
		for _, part := range sortedNames(c.Spans) {
			s := c.Spans[part]
			lines = append(lines, append(slices.Clone(name), part, "", milliseconds(s), share(s, whole), ""))
		}
		for _, p := range partsOf(c.Timeline) {
			lines = append(lines, append(slices.Clone(name), p.name+" on the device", fmt.Sprint(p.times),
				milliseconds(p.seconds), share(p.seconds, whole), share(p.beside, p.seconds)))
		}
		if c.Wall > 0 {
			lines = append(lines, append(slices.Clone(name), "the call by the host's clock", "", milliseconds(c.Wall),
				share(c.Wall, median), ""))
		}
	}
	if len(lines) == 0 {
		return fmt.Errorf("no cell names the parts of its calls")
	}
	return Table(w, style, header, lines)
}

func milliseconds(s float64) string { return quantity.Significant(1e3*s, 4) + " ms" }

func sortedNames(m map[string]float64) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A part sums the intervals of one name.
type part struct {
	name            string
	times           int
	seconds, beside float64
}

// partsOf sums a timeline by name, in order of names. It counts the overlap of intervals of one
// name once.
func partsOf(timeline []bench.Interval) []part {
	timeline = slices.SortedStableFunc(slices.Values(timeline),
		func(a, b bench.Interval) int { return cmp.Compare(a.From, b.From) })
	var parts []part
	for _, i := range timeline {
		k, found := slices.BinarySearchFunc(parts, i.Name,
			func(p part, name string) int { return cmp.Compare(p.name, name) })
		if !found {
			parts = slices.Insert(parts, k, part{name: i.Name})
		}
		parts[k].times++
	}
	for k := range parts {
		own := covered(timeline, func(i bench.Interval) bool { return i.Name == parts[k].name })
		others := covered(timeline, func(i bench.Interval) bool { return i.Name != parts[k].name })
		for _, i := range own {
			parts[k].seconds += i.To - i.From
			for _, o := range others {
				parts[k].beside += max(0, min(i.To, o.To)-max(i.From, o.From))
			}
		}
	}
	return parts
}

// covered returns the union of the chosen intervals, which begin in order, as disjoint intervals.
func covered(timeline []bench.Interval, chosen func(bench.Interval) bool) (out []bench.Interval) {
	for _, i := range timeline {
		switch n := len(out); {
		case !chosen(i):
		case n > 0 && i.From <= out[n-1].To:
			out[n-1].To = max(out[n-1].To, i.To)
		default:
			out = append(out, i)
		}
	}
	return out
}
