package extrema_test

import (
	"slices"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
)

// Lanes are no wider than the levels need, and what is outside an image is above all of
// them, or on the last where they take all values of a lane.
func TestLanes(t *testing.T) {
	affine := func(lo float64, n int64) grid.Ladder {
		l, err := grid.Affine(lo, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		typ       grid.Type
		ladder    grid.Ladder
		size, pad int64
	}{
		{grid.Uint8, grid.Identity(grid.Uint8), 1, 255}, {grid.Uint8, affine(0, 255), 1, 255}, {grid.Uint8, affine(-1, 256), 2, 256},
		{grid.Uint8, affine(0, 257), 2, 257}, {grid.Int16, grid.Identity(grid.Int16), 2, 65535}, {grid.Uint16, grid.Identity(grid.Uint16), 2, 65535},
		{grid.Uint16, affine(-1, 1<<16), 4, 1 << 16}, {grid.Uint16, affine(0, 255), 1, 255}, {grid.Uint16, affine(0, 256), 2, 256},
		{grid.Float32, affine(0, 255), 1, 255}, {grid.Float32, affine(0, 256), 2, 256}, {grid.Float32, affine(0, 65535), 2, 65535},
		{grid.Float32, affine(0, 65536), 4, 65536}, {grid.Float32, affine(0, 1<<20+1), 4, 1<<20 + 1},
	} {
		if size, pad := extrema.Lanes(c.typ, c.ladder); size != c.size || pad != c.pad {
			t.Errorf("%v, %d levels: lanes of %d bytes, outside on %d; want %d and %d", c.typ, c.ladder.Len(), size, pad, c.size, c.pad)
		}
	}
}

// A vast source is of a shape alone.
type vast struct{ grid.Source }

func (vast) Shape() grid.Shape { return grid.Shape{D: 9, H: 1 << 13, W: 1 << 13} }

// A step is of two planes, so that a slab has two slices however large they are.
func TestSlabsHaveAStep(t *testing.T) {
	for threads := 1; threads < 5; threads++ {
		if n := extrema.Slab(vast{constant(t)}, threads); n != 2 {
			t.Errorf("%d cores: slabs of %d slices, want 2", threads, n)
		}
	}
}

// A row says that its levels were searched for, where they were.
func TestSearchedLevelsAreFlagged(t *testing.T) {
	uneven, err := grid.Table([]float32{0, 1, 3, 7})
	if err != nil {
		t.Fatal(err)
	}
	even, err := grid.Affine(0, 1, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		want   []string
	}{{grid.Float32, uneven, []string{"levels=searched"}}, {grid.Float32, even, nil}, {grid.Uint8, uneven, nil}} {
		shape := grid.Shape{D: 1, H: 2, W: 2}
		f, err := grid.NewField(shape, c.typ, grid.NewBuffer(shape.Voxels()*c.typ.Size()), c.ladder)
		if err != nil {
			t.Fatal(err)
		}
		job, err := extrema.Implementation{}.Setup(f, bench.Conditions{Setting: bench.Setting{Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := job.(bench.Flagged).Flags(); !slices.Equal(got, c.want) {
			t.Errorf("%v: flags %q, want %q", c.typ, got, c.want)
		}
	}
}
