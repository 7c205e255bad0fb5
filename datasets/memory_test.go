package datasets

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

var npyCode = map[storedType]string{
	storedUint8: "|u1", storedInt16: "<i2", storedUint16: "<u2", storedFloat32: "<f4", storedFloat16: "<f2",
	storedInt32: "<i4", storedUint32: "<u4", storedInt64: "<i8", storedUint64: "<u8", storedFloat64: "<f8",
}

// Voxels in memory make the image that a file of them does, and are not written to.
func TestVoxelsAreThoseOfAFile(t *testing.T) {
	shape := grid.Shape{D: 3, H: 4, W: 500}
	for stored, typ := range storedNames {
		if stored == storedInt8 {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(stored), 1))
		data := grid.NewBuffer(shape.Voxels() * stored.size())
		for _, finite := range []bool{true, false} {
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			exponent := map[storedType]byte{storedFloat16: 0x7c, storedFloat32: 0x7f, storedFloat64: 0x7f}[stored]
			if finite && exponent != 0 {
				for at := int(stored.size()) - 1; at < len(data); at += int(stored.size()) {
					data[at] &^= exponent &^ (exponent << 1) // of all exponents none is the highest
				}
				copy(data[len(data)-int(stored.size()):], append(make([]byte, stored.size()-1), 0x80)) // −0
			}
			before := bytes.Clone(data)
			got, err := Voxels(t.Context(), 2, shape, typ, data, 0)
			if !bytes.Equal(before, data) {
				t.Errorf("%s: the voxels were written to", typ)
			}
			file := writeNpy(npyHeaderText(npyCode[stored], "False", "(3, 4, 500)"), before)
			s, fileErr := openImage("a.npy", fileInput{ReaderAt: bytes.NewReader(file), size: int64(len(file)), FileOptions: FileOptions{Every: stored.native() == grid.Float32}})
			if (err == nil) != (fileErr == nil) || (err == nil) != (finite || exponent == 0) {
				t.Errorf("%s, finite %v: %v, of the file %v", typ, finite, err, fileErr)
				continue
			}
			if err != nil {
				nan := new(grid.NotFiniteError)
				if !errors.As(err, &nan) || err.Error() != fileErr.Error() || stored == storedFloat64 && nan.Count > 30 {
					t.Errorf("%s: %v, of the file %v", typ, err, fileErr)
				}
				continue
			}
			want := s.(*grid.Field)
			if got.Type() != want.Type() || got.Ladder().Key() != want.Ladder().Key() || !slices.Equal(plain(got), plain(want)) {
				t.Errorf("%s: not the image of the file: %v %v, want %v %v", typ, got.Type(), got.Ladder(), want.Type(), want.Ladder())
			}
			if (got.Labels() == nil) != (want.Labels() == nil) || got.Labels() != nil && got.Labels().String() != want.Labels().String() {
				t.Errorf("%s: labels %v, want %v", typ, got.Labels(), want.Labels())
			}
		}
	}
}

// plain are the values without −0.
func plain(f *grid.Field) []float32 {
	values := slices.Clone(f.Floats())
	for i := range values {
		values[i] += 0
	}
	return values
}

func TestVoxelsOnEvenLevels(t *testing.T) {
	values := []float32{3, float32(math.Copysign(0, -1)), -2, 8}
	f, err := Voxels(t.Context(), 2, grid.Shape{D: 1, H: 2, W: 2}, "float32", grid.Bytes(values), 11)
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Ladder(); l.Len() != 11 || l.Value(0) != -2 || l.Value(5) != 3 || l.Value(10) != 8 {
		t.Errorf("ladder %v", l)
	}
}

func TestVoxelsRefused(t *testing.T) {
	for want, ask := range map[string]func() (*grid.Field, error){
		`element type "int8": want`: func() (*grid.Field, error) {
			return Voxels(t.Context(), 2, grid.Shape{D: 1, H: 1, W: 1}, "int8", make([]byte, 1), 0)
		},
		"every axis": func() (*grid.Field, error) {
			return Voxels(t.Context(), 2, grid.Shape{D: 1, H: 0, W: 1}, "uint8", nil, 0)
		},
		"5 bytes, want 4": func() (*grid.Field, error) {
			return Voxels(t.Context(), 2, grid.Shape{D: 1, H: 2, W: 2}, "uint8", make([]byte, 5), 0)
		},
		"leave it out": func() (*grid.Field, error) {
			return Voxels(t.Context(), 2, grid.Shape{D: 1, H: 2, W: 2}, "uint8", make([]byte, 4), 9)
		},
		"ask for fewer levels": func() (*grid.Field, error) {
			return Voxels(t.Context(), 2, grid.Shape{D: 1, H: 1, W: 2}, "float32", grid.Bytes([]float32{1, math.Nextafter32(1, 2)}), 9)
		},
	} {
		if _, err := ask(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Conversion and ranking stop with the context.
func TestVoxelsUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for typ, size := range map[string]int{"float16": 2, "float32": 4, "uint32": 4, "float64": 8, "int64": 8} {
		if _, err := Voxels(ctx, 2, grid.Shape{D: 1, H: 4, W: 4}, typ, grid.NewBuffer(int64(16*size)), 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}
