package files

import (
	"bytes"
	"encoding/binary"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func TestMrcErrors(t *testing.T) {
	good := readFixture(t, "i16_3d.rec")
	checkFileImage(t, mustOpen(t, "image.mrc", good), "4x3x2", grid.Int16, linear(-3000, 251))
	for _, c := range []struct {
		what   string
		at     int
		number uint32
		want   string
	}{
		{"magic", 208, 0, "not an MRC file"},
		{"stamp", 212, 0x41, "machine stamp 0x41 0x0"},
		{"order", 212, 0x1111, "MRC mode 16777216"},
		{"mode", 12, 3, "MRC mode 3 is not"},
		{"negative mode", 12, 1<<32 - 1, "MRC mode -1"},
		{"float", 12, 2, "truncated: 48 bytes of voxels where the header states 96"},
		{"width", 0, 5, "truncated: 48 bytes"},
		{"height", 4, 2, "trailing data"},
		{"zero", 8, 0, "at least 1"},
		{"negative", 8, 1<<32 - 2, "at least 1"},
		{"huge", 8, 1<<31 - 1, "truncated"},
		{"axes", 68, 1, "in the order 1, 1, 3; want"},
		{"extended", 92, 40, "truncated: 8 bytes"},
		{"negative extended", 92, 1<<32 - 48, "extended header of -48 bytes"},
	} {
		bad := bytes.Clone(good)
		binary.LittleEndian.PutUint32(bad[c.at:], c.number)
		checkRefusedCheaply(t, c.what+".mrc", bad, format.Options{}, c.want)
		checkAnyFile(t, "image.mrc", bad)
	}
	checkRefusedCheaply(t, "short.mrc", good[:500], format.Options{}, "fewer than an MRC header")
}

// Bytes are signed unless IMOD marks them as unsigned.
func TestMrcBytes(t *testing.T) {
	data := readFixture(t, "i8_3d.mrc")
	for i := range data[1024:] {
		data[1024+i] = byte(240 - i)
	}
	checkFileImage(t, mustOpen(t, "image.mrc", data), "4x3x2", grid.Int16, linear(-16, -1))
	copy(data[152:], "IMOD\x00")
	checkFileImage(t, mustOpen(t, "image.mrc", data), "4x3x2", grid.Uint8, linear(240, -1))
	data[156] = 1
	checkFileImage(t, mustOpen(t, "image.mrc", data), "4x3x2", grid.Int16, linear(-16, -1))
}

func FuzzMrc(f *testing.F) { fuzzFile(f, ".mrc") }
