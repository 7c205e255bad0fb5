package datasets

import (
	"bytes"
	"fmt"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/isa"

	"eccbench/datasets/files/format"
	"eccbench/datasets/random"
	"eccbench/datasets/vectors"

	"pgregory.net/rapid"
)

// openOn returns the image of a name, made with an instruction set.
func openOn(t testing.TB, name, isa string) grid.Source {
	t.Helper()
	n, err := split(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := resolveOn(n, format.Options{}, isa)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every instruction set makes the bytes of the portable code, for any type, levels, shape and slab,
// and does not write beyond them.
func TestInstructionSets(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		typ := rapid.SampledFrom([]grid.Type{grid.Uint8, grid.Uint16, grid.Int16, grid.Float32}).Draw(r, "type")
		levels := rapid.OneOf(rapid.Int64Range(1, random.MaxLevels(typ)), rapid.Int64Range(1, 100), rapid.SampledFrom([]int64{1, 2, 64, 128, 255, 256}), rapid.Just(random.MaxLevels(typ))).Draw(r, "levels")
		shape := grid.Shape{
			D: rapid.Int64Range(1, 8).Draw(r, "depth"),
			H: rapid.Int64Range(1, 8).Draw(r, "height"),
			W: rapid.OneOf(rapid.Int64Range(1, 70), rapid.Int64Range(1, 700), rapid.Just[int64](512)).Draw(r, "width"),
		}
		name := fmt.Sprintf("noise/shape=%v/levels=%d/type=%v", shape, levels, typ)
		if rapid.Bool().Draw(r, "grf") {
			// All counts of boxes whose sums fit 16 bits, and sums that fit 32 bits or not.
			smooth := rapid.SampledFrom([]float64{0.5, 0.6, 0.8, 1, 1.5, 2, 3, 3.9, 4, 6, 7, 11, 20, 32}).Draw(r, "smooth")
			if shape.D > 2 && smooth > 7 {
				shape.D = 1
			}
			name = fmt.Sprintf("grf/shape=%v/smooth=%v/levels=%d/type=%v", shape, smooth, levels, typ)
		}
		if typ == grid.Float32 {
			name += rapid.SampledFrom([]string{"", "/lo=-0", "/lo=-0.5", "/lo=-1000/step=0.1", "/lo=7/step=0.25", "/lo=-3e-46/step=1.4e-45", "/step=1.4e-45"}).Draw(r, "ladder")
		}
		name += fmt.Sprintf("/seed=%d/roll=%d", rapid.Uint64().Draw(r, "seed"), rapid.Int64Range(0, 9).Draw(r, "roll"))
		n, err := split(name)
		if err != nil {
			r.Fatal(err)
		}
		if _, err := resolve(n); err != nil {
			r.Skip(err) // levels that are equal in float32
		}
		slices := shape.Slices()
		lo := rapid.Int64Range(0, slices).Draw(r, "lo")
		hi := rapid.Int64Range(lo, slices).Draw(r, "hi")
		sameBytes(r, t, name, lo, hi)
	})
}

// Wide rows need many turns, and so do coordinates far from 0.
func TestInstructionSetsOfLargeImages(t *testing.T) {
	for _, typ := range []grid.Type{grid.Uint8, grid.Uint16, grid.Int16, grid.Float32} {
		for _, name := range []string{
			fmt.Sprintf("noise/shape=100003x2147483647/type=%v", typ),
			fmt.Sprintf("noise/shape=1x1x2147483647/type=%v", typ),
			fmt.Sprintf("grf/shape=10003x2147483647/type=%v", typ),
		} {
			sameBytes(t, t, name, 1<<31-3, 1<<31-1)
		}
	}
}

func sameBytes(r interface {
	Fatalf(string, ...any)
}, t *testing.T, name string, lo, hi int64) {
	read := func(set string) []byte {
		s := openOn(t, name, set)
		n := (hi - lo) * grid.SliceBytes(s)
		const guard = 512
		buf := grid.NewBuffer(n + guard)
		for i := range buf {
			buf[i] = 0xa5
		}
		if err := s.ReadSlab(buf[:n:n], lo, hi); err != nil {
			r.Fatalf("%s: %v", name, err)
		}
		if want := bytes.Repeat([]byte{0xa5}, guard); !bytes.Equal(buf[n:], want) {
			r.Fatalf("%s: %s writes beyond slices %d to %d", name, set, lo, hi)
		}
		return buf[:n]
	}
	want := read(isa.Portable)
	for _, set := range vectors.Available() {
		if got := read(set); !bytes.Equal(got, want) {
			r.Fatalf("%s: slices %d to %d differ by %s", name, lo, hi, set)
		}
	}
}
