package runner

import (
	"errors"
	"fmt"
	"testing"
)

type deviceError struct{ memory, launch bool }

func (deviceError) Error() string          { return "device" }
func (e deviceError) OutOfMemory() bool    { return e.memory }
func (e deviceError) LaunchTooLarge() bool { return e.launch }

// What a device has too little of is a refusal, and no other error is.
func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New("other"), false}, {deviceError{}, false},
		{deviceError{memory: true}, true}, {deviceError{launch: true}, true},
		{fmt.Errorf("setting up: %w", errors.Join(deviceError{launch: true}, errors.New("closing"))), true},
	} {
		if got := exhausted(c.err); got != c.want {
			t.Errorf("%v %+v: exhausted %v, want %v", c.err, c.err, got, c.want)
		}
	}
}
