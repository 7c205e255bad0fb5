package device

import (
	"fmt"
	"strconv"
	"strings"
)

// Sensors read the state of a device. They need no open device, and do not slow it.
type Sensors interface {
	// Read reads the sensors. A value that cannot be read is marked as missing.
	Read() Readings
	Close() error
}

// Readings hold the values of the sensors at one time.
type Readings struct {
	Clock       Reading   // of the multiprocessors, MHz
	MemoryClock Reading   // MHz
	Temperature Reading   // °C
	Power       Reading   // mW
	PowerLimit  Reading   // mW
	Throttle    Reasons   // the reasons for a reduced clock
	Others      Processes // other processes that use the device
}

// String formats all readings in one line.
func (r Readings) String() string {
	return fmt.Sprintf("clock %v, memory %v, %v, %v; slowed by %v; other processes %v", r.Clock, r.MemoryClock,
		r.Temperature, r.Power, r.Throttle, r.Others)
}

// A Reading is a number with its unit, or the reason why it is missing.
type Reading struct {
	Value   int64  `json:"value"`
	Unit    string `json:"unit"`
	Missing string `json:"missing,omitempty"`
}

// Known reports whether there is a value.
func (r Reading) Known() bool { return r.Missing == "" }

// String formats the value with its unit, or returns "n/a".
func (r Reading) String() string {
	if !r.Known() {
		return "n/a"
	}
	return strconv.FormatInt(r.Value, 10) + " " + r.Unit
}

// A Reason explains why a device does not run at its highest clock.
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

// Slows reports whether the reason slows a busy device whose clocks are not set by the user.
func (r Reason) Slows() bool { return r != Idle && r != ChosenClocks }

// Reasons are all reasons at one time, or the reason why they are unknown.
type Reasons struct {
	List    []Reason `json:"list,omitempty"`
	Missing string   `json:"missing,omitempty"`
}

// Slowed reports whether any of the reasons slows the device.
func (r Reasons) Slowed() bool {
	for _, reason := range r.List {
		if reason.Slows() {
			return true
		}
	}
	return false
}

// String lists the reasons; it returns "none" for an empty list and "n/a" for unknown reasons.
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

// A Process uses a device. In a container its number may differ from the number that the process
// knows, or it may be invisible.
type Process struct {
	PID    int64 `json:"pid"`
	Memory int64 `json:"memory"` // bytes of the device, −1 when unknown
}

// Processes are the processes on a device at one time, or the reason why they are unknown.
type Processes struct {
	List    []Process `json:"list,omitempty"`
	Missing string    `json:"missing,omitempty"`
}

// String returns the number of processes, "none" or "n/a".
func (p Processes) String() string {
	switch {
	case p.Missing != "":
		return "n/a"
	case len(p.List) == 0:
		return "none"
	}
	return strconv.Itoa(len(p.List))
}
