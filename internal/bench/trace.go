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
