// Package device has the interfaces and plain types of an accelerator that implementations use;
// drivers implement them on a floor above. Every size, count and offset has 64 bits and is in bytes
// unless its name differs.
//
// Every object has a name, which its errors repeat, and belongs to the device that made it; its
// maker closes it. Closing an object again does nothing, and using one after Close is an error. All
// methods may be called from several goroutines at once. An object is closed when nothing uses it
// any more: close memory after waiting for the streams that use it.
package device

// A Driver is the software that drives the devices of a machine.
type Driver interface {
	// Version is the newest interface that the driver supports: "12.8".
	Version() string
	// Devices describes every device that this process may use, in the driver's
	// order. It is never empty.
	Devices() ([]Info, error)
	// Open starts to use the device of that place in Devices.
	Open(index int) (Device, error)
}

// A Device is an accelerator in use.
type Device interface {
	Info() Info
	// Memory is how many bytes of the device's memory are free, and how many it
	// has.
	Memory() (free, total int64, err error)
	// Held is the most bytes of the device's memory that buffers and arrays of
	// this Device took together, without what FlushL2 writes.
	Held() int64

	// Alloc allocates memory of the device. What it holds is undefined.
	Alloc(name string, bytes int64) (Buffer, error)
	// AllocPinned allocates memory of the host that the device copies from and
	// to without the processor.
	AllocPinned(name string, bytes int64) (Pinned, error)
	// Register pins memory of the host that is there already, such as a mapped
	// file, until it is closed. It must be writable and stay where it is; closing
	// it leaves the memory itself alone.
	Register(name string, mem []byte) (Pinned, error)
	// AllocArray allocates texels, stored as the device likes to fetch them.
	AllocArray(name string, layout ArrayLayout) (Array, error)
	// LoadModule loads kernels: from machine code of this device as it is, from
	// portable code by compiling it. Of code that the device or its driver does not
	// take, IsCodeRefused reports it.
	LoadModule(name string, code []byte) (Module, error)
	// NewStream makes an empty stream, which waits for no other stream.
	NewStream(name string) (Stream, error)
	// NewEvent makes an event that notes the time.
	NewEvent(name string) (Event, error)

	// Do runs f on the caller's thread, where calls of the device within f follow
	// each other without making ready for each and without a change of threads, which
	// costs microseconds: use it around launches that are timed. Other goroutines'
	// calls wait until f returns, so f must not wait for them, and f must not end its
	// goroutine, as t.Fatal does.
	Do(f func() error) error
	// FlushL2 adds to the stream what leaves nothing in the second-level cache
	// that was there before: lines that persist are let go, and twice the
	// cache's size is written. The first call allocates that much.
	FlushL2(Stream) error
	// ResetPersistingL2 lets go of the lines that were asked to persist in the
	// second-level cache. Where none can, it does nothing.
	ResetPersistingL2() error

	// Sensors reads how the device is doing. The caller closes them.
	Sensors() Sensors

	// Close frees what is left of the device's objects, each an error that
	// names it, and stops using the device.
	Close() error
}

// A Guest is a device that other programs of the process use, too, whose streams and memory it
// is lent. Closing what is lent leaves it to its maker, who sees to it that it is there as long as
// it is used; nothing of it is looked at.
type Guest interface {
	Device
	// LentStream is a stream by the driver's handle.
	LentStream(name string, handle uint64) Stream
	// LentBuffer is memory of the device.
	LentBuffer(name string, address uint64, bytes int64) Buffer
}

// Info describes a device. A figure that the driver does not know is 0.
type Info struct {
	Index  int    `json:"index"` // its place in Devices
	Count  int    `json:"count"` // how many there are in Devices
	Name   string `json:"name"`
	UUID   string `json:"uuid"`   // "GPU-01234567-89ab-cdef-0123-456789abcdef"
	PCI    string `json:"pci"`    // "0000:3b:00.0"
	Driver string `json:"driver"` // newest interface of its driver: "12.8"
	Major  int    `json:"major"`  // compute capability
	Minor  int    `json:"minor"`

	Memory         int64 `json:"memory"`
	L2             int64 `json:"l2"`               // second-level cache
	L2Persisting   int64 `json:"l2_persisting"`    // what of it can be set aside, 0 where nothing can
	Shared         int64 `json:"shared"`           // shared memory of a block, unasked
	SharedOptIn    int64 `json:"shared_optin"`     // and with Function.AllowShared
	SharedPerSM    int64 `json:"shared_per_sm"`    // of a multiprocessor
	SharedReserved int64 `json:"shared_reserved"`  // that each block costs beside its own
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
