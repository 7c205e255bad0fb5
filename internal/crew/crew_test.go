package crew_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"eccbench/internal/crew"
)

func TestAllRun(t *testing.T) {
	var g crew.Group
	var n atomic.Int64
	for range 10 {
		g.Go(func() { n.Add(1) })
	}
	g.Wait()
	if n.Load() != 10 {
		t.Errorf("%d of 10 ran before Wait returned", n.Load())
	}
}

// The other goroutines end first, and the panic has the stack of its origin.
func TestPanicComesToWhoWaits(t *testing.T) {
	var g crew.Group
	var n atomic.Int64
	for i := range 10 {
		run := g.Go
		if i%2 == 1 {
			run = g.Run
		}
		run(func() {
			if i == 3 {
				panic("broken")
			}
			n.Add(1)
		})
	}
	defer func() {
		p, ok := recover().(*crew.Panic)
		if !ok || p.Value != "broken" || !strings.Contains(p.Error(), "crew_test.go") || n.Load() != 9 {
			t.Errorf("Wait panicked with %v after %d of the others", p, n.Load())
		}
	}()
	g.Wait()
	t.Error("Wait returned")
}

// Await returns the first panic instead of ending its goroutine.
func TestAwait(t *testing.T) {
	var g crew.Group
	if err := g.Await(); err != nil {
		t.Errorf("of none: %v", err)
	}
	g.Run(func() { panic("broken") })
	g.Run(func() { panic("again") })
	if p, ok := g.Await().(*crew.Panic); !ok || p.Value != "broken" {
		t.Errorf("%v, want what broke first", p)
	}
}

// Each number is passed once, the last one on the caller's goroutine, whose panic is handled like
// the others.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7} {
		calls := make([]atomic.Int64, n)
		crew.Each(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if c := calls[i].Load(); c != 1 {
				t.Errorf("of %d: %d was called %d times", n, i, c)
			}
		}
		for bad := range n {
			func() {
				var others atomic.Int64
				defer func() {
					if p, ok := recover().(*crew.Panic); !ok || p.Value != bad || others.Load() != int64(n-1) {
						t.Errorf("of %d, %d panics: %v after %d of the others", n, bad, p, others.Load())
					}
				}()
				crew.Each(n, func(i int) {
					if i == bad {
						panic(bad)
					}
					others.Add(1)
				})
			}()
		}
	}
}

// Each task runs once, on a goroutine of a number below those given, and no goroutine is without a task.
func TestInTurn(t *testing.T) {
	for _, c := range []struct{ n, tasks, workers int }{{3, 10, 3}, {3, 2, 2}, {1, 5, 1}, {4, 0, 0}} {
		runs := make([]atomic.Int64, c.tasks)
		crew.InTurn(c.n, c.tasks, func(worker, task int) {
			if worker < 0 || worker >= c.workers {
				t.Errorf("%+v: worker %d", c, worker)
			}
			runs[task].Add(1)
		})
		for task := range runs {
			if n := runs[task].Load(); n != 1 {
				t.Errorf("%+v: task %d ran %d times", c, task, n)
			}
		}
	}
}
