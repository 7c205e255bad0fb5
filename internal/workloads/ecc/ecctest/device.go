package ecctest

import (
	"os"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/cuda"
	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// RequireDevice is the variable that turns a missing device into a failure.
const RequireDevice = "ECCBENCH_REQUIRE_DEVICE"

// Device opens the devices of the machine for a test, each once, and closes them at its end.
// Without a device the test is skipped with the reason, or fails if RequireDevice is 1. Objects
// left open are failures.
func Device(t testing.TB) resident.Opener {
	t.Helper()
	open := Closing(t, resident.OpenOnce(func() (device.Driver, error) { return cuda.Load() }))
	if _, err := open(""); err != nil {
		if os.Getenv(RequireDevice) == "1" {
			t.Fatalf("%s=1: %v", RequireDevice, err)
		}
		t.Skip(err)
	}
	return open
}

// Closing closes the devices that are opened, each once, at the end of the test.
func Closing(t testing.TB, open resident.Opener) resident.Opener {
	opened := map[device.Device]bool{}
	return func(which string) (device.Device, error) {
		d, err := open(which)
		if err != nil || opened[d] {
			return d, err
		}
		opened[d] = true
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d, nil
	}
}

// SetUp returns a job of an implementation and closes it at the end of the test. The implementation
// must accept the input.
func SetUp[In, Out any](t testing.TB, i bench.Implementation[In, Out], in In, c bench.Conditions) bench.Job[Out] {
	t.Helper()
	if err := i.CanDo(in, c); err != nil {
		t.Fatal(err)
	}
	j, err := i.Setup(in, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}
