package grid

import (
	"bytes"
	"fmt"
	"testing"
)

// numbered is a field whose values are their own row-major positions.
func numbered(t *testing.T, s Shape) *Field {
	t.Helper()
	data := NewBuffer(s.Voxels() * 2)
	for i := range s.Voxels() {
		Values[uint16](data)[i] = uint16(i)
	}
	f, err := NewField(s, Uint16, data, Identity(Uint16))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestViews(t *testing.T) {
	for _, s := range []Shape{{3, 4, 5}, {1, 4, 5}, {2, 1, 7}, {1, 1, 1}} {
		f := numbered(t, s)
		at := func(z, y, x int64) uint16 { return uint16((z*s.H+y)*s.W + x) }
		n := s.Slices()
		views := map[string]struct {
			src  Source
			want func(z, y, x int64) uint16
		}{
			"itself": {f, at},
			"flip x": {Flip(f, 'x'), func(z, y, x int64) uint16 { return at(z, y, s.W-1-x) }},
			"flip s": {Flip(f, 's'), func(z, y, x int64) uint16 {
				if s.D == 1 {
					return at(z, s.H-1-y, x)
				}
				return at(s.D-1-z, y, x)
			}},
			"transpose": {Transpose(f), func(z, y, x int64) uint16 { return at(z, x, y) }},
			"roll": {Roll(f, n+1), func(z, y, x int64) uint16 {
				if s.D == 1 {
					return at(z, (y+1)%n, x)
				}
				return at((z+1)%n, y, x)
			}},
			"crop": {Crop(f, n-1, n), func(z, y, x int64) uint16 {
				if s.D == 1 {
					return at(z, n-1, x)
				}
				return at(n-1, y, x)
			}},
		}
		v := views["crop"]
		v.src = Crop(Flip(Flip(f, 'x'), 'x'), n-1, n)
		views["crop, not in memory"] = v
		if s.D > 1 {
			views["flip y"] = struct {
				src  Source
				want func(z, y, x int64) uint16
			}{Flip(f, 'y'), func(z, y, x int64) uint16 { return at(z, s.H-1-y, x) }}
		}
		for name, v := range views {
			t.Run(fmt.Sprintf("%v %s", s, name), func(t *testing.T) {
				shape := v.src.Shape()
				var want []uint16
				for i := range shape.Voxels() {
					want = append(want, v.want(shape.Coordinates(i)))
				}
				for size := int64(1); size <= shape.Slices(); size++ {
					var got []byte
					for lo := int64(0); lo < shape.Slices(); lo += size {
						hi := min(lo+size, shape.Slices())
						slab := NewBuffer((hi - lo) * SliceBytes(v.src))
						if err := v.src.ReadSlab(slab, lo, hi); err != nil {
							t.Fatal(err)
						}
						got = append(got, slab...)
					}
					for _, bad := range [][2]int64{{-1, 1}, {0, shape.Slices() + 1}, {1, 0}} {
						if err := v.src.ReadSlab(NewBuffer(max(0, bad[1]-bad[0])*SliceBytes(v.src)), bad[0], bad[1]); err == nil {
							t.Fatalf("slab %v was read", bad)
						}
					}
					if err := v.src.ReadSlab(nil, 0, 0); err != nil {
						t.Fatalf("a slab of no slices: %v", err)
					}
					if v.src.ReadSlab(NewBuffer(SliceBytes(v.src)+2), 0, 1) == nil {
						t.Fatal("a slab was read into a buffer that is too long")
					}
					if !bytes.Equal(got, Bytes(want)) {
						t.Fatalf("in slabs of %d: got %v, want %v", size, Values[uint16](got), want)
					}
				}
			})
		}
	}
}

func TestRelabelKeepsTheOrder(t *testing.T) {
	f := numbered(t, Shape{2, 3, 4})
	r, err := Relabel(f, 7)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Load(r)
	if err != nil {
		t.Fatal(err)
	}
	levels := make([]int32, 24)
	NewConverter(Float32, g.Ladder()).Convert(levels, g.Data())
	for i, k := range levels {
		if k != int32(i) {
			t.Fatalf("voxel %d is on level %d", i, k)
		}
	}
	if g.Type() != Float32 || g.Ladder().Len() != f.Ladder().Len() {
		t.Fatalf("type %v, %d levels", g.Type(), g.Ladder().Len())
	}
}

// A ladder of too many levels is not relabelled, and how many there may be is said.
func TestRelabelOfMany(t *testing.T) {
	for levels, want := range map[int64]bool{1 << 22: true, 1<<22 + 1: false} {
		l, err := Affine(0, 1, levels)
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewField(Shape{1, 2, 2}, Float32, NewBuffer(16), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Relabel(f, 1); (err == nil) != want || err != nil && err.Error() != "relabel: 4194305 levels, at most 4194304" {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}
