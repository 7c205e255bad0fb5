package gpu_test

import (
	"strconv"
	"testing"

	"eccbench/impls/extrema/gpu"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// onAll is the implementation on all devices of its opener.
type onAll struct{ gpu.OnDevices }

func (o onAll) CanDo(in grid.Source, c bench.Conditions) error {
	c.Devices = resident.All
	return o.OnDevices.CanDo(in, c)
}

func (o onAll) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	c.Devices = resident.All
	return o.OnDevices.Setup(in, c)
}

// A twin is a device with the number of another.
type twin struct {
	device.Device
	index, count int
}

// Do lets the twins of a device, which has one thread, wait for each other.
func (t twin) Do(f func() error) error { return f() }

func (t twin) Info() device.Info {
	i := t.Device.Info()
	i.Index, i.Count = t.index, t.count
	return i
}

// as presents the first device as count devices, which divide an image like separate cards.
func as(open resident.Opener, count int) resident.Opener {
	return func(which string) (device.Device, error) {
		d, err := open("")
		if err != nil {
			return nil, err
		}
		index, err := strconv.Atoi(which)
		return twin{d, index, count}, err
	}
}

func TestConformanceOnOneDeviceAsThree(t *testing.T) {
	ecctest.Run(t, onAll{gpu.OnDevices{Open: as(ecctest.Device(t), 3)}})
}

func TestConformanceOnAllDevices(t *testing.T) {
	open := ecctest.Device(t)
	devices, err := open.OpenAll(resident.All)
	if err != nil {
		t.Fatal(err)
	}
	if len(devices) < 2 {
		t.Skip("the machine has one device")
	}
	t.Logf("%d devices", len(devices))
	ecctest.Run(t, onAll{gpu.OnDevices{Open: open}})
}

func TestSuiteCatchesSharedSlicesCountedTwice(t *testing.T) {
	ecctest.Catches(t, onAll{gpu.CountingTwice(gpu.OnDevices{Open: as(ecctest.Device(t), 3)})})
}
