package files

import (
	"encoding/binary"
	"math"
)

// A numberType is a type of binary numbers.
type numberType struct {
	size int
	get  func(binary.ByteOrder, []byte) float64
}

// numberTypes are the types by their names in PLY and, in lower case, VTK.
var numberTypes = func() map[string]numberType {
	types := map[string]numberType{}
	for _, t := range []struct {
		number numberType
		names  []string
	}{
		{numberType{1, func(_ binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) }}, []string{"char", "int8"}},
		{numberType{1, func(_ binary.ByteOrder, b []byte) float64 { return float64(b[0]) }},
			[]string{"uchar", "uint8", "unsigned_char"}},
		{numberType{2, func(o binary.ByteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) }},
			[]string{"short", "int16"}},
		{numberType{2, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint16(b)) }},
			[]string{"ushort", "uint16", "unsigned_short"}},
		{numberType{4, func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }},
			[]string{"int", "int32", "vtkidtype"}},
		{numberType{4, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint32(b)) }},
			[]string{"uint", "uint32", "unsigned_int"}},
		{numberType{8, func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }},
			[]string{"long", "int64", "vtktypeint64"}},
		{numberType{8, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint64(b)) }},
			[]string{"uint64", "unsigned_long", "vtktypeuint64"}},
		{numberType{4, func(o binary.ByteOrder, b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }},
			[]string{"float", "float32"}},
		{numberType{8, func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }},
			[]string{"double", "float64"}},
	} {
		for _, name := range t.names {
			types[name] = t.number
		}
	}
	return types
}()

// all decodes the numbers in some bytes.
func (t numberType) all(order binary.ByteOrder, b []byte) []float64 {
	list := make([]float64, len(b)/t.size)
	for i := range list {
		list[i] = t.get(order, b[i*t.size:])
	}
	return list
}
