package crew_test

import (
	"fmt"
	"slices"
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

// The error is that of the lowest task that fails, below which all tasks ran, and none begins after it is known.
func TestTry(t *testing.T) {
	for _, n := range []int{1, 3, 200} {
		for _, failing := range [][]int{nil, {0}, {7, 8, 9}, {99}, {20, 40, 60, 80}} {
			runs := make([]atomic.Int64, 100)
			err := crew.Try(n, len(runs), func(worker, task int) error {
				if runs[task].Add(1); worker < 0 || worker >= n {
					t.Errorf("worker %d of %d", worker, n)
				}
				if slices.Contains(failing, task) {
					return fmt.Errorf("task %d", task)
				}
				return nil
			})
			below := len(runs)
			if len(failing) > 0 {
				below = failing[0] + 1
				if err == nil || err.Error() != fmt.Sprintf("task %d", failing[0]) {
					t.Errorf("%d workers, %v fail: %v", n, failing, err)
				}
			} else if err != nil {
				t.Error(err)
			}
			for task := range below {
				if c := runs[task].Load(); c != 1 {
					t.Errorf("%d workers, %v fail: task %d ran %d times", n, failing, task, c)
				}
			}
			if n == 1 && below < len(runs) && runs[below].Load() > 0 {
				t.Errorf("a task began after %v failed", failing)
			}
		}
	}
}

// All workers run, also without tasks, and an error after the last task is that of the task.
func TestWork(t *testing.T) {
	var begun atomic.Int64
	err := crew.Work(4, 2, func(worker int, next func() (int, bool)) error {
		begun.Add(1)
		if task, ok := next(); ok {
			next()
			return fmt.Errorf("task %d", task)
		}
		return nil
	})
	if begun.Load() != 4 || err == nil {
		t.Errorf("%d workers, %v", begun.Load(), err)
	}
}
