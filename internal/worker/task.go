package worker

import (
	"math/bits"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/peers"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// A Task is the work for a worker process, as JSON on its standard input. The worker stops when its
// standard input ends. It receives these files before the task:
//
//   - for each input, a file for its answer
//   - if Shared, for each input, the file to map
//   - if Witness is not empty, for each input, the file with the witness's answer
type Task struct {
	Workload   string           `json:"workload"`
	Impl       string           `json:"impl"`
	Inputs     []string         `json:"inputs"`
	Conditions bench.Conditions `json:"conditions"`
	Peer       *peers.Peer      `json:"peer,omitempty"` // the implementation, if it is an external program
	Key        string           `json:"key"`            // in every event, so that no other process can write one
	Shared     bool             `json:"shared"`
	Extents    []memfile.Extent `json:"extents,omitempty"` // of the shared inputs
	Witness    string           `json:"witness"`           // the implementation that gave the witness answers
	// Sampling is the rule for timing. If nil, the worker answers once and verifies.
	Sampling *Sampling     `json:"sampling"`
	Budget   time.Duration `json:"budget"` // for verification, all inputs together
	Reply    time.Duration `json:"reply"`  // longest time of a reply of an external program
	Cores    int           `json:"cores"`  // for verification; the implementation uses Conditions.Threads
}

// name names the tasks that a worker may have one after another.
func (t Task) name() string { return t.Workload + " " + t.Impl }

// Extent returns the extent of a shared input.
func (t Task) Extent(i int) memfile.Extent {
	if i < len(t.Extents) {
		return t.Extents[i]
	}
	return memfile.Extent{}
}

// Sampling is the rule for the end of timing: at the target precision after MinSamples, and in any
// case after MaxSamples or MaxTime. Every input is timed at least once.
type Sampling struct {
	Target     float64       `json:"target"` // half-width of the median's interval, relative to the median
	MinSamples int           `json:"min_samples"`
	MaxSamples int           `json:"max_samples"`
	MaxTime    time.Duration `json:"max_time"`
	WarmUp     time.Duration `json:"warm_up"` // longest time of the calls before the first sample (see warmUp)
}

// DefaultSampling stops at ±1 % with at least 10 samples, or after 200 samples or 5 s.
func DefaultSampling() Sampling {
	return Sampling{Target: 0.01, MinSamples: 10, MaxSamples: 200, MaxTime: 5 * time.Second,
		WarmUp: 200 * time.Millisecond}
}

// LongCall is the duration from which a first call counts as a sample: the effect of a missing
// warm-up is then small.
const LongCall = time.Second

// LongFrom returns the duration from which a first call is a sample. If calls settle, one that takes
// the whole sampling time is.
func (s Sampling) LongFrom(settles bool) time.Duration {
	if settles {
		return min(LongCall, max(s.MaxTime, s.WarmUp))
	}
	return LongCall
}

// Enough reports whether sampling may stop after samples that took a total time in seconds.
func (s Sampling) Enough(samples []float64, total float64, inputs int) bool {
	switch n := len(samples); {
	case n < inputs:
		return false
	case n >= s.MaxSamples || total >= s.MaxTime.Seconds():
		return true
	case n < s.MinSamples || !s.Looks(n):
		return false
	}
	return stats.Summarise(samples).Spread() <= s.Target
}

// Looks reports whether to compute medians after n samples. They need a sort, so the number of looks grows with
// the logarithm of n: every fifth, after 200 every tenth, after 400 every twentieth, and so on.
func (s Sampling) Looks(n int) bool { return n < 5 || n%(5<<bits.Len(uint(n/200))) == 0 }

// An Event is a line that a worker sends.
type Event struct {
	Key string `json:"key"` // of the task
	// Phase is the name of a phase that begins. The parent then restarts its time limit.
	Phase string `json:"phase,omitempty"`
	// Judge is the judge of the record, should the worker die.
	Judge string `json:"judge,omitempty"`
	// Safe is the record before the optional laws, which follow an independent confirmation. Law is
	// the optional law in progress, and Later the evidence of the optional laws before it. If the
	// worker dies there, the parent keeps this record and evidence.
	Safe  *bench.CellRecord `json:"safe,omitempty"`
	Law   string            `json:"law,omitempty"`
	Later []verify.Evidence `json:"later,omitempty"`
	// Waiting is the request that a peer has not answered for a while, or "" once it has.
	Waiting *string `json:"waiting,omitempty"`
	// Result is the final record, in the last event.
	Result *bench.CellRecord `json:"result,omitempty"`
}

// A Teller sends an event to the parent.
type Teller func(Event)

func (t Teller) Phase(name string)       { t(Event{Phase: name}) }
func (t Teller) Judge(name string)       { t(Event{Judge: name}) }
func (t Teller) Safe(r bench.CellRecord) { t(Event{Safe: &r}) }

// Trying reports the law in progress and the evidence of the laws before it.
func (t Teller) Trying(law string, before []verify.Evidence) { t(Event{Law: law, Later: before}) }

// The phases of a worker, as shown to users.
const (
	PhaseSetup   = "setting up"
	PhaseMeasure = "measuring"
	PhaseCheck   = "verifying"
	PhaseClose   = "closing"
)
