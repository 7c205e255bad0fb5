package grid

import (
	"sync"
	"testing"
)

// The hash is the same however an image is read, and another of another image, of the same
// bytes in another shape, and of the same slices in another order.
func TestDigester(t *testing.T) {
	shape := Shape{D: 5, H: 2, W: 3}
	image := func(shape Shape, change func([]byte)) *Field {
		data := NewBuffer(shape.Voxels())
		for i := range data {
			data[i] = byte(i * i)
		}
		change(data)
		f, err := NewField(shape, Uint8, data, Identity(Uint8))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	same := func([]byte) {}
	f := image(shape, same)
	want, err := NewDigester(f).Sum()
	if err != nil {
		t.Fatal(err)
	}
	d := NewDigester(struct{ Source }{f})
	if _, err := d.Sum(); err == nil {
		t.Error("the hash of an image that was not read")
	}
	var wg sync.WaitGroup
	for _, slab := range [][2]int64{{3, 5}, {0, 1}, {0, 4}, {1, 2}} {
		wg.Go(func() {
			if err := d.ReadSlab(make([]byte, (slab[1]-slab[0])*SliceBytes(f)), slab[0], slab[1]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := d.Sum(); err != nil || got != want {
		t.Errorf("read in slabs %s, whole %s (%v)", got, want, err)
	}
	for what, other := range map[string]*Field{
		"a voxel":     image(shape, func(b []byte) { b[17]++ }),
		"the order":   image(shape, func(b []byte) { copy(b[:6], b[24:]) }),
		"another cut": image(Shape{D: 5, H: 3, W: 2}, same),
	} {
		if got, err := NewDigester(other).Sum(); err != nil || got == want {
			t.Errorf("%s does not show (%v)", what, err)
		}
	}
}
