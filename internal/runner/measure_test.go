package runner

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"eccbench/internal/bench"
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

// A stone is an input that is cooled so often, and stays warm where it says so.
type stone struct {
	cooled *int
	warm   bool
}

func (s stone) Cool() (bool, error) { *s.cooled++; return !s.warm, nil }

func TestInputsAreReadCold(t *testing.T) {
	for _, c := range []struct {
		scope     bench.Scope
		hot, warm bool
		cooled    int
		flags     []string
	}{
		{bench.File, false, false, 2, nil},
		{bench.File, false, true, 2, []string{"cached"}},
		{bench.File, true, true, 0, nil},
		{bench.E2E, false, true, 0, nil},
	} {
		cooled := 0
		r := &trial[stone, int]{t: Task{Conditions: bench.Conditions{Scope: c.scope}, Hot: c.hot}, inputs: []stone{{&cooled, c.warm}}}
		for range 2 {
			if err := r.cool(0); err != nil {
				t.Fatal(err)
			}
		}
		if cooled != c.cooled || !slices.Equal(r.record.Flags, c.flags) {
			t.Errorf("%+v: cooled %d times, flags %q", c, cooled, r.record.Flags)
		}
	}
}
