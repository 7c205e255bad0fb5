package grid

// A Converter turns slabs of one source into levels; it is safe for concurrent
// use.
type Converter struct {
	convert func(dst []int32, slab []byte)
}

// NewConverter prepares a converter for images of a type on a ladder.
func NewConverter(t Type, l Ladder) Converter {
	switch t {
	case Uint8:
		return Converter{converter[uint8](l)}
	case Int16:
		return Converter{converter[int16](l)}
	case Uint16:
		return Converter{converter[uint16](l)}
	case Float32:
		return Converter{converter[float32](l)}
	}
	panic("grid: converter of unknown element type")
}

func converter[T Element](l Ladder) func([]int32, []byte) {
	levels := NewLevels[T](l)
	return func(dst []int32, slab []byte) { levels.Convert(dst, Values[T](slab)) }
}

// Convert writes the level of each value of the slab to dst, which is at least
// as long as the slab has values.
func (c Converter) Convert(dst []int32, slab []byte) { c.convert(dst, slab) }
