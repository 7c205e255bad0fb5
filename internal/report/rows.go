// Package report turns records into what people read: tables as text, Markdown,
// CSV and JSON, the Go benchmark format, and plots. It knows nothing about what
// was measured beyond the records.
package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// A Row is one implementation on one input: the cells of all its processes.
// Rates are in items per second and 0 when the cell has none.
type Row struct {
	Workload string        `json:"workload"`
	Impl     string        `json:"impl"`
	Where    string        `json:"where"`
	Input    string        `json:"input"`
	Class    string        `json:"class"`
	Size     string        `json:"size"`
	Items    int64         `json:"items"`
	Unit     string        `json:"unit"` // of the rates, with "/s"
	Scope    bench.Scope   `json:"scope"`
	Threads  int           `json:"threads"`
	Devices  string        `json:"devices,omitempty"`
	ISA      string        `json:"isa,omitempty"`
	Hot      bool          `json:"hot,omitempty"`
	Status   verify.Status `json:"status"`
	Reason   string        `json:"reason,omitempty"`
	Rate     float64       `json:"rate,omitempty"`
	Lo       float64       `json:"lo,omitempty"`
	Hi       float64       `json:"hi,omitempty"`
	// Ceiling is the rate as a share of the ceiling's on the same input, and
	// Speedup over the best verified CPU row of the same input and scope.
	Ceiling float64 `json:"of_ceiling,omitempty"`
	Speedup float64 `json:"speedup,omitempty"`
	// Wall is the median seconds of a call by the host's clock, where the rate is by
	// a device's events, which must be shorter.
	Wall      float64  `json:"wall,omitempty"`
	Processes int      `json:"processes"`
	Samples   int      `json:"samples"`
	Flags     []string `json:"flags,omitempty"`
	Reproduce string   `json:"reproduce,omitempty"`
}

// Rows makes the rows of a list of cells, in the order in which each row's
// first cell ended. ceiling names the workload that bounds the others.
func Rows(cells []bench.CellRecord, ceiling string) []Row {
	groups := map[bench.CellKey][]bench.CellRecord{}
	var order []bench.CellKey
	for _, c := range cells {
		key := c.Key()
		key.Process = 0
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], c)
	}
	var rows []Row
	for _, key := range order {
		rows = append(rows, row(groups[key]))
	}
	// Beside a row that may be the best, and cannot be quoted plainly, the second best
	// would flatter the others.
	best, doubtful := map[bench.CellKey]float64{}, map[bench.CellKey]float64{}
	for _, r := range rows {
		if r.Where == "cpu" && r.Workload != ceiling {
			k, of := r.peers(), doubtful
			if r.Status == verify.Verified {
				of = best
			}
			of[k] = max(of[k], r.Rate)
		}
	}
	for i, r := range rows {
		if b := best[r.peers()]; b > 0 && b >= doubtful[r.peers()] && r.Workload != ceiling {
			rows[i].Speedup = r.Rate / b
		}
	}
	return rows
}

// key is that of the row's cells, whose processes it takes together.
func (r Row) key() bench.CellKey {
	return bench.CellKey{Workload: r.Workload, Impl: r.Impl, Input: r.Input, Scope: r.Scope, Threads: r.Threads, Devices: r.Devices, ISA: r.ISA, Hot: r.Hot}
}

// peers is what rows that may be divided by each other have in common. Caches matter
// to all in scope file alone.
func (r Row) peers() bench.CellKey {
	return bench.CellKey{Workload: r.Workload, Input: r.Input, Scope: r.Scope, Threads: r.Threads, Devices: r.Devices, Hot: r.Hot && r.Scope == bench.File}
}

// severity orders the statuses for a row of several cells: the worst speaks.
func severity(s verify.Status) int {
	return slices.Index([]verify.Status{
		verify.Verified, verify.Skipped, verify.Noisy, verify.Mistrusted, verify.Unverified,
		verify.Implausible, verify.Timeout, verify.Crashed, verify.Wrong,
	}, s)
}

func row(cells []bench.CellRecord) Row {
	c := cells[0]
	r := Row{
		Workload: c.Workload, Impl: c.Impl, Where: c.Where, Input: c.Input,
		Class: c.Cost.Class, Size: c.Cost.Size, Items: c.Cost.Items, Unit: c.Cost.Unit + "/s",
		Scope: c.Scope, Threads: c.Threads, Devices: c.Devices, ISA: c.ISA, Hot: c.Hot, Processes: len(cells),
	}
	if c.ISA != "" {
		r.Flags = append(r.Flags, c.ISA)
	}
	if c.Hot {
		r.Flags = append(r.Flags, "hot")
	}
	var rates, ceilings, walls []float64
	for _, c := range cells {
		if r.Status == "" || severity(c.Status) > severity(r.Status) {
			r.Status, r.Reason, r.Reproduce = c.Status, c.Reason, c.Reproduce
		}
		for _, f := range c.Flags {
			if !slices.Contains(r.Flags, f) {
				r.Flags = append(r.Flags, f)
			}
		}
		r.Samples += len(c.Samples)
		if rate, lo, hi, ok := c.Rate(); ok {
			rates = append(rates, rate)
			r.Rate, r.Lo, r.Hi = rate, lo, hi
		}
		if c.Wall > 0 {
			walls = append(walls, c.Wall)
		}
		if c.Ceiling > 0 {
			ceilings = append(ceilings, c.Ceiling)
		}
	}
	if len(rates) > 1 { // the process is the unit of replication
		s := stats.Summarise(rates)
		r.Rate, r.Lo, r.Hi = s.Median, s.Lo, s.Hi
		r.Flags = append(r.Flags, fmt.Sprintf("p=%d", len(rates)))
	}
	if len(walls) > 0 {
		r.Wall = stats.Median(walls)
	}
	if len(ceilings) > 0 && r.Rate > 0 {
		r.Ceiling = r.Rate / stats.Summarise(ceilings).Median
	}
	if !quotable(r.Status) {
		r.Rate, r.Lo, r.Hi, r.Ceiling, r.Wall = 0, 0, 0, 0, 0
	}
	return r
}

// quotable reports whether a cell of a status may show its number at all: not
// without a verdict, and not with one that says the number means nothing.
func quotable(s verify.Status) bool {
	switch s {
	case verify.Verified, verify.Unverified, verify.Mistrusted, verify.Noisy:
		return true
	}
	return false
}

// Mark is what a number that is not plain carries.
func Mark(s verify.Status) string {
	return map[verify.Status]string{verify.Unverified: "†", verify.Mistrusted: "?", verify.Noisy: "~"}[s]
}

// rate prints the row's rate with its interval, as the half-width of its seconds' to which
// a limit is set: "0.1234 ±1.2%".
func (r Row) rate() string {
	if r.Rate == 0 {
		return "—"
	}
	s := quantity.Giga(r.Rate) + Mark(r.Status)
	if r.Lo == r.Hi {
		return s
	}
	half := (r.Rate/r.Lo - r.Rate/r.Hi) / 2 // of the seconds
	if math.IsInf(half, 0) || math.IsNaN(half) {
		return s
	}
	return fmt.Sprintf("%s ±%s%%", s, quantity.Significant(half*100, 2))
}

func percent(v float64) string {
	if v == 0 {
		return "—"
	}
	return quantity.Significant(v*100, 3) + " %"
}

func times(v float64) string {
	if v == 0 {
		return "—"
	}
	return quantity.Significant(v, 3) + "×"
}

// A section is the rows that stand in one table.
type section struct {
	title string
	rows  []Row
}

// sections groups rows by class, scope and threads.
func sections(rows []Row) []section {
	var list []section
	for _, r := range rows {
		title := fmt.Sprintf("%s, scope %s, %d threads", strings.ReplaceAll(r.Class, "/", " "), r.Scope, r.Threads)
		if r.Devices != "" {
			title += ", devices " + r.Devices
		}
		i := slices.IndexFunc(list, func(s section) bool { return s.title == title })
		if i < 0 {
			list = append(list, section{title: title})
			i = len(list) - 1
		}
		list[i].rows = append(list[i].rows, r)
	}
	return list
}
