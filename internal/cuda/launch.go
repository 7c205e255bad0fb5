package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"eccbench/internal/device"
)

// maxArgs is the greatest number of arguments of a kernel, also in internal/exports/launch.go.
const maxArgs = 64

// maxCall is the greatest number of arguments of a driver function.
const maxCall = 11

// arguments holds the arguments of driver calls, so that calls allocate nothing. It is pinned. Only
// the caller whose turn it is writes to it, except to pop.
type arguments struct {
	values   [maxArgs]uint64  // of a launch; the driver has read them when it returns
	pointers [maxArgs]uintptr // to each of them
	call     [maxCall]uintptr // of a function
	copy     copyDescriptor
	elapsed  float32    // result of the call
	popped   uintptr    // the context that was popped, which is this one for every thread
	pop      [1]uintptr // where that is
	current  uintptr    // the context of the caller's thread
	get      [1]uintptr // where that is
}

func newArguments() *arguments {
	a := new(arguments)
	for i := range a.values {
		a.pointers[i] = uintptr(unsafe.Pointer(&a.values[i]))
	}
	a.pop[0], a.get[0] = uintptr(unsafe.Pointer(&a.popped)), uintptr(unsafe.Pointer(&a.current))
	return a
}

// set writes the arguments of a kernel, little-endian like every machine that the driver supports.
func (c *context) set(f *function, args []any) error {
	if len(args) > maxArgs {
		return fmt.Errorf("launching %s: %d arguments, at most %d are passed", f, len(args), maxArgs)
	}
	if f.params != nil && len(args) != len(f.params) {
		return fmt.Errorf("launching %s: %d arguments, it has %d parameters", f, len(args), len(f.params))
	}
	for i, arg := range args {
		value, size, err := c.value(arg)
		if err != nil {
			return fmt.Errorf("launching %s: argument %d: %w", f, i, err)
		}
		if f.params != nil && size != f.params[i] {
			return fmt.Errorf("launching %s: argument %d is a %T of %d bytes, the parameter has %d", f, i, arg, size,
				f.params[i])
		}
		c.args.values[i] = value
	}
	return nil
}

// value is the bits of one argument and how many bytes of them count.
func (c *context) value(arg any) (bits uint64, size int64, err error) {
	switch v := arg.(type) {
	case int32:
		return uint64(uint32(v)), 4, nil
	case uint32:
		return uint64(v), 4, nil
	case float32:
		return uint64(math.Float32bits(v)), 4, nil
	case int64:
		return uint64(v), 8, nil
	case uint64:
		return v, 8, nil
	case float64:
		return math.Float64bits(v), 8, nil
	case device.Memory:
		o, err := c.memory(v, 0, 0)
		if err != nil {
			return 0, 0, err
		}
		return o.address(), 8, nil
	case device.Texture:
		t, _ := v.(*texture)
		if t == nil {
			return 0, 0, owned(c, "texture", nil)
		}
		return t.address(), 8, owned(c, "texture", &t.object)
	}
	return 0, 0, fmt.Errorf("a %T cannot be passed", arg)
}

func (s *stream) Launch(k device.Function, shape device.Launch, args ...any) error {
	f, _ := k.(*function)
	if f == nil || f.m.c != s.c {
		return fmt.Errorf("%s: the kernel is nil or of another device", s.c)
	}
	extents := [7]int64{shape.Grid.X, shape.Grid.Y, shape.Grid.Z, shape.Block.X, shape.Block.Y, shape.Block.Z,
		shape.Shared}
	var n [7]uintptr
	for i, extent := range extents {
		if extent < 0 || extent > math.MaxInt32 {
			return fmt.Errorf("launching %s: %d blocks × %d threads with %d bytes of shared memory", f, shape.Grid, shape.Block,
				shape.Shared)
		}
		if n[i] = uintptr(extent); i < 6 {
			n[i] = max(1, n[i])
		}
	}
	in, err := s.begin()
	if err != nil {
		return err
	}
	defer in.leave()
	if err := f.m.usable(); err != nil {
		return err
	}
	if err := s.c.set(f, args); err != nil {
		return err
	}
	if s.program != nil {
		s.write(f, n, args)
		return nil
	}
	s.last.Store(f)
	return in.call(cuLaunchKernel, f, f.handle, n[0], n[1], n[2], n[3], n[4], n[5], n[6], s.handle,
		uintptr(unsafe.Pointer(&s.c.args.pointers)), 0)
}
