package grid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
)

// levelsOfTables checks that values have the levels of a table. Some levels are as close together
// as possible, and some are far apart; with many levels, each has one or two buckets.
func levelsOfTables(t *testing.T, neighbours int, random ...int) {
	rng := rand.New(rand.NewPCG(1, 2))
	tables := map[string][]float32{}
	near := []float32{-math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32}
	for x := float32(1); len(near) < neighbours; x = math.Nextafter32(x, 2) {
		near = append(near, x)
	}
	tables["neighbours"] = append(near, 7, math.MaxFloat32)
	for _, n := range random {
		var even []float32
		for range n {
			even = append(even, rng.Float32()-0.25)
		}
		slices.Sort(even)
		tables[fmt.Sprint(n)] = slices.Compact(even)
	}
	for name, levels := range tables {
		l, err := grid.Table(levels)
		if err != nil {
			t.Fatal(err)
		}
		values := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1))}
		for _, v := range levels {
			values = append(values, v, math.Nextafter32(v, math.MaxFloat32), math.Nextafter32(v, -math.MaxFloat32))
		}
		for range 10_000 {
			values = append(values, math.Float32frombits(rng.Uint32()&^(1<<30)))
		}
		got := slices.Repeat([]int32{-1}, len(values))
		grid.NewLevels[float32](l).Convert(got, values)
		for i, v := range values {
			if k := l.Level(v); int64(got[i]) != k {
				t.Fatalf("%s: %v is converted to %d, looked up as %d", name, v, got[i], k)
			}
		}
	}
}

// A ladder of too many levels is not relabelled, and the error contains the limit.
func TestRelabelOfMany(t *testing.T) {
	for levels, want := range map[int64]bool{1 << 22: true, 1<<22 + 1: false} {
		l, err := grid.Affine(0, 1, levels)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.NewField(grid.Shape{D: 1, H: 2, W: 2}, grid.Float32, grid.NewBuffer(16), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := views.Relabel(f, 1); (err == nil) != want || err != nil && err.Error() != "relabel: 4194305 levels, at most 4194304" {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}
