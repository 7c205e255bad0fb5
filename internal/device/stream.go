package device

import "time"

// A Stream is a queue of work for the device, executed in order. Adding work does not wait for its
// completion: any later call may return its error.
type Stream interface {
	Name() string
	// Launch adds a kernel. The arguments match the parameters of the kernel: int32, uint32, int64,
	// uint64, float32, float64, Texture, or a Memory for a pointer to its first byte. If the driver
	// knows the parameters, it checks their number and sizes.
	Launch(f Function, shape Launch, args ...any) error
	// Copy adds a copy of n bytes between two memories at given offsets.
	Copy(to Memory, at int64, from Memory, off, n int64) error
	// Upload copies Go memory to offset at of a buffer and waits for the copy.
	Upload(to Buffer, at int64, from []byte) error
	// Download copies from offset off of a buffer to Go memory and waits for the copy.
	Download(to []byte, from Buffer, off int64) error
	// CopySlices adds a copy of n slices from packed memory into an array, beginning at slice i. A
	// slice is a plane, or a row of a two-dimensional array.
	CopySlices(to Array, i, n int64, from Memory, off int64) error
	// Fill adds a write of one byte value to n bytes at an offset.
	Fill(to Buffer, at, n int64, value byte) error
	// Fill32 adds a write of one value to n 32-bit words. The offset is in bytes, a multiple of 4.
	Fill32(to Buffer, at, n int64, value uint32) error
	// Record adds an event, whose earlier record is lost.
	Record(Event) error
	// WaitFor makes later work wait for the last Record of the event. The event may belong to
	// another device of the driver.
	WaitFor(Event) error
	// Wait waits for all work of the stream. Other goroutines may call methods meanwhile.
	Wait() error
	// Done reports whether all work is finished.
	Done() (bool, error)
	Close() error
}

// An Event is a point in a stream's work.
type Event interface {
	Name() string
	// Wait waits until the stream reaches the point. Other goroutines may call methods meanwhile.
	Wait() error
	// Done reports whether the stream has reached the point.
	Done() (bool, error)
	// Since returns the time on the device from the start to this event; both must be reached. Its
	// resolution is about half a microsecond.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Dim is an extent in up to three dimensions. An extent of 0 counts as 1.
type Dim struct{ X, Y, Z int64 }

// Count returns the product of the extents.
func (d Dim) Count() int64 { return max(1, d.X) * max(1, d.Y) * max(1, d.Z) }

// A Launch is the shape of a kernel's threads.
type Launch struct {
	Grid   Dim   // blocks
	Block  Dim   // threads of a block
	Shared int64 // bytes of dynamic shared memory; see Function.AllowShared
}

// A Module is a group of kernels that are loaded together.
type Module interface {
	Name() string
	// Function returns the kernel with this name. It is valid as long as the module.
	Function(name string) (Function, error)
	// Log returns the compiler's messages about the module, which may be empty.
	Log() string
	Close() error
}

// A Function is a kernel.
type Function interface {
	Name() string
	Attributes() Attributes
	// AllowShared allows launches with this much dynamic shared memory. Together with
	// Attributes.Shared it is at most Info.SharedOptIn. Without it the limit is 48 KiB.
	AllowShared(bytes int64) error
	// Occupancy returns the number of blocks that run on a multiprocessor at once, for the given
	// threads and dynamic shared memory of a block.
	Occupancy(threads, shared int64) (int, error)
}

// Attributes describe a compiled kernel.
type Attributes struct {
	Registers  int   `json:"registers"`   // of a thread
	Shared     int64 `json:"shared"`      // static, of a block
	Local      int64 `json:"local"`       // of a thread, including spilled registers
	Constant   int64 `json:"constant"`    // of the module
	MaxThreads int   `json:"max_threads"` // of a block
	Code       int   `json:"code"`        // the compute capability of its source, 10·major+minor
	Binary     int   `json:"binary"`      // the compute capability of its machine code
}

// Flag returns a bool as an argument of a kernel: 1 or 0.
func Flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
