package device

// Memory is a range of bytes that a device can copy: a Buffer or a Pinned.
type Memory interface {
	Bytes() int64
	// Address is where the first byte is, for a kernel. It is 0 after Close.
	Address() uint64
}

// A Buffer is memory of the device.
type Buffer interface {
	Memory
	Name() string
	Close() error
}

// Pinned is memory of the host that stays where it is.
type Pinned interface {
	Memory
	Name() string
	// Data is the memory itself. It must not be touched while a stream copies
	// from or to it, nor after Close.
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

// Size is the number of bytes of a texel, 0 for a type that does not exist.
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

// Float reports whether kernels fetch texels of the type as 32-bit floats. They
// fetch the others as 32-bit integers.
func (t Texel) Float() bool { return t == Float16 || t == Float32 }

// An ArrayLayout is the shape and type of an array.
type ArrayLayout struct {
	Texel         Texel
	Width, Height int64
	Depth         int64 // 0 for a two-dimensional array
}

// Bytes is the size of the array's texels, packed.
func (l ArrayLayout) Bytes() int64 {
	return l.Texel.Size() * l.Width * l.Height * max(1, l.Depth)
}

// An Array is texels of the device.
type Array interface {
	Name() string
	Layout() ArrayLayout
	// NewTexture makes a texture that fetches from the array. Close it before
	// the array.
	NewTexture(name string, sampling Sampling) (Texture, error)
	Close() error
}

// Exterior is what a texture gives outside its array.
type Exterior string

// The exteriors.
const (
	Clamp  Exterior = "clamp"  // the nearest texel; also the meaning of ""
	Border Exterior = "border" // Sampling.Border, or 0 in an array of integers
)

// Sampling is how a texture fetches: the texel that holds the point, whose
// coordinates run from 0 to the width, height and depth; texel i is fetched
// anywhere from i to i+1.
type Sampling struct {
	Exterior Exterior
	Border   float32
}

// A Texture is a way to fetch from an array. It is passed to kernels as a
// 64-bit argument.
type Texture interface {
	Name() string
	Handle() uint64
	Close() error
}
