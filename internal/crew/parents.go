package crew

import "sync/atomic"

// Parents has a parent for each node, which is not greater than the node, so that every path ends
// at a root.
type Parents []uint32

// Find is the root of a node; the way there is halved. Other cores may unite at the same time.
func (p Parents) Find(v uint32) uint32 {
	for {
		to := atomic.LoadUint32(&p[v])
		if to == v {
			return v
		}
		next := atomic.LoadUint32(&p[to])
		if to != next {
			atomic.CompareAndSwapUint32(&p[v], to, next)
		}
		v = next
	}
}

// Unite joins the components of two nodes, and reports whether they were separate before. In any
// order of concurrent calls, the number of true results is the number of components lost.
func (p Parents) Unite(a, b uint32) bool {
	for {
		if a, b = p.Find(a), p.Find(b); a == b {
			return false
		}
		if low, high := min(a, b), max(a, b); atomic.CompareAndSwapUint32(&p[high], high, low) {
			return true
		}
	}
}
