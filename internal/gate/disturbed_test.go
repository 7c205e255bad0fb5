package gate

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
)

// On a shared machine most calls of most processes are disturbed; the quickest calls still show a
// change.
func TestDisturbedCalls(t *testing.T) {
	for slow, want := range map[float64]Verdict{0: Pass, 0.05: IsRegression} {
		count := map[Verdict]int{}
		for seed := range uint64(50) {
			w := &world{noise: 0.01, slow: map[Side]float64{Candidate: slow}}
			w.alter = func(_ Side, c *bench.CellRecord) {
				s := c.Samples[0]
				c.Samples = nil
				hit := 0.3 + 0.5*w.rng.Float64() // of the calls of this process
				for range 40 {
					call := s * (1 + 0.01*w.rng.ExpFloat64())
					if w.rng.Float64() < hit {
						call += s * w.rng.ExpFloat64()
					}
					c.Samples = append(c.Samples, call)
				}
			}
			count[run(t, w, seed, cells(1, 0.03), nil).Verdict]++
		}
		if count[want] < 45 {
			t.Errorf("slower by %g: %v", slow, count)
		}
	}
}

// A slowdown that spares a fifth of the calls does not pass.
func TestSlowMedians(t *testing.T) {
	w := &world{noise: 0.005}
	w.alter = func(s Side, c *bench.CellRecord) {
		base := c.Samples[0]
		c.Samples = nil
		for i := range 40 {
			call := base
			if s == Candidate && i%5 != 0 {
				call *= 1.2
			}
			c.Samples = append(c.Samples, call)
		}
	}
	r := run(t, w, 1, cells(2, 0.05), nil)
	if c := r.Cells[0]; r.Verdict != IsInconclusive || c.Decision != Inconclusive || !strings.Contains(c.Reason, "the median call is slower (+2") && !strings.Contains(c.Reason, "the median call is slower (+19") {
		t.Errorf("%s, %s: %s", r.Verdict, c.Decision, c.Reason)
	}
}

// A candidate with some slower processes rarely passes, although the faster of two processes
// counts.
func TestSlowProcesses(t *testing.T) {
	for share, most := range map[float64]int{0.2: 15, 0.33: 6, 0.5: 1} {
		passes := 0
		for seed := range uint64(20) {
			w := &world{noise: 0.01}
			w.alter = func(s Side, c *bench.CellRecord) {
				if s == Candidate && w.rng.Float64() < share {
					for i := range c.Samples {
						c.Samples[i] *= 10
					}
				}
			}
			if r := run(t, w, seed, cells(1, 0.05), nil); r.Verdict == Pass {
				passes++
			}
		}
		if passes > most {
			t.Errorf("10 times as slow in %g of its processes: %d of 20 gates pass, want at most %d", share, passes, most)
		}
	}
}

// Quick calls are compared with the ceiling like median calls, so answering some calls from memory
// fails.
func TestSomeAnswersFromMemory(t *testing.T) {
	for quick, want := range map[float64]Verdict{0.4: IsFailed, 0.6: Pass} {
		w := &world{noise: 0.001}
		w.alter = func(s Side, c *bench.CellRecord) {
			c.Cost.Items, c.Ceiling = 1000, 1000 // a second for what takes a second
			c.Samples = []float64{1, 1, 1}
			if s == Candidate {
				c.Samples[1] = quick
			}
		}
		r := run(t, w, 1, cells(1, 0.05), nil)
		if c := r.Cells[0]; r.Verdict != want || want == IsFailed && !strings.Contains(c.Reason, "a tenth of its calls are 2.5 times as fast") {
			t.Errorf("%v: %s, %s: %s", quick, r.Verdict, c.Decision, c.Reason)
		}
	}
}
