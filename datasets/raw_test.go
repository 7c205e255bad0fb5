package datasets

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"

	"eccbench/internal/grid"
)

func TestRawErrors(t *testing.T) {
	shape := grid.Shape{D: 2, H: 3, W: 4}
	for _, c := range []struct {
		what string
		size int
		o    FileOptions
		want string
	}{
		{"no shape", 24, FileOptions{Type: grid.Uint8}, "neither its shape nor its type"},
		{"no type", 24, FileOptions{Shape: shape}, "neither its shape nor its type"},
		{"a type of nobody", 24, FileOptions{Shape: shape, Other: "float80"}, "unknown element type"},
		{"short of float64", 191, FileOptions{Shape: shape, Other: "float64"}, "the file has 191 bytes but 4x3x2 float64 needs 192"},
		{"unknown type", 24, FileOptions{Shape: shape, Type: 9}, "unknown element type"},
		{"short", 47, FileOptions{Shape: shape, Type: grid.Int16}, "the file has 47 bytes but 4x3x2 int16 needs 48"},
		{"long", 49, FileOptions{Shape: shape, Type: grid.Uint16}, "the file has 49 bytes but 4x3x2 uint16 needs 48"},
		{"empty", 0, FileOptions{Shape: shape, Type: grid.Uint8}, "the file is empty"},
		{"zero axis", 24, FileOptions{Shape: grid.Shape{D: 1, H: 0, W: 4}, Type: grid.Uint8}, "at least 1"},
		{"huge", 24, FileOptions{Shape: grid.Shape{D: 10000, H: 10000, W: 10000}, Type: grid.Float32}, "needs 4000000000000"},
		{"beyond counting", 24, FileOptions{Shape: grid.Shape{D: 1 << 40, H: 1 << 40, W: 1}, Type: grid.Float32}, "more voxels than can be counted"},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				c.o.Stream = stream
				checkRefusedCheaply(t, "image.raw", make([]byte, c.size), c.o, c.want)
			}
		})
	}
}

func TestRawImage(t *testing.T) {
	shape := grid.Shape{D: 2, H: 3, W: 4}
	for _, s := range storedTypes() {
		data := fileBytes(s, binary.LittleEndian, 24, fileSequence(s))
		for _, stream := range []bool{false, true} {
			got, err := openFileBytes("image.bin", data, FileOptions{Shape: shape, Other: s.String(), Stream: stream && !s.narrowed()})
			if err != nil {
				t.Fatal(err)
			}
			checkFileImage(t, got, "4x3x2", s.native(), fileSequence(s))
		}
		// A name that tells nothing is raw when a shape comes with it.
		if _, err := openFileBytes("image", data, FileOptions{Shape: shape, Other: s.String()}); err != nil {
			t.Error(err)
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

// TestRawRescale holds the rounding: two operations, each rounded to float64.
func TestRawRescale(t *testing.T) {
	src := []int16{-32768, -7, 0, 1, 3, 32767}
	slope, inter := float64(float32(0.1)), float64(float32(-0.3))
	got := grid.Values[float32](rescale[int16](grid.Bytes(src), slope, inter))
	for i, v := range src {
		product := float64(v) * slope
		if want := float32(product + inter); got[i] != want {
			t.Errorf("%d becomes %v, want %v", v, got[i], want)
		}
	}
	// One rounding would keep the low half of this product.
	f := []float32{1 + 1.0/(1<<23)}
	slope = 1 + 1.0/(1<<50)
	product := math.Float64frombits(math.Float64bits(float64(f[0]) * slope))
	if got := grid.Values[float32](rescale[float32](grid.Bytes(f), slope, -product)); got[0] != 0 {
		t.Errorf("multiply and add were fused: %v", got[0])
	}
}

func FuzzRaw(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, int64(1), int64(1), int64(2), uint8(grid.Float32))
	f.Fuzz(func(t *testing.T, data []byte, d, h, w int64, typ uint8) {
		o := FileOptions{Shape: grid.Shape{D: d, H: h, W: w}, Type: grid.Type(typ)}
		s, err := openFileBytes("image.raw", data, o)
		o.Stream = true
		stream, serr := openFileBytes("image.raw", data, o)
		if (err == nil) != (serr == nil) {
			t.Fatalf("whole: %v, streamed: %v", err, serr)
		}
		if err != nil {
			return
		}
		want := s.(*grid.Field).Data()
		got := grid.NewBuffer(grid.TotalBytes(stream))
		if err := stream.ReadSlab(got, 0, stream.Shape().Slices()); err != nil || !bytes.Equal(got, want) || len(want) != len(data) {
			t.Fatalf("whole and streamed differ: %v", err)
		}
	})
}

func storedTypes() []storedType {
	return []storedType{storedUint8, storedInt8, storedInt16, storedUint16, storedFloat32}
}

// Scaling merges values where two of those that a type has, the lowest and the highest too, come
// to one float32.
func TestScalingThatMerges(t *testing.T) {
	const exact = 1 << 24 // up to which a float32 holds every whole number
	for stored, ends := range map[storedType][2]float64{storedUint8: {0, 255}, storedInt8: {-128, 127}, storedUint16: {0, 65535}, storedInt16: {-32768, 32767}} {
		for inter, want := range map[float64]bool{0: false, exact - ends[1]: false, exact - ends[1] + 1: true, -exact - ends[0]: false, -exact - ends[0] - 1: true} {
			if got := (&fileBody{stored: stored, slope: 1, inter: inter}).merges(); got != want {
				t.Errorf("%v and %.0f: merges %v, want %v", stored, inter, got, want)
			}
		}
	}
	if !(&fileBody{stored: storedInt32, slope: 1}).merges() {
		t.Error("of all 32-bit integers none merge")
	}
}
