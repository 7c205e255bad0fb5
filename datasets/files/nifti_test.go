package files

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	stdgzip "compress/gzip"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"

	"pgregory.net/rapid"
)

// A niftiText is the input of writeNifti: the header's fields and the voxels.
type niftiText struct {
	order        binary.AppendByteOrder
	dim          []int16 // after dim[0]
	code         uint16
	slope, inter float32
	offset       float32
	magic        string
	data         []byte
}

func niftiOf(s element.Type, big bool, data []byte, dim ...int16) niftiText {
	codes := map[element.Type]uint16{element.Uint8: 2, element.Int8: 256, element.Int16: 4, element.Uint16: 512, element.Float32: 16}
	return niftiText{order: byteOrders()[big], dim: dim, code: codes[s], offset: 352, magic: "n+1\x00", data: data}
}

// writeNifti makes a NIfTI-1 file.
func writeNifti(n niftiText) []byte {
	h := n.order.AppendUint32(nil, 348)
	h = append(h, make([]byte, 36)...)
	h = n.order.AppendUint16(h, uint16(len(n.dim)))
	for i := range 7 {
		d := int16(0) // arbitrary in the format after the last axis
		if i < len(n.dim) {
			d = n.dim[i]
		}
		h = n.order.AppendUint16(h, uint16(d))
	}
	h = append(h, make([]byte, 70-len(h))...)
	h = n.order.AppendUint16(h, n.code)
	h = append(h, make([]byte, 108-len(h))...)
	for _, v := range []float32{n.offset, n.slope, n.inter} {
		h = n.order.AppendUint32(h, math.Float32bits(v))
	}
	h = append(h, make([]byte, 344-len(h))...)
	h = append(h, n.magic...)
	if n.offset > 348 && n.offset < 1<<16 {
		h = append(h, make([]byte, int(n.offset)-len(h))...)
	}
	return append(h, n.data...)
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := stdgzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestNiftiImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axes := rapid.SliceOfN(rapid.Int64Range(1, 9), 2, 3).Draw(t, "axes, slowest first")
		s := rapid.SampledFrom(storedTypes()).Draw(t, "type")
		big := rapid.Bool().Draw(t, "big")
		var dim []int16
		n := int64(1)
		for _, a := range axes {
			dim = append([]int16{int16(a)}, dim...)
			n *= a
		}
		if len(dim) == 3 {
			dim = append(dim, rapid.SampledFrom([][]int16{nil, {1}, {1, 1, 1, 1}}).Draw(t, "extra")...)
		}
		text := niftiOf(s, big, fileBytes(s, byteOrders()[big], n, fileSequence(s)), dim...)
		text.offset = rapid.SampledFrom([]float32{352, 368, 400, 1040}).Draw(t, "offset")
		typ, value := s.Native(), fileSequence(s)
		if rapid.Bool().Draw(t, "scaled") {
			text.slope, text.inter = rapid.SampledFrom([]float32{0.25, 1}).Draw(t, "slope"), -7
			typ, value = 4, func(i int64) float64 { return float64(float32(fileSequence(s)(i)*float64(text.slope) - 7)) }
		}
		data, name := writeNifti(text), "image.nii"
		if rapid.Bool().Draw(t, "gzip") {
			data, name = zipped(data), "image.nii.gz"
		}
		got, err := openFileBytes(name, data, format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, got, fileShapeText(axes), typ, value)
		checkAnyFile(t, name, data)
	})
}

// TestNiftiUnscaled has the slopes that do not change the stored type.
func TestNiftiUnscaled(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range [][2]float32{{0, 0}, {0, 5}, {1, 0}, {nan, 0}, {nan, nan}, {inf, 1}} {
		text := niftiOf(element.Uint8, false, fileBytes(element.Uint8, binary.LittleEndian, 6, fileSequence(element.Uint8)), 3, 2)
		text.slope, text.inter = c[0], c[1]
		got, err := openFileBytes("image.nii", writeNifti(text), format.Options{})
		if err != nil {
			t.Fatalf("slope %v: %v", c, err)
		}
		checkFileImage(t, got, "3x2", element.Uint8.Native(), fileSequence(element.Uint8))
	}
}

func TestNiftiErrors(t *testing.T) {
	six := []byte{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		what string
		edit func(*niftiText)
		want string
	}{
		{"pair", func(n *niftiText) { n.magic = "ni1\x00" }, "half of a NIfTI pair"},
		{"magic", func(n *niftiText) { n.magic = "\n+1\x00" }, "its magic is"},
		{"float128", func(n *niftiText) { n.code = 1536 }, "data type 1536 (float128)"},
		{"rgb", func(n *niftiText) { n.code = 128 }, "data type 128 (rgb24)"},
		{"unknown type", func(n *niftiText) { n.code = 3 }, "data type 3 (unknown)"},
		{"one axis", func(n *niftiText) { n.dim = n.dim[:1] }, "1 axes"},
		{"no axis", func(n *niftiText) { n.dim = nil }, "0 axes"},
		{"four long axes", func(n *niftiText) { n.dim = []int16{3, 2, 2, 2} }, "2 volumes of 3x2x2; choose one of 0..1"},
		{"zero axis", func(n *niftiText) { n.dim = []int16{3, 0} }, "at least 1"},
		{"negative axis", func(n *niftiText) { n.dim = []int16{3, -2} }, "at least 1"},
		{"short", func(n *niftiText) { n.dim = []int16{3, 3} }, "truncated"},
		{"long", func(n *niftiText) { n.dim = []int16{5, 1} }, "trailing data"},
		{"huge", func(n *niftiText) { n.dim = []int16{32767, 32767, 32767} }, ""},
		{"offset", func(n *niftiText) { n.offset = 348 }, "the voxels at byte 348"},
		{"fractional offset", func(n *niftiText) { n.offset = 352.5 }, "the voxels at byte 352.5"},
		{"far offset", func(n *niftiText) { n.offset = 1 << 39 }, ""},
		{"NaN offset", func(n *niftiText) { n.offset = float32(math.NaN()) }, "the voxels at byte NaN"},
		{"infinite intercept", func(n *niftiText) { n.slope, n.inter = 2, float32(math.Inf(1)) }, "scl_inter is +Inf"},
	} {
		t.Run(c.what, func(t *testing.T) {
			text := niftiOf(element.Uint8, false, six, 3, 2)
			c.edit(&text)
			checkRefusedCheaply(t, "image.nii", writeNifti(text), format.Options{}, c.want)
			checkRefusedCheaply(t, "image.nii.gz", zipped(writeNifti(text)), format.Options{}, c.want)
		})
	}
	good := writeNifti(niftiOf(element.Uint8, false, six, 3, 2))
	bad := bytes.Clone(good)
	bad[0] = 1
	checkRefusedCheaply(t, "size.nii", bad, format.Options{}, "its first number is neither 348 nor 540")
	checkRefusedCheaply(t, "short.nii", good[:100], format.Options{}, "fewer than a NIfTI header")
	packed := zipped(good)
	checkRefusedCheaply(t, "short.nii.gz", packed[:len(packed)-9], format.Options{}, "truncated: ")
	checkRefusedCheaply(t, "stream.nii.gz", packed, format.Options{Stream: true}, "its voxels are compressed")
	packed[len(packed)-5] ^= 1
	checkRefusedCheaply(t, "checksum.nii.gz", packed, format.Options{}, "checksum")
	checkRefusedCheaply(t, "text.nii.gz", []byte("\x1f\x8bno gzip"), format.Options{}, "decompressing")
	checkRefusedCheaply(t, "two.nii.gz", append(zipped(good), zipped(good)...), format.Options{}, "trailing data")
	bomb := niftiOf(element.Uint8, false, make([]byte, 16<<20), 3, 2)
	checkRefusedCheaply(t, "bomb.nii.gz", zipped(writeNifti(bomb)), format.Options{}, "trailing data")
	// A size that deflate could reach, but not in this file.
	text := niftiOf(element.Uint8, false, pseudo(100<<10), 10000, 10000)
	checkRefusedCheaply(t, "claim.nii.gz", zipped(writeNifti(text)), format.Options{}, "truncated: ")
}

// pseudo returns incompressible bytes.
func pseudo(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func FuzzNifti(f *testing.F) { fuzzFile(f, ".nii", ".hdr") }

// A slope of 1 with an intercept moves the values.
func TestNiftiIntercept(t *testing.T) {
	text := niftiOf(element.Uint8, false, fileBytes(element.Uint8, binary.LittleEndian, 6, fileSequence(element.Uint8)), 3, 2)
	text.slope, text.inter = 1, -1000
	got, err := openFileBytes("image.nii", writeNifti(text), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	moved := func(i int64) float64 { return fileSequence(element.Uint8)(i) - 1000 }
	checkFileImage(t, got, "3x2", element.Float32.Native(), moved)
}
