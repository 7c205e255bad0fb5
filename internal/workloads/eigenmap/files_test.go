package eigenmap

import (
	"bytes"
	"compress/gzip"
	"image/png"
	"io"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// Each format ends with the numbers, in its order.
func TestFiles(t *testing.T) {
	solid, flat := grid.Shape{D: 2, H: 1, W: 3}, grid.Shape{D: 1, H: 2, W: 3}
	mask, vectors := []bool{true, false, false, false, true, true}, [][]float64{{1, 0, 0, 0, 0, -1}, {0, 0.5, 0, 0, 0, -0.25}}
	bits := "\x01\x00\x00\x00\x01\x01"
	floats := "\x00\x00\x80\x3f" + strings.Repeat("\x00", 16) + "\x00\x00\x80\xbf" + "\x00\x00\x00\x00" + "\x00\x00\x00\x3f" + strings.Repeat("\x00", 12) + "\x00\x00\x80\xbe"
	for _, c := range []struct {
		extension, mask, vectors string
		shape                    grid.Shape
	}{
		{".npy", "'|u1', 'fortran_order': False, 'shape': (2, 3), ", "'<f4', 'fortran_order': False, 'shape': (2, 2, 3), ", flat},
		{".npy", "'shape': (2, 1, 3), ", "'shape': (2, 2, 1, 3), ", solid},
		{".nii", "\x03\x00\x03\x00\x01\x00\x02\x00\x01\x00", "\x04\x00\x03\x00\x01\x00\x02\x00\x02\x00", solid},
		{".nii.gz", "a note", "eigenvectors", flat},
	} {
		var one, two bytes.Buffer
		if err := WriteMask(&one, c.extension, c.shape, mask, "a note"); err != nil {
			t.Fatal(err)
		}
		if err := WriteVectors(&two, c.extension, c.shape, vectors, "a note"); err != nil {
			t.Fatal(err)
		}
		for what, b := range map[string]*bytes.Buffer{"mask": &one, "vectors": &two} {
			data := b.Bytes()
			if c.extension == ".nii.gz" {
				z, err := gzip.NewReader(b)
				if err != nil {
					t.Fatal(err)
				}
				if data, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			end, says := bits, c.mask
			if what == "vectors" {
				end, says = floats, c.vectors
			}
			if !strings.HasSuffix(string(data), end) || !strings.Contains(string(data), says) {
				t.Errorf("%s of %s: %q", what, c.extension, data)
			}
		}
	}
	if err := WriteMask(io.Discard, ".jpg", flat, mask, ""); err == nil {
		t.Error("a format that there is not")
	}
}

// In pictures slices are one below the other, vectors side by side, and 0 is grey.
func TestPictures(t *testing.T) {
	s := grid.Shape{D: 2, H: 1, W: 3}
	for _, c := range []struct {
		write         func(io.Writer) error
		width         int
		x, y          int
		want, another uint8
	}{
		{func(w io.Writer) error {
			return WriteMask(w, ".png", s, []bool{true, false, false, false, true, true}, "")
		}, 3, 1, 1, 255, 0},
		{func(w io.Writer) error {
			return WriteVectors(w, ".png", s, [][]float64{{1, 0, 0, 0, 0, -1}, {0, 0.5, 0, 0, 0, -0.25}}, "")
		}, 3 + apart + 3, 3 + apart + 1, 0, 255, 128},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil || img.Bounds().Dx() != c.width || img.Bounds().Dy() != 2 {
			t.Fatalf("%v, %v", img.Bounds(), err)
		}
		grey := func(x, y int) uint8 { r, _, _, _ := img.At(x, y).RGBA(); return uint8(r >> 8) }
		if grey(c.x, c.y) != c.want || grey(1, 0) != c.another {
			t.Errorf("%d and %d, want %d and %d", grey(c.x, c.y), grey(1, 0), c.want, c.another)
		}
	}
}
