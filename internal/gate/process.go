package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// observe extracts the result of a process about its cell. Without a record, the process has
// crashed.
func observe(records bench.Records, failed error, c Cell) (Process, bench.CellRecord) {
	crashed := func(format string, args ...any) (Process, bench.CellRecord) {
		return Process{Status: verify.Crashed, Reason: fmt.Sprintf(format, args...)}, bench.CellRecord{}
	}
	if failed != nil {
		return crashed("%v", failed)
	}
	i := slices.IndexFunc(records.Cells, func(r bench.CellRecord) bool {
		return r.Workload == c.Workload && r.Impl == c.Impl && r.Input == c.Input
	})
	if i < 0 {
		return crashed("no row of %s on %s in its results", c.Impl, c.Input)
	}
	r := records.Cells[i]
	if r.Scope != c.Scope && r.Status != verify.Skipped {
		return crashed("its row is in the scope %s, not %s", r.Scope, c.Scope)
	}
	if slices.ContainsFunc(r.Samples, func(s float64) bool { return !(s > 0) || math.IsInf(s, 0) }) {
		return crashed("its row has samples that are no times")
	}
	p := Process{
		Status: r.Status, Reason: r.Reason, Samples: len(r.Samples), Allocated: r.Allocated, Launches: r.Launches,
		Flags:   r.Flags,
		digests: map[string]string{}, tolerant: r.Tolerant, measures: r.Measures, reproduce: r.Reproduce,
		bounded: r.Ceiling > 0,
	}
	if len(r.Samples) > 0 {
		p.Seconds, p.Quick = stats.Median(r.Samples), stats.LowerDecile(r.Samples)
	}
	if rate := float64(r.Cost.Items) / p.Quick; p.usable() && r.Ceiling > 0 && rate > tooQuick*r.Ceiling {
		p.Status, p.Reason = verify.Implausible,
			fmt.Sprintf("a tenth of its calls are %.3g times as fast as the same bytes can be read", rate/r.Ceiling)
	}
	for k, d := range r.Digests {
		if k < len(r.Inputs) {
			p.digests[r.Inputs[k]] = d
		}
	}
	if p.usable() && len(p.digests) == 0 {
		return crashed("its row is %s without an answer", r.Status)
	}
	return p, r
}

// tooQuick limits the quickest tenth of the calls: at most this many times as fast as the ceiling's
// median call. A program that answers some calls from memory exceeds it. The ceiling has already
// limited the median in the records.
const tooQuick = 2

// usable reports whether a process has a time of verified answers. The interval of one process may
// be wide, because blocks count instead of samples.
func (p Process) usable() bool {
	return (p.Status == verify.Verified || p.Status == verify.Noisy) && p.Quick > 0
}

// A view holds the processes of one cell in one round, by block and side.
type view map[int]map[Side][]Process

func viewOf(processes []Process, round, cell int) view {
	v := view{}
	for _, p := range processes {
		if p.Round != round || p.Cell != cell || p.Repeated {
			continue
		}
		if v[p.Block] == nil {
			v[p.Block] = map[Side][]Process{}
		}
		v[p.Block][p.Side] = append(v[p.Block][p.Side], p)
	}
	return v
}

// A clock selects one of the times of a process, and one of two processes. Other load only adds
// time, and for seconds at a time. Seldom does it affect both processes of a block, so the faster
// time shows a change. Both sides gain equally.
type clock struct {
	of    func(Process) float64
	which func(a, b float64) float64
}

func faster(a, b float64) float64 { return min(a, b) }
func slower(a, b float64) float64 { return max(a, b) }

var (
	quick  = clock{func(p Process) float64 { return p.Quick }, faster}
	middle = clock{func(p Process) float64 { return p.Seconds }, faster}
	slow   = clock{func(p Process) float64 { return p.Quick }, slower}
)

// seconds returns a side's time in a block, and reports whether the block is complete.
func (v view) seconds(block int, s Side, by clock) (float64, bool) {
	list := v[block][s]
	if len(list) != 2 || !list[0].usable() || !list[1].usable() {
		return 0, false
	}
	return by.which(by.of(list[0]), by.of(list[1])), true
}

// processes returns the processes of some sides, by block.
func (v view) processes(sides ...Side) []Process {
	var list []Process
	for _, block := range slices.Sorted(maps.Keys(v)) {
		for _, s := range sides {
			list = append(list, v[block][s]...)
		}
	}
	return list
}

// pairs returns the quick calls of the two processes of one side in one block.
func (v view) pairs() [][2]float64 {
	var list [][2]float64
	for _, block := range slices.Sorted(maps.Keys(v)) {
		for _, s := range []Side{Base, Candidate, Again} {
			if _, whole := v.seconds(block, s, quick); whole {
				list = append(list, [2]float64{v[block][s][0].Quick, v[block][s][1].Quick})
			}
		}
	}
	return list
}

// A finding is a decision that needs no statistics, "" if nothing is wrong.
type finding struct {
	decision          Decision
	reason, reproduce string
	notes             []string
}

// exact returns the finding about how the processes ended, equal answers, allocations and launches.
func exact(base, candidate []Process) finding {
	if f := ends(base, candidate); f.decision != "" {
		return f
	}
	// The base's records decide whether answers may differ within limits. The candidate's own
	// records then verified its answers, as for the base.
	tolerant := slices.ContainsFunc(base, func(p Process) bool { return p.tolerant })
	f := sameAnswers(base, candidate, tolerant)
	if f.decision == "" {
		f.count(base, candidate)
	}
	return f
}

// ends returns the finding about processes that ended without an answer, or with a wrong one.
func ends(base, candidate []Process) finding {
	for _, p := range candidate {
		if p.Status == verify.Wrong {
			return finding{Wrong, p.Reason, p.reproduce, nil}
		}
	}
	refused := func(list []Process) int {
		return slices.IndexFunc(list, func(p Process) bool { return p.Status == verify.Skipped })
	}
	if b, c := refused(base), refused(candidate); b >= 0 && c >= 0 {
		return finding{decision: NotRun, reason: candidate[c].Reason}
	}
	for _, p := range candidate {
		switch p.Status {
		case verify.Crashed, verify.Timeout, verify.Skipped:
			return p.failed()
		}
	}
	return finding{}
}

// failed returns the finding about a process of the candidate without a usable result.
func (p Process) failed() finding {
	return finding{Failed, fmt.Sprintf("the candidate is %s: %s", p.Status, p.Reason), p.reproduce, nil}
}

// inconclusive returns the finding that nothing can be decided.
func inconclusive(format string, args ...any) finding {
	return finding{decision: Inconclusive, reason: fmt.Sprintf(format, args...)}
}

// sameAnswers compares the answers of the processes.
func sameAnswers(base, candidate []Process, tolerant bool) (f finding) {
	differ := func(a, b map[string]string) (input string, common int) {
		if input, common = disagree(a, b); tolerant {
			input = ""
		}
		return input, common
	}
	var answers map[string]string
	for _, p := range base {
		if !p.usable() {
			return inconclusive("the base is %s: %s", p.Status, p.Reason)
		}
		if answers == nil {
			answers = p.digests
		} else if input, _ := differ(answers, p.digests); input != "" {
			return inconclusive("the base answers %s in different ways", input)
		}
	}
	if tolerant {
		f.notes = farther(base, candidate)
	}
	bounded := slices.ContainsFunc(base, func(p Process) bool { return p.bounded })
	for _, p := range candidate {
		input, common := differ(answers, p.digests)
		switch {
		case input != "":
			return finding{decision: Changed, reason: "it answers " + input + " otherwise than the base"}
		case p.Repeated: // its time does not count
		case p.Status == verify.Verified && !p.usable():
			return finding{Failed, "the candidate has no times", p.reproduce, nil}
		case !p.usable():
			return p.failed()
		case bounded && !p.bounded:
			return finding{decision: Failed, reason: "the candidate has no ceiling, the base has"}
		case common < len(answers):
			return inconclusive("the candidate answers %d of the base's %d inputs, so not all answers can be compared",
				common, len(answers))
		}
	}
	return f
}

// count compares the allocations and the launches of a call.
func (f *finding) count(base, candidate []Process) {
	for _, e := range []struct {
		name, what string
		all        bool // that any cell counts
		count      func(Process) *int64
	}{
		{"the bytes that a call allocates", "a call allocates %d bytes, the base's %d", true,
			func(p Process) *int64 { return p.Allocated }},
		{"the kernels that a call launches", "a call launches %d kernels, the base's %d", false,
			func(p Process) *int64 { return p.Launches }},
	} {
		b, c := least(base, e.count), least(candidate, e.count)
		switch {
		case len(base) == 0 || len(candidate) == 0:
		case b == nil && c == nil:
			if e.all {
				f.notes = append(f.notes, "not counted: "+e.name)
			}
		case c == nil:
			f.decision, f.reason = Inconclusive, "the base counts "+e.name+", the candidate does not"
			return
		case b == nil:
			f.notes = append(f.notes, "the candidate alone counts "+e.name)
		case *c > *b:
			f.decision, f.reason = Regression, fmt.Sprintf(e.what, *c, *b)
			return
		case *c < *b:
			f.notes = append(f.notes, fmt.Sprintf(e.what, *c, *b))
		}
	}
}

// farther notes the measures in which the candidate's answers are worse than the base's.
func farther(base, candidate []Process) (notes []string) {
	worst := func(list []Process) (all []verify.Measure) {
		for _, p := range list {
			all = verify.Worst(all, p.measures)
		}
		return all
	}
	before := worst(base)
	for _, m := range worst(candidate) {
		if i := slices.IndexFunc(before, func(b verify.Measure) bool { return b.Name == m.Name }); i < 0 ||
			m.Share() > before[i].Share() {
			note := m.String()
			if i >= 0 {
				note += ", the base's " + strings.TrimPrefix(before[i].String(), m.Name+" ")
			}
			notes = append(notes, note)
		}
	}
	return notes
}

// disagree returns the first input with different answers of two processes, and the number of
// common inputs.
func disagree(a, b map[string]string) (input string, common int) {
	for _, in := range slices.Sorted(maps.Keys(a)) {
		if d, ok := b[in]; ok {
			common++
			if d != a[in] && input == "" {
				input = in
			}
		}
	}
	return input, common
}

// least returns the smallest count of all processes, because the runtime sometimes allocates too;
// nil if no process counted.
func least(list []Process, count func(Process) *int64) *int64 {
	var smallest *int64
	for _, p := range list {
		if n := count(p); n != nil && (smallest == nil || *n < *smallest) {
			smallest = n
		}
	}
	return smallest
}
