//go:build slow5 || slow20

package resident

import (
	"math"
	"testing"
	"time"
)

// What is written after a launch takes a share of it, by the times of the writes that
// were timed, and of a short launch as little as can be.
func TestSlowdownIsAShare(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		alone, little, most time.Duration
		share               float64 // 0 for as little as can be
	}{
		{400 * us, 403 * us, 423 * us, slowShare},
		{5000 * us, 5003 * us, 5023 * us, slowShare}, // several writes of all
		{10 * us, 13 * us, 33 * us, 0},
	} {
		d := slowdown{alone: c.alone, with: c.little, writes: [2]time.Duration{5 * us, 5*us + c.most - c.little}}
		n := d.bytes()
		least := (c.little - c.alone).Seconds()
		took := least + float64(n-slowWrites[0])*(c.most-c.little).Seconds()/float64(slowWrites[1]-slowWrites[0])
		want := c.share * c.alone.Seconds()
		if c.share == 0 {
			want = least
		}
		if n%4 != 0 || math.Abs(took-want) > 0.01*want {
			t.Errorf("%+v: %d bytes, which take %g s, want %g", c, n, took, want)
		}
	}
	if n := (&slowdown{alone: time.Second, with: time.Second, writes: [2]time.Duration{us, us + 1}}).bytes(); n != 0 {
		t.Errorf("by a clock that does not tell the writes apart: %d bytes", n)
	}
}
