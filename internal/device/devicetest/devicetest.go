// Package devicetest is an accelerator for tests: its memory is the host's and its kernels are Go
// functions, so drivers of devices can be tested without one.
//
// Work in streams is done late, when somebody waits for that stream: code that forgets to wait, or
// to let one stream wait for another, sees the old contents. Each stream has a clock, on which a
// launch takes a millisecond per block.
package devicetest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"eccbench/internal/device"
	"eccbench/kernels"
)

// A Kernel executes a launch of a shape with the given arguments. at returns the memory of its
// device from an address to the end of the allocation.
type Kernel func(shape device.Launch, at func(address uint64) ([]byte, error), args []any) error

// New returns a driver of the given number of devices. find returns a kernel by name, or nil; a
// module has the kernels that its code names.
func New(devices int, find func(name string) Kernel) *Driver {
	return &Driver{devices: devices, find: find, sms: 2, threads: 1024}
}

// A Driver drives stand-ins. All they do is one after the other.
type Driver struct {
	devices int
	find    func(name string) Kernel
	refuses bool
	hurried string
	sms     int
	threads int
	streams atomic.Uint64 // that were made
	mu      sync.Mutex
}

// Multiprocessors sets the number of multiprocessors of each device.
func (d *Driver) Multiprocessors(n int) { d.sms = n }

// ThreadsPerBlock sets how many threads a block may have, 1024 unless set.
func (d *Driver) ThreadsPerBlock(n int) { d.threads = n }

// Hurry runs the work of all streams of a name as soon as it is added. Code that forgets to let
// such a stream wait for another then runs too early.
func (d *Driver) Hurry(stream string) { d.hurried = stream }

// RefuseMachineCode makes the devices load no machine code, as older drivers do.
func (d *Driver) RefuseMachineCode() { d.refuses = true }

// refused is the error of code that a device rejects.
type refused struct{}

func (refused) Error() string     { return "no code for this device" }
func (refused) CodeRefused() bool { return true }

var _ device.Driver = (*Driver)(nil)
var _ device.Guest = (*standin)(nil)

// Version is made up.
func (*Driver) Version() string { return "12.8" }

// Devices describes the stand-ins, which are all equal.
func (d *Driver) Devices() ([]device.Info, error) {
	list := make([]device.Info, d.devices)
	for i := range list {
		list[i] = device.Info{
			Index: i, Count: d.devices, Name: "Stand-in", UUID: fmt.Sprintf("GPU-%d", i), PCI: fmt.Sprintf("0000:%02x:00.0", i),
			Driver: d.Version(),
			Major:  9, Memory: 1 << 34, L2: 1 << 10, Shared: 48 << 10, SharedOptIn: 227 << 10, SharedPerSM: 228 << 10,
			Registers: 1 << 16,
			SMs:       d.sms, Warp: 32, ThreadsPerBlock: d.threads, ThreadsPerSM: 2048, BlocksPerSM: 32,
			Texture2D: [2]int64{131072, 65536}, Texture3D: [3]int64{16384, 16384, 16384},
		}
	}
	return list, nil
}

// Open makes a stand-in.
func (d *Driver) Open(index int) (device.Device, error) {
	list, err := d.Devices()
	if err != nil || index < 0 || index >= len(list) {
		return nil, fmt.Errorf("device %d: there are %d", index, len(list))
	}
	return &standin{driver: d, info: list[index], live: map[any]string{}}, nil
}

type standin struct {
	driver *Driver
	info   device.Info
	live   map[any]string // open objects, by name
	held   int64          // the most bytes that memory of the device took
	closed bool
}

func (s *standin) Info() device.Info        { return s.info }
func (s *standin) Do(f func() error) error  { return f() }
func (s *standin) ResetPersistingL2() error { return nil }
func (s *standin) Sensors() device.Sensors  { return sensors{} }

func (s *standin) Memory() (free, total int64, err error) {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	return s.info.Memory - s.usedBytes(), s.info.Memory, nil
}

func (s *standin) AllocatedBytes() int64 {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	return s.held
}

// usedBytes is the bytes of the device's memory that are taken.
func (s *standin) usedBytes() (bytes int64) {
	for o := range s.live {
		if m, ok := o.(*memory); ok && !m.host {
			bytes += m.Bytes()
		}
	}
	return bytes
}

func (s *standin) FlushL2(st device.Stream) error {
	return s.ownStream(st).add(func(*stream) error { return nil })
}

func (s *standin) Close() error {
	s.closed = true
	var errs []error
	for _, name := range s.live {
		errs = append(errs, fmt.Errorf("%s: not closed before its device", name))
	}
	return errors.Join(errs...)
}

// keep registers a new object.
func (s *standin) keep(o any, name string) error {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	if s.closed {
		return errors.New("the device is closed")
	}
	s.live[o] = name
	s.held = max(s.held, s.usedBytes())
	return nil
}

func (s *standin) drop(o any) {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	delete(s.live, o)
}

func (s *standin) owns(o any) bool {
	_, ok := s.live[o]
	return ok
}

// memory is a buffer of the device, or pinned memory of the host.
type memory struct {
	on   *standin
	name string
	data []byte
	host bool

	registered, lent bool
}

func (m *memory) Name() string    { return m.name }
func (m *memory) Bytes() int64    { return int64(len(m.data)) }
func (m *memory) Data() []byte    { return m.data }
func (m *memory) Address() uint64 { return uint64(uintptr(unsafe.Pointer(&m.data[0]))) }

func (m *memory) Close() error {
	if !m.lent {
		m.on.drop(m)
	}
	return nil
}

func (s *standin) alloc(name string, bytes int64, host bool) (*memory, error) {
	if bytes <= 0 {
		return nil, fmt.Errorf("%s: a size of %d bytes", name, bytes)
	}
	m := &memory{on: s, name: name, data: slices.Repeat([]byte{0xa5}, int(bytes)), host: host}
	return m, s.keep(m, name)
}

func (s *standin) Alloc(name string, bytes int64) (device.Buffer, error) {
	return s.alloc(name, bytes, false)
}

// LentBuffer returns a part of memory that was allocated here. It panics for other memory.
func (s *standin) LentBuffer(name string, address uint64, bytes int64) device.Buffer {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	data, err := s.memoryAt(address)
	if err != nil || int64(len(data)) < bytes {
		panic(fmt.Sprintf("%s: %d bytes at %#x: nobody allocated them", name, bytes, address))
	}
	return &memory{on: s, name: name, data: data[:bytes:bytes], lent: true}
}

// Program returns nil.
func (s *standin) Program(func(device.Stream) error) ([]uint64, error) { return nil, nil }

func (s *standin) AllocPinned(name string, bytes int64) (device.Pinned, error) {
	return s.alloc(name, bytes, true)
}

func (s *standin) Register(name string, mem []byte) (device.Pinned, error) {
	m := &memory{on: s, name: name, data: mem, host: true, registered: true}
	if s.overlaps(m) {
		return nil, fmt.Errorf("%s: %w", name, alreadyRegistered{})
	}
	return m, s.keep(m, name)
}

// alreadyRegistered is the error of memory whose pages are registered already.
type alreadyRegistered struct{}

func (alreadyRegistered) Error() string    { return "pages of it are registered already" }
func (alreadyRegistered) Registered() bool { return true }

// overlaps reports whether memory shares a page with registered memory, as drivers check it.
func (s *standin) overlaps(m *memory) bool {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	first, last := m.pages()
	for o := range s.live {
		if r, ok := o.(*memory); ok && r.registered {
			if lo, hi := r.pages(); lo <= last && first <= hi {
				return true
			}
		}
	}
	return false
}

// pages are the first and the last page of memory.
func (m *memory) pages() (first, last uint64) {
	page := uint64(os.Getpagesize())
	return m.Address() / page, (m.Address() + uint64(len(m.data)) - 1) / page
}

// An array is memory with its texels packed, in rows.
type array struct {
	*memory
	layout device.ArrayLayout
}

func (s *standin) AllocArray(name string, layout device.ArrayLayout) (device.Array, error) {
	m, err := s.alloc(name, layout.Bytes(), false)
	if err != nil {
		return nil, err
	}
	return &array{m, layout}, nil
}

func (a *array) Layout() device.ArrayLayout { return a.layout }

// slice is the bytes of a plane, or of a row of a two-dimensional array.
func (a *array) slice() int64 {
	if a.layout.Depth > 0 {
		return a.Bytes() / a.layout.Depth
	}
	return a.Bytes() / a.layout.Height
}

// A texture fetches from an array. Its handle in a kernel is the address of the texels.
type texture struct {
	of   *array
	name string
}

func (a *array) NewTexture(name string, _ device.Sampling) (device.Texture, error) {
	t := &texture{a, name}
	return t, a.on.keep(t, name)
}

func (t *texture) Name() string   { return t.name }
func (t *texture) Handle() uint64 { return t.of.Address() }

func (t *texture) Close() error {
	t.of.on.drop(t)
	return nil
}

// part is n bytes of memory that this device can use.
func (s *standin) part(m device.Memory, at, n int64) ([]byte, error) {
	mine, ok := m.(*memory)
	if !ok || !mine.host && mine.on != s || !mine.lent && !mine.on.owns(mine) {
		return nil, fmt.Errorf("memory of another device than %d, or closed", s.info.Index)
	}
	if at < 0 || n < 0 || at+n > int64(len(mine.data)) {
		return nil, fmt.Errorf("%s: %d bytes at %d of %d", mine.name, n, at, len(mine.data))
	}
	return mine.data[at : at+n], nil
}

// memoryAt returns the memory that kernels can access, on the device or pinned, from an address on.
func (s *standin) memoryAt(address uint64) ([]byte, error) {
	for o := range s.live {
		if m, ok := o.(*memory); ok && address >= m.Address() && address < m.Address()+uint64(len(m.data)) {
			return m.data[address-m.Address():], nil
		}
	}
	return nil, fmt.Errorf("device %d has no memory at %#x", s.info.Index, address)
}

type module struct {
	on      *standin
	name    string
	kernels []string
}

func (m *module) Name() string { return m.name }
func (m *module) Log() string  { return "" }

func (m *module) Close() error {
	m.on.drop(m)
	return nil
}

func (s *standin) LoadModule(name string, code []byte) (device.Module, error) {
	list := kernels.Entries
	if IsMachine(code) {
		if s.driver.refuses {
			return nil, fmt.Errorf("module %q: %w", name, refused{})
		}
		list = MachineEntries
	}
	names, err := list(name, code)
	if err != nil {
		return nil, err
	}
	m := &module{s, name, names}
	return m, s.keep(m, name)
}

type function struct {
	m    *module
	name string
	run  Kernel
}

func (m *module) Function(name string) (device.Function, error) {
	if k := m.on.driver.find(name); k != nil && slices.Contains(m.kernels, name) {
		return &function{m, name, k}, nil
	}
	return nil, fmt.Errorf("no kernel %q in module %q", name, m.name)
}

func (f *function) Name() string                      { return f.name }
func (f *function) Attributes() device.Attributes     { return device.Attributes{MaxThreads: 1024} }
func (f *function) AllowShared(int64) error           { return nil }
func (f *function) Occupancy(_, _ int64) (int, error) { return 1, nil }

type sensors struct{}

func (sensors) Read() device.Readings {
	none := device.Reading{Missing: "a stand-in"}
	return device.Readings{
		Clock: none, MemoryClock: none, Temperature: none, Power: none, PowerLimit: none,
		Throttle: device.Reasons{Missing: "a stand-in"}, Others: device.Processes{Missing: "a stand-in"},
	}
}
func (sensors) Close() error { return nil }

const (
	launchTime = time.Millisecond // for each block
	otherTime  = time.Microsecond
)
