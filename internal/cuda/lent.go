package cuda

import "eccbench/internal/device"

var _ device.Guest = (*context)(nil)

// LentStream wraps a stream of the primary context that another library of the process owns, such
// as torch or CuPy. The handles 0, 1 and 2 are the default streams.
func (c *context) LentStream(name string, handle uint64) device.Stream {
	return &stream{object: object{c: c, kind: "stream", name: name, handle: uintptr(handle), lent: true}}
}

func (c *context) LentBuffer(name string, address uint64, bytes int64) device.Buffer {
	return &buffer{object{c: c, kind: "buffer", name: name, bytes: bytes, handle: uintptr(address), lent: true}}
}

// Program returns the addresses of two functions of the driver, the context, and the number of launches. For
// each launch follow the kernel, its grid, block and shared memory, the number of arguments and two words for
// each of them: 0 and the argument, or the number of an address and an offset.
func (c *context) Program(f func(device.Stream) error) ([]uint64, error) {
	s := c.LentStream("a program", 0).(*stream)
	s.program = []uint64{uint64(c.lib.fn[cuLaunchKernel]), uint64(c.lib.fn[cuCtxGetCurrent]), uint64(c.handle), 0}
	err := f(s)
	return s.program, err
}

// write appends a launch to the stream's program.
func (s *stream) write(f *function, shape [7]uintptr, args []any) {
	s.program[3]++
	s.program = append(s.program, uint64(f.handle))
	for _, n := range shape {
		s.program = append(s.program, uint64(n))
	}
	s.program = append(s.program, uint64(len(args)))
	for i, arg := range args {
		slot, value := uint64(0), s.c.args.values[i]
		if _, ok := arg.(device.Memory); ok {
			slot, value = device.Slot(value)
		}
		s.program = append(s.program, slot, value)
	}
}
