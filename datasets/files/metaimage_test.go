package files

import (
	"bytes"
	"compress/zlib"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func TestMetaErrors(t *testing.T) {
	const good = metaMagic + " = Image\nNDims = 2\nDimSize = 3 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n"
	if _, err := openFileBytes("image.mha", []byte(good+"abcdef"), format.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := openFileBytes("image", []byte(good+"abcdef"), format.Options{}); err != nil {
		t.Errorf("by its first bytes: %v", err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"LOCAL\nabcdef", "LOCAL", "no field ElementDataFile ends"},
		{"LOCAL", "LIST\na\nb", "in another file"},
		{"LOCAL\nabcdef", "LIST", "lists no data files"},
		{"LOCAL", "x.raw", "in another file, \"x.raw\""},
		{"UCHAR", "UCHAR_ARRAY", `type "MET_UCHAR_ARRAY"`},
		{"ElementType = MET_UCHAR\n", "", `type ""`},
		{"NDims = 2", "NDims = 3", "NDims is \"3\" but DimSize has 2"},
		{"DimSize = 3 2", "DimSize = 3 x", `DimSize: "x" is not`},
		{"DimSize = 3 2", "DimSize = 3 0", "at least 1"},
		{"DimSize = 3 2", "DimSize = 3 3", "truncated: 6 bytes of voxels where the header states 9"},
		{"DimSize = 3 2", "DimSize = 5 1", "trailing data"},
		{"DimSize = 3 2", "DimSize = 4000000000 4000000000", "more voxels than can be counted"},
		{"NDims", "ElementNumberOfChannels = 3\nNDims", "3 volumes of 3x2; choose one of 0..2"},
		{"NDims", "BinaryData = False\nNDims", "no white space ends the last number"},
		{"NDims", "HeaderSize = 7\nNDims", "HeaderSize is 7"},
		{"NDims", "HeaderSize = x\nNDims", "field \"HeaderSize\" is \"x\""},
		{"NDims", "HeaderSize = -1\nCompressedData = True\nNDims", "HeaderSize is -1"},
		{"NDims", "NDims = 2\nNDims", "occurs twice"},
		{"NDims", "some text\nNDims", "line 2 is no field"},
		{"NDims", "CompressedData = True\nNDims", "decompressing"},
		{"NDims", "CompressedData = True\nCompressedDataSize = 7\nNDims", "6 bytes of compressed voxels, where the header states 7"},
	} {
		data := strings.Replace(good+"abcdef", c.old, c.new, 1)
		checkRefusedCheaply(t, "image.mha", []byte(data), format.Options{}, c.want)
	}
}

// The channels of each of several volumes are volumes too.
func TestMetaChannelsOfVolumes(t *testing.T) {
	const shape, voxels, channels, times = "2x2x2", 8, 2, 3
	value := func(v, i int64) float64 { return float64(v/channels*voxels*channels + i*channels + v%channels) }
	data := make([]byte, voxels*channels*times)
	for i := range data {
		data[i] = byte(i)
	}
	header := "NDims = 4\nDimSize = 2 2 2 3\nElementNumberOfChannels = 2\nElementType = MET_UCHAR\n"
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(data)
	w.Close()
	for what, file := range map[string]string{
		"plain":      header + "ElementDataFile = LOCAL\n" + string(data),
		"compressed": header + "CompressedData = True\nElementDataFile = LOCAL\n" + packed.String(),
	} {
		for _, stream := range []bool{false, true} {
			for v := range int64(channels * times) {
				s, err := openFileBytes("image.mha", []byte(file), format.Options{Volume: &v, Stream: stream})
				if stream {
					checkFileError(t, what, err, "cannot be streamed")
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				checkFileImage(t, s, shape, grid.Uint8, func(i int64) float64 { return value(v, i) })
			}
		}
		last := int64(5)
		_, err := openFileBytes("image.mha", []byte(file[:len(file)-1]), format.Options{Volume: &last})
		checkFileError(t, what, err, "truncated")
	}
}

func FuzzMeta(f *testing.F) { fuzzFile(f, ".mha", ".mhd") }

// With a HeaderSize of -1 the voxels are the end of the data file.
func TestMetaHeaderSize(t *testing.T) {
	dir := t.TempDir()
	for size, before := range map[string]string{"-1": "a header", "8": "a header", "0": ""} {
		header := "ObjectType = Image\nNDims = 2\nDimSize = 3 2\nElementType = MET_UCHAR\nHeaderSize = " + size +
			"\nElementDataFile = a.raw\n"
		for name, text := range map[string]string{"a.mhd": header, "a.raw": before + "\x01\x02\x03\x04\x05\x06"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Open(filepath.Join(dir, "a.mhd"), format.Options{})
		if err != nil {
			t.Fatalf("HeaderSize %s: %v", size, err)
		}
		checkFileImage(t, got, "3x2", element.Uint8.Native(), func(i int64) float64 { return float64(i + 1) })
	}
}
