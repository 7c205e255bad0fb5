package device

import "time"

// A Stream is work for the device, done in the order in which it was added.
// Adding work does not wait for it: its errors may come back from any later
// call.
type Stream interface {
	Name() string
	// Launch adds a kernel. The arguments are what the kernel's parameters are:
	// int32, uint32, int64, uint64, float32 or float64, a Memory for a pointer to
	// its first byte, a Texture. Where the driver knows the parameters, their
	// number and sizes are checked.
	Launch(f Function, shape Launch, args ...any) error
	// Copy adds a copy of n bytes from memory to memory, to and from offsets.
	Copy(to Memory, at int64, from Memory, off, n int64) error
	// Upload copies Go memory to offset at of a buffer and waits until it is
	// there.
	Upload(to Buffer, at int64, from []byte) error
	// Download copies from offset off of a buffer to Go memory and waits until
	// it is there.
	Download(to []byte, from Buffer, off int64) error
	// CopySlices adds a copy of n slices from packed memory at an offset into an
	// array, the first to slice i: planes, or rows of a two-dimensional array.
	CopySlices(to Array, i, n int64, from Memory, off int64) error
	// Fill adds a write of one value to n bytes from an offset.
	Fill(to Buffer, at, n int64, value byte) error
	// Fill32 adds a write of one value to n 32-bit words from an offset in
	// bytes, a multiple of 4.
	Fill32(to Buffer, at, n int64, value uint32) error
	// Record adds a note of the time in the event, which forgets the last one.
	Record(Event) error
	// WaitFor holds the work that is added from now on until the event's last
	// Record was reached. The event may be of another device of the driver.
	WaitFor(Event) error
	// Wait returns when all work is done. It stops no other goroutine's calls.
	Wait() error
	// Done reports whether all work is done.
	Done() (bool, error)
	Close() error
}

// An Event is a point in a stream's work.
type Event interface {
	Name() string
	// Wait returns when the point is reached. It stops no other goroutine's
	// calls.
	Wait() error
	// Done reports whether the point is reached.
	Done() (bool, error)
	// Since is the time on the device from the start to this event, both
	// reached. Its resolution is about half a microsecond.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Dim is an extent in up to three dimensions. An extent of 0 counts as 1.
type Dim struct{ X, Y, Z int64 }

// Count is the product of the extents.
func (d Dim) Count() int64 { return max(1, d.X) * max(1, d.Y) * max(1, d.Z) }

// A Launch is the shape of a kernel's threads.
type Launch struct {
	Grid   Dim   // blocks
	Block  Dim   // threads of a block
	Shared int64 // bytes of dynamic shared memory; see Function.AllowShared
}

// A Module is kernels that were loaded together.
type Module interface {
	Name() string
	// Function is the kernel of that name. It lives as long as the module.
	Function(name string) (Function, error)
	// Log is what the compiler said about the module, which may be nothing.
	Log() string
	Close() error
}

// A Function is a kernel.
type Function interface {
	Name() string
	Attributes() Attributes
	// AllowShared lets launches ask for that much dynamic shared memory, up to
	// Info.SharedOptIn with Attributes.Shared. Without it the limit is 48 KiB.
	AllowShared(bytes int64) error
	// Occupancy is how many blocks of so many threads and so much dynamic
	// shared memory run on a multiprocessor at once.
	Occupancy(threads, shared int64) (int, error)
}

// Attributes are what the compiler made of a kernel.
type Attributes struct {
	Registers  int   `json:"registers"`   // of a thread
	Shared     int64 `json:"shared"`      // static, of a block
	Local      int64 `json:"local"`       // of a thread; registers that did not fit are here
	Constant   int64 `json:"constant"`    // of the module
	MaxThreads int   `json:"max_threads"` // of a block
	Code       int   `json:"code"`        // the compute capability it was written for, 10·major+minor
	Binary     int   `json:"binary"`      // and compiled for
}
