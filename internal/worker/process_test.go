package worker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The reason of a worker's death is the line that names the failure, or else the first line.
func TestDeaths(t *testing.T) {
	died, malformed := errors.New("exit status 2"), errors.New("not JSON")
	for _, c := range []struct {
		died, malformed error
		stderr, want    string
	}{
		{nil, nil, "", "the worker ended without a result"},
		{died, nil, "", "the worker ended with exit status 2"},
		{died, malformed, "", "the worker wrote a malformed event: not JSON"},
		{died, nil, "\nfirst\nlast\n", "the worker ended with exit status 2: first"},
		{died, nil, "first\npanic: why\npanic: again\n", "the worker ended with exit status 2: panic: why"},
		{died, nil, "first\nfatal error: why\ngoroutine 1", "the worker ended with exit status 2: fatal error: why"},
	} {
		if got := death(c.died, c.malformed, c.stderr); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The beginning and the end of a worker's output are kept, in pieces of any size.
func TestTail(t *testing.T) {
	const all = "abcdefghijklmnopqrstuvwxyz"
	for size := 1; size <= len(all); size++ {
		w := &tail{limit: 10}
		for piece := range slices.Chunk([]byte(all), size) {
			if n, err := w.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := w.String(); got != "abcdevwxyz" {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
	short := &tail{limit: 10}
	if short.Write([]byte("abcdefg")); short.String() != "abcdefg" {
		t.Errorf("%q", short)
	}
}

// The limit of a worker's first phase runs from its start.
func TestStartingIsAPhase(t *testing.T) {
	now := time.Unix(1000, 0)
	w := &watch{clock: func() time.Time { return now }}
	w.begin(Process{Task: Task{Inputs: []string{""}}, Limit: time.Minute})
	if w.phase != "starting" || !w.since.Equal(now) {
		t.Errorf("%q since %v, want starting since %v", w.phase, w.since, now)
	}
}

// A phase that begins restarts the time limit, and an event with another key ends the worker.
func TestEvents(t *testing.T) {
	now := time.Unix(1000, 0)
	w := &watch{clock: func() time.Time { return now }}
	for _, c := range []struct {
		key string
		err bool
	}{{"a", false}, {"", true}, {"b", true}} {
		now = now.Add(time.Hour)
		record, err := w.follow(strings.NewReader(fmt.Sprintf(`{"key": %q, "phase": "measuring"}`+"\n", c.key)), "a")
		if record != nil || (err != nil) != c.err {
			t.Errorf("an event with the key %q, want a: %v, %v", c.key, record, err)
		}
		if !c.err && (w.phase != "measuring" || !w.since.Equal(now)) {
			t.Errorf("%q since %v, want measuring since %v", w.phase, w.since, now)
		}
	}
}
