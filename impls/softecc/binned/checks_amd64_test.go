//go:build amd64 && !noasm

package binned

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/isa"
)

// columnChecks test the functions in assembly directly.
func columnChecks(set string) []checktest.Check {
	if set == isa.Portable {
		return nil
	}
	return []checktest.Check{
		{Name: "columns of voxels, " + set, Of: func(t *testing.T) { columnIs(t, set) }},
		{Name: "a column of nothing, " + set, Of: func(t *testing.T) { nothingIs(t, set) }},
	}
}

// An instruction set has its own functions, and no rows have no changes.
func nothingIs(t *testing.T, set string) {
	of := func(f any) uintptr { return reflect.ValueOf(f).Pointer() }
	k, other := vector(set), vector(isa.AVX512)
	if set == isa.AVX512 {
		other = vector(isa.AVX2)
	}
	if of(k.step) == of(other.step) || of(k.tilt) == of(other.tilt) {
		t.Errorf("%s has the functions of another instruction set", set)
	}
	for _, width := range []int64{1, lanes / 2, lanes, lanes + 1} {
		rows := make([]float32, 2*(2*lead+width+lanes))
		s := step[float32]{below: rows, above: rows, owed: make([]int32, width+lanes), width: width, stride: 2*lead + width, out: slices.Repeat([]uint8{7}, int(width+lanes))}
		s.handed = [2][]int32{make([]int32, width), make([]int32, width)}
		if k.step(&s); slices.ContainsFunc(s.out, func(v uint8) bool { return v != 7 }) {
			t.Errorf("%s: no rows of %d voxels have changes %v", set, width, s.out)
		}
	}
}

// The constant arguments of a column: see column.
const (
	columnWidth  = 3
	columnRows   = 5
	columnStride = 2*lead + lanes
)

// column and tilt call the functions of an instruction set. The order of their data in memory and
// the constants are chosen so that no register contains an argument by chance.
//
//go:noinline
func column(out *uint8, below *float32, owed *int32, above *float32, set string) {
	if set == isa.AVX2 {
		column256(below, above, owed, out, columnStride*valueBytes, lanes, columnRows)
	} else {
		column512(below, above, owed, out, columnStride*valueBytes, lanes, columnRows, 1<<columnWidth-1)
	}
}

//go:noinline
func tilt(along, dst, row *float32, set string) {
	if set == isa.AVX2 {
		tilt256(dst, row, along, 0.5, lanes+2)
	} else {
		tilt512(dst, row, along, 0.5, lanes+2)
	}
}

// Columns agree with the portable kernel, and a tilted row is the sum.
func columnIs(t *testing.T, set string) {
	rng := rand.New(rand.NewPCG(34, 7))
	for range 20 {
		columnOf(t, rng, set)
	}
	var dst, row, along [lanes + 3]float32
	for i := range row {
		row[i], along[i] = float32(i), float32(i*i)
	}
	tilt(&along[0], &dst[0], &row[0], set)
	for i, v := range dst {
		if want := row[i] + (0.5 + along[i]); i < lanes+2 && v != want || i >= lanes+2 && v != 0 {
			t.Errorf("value %d of a row is %v, want %v", i, v, want)
		}
	}
}

func columnOf(t *testing.T, rng *rand.Rand, set string) {
	const width, rows, stride = columnWidth, columnRows, columnStride
	of := func() step[float32] {
		s := step[float32]{rows: rows, width: width, stride: stride, out: make([]uint8, rows*lanes), owed: make([]int32, rows*stride)}
		s.handed = [2][]int32{make([]int32, width), make([]int32, width)}
		return s
	}
	got, want := of(), of()
	got.below, got.above = make([]float32, (rows+2)*stride), make([]float32, (rows+2)*stride)
	for i := range got.below {
		got.below[i], got.above[i] = float32(rng.IntN(3)), float32(rng.IntN(3))
	}
	for i := range got.owed {
		got.owed[i] = int32(rng.IntN(5))
	}
	want.below, want.above, want.owed = got.below, got.above, slices.Clone(got.owed)
	portable(&want)
	column(&got.out[0], &got.below[lead], &got.owed[0], &got.above[lead], set)
	for r := range rows {
		if a, b := got.out[r*lanes:][:width], want.out[r*width:][:width]; !slices.Equal(a, b) {
			t.Errorf("row %d: changes %v, want %v", r, a, b)
		}
		if a, b := got.owed[r*stride:][:width], want.owed[r*stride:][:width]; !slices.Equal(a, b) {
			t.Errorf("row %d: owes %v, want %v", r, a, b)
		}
	}
}
