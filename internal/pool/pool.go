// Package pool reuses the memory of a call for the next call, of the same job or another one. So a
// process pays for its pages once.
package pool

import (
	"sync"
	"unsafe"

	"eccbench/internal/grid"
)

// A Pool is memory that is free and memory that is taken. A nil one keeps nothing. It is for
// one goroutine at a time.
type Pool struct{ free, taken [][]uint64 }

// A Stock is the pools of jobs, kept as long as one of them is open.
type Stock struct {
	mu   sync.Mutex
	jobs int
	idle []*Pool
}

// Open counts a job in, and Close out.
func (s *Stock) Open() { s.count(1) }

// Close frees all memory with the last job.
func (s *Stock) Close() { s.count(-1) }

func (s *Stock) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs += n; s.jobs == 0 {
		s.idle = nil
	}
}

// Borrow is a pool until it is returned.
func (s *Stock) Borrow() *Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		p := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return p
	}
	return new(Pool)
}

// Return returns all taken memory to the pool.
func (s *Stock) Return(p *Pool) {
	p.Reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs > 0 {
		s.idle = append(s.idle, p)
	}
}

// Take returns n values of a type without pointers. Their contents are arbitrary.
func Take[T any](p *Pool, n int) []T {
	var zero T
	words := int((uintptr(n)*unsafe.Sizeof(zero) + 7) / 8)
	if words == 0 {
		return []T{}
	}
	block := p.block(words)
	return unsafe.Slice((*T)(unsafe.Pointer(&block[0])), n)
}

// Zeros is Take with zeros.
func Zeros[T any](p *Pool, n int) []T {
	v := Take[T](p, n)
	clear(v)
	return v
}

// Give returns memory of Take early, before Reset.
func Give[T any](p *Pool, v []T) {
	if p == nil || cap(v) == 0 {
		return
	}
	at := unsafe.Pointer(unsafe.SliceData(v))
	for i, block := range p.taken {
		if unsafe.Pointer(&block[0]) == at {
			p.free = append(p.free, block)
			p.taken[i] = p.taken[len(p.taken)-1]
			p.taken = p.taken[:len(p.taken)-1]
			return
		}
	}
	panic("pool: what is given back was not taken")
}

// Reset returns all memory to the pool.
func (p *Pool) Reset() { p.free, p.taken = append(p.free, p.taken...), p.taken[:0] }

// Fill writes a word over all that is free.
func (p *Pool) Fill(word uint64) {
	for _, block := range p.free {
		for i := range block {
			block[i] = word
		}
	}
}

// block returns the smallest free block of at least words, or a new one. A block that is more than
// half again as large is left for larger requests.
func (p *Pool) block(words int) []uint64 {
	if p == nil {
		return grid.NewValues[uint64](int64(words))
	}
	best := -1
	for i, block := range p.free {
		if n := len(block); n >= words && n <= words+words/2+64 && (best < 0 || n < len(p.free[best])) {
			best = i
		}
	}
	var block []uint64
	if best < 0 {
		block = grid.NewValues[uint64](int64(words))
	} else {
		block = p.free[best]
		p.free[best] = p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
	}
	p.taken = append(p.taken, block)
	return block
}
