package cuda

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"eccbench/internal/device"
)

// A sensor is a function of NVML.
type sensor uint8

const (
	nvmlInit sensor = iota
	nvmlShutdown
	nvmlErrorString
	nvmlDeviceGetHandleByPciBusID
	nvmlDeviceGetClockInfo
	nvmlDeviceGetTemperature
	nvmlDeviceGetPowerUsage
	nvmlDeviceGetEnforcedPowerLimit
	nvmlDeviceGetClocksReasons
	nvmlDeviceGetComputeProcesses
	nvmlDeviceGetGraphicsProcesses
	sensorCount
)

// sensorSymbols are the names of the functions in the library; the first that exists is called.
// Names of one line take the same arguments.
var sensorSymbols = [sensorCount][]string{
	nvmlInit:                        {"nvmlInit_v2"},
	nvmlShutdown:                    {"nvmlShutdown"},
	nvmlErrorString:                 {"nvmlErrorString"},
	nvmlDeviceGetHandleByPciBusID:   {"nvmlDeviceGetHandleByPciBusId_v2"},
	nvmlDeviceGetClockInfo:          {"nvmlDeviceGetClockInfo"},
	nvmlDeviceGetTemperature:        {"nvmlDeviceGetTemperature"},
	nvmlDeviceGetPowerUsage:         {"nvmlDeviceGetPowerUsage"},
	nvmlDeviceGetEnforcedPowerLimit: {"nvmlDeviceGetEnforcedPowerLimit"},
	nvmlDeviceGetClocksReasons: {"nvmlDeviceGetCurrentClocksEventReasons",
		"nvmlDeviceGetCurrentClocksThrottleReasons"},
	nvmlDeviceGetComputeProcesses: {"nvmlDeviceGetComputeRunningProcesses_v3",
		"nvmlDeviceGetComputeRunningProcesses_v2"},
	nvmlDeviceGetGraphicsProcesses: {"nvmlDeviceGetGraphicsRunningProcesses_v3",
		"nvmlDeviceGetGraphicsRunningProcesses_v2"},
}

// sensors reads one device. If NVML does not find it, every reading is missing.
type sensors struct {
	missing string // the reason if no sensor can be read, else ""
	fn      [sensorCount]uintptr
	handle  uintptr
	started bool
	closed  atomic.Bool
}

var _ device.Sensors = (*sensors)(nil)

// Sensors returns the sensors of the device at this PCI address.
func (c *context) Sensors() device.Sensors { return newSensors(c.Info().PCI) }

// newSensors finds the device at a PCI address (device.Info.PCI) in NVML: libnvidia-ml.so.1, or the
// library in ECCBENCH_LIBNVML. If that fails, every reading has the reason.
func newSensors(pci string) device.Sensors {
	s := &sensors{}
	path := libraryPath("ECCBENCH_LIBNVML", "libnvidia-ml.so.1")
	library, err := openLibrary(path)
	if err != nil {
		s.missing = "no NVML: " + oneLine(err.Error())
		return s
	}
	for i, names := range sensorSymbols {
		for _, name := range names {
			if s.fn[i] = lookup(library, name); s.fn[i] != 0 {
				break
			}
		}
	}
	if s.missing = s.call(nvmlInit); s.missing != "" {
		return s
	}
	s.started = true
	address := append([]byte(pci), 0)
	s.missing = s.call(nvmlDeviceGetHandleByPciBusID, uintptr(unsafe.Pointer(&address[0])),
		uintptr(unsafe.Pointer(&s.handle)))
	return s
}

func (s *sensors) Close() error {
	if s.closed.Swap(true) || !s.started {
		return nil
	}
	if why := s.call(nvmlShutdown); why != "" {
		return fmt.Errorf("sensors: %s", why)
	}
	return nil
}

// call calls NVML and returns why it failed, or nothing.
//
//go:uintptrescapes
func (s *sensors) call(f sensor, args ...uintptr) (why string) {
	if s.fn[f] == 0 {
		return "NVML has no " + sensorSymbols[f][0]
	}
	if code := int32(invoke(s.fn[f], args...)); code != 0 {
		return s.explain(f, code)
	}
	return ""
}

func (s *sensors) explain(f sensor, code int32) string {
	text := "unknown error"
	if s.fn[nvmlErrorString] != 0 {
		result := invoke(s.fn[nvmlErrorString], uintptr(code))
		text = cmp.Or(cstring(*(**byte)(unsafe.Pointer(&result))), text)
	}
	return fmt.Sprintf("%s: %s (%d)", sensorSymbols[f][0], strings.ToLower(text), code)
}

// NVML's numbers for clocks, and for the thermometer of the device.
const (
	clockSM     = 1
	clockMemory = 2
	thermometer = 0
)

func (s *sensors) Read() device.Readings {
	r := device.Readings{
		Clock:       device.Reading{Unit: "MHz"},
		MemoryClock: device.Reading{Unit: "MHz"},
		Temperature: device.Reading{Unit: "°C"},
		Power:       device.Reading{Unit: "mW"},
		PowerLimit:  device.Reading{Unit: "mW"},
	}
	s.number(&r.Clock, nvmlDeviceGetClockInfo, clockSM)
	s.number(&r.MemoryClock, nvmlDeviceGetClockInfo, clockMemory)
	s.number(&r.Temperature, nvmlDeviceGetTemperature, thermometer)
	s.number(&r.Power, nvmlDeviceGetPowerUsage)
	s.number(&r.PowerLimit, nvmlDeviceGetEnforcedPowerLimit)
	r.Throttle = s.reasons()
	r.Others = s.otherProcesses()
	return r
}

// unreadable returns the reason why nothing can be read, or "".
func (s *sensors) unreadable() string {
	if s.closed.Load() {
		return "the sensors are closed"
	}
	return s.missing
}

// number reads a number. f takes at most one argument in addition to the device and the result.
func (s *sensors) number(r *device.Reading, f sensor, which ...uintptr) {
	if r.Missing = s.unreadable(); r.Missing != "" {
		return
	}
	var v uint32
	if len(which) == 0 {
		r.Missing = s.call(f, s.handle, uintptr(unsafe.Pointer(&v)))
	} else {
		r.Missing = s.call(f, s.handle, which[0], uintptr(unsafe.Pointer(&v)))
	}
	if r.Missing == "" {
		r.Value = int64(v)
	}
}

// reasons are NVML's bits, from the lowest.
var reasons = []device.Reason{
	device.Idle, device.ChosenClocks, device.PowerCap, device.HardwareSlowdown, device.SyncBoost,
	device.Thermal, device.HardwareThermal, device.PowerBrake, device.DisplayClocks,
}

func (s *sensors) reasons() device.Reasons {
	if why := s.unreadable(); why != "" {
		return device.Reasons{Missing: why}
	}
	var bits uint64
	if why := s.call(nvmlDeviceGetClocksReasons, s.handle, uintptr(unsafe.Pointer(&bits))); why != "" {
		return device.Reasons{Missing: why}
	}
	var r device.Reasons
	for i, reason := range reasons {
		if bits>>i&1 != 0 {
			r.List = append(r.List, reason)
		}
	}
	if bits>>len(reasons) != 0 {
		r.List = append(r.List, device.OtherReason)
	}
	return r
}

// processInfo is nvmlProcessInfo_t.
type processInfo struct {
	pid, _            uint32
	memory            uint64
	instance, compute uint32
}

const insufficientSize = 7

// otherProcesses returns the processes on the device except this one.
func (s *sensors) otherProcesses() device.Processes {
	var p device.Processes
	seen := map[int64]bool{int64(os.Getpid()): true}
	for _, f := range []sensor{nvmlDeviceGetComputeProcesses, nvmlDeviceGetGraphicsProcesses} {
		list, why := s.processes(f)
		if why != "" {
			return device.Processes{Missing: why}
		}
		for _, info := range list {
			if pid := int64(info.pid); !seen[pid] {
				seen[pid] = true
				memory := int64(-1)
				if info.memory <= math.MaxInt64 {
					memory = int64(info.memory)
				}
				p.List = append(p.List, device.Process{PID: pid, Memory: memory})
			}
		}
	}
	return p
}

// processes reads the list of processes, with more room until it fits.
func (s *sensors) processes(f sensor) (list []processInfo, why string) {
	if why := s.unreadable(); why != "" {
		return nil, why
	}
	if s.fn[f] == 0 {
		return nil, "NVML has no " + sensorSymbols[f][0]
	}
	for room := uint32(64); ; room *= 2 {
		list, count := make([]processInfo, room), room
		code := int32(invoke(s.fn[f], s.handle, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&list[0]))))
		switch {
		case code == 0:
			return list[:min(count, room)], ""
		case code != insufficientSize || room > 1<<20:
			return nil, s.explain(f, code)
		}
	}
}
