package runner

import (
	"context"
	"time"
)

// A Clock tells the time. Nil is the clock of the machine; tests have others, so that a
// busy machine changes nothing that they look at.
type Clock func() time.Time

func (c Clock) currentTime() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}

func (c Clock) since(t time.Time) time.Duration { return c.currentTime().Sub(t) }

// look is how often a limit is looked at.
const look = 50 * time.Millisecond

// limit ends a context when so much time has passed by the clock.
func (c Clock) limit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if c == nil {
		return context.WithTimeout(ctx, d)
	}
	ctx, cancel := context.WithCancel(ctx)
	began := c.currentTime()
	go func() {
		tick := time.NewTicker(look)
		defer tick.Stop()
		for c.since(began) < d {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		cancel()
	}()
	return ctx, cancel
}
