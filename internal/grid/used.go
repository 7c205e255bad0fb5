package grid

import (
	"slices"
	"sync"
	"unsafe"
	"weak"
)

// used are buffers for the next image of a process, which need not be zeroed, until they are
// collected.
var used struct {
	sync.Mutex
	list []usedBuffer
}

type usedBuffer struct {
	first weak.Pointer[byte]
	n     int64
}

// takeBuffer is a buffer of n bytes that may hold anything, aligned as NewBuffer's.
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

// leaveBuffer is for a buffer that nobody looks at any more.
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
