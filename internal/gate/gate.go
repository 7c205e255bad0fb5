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
	// Effect is the least relevant change in time as a share, such as 0.05.
	Effect float64 `json:"effect"`
}

// A Protocol holds the settings of each process. Stored results are comparable only under an equal
// one.
type Protocol struct {
	Blocks     int           `json:"blocks"`
	Threads    int           `json:"threads"`
	Device     string        `json:"device"` // the accelerator, "" for the first
	Hot        bool          `json:"hot"`
	MaxTime    time.Duration `json:"max_time"` // of sampling, for each process
	MaxSamples int           `json:"max_samples"`
	TimeLimit  time.Duration `json:"time_limit"` // of each phase of a process
}

// A Side selects the program of a process.
type Side string

// The sides. Again is the base in the arm that compares it with itself.
const (
	Base      Side = "base"
	Candidate Side = "candidate"
	Again     Side = "again"
)

// Measure runs one cell by a fresh process of a side's program and returns its records. All
// processes of a block run on the same cores. An error means that the whole process failed: it did
// not start, was killed at its limit, or wrote no readable results.
type Measure func(ctx context.Context, side Side, c Cell, block int) (bench.Records, error)

// A Gate is one comparison of two programs.
type Gate struct {
	Protocol Protocol
	Cells    []Cell
	Seed     uint64 // of the order
	Measure  Measure
	// Baseline replaces the base by earlier processes. It is nil if the base runs together with the
	// candidate.
	Baseline *Baseline
	// Alone measures only the base, for a Baseline.
	Alone bool
	// Progress is called before each process with the number of finished processes and their total.
	Progress func(done, total int, side Side, c Cell)
}

// A Process is the result of one process. Processes are in the order in which they ran.
type Process struct {
	Round   int           `json:"round"` // 1, or 2 when a flag is measured once more
	Block   int           `json:"block"`
	Cell    int           `json:"cell"` // index into the result's cells
	Side    Side          `json:"side"`
	Status  verify.Status `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	Seconds float64       `json:"seconds,omitempty"` // median of its samples
	// Quick is the lower decile of its samples: the time of an undisturbed call. Other load on a
	// machine only prolongs calls. On a shared machine it affects enough calls to change the
	// median.
	Quick     float64  `json:"quick,omitempty"`
	Samples   int      `json:"samples,omitempty"`
	Allocated *int64   `json:"allocated,omitempty"`
	Launches  *int64   `json:"launches,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	// Repeated means that the process does not count. It was IMPLAUSIBLE, and another process ran
	// instead: a disturbed ceiling makes every program look too fast. A second one in a row counts.
	Repeated bool `json:"repeated,omitempty"`

	digests   map[string]string // of its answers, by input
	tolerant  bool              // answers may differ within limits
	measures  []verify.Measure
	bounded   bool // compared with a ceiling
	reproduce string
}

// A Program is one of the two that are compared.
type Program struct {
	Name   string `json:"name"` // as given
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
	Confirms    string        `json:"confirms,omitempty"` // fingerprint of the machine whose flags are confirmed
	Seed        uint64        `json:"seed"`
	Elapsed     float64       `json:"elapsed"` // seconds
	Base        Program       `json:"base"`
	Candidate   Program       `json:"candidate"`
	Stored      *time.Time    `json:"stored,omitempty"` // time of the measurement of a baseline
	Machine     bench.Machine `json:"machine"`
	Fingerprint string        `json:"fingerprint"`
	Protocol    Protocol      `json:"protocol"`
	Cells       []CellResult  `json:"cells"`
	Processes   []Process     `json:"processes"`
}

// A CellResult holds the findings about one cell.
type CellResult struct {
	Cell
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason,omitempty"`
	// Change is the candidate's time relative to the base's. Noise is the same for the base against
	// itself: the effect of the machine alone.
	Change *Estimate `json:"change,omitempty"`
	Noise  *Estimate `json:"noise,omitempty"`
	// Medians is the change in the processes' median calls. It flags nothing. But there is no PASS
	// if it exceeds the effect and is certainly a slowdown. It shows a slowdown of most calls that
	// does not affect the quickest tenth.
	Medians *Estimate `json:"medians,omitempty"`
	// Slow is the change in the slower of a block's two processes. It flags nothing. It shows a
	// program that is slower in some of its processes.
	Slow *Estimate `json:"slow,omitempty"`
	// Second is the change in the repeated run of a flagged cell. Both combines the two runs.
	Second *Estimate `json:"second,omitempty"`
	Both   *Estimate `json:"both,omitempty"`
	// Between is the standard deviation between processes of one program that ran
	// in one block, as a share of their time.
	Between float64 `json:"between_processes,omitempty"`
	// Settle is the approximate number of blocks to settle an inconclusive cell, or 0 if it is
	// unknown or not needed.
	Settle    int      `json:"blocks_to_settle,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Reproduce string   `json:"reproduce,omitempty"`
	Device    string   `json:"device,omitempty"`
}

// An Estimate is a relative change in time: 0.05 means 5 % longer. Lo and Hi are each a bound with
// 95 % confidence, together with 90 %; they are absent with too few blocks. Slower and Faster are
// exact p-values, adjusted over the cells. Their hypothesis is no change beyond the effect in that
// direction.
type Estimate struct {
	Blocks int      `json:"blocks"`
	Change float64  `json:"change"`
	Lo     *float64 `json:"lo,omitempty"`
	Hi     *float64 `json:"hi,omitempty"`
	Slower float64  `json:"p_slower"`
	Faster float64  `json:"p_faster"`
	// Logs are the log ratios of the blocks, from which the estimate is computed.
	Logs []float64 `json:"logs"`
}

// A Decision states how a cell's candidate compares with its base.
type Decision string

// The decisions.
const (
	Same         Decision = "SAME"         // within ± the effect
	Improved     Decision = "IMPROVED"     // faster by more than the effect
	Regression   Decision = "REGRESSION"   // slower by more than the effect, or more bytes or launches
	Inconclusive Decision = "INCONCLUSIVE" // not decidable
	Wrong        Decision = "WRONG"        // a wrong answer
	Changed      Decision = "CHANGED"      // an answer that differs from the base's
	Failed       Decision = "FAILED"       // the candidate crashed, hung, or gave no result
	NotRun       Decision = "SKIPPED"      // neither program runs it here
	Measured     Decision = "MEASURED"     // of the base alone
)

// A Verdict is the result of the whole gate.
type Verdict string

// The verdicts.
const (
	Pass           Verdict = "PASS"
	IsRegression   Verdict = "REGRESSION"
	IsWrong        Verdict = "WRONG"
	IsFailed       Verdict = "FAILED"
	IsInconclusive Verdict = "INCONCLUSIVE"
	Stored         Verdict = "STORED" // only the base was measured
)

// Exit returns the exit code of a verdict.
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
