package bench

import (
	"slices"
	"sync"
	"time"
)

// A Trace collects how long the named parts of one Do took. Time belongs to the
// runner: implementations name their parts and never read a clock. A nil Trace
// collects nothing, and a Trace is safe for concurrent use.
type Trace struct {
	mu       sync.Mutex
	spans    map[string]time.Duration
	timeline []Interval
	noted    int // intervals, those of calls that were added too
}

// An Interval is one time that a part of a Do took, in seconds from its start. The
// parts of one name do not overlap each other.
type Interval struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Interval notes a part of the Do that another clock than the host's has measured,
// such as a device's.
func (t *Trace) Interval(name string, from, to time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timeline = append(t.timeline, Interval{name, from.Seconds(), to.Seconds()})
	t.noted++
}

// Noted is how many intervals were noted, in the calls that Sum added as well.
func (t *Trace) Noted() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.noted
}

// Sum adds the parts of a call that this one makes many of. The intervals of each begin
// at its own start and make no timeline together, so that their lengths are added.
func (t *Trace) Sum(one *Trace) {
	for name, d := range one.spans {
		t.Add(name, d)
	}
	for _, i := range one.timeline {
		t.Add(i.Name, time.Duration((i.To-i.From)*1e9))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noted += one.noted
}

// Timeline is the intervals that were noted, in order.
func (t *Trace) Timeline() []Interval {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.timeline)
}

// Span starts a part and returns the function that ends it. The parts of one
// name add up, over goroutines too.
func (t *Trace) Span(name string) (end func()) {
	if t == nil {
		return func() {}
	}
	start := time.Now()
	return func() {
		t.Add(name, time.Since(start))
	}
}

// Add adds to a part what a device's own events say that it took, or takes it off
// when it is negative.
func (t *Trace) Add(name string, d time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spans == nil {
		t.spans = map[string]time.Duration{}
	}
	t.spans[name] += d
}

// Spans is the time of each part in seconds, summed over goroutines.
func (t *Trace) Spans() map[string]float64 {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.spans) == 0 {
		return nil
	}
	s := make(map[string]float64, len(t.spans))
	for name, d := range t.spans {
		s[name] = d.Seconds()
	}
	return s
}
