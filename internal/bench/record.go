package bench

import (
	"time"

	"eccbench/internal/peers"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// Schema is the version of the record format. A reader rejects any other.
const Schema = "eccbench/1"

// The kinds of record.
const (
	KindRun  = "run"
	KindCell = "cell"
)

// A RunRecord describes one run: place, time, program and arguments. Cells refer to it by ID.
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
	SHA256 string `json:"sha256"` // of the executable, or of the library if the executable only calls that
	Go     string `json:"go"`     // toolchain version
	OS     string `json:"os"`
	Arch   string `json:"arch"` // with its level: "amd64/v1"
}

// Machine describes the host. An unreadable value is "n/a" or 0.
type Machine struct {
	Host        string     `json:"host"`
	CPU         string     `json:"cpu"`
	Cores       int        `json:"cores"` // available to the process
	Caches      []string   `json:"caches"`
	Governor    string     `json:"governor"`
	Memory      int64      `json:"memory"` // bytes
	CgroupCPU   string     `json:"cgroup_cpu"`
	CgroupBytes int64      `json:"cgroup_memory"` // 0 means no limit
	Load        [3]float64 `json:"load"`
	Kernel      string     `json:"kernel"`
	// Devices lists the accelerators, one line each: name, driver, clocks.
	Devices []string `json:"devices,omitempty"`
}

// A CellRecord is the result of one implementation on one input in one process. Sample i belongs to
// input i mod len(Inputs).
type CellRecord struct {
	Schema   string `json:"schema"`
	Kind     string `json:"kind"` // KindCell
	Run      string `json:"run"`
	Workload string `json:"workload"`
	Impl     string `json:"impl"`
	Where    string `json:"where"` // see About
	Input    string `json:"input"`
	Setting
	Process int  `json:"process"` // index of the process that repeats the cell
	Cost    Cost `json:"cost"`

	verify.Verdict

	Device  string   `json:"device,omitempty"`  // the accelerator, or the kinds of several, in one line
	UUIDs   []string `json:"uuids,omitempty"`   // of the accelerators that the cell ran on
	Flags   []string `json:"flags,omitempty"`   // remarks that belong next to the figures
	Sensors []string `json:"sensors,omitempty"` // readings of each device before the first sample, then after the last
	Inputs  []string `json:"inputs,omitempty"`  // the inputs that took turns in the timed calls
	Digests []string `json:"digests,omitempty"` // of the first answer to each of Inputs
	// Unseen names the inputs with random seeds whose answers were judged: a random sample of the
	// timed calls of a peer. Every call is about another input. It is empty if Inputs took turns.
	Unseen []string `json:"unseen,omitempty"`
	// Calls counts the answers that were judged. Differing counts those whose bytes differ from the
	// first answer to the same input.
	Calls     int `json:"calls,omitempty"`
	Differing int `json:"differing,omitempty"`
	// Tolerant means that right answers may differ within limits, so that equal digests are not
	// required.
	Tolerant bool           `json:"tolerant,omitempty"`
	Samples  []float64      `json:"samples,omitempty"` // seconds of each timed call, in order
	Seconds  *stats.Summary `json:"seconds,omitempty"` // of Samples
	// Wall is the median time of the same calls by the host's clock, copies and waiting included.
	// It is 0 unless Samples are times of device events.
	Wall float64 `json:"wall,omitempty"`
	// Peer is the external program that answered, or nil for our own code. Floor is the time of an
	// empty round trip to it, in seconds.
	Peer  *peers.Stamp `json:"peer,omitempty"`
	Floor float64      `json:"floor,omitempty"`
	// Burst is the number of calls by one command to the peer, if more than one. A sample is then their mean.
	Burst int `json:"burst,omitempty"`
	// Judge is "outside" if another process than the implementation's measured and judged it, and
	// "inside", with the reason if the row does not show it, if the same process did. It is empty in
	// records from before the field.
	Judge string `json:"judge,omitempty"`
	// Trip is the median time of the calls by the clock of the judge, for our own code in another
	// process. If that process explains it, Samples are times by the clock of that process.
	Trip float64 `json:"trip,omitempty"`
	// Poison and Out are the median seconds to overwrite the last answer and to return the answer, around
	// each timed call.
	Poison float64 `json:"poison,omitempty"`
	Out    float64 `json:"out,omitempty"`
	// Ceiling is the rate of the ceiling row on the same input, in items per second, or 0 for none.
	Ceiling float64            `json:"ceiling,omitempty"`
	Spans   map[string]float64 `json:"spans,omitempty"` // seconds of each part of one call, summed over cores
	// Timeline lists the intervals of one call on a device. Different parts may overlap.
	Timeline []Interval `json:"timeline,omitempty"`
	// Traced is the duration of the call of Spans and Timeline in seconds, by the clock of Samples. It
	// is 0 in records without parts and in those from before the field.
	Traced float64 `json:"traced,omitempty"`
	// Allocated is the number of heap bytes that one call allocates on the host, and Launches its
	// number of kernel launches. Either is nil if it was not counted.
	Allocated *int64  `json:"allocated,omitempty"`
	Launches  *int64  `json:"launches,omitempty"`
	Setup     float64 `json:"setup,omitempty"` // seconds to bind the implementation to the inputs
	// seconds to open a device and bind the implementation to the first input
	Startup   float64 `json:"startup,omitempty"`
	Checked   float64 `json:"checked,omitempty"`    // seconds of verification
	PeakRSS   int64   `json:"peak_rss,omitempty"`   // bytes of the worker, shared inputs included
	OwnMemory int64   `json:"own_memory,omitempty"` // peak of the worker's own bytes, without shared inputs, by sampling
	// DeviceMemory is the peak of allocated device bytes, over all inputs that take turns. The
	// buffer that flushes the caches is not counted. It is 0 if unknown.
	DeviceMemory int64     `json:"device_memory,omitempty"`
	Time         time.Time `json:"time"`
}

// Failed reports whether the cell's worker crashed or was stopped at a limit.
func (c CellRecord) Failed() bool { return c.Status == verify.Crashed || c.Status == verify.Timeout }

// Key identifies the cell among the cells of one program on one machine.
func (c CellRecord) Key() CellKey {
	return CellKey{c.Workload, c.Impl, c.Input, c.Setting, c.Process}
}

// A Measurement identifies a measurement. Copies of a record have the same one, as in a file that is read twice.
type Measurement struct {
	time int64
	run  string
	key  CellKey
}

// Measurement returns the measurement of a record.
func (c CellRecord) Measurement() Measurement { return Measurement{c.Time.UnixNano(), c.Run, c.Key()} }

// A CellKey identifies a cell. Two records of one program on one machine with the same key are
// repeated measurements.
type CellKey struct {
	Workload, Impl, Input string
	Setting
	Process int
}

// Rate returns the median rate in items per second with its interval. It returns false if the cell
// has no time.
func (c CellRecord) Rate() (median, lo, hi float64, ok bool) {
	if c.Seconds == nil || c.Seconds.Median <= 0 {
		return 0, 0, 0, false
	}
	n := float64(c.Cost.Items)
	return n / c.Seconds.Median, n / c.Seconds.Hi, n / c.Seconds.Lo, true
}
