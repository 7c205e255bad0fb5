package bench

import (
	"slices"
	"sync"
	"time"
)

// A Trace collects the times of named parts of one Do. The runner owns the clock: implementations
// name their parts and never read a clock. A nil Trace collects nothing. A Trace is safe for
// concurrent use.
type Trace struct {
	mu       sync.Mutex
	spans    map[string]time.Duration
	timeline []Interval
	noted    int // number of intervals, with added calls
}

// An Interval is one period of a part of a Do, in seconds from its start. Intervals of the same
// name do not overlap.
type Interval struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Interval records a part of the Do that a device's clock measured.
func (t *Trace) Interval(name string, from, to time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timeline = append(t.timeline, Interval{name, from.Seconds(), to.Seconds()})
	t.noted++
}

// Noted returns the number of recorded intervals, including the intervals of added calls.
func (t *Trace) Noted() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.noted
}

// Sum adds the trace of one call to a trace of many calls. Each call has its own origin of time, so
// the intervals form no common timeline; Sum adds their lengths.
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

// Timeline returns a copy of the recorded intervals, in order.
func (t *Trace) Timeline() []Interval {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.timeline)
}

// Span starts a part and returns the function that ends it. Times of the same name add up, also
// over goroutines.
func (t *Trace) Span(name string) (end func()) {
	if t == nil {
		return func() {}
	}
	start := time.Now()
	return func() {
		t.Add(name, time.Since(start))
	}
}

// Do runs f as a part.
func (t *Trace) Do(name string, f func() error) error {
	defer t.Span(name)()
	return f()
}

// Add adds a time from device events to a part. A negative time is subtracted.
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

// Spans returns the time of each part in seconds, summed over goroutines.
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
