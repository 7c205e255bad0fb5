package random

import (
	"slices"
	"sync"
)

// A passage is the state of the cascades from slice to slice of all tiles at the end of a slab. The
// next slab needs no margin before it.
type passage struct {
	next    int64      // the slice after the last one of the slab
	marches []*cascade // of each tile, nil before the first slab
}

// passages are the passages of an image that wait for the next slab. Only a slab that follows an
// earlier one begins a passage, so random access makes none.
type passages struct {
	mu      sync.Mutex
	made    int64
	ends    []int64    // of the last slabs without a passage
	waiting []*passage // the longest waiting one first
}

const (
	// passageBytes is the greatest memory of the passages of an image together.
	passageBytes = 256 << 20
	// slabEnds is the number of slab ends that are kept, enough for many concurrent readers.
	slabEnds = 256
)

// enter returns a passage for a slab that begins at slice lo. It is the one that ends there; else,
// after an earlier slab, a new one if its cascades fit the memory; else the longest waiting one,
// reset. Without any it is nil, and the slab computes its margin.
func (p *passages) enter(lo, tiles, bytes int64) *passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.waiting, func(w *passage) bool { return w.next == lo }); i >= 0 {
		return p.take(i)
	}
	follows := slices.Index(p.ends, lo)
	if follows < 0 {
		return nil
	}
	p.ends = slices.Delete(p.ends, follows, follows+1)
	switch {
	case (p.made+1)*bytes <= passageBytes:
		p.made++
		return &passage{-1, make([]*cascade, tiles)}
	case len(p.waiting) > 0:
		w := p.take(0)
		w.next = -1
		return w
	}
	return nil
}

func (p *passages) take(i int) *passage {
	w := p.waiting[i]
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return w
}

// leave records that a slab ended before slice hi, and makes its passage, if any, wait there.
func (p *passages) leave(w *passage, hi int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w != nil {
		w.next = hi
		p.waiting = append(p.waiting, w)
		return
	}
	if len(p.ends) == slabEnds {
		p.ends = slices.Delete(p.ends, 0, 1)
	}
	p.ends = append(p.ends, hi)
}
