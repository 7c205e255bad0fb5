package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"eccbench/internal/device"
)

type array struct {
	object
	layout device.ArrayLayout
}

func (a *array) Layout() device.ArrayLayout { return a.layout }

// slices is the number of planes, or of rows of a two-dimensional array.
func (a *array) slices() int64 {
	if a.layout.Depth == 0 {
		return a.layout.Height
	}
	return a.layout.Depth
}

// pitch is the bytes of a row, slice of a slice, packed.
func (a *array) pitch() int64 { return a.layout.Width * a.layout.Texel.Size() }
func (a *array) slice() int64 { return a.layout.Bytes() / a.slices() }

// formats are the driver's numbers for texels.
var formats = map[device.Texel]uint32{
	device.Uint8: 0x01, device.Uint16: 0x02, device.Uint32: 0x03,
	device.Int8: 0x08, device.Int16: 0x09, device.Int32: 0x0a,
	device.Float16: 0x10, device.Float32: 0x20,
}

// arrayDescriptor is CUDA_ARRAY3D_DESCRIPTOR.
type arrayDescriptor struct {
	width, height, depth uint64
	format, channels     uint32
	flags, _             uint32
}

func (c *context) AllocArray(name string, l device.ArrayLayout) (device.Array, error) {
	a := &array{object{kind: "array", name: name, free: cuArrayDestroy}, l}
	format, known := formats[l.Texel]
	if !known {
		return nil, fmt.Errorf("array %q: no texel type %q", name, l.Texel)
	}
	if l.Width <= 0 || l.Height <= 0 || l.Depth < 0 {
		return nil, fmt.Errorf("array %q: a shape of %d × %d × %d", name, l.Width, l.Height, l.Depth)
	}
	// The driver's limits, so that the size below cannot overflow.
	limit := [3]int64{c.info.Texture2D[0], c.info.Texture2D[1], 0}
	if l.Depth > 0 {
		limit = c.info.Texture3D
	}
	if l.Width > limit[0] || l.Height > limit[1] || l.Depth > limit[2] {
		return nil, fmt.Errorf("array %q: %d × %d × %d texels, %s has at most %d × %d × %d", name, l.Width, l.Height, l.Depth,
			c, limit[0], limit[1], limit[2])
	}
	a.bytes = l.Bytes()
	return added[device.Array](c, a, &a.object, func() error {
		desc := arrayDescriptor{width: uint64(l.Width), height: uint64(l.Height), depth: uint64(l.Depth), format: format,
			channels: 1}
		return c.call(cuArray3DCreate, a, uintptr(unsafe.Pointer(&a.handle)), uintptr(unsafe.Pointer(&desc)))
	})
}

type texture struct{ object }

func (t *texture) Handle() uint64 { return t.address() }

// resourceDescriptor is CUDA_RESOURCE_DESC of an array.
type resourceDescriptor struct {
	kind, _ uint32
	array   uint64
	_       [120]byte // the union's other members are larger
	flags   uint32
	_       uint32
}

// textureDescriptor is CUDA_TEXTURE_DESC.
type textureDescriptor struct {
	exterior      [3]uint32
	filter        uint32
	flags         uint32
	maxAnisotropy uint32
	mipmap        [4]uint32
	border        [4]float32
	_             [12]uint32
}

const readAsInteger = 1

var exteriors = map[device.Exterior]uint32{"": 1, device.Clamp: 1, device.Border: 3}

func (a *array) NewTexture(name string, s device.Sampling) (device.Texture, error) {
	exterior, known := exteriors[s.Exterior]
	switch {
	case !known:
		return nil, fmt.Errorf("texture %q: no exterior %q", name, s.Exterior)
	case s.Border != 0 && (s.Exterior != device.Border || !a.layout.Texel.Float()):
		return nil, fmt.Errorf("texture %q: a border of %v, which only a float array with exterior %q can have", name,
			s.Border, device.Border)
	case math.IsNaN(float64(s.Border)):
		return nil, fmt.Errorf("texture %q: a border that is not a number", name)
	}
	t := &texture{object{kind: "texture", name: name, free: cuTexObjectDestroy}}
	err := a.c.add(&t.object, func() error {
		if err := a.usable(); err != nil {
			return err
		}
		resource := resourceDescriptor{array: uint64(a.handle)}
		sampling := textureDescriptor{exterior: [3]uint32{exterior, exterior, exterior}}
		if !a.layout.Texel.Float() {
			sampling.flags = readAsInteger
		}
		sampling.border = [4]float32{s.Border, s.Border, s.Border, s.Border}
		return a.c.call(cuTexObjectCreate, t, uintptr(unsafe.Pointer(&t.handle)), uintptr(unsafe.Pointer(&resource)),
			uintptr(unsafe.Pointer(&sampling)), 0)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}
