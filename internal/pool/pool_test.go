package pool_test

import (
	"slices"
	"testing"

	"eccbench/internal/pool"
)

func TestPool(t *testing.T) {
	var p pool.Pool
	a, b := pool.Take[uint32](&p, 1000), pool.Zeros[[2]uint64](&p, 300)
	for i := range a {
		a[i] = 7
	}
	for i := range b {
		b[i] = [2]uint64{8, 9}
	}
	if a[999] != 7 || len(a) != 1000 || len(b) != 300 {
		t.Fatal("one is written over the other")
	}
	pool.Give(&p, a)
	c := pool.Take[uint16](&p, 1999)
	if c[0] != 7 || &c[0] == &pool.Take[uint16](&p, 1999)[0] {
		t.Error("what was given back is not taken again, or twice")
	}
	p.Reset()
	if z := pool.Zeros[uint64](&p, 600); slices.Max(z) != 0 {
		t.Errorf("%d among zeros", slices.Max(z))
	}
	if d := pool.Take[uint64](&p, 3); len(d) != 3 {
		t.Error("room for three")
	}
	p.Reset()
	p.Fill(5)
	if e := pool.Take[uint64](&p, 600); e[0] != 5 || e[599] != 5 {
		t.Error("not all that is free is written over")
	}
	if n := len(pool.Take[uint64](&p, 0)); n != 0 {
		t.Errorf("%d of none", n)
	}
}

// A nil pool allocates new memory.
func TestNoPool(t *testing.T) {
	v := pool.Take[uint32](nil, 5)
	if slices.Max(v) != 0 || len(v) != 5 {
		t.Error(v)
	}
	pool.Give(nil, v)
}

func TestWhatWasNotTaken(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var p pool.Pool
	pool.Take[uint64](&p, 4)
	pool.Give(&p, make([]uint64, 4))
}

// A pool is borrowed again as long as a job is open.
func TestStock(t *testing.T) {
	var s pool.Stock
	s.Open()
	s.Open()
	p := s.Borrow()
	first := pool.Take[uint64](p, 100)
	if s.Borrow() == p {
		t.Error("a pool is borrowed twice")
	}
	s.Return(p)
	s.Close()
	if q := s.Borrow(); q != p || &pool.Take[uint64](q, 100)[0] != &first[0] {
		t.Error("a pool that was returned is not borrowed again")
	}
	s.Close()
	s.Return(p)
	s.Open()
	if s.Borrow() == p {
		t.Error("memory is kept after the last job")
	}
}
