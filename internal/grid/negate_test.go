package grid

import (
	"errors"
	"slices"
	"testing"
)

// A negated image has the levels of the image from the other end, and negated twice it is
// the image.
func TestNegate(t *testing.T) {
	affine, err := Affine(-3, 1, 9)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Table([]float32{-4, 0, 0.5, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ    Type
		ladder Ladder
		values []float32
	}{
		{Uint8, Identity(Uint8), []float32{0, 255, 7, 200, 1, 254}}, {Uint16, Identity(Uint16), []float32{0, 65535, 7, 300, 1, 2}},
		{Int16, Identity(Int16), []float32{-32768, 32767, 0, -1, 5, 6}}, {Int16, affine, []float32{-3, 5, 0, 1, -1, 2}},
		{Float32, Identity(Float32), []float32{0, -1, 1, 1e-40, -1e30, 3e38}}, {Float32, table, []float32{-4, 0, 3, 0.5, 0, -4}},
	} {
		data := NewBuffer(6 * c.typ.Size())
		for i, v := range c.values {
			fillValue(c.typ, data[int64(i)*c.typ.Size():][:c.typ.Size()], v)
		}
		f, err := NewField(Shape{D: 1, H: 2, W: 3}, c.typ, data, c.ladder)
		if err != nil {
			t.Fatal(err)
		}
		levels := func(s Source) []int64 {
			whole, err := Load(s)
			if err != nil {
				t.Fatal(err)
			}
			var list []int64
			for _, v := range whole.Floats() {
				list = append(list, whole.Ladder().Level(v))
			}
			return list
		}
		was := levels(f)
		n, err := Negate(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range levels(n) {
			if k != c.ladder.Len()-1-was[i] {
				t.Errorf("%v on %v: value %v is level %d, negated %d of %d", c.typ, c.ladder, c.values[i], was[i], k, c.ladder.Len())
			}
		}
		again, err := Negate(n)
		if err != nil {
			t.Fatal(err)
		}
		if whole, err := Load(again); err != nil || !slices.Equal(whole.Data(), f.Data()) {
			t.Errorf("%v on %v: negated twice it is another image (%v)", c.typ, c.ladder, err)
		}
	}
}

// What the type of an image has no value for cannot be around it.
func TestPadOfNoValue(t *testing.T) {
	for _, c := range []struct {
		typ   Type
		first float64
		want  bool
	}{
		{Uint8, 0, true}, {Uint8, -1, false}, {Uint8, 255, true}, {Uint8, 256, false}, {Uint8, 0.5, false}, {Uint16, 65535, true}, {Uint16, 65536, false}, {Uint16, -1, false},
		{Int16, -32768, true}, {Int16, -32769, false}, {Int16, 32767, true}, {Int16, 32768, false}, {Float32, -1e9, true},
	} {
		l, err := Affine(c.first, 1, 70000)
		if c.typ == Float32 {
			l, err = Affine(c.first, 1e9, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewField(Shape{1, 2, 2}, c.typ, NewBuffer(4*c.typ.Size()), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(Pad(f)); (err == nil) != c.want || err != nil && !errors.Is(err, ErrNoValue) {
			t.Errorf("%v from level %v on: %v", c.typ, c.first, err)
		}
	}
}

// A padded image is the image within a layer of the first level, whole and in any slabs.
func TestPad(t *testing.T) {
	for _, typ := range Types() {
		for _, shape := range []Shape{{1, 1, 1}, {1, 1, 4}, {1, 3, 2}, {2, 1, 1}, {3, 2, 4}} {
			data := NewBuffer(shape.Voxels() * typ.Size())
			for i := range shape.Voxels() {
				fillValue(typ, data[i*typ.Size():][:typ.Size()], float32(i+2))
			}
			f, err := NewField(shape, typ, data, Identity(typ))
			if err != nil {
				t.Fatal(err)
			}
			p := Pad(f)
			deep := int64(1)
			if shape.D == 1 {
				deep = 0
			}
			if want := (Shape{shape.D + 2*deep, shape.H + 2, shape.W + 2}); p.Shape() != want {
				t.Fatalf("%v: padded %v, want %v", shape, p.Shape(), want)
			}
			whole, err := Load(p)
			if err != nil {
				t.Fatal(err)
			}
			got, within, s := whole.Floats(), f.Floats(), p.Shape()
			for z := range s.D {
				for y := range s.H {
					for x := range s.W {
						want := f.Ladder().Value(0)
						if z >= deep && z < shape.D+deep && y > 0 && y <= shape.H && x > 0 && x <= shape.W {
							want = within[((z-deep)*shape.H+y-1)*shape.W+x-1]
						}
						if v := got[(z*s.H+y)*s.W+x]; v != want {
							t.Errorf("%v %v: z %d y %d x %d is %v, want %v", shape, typ, z, y, x, v, want)
						}
					}
				}
			}
			n, size := s.Slices(), SliceBytes(p)
			for lo := range n + 1 {
				for hi := lo; hi <= n; hi++ {
					slab := NewBuffer((hi - lo) * size)
					if err := p.ReadSlab(slab, lo, hi); err != nil || !slices.Equal(slab, whole.Data()[lo*size:hi*size]) {
						t.Errorf("%v %v: slab %d..%d differs (%v)", shape, typ, lo, hi, err)
					}
				}
			}
		}
	}
}
