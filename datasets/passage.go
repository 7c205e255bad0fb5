package datasets

import (
	"slices"
	"sync"
)

// A passage is the cascades from slice to slice of all tiles of a slab, as the slab left them:
// the one that follows it needs no margin before it.
type passage struct {
	next    int64      // the slice after the last one made
	marches []*cascade // of each tile, nil before the first slab
}

// passages are those of an image that wait for the slabs that follow theirs. Who reads one
// slab here and one there gets none: the first that follows another one begins a passage.
type passages struct {
	mu      sync.Mutex
	made    int64
	ends    []int64    // of the last slabs
	waiting []*passage // the one that waits longest first
}

const (
	// passageBytes is what the passages of an image take together, at most.
	passageBytes = 256 << 20
	// slabEnds is how many ends of slabs are kept: as many cores may read an image each.
	slabEnds = 256
)

// enter is a passage for a slab that begins at slice lo: one that goes on there, a new one
// while there is room for its cascades of so many bytes, or the one that has waited longest,
// which begins anew. It is nil where there is none, which every slab can do without.
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

// leave says that a slab ended before slice hi, and has its passage wait there, if it had one.
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
