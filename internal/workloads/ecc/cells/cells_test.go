package cells

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/isa"
)

// TestBytesOfASet compares sets filled by eight bytes at a time with sets filled by single values: at every
// threshold, in rows that end within eight bytes and within a word.
func TestBytesOfASet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, w := range []int64{1, 7, 8, 63, 64, 65, 72, 131, 256} {
		const h = 2
		plane := make([]byte, h*w)
		for i := range plane {
			plane[i] = byte(rng.Uint32())
		}
		for i := range min(w, 256) { // each value with its neighbours
			plane[i] = byte(i)
		}
		thresholds := []float32{float32(math.Inf(-1)), -1, -0.5, 254.5, 255.5, 300, float32(math.Inf(1))}
		for v := range 256 {
			thresholds = append(thresholds, float32(v), float32(v)+0.5)
		}
		for _, threshold := range thresholds {
			want := NewPlaneSet(h, w)
			fillSet(want, plane, threshold)
			for _, name := range isa.Available(Assembled) {
				got := NewPlaneSet(h, w)
				for y := range int64(h) { // previous contents
					for i := range got.Row(y) {
						got.Row(y)[i] = math.MaxUint64
					}
				}
				planesOf(name).fillBytes(got, plane, threshold)
				if !slices.Equal(got.rows, want.rows) {
					t.Errorf("%s: %d wide at %v: %x, want %x", name, w, threshold, got.rows, want.rows)
				}
			}
		}
	}
}

// Every instruction set counts the same cells as single voxels do: in rows that end within a vector
// and beyond one, on every level and beyond either end. Vector code runs if the machine has it.
func TestCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, name := range isa.Available(Assembled) {
		k := planesOf(name)
		if own := reflect.ValueOf(k.cells).Pointer() != reflect.ValueOf(cellsBetween).Pointer(); own != (name == isa.AVX512 &&
			isa.Counts()) {
			t.Errorf("%s: cells are counted by instructions of its own: %v", name, own)
		}
		for i := range 60 {
			h, w := 1+rng.Int64N(4), 1+rng.Int64N(1200)
			if i == 30 { // more words than a byte counts
				w += 256 * 64
			}
			below, above := NewPlaneSet(h, w), NewPlaneSet(h, w)
			for _, s := range []*PlaneSet{below, above} {
				plane, limit := make([]byte, h*w), rng.Uint32()
				for i := range plane {
					plane[i] = byte(rng.Uint32())
				}
				s.Fill(grid.Uint8, plane, float32(limit%256))
			}
			if got, want := k.cells(below, above), cellsBetween(below, above); got != want {
				t.Fatalf("%s: %d of two planes of %d × %d, want %d", name, got, w, h, want)
			}
			if got, want := k.dual(below, above), dualCellsBetween(below, above); got != want {
				t.Fatalf("%s: %d dual cells of two planes of %d × %d, want %d", name, got, w, h, want)
			}
		}
	}
	for _, shape := range []grid.Shape{{D: 1, H: 1, W: 1}, {D: 2, H: 3, W: 63}, {D: 3, H: 5, W: 64}, {D: 4, H: 2, W: 65},
		{D: 3, H: 3, W: 128}, {D: 1, H: 9, W: 129}} {
		for _, typ := range grid.Types() {
			f := gridtest.Drawn(t, shape, typ, 5, 3)
			_, h, w := Stack(shape)
			levels := make([]int32, shape.Voxels())
			grid.NewConverter(typ, f.Ladder()).Convert(levels, f.Data())
			for level := int64(-1); level <= f.Ladder().Len(); level++ {
				got, err := Characteristic(f, level)
				dual, dualErr := DualCharacteristic(f, level)
				if want := CharacteristicOfLevels(levels, h, w, level); got != want || dual != want+1 || err != nil ||
					dualErr != nil {
					t.Errorf("%v of %v, level %d: %d and its dual %d, want %d (%v, %v)", shape, typ, level, got, dual, want, err,
						dualErr)
				}
			}
		}
	}
}
