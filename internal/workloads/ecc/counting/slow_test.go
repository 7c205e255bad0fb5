//go:build slow5 || slow20

package counting

import (
	"math"
	"testing"
	"time"
)

// The slowdown reaches the planted share on a device whose launches overlap the work after them and
// whose writes do not take linear time. A short launch gets the least slowdown.
func TestSlowdownIsAShare(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		alone time.Duration
		share float64 // 0 for as little as can be
	}{
		{217 * us, slowShare},
		{5000 * us, slowShare}, // several writes of all
		{10 * us, 0},
	} {
		alone := func(bytes int64) time.Duration { // a write
			return 5*us + time.Duration(float64(20*us)*math.Pow(float64(bytes)/float64(slowWrites[1]), 1.1))
		}
		added := func(bytes int64) time.Duration { // behind a launch
			took := time.Duration(0)
			for ; bytes > 0; bytes -= slowWrites[1] {
				took += alone(min(bytes, slowWrites[1])) - 2*us
			}
			return took
		}
		d := slowdown{bytes: slowWrites[0], writes: [2]time.Duration{alone(slowWrites[0]), alone(slowWrites[1])}}
		for range slowTurns {
			d.adapt(c.alone, c.alone+added(d.bytes))
		}
		want := time.Duration(c.share * float64(c.alone))
		if c.share == 0 {
			want = added(slowWrites[0])
		}
		if took := added(d.bytes); d.bytes%4 != 0 || math.Abs((took-want).Seconds()) > 0.01*want.Seconds() {
			t.Errorf("launches of %v: %d bytes, which take %v, want %v", c.alone, d.bytes, took, want)
		}
	}
	d := slowdown{bytes: slowWrites[0], writes: [2]time.Duration{us, us + 1}}
	if d.adapt(time.Second, time.Second); d.bytes != 0 {
		t.Errorf("by a clock that does not tell the writes apart: %d bytes", d.bytes)
	}
}
