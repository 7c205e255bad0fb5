package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// fileBytes encodes the first n values of a sequence, element by element.
func fileBytes(s element.Type, order binary.AppendByteOrder, n int64, value func(int64) float64) []byte {
	var b []byte
	for i := range n {
		b = appendElement(b, s, order, value(i))
	}
	return b
}

// byteOrders returns both byte orders, with true for big-endian.
func byteOrders() map[bool]binary.AppendByteOrder {
	return map[bool]binary.AppendByteOrder{false: binary.LittleEndian, true: binary.BigEndian}
}

// fileSequence returns a sequence of values over the range of a type.
func fileSequence(s element.Type) func(int64) float64 {
	switch s {
	case element.Uint8:
		return modulo(3, 37, 256)
	case element.Int8:
		return func(i int64) float64 { return float64((3+37*i)%256 - 128) }
	case element.Int16:
		return func(i int64) float64 { return float64((5+3001*i)%65536 - 32768) }
	case element.Uint16:
		return modulo(5, 3001, 65536)
	}
	return func(i int64) float64 { return float64((5+3001*i)%65536)/64 - 500 }
}

// writeNpy returns an npy file, version 1, from a header's text and data.
func writeNpy(header string, data []byte) []byte {
	header += "\n"
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	return append(b, data...)
}

func npyHeaderText(descr, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
}

func appendElement(b []byte, s element.Type, order binary.AppendByteOrder, v float64) []byte {
	switch s {
	case element.Uint8:
		return append(b, uint8(v))
	case element.Int8:
		return append(b, uint8(int8(v)))
	case element.Int16:
		return order.AppendUint16(b, uint16(int16(v)))
	case element.Uint16:
		return order.AppendUint16(b, uint16(v))
	}
	return order.AppendUint32(b, math.Float32bits(float32(v)))
}

// writeSlices writes n slices of 3x2 to a folder, as npy files of a type or raw.
func writeSlices(t *testing.T, dir, ext, descr string, s element.Type, n int64, value func(int64) float64) {
	t.Helper()
	for z := range n {
		data := fileBytes(s, byteOrders()[strings.HasPrefix(descr, ">")], 6, func(i int64) float64 { return value(6*z + i) })
		if ext == ".npy" {
			data = writeNpy(npyHeaderText(descr, "False", "(2, 3)"), data)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d%s", z+1, ext)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A kindOfSlices is a file type of slices and its options.
type kindOfSlices struct {
	ext, descr, options string
	stored              element.Type
	typ                 grid.Type
}

// kindsOfSlices returns some kinds, with float32 in a byte order and with options.
func kindsOfSlices(float32s, options string) []kindOfSlices {
	return []kindOfSlices{
		{".npy", "|u1", "", element.Uint8, grid.Uint8},
		{".npy", "|i1", "", element.Int8, grid.Int16},
		{".npy", ">i2", "", element.Int16, grid.Int16},
		{".npy", float32s, options, element.Float32, grid.Float32},
		{".raw", "", "/shape=3x2/type=uint16", element.Uint16, grid.Uint16},
	}
}

// Twelve slices; the tenth does not follow the first.
func readsStacks(t *testing.T) {
	for _, c := range kindsOfSlices("<f4", "") {
		dir := t.TempDir()
		value := fileSequence(c.stored)
		writeSlices(t, dir, c.ext, c.descr, c.stored, 12, value)
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, dir + "/*" + c.ext, dir + "/s[0-9]*"} {
			name := "stack" + c.options + "/path=" + path
			s, err := Named.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			checkFileImage(t, s, "3x2x12", c.typ, value)
			if files := Named.Files(name); len(files) != 12 || filepath.Base(files[1]) != "s2"+c.ext {
				t.Errorf("%s: files %q", name, files)
			}
		}
		s, err := Named.Open("stack" + c.options + "/path=" + filepath.Join(dir, "s1"+c.ext))
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, s, "3x2", c.typ, value)
	}
}

// Slices are read on demand, and equal those in memory. An error in a slice is reported when it is
// read.
func streamsStacks(t *testing.T) {
	for _, c := range kindsOfSlices(">f4", "/levels=every") {
		dir := t.TempDir()
		value := fileSequence(c.stored)
		writeSlices(t, dir, c.ext, c.descr, c.stored, 12, value)
		s, err := Named.Open("stack" + c.options + "/stream=true/path=" + dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, whole := s.(*grid.Field); whole {
			t.Errorf("%s %s is in memory", c.ext, c.descr)
		}
		checkFileImage(t, s, "3x2x12", c.typ, value)
		if err := os.WriteFile(filepath.Join(dir, "s9"+c.ext), []byte("none"), 0o666); err != nil {
			t.Fatal(err)
		}
		size := grid.SliceBytes(s)
		if err := s.ReadSlab(grid.NewBuffer(8*size), 0, 8); err != nil {
			t.Error(err)
		}
		if err := s.ReadSlab(grid.NewBuffer(3*size), 7, 10); err == nil || !strings.HasPrefix(err.Error(), "slice "+filepath.Join(dir, "s9"+c.ext)+": ") {
			t.Error(err)
		}
	}
	dir := t.TempDir()
	writeSlices(t, dir, ".npy", "<f4", element.Float32, 12, fileSequence(element.Float32))
	for _, c := range []struct{ name, path string }{{"stack/stream=true/path=", dir}, {"stack/levels=every/stream=true/path=", dir + "/s3.npy"}} {
		if s, err := Named.Open(c.name + c.path); err != nil {
			t.Error(err)
		} else if _, whole := s.(*grid.Field); !whole {
			t.Errorf("%s: its levels, or its rows, are of the whole", c.name)
		}
	}
}

var npyCode = map[element.Type]string{
	element.Uint8: "|u1", element.Int16: "<i2", element.Uint16: "<u2", element.Float32: "<f4", element.Float16: "<f2",
	element.Int32: "<i4", element.Uint32: "<u4", element.Int64: "<i8", element.Uint64: "<u8", element.Float64: "<f8",
}

// Voxels in memory make the same image as a file of them, and are not modified.
func voxelsAreThoseOfAFile(t *testing.T) {
	shape := grid.Shape{D: 3, H: 4, W: 500}
	for stored := range npyCode {
		typ := stored.String()
		rng := rand.New(rand.NewPCG(uint64(stored), 1))
		data := grid.NewBuffer(shape.Voxels() * stored.Size())
		for _, finite := range []bool{true, false} {
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			exponent := map[element.Type]byte{element.Float16: 0x7c, element.Float32: 0x7f, element.Float64: 0x7f}[stored]
			if finite && exponent != 0 {
				for at := int(stored.Size()) - 1; at < len(data); at += int(stored.Size()) {
					data[at] &^= exponent &^ (exponent << 1) // keeps every exponent below the largest
				}
				copy(data[len(data)-int(stored.Size()):], append(make([]byte, stored.Size()-1), 0x80)) // −0
			}
			before := bytes.Clone(data)
			got, err := element.Voxels(context.Background(), 2, shape, typ, data, 0)
			if !bytes.Equal(before, data) {
				t.Errorf("%s: the voxels were written to", typ)
			}
			file := writeNpy(npyHeaderText(npyCode[stored], "False", "(3, 4, 500)"), before)
			s, fileErr := openImage("a.npy", format.Input{ReaderAt: bytes.NewReader(file), Size: int64(len(file)), Options: format.Options{Every: stored.Native() == grid.Float32}})
			if (err == nil) != (fileErr == nil) || (err == nil) != (finite || exponent == 0) {
				t.Errorf("%s, finite %v: %v, of the file %v", typ, finite, err, fileErr)
				continue
			}
			if err != nil {
				nan := new(grid.NotFiniteError)
				if !errors.As(err, &nan) || err.Error() != fileErr.Error() || stored == element.Float64 && nan.Count > 30 {
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

// plain returns the values without −0.
func plain(f *grid.Field) []float32 {
	values := slices.Clone(f.Floats())
	for i := range values {
		values[i] += 0
	}
	return values
}
