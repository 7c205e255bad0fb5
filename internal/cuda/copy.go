package cuda

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"eccbench/internal/device"
)

func (s *stream) Copy(to device.Memory, at int64, from device.Memory, off, n int64) error {
	in, err := s.enter()
	if err != nil {
		return err
	}
	defer in.leave()
	dst, err := s.c.memory(to, at, n)
	if err != nil {
		return err
	}
	src, err := s.c.memory(from, off, n)
	if err != nil || n == 0 {
		return err
	}
	call := cuMemcpyDtoDAsync
	switch {
	case dst.onHost() && src.onHost():
		return fmt.Errorf("%s: a copy from %s, neither of which is on the device", dst, src)
	case dst.onHost():
		call = cuMemcpyDtoHAsync
	case src.onHost():
		call = cuMemcpyHtoDAsync
	}
	return in.call(call, dst, dst.handle+uintptr(at), src.handle+uintptr(off), uintptr(n), s.handle)
}

func (s *stream) Upload(to device.Buffer, at int64, from []byte) error {
	return s.whilePinned(from, func(in visit, addr uintptr) error {
		dst, err := s.c.memory(to, at, int64(len(from)))
		if err != nil || len(from) == 0 {
			return err
		}
		return in.call(cuMemcpyHtoDAsync, dst, dst.handle+uintptr(at), addr, uintptr(len(from)), s.handle)
	})
}

func (s *stream) Download(to []byte, from device.Buffer, off int64) error {
	return s.whilePinned(to, func(in visit, addr uintptr) error {
		src, err := s.c.memory(from, off, int64(len(to)))
		if err != nil || len(to) == 0 {
			return err
		}
		return in.call(cuMemcpyDtoHAsync, src, addr, src.handle+uintptr(off), uintptr(len(to)), s.handle)
	})
}

// whilePinned adds a copy from or to Go memory and keeps the memory in its place
// until the stream is done.
func (s *stream) whilePinned(mem []byte, copy func(in visit, addr uintptr) error) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	var addr uintptr
	if len(mem) > 0 {
		pin.Pin(&mem[0])
		addr = uintptr(unsafe.Pointer(&mem[0]))
	}
	add := func() error {
		in, err := s.enter()
		if err != nil {
			return err
		}
		defer in.leave()
		return copy(in, addr)
	}
	if err := add(); err != nil {
		return err
	}
	return s.Wait()
}

// The driver's numbers for kinds of memory.
const (
	memoryHost   = 1
	memoryDevice = 2
	memoryArray  = 3
)

// copyPart is the half of CUDA_MEMCPY3D for the source, or for the destination.
type copyPart struct {
	x, y, z, level uint64 // x in bytes
	memory, _      uint32
	host, device   uint64
	array          uint64
	_              uint64
	pitch, height  uint64
}

// copyDescriptor is CUDA_MEMCPY3D.
type copyDescriptor struct {
	from, to             copyPart
	width, height, depth uint64 // width in bytes
}

func (s *stream) CopySlices(to device.Array, i, n int64, from device.Memory, off int64) error {
	in, err := s.enter()
	if err != nil {
		return err
	}
	defer in.leave()
	a, _ := to.(*array)
	if a == nil {
		return owned(s.c, "array", nil)
	}
	if err := owned(s.c, "array", &a.object); err != nil {
		return err
	}
	if i < 0 || n < 0 || i > a.slices()-n {
		return fmt.Errorf("%s: %d slices at %d are not within its %d", a, n, i, a.slices())
	}
	src, err := s.c.memory(from, off, n*a.slice())
	if err != nil || n == 0 {
		return err
	}
	part := copyPart{memory: memoryDevice, device: uint64(src.handle) + uint64(off)}
	if src.onHost() {
		part = copyPart{memory: memoryHost, host: uint64(src.handle) + uint64(off)}
	}
	part.pitch = uint64(a.pitch())
	desc := &s.c.args.copy
	*desc = copyDescriptor{from: part, to: copyPart{memory: memoryArray, array: uint64(a.handle)}, width: part.pitch}
	if a.layout.Depth == 0 {
		desc.to.y, desc.height, desc.depth = uint64(i), uint64(n), 1
	} else {
		desc.to.z, desc.height, desc.depth = uint64(i), uint64(a.layout.Height), uint64(n)
	}
	desc.from.height = desc.height
	return in.call(cuMemcpy3DAsync, a, uintptr(unsafe.Pointer(desc)), s.handle)
}

func (s *stream) Fill(to device.Buffer, at, n int64, value byte) error {
	in, err := s.enter()
	if err != nil {
		return err
	}
	defer in.leave()
	dst, err := s.c.memory(to, at, n)
	if err != nil || n == 0 {
		return err
	}
	return in.call(cuMemsetD8Async, dst, dst.handle+uintptr(at), uintptr(value), uintptr(n), s.handle)
}

func (s *stream) Fill32(to device.Buffer, at, n int64, value uint32) error {
	if at%4 != 0 || n < 0 || n > math.MaxInt64/4 {
		return fmt.Errorf("%s: filling %d words at byte %d", s.c, n, at)
	}
	in, err := s.enter()
	if err != nil {
		return err
	}
	defer in.leave()
	dst, err := s.c.memory(to, at, 4*n)
	if err != nil || n == 0 {
		return err
	}
	return in.call(cuMemsetD32Async, dst, dst.handle+uintptr(at), uintptr(value), uintptr(n), s.handle)
}
