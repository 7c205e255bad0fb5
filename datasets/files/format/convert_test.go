package format

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"eccbench/datasets/element"
	"eccbench/internal/grid"
)

// TestRescale checks the rounding: two operations, each rounded to float64.
func TestRescale(t *testing.T) {
	src := []int16{-32768, -7, 0, 1, 3, 32767}
	slope, inter := float64(float32(0.1)), float64(float32(-0.3))
	got := grid.Values[float32](rescale[int16](grid.Bytes(src), slope, inter))
	for i, v := range src {
		product := float64(v) * slope
		if want := float32(product + inter); got[i] != want {
			t.Errorf("%d becomes %v, want %v", v, got[i], want)
		}
	}
	// A single rounding would keep the low half of this product.
	f := []float32{1 + 1.0/(1<<23)}
	slope = 1 + 1.0/(1<<50)
	product := math.Float64frombits(math.Float64bits(float64(f[0]) * slope))
	if got := grid.Values[float32](rescale[float32](grid.Bytes(f), slope, -product)); got[0] != 0 {
		t.Errorf("multiply and add were fused: %v", got[0])
	}
}

// Scaling merges values if two values of a type, including the lowest and the highest, have the
// same float32.
func TestMerges(t *testing.T) {
	const exact = 1 << 24 // up to this, float32 represents every whole number
	for stored, ends := range map[element.Type][2]float64{element.Uint8: {0, 255}, element.Int8: {-128, 127}, element.Uint16: {0, 65535}, element.Int16: {-32768, 32767}} {
		for inter, want := range map[float64]bool{0: false, exact - ends[1]: false, exact - ends[1] + 1: true, -exact - ends[0]: false, -exact - ends[0] - 1: true} {
			if got := (&Body{Stored: stored, Slope: 1, Inter: inter}).merges(); got != want {
				t.Errorf("%v and %.0f: merges %v, want %v", stored, inter, got, want)
			}
		}
	}
	if !(&Body{Stored: element.Int32, Slope: 1}).merges() {
		t.Error("of all 32-bit integers none merge")
	}
}

// Axes of length 1 are dropped.
func TestShapeOf(t *testing.T) {
	for _, c := range []struct {
		axes []int64
		want string
	}{
		{[]int64{7}, "7x1"},
		{[]int64{3, 5}, "5x3"},
		{[]int64{2, 3, 5}, "5x3x2"},
		{[]int64{1, 3, 5}, "5x3"},
		{[]int64{1, 1, 2, 3, 5}, "5x3x2"},
		{[]int64{2, 3, 5, 1}, "5x3x2"},
		{[]int64{1, 2, 3, 5, 1}, "5x3x2"},
		{[]int64{2, 1, 3, 5}, ""},
		{[]int64{2, 3, 4, 5}, ""},
		{[]int64{0, 5}, ""},
		{[]int64{-1, 5}, ""},
		{[]int64{1 << 40, 1 << 40}, ""},
		{nil, ""},
	} {
		s, err := ShapeOf(c.axes)
		if (err == nil) != (c.want != "") || err == nil && s.String() != c.want {
			t.Errorf("fileShape(%v) = %v, %v; want %q", c.axes, s, err, c.want)
		}
	}
}

// Names of data files may be numbered.
func TestDataFiles(t *testing.T) {
	for _, c := range []struct {
		field, want string
	}{
		{"s%03d.raw 8 12 2", "s008.raw s010.raw s012.raw"},
		{"s%d.raw 3 1 -1", "s3.raw s2.raw s1.raw"},
		{"s%d.raw 1 2", "s1.raw s2.raw"},
		{"a name.raw", "a|name.raw"},
		{"100%.raw", "100%.raw"},
		{"s%d.raw 1 2 0", ""},
		{"s%d.raw 1 2 -1", ""},
		{"s%d.raw 0 9223372036854775807 1", ""},
		{"s%s.raw 1 2 1", ""},
		{"s%d%d.raw 1 2 1", ""},
		{"s%99999999d.raw 1 2 1", ""},
		{"s%d.raw 1 x 1", ""},
		{"LIST", ""},
		{"", ""},
	} {
		names, err := DataFiles(c.field, nil)
		for i := range names {
			names[i] = strings.ReplaceAll(names[i], " ", "|")
		}
		if got := strings.Join(names, " "); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.field, got, err, c.want)
		}
	}
}

// Consecutive files are read as one.
func TestChain(t *testing.T) {
	var c Chain
	text := "abcdefghij"
	for _, part := range [][2]int64{{0, 3}, {3, 0}, {3, 1}, {4, 6}} {
		c.Add(strings.NewReader(text), part[0], part[1])
	}
	for at := range int64(len(text)) + 1 {
		for n := range int64(len(text)) + 2 {
			got := make([]byte, n)
			k, err := c.ReadAt(got, at)
			want := text[at:min(int64(len(text)), at+n)]
			if string(got[:k]) != want || (err == nil) != (int64(k) == n) {
				t.Fatalf("%d bytes at %d: %q, %v; want %q", n, at, got[:k], err, want)
			}
		}
	}
}

// Only the lowest bits of each value count, with their sign.
func TestLowBits(t *testing.T) {
	for _, c := range []struct {
		stored element.Type
		bits   int
		in, to uint32
	}{
		{element.Uint8, 7, 0xff, 0x7f}, {element.Int8, 7, 0x40, 0xc0}, {element.Int8, 7, 0xbf, 0x3f}, {element.Uint16, 12, 0xf800, 0x0800},
		{element.Int16, 12, 0x0800, 0xf800}, {element.Int16, 12, 0xf7ff, 0x07ff}, {element.Uint32, 20, 0xfff80000, 0x80000}, {element.Int32, 20, 0x80000, 0xfff80000},
	} {
		data := grid.NewBuffer(8)[:c.stored.Size()]
		whole := binary.LittleEndian.AppendUint32(nil, c.in)
		copy(data, whole)
		lowBits(data, c.stored, c.bits)
		if want := binary.LittleEndian.AppendUint32(nil, c.to)[:len(data)]; !bytes.Equal(data, want) {
			t.Errorf("%d bits of %v %x: %x, want %x", c.bits, c.stored, c.in, data, want)
		}
	}
}

func TestRawTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axis := rapid.Int64Range(1, 150)
		s := grid.Shape{D: axis.Draw(t, "D"), H: rapid.Int64Range(1, 5).Draw(t, "H"), W: axis.Draw(t, "W")}
		src := make([]uint16, s.Voxels())
		for i := range src {
			src[i] = uint16(i)
		}
		dst := grid.Values[uint16](transpose[uint16](grid.Bytes(src), s))
		for i, v := range dst {
			z, y, x := s.Coordinates(int64(i))
			if want := uint16(z + s.D*(y+s.H*x)); v != want {
				t.Fatalf("%v: voxel %d is %d, want %d", s, i, v, want)
			}
		}
	})
}

// Checksums of parts combine to that of the whole.
func TestCRCShift(t *testing.T) {
	data := []byte("the sum of some bytes, and of those that follow them")
	for n := range data {
		joined := crcMultiply(crc32.ChecksumIEEE(data[:n]), crcShift(int64(len(data)-n))) ^ crc32.ChecksumIEEE(data[n:])
		if joined != crc32.ChecksumIEEE(data) {
			t.Errorf("after %d bytes: %x", n, joined)
		}
	}
}
