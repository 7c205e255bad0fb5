// Package crew runs goroutines together. A panic in one of them panics again in the goroutine that
// waits for them, so a host process can recover.
package crew

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Group is goroutines to wait for. Its zero value has none.
type Group struct {
	wg    sync.WaitGroup
	fault atomic.Pointer[Panic]
}

// A Panic is the first that one of the goroutines had.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Go runs a function on a goroutine of its own.
func (g *Group) Go(f func()) { g.wg.Go(func() { g.Run(f) }) }

// Run runs a function on the caller's goroutine, as one of those to wait for: to start another
// takes longer than a small task.
func (g *Group) Run(f func()) {
	defer func() {
		if p := recover(); p != nil {
			g.fault.CompareAndSwap(nil, &Panic{p, debug.Stack()})
		}
	}()
	f()
}

// Each calls f with every number below n, all at the same time, the last on the caller's goroutine.
// It waits as Wait does.
func Each(n int, f func(i int)) {
	var g Group
	for i := range n - 1 {
		g.Go(func() { f(i) })
	}
	if n > 0 {
		g.Run(func() { f(n - 1) })
	}
	g.Wait()
}

// Starts converts counts to offsets. count[core][kind] becomes the place where the core's elements
// of a kind begin, in a list sorted by kind and then by core. start receives the first place of
// each kind, and the end of the last.
func Starts(count [][]uint32, start []uint32) {
	at, last := uint32(0), len(start)-1
	for kind := range last {
		start[kind] = at
		for _, own := range count {
			at, own[kind] = at+own[kind], at
		}
	}
	start[last] = at
}

// Wait waits for all goroutines, and panics with a *Panic if one panicked.
func (g *Group) Wait() {
	if err := g.Await(); err != nil {
		panic(err)
	}
}

// Await waits for all of them, and returns the *Panic of one that panicked. Use it on a goroutine
// that no other one waits for.
func (g *Group) Await() error {
	g.wg.Wait()
	if p := g.fault.Load(); p != nil {
		return p
	}
	return nil
}
