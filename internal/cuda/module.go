package cuda

import (
	"bytes"
	"fmt"
	"runtime"
	"unsafe"

	"eccbench/internal/device"
)

type module struct {
	object
	log string
}

func (m *module) Log() string { return m.log }

// The driver's numbers for options of the compiler.
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitVerbose      = 12
)

// logBytes is the room for each of the compiler's logs.
const logBytes = 64 << 10

func (c *context) LoadModule(name string, code []byte) (device.Module, error) {
	m := &module{object: object{kind: "module", name: name, free: cuModuleUnload}}
	return added[device.Module](c, m, &m.object, func() error {
		var pin runtime.Pinner
		defer pin.Unpin()
		info, failure := make([]byte, logBytes), make([]byte, logBytes)
		pin.Pin(&info[0])
		pin.Pin(&failure[0])
		options := [...]int32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize, jitVerbose}
		values := [...]uintptr{
			uintptr(unsafe.Pointer(&info[0])), logBytes - 1,
			uintptr(unsafe.Pointer(&failure[0])), logBytes - 1, 1,
		}
		text := append(bytes.Clone(code), 0) // the driver reads to the end of a C string
		err := c.call(cuModuleLoadDataEx, m, uintptr(unsafe.Pointer(&m.handle)), uintptr(unsafe.Pointer(&text[0])),
			uintptr(len(options)), uintptr(unsafe.Pointer(&options)), uintptr(unsafe.Pointer(&values)))
		m.log = cstring(&info[0])
		if e, ok := err.(*Error); ok {
			e.Log = cstring(&failure[0])
		}
		return err
	})
}

type function struct {
	m      *module
	name   string
	handle uintptr
	attrs  device.Attributes
	params []int64 // the sizes of the parameters; nil if the driver does not report them
}

func (f *function) Name() string { return f.name }

// String names the kernel in errors.
func (f *function) String() string { return fmt.Sprintf("kernel %q of module %q", f.name, f.m.name) }

func (f *function) Attributes() device.Attributes { return f.attrs }

func (m *module) Function(name string) (device.Function, error) {
	f := &function{m: m, name: name}
	err := m.c.run(func() error {
		if err := m.usable(); err != nil {
			return err
		}
		text := append([]byte(name), 0)
		if err := m.c.call(cuModuleGetFunction, f, uintptr(unsafe.Pointer(&f.handle)), m.handle,
			uintptr(unsafe.Pointer(&text[0]))); err != nil {
			return err
		}
		if err := f.readAttributes(); err != nil {
			return err
		}
		return f.readParams()
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// The driver's numbers for attributes of kernels.
const (
	funcMaxThreads    = 0
	funcShared        = 1
	funcConstant      = 2
	funcLocal         = 3
	funcRegisters     = 4
	funcCode          = 5
	funcBinary        = 6
	funcDynamicShared = 8
)

func (f *function) readAttributes() error {
	var v [7]int32
	for n := range v {
		if err := f.m.c.call(cuFuncGetAttribute, f, uintptr(unsafe.Pointer(&v[n])), uintptr(n), f.handle); err != nil {
			return err
		}
	}
	f.attrs = device.Attributes{
		Registers: int(v[funcRegisters]), Shared: int64(v[funcShared]), Local: int64(v[funcLocal]),
		Constant:   int64(v[funcConstant]),
		MaxThreads: int(v[funcMaxThreads]), Code: int(v[funcCode]), Binary: int(v[funcBinary]),
	}
	return nil
}

// readParams reads the size of each parameter.
func (f *function) readParams() error {
	c := f.m.c
	if !c.lib.has(cuFuncGetParamInfo) {
		return nil
	}
	f.params = []int64{}
	for {
		var offset, size int64
		err := c.call(cuFuncGetParamInfo, f, f.handle, uintptr(len(f.params)), uintptr(unsafe.Pointer(&offset)),
			uintptr(unsafe.Pointer(&size)))
		if e, ok := err.(*Error); ok && e.Code == codeInvalidValue {
			return nil
		}
		if err != nil {
			return err
		}
		f.params = append(f.params, size)
	}
}

func (f *function) AllowShared(bytes int64) error {
	if bytes < 0 || bytes > f.m.c.info.SharedOptIn {
		return fmt.Errorf("%s: %d bytes of dynamic shared memory, %s has at most %d", f, bytes, f.m.c, f.m.c.info.SharedOptIn)
	}
	return f.run(func() error {
		return f.m.c.call(cuFuncSetAttribute, f, f.handle, funcDynamicShared, uintptr(bytes))
	})
}

func (f *function) Occupancy(threads, shared int64) (int, error) {
	if threads <= 0 || threads > int64(f.m.c.info.ThreadsPerBlock) || shared < 0 {
		return 0, fmt.Errorf("%s: occupancy of blocks of %d threads with %d bytes of shared memory, the limit is %d threads",
			f, threads, shared, f.m.c.info.ThreadsPerBlock)
	}
	var blocks int32
	err := f.run(func() error {
		return f.m.c.call(cuOccupancyMaxActiveBlocksPerMultiprocessor, f, uintptr(unsafe.Pointer(&blocks)), f.handle,
			uintptr(threads), uintptr(shared))
	})
	return int(blocks), err
}

// run runs g on the device's thread while the module is loaded.
func (f *function) run(g func() error) error {
	return f.m.c.run(func() error {
		if err := f.m.usable(); err != nil {
			return err
		}
		return g()
	})
}
