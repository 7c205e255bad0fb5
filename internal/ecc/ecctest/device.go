package ecctest

import (
	"os"
	"testing"

	"eccbench/internal/cuda"
	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// RequireDevice is the variable that turns a missing device into a failure.
const RequireDevice = "ECCBENCH_REQUIRE_DEVICE"

// Device gives a test the devices of the machine, each opened once and closed at
// its end. Without one the test is skipped with the reason, or fails where
// RequireDevice is 1. Objects that the test leaves open are failures.
func Device(t testing.TB) resident.Opener {
	t.Helper()
	opened := map[int]device.Device{}
	open := func(which string) (device.Device, error) {
		driver, err := cuda.Load()
		if err != nil {
			return nil, err
		}
		list, err := driver.Devices()
		if err != nil {
			return nil, err
		}
		info, err := device.Choose(list, which)
		if err != nil {
			return nil, err
		}
		if d, ok := opened[info.Index]; ok {
			return d, nil
		}
		d, err := driver.Open(info.Index)
		if err != nil {
			return nil, err
		}
		opened[info.Index] = d
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d, nil
	}
	if _, err := open(""); err != nil {
		if os.Getenv(RequireDevice) == "1" {
			t.Fatalf("%s=1: %v", RequireDevice, err)
		}
		t.Skip(err)
	}
	return open
}
