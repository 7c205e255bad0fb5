package foreign

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"eccbench/internal/isa"
	"eccbench/internal/peers"
)

// A tally sums the times of the calls of all inputs since the last flags.
type tally struct {
	calls            int
	outer            time.Duration  // of the calls
	inner, explained time.Duration  // of the calls whose work the peer reports: its report, and the call
	within, between  time.Duration  // processor time in calls, and between them
	begun            bool           // flags was called once
	trips            []float64      // seconds of the round trips without work
	pinged           bool           // there was one since the last command
	isa              string         // that our own implementation declares
	sampled          map[string]int // instructions by their set, "" for all
}

// The judge samples the instructions of the first calls, each about perCall times, until it has enough or has seen the
// declared ones. A first call may be long and count as a sample of time, so it is sampled rarely. mostOther is the
// largest share of another set that is written in assembly, too.
const (
	enoughSampled = 1000
	perCall       = 200
	rarely, often = 5 * time.Millisecond, 20 * time.Microsecond
	mostOther     = 0.1
)

// sample samples the instructions of a call of our own code, until the returned function is called. The process runs
// this program, so their addresses are known here.
func (t *tally) sample(p *peers.Process) (end func()) {
	if t.begun || t.isa == "" || t.sampled[t.isa] > 0 || t.sampled[""] >= enoughSampled {
		return func() {}
	}
	period := rarely
	if t.calls > 0 {
		period = min(rarely, max(often, t.outer/time.Duration(t.calls)/perCall))
	}
	stop := p.Sample(period)
	return func() {
		if t.sampled == nil {
			t.sampled = map[string]int{}
		}
		for _, at := range stop() {
			f := runtime.FuncForPC(at)
			if f == nil {
				continue
			}
			file, _ := f.FileLine(at)
			t.sampled[""]++
			for _, set := range []string{isa.AVX512, isa.AVX2} {
				if strings.HasSuffix(file, "_"+set+"_amd64.s") {
					t.sampled[set]++
				}
			}
		}
	}
}

// mismatches returns a flag for an instruction set that is declared and not used, or the other way round.
func (t *tally) mismatches() (list []string) {
	all := t.sampled[""]
	if all < enoughSampled || t.sampled[t.isa] > 0 {
		return nil
	}
	if t.isa != isa.Portable {
		list = append(list, t.isa+" not seen")
	}
	for _, set := range []string{isa.AVX512, isa.AVX2} {
		if float64(t.sampled[set]) > mostOther*float64(all) {
			list = append(list, set+" seen")
		}
	}
	return list
}

// Limits of the flags. leastInner is the least reported share of work in a call. mostBeyond is the
// largest share of processor time beyond the threads of the calls, and ignoredTime the ignored
// processor time of a call.
const (
	leastInner  = 0.95
	mostBeyond  = 0.1
	ignoredTime = 100 * time.Microsecond
)

// flags returns remarks on the calls since the last flags. The first ones, with start and warm-up, give only those on
// instructions.
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
	list = append(list, t.mismatches()...)
	*t = tally{begun: true, pinged: t.pinged, inner: t.inner, explained: t.explained}
	return list
}
