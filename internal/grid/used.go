package grid

import (
	"slices"
	"sync"
	"unsafe"
	"weak"
)

// used is a pool of buffers for the next image of a process. They are not zeroed, and the garbage
// collector may free them.
var used struct {
	sync.Mutex
	list []usedBuffer
}

type usedBuffer struct {
	first weak.Pointer[byte]
	n     int64
}

// takeBuffer returns a buffer of n bytes with arbitrary content, aligned as by NewBuffer.
func takeBuffer(n int64) []byte {
	used.Lock()
	defer used.Unlock()
	for i, u := range used.list {
		if u.n < n || u.n > 2*n {
			continue
		}
		if first := u.first.Value(); first != nil {
			used.list = slices.Delete(used.list, i, i+1)
			return unsafe.Slice(first, u.n)[:n]
		}
	}
	return NewBuffer(n)
}

// leaveBuffer returns a buffer to the pool.
func leaveBuffer(b []byte) {
	if cap(b) == 0 {
		return
	}
	b = b[:cap(b)]
	used.Lock()
	defer used.Unlock()
	used.list = slices.DeleteFunc(used.list, func(u usedBuffer) bool { return u.first.Value() == nil })
	used.list = append(used.list, usedBuffer{weak.Make(&b[0]), int64(len(b))})
}
