package files

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func writeNrrd(header string, data []byte) []byte {
	return append([]byte("NRRD0004\n"+header+"\n"), data...)
}

func TestNrrdImages(t *testing.T) {
	names := map[element.Type][]string{
		element.Uint8:   {"uchar", "unsigned char", "uint8", "uint8_t"},
		element.Int8:    {"signed char", "int8", "int8_t"},
		element.Int16:   {"short", "short int", "signed short", "signed short int", "int16", "int16_t"},
		element.Uint16:  {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"},
		element.Float32: {"float"},
	}
	rapid.Check(t, func(t *rapid.T) {
		axes := rapid.SliceOfN(rapid.Int64Range(1, 9), 2, 3).Draw(t, "axes, slowest first")
		s := rapid.SampledFrom(storedTypes()).Draw(t, "type")
		name := rapid.SampledFrom(names[s]).Draw(t, "name")
		big := rapid.Bool().Draw(t, "big")
		encoding := rapid.SampledFrom([]string{"raw", "gzip", "gz"}).Draw(t, "encoding")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		n, sizes := int64(1), ""
		for _, a := range axes {
			n *= a
			sizes = fmt.Sprintf(" %d", a) + sizes
		}
		lines := []string{
			"NRRD0005", "# a comment", "type: " + name, fmt.Sprintf("dimension: %d", len(axes)), "space: left-posterior-superior",
			"sizes:" + sizes, "Encoding: " + encoding, "endian: " + map[bool]string{false: "little", true: "big"}[big],
			"type:=double", "byte skip: 0", "kinds: domain domain", "", "",
		}
		data := fileBytes(s, byteOrders()[big], n, fileSequence(s))
		if encoding != "raw" {
			data = zipped(data)
		}
		file := append([]byte(strings.Join(lines, end)), data...)
		got, err := openFileBytes("image.nrrd", file, format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, got, fileShapeText(axes), s.Native(), fileSequence(s))
		checkAnyFile(t, "image.nrrd", file)
	})
}

func TestNrrdErrors(t *testing.T) {
	six := []byte{1, 2, 3, 4, 5, 6}
	const good = "type: uchar\ndimension: 2\nsizes: 3 2\nencoding: raw\n"
	for _, c := range []struct {
		what, old, new, want string
	}{
		{"type", "uchar", "long double", `type "long double" is not an integer`},
		{"block", "uchar", "block", `type "block"`},
		{"no type", "type: uchar\n", "", `type ""`},
		{"no endian", "uchar", "short", `endian is ""`},
		{"bad endian", "uchar\n", "short\nendian: middle\n", `endian is "middle"`},
		{"one axis", "dimension: 2", "dimension: 1", `dimension is "1"`},
		{"no dimension", "dimension: 2\n", "", `dimension is ""`},
		{"sizes", "3 2", "3 2 1", "dimension is 2 but sizes is"},
		{"bad sizes", "3 2", "3 2x", `sizes: "2x" is not`},
		{"zero", "3 2", "3 0", "at least 1"},
		{"four axes", "dimension: 2\nsizes: 3 2", "dimension: 4\nsizes: 2 3 2 2", "2 volumes of 2x3x2; choose"},
		{"short", "3 2", "3 3", "truncated: 6 bytes of voxels where the header states 9"},
		{"long", "3 2", "5 1", "trailing data"},
		{"huge", "3 2", "1000000 1000000", "truncated: 6 bytes of voxels where the header states 1000000000000"},
		{"huge gzip", "3 2\nencoding: raw", "1000000 1000000\nencoding: gzip", "no gzip data follow"},
		{"beyond counting", "3 2", "4000000000 4000000000", "more voxels than can be counted"},
		{"encoding", "raw", "hex", `encoding "hex"`},
		{"text", "raw", "ascii", "no white space ends the last number"},
		{"bzip2", "raw", "bzip2", "decompressing the voxels"},
		{"no encoding", "encoding: raw\n", "", `encoding ""`},
		{"twice", "type: uchar\n", "type: uchar\ntype: uchar\n", `field "type" occurs twice`},
		{"byte skip", "encoding", "byte skip: -2\nencoding", `field "byte skip" is "-2"`},
		{"skipped", "encoding", "byte skip: 1\nencoding", "truncated: 5 bytes"},
		{"skipped at the end", "encoding: raw", "byte skip: -1\nencoding: gzip", "is -1 of gzip data"},
		{"line skip", "encoding", "lineskip: 2\nencoding", "in the lines to be skipped"},
		{"detached", "encoding", "data file: other.raw\nencoding", "in another file"},
		{"no colon", "encoding", "some text\nencoding", "line 5 is neither"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if strings.Count(good, c.old) != 1 {
				t.Fatalf("%q does not stand once in the header", c.old)
			}
			file := writeNrrd(strings.Replace(good, c.old, c.new, 1), six)
			checkRefusedCheaply(t, "image.nrrd", file, format.Options{}, c.want)
		})
	}
	huge := strings.Replace(good, "3 2\nencoding: raw", "1000000 1000000\nencoding: gzip", 1)
	checkRefusedCheaply(t, "claim.nrrd", writeNrrd(huge, zipped(six)), format.Options{}, "more than 30 compressed bytes can hold")
	gz := strings.Replace(good, "raw", "gzip", 1)
	checkRefusedCheaply(t, "short.nrrd", writeNrrd(gz, zipped(six[:5])), format.Options{}, "truncated: the compressed voxels end after 5 of 6")
	checkRefusedCheaply(t, "long.nrrd", writeNrrd(gz, zipped(append(six, 7))), format.Options{}, "trailing data")
	checkRefusedCheaply(t, "none.nrrd", writeNrrd(gz, nil), format.Options{}, "no gzip data follow")
	checkRefusedCheaply(t, "stream.nrrd", writeNrrd(gz, zipped(six)), format.Options{Stream: true}, "its voxels are compressed")
	checkRefusedCheaply(t, "magic.nrrd", []byte("NRRX0004\n"+good+"\n"), format.Options{}, "does not start with NRRD000")
	checkRefusedCheaply(t, "open.nrrd", []byte("NRRD0004\n"+good), format.Options{}, "no blank line ends the header")
	checkRefusedCheaply(t, "endless.nrrd", []byte("NRRD0004\n"+strings.Repeat("#", 2<<20)), format.Options{}, "within 1048576 bytes")
	text := strings.Replace(good, "raw", "text", 1)
	for numbers, want := range map[string]string{
		"1 2 3\n4   5": "truncated: 5 numbers where the header states 6", "1 2 3 4 5 6 7": "trailing data", "1 2 3 4 5 256": `number 5 of its voxels is "256"`,
		"1 2 3 4 5 -1": `"-1", which is none of uint8`, "1 2 3 4 5 6.0": `"6.0"`, "1 2": "truncated: 4 bytes of text", "x" + strings.Repeat("1", 1<<20): "reading the voxels",
	} {
		checkRefusedCheaply(t, "text.nrrd", writeNrrd(text, []byte(numbers+"\n")), format.Options{}, want)
	}
	checkFileImage(t, mustOpen(t, "text.nrrd", writeNrrd(text, []byte(" 1, 2,\t3\r\n4\n5 6\n"))), "3x2", grid.Uint8, linear(1, 1))
	for _, cut := range []string{"1 2 3 4 5 66", "1 2 3 4 5 6"} {
		checkRefusedCheaply(t, "cut.nrrd", writeNrrd(text, []byte(cut)), format.Options{}, "no white space ends the last number")
	}
	floats := writeNrrd(strings.Replace(text, "uchar", "float", 1), []byte("1 2 3 4 nan 6\n"))
	checkRefusedCheaply(t, "nan.nrrd", floats, format.Options{}, "1 value is NaN or infinite, the first at index 4")
	checkFileImage(t, mustOpen(t, "image.nrrd", writeNrrd(good, six)), "3x2", grid.Uint8, linear(1, 1))
}

func mustOpen(t *testing.T, name string, data []byte) grid.Source {
	t.Helper()
	s, err := openFileBytes(name, data, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func FuzzNrrd(f *testing.F) { fuzzFile(f, ".nrrd", ".nhdr") }

// The voxels begin after the skipped lines.
func TestNrrdLineSkip(t *testing.T) {
	for skip, lines := range []string{"", "a note\n", "a note\nand another\n"} {
		const head = "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 3 2\nencoding: raw\n"
		text := fmt.Sprintf("%sline skip: %d\n\n%s", head, skip, lines)
		got, err := openFileBytes("image.nrrd", []byte(text+"\x01\x02\x03\x04\x05\x06"), format.Options{})
		if err != nil {
			t.Fatalf("%d lines: %v", skip, err)
		}
		checkFileImage(t, got, "3x2", element.Uint8.Native(), func(i int64) float64 { return float64(i + 1) })
	}
}
