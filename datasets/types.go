package datasets

import (
	"eccbench/internal/grid"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// isNpyBool reports whether an array-protocol type string means booleans.
func isNpyBool(descr string) bool { return strings.TrimLeft(descr, "<>|=") == "b1" }

// npyType parses an array-protocol type string such as "<f4".
func npyType(descr string) (storedType, bool, error) {
	order, code := byte('|'), descr
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		order, code = descr[0], descr[1:]
	}
	big := order == '>'
	advice := "save it as .astype(numpy.float64), or an integer type that holds its values"
	switch code {
	case "u1", "b1":
		return storedUint8, false, nil
	case "i1":
		return storedInt8, false, nil
	case "i2", "u2", "f4", "f2", "i4", "u4", "i8", "u8", "f8":
		if order != '<' && order != '>' {
			return 0, false, fmt.Errorf("dtype %q says no byte order; want < or >", descr)
		}
		return map[string]storedType{
			"i2": storedInt16, "u2": storedUint16, "f4": storedFloat32, "f2": storedFloat16,
			"i4": storedInt32, "u4": storedUint32, "i8": storedInt64, "u8": storedUint64, "f8": storedFloat64,
		}[code], big, nil
	case "c8", "c16", "c32":
		advice = "save its magnitude or its real part as numpy.float32"
	}
	return 0, false, fmt.Errorf("dtype %q is not bool, an integer of up to 64 bits, float16, float32 or float64; %s", descr, advice)
}

// appendNumber appends a decimal number as the little-endian bytes of a type.
func appendNumber(dst []byte, s storedType, text string) ([]byte, error) {
	le, bits := binary.LittleEndian, int(8*s.size())
	var v uint64
	switch s {
	case storedFloat32:
		f, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return nil, err
		}
		v = uint64(math.Float32bits(float32(f)))
	case storedFloat64:
		f, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return nil, err
		}
		v = math.Float64bits(f)
	case storedUint8, storedUint16, storedUint32, storedUint64:
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			return nil, err
		}
		v = n
	case storedInt8, storedInt16, storedInt32, storedInt64:
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
	return append(dst, b[:s.size()]...), nil
}

// A storedType is an element type as files hold it.
type storedType uint8

const (
	storedUint8 storedType = iota + 1
	storedInt8
	storedInt16
	storedUint16
	storedFloat32
	// The types below have no kernels: they are narrowed (narrow.go).
	storedFloat16
	storedInt32
	storedUint32
	storedInt64
	storedUint64
	storedFloat64
)

// rawTypes lists the names of the types of raw files.
func rawTypes() []string {
	return []string{"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"}
}

// storedTypeOf returns the type with a name, 0 for none.
func storedTypeOf(name string) storedType {
	for s, n := range storedNames {
		if n == name {
			return s
		}
	}
	return 0
}

// storedNames are the displayed names of the types.
var storedNames = map[storedType]string{
	storedUint8: "uint8", storedInt8: "int8", storedInt16: "int16", storedUint16: "uint16", storedFloat32: "float32",
	storedFloat16: "float16", storedInt32: "int32", storedUint32: "uint32", storedInt64: "int64", storedUint64: "uint64", storedFloat64: "float64",
}

func (s storedType) String() string { return storedNames[s] }

// narrowed reports whether a type has no kernels.
func (s storedType) narrowed() bool { return s >= storedFloat16 }

// native returns the type in memory for a stored type.
func (s storedType) native() grid.Type {
	switch s {
	case storedUint8:
		return grid.Uint8
	case storedUint16:
		return grid.Uint16
	case storedInt8, storedInt16:
		return grid.Int16
	}
	return grid.Float32
}

func (s storedType) size() int64 {
	switch s {
	case storedInt8:
		return 1
	case storedFloat16:
		return 2
	case storedInt64, storedUint64, storedFloat64:
		return 8
	}
	return s.native().Size()
}
