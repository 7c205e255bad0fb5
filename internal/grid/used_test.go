package grid

import (
	"runtime"
	"testing"
)

// A free buffer is reused if its size fits, by one user at a time, until it is collected.
func TestBuffersAreTakenAgain(t *testing.T) {
	left := func(b []byte) bool { return b[0] == 7 }
	b := takeBuffer(1 << 20)
	b[0] = 7
	leaveBuffer(b)
	if left(takeBuffer(1<<20+1)) || left(takeBuffer(1<<18)) {
		t.Error("a buffer of another size was taken")
	}
	again := takeBuffer(1<<20 - 8)
	if !left(again) || len(again) != 1<<20-8 {
		t.Error("the buffer that was left was not taken")
	}
	if left(takeBuffer(1<<20 - 8)) {
		t.Error("a buffer was taken twice")
	}
	runtime.KeepAlive(b) // it was not to be collected before
	leaveBuffer(again)
	if b := takeBuffer(1 << 20); !left(b) {
		t.Error("a buffer has shrunk")
	} else {
		leaveBuffer(b)
	}
	runtime.KeepAlive(again)
	b, again = nil, nil
	runtime.GC()
	if left(takeBuffer(1 << 20)) {
		t.Error("a buffer that was left is kept for ever")
	}
	if leaveBuffer(nil); len(takeBuffer(0)) != 0 {
		t.Error("a buffer of nothing has something")
	}
}
