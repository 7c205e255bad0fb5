// Package device defines the interfaces and plain types of an accelerator for implementations.
// Drivers such as internal/cuda implement them. Every size, count and offset has 64 bits and is in
// bytes unless its name differs.
//
// Every object has a name, which its errors repeat, and belongs to the device that made it. The
// caller that made an object closes it. Closing an object twice is harmless, but any other call
// after Close is an error. All methods may be called from several goroutines at once. Close an
// object only when nothing uses it: close memory after waiting for the streams that use it.
package device

// A Driver is the software that drives the devices of a machine.
type Driver interface {
	// Version returns the newest interface version that the driver supports, such as "12.8".
	Version() string
	// Devices describes every device that this process may use, in the driver's order. It is never
	// empty.
	Devices() ([]Info, error)
	// Open opens the device with this index in Devices.
	Open(index int) (Device, error)
}

// A Device is an open accelerator.
type Device interface {
	Info() Info
	// Memory returns the free and the total bytes of the device's memory.
	Memory() (free, total int64, err error)
	// AllocatedBytes returns the peak memory of the buffers and arrays of this Device in bytes, without the
	// buffer of FlushL2.
	AllocatedBytes() int64

	// Alloc allocates memory of the device. Its contents are undefined.
	Alloc(name string, bytes int64) (Buffer, error)
	// AllocPinned allocates host memory that the device can copy without the processor.
	AllocPinned(name string, bytes int64) (Pinned, error)
	// Register pins existing host memory, such as a mapped file, until Close. The memory must be
	// writable and must not move. Close does not free it.
	Register(name string, mem []byte) (Pinned, error)
	// AllocArray allocates texels in the storage order that suits texture fetches.
	AllocArray(name string, layout ArrayLayout) (Array, error)
	// LoadModule loads kernels, from machine code or by compiling portable code. IsCodeRefused
	// recognizes the error for code that the device or driver rejects.
	LoadModule(name string, code []byte) (Module, error)
	// NewStream makes an empty stream, independent of other streams.
	NewStream(name string) (Stream, error)
	// NewEvent makes an event that records the time.
	NewEvent(name string) (Event, error)

	// Do runs f on the caller's thread with the device made current once. Calls of the device
	// within f save some microseconds each; use it around timed launches. Calls of other goroutines
	// wait until f returns. So f must not wait for them, and must not end its goroutine, as t.Fatal
	// does.
	Do(f func() error) error
	// FlushL2 adds work to the stream that evicts all earlier contents of the second-level cache.
	// It releases persisting lines and writes twice the size of the cache. The first call allocates
	// the memory.
	FlushL2(Stream) error
	// ResetPersistingL2 releases the persisting lines of the second-level cache. It does nothing on
	// a device without them.
	ResetPersistingL2() error

	// Sensors returns the sensors of the device. The caller closes them.
	Sensors() Sensors

	// Close frees the remaining objects of the device and stops using it. Each remaining object is
	// an error with its name.
	Close() error
}

// A Guest is a device that shares its process with other programs, which lend it streams and
// memory. Closing a lent object does not free it. The lender keeps it valid during its use; the
// Guest does not check it.
type Guest interface {
	Device
	// LentStream wraps a stream by the driver's handle.
	LentStream(name string, handle uint64) Stream
	// LentBuffer wraps memory of the device.
	LentBuffer(name string, address uint64, bytes int64) Buffer
	// Program returns the launches that f adds to a stream, which are not executed, for
	// eccbench_device_launch of internal/exports. It returns nil if the device has no such function.
	// Memory at SlotAddress(n) has the n-th address of a call.
	Program(f func(Stream) error) ([]uint64, error)
}

const slotShift = 56

// SlotAddress returns the placeholder in a Program for the n-th address of a call, from 0. An offset may be
// added.
func SlotAddress(n int) uint64 { return uint64(n+1) << slotShift }

// Slot splits an address of a Program into the number of the address of a call, plus one, and an offset.
func Slot(address uint64) (n, offset uint64) {
	return address >> slotShift, address & (1<<slotShift - 1)
}

// Info describes a device. A value that the driver does not know is 0.
type Info struct {
	Index  int    `json:"index"` // its index in Devices
	Count  int    `json:"count"` // the number of Devices
	Name   string `json:"name"`
	UUID   string `json:"uuid"`   // "GPU-01234567-89ab-cdef-0123-456789abcdef"
	PCI    string `json:"pci"`    // "0000:3b:00.0"
	Driver string `json:"driver"` // newest interface version of its driver: "12.8"
	Major  int    `json:"major"`  // compute capability
	Minor  int    `json:"minor"`

	Memory         int64 `json:"memory"`
	L2             int64 `json:"l2"`               // second-level cache
	L2Persisting   int64 `json:"l2_persisting"`    // the largest persisting part, 0 if none
	Shared         int64 `json:"shared"`           // shared memory of a block by default
	SharedOptIn    int64 `json:"shared_optin"`     // with Function.AllowShared
	SharedPerSM    int64 `json:"shared_per_sm"`    // of a multiprocessor
	SharedReserved int64 `json:"shared_reserved"`  // the extra cost of each block
	Registers      int64 `json:"registers_per_sm"` // 32-bit, of a multiprocessor

	SMs             int `json:"sms"` // multiprocessors
	Warp            int `json:"warp"`
	ThreadsPerBlock int `json:"threads_per_block"`
	ThreadsPerSM    int `json:"threads_per_sm"`
	BlocksPerSM     int `json:"blocks_per_sm"`
	CopyEngines     int `json:"copy_engines"`

	Clock       int64 `json:"clock_khz"`        // highest, of the multiprocessors
	MemoryClock int64 `json:"memory_clock_khz"` // highest
	BusBits     int   `json:"bus_bits"`         // width of the memory bus

	Texture2D [2]int64 `json:"texture_2d"` // largest width and height
	Texture3D [3]int64 `json:"texture_3d"` // largest width, height and depth

	ECC        bool `json:"ecc"`        // memory errors are corrected
	Integrated bool `json:"integrated"` // shares its memory with the host
	Watchdog   bool `json:"watchdog"`   // kernels that run for long are stopped
}
