package runner

import (
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/peers"
	"eccbench/internal/verify"
)

// A Task is what a worker process is told to do, as JSON on its standard input.
// The worker stops when its standard input ends. File 3 is the pipe for events;
// then come one file for each of Inputs to write its answer to, one for each to
// map when Shared, and one for each with the witness's answer when Witness is
// not empty.
type Task struct {
	Workload   string           `json:"workload"`
	Impl       string           `json:"impl"`
	Inputs     []string         `json:"inputs"`
	Conditions bench.Conditions `json:"conditions"`
	Peer       *peers.Peer      `json:"peer,omitempty"` // the implementation, where it is from outside
	Shared     bool             `json:"shared"`
	Extents    []extent         `json:"extents,omitempty"` // of the shared inputs
	Witness    string           `json:"witness"`           // who gave the answers in the witness files
	// Sampling says how long to time; nil answers once and only verifies.
	Sampling *Sampling     `json:"sampling"`
	Budget   time.Duration `json:"budget"` // for verification, all inputs together
	Cores    int           `json:"cores"`  // for verification; an implementation has Conditions.Threads
}

// An extent is how a shared file is mapped: whole, or from a place on again and again
// until it is so long. The zero extent is of a file that is mapped as it is.
type extent struct {
	From int64 `json:"from"`
	Size int64 `json:"size"`
}

// extent is that of a shared input.
func (t Task) extent(i int) extent {
	if i < len(t.Extents) {
		return t.Extents[i]
	}
	return extent{}
}

// Sampling says when to stop timing: at the target once there are MinSamples,
// and anyway after MaxSamples or MaxTime. Every input is timed at least once.
type Sampling struct {
	Target     float64       `json:"target"` // half-width of the interval of the median, as a share of it
	MinSamples int           `json:"min_samples"`
	MaxSamples int           `json:"max_samples"`
	MaxTime    time.Duration `json:"max_time"`
	WarmUp     time.Duration `json:"warm_up"` // calls before the first sample take this long, or with what is between them five times as long
}

// DefaultSampling stops at ±1 % with at least 10 samples, 200 samples or 5 s.
func DefaultSampling() Sampling {
	return Sampling{Target: 0.01, MinSamples: 10, MaxSamples: 200, MaxTime: 5 * time.Second, WarmUp: 200 * time.Millisecond}
}

// An event is a line that a worker writes to its pipe.
type event struct {
	// Phase is set when a phase begins; the parent restarts its clock.
	Phase string `json:"phase,omitempty"`
	// Safe is the record as it is before the laws that follow an independent confirmation, Law the
	// name of the one that is tried now, and Later the evidence of those before it. A worker that
	// dies there leaves the record with this evidence.
	Safe  *bench.CellRecord `json:"safe,omitempty"`
	Law   string            `json:"law,omitempty"`
	Later []verify.Evidence `json:"later,omitempty"`
	// Waiting is the verb that a peer has not answered for a while, "" once it has.
	Waiting *string `json:"waiting,omitempty"`
	// Result is set once, last.
	Result *bench.CellRecord `json:"result,omitempty"`
}

// A teller sends an event to the parent.
type teller func(event)

func (t teller) phase(name string)       { t(event{Phase: name}) }
func (t teller) safe(r bench.CellRecord) { t(event{Safe: &r}) }

// trying reports a law that is tried now, and the evidence of those before it.
func (t teller) trying(law string, before []verify.Evidence) { t(event{Law: law, Later: before}) }

// The phases of a worker, for people.
const (
	phaseSetup   = "setting up"
	phaseMeasure = "measuring"
	phaseCheck   = "verifying"
)
