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
