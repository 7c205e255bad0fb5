package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
)

// Machines prints the machines and programs of the runs as text or Markdown, one column for each
// distinct pair. It lists the devices that the runs or their cells name. A property that no record
// contains has no line.
func Machines(w io.Writer, f Format, recs bench.Records) error {
	header, cells := machines(recs)
	return Table(w, f, header, cells)
}

// A station is a column of the table of Machines.
type station struct {
	bench.Station
	values, devices, uuids []string
	first, last            time.Time
}

// stationsOf returns the columns of the runs, and the names of their values.
func stationsOf(recs bench.Records) (columns []station, names []string) {
	add := func(list *[]string, values ...string) {
		for _, v := range values {
			if v != "" && !slices.Contains(*list, v) {
				*list = append(*list, v)
			}
		}
	}
	for _, r := range sortedRuns(recs) {
		var values []string
		names, values = card(r)
		i := slices.IndexFunc(columns, func(c station) bool { return c.Station == r.Station() })
		if i < 0 {
			columns = append(columns, station{Station: r.Station(), values: values, first: r.Time, last: r.Time})
			i = len(columns) - 1
		}
		c := &columns[i]
		if r.Time.Before(c.first) {
			c.first = r.Time
		}
		if r.Time.After(c.last) {
			c.last = r.Time
		}
		add(&c.devices, r.Machine.Devices...)
		for _, cell := range recs.Cells {
			if cell.Run == r.ID {
				add(&c.devices, cell.Device)
				add(&c.uuids, cell.UUIDs...)
			}
		}
	}
	for i, c := range columns {
		columns[i].values = append([]string{strings.Join(c.devices, "; "), strings.Join(c.uuids, ", ")}, c.values...)
	}
	return columns, append([]string{"device", "UUID"}, names...)
}

// machines returns the table of Machines.
func machines(recs bench.Records) (header []string, cells [][]string) {
	columns, names := stationsOf(recs)
	header = []string{"machine"}
	when := []string{"measured"}
	for i, c := range columns {
		header = append(header, fmt.Sprint(i+1))
		when = append(when, period(c.first, c.last))
	}
	if len(columns) == 1 {
		header[1] = ""
	}
	for i, name := range names {
		line := []string{name}
		known := false
		for _, c := range columns {
			known = known || c.values[i] != ""
			line = append(line, cmp.Or(c.values[i], "—"))
		}
		if known {
			cells = append(cells, line)
		}
	}
	return header, append(cells, when)
}

// sortedRuns returns the runs in the order of their first cells, as tables number their machines. Runs
// without cells are last.
func sortedRuns(recs bench.Records) []bench.RunRecord {
	var runs []bench.RunRecord
	added := map[string]bool{}
	add := func(id string) {
		if added[id] {
			return
		}
		added[id] = true
		for _, r := range recs.Runs {
			if r.ID == id {
				runs = append(runs, r)
			}
		}
	}
	for _, c := range recs.Cells {
		add(c.Run)
	}
	for _, r := range recs.Runs {
		add(r.ID)
	}
	return runs
}

// card returns the properties of a run's host and program by name. The value of an unknown property
// is empty.
func card(r bench.RunRecord) (names, values []string) {
	add := func(name, value string) {
		if value == "n/a" || value == "unknown" {
			value = ""
		}
		names, values = append(names, name), append(values, value)
	}
	m := r.Machine
	add("CPU", m.CPU)
	add("cores", positive(int64(m.Cores), func(n int64) string { return fmt.Sprint(n) }))
	add("caches", strings.Join(m.Caches, ", "))
	add("memory", positive(m.Memory, quantity.Bytes))
	add("cgroup memory", positive(m.CgroupBytes, quantity.Bytes))
	add("governor", m.Governor)
	add("kernel", m.Kernel)
	add("commit", r.Binary.Commit)
	program := r.Binary.Go
	if r.Binary.OS != "" { // missing in the result of a gate
		program += fmt.Sprintf(" %s/%s", r.Binary.OS, r.Binary.Arch)
	}
	add("program", program)
	return names, values
}

func positive(n int64, print func(int64) string) string {
	if n <= 0 {
		return ""
	}
	return print(n)
}

// period formats the time from the start of the first run to the start of the last, in UTC.
func period(first, last time.Time) string {
	const day, minute = "2006-01-02", "2006-01-02 15:04"
	first, last = first.UTC(), last.UTC()
	switch {
	case first.Format(minute) == last.Format(minute):
		return first.Format(minute) + " UTC"
	case first.Format(day) == last.Format(day):
		return first.Format(minute) + " to " + last.Format("15:04") + " UTC"
	}
	return first.Format(minute) + " to " + last.Format(minute) + " UTC"
}
