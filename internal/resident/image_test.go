package resident

import (
	"errors"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
)

// All devices share one driver, which is loaded once it is available. Memory that a driver has
// pinned is foreign to a driver that was loaded again.
func TestOnceLoadsOneDriver(t *testing.T) {
	calls, none := 0, errors.New("no driver yet")
	open := OpenOnce(func() (device.Driver, error) {
		if calls++; calls == 1 {
			return nil, none
		}
		return devicetest.New(2, nil), nil
	})
	if _, err := open("0"); !errors.Is(err, none) {
		t.Fatalf("a driver that cannot be loaded: %v", err)
	}
	for _, which := range []string{"0", "1", "0"} {
		if _, err := open(which); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 2 {
		t.Errorf("the driver was loaded %d times, want 2: once in vain", calls)
	}
}
