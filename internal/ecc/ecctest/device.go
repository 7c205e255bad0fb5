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

// Device gives a test the first device of the machine. Without one the test is
// skipped with the reason, or fails where RequireDevice is 1. Objects that the
// test leaves open are failures.
func Device(t testing.TB) resident.Opener {
	t.Helper()
	d, err := firstDevice()
	if err != nil {
		if os.Getenv(RequireDevice) == "1" {
			t.Fatalf("%s=1: %v", RequireDevice, err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(string) (device.Device, error) { return d, nil }
}

func firstDevice() (device.Device, error) {
	driver, err := cuda.Load()
	if err != nil {
		return nil, err
	}
	return driver.Open(0)
}
