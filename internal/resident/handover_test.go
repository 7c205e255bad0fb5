package resident

import (
	"testing"

	"eccbench/internal/device"
)

// A prompt stream's kernels hand their tables over at once.
type prompt struct {
	device.Stream
	over *Handover
}

func (p *prompt) Launch(device.Function, device.Launch, ...any) error {
	*p.over.word() = 1
	return nil
}

// Repeated handovers allocate nothing.
func TestHandoverAllocatesNothing(t *testing.T) {
	d, err := standIns(t, 1)("0")
	if err != nil {
		t.Fatal(err)
	}
	objects := NewObjects(d)
	s := objects.NewStream("counting")
	over := NewHandover(&objects, s, 8, false)
	if err := objects.Err(); err != nil {
		t.Fatal(err)
	}
	stream := &prompt{s, over}
	launch := func() error { return stream.Launch(nil, device.Launch{}) }
	if err := over.Run(launch); err != nil { // which clears the table first
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := over.Run(launch); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a call allocates %v times, want none", n)
	}
	if _, err := over.Elapsed(); err != ErrUntimed {
		t.Errorf("the time of what was not timed: %v", err)
	}
	if err := objects.Close(); err != nil {
		t.Error(err)
	}
}
