package resident

import (
	"fmt"

	"eccbench/internal/device"
	"eccbench/internal/quantity"
)

// Describe is a device in one line.
func Describe(d device.Device) string {
	i := d.Info()
	return fmt.Sprintf("%s, %s, %d multiprocessors, compute capability %d.%d, driver of CUDA %s",
		i.Name, quantity.Bytes(i.Memory), i.SMs, i.Major, i.Minor, i.Driver)
}

// drift is the change of a clock, as a share of it, from which it is flagged.
const drift = 0.03

// A Watch says of a device what every job on it does (bench.DeviceJob), and reads its
// sensors from time to time.
type Watch struct {
	on      device.Device
	sensors device.Sensors // nil before the first look: finding them takes longer than many a curve
	clock   int64          // MHz at the last look, 0 before the first
	last    device.Readings
}

// NewWatch watches a device. Where it has no sensors nothing is flagged.
func NewWatch(d device.Device) *Watch { return &Watch{on: d} }

// Device describes the device in one line.
func (w *Watch) Device() string { return Describe(w.on) }

// UUIDs are those of the device.
func (w *Watch) UUIDs() []string { return []string{w.on.Info().UUID} }

// DeviceMemory is the most bytes that buffers took on the device.
func (w *Watch) DeviceMemory() int64 { return w.on.Held() }

// Flags are what slows the device now, whether its clock moved since the last
// look, and whether others use it.
func (w *Watch) Flags() []string {
	if w.sensors == nil {
		w.sensors = w.on.Sensors()
	}
	now := w.sensors.Read()
	w.last = now
	var flags []string
	if now.Throttle.Slowed() {
		flags = append(flags, fmt.Sprintf("slowed: %v", now.Throttle))
	}
	if n := len(now.Others.List); n > 0 {
		flags = append(flags, fmt.Sprintf("%d other processes", n))
	}
	if clock := now.Clock; clock.Known() {
		if moved := float64(clock.Value-w.clock) / float64(max(1, w.clock)); w.clock > 0 && (moved > drift || moved < -drift) {
			flags = append(flags, fmt.Sprintf("clock %d→%d MHz", w.clock, clock.Value))
		}
		w.clock = clock.Value
	}
	return flags
}

// Sensors is what the last look saw, in one line; what has no sensor is n/a.
func (w *Watch) Sensors() []string { return []string{w.last.String()} }

// Close lets go of the sensors.
func (w *Watch) Close() error {
	if w.sensors == nil {
		return nil
	}
	return w.sensors.Close()
}
