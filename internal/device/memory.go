package device

// Memory is a range of bytes that a device can copy: a Buffer or a Pinned.
type Memory interface {
	Bytes() int64
	// Address is the address of the first byte for kernels. It is 0 after Close.
	Address() uint64
}

// A Buffer is memory of the device.
type Buffer interface {
	Memory
	Name() string
	Close() error
}

// Pinned is host memory that the operating system does not move.
type Pinned interface {
	Memory
	Name() string
	// Data returns the memory. It must not be used while a stream copies it, nor after Close.
	Data() []byte
	Close() error
}

// A Texel is the type of an array's elements, of one channel each.
type Texel string

// The types of texels.
const (
	Uint8   Texel = "uint8"
	Int8    Texel = "int8"
	Uint16  Texel = "uint16"
	Int16   Texel = "int16"
	Uint32  Texel = "uint32"
	Int32   Texel = "int32"
	Float16 Texel = "float16"
	Float32 Texel = "float32"
)

// Size returns the bytes of a texel, or 0 for an unknown type.
func (t Texel) Size() int64 {
	switch t {
	case Uint8, Int8:
		return 1
	case Uint16, Int16, Float16:
		return 2
	case Uint32, Int32, Float32:
		return 4
	}
	return 0
}

// Float reports whether kernels fetch texels of the type as 32-bit floats rather than as 32-bit
// integers.
func (t Texel) Float() bool { return t == Float16 || t == Float32 }

// An ArrayLayout is the shape and type of an array.
type ArrayLayout struct {
	Texel         Texel
	Width, Height int64
	Depth         int64 // 0 for a two-dimensional array
}

// Bytes returns the size of the texels without padding.
func (l ArrayLayout) Bytes() int64 {
	return l.Texel.Size() * l.Width * l.Height * max(1, l.Depth)
}

// An Array holds texels in device memory.
type Array interface {
	Name() string
	Layout() ArrayLayout
	// NewTexture makes a texture that fetches from the array. Close it before the array.
	NewTexture(name string, sampling Sampling) (Texture, error)
	Close() error
}

// Exterior selects the value that a texture returns outside its array.
type Exterior string

// The exteriors.
const (
	Clamp  Exterior = "clamp"  // the nearest texel; also the meaning of ""
	Border Exterior = "border" // Sampling.Border, or 0 in an array of integers
)

// Sampling selects how a texture fetches. A fetch returns the texel that contains the point: texel
// i covers coordinates from i to i+1.
type Sampling struct {
	Exterior Exterior
	Border   float32
}

// A Texture fetches from an array. It is passed to kernels as a 64-bit argument.
type Texture interface {
	Name() string
	Handle() uint64
	Close() error
}
