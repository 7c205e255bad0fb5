package worker

import (
	"context"
	"time"
)

// A Clock returns the time. Nil is the machine's clock. Tests use others, so that their results do
// not depend on the load of the machine.
type Clock func() time.Time

func (c Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}

func (c Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// look is the interval between checks of a limit.
const look = 50 * time.Millisecond

// Limit returns a context that ends after d by the clock.
func (c Clock) Limit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if c == nil {
		return context.WithTimeout(ctx, d)
	}
	ctx, cancel := context.WithCancel(ctx)
	began := c.Now()
	go func() {
		tick := time.NewTicker(look)
		defer tick.Stop()
		for c.Since(began) < d {
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
