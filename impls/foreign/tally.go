package foreign

import (
	"fmt"
	"time"
)

// A tally sums the times of the calls of all inputs since the last flags.
type tally struct {
	calls            int
	outer            time.Duration // of the calls
	inner, explained time.Duration // of the calls whose work the peer reports: its report, and the call
	within, between  time.Duration // processor time in calls, and between them
	begun            bool          // flags was called once
	trips            []float64     // seconds of the round trips without work
	pinged           bool          // there was one since the last command
}

// Limits of the flags. leastInner is the least reported share of work in a call. mostBeyond is the
// largest share of processor time beyond the threads of the calls, and ignoredTime the ignored
// processor time of a call.
const (
	leastInner  = 0.95
	mostBeyond  = 0.1
	ignoredTime = 100 * time.Microsecond
)

// flags returns remarks on the calls since the last flags. The first ones, with start and warm-up,
// give none.
func (t *tally) flags(cores int) (list []string) {
	ignored := time.Duration(t.calls) * ignoredTime
	allowed := time.Duration(cores) * t.outer
	if share := float64(t.inner) / float64(t.explained); t.explained > 0 && share < leastInner {
		list = append(list, fmt.Sprintf("inner %.2f×", share))
	}
	if over := t.between - ignored; t.begun && float64(over) > mostBeyond*float64(t.within) {
		list = append(list, fmt.Sprintf("between calls +%.0f%%", 100*float64(over)/float64(t.within)))
	}
	if over := t.within - ignored; t.begun && float64(over) > (1+mostBeyond)*float64(allowed) {
		list = append(list, fmt.Sprintf("cores %.1f of %d", float64(over)/float64(t.outer), cores))
	}
	*t = tally{begun: true, pinged: t.pinged, inner: t.inner, explained: t.explained}
	return list
}
