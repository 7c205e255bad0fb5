package device

import (
	"fmt"
	"strconv"
	"strings"
)

// Sensors read how a device is doing. They need no open device, and disturb none.
type Sensors interface {
	// Read is what the sensors show now. What cannot be read is missing.
	Read() Readings
	Close() error
}

// Readings are what sensors show at one time.
type Readings struct {
	Clock       Reading   // of the multiprocessors, MHz
	MemoryClock Reading   // MHz
	Temperature Reading   // °C
	Power       Reading   // mW
	PowerLimit  Reading   // mW
	Throttle    Reasons   // why the clock is not higher
	Others      Processes // that use the device beside this one
}

// String is all of them in one line.
func (r Readings) String() string {
	return fmt.Sprintf("clock %v, memory %v, %v, %v; slowed by %v; other processes %v", r.Clock, r.MemoryClock, r.Temperature, r.Power, r.Throttle, r.Others)
}

// A Reading is a number with its unit, or why it is missing.
type Reading struct {
	Value   int64  `json:"value"`
	Unit    string `json:"unit"`
	Missing string `json:"missing,omitempty"`
}

// Known reports whether there is a value.
func (r Reading) Known() bool { return r.Missing == "" }

// String is the value with its unit, or "n/a".
func (r Reading) String() string {
	if !r.Known() {
		return "n/a"
	}
	return strconv.FormatInt(r.Value, 10) + " " + r.Unit
}

// A Reason is why a device does not run at its highest clock.
type Reason string

// The reasons.
const (
	Idle             Reason = "idle"
	ChosenClocks     Reason = "clocks set by the user"
	PowerCap         Reason = "power cap"
	HardwareSlowdown Reason = "hardware slowdown"
	SyncBoost        Reason = "sync boost"
	Thermal          Reason = "thermal, software"
	HardwareThermal  Reason = "thermal, hardware"
	PowerBrake       Reason = "external power brake"
	DisplayClocks    Reason = "display clocks"
	OtherReason      Reason = "unknown"
)

// Slows reports whether the reason holds back a device that has work and whose
// clocks nobody set.
func (r Reason) Slows() bool { return r != Idle && r != ChosenClocks }

// Reasons are all that hold at one time, or why they are missing.
type Reasons struct {
	List    []Reason `json:"list,omitempty"`
	Missing string   `json:"missing,omitempty"`
}

// Slowed reports whether any of the reasons slows.
func (r Reasons) Slowed() bool {
	for _, reason := range r.List {
		if reason.Slows() {
			return true
		}
	}
	return false
}

// String lists the reasons, "none" or "n/a".
func (r Reasons) String() string {
	switch {
	case r.Missing != "":
		return "n/a"
	case len(r.List) == 0:
		return "none"
	}
	var all []string
	for _, reason := range r.List {
		all = append(all, string(reason))
	}
	return strings.Join(all, ", ")
}

// A Process uses a device. Where processes are numbered apart, as in a
// container, its number may be another one than the process knows, or none of
// it may be seen.
type Process struct {
	PID    int64 `json:"pid"`
	Memory int64 `json:"memory"` // bytes of the device, −1 when unknown
}

// Processes are some at one time, or why they are missing.
type Processes struct {
	List    []Process `json:"list,omitempty"`
	Missing string    `json:"missing,omitempty"`
}

// String is the number of processes, "none" or "n/a".
func (p Processes) String() string {
	switch {
	case p.Missing != "":
		return "n/a"
	case len(p.List) == 0:
		return "none"
	}
	return strconv.Itoa(len(p.List))
}
