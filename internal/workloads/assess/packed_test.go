package assess

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"eccbench/internal/grid"
)

// broken is an image whose last slice cannot be read.
type broken struct {
	*grid.Field
	err error
}

func (b broken) ReadSlab(dst []byte, lo, hi int64) error {
	if hi == b.Shape().D {
		return b.err
	}
	return b.Field.ReadSlab(dst, lo, hi)
}

// drawn returns an image with some voxels of some labels.
func drawn(t *testing.T, rng *rand.Rand, s grid.Shape, filled float64, labels ...uint8) *grid.Field {
	t.Helper()
	data := grid.NewBuffer(s.Voxels())
	for i := range data {
		if rng.Float64() < filled {
			data[i] = labels[rng.IntN(len(labels))]
		}
	}
	f, err := grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A packed pair has the images, the sets, the places and the numbers of the pair in memory.
func TestPackPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 100 {
		s := grid.Shape{D: 2 + rng.Int64N(5), H: 1 + rng.Int64N(9), W: 1 + rng.Int64N(200)}
		if rng.IntN(20) == 0 { // several slabs
			s = grid.Shape{D: 5, H: 300, W: 301}
		}
		label := uint8(1 + rng.IntN(255))
		pred, truth := drawn(t, rng, s, 0.1+0.9*rng.Float64(), label), drawn(t, rng, s, rng.Float64(), label)
		want, err := NewPair(pred, truth, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := PackPair(pred, truth, nil, nil, 1+rng.IntN(3))
		if err != nil || got == nil != (len(want.Sets) != 1 || len(want.Sets[0].Codes) == 0) {
			t.Fatalf("%v, label %d: %v, %v", s, label, got, err)
		}
		if got == nil {
			continue
		}
		if list := BySearch(got); !reflect.DeepEqual(list, BySearch(want)) || got.fields[0] != nil {
			t.Fatalf("%v, label %d: %+v, want %+v", s, label, list, BySearch(want))
		}
		for image, f := range want.fields {
			for i, v := range f.Data() {
				z, y, x := s.Coordinates(int64(i))
				if got.Packed(image, z).Row(y)[x/64]>>(x%64)&1 == 1 != (v > 0) {
					t.Fatalf("%v: voxel %d of image %d for implementations is not %d", s, i, image, v)
				}
			}
			if !slices.Equal(got.Fields()[image].Data(), f.Data()) {
				t.Fatalf("%v, label %d: image %d differs", s, label, image)
			}
		}
		set := want.Sets[0]
		if !reflect.DeepEqual(got.Sets, want.Sets) || !slices.Equal(got.Labels, want.Labels) ||
			got.Place(set) != want.Place(set) {
			t.Fatalf("%v: sets %v at %v, want %v at %v", s, got.Sets, got.Place(set), want.Sets, want.Place(set))
		}
	}
}

// Other pairs are not packed, and an error of a file is returned.
func TestPackPairRejects(t *testing.T) {
	rng, s := rand.New(rand.NewPCG(33, 34)), grid.Shape{D: 4, H: 9, W: 70}
	one, two := drawn(t, rng, s, 0.5, 1), drawn(t, rng, s, 0.5, 1, 2)
	for name, with := range map[string]*grid.Field{
		"several labels": two, "another label": drawn(t, rng, s, 0.5, 7),
		"another shape": drawn(t, rng, grid.Shape{D: 4, H: 70, W: 9}, 0.5, 1),
	} {
		for _, pair := range [][2]*grid.Field{{one, with}, {with, one}} {
			if p, err := PackPair(pair[0], pair[1], nil, nil, 2); p != nil || err != nil {
				t.Errorf("%s: %v, %v", name, p, err)
			}
		}
	}
	flat := drawn(t, rng, grid.Shape{D: 1, H: 9, W: 9}, 0.5, 1)
	if p, err := PackPair(flat, flat, nil, nil, 2); p != nil || err != nil {
		t.Errorf("one slice: %v, %v", p, err)
	}
	for _, groups := range [][]Group{{{"v", grid.Numbers(1)}}, {{"1", grid.Numbers(1)}}} {
		if p, err := PackPair(one, one, nil, groups, 2); p != nil || err != nil {
			t.Errorf("with a group: %v, %v", p, err)
		}
	}
	for _, labels := range [][]grid.Number{grid.Numbers(2), grid.Numbers(0), grid.Numbers(1, 2)} {
		if p, err := PackPair(one, one, labels, nil, 2); p != nil || err != nil {
			t.Errorf("labels %v: %v, %v", labels, p, err)
		}
	}
	fault := errors.New("the disk is on fire")
	if p, err := PackPair(one, broken{one, fault}, nil, nil, 2); p != nil || !errors.Is(err, fault) {
		t.Errorf("%v, %v: want the error of the truth", p, err)
	}
}
