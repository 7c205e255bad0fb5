package grid

import (
	"strings"
	"testing"
)

// A masked image has its values as float32, on as many levels, and those that the mask leaves
// out above the last one, negated or not.
func TestMask(t *testing.T) {
	shape := Shape{D: 2, H: 1, W: 2}
	mask, err := NewField(shape, Uint8, []byte{1, 0, 255, 7}, Identity(Uint8))
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range Types() {
		data := NewBuffer(4 * typ.Size())
		for i := range int64(4) {
			fillValue(typ, data[i*typ.Size():][:typ.Size()], float32(3*i+1))
		}
		f, err := NewField(shape, typ, data, Identity(typ))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Mask(f, mask)
		if err != nil {
			t.Fatal(err)
		}
		if Unmasked(m) != Source(f) || Unmasked(f) != Source(f) {
			t.Errorf("%v: the image without its mask is another one", typ)
		}
		negated, err := Negate(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Source{m, negated, Present(m), Gaps(m), Crop(m, 1, 2)} {
			if s.Type() != Float32 || s.Ladder().Len() != f.Ladder().Len() {
				t.Fatalf("%v: %v on %v", typ, s.Type(), s.Ladder())
			}
		}
		levels := func(s Source) (list [4]int64) {
			whole, err := Load(s)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range whole.Floats() {
				list[i] = s.Ladder().Level(v)
			}
			return list
		}
		n, want := f.Ladder().Len(), [4]int64{}
		for i, v := range f.Floats() {
			want[i] = f.Ladder().Level(v)
		}
		want[1] = n
		if got := levels(m); got != want {
			t.Errorf("%v: levels %v, want %v", typ, got, want)
		}
		if got := levels(negated); got != [4]int64{n - 1 - want[0], n, n - 1 - want[2], n - 1 - want[3]} {
			t.Errorf("%v: negated levels %v of %v", typ, got, want)
		}
		if got := levels(Present(m)); got != [4]int64{want[0], 0, want[2], want[3]} {
			t.Errorf("%v: present levels %v", typ, got)
		}
		if got := levels(Gaps(m)); got != [4]int64{n, 0, n, n} {
			t.Errorf("%v: levels of gaps %v", typ, got)
		}
	}
	other, err := NewField(Shape{D: 1, H: 2, W: 2}, Uint8, make([]byte, 4), Identity(Uint8))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Mask(mask, other); err == nil || !strings.Contains(err.Error(), "same shape") {
		t.Errorf("a mask of another shape: %v", err)
	}
}
