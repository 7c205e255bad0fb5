package resident

import (
	"fmt"
	"strings"

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

// A Watch reports the properties of a device that are common to all jobs (bench.DeviceJob), and
// reads its sensors regularly.
type Watch struct {
	on      device.Device
	sensors device.Sensors // nil before the first look: finding them takes longer than many a curve
	clock   int64          // MHz at the last look, 0 before the first
	last    device.Readings
}

// NewWatch watches a device. Without sensors nothing is flagged.
func NewWatch(d device.Device) *Watch { return &Watch{on: d} }

// Device describes the device in one line.
func (w *Watch) Device() string { return Describe(w.on) }

// UUIDs returns the UUID of the device.
func (w *Watch) UUIDs() []string { return []string{w.on.Info().UUID} }

// DeviceMemory is the most bytes that buffers took on the device.
func (w *Watch) DeviceMemory() int64 { return w.on.AllocatedBytes() }

// Flags reports whether the device is slowed, its clock moved since the last call, and other
// processes use it.
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
		if moved := float64(clock.Value-w.clock) / float64(max(1, w.clock)); w.clock > 0 &&
			(moved > drift || moved < -drift) {
			flags = append(flags, fmt.Sprintf("clock %d→%d MHz", w.clock, clock.Value))
		}
		w.clock = clock.Value
	}
	return flags
}

// Sensors returns the readings at the last Flags, in one line; n/a if there is no sensor.
func (w *Watch) Sensors() []string { return []string{w.last.String()} }

// Close closes the sensors.
func (w *Watch) Close() error {
	if w.sensors == nil {
		return nil
	}
	return w.sensors.Close()
}

// Watches are the watches of several devices.
type Watches []*Watch

// Device describes the devices in one line: equal ones once, with their number.
func (w Watches) Device() string {
	var kinds []string
	count := map[string]int{}
	for _, one := range w {
		kind := one.Device()
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", count[kind], kind)
	}
	return strings.Join(kinds, "; ")
}

// UUIDs returns the UUIDs of the devices.
func (w Watches) UUIDs() (list []string) {
	for _, one := range w {
		list = append(list, one.UUIDs()...)
	}
	return list
}

// DeviceMemory is the most bytes that buffers took on the devices.
func (w Watches) DeviceMemory() (bytes int64) {
	for _, one := range w {
		bytes += one.DeviceMemory()
	}
	return bytes
}

// Flags returns the number of devices and the readings of their sensors.
func (w Watches) Flags() []string {
	flags := []string{fmt.Sprintf("devices=%d", len(w))}
	for _, one := range w {
		for _, f := range one.Flags() {
			flags = append(flags, fmt.Sprintf("device %d: %s", one.on.Info().Index, f))
		}
	}
	return flags
}

// Sensors returns the readings of each device at the last Flags.
func (w Watches) Sensors() (list []string) {
	for _, one := range w {
		list = append(list, one.Sensors()...)
	}
	return list
}

// Close closes the sensors of all devices.
func (w Watches) Close() error { return CloseEach(w) }
