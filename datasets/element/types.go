// Package element has the types of voxels in files and in memory. It converts those without kernels
// to float32 or to ranks, and finds the ladders of float32.
package element

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"eccbench/internal/decimal"
	"eccbench/internal/grid"
)

// IsNumPyBool reports whether an array-protocol type string means booleans.
func IsNumPyBool(descr string) bool { return strings.TrimLeft(descr, "<>|=") == "b1" }

// ParseNumPy parses an array-protocol type string such as "<f4".
func ParseNumPy(descr string) (Type, bool, error) {
	order, code := byte('|'), descr
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		order, code = descr[0], descr[1:]
	}
	big := order == '>'
	advice := "save it as .astype(numpy.float64), or an integer type that holds its values"
	switch code {
	case "u1", "b1":
		return Uint8, false, nil
	case "i1":
		return Int8, false, nil
	case "i2", "u2", "f4", "f2", "i4", "u4", "i8", "u8", "f8":
		if order != '<' && order != '>' {
			return 0, false, fmt.Errorf("dtype %q has no byte order; want < or >", descr)
		}
		return map[string]Type{
			"i2": Int16, "u2": Uint16, "f4": Float32, "f2": Float16,
			"i4": Int32, "u4": Uint32, "i8": Int64, "u8": Uint64, "f8": Float64,
		}[code], big, nil
	case "c8", "c16", "c32":
		advice = "save its magnitude or its real part as numpy.float32"
	}
	return 0, false, fmt.Errorf("dtype %q is not bool, an integer of up to 64 bits, float16, float32 or float64; %s",
		descr, advice)
}

// AppendNumber appends a decimal number as the little-endian bytes of a type.
func AppendNumber(dst []byte, s Type, text string) ([]byte, error) {
	le, bits := binary.LittleEndian, int(8*s.Size())
	var v uint64
	switch s {
	case Float32:
		f, err := decimal.ParseFloat(text, bits)
		if err != nil {
			return nil, err
		}
		v = uint64(math.Float32bits(float32(f)))
	case Float64:
		f, err := decimal.ParseFloat(text, bits)
		if err != nil {
			return nil, err
		}
		v = math.Float64bits(f)
	case Uint8, Uint16, Uint32, Uint64:
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			return nil, err
		}
		v = n
	case Int8, Int16, Int32, Int64:
		n, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return nil, err
		}
		v = uint64(n)
	default:
		return nil, errors.New("no numbers in text")
	}
	var b [8]byte
	le.PutUint64(b[:], v)
	return append(dst, b[:s.Size()]...), nil
}

// A Type is an element type as files hold it.
type Type uint8

const (
	Uint8 Type = iota + 1
	Int8
	Int16
	Uint16
	Float32
	// The types below have no kernels: they are narrowed (narrow.go).
	Float16
	Int32
	Uint32
	Int64
	Uint64
	Float64
)

// TypeNames lists the names of the types of raw files.
func TypeNames() []string {
	return []string{"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
		"float64"}
}

// ParseType returns the type with a name, 0 for none.
func ParseType(name string) Type {
	for s, n := range storedNames {
		if n == name {
			return s
		}
	}
	return 0
}

// storedNames are the displayed names of the types.
var storedNames = map[Type]string{
	Uint8: "uint8", Int8: "int8", Int16: "int16", Uint16: "uint16", Float32: "float32",
	Float16: "float16", Int32: "int32", Uint32: "uint32", Int64: "int64", Uint64: "uint64", Float64: "float64",
}

func (s Type) String() string { return storedNames[s] }

// Narrowed reports whether a type has no kernels.
func (s Type) Narrowed() bool { return s >= Float16 }

// Native returns the type in memory for a stored type.
func (s Type) Native() grid.Type {
	switch s {
	case Uint8:
		return grid.Uint8
	case Uint16:
		return grid.Uint16
	case Int8, Int16:
		return grid.Int16
	}
	return grid.Float32
}

// Size returns the bytes of a value.
func (s Type) Size() int64 {
	switch s {
	case Int8:
		return 1
	case Float16:
		return 2
	case Int64, Uint64, Float64:
		return 8
	}
	return s.Native().Size()
}
