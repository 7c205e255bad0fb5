package zarr

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/internal/decimal"
)

// A Packing is the meaning of stored numbers by the CF conventions of netCDF, as xarray writes them:
// a value is stored·Slope + Inter, and a voxel of the bits in Blank has none.
type Packing struct {
	Slope, Inter float64
	Blank        []uint64 // little-endian
	Fields       string   // names of the fields that state Blank
}

// Packing returns the packing of an array by its own attributes.
func (n *Node) Packing() (p Packing, err error) {
	p = Packing{Slope: 1}
	for name, v := range map[string]*float64{"scale_factor": &p.Slope, "add_offset": &p.Inter} {
		text, ok := n.conventions[name]
		list := []float64{0}
		switch {
		case !ok:
			continue
		case json.Unmarshal(text, &list[0]) != nil && json.Unmarshal(text, &list) != nil || len(list) != 1:
			return p, fmt.Errorf("its attribute %s is %.40s; want a number", name, text)
		}
		*v = list[0]
	}
	if p.Slope == 0 {
		return p, errors.New("its attribute scale_factor is 0, which makes all voxels equal; remove it")
	}
	signed := slices.Contains([]element.Type{element.Int8, element.Int16, element.Int32, element.Int64}, n.Array.Stored)
	if text := strings.ToLower(string(n.conventions["_Unsigned"])); strings.Contains(text, strconv.FormatBool(signed)) {
		return p, fmt.Errorf("its attribute _Unsigned is %.40s, and its type %v; save it as the other type", text,
			n.Array.Stored)
	}
	var fields []string
	for _, f := range []struct {
		name string
		text json.RawMessage
	}{{"_FillValue", n.conventions["_FillValue"]}, {"missing_value", n.conventions["missing_value"]},
		{"fill_value", n.mask()}} {
		if f.text == nil {
			continue
		}
		bits, ok, err := blankBits(f.text, n.Array.Stored)
		if err != nil {
			return p, fmt.Errorf("its attribute %s is %.40s; want a number", f.name, f.text)
		}
		if ok {
			p.Blank, fields = append(p.Blank, bits), append(fields, f.name)
		}
	}
	p.Fields = strings.Join(fields, " or ")
	return p, nil
}

// mask returns the fill value of version 2 if it marks voxels without a value. It does for xarray,
// which writes its _FillValue there. 0 does not, which other software writes unasked.
func (n *Node) mask() json.RawMessage {
	v, err := decimal.ParseFloat(string(n.fill), 64)
	if len(n.conventions["_ARRAY_DIMENSIONS"]) == 0 || n.Array.Truth || err == nil && v == 0 {
		return nil
	}
	return n.fill
}

// blankBits returns the bits of a value that marks voxels without one: a number, or the bytes of a
// float64 in base64. ok is false if no voxel of a type can have it, or for NaN, which is no value
// anyway.
func blankBits(text json.RawMessage, s element.Type) (bits uint64, ok bool, err error) {
	word := strings.TrimSpace(string(text))
	if json.Unmarshal(text, &word) == nil { // a string
		if data, err := base64.StdEncoding.DecodeString(word); err == nil && len(data) == 8 {
			word = strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(data)), 'g', -1, 64)
		}
	}
	v, err := decimal.ParseFloat(word, 64)
	if err != nil || v != v {
		return 0, false, err
	}
	bits, err = fillValue(json.RawMessage(word), s)
	if err != nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 { // such as 1e3
		bits, err = fillValue(json.RawMessage(strconv.FormatInt(int64(v), 10)), s)
	}
	return bits, err == nil, nil
}
