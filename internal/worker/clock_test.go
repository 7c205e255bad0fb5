package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A limit follows the given clock: the clock ends the context, and so does its parent.
func TestLimitsOfClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64 // nanoseconds; the limit's goroutine reads them too
		c := Clock(func() time.Time { return time.Unix(0, reads.Load()) })
		ctx, stop := c.Limit(t.Context(), time.Second)
		defer stop()
		time.Sleep(time.Hour) // by another clock
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("ended before its time")
		}
		reads.Add(int64(time.Second))
		time.Sleep(2 * look)
		synctest.Wait()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("at its time: %v", ctx.Err())
		}
		ctx, stop = c.Limit(t.Context(), time.Second)
		stop()
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("not ended by who asked for it")
		}
	})
}
