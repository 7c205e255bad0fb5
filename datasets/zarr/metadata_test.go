package zarr

import (
	"math"
	"testing"

	"eccbench/datasets/element"
)

// All JSON forms of fill values are accepted.
func fillValues(t *testing.T) {
	for _, c := range []struct {
		text string
		s    element.Type
		want uint64
	}{
		{"0", element.Uint8, 0},
		{"true", element.Uint8, 1},
		{"-1", element.Int16, 0xffff},
		{"7.0", element.Uint16, 7},
		{"1.5", element.Float32, uint64(math.Float32bits(1.5))},
		{`"-Infinity"`, element.Float64, math.Float64bits(math.Inf(-1))},
		{`"0x7fc00000"`, element.Float32, 0x7fc00000},
		{"-2.5", element.Float16, 0xc100},
		{"65504", element.Float16, 0x7bff},
		{"18446744073709551615", element.Uint64, math.MaxUint64},
	} {
		got, err := fillValue([]byte(c.text), c.s)
		if err != nil || got != c.want {
			t.Errorf("%s of %v: %x, %v; want %x", c.text, c.s, got, err, c.want)
		}
	}
	for _, text := range []string{`"x"`, "256", "{}", "1.5"} {
		if v, err := fillValue([]byte(text), element.Uint8); err == nil {
			t.Errorf("%s of uint8 is %d", text, v)
		}
	}
}
