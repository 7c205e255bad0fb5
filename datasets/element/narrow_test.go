package element

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"eccbench/internal/grid"
)

// Values of every type are scaled in float64.
func rescalesEveryType(t *testing.T) {
	const slope, inter = 0.3, -7.
	for s, values := range map[Type]any{
		Uint8: []uint8{0, 3, 255}, Int8: []int16{-128, 0, 127}, Int16: []int16{math.MinInt16, 5}, Uint16: []uint16{7, math.MaxUint16},
		Float32: []float32{0.5, -3e9}, Int32: []int32{math.MinInt32, 9}, Uint32: []uint32{1, math.MaxUint32},
		Int64: []int64{math.MinInt64, 3}, Uint64: []uint64{1, math.MaxUint64}, Float64: []float64{-0.125, 1e300},
		Float16: []uint16{0x3c00, 0xc100},
	} {
		data := grid.NewBuffer(int64(binary.Size(values)))
		if _, err := binary.Encode(data, binary.NativeEndian, values); err != nil {
			t.Fatal(err)
		}
		list := reflect.ValueOf(values)
		got := Rescaled(data, s, slope, inter)
		if len(got) != list.Len() {
			t.Errorf("%d of %d values of %v", len(got), list.Len(), s)
		}
		for i, v := range got {
			of := list.Index(i).Convert(reflect.TypeFor[float64]()).Float()
			if s == Float16 {
				of = []float64{1, -2.5}[i]
			}
			if want := float64(of*slope) + inter; v != want {
				t.Errorf("%v of %v becomes %v, want %v", of, s, v, want)
			}
		}
	}
}

// Chunks of few values, of more than a table has, and of both signs of zero and NaN have the same ranks.
func ranksAscend(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	values := make([]float64, 3*chunkVoxels+9000)
	for i := range values {
		switch few := fewValues + i/chunkVoxels - 1; { // the last number that a table has, and one more
		case i < 2*chunkVoxels:
			values[i] = float64(rng.IntN(few)-few/2) / 3
		case i < 3*chunkVoxels: // keys that differ in no bit above the first of the last digit
			values[i] = math.Exp2(-15 * rng.Float64())
		default:
			values[i] = []float64{math.Copysign(0, -1), 0, math.NaN(), rng.Float64()}[rng.IntN(4)]
		}
	}
	copy(values[chunkVoxels:], []float64{-1e9, 1e9})
	ranks := make([]uint32, len(values))
	distinct := rank(AllCores(), values, ranks)
	want := slices.Clone(values)
	slices.Sort(want)
	want = slices.Compact(slices.DeleteFunc(want, func(v float64) bool { return v != v }))
	if !slices.Equal(distinct, want) {
		t.Fatalf("%d distinct values, want %d", len(distinct), len(want))
	}
	for i, v := range values {
		if v == v && want[ranks[i]] != v {
			t.Fatalf("value %v at %d has the rank of %v", v, i, want[ranks[i]])
		}
	}
}
