// Package gate decides whether a candidate program is slower than a base, and whether it still
// gives the same answers. The unit of replication is the process: in each block every cell is run
// by fresh processes of both programs in a mirrored order, so slow drift cancels. The block is one
// observation, the logarithm of the ratio of their quick calls. A third arm runs the base against
// itself and measures the noise of the machine. The package reads records only; its caller starts
// the processes.
package gate

import (
	"context"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// Schema is the version of a Result as JSON (gate-1.schema.json).
const Schema = "eccbench/gate/1"

// A Cell is one implementation on one input in one scope.
type Cell struct {
	Workload string      `json:"workload"`
	Impl     string      `json:"impl"`
	Input    string      `json:"input"`
	Scope    bench.Scope `json:"scope"`
	// Effect is the least change in time that matters, as a share: 0.05.
	Effect float64 `json:"effect"`
}

// A Protocol is how each process measures. Stored results are compared only
// under an equal one.
type Protocol struct {
	Blocks     int           `json:"blocks"`
	Threads    int           `json:"threads"`
	Device     string        `json:"device"` // which accelerator, "" for the first
	Hot        bool          `json:"hot"`
	MaxTime    time.Duration `json:"max_time"` // timed, of each process
	MaxSamples int           `json:"max_samples"`
	TimeLimit  time.Duration `json:"time_limit"` // of each phase of a process
}

// A Side is which program a process runs.
type Side string

// The sides. Again is the base in the arm that compares it with itself.
const (
	Base      Side = "base"
	Candidate Side = "candidate"
	Again     Side = "again"
)

// Measure runs one cell by a fresh process of a side's program and returns what
// it recorded. An error says that the process failed as a whole: it could not be
// started, was killed at its limit, or wrote no results that can be read.
type Measure func(ctx context.Context, side Side, c Cell) (bench.Records, error)

// A Gate is one comparison of two programs.
type Gate struct {
	Protocol Protocol
	Cells    []Cell
	Seed     uint64 // of the order
	Measure  Measure
	// Baseline takes the base's place: its processes ran before. Nil when the
	// base runs beside the candidate.
	Baseline *Baseline
	// Alone measures the base alone, for a Baseline.
	Alone bool
	// Progress is told before each process how many of how many are done.
	Progress func(done, total int, side Side, c Cell)
}

// A Process is what became of one process, in the order in which they ran.
type Process struct {
	Round   int           `json:"round"` // 1, or 2 when a flag is measured once more
	Block   int           `json:"block"`
	Cell    int           `json:"cell"` // index into the result's cells
	Side    Side          `json:"side"`
	Status  verify.Status `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	Seconds float64       `json:"seconds,omitempty"` // median of its samples
	// Quick is the lower decile of its samples: the time of a call that nothing
	// else disturbed. What else runs on a machine only adds to a call, and on a
	// shared one it hits so many that it moves the median.
	Quick     float64  `json:"quick,omitempty"`
	Samples   int      `json:"samples,omitempty"`
	Allocated *int64   `json:"allocated,omitempty"`
	Launches  *int64   `json:"launches,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	// Repeated says that the process does not count, because it was IMPLAUSIBLE
	// and another was run in its place: a ceiling that something else slowed down
	// makes any program look too fast. A second in a row counts.
	Repeated bool `json:"repeated,omitempty"`

	digests   map[string]string // of its answers, by input
	tolerant  bool              // they may differ within limits
	measures  []verify.Measure
	bounded   bool // held to a ceiling
	reproduce string
}

// A Program is one of the two that are compared.
type Program struct {
	Name   string `json:"name"` // as it was given
	Commit string `json:"commit"`
	SHA256 string `json:"sha256"`
	Go     string `json:"go"`
}

// A Result is a gate's outcome, whole or partial.
type Result struct {
	Schema      string        `json:"schema"`
	Time        time.Time     `json:"time"`
	Argv        []string      `json:"argv,omitempty"`
	Verdict     Verdict       `json:"verdict"`
	Reason      string        `json:"reason"`
	Exit        int           `json:"exit"`
	Interrupted bool          `json:"interrupted,omitempty"`
	Confirms    string        `json:"confirms,omitempty"` // fingerprint of the machine whose flags are measured again
	Seed        uint64        `json:"seed"`
	Elapsed     float64       `json:"elapsed"` // seconds
	Base        Program       `json:"base"`
	Candidate   Program       `json:"candidate"`
	Stored      *time.Time    `json:"stored,omitempty"` // when the base was measured, where it is a baseline
	Machine     bench.Machine `json:"machine"`
	Fingerprint string        `json:"fingerprint"`
	Protocol    Protocol      `json:"protocol"`
	Cells       []CellResult  `json:"cells"`
	Processes   []Process     `json:"processes"`
}

// A CellResult is what was found about one cell.
type CellResult struct {
	Cell
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason,omitempty"`
	// Change is of the candidate's time over the base's, and Noise what the base
	// over itself seems to change: what can be due to the machine alone.
	Change *Estimate `json:"change,omitempty"`
	Noise  *Estimate `json:"noise,omitempty"`
	// Medians is the change in the processes' median calls. It flags nothing, but
	// where it is more than the effect, and some slowdown for certain, nothing passes: a slowdown of most
	// calls that leaves the quickest tenth alone shows here alone.
	Medians *Estimate `json:"medians,omitempty"`
	// Slow is the change in the slower one of a block's two processes. It flags nothing
	// either: a program that is slower in some of its processes shows here alone.
	Slow *Estimate `json:"slow,omitempty"`
	// Second is of the fresh run that measured a flagged cell once more, and Both
	// of the two runs together.
	Second *Estimate `json:"second,omitempty"`
	Both   *Estimate `json:"both,omitempty"`
	// Between is the standard deviation between processes of one program that ran
	// in one block, as a share of their time.
	Between float64 `json:"between_processes,omitempty"`
	// Settle is about how many blocks would settle what is inconclusive, 0 when
	// none would or it is not.
	Settle    int      `json:"blocks_to_settle,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Reproduce string   `json:"reproduce,omitempty"`
	Device    string   `json:"device,omitempty"`
}

// An Estimate is of a change in time as a share: 0.05 takes 5 % longer. Each of
// Lo and Hi bounds it with 95 % confidence, both with 90 %; they are absent
// where the blocks are too few. Slower and Faster are the exact p-values of no
// change beyond the effect in that direction, adjusted over the cells.
type Estimate struct {
	Blocks int      `json:"blocks"`
	Change float64  `json:"change"`
	Lo     *float64 `json:"lo,omitempty"`
	Hi     *float64 `json:"hi,omitempty"`
	Slower float64  `json:"p_slower"`
	Faster float64  `json:"p_faster"`
	// Logs are the blocks' log ratios, from which all this follows.
	Logs []float64 `json:"logs"`
}

// A Decision is what a cell comes to.
type Decision string

// The decisions.
const (
	Same         Decision = "SAME"         // within ± the effect
	Improved     Decision = "IMPROVED"     // faster by more than the effect
	Regression   Decision = "REGRESSION"   // slower by more than the effect, or more bytes or launches
	Inconclusive Decision = "INCONCLUSIVE" // neither can be said
	Wrong        Decision = "WRONG"        // a wrong answer
	Changed      Decision = "CHANGED"      // another answer than the base's
	Failed       Decision = "FAILED"       // the candidate crashed, hung, or gave no result
	NotRun       Decision = "SKIPPED"      // neither program runs it here
	Measured     Decision = "MEASURED"     // of the base alone
)

// A Verdict is what the whole gate comes to.
type Verdict string

// The verdicts.
const (
	Pass           Verdict = "PASS"
	IsRegression   Verdict = "REGRESSION"
	IsWrong        Verdict = "WRONG"
	IsFailed       Verdict = "FAILED"
	IsInconclusive Verdict = "INCONCLUSIVE"
	Stored         Verdict = "STORED" // the base alone was measured
)

// Exit is the exit code of a verdict.
func (v Verdict) Exit() int {
	switch v {
	case Pass, Stored:
		return 0
	case IsRegression:
		return 10
	case IsWrong:
		return 11
	case IsFailed:
		return 12
	}
	return 13
}
