package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"eccbench/internal/grid"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"

	"pgregory.net/rapid"
)

func npyDescr(s element.Type, big bool) string {
	codes := map[element.Type]string{element.Uint8: "u1", element.Int8: "i1", element.Int16: "i2", element.Uint16: "u2", element.Float32: "f4"}
	return map[bool]string{false: "<", true: ">"}[big] + codes[s]
}

func TestNpyTypes(t *testing.T) {
	for _, s := range storedTypes() {
		for big, order := range byteOrders() {
			descr := npyDescr(s, big)
			data := writeNpy(npyHeaderText(descr, "False", "(2, 3, 4)"), fileBytes(s, order, 24, fileSequence(s)))
			got, err := openFileBytes("image.npy", data, format.Options{})
			if err != nil {
				t.Fatalf("%s: %v", descr, err)
			}
			checkFileImage(t, got, "4x3x2", s.Native(), fileSequence(s))
			checkAnyFile(t, "image.npy", data)
		}
	}
}

// TestNpyOrders writes images of any shape in both orders.
func TestNpyOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.Int64Range(1, 9), 1, 3).Draw(t, "shape")
		s := rapid.SampledFrom(storedTypes()).Draw(t, "type")
		big := rapid.Bool().Draw(t, "big")
		fortran := rapid.Bool().Draw(t, "fortran")
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		value := fileSequence(s)
		data := fileBytes(s, byteOrders()[big], n, func(k int64) float64 {
			if !fortran {
				return value(k)
			}
			// The row-major index of the element at place k, first axis fastest.
			i, stride := int64(0), n
			for _, d := range shape {
				stride /= d
				i += k % d * stride
				k /= d
			}
			return value(i)
		})
		tuple := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ") + ","
		header := npyHeaderText(npyDescr(s, big), map[bool]string{false: "False", true: "True"}[fortran], "("+tuple+")")
		got, err := openFileBytes("image.npy", writeNpy(header, data), format.Options{})
		if err != nil {
			t.Fatalf("%s: %v", header, err)
		}
		checkFileImage(t, got, fileShapeText(shape), s.Native(), value)
	})
}

func TestNpyErrors(t *testing.T) {
	six := make([]byte, 6)
	nan := binary.LittleEndian.AppendUint32(make([]byte, 20), math.Float32bits(float32(math.NaN())))
	inf := append(binary.LittleEndian.AppendUint32(nil, 0xff800000), nan...)
	for _, c := range []struct {
		what, header string
		data         []byte
		want         string
	}{
		{"float128", npyHeaderText("<f16", "False", "(6,)"), six, `dtype "<f16" is not bool`},
		{"int32", npyHeaderText("<i4", "False", "(6,)"), six, "truncated: 6 bytes of voxels where the header states 24"},
		{"complex", npyHeaderText("<c8", "False", "(6,)"), six, "magnitude"},
		{"object", npyHeaderText("|O", "False", "(6,)"), six, `dtype "|O"`},
		{"no order", npyHeaderText("|i2", "False", "(3,)"), six, "no byte order"},
		{"empty dtype", npyHeaderText("", "False", "(3,)"), six, `dtype ""`},
		{"structured", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }", six, "structured"},
		{"scalar", npyHeaderText("|u1", "False", "()"), six[:1], "single number"},
		{"empty axis", npyHeaderText("|u1", "False", "(0, 5)"), nil, "at least 1"},
		{"four axes", npyHeaderText("|u1", "False", "(2, 3, 1, 2)"), six, "2 volumes of 2x1x3; choose"},
		{"too short", npyHeaderText("|u1", "False", "(7,)"), six, "truncated: 6 bytes of voxels where the header states 7"},
		{"too long", npyHeaderText("|u1", "False", "(5,)"), six, "trailing data: 6 bytes"},
		{"huge", npyHeaderText("|u1", "False", "(10000, 10000, 10000)"), six, "truncated: 6 bytes of voxels where the header states 1000000000000"},
		{"huge Fortran", npyHeaderText(">f4", "True", "(10000, 10000, 10000)"), six, "truncated"},
		{"beyond counting", npyHeaderText("|u1", "False", "(4611686018427387904, 4)"), six, "more voxels than can be counted"},
		{"beyond int64", npyHeaderText("|u1", "False", "(9223372036854775808,)"), six, "no whole number"},
		{"negative", npyHeaderText("|u1", "False", "(-1, 5)"), six, "no whole number"},
		{"not a tuple", npyHeaderText("|u1", "False", "(6)"), six, "where a tuple should be"},
		{"no comma", npyHeaderText("|u1", "False", "(2 3)"), six, "no comma"},
		{"no order key", "{'descr': '|u1', 'shape': (6,)}", six, "2 of the 3 keys"},
		{"twice", "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (6,)}", six, "twice"},
		{"unknown key", "{'descr': '|u1', 'fortran_order': False, 'shape': (6,), 'more': True}", six, `unknown key "more"`},
		{"not a bool", npyHeaderText("|u1", "0", "(6,)"), six, "neither True nor False"},
		{"code", npyHeaderText("|u1", "False", "(2*3,)"), six, "no comma"},
		{"escape", npyHeaderText(`\x75`, "False", "(6,)"), six, "no plain string"},
		{"more text", npyHeaderText("|u1", "False", "(6,)") + " 1", six, "more text"},
		{"a zero byte", npyHeaderText("|u1", "False", "(6,)") + "\x00", six, "more text"},
		{"open end", "{'descr': '|u1', 'fortran_order': False, 'shape': (6,)", six, "no comma"},
		{"nothing", "", six, "no '{'"},
		{"newline", "{'a\nb': 1}", six, "no plain string"},
		{"NaN", npyHeaderText("<f4", "False", "(2, 3)"), nan, "1 value is NaN or infinite, the first at index 5 (y 1, x 2)"},
		{"Inf", npyHeaderText("<f4", "False", "(7,)"), inf, "2 values are NaN or infinite, the first at index 0"},
	} {
		t.Run(c.what, func(t *testing.T) {
			data := writeNpy(c.header, c.data)
			checkRefusedCheaply(t, "image.npy", data, format.Options{}, c.want)
			checkAnyFile(t, "image.npy", data)
		})
	}
	good := writeNpy(npyHeaderText("|u1", "False", "(6,)"), six)
	for what, c := range map[string]struct {
		at   int
		b    byte
		want string
	}{
		"magic":   {0, 'x', "not an npy file"},
		"version": {6, 9, "npy version 9.0"},
		"length":  {9, 0x80, "truncated: a header of"},
		"spaces":  {19, '\f', ""}, // white space of Python is any of four bytes
	} {
		bad := append([]byte{}, good...)
		bad[c.at] = c.b
		if c.want != "" {
			checkRefusedCheaply(t, what+".npy", bad, format.Options{}, c.want)
		} else if _, err := openFileBytes("image.npy", bad, format.Options{}); err != nil {
			t.Error(err)
		}
	}
}

func FuzzNpy(f *testing.F) { fuzzFile(f, ".npy") }

// The directory of an archive ends where the record at its end states, before the records of ZIP64.
func TestNpzDirectory(t *testing.T) {
	whole := readFixture(t, "i2_stored.npz")
	end := len(whole) - 22
	length, start := binary.LittleEndian.Uint32(whole[end+12:]), binary.LittleEndian.Uint32(whole[end+16:])
	short := bytes.Clone(whole)
	short[end+12]--
	checkRefusedCheaply(t, "a.npz", short, format.Options{}, "it is damaged: copy it again")
	for _, flag := range []byte{1, 1 << 5, 1 << 6} {
		bad := bytes.Clone(whole)
		bad[start+8] = flag
		checkRefusedCheaply(t, "a.npz", bad, format.Options{}, "the array is encrypted, or a patch")
	}
	large := append(bytes.Clone(whole[:end]), "PK\x06\x06\x2c\x00\x00\x00\x00\x00\x00\x00\x2d\x00\x2d\x00"...)
	large = append(large, make([]byte, 8)...)
	for _, n := range []int{1, 1, int(length), int(start)} {
		large = binary.LittleEndian.AppendUint64(large, uint64(n))
	}
	large = binary.LittleEndian.AppendUint64(append(large, "PK\x06\x07\x00\x00\x00\x00"...), uint64(end))
	large = append(large, "\x01\x00\x00\x00PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00"+strings.Repeat("\xff", 8)+"\x00\x00"...)
	checkFileImage(t, mustOpen(t, "a.npz", large), "4x3x2", grid.Int16, linear(-3000, 251))
}
