package grid

import (
	"fmt"
	"strings"
	"unsafe"
)

// A Type is the type of an image's elements.
type Type uint8

// The element types, in the order of listings.
const (
	Uint8 Type = iota + 1
	Int16
	Uint16
	Float32
)

// Types lists every element type.
func Types() []Type { return []Type{Uint8, Int16, Uint16, Float32} }

// ParseType parses a type's name.
func ParseType(s string) (Type, error) {
	var names []string
	for _, t := range Types() {
		if t.String() == s {
			return t, nil
		}
		names = append(names, t.String())
	}
	return 0, fmt.Errorf("element type %q: want one of %s", s, strings.Join(names, ", "))
}

// String returns the type's name: "uint8", "int16", "uint16", "float32".
func (t Type) String() string {
	switch t {
	case Uint8:
		return "uint8"
	case Int16:
		return "int16"
	case Uint16:
		return "uint16"
	case Float32:
		return "float32"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Size returns the number of bytes of one element.
func (t Type) Size() int64 {
	switch t {
	case Uint8:
		return 1
	case Int16, Uint16:
		return 2
	case Float32:
		return 4
	}
	panic("grid: size of unknown element type")
}

// An Element is a Go type that corresponds to a Type.
type Element interface {
	uint8 | int16 | uint16 | float32
}

// Stored lists the element types and the other types in files.
type Stored interface {
	Element | int32 | uint32 | int64 | uint64 | float64
}

// TypeOf returns the Type of T.
func TypeOf[T Element]() Type {
	var zero T
	switch any(zero).(type) {
	case uint8:
		return Uint8
	case int16:
		return Int16
	case uint16:
		return Uint16
	}
	return Float32
}

// Values views bytes as elements without copying. The bytes must be aligned
// for T and a whole number of elements long; both hold for every buffer made by
// NewBuffer and every slab within one.
func Values[T Stored](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(b)%size != 0 || !Aligned(b, int64(size)) {
		panic("grid: buffer is not a whole number of aligned elements")
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/size)
}

// Bytes views elements as bytes without copying.
func Bytes[T Stored](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// NewBuffer allocates a zeroed buffer of n bytes, aligned for every element type.
func NewBuffer(n int64) []byte {
	if n == 0 {
		return []byte{}
	}
	words := make([]uint64, (n+7)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
	huge(b)
	return b
}

// NewValues allocates n zeros, aligned as NewBuffer does.
func NewValues[T Stored](n int64) []T {
	var zero T
	return Values[T](NewBuffer(n * int64(unsafe.Sizeof(zero))))
}

// NewTouched allocates n zeros to read at once. A page that is read before it is written has two
// faults, and the second one interrupts all cores.
func NewTouched[T Stored](n int64) []T {
	values := NewValues[T](n)
	const page = 4 << 10
	for data := Bytes(values); len(data) > 0; data = data[min(page, len(data)):] {
		data[0] = 0
	}
	return values
}

// Aligned reports whether bytes begin at an address that is a multiple of size. They must not be empty.
func Aligned(b []byte, size int64) bool {
	return uintptr(unsafe.Pointer(&b[0]))%uintptr(size) == 0
}
