package files

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// dicomElement returns an explicit element of a short type.
func dicomElement(tag uint32, kind, value string) string {
	b := binary.LittleEndian.AppendUint16(nil, uint16(tag>>16))
	b = binary.LittleEndian.AppendUint16(b, uint16(tag))
	b = append(b, kind...)
	if kind == "OW" || kind == "SQ" || kind == "UN" {
		b = binary.LittleEndian.AppendUint32(append(b, 0, 0), uint32(len(value)))
	} else {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	}
	return string(b) + value
}

func short(v uint16) string { return string(binary.LittleEndian.AppendUint16(nil, v)) }

// writeDicom returns a file of 3x2 voxels of uint8, with replaced or additional elements.
func writeDicom(edit map[uint32]string) []byte {
	elements := map[uint32]string{
		dicomSyntax:    dicomElement(dicomSyntax, "UI", dicomExplicitUID+"\x00"),
		dicomSeries:    dicomElement(dicomSeries, "UI", "1.2"),
		dicomSamples:   dicomElement(dicomSamples, "US", short(1)),
		dicomRows:      dicomElement(dicomRows, "US", short(2)),
		dicomColumns:   dicomElement(dicomColumns, "US", short(3)),
		dicomAllocated: dicomElement(dicomAllocated, "US", short(8)),
		dicomStored:    dicomElement(dicomStored, "US", short(8)),
		dicomHighBit:   dicomElement(dicomHighBit, "US", short(7)),
		dicomSigned:    dicomElement(dicomSigned, "US", short(0)),
		dicomPixels:    dicomElement(dicomPixels, "OW", "\x01\x02\x03\x04\x05\x06"),
	}
	for tag, e := range edit {
		elements[tag] = e
	}
	var tags []uint32
	for tag := range elements {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	text := strings.Repeat("\x00", dicomPreamble) + "DICM"
	for _, tag := range tags {
		text += elements[tag]
	}
	return []byte(text)
}

// dicomItemOf returns an item of encapsulated pixels.
func dicomItemOf(tag uint32, value string) string {
	b := binary.LittleEndian.AppendUint16(nil, uint16(tag>>16))
	b = binary.LittleEndian.AppendUint16(b, uint16(tag))
	return string(binary.LittleEndian.AppendUint32(b, uint32(len(value)))) + value
}

// rleFrame returns a frame of segments, at the offsets in its header or at other ones.
func rleFrame(segments []string, at ...uint32) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(segments)))
	begin := uint32(rleHeader)
	for i, s := range segments {
		if len(at) > i {
			begin = at[i]
		}
		b = binary.LittleEndian.AppendUint32(b, begin)
		begin += uint32(len(s))
	}
	return string(append(b, make([]byte, rleHeader-len(b))...)) + strings.Join(segments, "")
}

// A damagedFile holds invalid bytes and the expected error.
type damagedFile struct {
	name string
	data []byte
	want string
}

// damagedDicom returns DICOM files with one wrong element each.
func damagedDicom() (list []damagedFile) {
	nested := "\xfe\xff\x00\xe0\xff\xff\xff\xff\x40\x00\x07\x01SQ\x00\x00\xff\xff\xff\xff"
	for _, c := range []struct {
		what  string
		tag   uint32
		value string
		want  string
	}{
		{"big-endian", dicomSyntax, dicomElement(dicomSyntax, "UI", "1.2.840.10008.1.2.2\x00"), "truncated: element 20000e00"},
		{"JPEG 2000", dicomSyntax, dicomElement(dicomSyntax, "UI", "1.2.840.10008.1.2.4.90"), "dcm2niix"},
		{"colour", dicomSamples, dicomElement(dicomSamples, "US", short(3)), "3 samples"},
		{"no rows", dicomRows, "", "at least 1"},
		{"rows", dicomRows, dicomElement(dicomRows, "US", short(3)), "6 bytes of pixels, where the header states 9 (3x3, 1 each)"},
		{"few rows", dicomRows, dicomElement(dicomRows, "US", short(1)), "6 bytes of pixels, where the header states 3"},
		{"frames", dicomFrames, dicomElement(dicomFrames, "IS", "2 "), "where the header states 12 (3x2x2"},
		{"no number", dicomFrames, dicomElement(dicomFrames, "IS", "x "), `frames is "x"`},
		{"many frames", dicomFrames, dicomElement(dicomFrames, "IS", "2147483647"), "where the header states 12884901882"},
		{"one bit", dicomAllocated, dicomElement(dicomAllocated, "US", short(1)), "pixels of 1 bits"},
		{"no bits", dicomStored, "", "of which 0 are used"},
		{"high bits", dicomHighBit, dicomElement(dicomHighBit, "US", short(9)), "up to bit 9"},
		{"sign", dicomSigned, dicomElement(dicomSigned, "US", short(2)), "pixels of 8 bits"},
		{"slope", dicomSlope, dicomElement(dicomSlope, "DS", "0 "), "slope is 0"},
		{"slopes", dicomSlope, dicomElement(dicomSlope, "DS", `1\2 `), "want 1 numbers"},
		{"infinite", dicomIntercept, dicomElement(dicomIntercept, "DS", "1e999 "), "want finite numbers"},
		{"table", dicomTable, dicomElement(dicomTable, "SQ", ""), "a table of values"},
		{"enhanced", dicomPerFrame, dicomElement(dicomPerFrame, "SQ", ""), "values by groups of frames"},
		{"position", dicomPosition, dicomElement(dicomPosition, "DS", `1\2 `), "want 3 numbers"},
		{"orientation", dicomOrientation, dicomElement(dicomOrientation, "DS", `1\2 `), "want 6 numbers"},
		{"no pixels", dicomPixels, "", "no pixels"},
		{"compressed", dicomPixels, "\xe0\x7f\x10\x00OB\x00\x00\xff\xff\xff\xff", "its pixels are compressed"},
		{"two", dicomPixels, strings.Repeat(dicomElement(dicomPixels, "OW", "123456"), 2), "two elements of pixels"},
		{"huge", dicomSeries, "\x20\x00\x0e\x00OB\x00\x00\xfe\xff\xff\xff", "has 4294967294 bytes"},
		{"open", 0x00400001, "\x40\x00\x07\x01SQ\x00\x00\xff\xff\xff\xff", "no pixels"},
		{"deep", 0x00400001, "\x40\x00\x07\x01SQ\x00\x00\xff\xff\xff\xff" + strings.Repeat(nested, 1000), "nested too deeply"},
	} {
		list = append(list, damagedFile{c.what + ".dcm", writeDicom(map[uint32]string{c.tag: c.value}), c.want})
	}
	return append(list, damagedFile{"text.dcm", []byte("some text"), "not a DICOM file"})
}

// rleFile returns a DICOM file of 3x2 compressed voxels of uint8.
func rleFile(pixels ...string) []byte {
	open := "\xe0\x7f\x10\x00OB\x00\x00\xff\xff\xff\xff" + dicomItemOf(dicomItem, "")
	return writeDicom(map[uint32]string{
		dicomSyntax: dicomElement(dicomSyntax, "UI", dicomRLEUID+"\x00"), dicomPixels: open + strings.Join(pixels, ""),
	})
}

// rleItem returns a fragment with one frame.
func rleItem(segments []string, at ...uint32) string {
	return dicomItemOf(dicomItem, rleFrame(segments, at...))
}

// goodRLE returns a valid frame.
func goodRLE() string { return rleItem([]string{"\x02\x01\x02\x03\xff\x07\x00\x09"}) }

// damagedRLE returns DICOM files with damaged fragments.
func damagedRLE() []damagedFile {
	good, end := goodRLE(), dicomItemOf(dicomSequenceEnd, "")
	list := []damagedFile{
		{"short", rleFile(rleItem([]string{"\x02\x01\x02\x03"}), end), "truncated: the compressed voxels end after 3 of 6 bytes"},
		{"two segments", rleFile(rleItem([]string{"\xfb\x01", "\xfb\x01"}), end), "not one segment for each of the 1 bytes"},
		{"no header", rleFile(dicomItemOf(dicomItem, "\x01\x00\x00\x00"), end), "not one segment"},
		{"beyond", rleFile(rleItem([]string{"\xfb\x01"}, 67), end), "lie beyond it"},
		{"in the header", rleFile(rleItem([]string{"\xfb\x01"}, 63), end), "lie beyond it"},
		{"two fragments", rleFile(good, good, end), "2 fragments for 1 frames"},
		{"none", rleFile(end), "0 fragments for 1 frames"},
		{"cut off", rleFile(good)[:len(rleFile(good))-3], "truncated: a fragment of"},
		{"no end", rleFile(good), "truncated: the file ends inside an element"},
		{"other", rleFile(good, dicomElement(dicomRows, "US", short(2))), "element 00280010 among the fragments"},
		{"twice", append(rleFile(good, end), rleFile(good, end)[len(writeDicom(map[uint32]string{dicomPixels: "", dicomSyntax: dicomElement(dicomSyntax, "UI", dicomRLEUID+"\x00")})):]...), "its pixels are compressed"},
	}
	for i := range list {
		list[i].name += ".dcm"
	}
	return list
}

// refusesDicom checks that damaged files are rejected with the reason, and valid ones are read.
func refusesDicom(t *testing.T) {
	// Elements inside an element of unknown type are implicit, in every file.
	const open, end = "\x00\x00\xff\xff\xff\xff\xfe\xff\x00\xe0\xff\xff\xff\xff", "\xfe\xff\x0d\xe0\x00\x00\x00\x00\xfe\xff\xdd\xe0\x00\x00\x00\x00"
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"plain":      {writeDicom(nil), "\x01\x02\x03\x04\x05\x06"},
		"compressed": {rleFile(goodRLE(), dicomItemOf(dicomSequenceEnd, "")), "\x01\x02\x03\x07\x07\x09"},
		"sequences": {writeDicom(map[uint32]string{
			0x00081140: "\x08\x00\x40\x11SQ" + open + "\x10\x00\x10\x00PN\x04\x00abcd" + end,
			0x00091001: "\x09\x00\x01\x10UN" + open + "\x10\x00\x10\x00\x04\x00\x00\x00abcd" + end,
		}), "\x01\x02\x03\x04\x05\x06"},
	} {
		s, err := openFileBytes("IM0001.dcm", c.data, format.Options{})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		checkFileImage(t, s, "3x2", grid.Uint8, func(i int64) float64 { return float64(c.want[i]) })
	}
	refusesDamaged(t, damagedDicom())
	refusesDamaged(t, damagedRLE())
}

func refusesDamaged(t *testing.T, list []damagedFile) {
	t.Helper()
	for _, c := range list {
		_, err := openFileBytes(c.name, c.data, format.Options{})
		checkFileError(t, c.name, err, c.want)
	}
}

// Slices with numbers but no places are in the order of their numbers, each once.
func ordersSlices(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, edit map[uint32]string) {
		if err := os.WriteFile(filepath.Join(dir, name), writeDicom(edit), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	number := func(n string) map[uint32]string {
		return map[uint32]string{dicomInstance: dicomElement(dicomInstance, "IS", n), dicomPixels: dicomElement(dicomPixels, "OW", strings.Repeat(n[:1], 6))}
	}
	// Ordered by number, without places.
	write("a.dcm", number("3 "))
	write("b.dcm", number("1 "))
	write("c.dcm", number("2 "))
	s, err := Named.Open("stack/path=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, s, "3x2x3", grid.Uint8, func(i int64) float64 { return float64('1' + i/6) })
	for _, c := range []struct {
		what string
		edit map[uint32]string
		want string
	}{
		{"twice", number("1 "), "c.dcm: at the place of " + dir + "/b.dcm"},
		{"no place", nil, "c.dcm: it has no position"},
		{"other series", map[uint32]string{dicomInstance: dicomElement(dicomInstance, "IS", "9 "), dicomSeries: dicomElement(dicomSeries, "UI", "1.3")}, "c.dcm: of another series"},
		{"damaged", map[uint32]string{dicomPixels: ""}, "c.dcm: truncated"},
		{"bits", map[uint32]string{dicomInstance: dicomElement(dicomInstance, "IS", "9 "), dicomStored: dicomElement(dicomStored, "US", short(7)), dicomHighBit: ""}, "not as many bits of each voxel count as in the first slice"},
	} {
		write("c.dcm", c.edit)
		_, err := Named.Open("stack/path=" + dir)
		checkFileError(t, c.what, err, c.want)
	}
}

// Pixels of 16 bits have the sign of the header.
func TestDicomSigned(t *testing.T) {
	pixels := ""
	for _, v := range []uint16{0xfffe, 0xffff, 0, 1, 2, 3} {
		pixels += short(v)
	}
	for signed, first := range map[uint16]float64{0: 0xfffe, 1: -2} {
		got, err := openFileBytes("image.dcm", writeDicom(map[uint32]string{
			dicomAllocated: dicomElement(dicomAllocated, "US", short(16)),
			dicomStored:    dicomElement(dicomStored, "US", short(16)),
			dicomHighBit:   dicomElement(dicomHighBit, "US", short(15)),
			dicomSigned:    dicomElement(dicomSigned, "US", short(signed)),
			dicomPixels:    dicomElement(dicomPixels, "OW", pixels),
		}), format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		typ := map[uint16]element.Type{0: element.Uint16, 1: element.Int16}[signed].Native()
		checkFileImage(t, got, "3x2", typ, func(i int64) float64 {
			if i > 1 {
				return float64(i - 2)
			}
			return first + float64(i)
		})
	}
}
