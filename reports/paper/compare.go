package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// A Line compares one implementation on one row with the published number.
type Line struct {
	Series    Series
	Row       Row
	Impl      string
	Scope     bench.Scope // of the record, "" for none
	Published Value       // zero where there is none
	Measured  float64
	Mark      string // of an unverified number, as in report's tables
	// Ratio is the speed relative to the published one, 0 if they are not comparable; Why is the
	// reason.
	Ratio float64
	Why   string
	// PublishedShare and Share are fractions of the bandwidth of the GPU's memory, or of the disk, for
	// one read of the image.
	PublishedShare, Share float64
	Source                string             // of the bytes: "generated", "stored", "real"
	Disk                  float64            // seconds of the disk's own reader for the row's bytes, 0 if unknown
	Parts                 map[string]float64 // seconds of the parts of one more call; concurrent ones by their sum
	Startup               float64
	Residual              float64       // of steps of Lanczos' method: the largest |Lx − λx|
	Status                verify.Status // "" for not run
	Note                  string        // why it was not run, or has no plain number
	Reproduce             string        // the command that shows a failure again
	Flags                 []string
}

// Absent returns the reason why a cell has no record.
type Absent func(s Series, r Row, impl string) string

// Lines compares records with the published numbers of a table. has reports whether the program has
// an implementation. An implementation that has neither a record nor code has no line.
func (p Paper) Lines(t Table, cells []bench.CellRecord, ceiling string, has func(workload, impl string) bool,
	absent Absent) []Line {
	var lines []Line
	for _, s := range p.Series(t.N) {
		for _, r := range t.Rows {
			there := false
			for _, impl := range s.Impls {
				l := Line{Series: s, Row: r, Impl: impl}
				l.Published, _ = t.Value(r, s.Column)
				switch at, ok := find(cells, s, r, impl); {
				case ok:
					l.take(cells[at], cells[:at], cells, ceiling)
				case !has(s.Workload, impl):
					continue
				default:
					l.Note = absent(s, r, impl)
				}
				l.compare(p, t)
				lines, there = append(lines, l), true
			}
			if !there { // one line for all implementations
				l := Line{Series: s, Row: r, Impl: s.Impls[0], Note: "not in this program"}
				l.Published, _ = t.Value(r, s.Column)
				l.compare(p, t)
				lines = append(lines, l)
			}
		}
	}
	sources := map[string]string{} // by row
	for _, l := range lines {
		if l.Source != "" {
			sources[l.Row.Data+l.Row.Label] = l.Source
		}
	}
	for i, l := range lines {
		if l.Source == "" { // not run: the source of the row's other lines
			lines[i].Source = sources[l.Row.Data+l.Row.Label]
		}
	}
	return lines
}

// find returns the index of the last record of a cell. If the file scope has no record, it returns
// that of the image in memory.
func find(cells []bench.CellRecord, s Series, r Row, impl string) (at int, ok bool) {
	scopes := []bench.Scope{s.Scope}
	if s.Scope == bench.File {
		scopes = append(scopes, bench.E2E)
	}
	for _, scope := range scopes {
		for at, c := range slices.Backward(cells) {
			if c.Workload == s.Workload && c.Impl == impl && c.Scope == scope && r.matches(c.Input, s.Workload) {
				return at, true
			}
		}
	}
	return 0, false
}

// take copies the number, the parts and the verdict of a record. The disk's rate comes from the
// records before it: a run measures its ceiling first, and runs on other machines may have another.
func (l *Line) take(c bench.CellRecord, before, all []bench.CellRecord, ceiling string) {
	row := report.Rows(bench.Records{Cells: []bench.CellRecord{c}}, ceiling)[0]
	l.Scope = c.Scope
	l.Status, l.Flags, l.Source, l.Note, l.Reproduce = c.Status, row.Flags, Source(c.Input), c.Reason, c.Reproduce
	if c.Status == verify.Verified {
		l.Note = ""
	}
	if row.Rate == 0 {
		return // no number is quoted without a verdict
	}
	l.Mark = report.Mark(c.Status)
	l.Parts, l.Startup = maps.Clone(c.Spans), c.Startup
	for _, i := range c.Timeline { // work of the device at the same time
		if l.Parts == nil {
			l.Parts = map[string]float64{}
		}
		l.Parts[i.Name] += i.To - i.From
	}
	each := l.Series.each(l.Row)
	for name := range l.Parts {
		l.Parts[name] *= each
	}
	if l.Series.Scope == bench.Kernel { // the parts are the host's, and include more than the kernel
		l.Parts = nil
	}
	switch part, isPart := strings.CutPrefix(string(l.Series.Quantity), string(Part)); {
	case isPart:
		l.Measured = c.Spans[part] * each
	case l.Series.Quantity == Rate:
		l.Measured = row.Rate
	case l.Series.Quantity == Call:
		l.Measured = c.Seconds.Median
	case l.Series.Quantity == Overall:
		l.Measured = (c.Seconds.Median + c.Startup) * each
	default:
		l.Measured = c.Seconds.Median * each
	}
	l.Share = row.Ceiling
	if i := slices.IndexFunc(c.Measures, func(m verify.Measure) bool { return m.Name == "residual" }); i >= 0 &&
		l.Series.Workload == Steps {
		l.Residual = c.Measures[i].Value
	}
	// The share is defined for the part of a pipeline that reads the image: other parts wait for
	// something else. Steps of a flow read memory once each, or many steps at a time. Steps of Lanczos'
	// method read a matrix.
	switch l.Series.Workload {
	case Smooth, Flow, Steps, Pairs:
		l.Share = 0
	}
	if q := l.Series.Quantity; (q == Part+"ecc" || q == Part+"gaussian") && l.Measured > 0 {
		l.Share = float64(l.Row.Voxels()) / l.Measured / bandwidth(all, ceiling, l.Row)
	}
	if l.Series.Scope == bench.File {
		l.takeDisk(c, before, ceiling, row.Rate, each)
	}
}

// takeDisk sets the share of the disk's own rate, by any implementation, in the last record of reading the input.
func (l *Line) takeDisk(c bench.CellRecord, before []bench.CellRecord, ceiling string, rate, each float64) {
	l.Share = 0
	if c.Scope != bench.File || l.Source == "generated" {
		return
	}
	for _, m := range slices.Backward(before) {
		if m.Workload != ceiling && m.Workload != BatchCeiling || m.Input != c.Input || m.Scope != c.Scope {
			continue
		}
		if disk, _, _, ok := m.Rate(); ok && m.Status == verify.Verified {
			l.Share, l.Disk = rate/disk, m.Seconds.Median*each
			if m.Seconds.Confidence < stats.Confidence {
				l.Flags = append(l.Flags, fmt.Sprintf("disk n=%d", m.Seconds.N))
			}
		}
		return
	}
}

// bandwidth returns the rate at which a device reads a row's image once, or +Inf if no record has
// it.
func bandwidth(all []bench.CellRecord, ceiling string, r Row) float64 {
	for _, m := range slices.Backward(all) {
		if m.Workload == ceiling && m.Where == "gpu" && m.Scope == bench.Kernel && m.Status == verify.Verified &&
			r.matches(m.Input, ECC) {
			if rate, _, _, ok := m.Rate(); ok {
				return rate
			}
		}
	}
	return math.Inf(1)
}

// compare computes the published share, and the ratio if the numbers are comparable.
func (l *Line) compare(p Paper, t Table) {
	published := l.Published.V > 0
	switch column := t.column(l.Series.Column); {
	case !published:
	case column.Scope == bench.File:
		reading := map[string]string{"cpu_overall": "cpu_disk", "gpu_overall": "gpu_disk", "average": "disk"}[l.Series.Column]
		if disk, ok := t.Value(l.Row, reading); ok {
			l.PublishedShare = disk.V / l.Published.V
		}
	case l.Series.Workload == Flow:
	case column.Scope == bench.Kernel:
		rate := l.Published.V
		if l.Series.Quantity != Rate {
			rate = float64(l.Row.Voxels()) / l.Published.V
		}
		l.PublishedShare = rate * float64(l.Row.Bytes()/l.Row.Voxels()) / p.Machine.Bandwidth
	}
	switch {
	case l.Series.Incomparable != "":
		l.Why = l.Series.Incomparable
	case l.Measured == 0 || !published:
	case l.Scope == bench.E2E && l.Series.Scope == bench.File:
		l.Why = "from host memory, not from a disk (--store DIR)"
	case l.Series.Scope == bench.File && l.Source == "generated":
		l.Why = "the image is made, not read from a disk (--store DIR)"
	case l.Series.Scope == bench.File && slices.Contains(l.Flags, "cached"):
		l.Why = "the file comes from memory: its file system keeps it there"
	case l.Series.Quantity == Rate:
		l.Ratio = l.Measured / l.Published.V
	default:
		l.Ratio = l.Published.V / l.Measured
	}
}

func (t Table) column(key string) Column {
	for _, c := range t.Columns {
		if c.Key == key {
			return c
		}
	}
	return Column{}
}

// number prints a measured quantity.
func (l Line) number(v float64) string {
	if l.Series.Quantity == Rate {
		return quantity.Giga(v) + " Gvox/s"
	}
	return quantity.Duration(quantity.Seconds(v))
}

// parts prints the time of the start and of each part of a call.
func (l Line) parts() string {
	var list []string
	add := func(name string, seconds float64) {
		if seconds > 0 {
			list = append(list, name+" "+quantity.Duration(quantity.Seconds(seconds)))
		}
	}
	if l.Series.Quantity == Overall {
		add("start", l.Startup)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Parts)) {
		add(name, l.Parts[name])
	}
	return strings.Join(list, ", ")
}

// flags returns the record's flags, and its scope if it differs from the series'.
func (l Line) flags() []string {
	if l.Scope != "" && l.Scope != l.Series.Scope {
		return append([]string{"scope=" + string(l.Scope)}, l.Flags...)
	}
	return l.Flags
}

// publishedParts prints the parts of a published time that the paper prints, too.
func (l Line) publishedParts(t Table) string {
	columns := map[string][]string{"cpu_overall": {"cpu_disk"}, "gpu_overall": {"overhead", "gpu_disk", "kernel"},
		"average": {"disk"}}[l.Series.Column]
	names := map[string]string{"cpu_disk": "disk", "gpu_disk": "disk", "overhead": "start and end"}
	var list []string
	for _, key := range columns {
		name := names[key]
		if name == "" {
			name = key
		}
		if v, ok := t.Value(l.Row, key); ok {
			list = append(list, name+" "+quantity.Duration(quantity.Seconds(v.V)))
		}
	}
	return strings.Join(list, ", ")
}

// data returns the name of the row's data, with a mark for a stand-in.
func (l Line) data() string {
	if _, real := l.Row.File(); real && l.Source != "real" {
		return l.Row.Data + " (stand-in)"
	}
	return l.Row.Data
}

// state describes a line that has no number.
func (l Line) state() string {
	switch {
	case l.Status != "":
		return string(l.Status)
	case l.short():
		return l.Note
	case strings.HasPrefix(l.Note, string(verify.Skipped)):
		return string(verify.Skipped)
	}
	return "not run"
}

// short reports whether the note is short enough for the number's cell.
func (l Line) short() bool { return l.Status == "" && len(l.Note) < 30 }
