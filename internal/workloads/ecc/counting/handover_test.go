package counting

import (
	"testing"
	"unsafe"

	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// A prompt stream's kernels hand their tables over at once.
type prompt struct {
	device.Stream
	word *uint32
}

func (p *prompt) Launch(device.Function, device.Launch, ...any) error {
	*p.word = 1
	return nil
}

// A counter whose kernel hands its table over again and again allocates nothing.
func TestCounterAllocatesNothing(t *testing.T) {
	d, err := standIn(t)
	if err != nil {
		t.Fatal(err)
	}
	c := &Counter{Objects: resident.NewObjects(d), ladder: &Ladder{}}
	s := c.NewStream("counting")
	over := resident.NewHandover(&c.Objects, s, 8, false)
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	// A table of one change takes 64 bytes; the word that marks its arrival follows.
	word := (*uint32)(unsafe.Pointer(&over.Data()[:128][64]))
	c.Stream, c.over = &prompt{s, word}, over
	c.Prepare(uint64(1), int32(2))
	if err := c.HandOver(); err != nil { // which clears the table first
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := c.HandOver(); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a call allocates %v times, want none", n)
	}
	if _, err := c.Elapsed(); err != resident.ErrUntimed {
		t.Errorf("the time of what was not timed: %v", err)
	}
	if c.Launches() != 102 {
		t.Errorf("%d launches, want 102", c.Launches())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
