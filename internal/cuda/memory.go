package cuda

import (
	"fmt"
	"unsafe"

	"eccbench/internal/device"
)

type buffer struct{ object }

func (b *buffer) Bytes() int64 { return b.bytes }

func (b *buffer) Address() uint64 { return b.address() }

// address returns the address of the memory, or 0 once it is freed.
func (o *object) address() uint64 {
	if o.closed.Load() {
		return 0
	}
	return uint64(o.handle)
}

func (c *context) Alloc(name string, bytes int64) (device.Buffer, error) {
	b := &buffer{object{kind: "buffer", name: name, bytes: bytes, free: cuMemFree}}
	if bytes <= 0 {
		return nil, fmt.Errorf("buffer %q: a size of %d bytes", name, bytes)
	}
	return added[device.Buffer](c, b, &b.object, func() error {
		return c.call(cuMemAlloc, b, uintptr(unsafe.Pointer(&b.handle)), uintptr(bytes))
	})
}

type pinned struct {
	object
	data []byte
}

func (p *pinned) Bytes() int64 { return p.bytes }

// Address returns the address on the device, which equals that on the host: since CUDA 4, 64-bit
// systems have one address space.
func (p *pinned) Address() uint64 { return p.address() }

func (p *pinned) Data() []byte {
	if p.closed.Load() {
		return nil
	}
	return p.data
}

// The flags of pinned memory: known to every context, and in the device's
// address space.
const hostPortable, hostMapped = 1, 2

func (c *context) AllocPinned(name string, bytes int64) (device.Pinned, error) {
	p := &pinned{object: object{kind: "pinned memory", name: name, bytes: bytes, free: cuMemFreeHost}}
	if bytes <= 0 {
		return nil, fmt.Errorf("pinned memory %q: a size of %d bytes", name, bytes)
	}
	return added[device.Pinned](c, p, &p.object, func() error {
		var at unsafe.Pointer
		if err := c.call(cuMemHostAlloc, p, uintptr(unsafe.Pointer(&at)), uintptr(bytes),
			hostPortable|hostMapped); err != nil {
			return err
		}
		p.handle, p.data = uintptr(at), unsafe.Slice((*byte)(at), bytes)
		return nil
	})
}

// onHost reports whether the object is memory of the host.
func (o *object) onHost() bool { return o.free == cuMemFreeHost || o.free == cuMemHostUnregister }

// Register pins memory that is there already.
func (c *context) Register(name string, mem []byte) (device.Pinned, error) {
	p := &pinned{object: object{kind: "registered memory", name: name, bytes: int64(len(mem)), free: cuMemHostUnregister},
		data: mem}
	if len(mem) == 0 {
		return nil, fmt.Errorf("registered memory %q: a size of 0 bytes", name)
	}
	return added[device.Pinned](c, p, &p.object, func() error {
		p.handle = uintptr(unsafe.Pointer(&mem[0]))
		return c.call(cuMemHostRegister, p, p.handle, uintptr(len(mem)), hostPortable|hostMapped)
	})
}

// memory is the object behind memory of this device, or pinned on the host for whichever device,
// when n bytes from at are within it.
func (c *context) memory(m device.Memory, at, n int64) (*object, error) {
	var o *object
	switch m := m.(type) {
	case *buffer:
		o = &m.object
	case *pinned:
		o = &m.object
	}
	err := owned(c, "memory", o)
	if o != nil && o.onHost() && o.c.lib == c.lib {
		err = o.usable() // pinned memory is known to every context
	}
	if err != nil {
		return nil, err
	}
	if at < 0 || n < 0 || at > o.bytes-n {
		return nil, fmt.Errorf("%s: %d bytes at %d are not within its %d", o, n, at, o.bytes)
	}
	return o, nil
}
