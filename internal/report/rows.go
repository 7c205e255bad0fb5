// Package report prints records for people: tables as text, Markdown, CSV and JSON, HTML pages, the
// Go benchmark format, and plots. It uses only the records.
package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// A Row is one implementation on one input: the cells of all its processes, for one program on one
// machine. Rates are in items per second; 0 means that there is no rate.
type Row struct {
	Workload string `json:"workload"`
	Impl     string `json:"impl"`
	Where    string `json:"where"`
	Input    string `json:"input"`
	Class    string `json:"class"`
	Size     string `json:"size"`
	Items    int64  `json:"items"`
	Unit     string `json:"unit"` // of the rates, with "/s"
	bench.Setting
	Status verify.Status `json:"status"`
	Reason string        `json:"reason,omitempty"`
	// Rate is the median of the processes, and Lo and Hi bound it. With fewer than six processes
	// they are the ends of the intervals of all.
	Rate float64 `json:"rate,omitempty"`
	Lo   float64 `json:"lo,omitempty"`
	Hi   float64 `json:"hi,omitempty"`
	// Ceiling is the rate as a share of the ceiling's rate on the same input. Speedup is the rate
	// divided by the best verified CPU row of the same input and scope.
	Ceiling float64 `json:"of_ceiling,omitempty"`
	Speedup float64 `json:"speedup,omitempty"`
	// Wall is the median duration of a call in seconds by the host's clock. It is set if device
	// events determine the rate; they give a shorter time.
	Wall      float64  `json:"wall,omitempty"`
	Processes int      `json:"processes"`
	Samples   int      `json:"samples"`
	Flags     []string `json:"flags,omitempty"`
	Reproduce string   `json:"reproduce,omitempty"`
	// Measures are the largest deviations of an answer over all calls from the reference. Tolerant
	// means that answers may differ within limits.
	Measures []verify.Measure `json:"measures,omitempty"`
	Tolerant bool             `json:"tolerant,omitempty"`
	bench.Station
	Device string `json:"device,omitempty"` // the accelerator, if known
	// Peer is the external program that answered. Floor is the duration of a round trip to it in
	// seconds.
	Peer  *peers.Stamp `json:"peer,omitempty"`
	Floor float64      `json:"floor,omitempty"`
}

// Rows groups the cells of records into rows, in the order in which each row's first cell ended.
// ceiling names the workload that bounds the others.
func Rows(recs bench.Records, ceiling string) []Row {
	stations := recs.Stations()
	groups := map[rowKey][]bench.CellRecord{}
	var order []rowKey
	for _, c := range recs.Cells {
		key := rowKey{c.Key(), stations[c.Run], c.Device}
		key.Process = 0
		// A cell that failed before it opened its device joins the row of cells with one.
		if i := slices.IndexFunc(order, func(k rowKey) bool { return k.meets(key) }); i >= 0 {
			of := order[i]
			if of.device == "" && key.device != "" {
				groups[key], order[i] = groups[of], key
				delete(groups, of)
				of = key
			}
			key = of
		} else {
			order = append(order, key)
		}
		own := c.Measurement()
		isCopy := func(other bench.CellRecord) bool { return other.Measurement() == own }
		if !slices.ContainsFunc(groups[key], isCopy) {
			groups[key] = append(groups[key], c)
		}
	}
	var rows []Row
	for _, key := range order {
		r := row(groups[key])
		r.Station, r.Device = key.Station, key.device
		rows = append(rows, r)
	}
	// If the best row is not plainly quotable, a speedup over the second best would be too large.
	// Then there is no speedup.
	best, doubtful := map[rowKey]float64{}, map[rowKey]float64{}
	for _, r := range rows {
		if r.Where == "cpu" && r.Workload != ceiling && r.Peer == nil {
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

// A rowKey identifies the cells of one row.
type rowKey struct {
	bench.CellKey
	bench.Station
	device string
}

// meets reports whether two keys belong to one row. An unknown device matches any device.
func (k rowKey) meets(other rowKey) bool {
	if k.device == "" || other.device == "" {
		k.device, other.device = "", ""
	}
	return k == other
}

// key returns the key of the row's cells. A row combines all processes.
func (r Row) key() rowKey {
	return rowKey{bench.CellKey{Workload: r.Workload, Impl: r.Impl, Input: r.Input, Setting: r.Setting}, r.Station,
		r.Device}
}

// peers returns the key of rows whose rates may be divided: it includes the machine but not the
// program. Cache state matters to every row only in scope file.
func (r Row) peers() rowKey {
	k := rowKey{CellKey: bench.CellKey{Workload: r.Workload, Input: r.Input, Setting: bench.Setting{
		Scope: r.Scope, Threads: r.Threads, Devices: r.Devices, Hot: r.Hot && r.Scope == bench.File,
	}}}
	k.Machine = r.Machine
	return k
}

// severity orders the statuses for a row of several cells: the row has the worst one.
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
		Setting: c.Setting, Processes: len(cells), Peer: c.Peer, Floor: c.Floor,
	}
	if c.ISA != "" {
		r.Flags = append(r.Flags, c.ISA)
	}
	if c.Hot {
		r.Flags = append(r.Flags, "hot")
	}
	if c.Options != "" {
		r.Flags = append(r.Flags, strings.Split(c.Options, "/")...)
	}
	var rates, lows, highs, ceilings, walls []float64
	noisy := 0
	for _, c := range cells {
		if c.Status == verify.Noisy {
			noisy++
		}
		if r.Status == "" || severity(c.Status) > severity(r.Status) {
			r.Status, r.Reason, r.Reproduce = c.Status, c.Reason, c.Reproduce
		}
		for _, f := range c.Flags {
			if !slices.Contains(r.Flags, f) {
				r.Flags = append(r.Flags, f)
			}
		}
		r.Measures, r.Tolerant = verify.Worst(r.Measures, c.Measures), r.Tolerant || c.Tolerant
		r.Samples += len(c.Samples)
		if rate, lo, hi, ok := c.Rate(); ok {
			rates, lows, highs = append(rates, rate), append(lows, lo), append(highs, hi)
		}
		if c.Wall > 0 {
			walls = append(walls, c.Wall)
		}
		if c.Ceiling > 0 {
			ceilings = append(ceilings, c.Ceiling)
		}
	}
	if len(rates) > 0 {
		r.setRate(rates, lows, highs, noisy)
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

// setRate sets the rate and its interval from those of the processes; noisy is a number of processes.
func (r *Row) setRate(rates, lows, highs []float64, noisy int) {
	n, s := len(rates), stats.Summarise(rates) // the process is the unit of replication
	r.Rate, r.Lo, r.Hi = s.Median, s.Lo, s.Hi
	interval := "the interval of the median of %d processes is ±%.0f %%"
	if n < stats.Fewest {
		r.Lo, r.Hi, interval = slices.Min(lows), slices.Max(highs), "the intervals of %d processes span ±%.0f %%"
	}
	if n > 1 {
		r.Flags = append(r.Flags, fmt.Sprintf("p=%d", n))
	}
	half := r.half()
	switch {
	case n > 1 && half > verify.WidestQuoted && (r.Status == verify.Noisy || r.Status == verify.Verified):
		r.Status, r.Reason = verify.Noisy, fmt.Sprintf(interval, n, half*100)
	case n > 1 && r.Status == verify.Noisy:
		r.Reason = fmt.Sprintf("noisy in %d of %d processes; the first: %s", noisy, r.Processes, r.Reason)
	}
}

// quotable reports whether a cell with this status may show its number. Cells without a verdict may
// not, nor cells whose number is meaningless.
func quotable(s verify.Status) bool {
	switch s {
	case verify.Verified, verify.Unverified, verify.Mistrusted, verify.Noisy:
		return true
	}
	return false
}

// Mark returns the sign that follows a number that is not VERIFIED.
func Mark(s verify.Status) string {
	return map[verify.Status]string{verify.Unverified: "†", verify.Mistrusted: "?", verify.Noisy: "~"}[s]
}

// unit returns the unit of the counted items.
func (r Row) unit() string { return strings.TrimSuffix(r.Unit, "/s") }

// scale returns the common unit for the rates of some rows.
func scale(rows []Row) quantity.Scale {
	largest := 0.0
	for _, r := range rows {
		largest = max(largest, r.Rate)
	}
	return quantity.ScaleOf(largest, rows[0].unit())
}

// rate formats the row's rate with the half-width of its duration's interval: "0.1234 ±1.2%".
func (r Row) rate(in quantity.Scale) string {
	if r.Rate == 0 {
		return "—"
	}
	s := in.Format(r.Rate) + Mark(r.Status)
	if r.Lo == r.Hi {
		return s
	}
	half := r.half()
	if math.IsInf(half, 0) || math.IsNaN(half) {
		return s
	}
	return fmt.Sprintf("%s ±%s%%", s, quantity.Significant(half*100, 2))
}

// half returns the half-width of the interval of the row's duration, as a share of it.
func (r Row) half() float64 { return (r.Rate/r.Lo - r.Rate/r.Hi) / 2 }

func times(v float64) string {
	if v == 0 {
		return "—"
	}
	return quantity.Significant(v, 3) + "×"
}

// A section is the rows of one table.
type section struct {
	title string
	rows  []Row
}

// streamed reports whether large inputs force the rows into another scope than similar rows: the
// inputs do not fit in memory.
func (s section) streamed(rows []Row) bool {
	r := s.rows[0]
	return r.Scope == bench.File && slices.ContainsFunc(s.rows,
		func(r Row) bool { return slices.Contains(r.Flags, "streamed") }) &&
		slices.ContainsFunc(rows, func(o Row) bool {
			return o.Class == r.Class && o.Scope == bench.E2E &&
				o.Station == r.Station
		})
}

// measures returns the names of the rows' measures that have a column.
func (s section) measures() []string {
	var names []string
	for _, r := range s.rows {
		for _, m := range r.Measures {
			if !m.Aside && !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// measure formats a row's measure by name, with its limit.
func (r Row) measure(name string) string {
	for _, m := range r.Measures {
		if m.Name == name {
			return strings.TrimPrefix(m.String(), name+" ")
		}
	}
	return "—"
}

// sections groups rows by class, scope, threads, machine and program. It numbers machines as
// Machines does.
func sections(rows []Row) []section {
	var list []section
	var stations []bench.Station
	for _, r := range rows {
		if !slices.Contains(stations, r.Station) {
			stations = append(stations, r.Station)
		}
	}
	for _, r := range rows {
		title := fmt.Sprintf("%s, scope %s, %d threads", strings.ReplaceAll(r.Class, "/", " "), r.Scope, r.Threads)
		if r.Devices != "" {
			title += ", devices " + r.Devices
		}
		if len(stations) > 1 {
			title += fmt.Sprintf(", machine %d", slices.Index(stations, r.Station)+1)
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
