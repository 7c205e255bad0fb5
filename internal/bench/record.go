package bench

import (
	"time"

	"eccbench/internal/peers"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// Schema is the version of the records. A reader refuses any other.
const Schema = "eccbench/1"

// The kinds of record.
const (
	KindRun  = "run"
	KindCell = "cell"
)

// A RunRecord says where, when and how the cells that name it were measured.
type RunRecord struct {
	Schema  string    `json:"schema"`
	Kind    string    `json:"kind"` // KindRun
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Argv    []string  `json:"argv"`
	Seed    uint64    `json:"seed"`
	Binary  Binary    `json:"binary"`
	Machine Machine   `json:"machine"`
}

// Binary identifies the program that measured.
type Binary struct {
	Commit string `json:"commit"` // revision of the source, "unknown" when the build did not record it
	SHA256 string `json:"sha256"` // of the file that the code is in: the executable, or the library that it only calls
	Go     string `json:"go"`     // toolchain version
	OS     string `json:"os"`
	Arch   string `json:"arch"` // with its level: "amd64/v1"
}

// Machine describes the host. What could not be read is "n/a" or 0.
type Machine struct {
	Host        string     `json:"host"`
	CPU         string     `json:"cpu"`
	Cores       int        `json:"cores"` // that the process may use
	Caches      []string   `json:"caches"`
	Governor    string     `json:"governor"`
	Memory      int64      `json:"memory"` // bytes
	CgroupCPU   string     `json:"cgroup_cpu"`
	CgroupBytes int64      `json:"cgroup_memory"` // 0 for no limit
	Load        [3]float64 `json:"load"`
	Kernel      string     `json:"kernel"`
	// Devices are the accelerators, each in one line: name, driver, clocks.
	Devices []string `json:"devices,omitempty"`
}

// A CellRecord is one implementation on one input in one process. Sample i is
// of input i mod len(Inputs).
type CellRecord struct {
	Schema   string `json:"schema"`
	Kind     string `json:"kind"` // KindCell
	Run      string `json:"run"`
	Workload string `json:"workload"`
	Impl     string `json:"impl"`
	Where    string `json:"where"` // as in About
	Input    string `json:"input"`
	Setting
	Process int  `json:"process"` // 0, 1, … of the processes that repeat the cell
	Cost    Cost `json:"cost"`

	verify.Verdict

	Device  string   `json:"device,omitempty"`  // the accelerator, or the kinds of several, in one line
	UUIDs   []string `json:"uuids,omitempty"`   // of the accelerators that the cell ran on
	Flags   []string `json:"flags,omitempty"`   // what a reader should know beside the number
	Sensors []string `json:"sensors,omitempty"` // what each device's showed before the first sample, then after the last
	Inputs  []string `json:"inputs,omitempty"`  // the inputs that rotated through the timed calls
	Digests []string `json:"digests,omitempty"` // of the first answers to Inputs
	// Calls is how many calls gave an answer that was judged, and Differing how many of
	// those gave other bytes than the first one about the same input.
	Calls     int `json:"calls,omitempty"`
	Differing int `json:"differing,omitempty"`
	// Tolerant says that two right answers may differ within limits, so that digests do
	// not tell whether answers agree.
	Tolerant bool           `json:"tolerant,omitempty"`
	Samples  []float64      `json:"samples,omitempty"` // seconds of each timed call, in order
	Seconds  *stats.Summary `json:"seconds,omitempty"` // of Samples
	// Wall is the median of what the host's clock says of the same calls, copies and
	// waiting included, where Samples are by a device's events; else 0.
	Wall float64 `json:"wall,omitempty"`
	// Peer is the program from outside that answered; nil for our own code. Floor is the seconds of
	// a round trip to it without work.
	Peer  *peers.Stamp `json:"peer,omitempty"`
	Floor float64      `json:"floor,omitempty"`
	// Ceiling is the rate of the ceiling row on the same input in items per
	// second, 0 when there is none.
	Ceiling float64            `json:"ceiling,omitempty"`
	Spans   map[string]float64 `json:"spans,omitempty"` // seconds of the parts of one call, summed over cores
	// Timeline is when a device did the parts of one call, beside each other.
	Timeline []Interval `json:"timeline,omitempty"`
	// Allocated is the bytes that one call allocates on the host's heap, and
	// Launches the kernels that it launches; nil where they were not counted.
	Allocated *int64  `json:"allocated,omitempty"`
	Launches  *int64  `json:"launches,omitempty"`
	Setup     float64 `json:"setup,omitempty"`      // seconds to bind the implementation to the inputs
	Startup   float64 `json:"startup,omitempty"`    // seconds to open a device and bind the implementation to the first input
	Checked   float64 `json:"checked,omitempty"`    // seconds that verification took
	PeakRSS   int64   `json:"peak_rss,omitempty"`   // bytes of the worker, shared inputs included
	OwnMemory int64   `json:"own_memory,omitempty"` // the most bytes of the worker's own, shared inputs not included, sampled
	// DeviceMemory is the most bytes that buffers took on the devices, those of all
	// rotating inputs together, without what empties the caches; 0 where it is not known.
	DeviceMemory int64     `json:"device_memory,omitempty"`
	Time         time.Time `json:"time"`
}

// Failed reports whether the cell's worker died, or was stopped at a limit.
func (c CellRecord) Failed() bool { return c.Status == verify.Crashed || c.Status == verify.Timeout }

// Key identifies the cell among those of one program on one machine.
func (c CellRecord) Key() CellKey {
	return CellKey{c.Workload, c.Impl, c.Input, c.Setting, c.Process}
}

// A CellKey is what makes two records of one program on one machine the same cell
// measured twice.
type CellKey struct {
	Workload, Impl, Input string
	Setting
	Process int
}

// Rate is the median rate in items per second with its interval, and whether
// the cell has one.
func (c CellRecord) Rate() (median, lo, hi float64, ok bool) {
	if c.Seconds == nil || c.Seconds.Median <= 0 {
		return 0, 0, 0, false
	}
	n := float64(c.Cost.Items)
	return n / c.Seconds.Median, n / c.Seconds.Hi, n / c.Seconds.Lo, true
}
