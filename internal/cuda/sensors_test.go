package cuda

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"eccbench/internal/device"
)

func newFakeSensors(t *testing.T, flags ...string) (library uintptr) {
	t.Helper()
	path := build(t, "fakenvml.c", flags...)
	library, err := openLibrary(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ECCBENCH_LIBNVML", path)
	t.Cleanup(func() {
		if n := int32(invoke(lookup(library, "fake_nvml_started"))); n != 0 {
			t.Errorf("NVML was started %d times more than it was stopped", n)
		}
	})
	return library
}

func TestSensors(t *testing.T) {
	library := newFakeSensors(t)
	s := newSensors("0000:3b:00.0")
	got := s.Read()
	want := device.Readings{
		Clock: device.Reading{Value: 1980, Unit: "MHz"}, MemoryClock: device.Reading{Value: 3201, Unit: "MHz"},
		Temperature: device.Reading{Value: 41, Unit: "°C"},
		Power:       device.Reading{Value: 123456, Unit: "mW"}, PowerLimit: device.Reading{Value: 700000, Unit: "mW"},
		Throttle: device.Reasons{List: []device.Reason{device.PowerCap}},
		Others:   device.Processes{List: []device.Process{{PID: 4000001, Memory: 1 << 33}, {PID: 4000002, Memory: -1}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v, want\n%+v", got, want)
	}
	invoke(lookup(library, "fake_nvml_processes"), 1000)
	if got := s.Read().Others; len(got.List) != 999 {
		t.Errorf("read %d other processes, want 999", len(got.List))
	}
	bits := uint64(1<<0 | 1<<6 | 1<<40)
	invoke(lookup(library, "fake_nvml_reasons"), uintptr(bits))
	if got := s.Read().Throttle.String(); got != "idle, thermal, hardware, unknown" {
		t.Errorf("the reasons are %q", got)
	}
	check(t, s.Close(), s.Close())
	if got := s.Read().Clock; got.Missing != "the sensors are closed" {
		t.Errorf("after Close the clock is %+v", got)
	}
}

// An unreadable sensor is missing with a reason, and does not affect the others.
func TestSensorsMissing(t *testing.T) {
	all := func(r device.Readings) map[string]string {
		return map[string]string{
			"clock": r.Clock.Missing, "memory": r.MemoryClock.Missing, "temperature": r.Temperature.Missing, "power": r.Power.Missing,
			"limit": r.PowerLimit.Missing, "throttle": r.Throttle.Missing, "others": r.Others.Missing,
		}
	}
	everything := func(t *testing.T, pci, want string) {
		t.Helper()
		s := newSensors(pci)
		r := s.Read()
		for name, why := range all(r) {
			if !strings.Contains(why, want) || strings.Contains(why, "\n") {
				t.Errorf("%s is missing because %q, want %q", name, why, want)
			}
		}
		if r.Clock.String() != "n/a" || r.Throttle.String() != "n/a" || r.Others.String() != "n/a" {
			t.Errorf("missing readings are shown as %s, %s, %s", r.Clock, r.Throttle, r.Others)
		}
		check(t, s.Close())
	}
	t.Run("no library", func(t *testing.T) {
		t.Setenv("ECCBENCH_LIBNVML", filepath.Join(t.TempDir(), "none.so"))
		everything(t, "0000:3b:00.0", "no NVML: ")
	})
	t.Run("other library", func(t *testing.T) {
		t.Setenv("ECCBENCH_LIBNVML", build(t, "fakecuda.c"))
		everything(t, "0000:3b:00.0", "NVML has no nvmlInit_v2")
	})
	t.Run("other device", func(t *testing.T) {
		newFakeSensors(t)
		everything(t, "0000:99:00.0", "nvmlDeviceGetHandleByPciBusId_v2: not found (6)")
	})
	t.Run("no start", func(t *testing.T) {
		fail(newFakeSensors(t), "nvmlInit_v2", 999)
		everything(t, "0000:3b:00.0", "nvmlInit_v2: unknown error (999)")
	})
	for call, name := range map[string]string{
		"nvmlDeviceGetTemperature": "temperature", "nvmlDeviceGetPowerUsage": "power", "nvmlDeviceGetEnforcedPowerLimit": "limit",
		"nvmlDeviceGetCurrentClocksThrottleReasons": "throttle", "nvmlDeviceGetComputeRunningProcesses_v3": "others", "nvmlDeviceGetGraphicsRunningProcesses_v3": "others",
	} {
		t.Run(call, func(t *testing.T) {
			fail(newFakeSensors(t), call, 3)
			s := newSensors("0000:3b:00.0")
			for n, why := range all(s.Read()) {
				if n == name && !strings.HasSuffix(why, "not supported (3)") || n != name && why != "" {
					t.Errorf("%s fails and %s is missing because %q", call, n, why)
				}
			}
			check(t, s.Close())
		})
	}
	t.Run("no symbol", func(t *testing.T) {
		newFakeSensors(t, "-DWITHOUT_POWER_LIMIT")
		s := newSensors("0000:3b:00.0")
		if r := s.Read(); r.PowerLimit.Missing != "NVML has no nvmlDeviceGetEnforcedPowerLimit" || !r.Power.Known() {
			t.Errorf("read %+v", r)
		}
		check(t, s.Close())
	})
}

func fail(library uintptr, call string, code int) {
	name := append([]byte(call), 0)
	invoke(lookup(library, "fake_nvml_fail"), uintptr(unsafe.Pointer(&name[0])), uintptr(code))
}

func TestRealSensors(t *testing.T) {
	dev := realDevice(t)
	s := newSensors(dev.Info().PCI)
	closeAtEnd(t, s)
	r := s.Read()
	t.Logf("clock %s (%s), memory %s, temperature %s (%s), power %s (%s) of %s, throttle %s (%s), others %s (%s) %v, own process %d",
		r.Clock, r.Clock.Missing, r.MemoryClock, r.Temperature, r.Temperature.Missing, r.Power, r.Power.Missing, r.PowerLimit,
		r.Throttle, r.Throttle.Missing, r.Others, r.Others.Missing, r.Others.List, os.Getpid())
	for name, reading := range map[string]device.Reading{"clock": r.Clock, "memory clock": r.MemoryClock, "temperature": r.Temperature, "power": r.Power, "power limit": r.PowerLimit} {
		if reading.Known() && (reading.Value <= 0 || reading.Value > 10_000_000) {
			t.Errorf("the %s is %s", name, reading)
		}
	}
}
