package files

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// numbers returns the values of voxels, in order.
func numbers(list ...float64) func(int64) float64 { return func(i int64) float64 { return list[i] } }

// MetaIO accepts the first letter of a boolean, colons, blank lines and repeated comments.
func TestMetaSpellings(t *testing.T) {
	big := []byte{0, 1, 1, 0, 0, 1} // 1, 256, 1
	header := func(more string) string {
		return "ObjectType = Image\nNDims = 2\nDimSize = 3 1\nElementType = MET_USHORT\n" + more + "ElementDataFile = LOCAL\n"
	}
	want := numbers(1, 256, 1)
	for _, key := range []string{"BinaryDataByteOrderMSB", "ElementByteOrderMSB"} {
		for _, value := range []string{"True", "true", "TRUE", "T", "t", "1"} {
			checkFileImage(t, mustOpen(t, "m.mha", append([]byte(header(key+" = "+value+"\n")), big...)), "3x1", grid.Uint16, want)
		}
		for _, value := range []string{"False", "false", "F", "0"} {
			checkFileImage(t, mustOpen(t, "m.mha", append([]byte(header(key+" = "+value+"\n")), big...)), "3x1", grid.Uint16, numbers(256, 1, 256))
		}
		for _, value := range []string{"yes", "", "2", "Tr"} {
			checkRefusedCheaply(t, "m.mha", append([]byte(header(key+" = "+value+"\n")), big...), format.Options{}, "want True or False")
		}
	}
	msb := "BinaryDataByteOrderMSB = True\n"
	for what, text := range map[string]string{
		"colons":       strings.ReplaceAll(header(msb), " = ", ": "),
		"no space":     strings.ReplaceAll(header(msb), " = ", "="),
		"blank lines":  "\n" + strings.Replace(header(msb), "\n", "\n\n  \n", 1),
		"comments":     header("Comment = a\nComment = b\n" + msb),
		"line ends":    strings.ReplaceAll(header(msb), "\n", "\r\n"),
		"plain values": header(msb + "ElementToIntensityFunctionSlope = 1.0\nElementToIntensityFunctionOffset = 0\nBinaryData = t\nCompressedData = 0\n"),
		"numbers":      strings.Replace(header(msb), "NDims = 2", "NDims = 02", 1),
	} {
		s, err := openFileBytes("m.mha", append([]byte(text), big...), format.Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		checkFileImage(t, s, "3x1", grid.Uint16, want)
	}
	for more, why := range map[string]string{
		msb + "ElementByteOrderMSB = False\n":    "differ",
		"binaryDataByteOrderMSB = True\n":        "is spelled",
		"ElementToIntensityFunctionSlope = 2\n":  "apply or ignore",
		"ElementToIntensityFunctionOffset = x\n": "apply or ignore",
		"BinaryData = no\n":                      "want True or False",
		"CompressedData = yes\n":                 "want True or False",
		"BinaryData = False\nHeaderSize = -1\n":  "or has a header",
	} {
		checkRefusedCheaply(t, "m.mha", append([]byte(header(more)), big...), format.Options{}, why)
	}
	tube := strings.Replace(header(msb), "Image", "Tube", 1)
	checkRefusedCheaply(t, "m.mha", append([]byte(tube), big...), format.Options{}, `ObjectType is "Tube"`)
	checkFileImage(t, mustOpen(t, "m", append([]byte("ObjectType: image"+header(msb)[len("ObjectType = Image"):]), big...)), "3x1", grid.Uint16, want)
}

// Compressed data may be zlib or gzip, and nothing follows them.
func TestMetaCompressed(t *testing.T) {
	header := "ObjectType = Image\nNDims = 2\nDimSize = 3 2\nElementType = MET_UCHAR\nCompressedData = true\nElementDataFile = LOCAL\n"
	six := []byte{1, 2, 3, 4, 5, 6}
	checkFileImage(t, mustOpen(t, "m.mha", append([]byte(header), zipped(six)...)), "3x2", grid.Uint8, linear(1, 1))
	whole := append([]byte(header), deflated(six)...)
	checkFileImage(t, mustOpen(t, "m.mha", whole), "3x2", grid.Uint8, linear(1, 1))
	checkRefusedCheaply(t, "m.mha", append(whole, 0), format.Options{}, "other data follow the zlib data")
}

// The data files of one header have equal lengths; otherwise slices would move.
func TestDataFilesOfOneLength(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a", "12345678")
	write("b", "1234")
	meta := write("m.mhd", "NDims = 2\nDimSize = 6 2\nElementType = MET_UCHAR\nElementDataFile = LIST\na\nb\n")
	nrrd := write("n.nhdr", "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 6 2\nencoding: raw\ndata file: LIST\na\nb\n")
	for _, path := range []string{meta, nrrd} {
		_, err := Open(path, format.Options{})
		checkFileError(t, path, err, "want files of one length")
	}
}

// A compressed header names a separate file of data.
func TestWrappedHeader(t *testing.T) {
	dir := t.TempDir()
	header := "ObjectType = Image\nNDims = 2\nDimSize = 6 2\nElementType = MET_UCHAR\nElementDataFile = v.raw\n"
	for name, data := range map[string][]byte{"v.raw": []byte("123456789abc"), "m.mhd.gz": zipped([]byte(header))} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(filepath.Join(dir, "m.mhd.gz"), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, s, "6x2", grid.Uint8, func(i int64) float64 { return float64("123456789abc"[i]) })
}

// Text of few numbers is aligned for its type.
func TestShortText(t *testing.T) {
	for range 64 {
		text := writeNrrd("type: short\ndimension: 2\nsizes: 1 1\nencoding: ascii\n", []byte("-7\n"))
		checkFileImage(t, mustOpen(t, "a.nrrd", text), "1x1", grid.Int16, linear(-7, 0))
	}
}

// Zeros may follow gzip data, in every format and for compressed data inside a file.
func TestGzipPadding(t *testing.T) {
	six := []byte{1, 2, 3, 4, 5, 6}
	npy := writeNpy(npyHeaderText("|u1", "False", "(2, 3)"), six)
	nii := writeNifti(niftiOf(element.Uint8, false, six, 3, 2))
	nrrd := "type: uchar\ndimension: 2\nsizes: 3 2\nencoding: "
	fits := writeFits(goodFits, string(six))
	files := map[string][]byte{
		"a.npy.gz": zipped(npy), "a.nii.gz": zipped(nii), "a.nrrd": writeNrrd(nrrd+"gzip\n", zipped(six)), "a.fits.gz": zipped(fits),
		"a.nrrd.gz": zipped(writeNrrd(nrrd+"raw\n", six)),
		"b.npy.gz":  slices.Concat(zipped(npy[:50]), make([]byte, 3), zipped(npy[50:])), // members
	}
	for name, data := range files {
		for _, padding := range []int{0, 1, 2, 511, 5000} {
			whole := append(bytes.Clone(data), make([]byte, padding)...)
			checkFileImage(t, mustOpen(t, name, whole), "3x2", grid.Uint8, linear(1, 1))
			checkOnce(t, name, whole)
		}
		for end, want := range map[string]string{"x": "other data follow the gzip data", "\x00\x00more": "other data follow the gzip data", "\x00\x1f": "runcated", storage.GzipMagic: "runcated"} {
			bad := append(bytes.Clone(data), end...)
			if _, err := openFileBytes(name, bad, format.Options{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s with %q behind: %v", name, end, err)
			}
			checkOnce(t, name, bad)
		}
	}
}

// A FITS file declares the end of its image. Padding may be missing, and other bytes may follow.
func TestFitsPadding(t *testing.T) {
	whole := writeFits(goodFits, "\x01\x02\x03\x04\x05\x06")
	for _, n := range []int{fitsBlock + 6, fitsBlock + 7, len(whole) - 1, len(whole)} {
		checkFileImage(t, mustOpen(t, "a.fits", whole[:n]), "3x2", grid.Uint8, linear(1, 1))
		checkAnyFile(t, "a.fits", whole[:n])
	}
	checkFileImage(t, mustOpen(t, "a.fits", append(bytes.Clone(whole), "more bytes"...)), "3x2", grid.Uint8, linear(1, 1))
	checkRefusedCheaply(t, "a.fits", whole[:fitsBlock+5], format.Options{}, "truncated: 5 bytes of voxels where the header states 6")
	checkRefusedCheaply(t, "a.fits", writeFits(append(slices.Clone(goodFits), "GCOUNT  = 2"), "123456"), format.Options{}, "GCOUNT")
}

// A voxel with the value BLANK is an error.
func TestFitsBlank(t *testing.T) {
	cards := func(more ...string) []string {
		return append([]string{"SIMPLE  = T", "BITPIX  = 16", "NAXIS   = 2", "NAXIS1  = 2", "NAXIS2  = 1"}, more...)
	}
	data := "\x00\x01\xff\xfe" // 1, -2
	for _, c := range []struct {
		more []string
		want string
	}{
		{[]string{"BLANK   = -1"}, ""}, {[]string{"BLANK   = 65534"}, ""}, {[]string{"BLANK   = -2"}, "keyword BLANK"}, {[]string{"BLANK   = 1"}, "keyword BLANK"},
		{[]string{"BLANK   = 1.5"}, "want a whole number"},
		{[]string{"BZERO   = 32768", "BLANK   = -2"}, "keyword BLANK"}, {[]string{"BZERO   = 32768", "BLANK   = 32766"}, ""}, // before BZERO
		{[]string{"BSCALE  = 2", "BLANK   = -2"}, "keyword BLANK"}, {[]string{"BSCALE  = 2", "BLANK   = -4"}, ""},
	} {
		file := writeFits(cards(c.more...), data)
		_, err := openFileBytes("a.fits", file, format.Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.more, err)
		}
		checkAnyFile(t, "a.fits", file)
	}
	checkFileImage(t, mustOpen(t, "a.fits", writeFits(cards("BLANK   = -1"), data)), "2x1", grid.Int16, numbers(1, -2))
}

// Python 2 wrote long integers with an L. A nonzero bool is 1, as in NumPy.
func TestNpyLatitude(t *testing.T) {
	six := []byte{1, 2, 3, 4, 5, 6}
	for _, shape := range []string{"(2L, 3L)", "(2L, 3L,)", "(2L,3)"} {
		checkFileImage(t, mustOpen(t, "a.npy", writeNpy(npyHeaderText("|u1", "False", shape), six)), "3x2", grid.Uint8, linear(1, 1))
	}
	checkRefusedCheaply(t, "a.npy", writeNpy(npyHeaderText("|u1", "False", "(2LL, 3)"), six), format.Options{}, "no comma")
	octal := writeNpy(npyHeaderText("|u1", "False", "(02, 3)"), six)
	checkRefusedCheaply(t, "a.npy", octal, format.Options{}, "no whole number")
	minor := writeNpy(npyHeaderText("|u1", "False", "(2, 3)"), six)
	minor[7] = 1
	checkRefusedCheaply(t, "a.npy", minor, format.Options{}, "npy version 1.1")
	truths := make([]byte, 20)
	truths[1], truths[9], truths[19] = 1, 255, 2
	want := func(i int64) float64 { return float64(min(truths[i], 1)) }
	bools := writeNpy(npyHeaderText("|b1", "False", "(2, 10)"), truths)
	checkFileImage(t, mustOpen(t, "a.npy", bytes.Clone(bools)), "10x2", grid.Uint8, want)
	checkAnyFile(t, "a.npy", bools)
	o := format.Options{Shape: grid.Shape{D: 1, H: 2, W: 10}, Other: "bool"}
	s, err := openFileBytes("a.raw", bytes.Clone(truths), o)
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, s, "10x2", grid.Uint8, want)
}

// Every bit of a stored array is verified, in any order of slabs.
func TestNpzChecksum(t *testing.T) {
	whole := readFixture(t, "i2_stored.npz")
	at := bytes.Index(whole, []byte(npyMagic))
	for n := at; n < at+128+48; n++ {
		bad := bytes.Clone(whole)
		bad[n] ^= 4
		if _, err := openFileBytes("a.npz", bad, format.Options{}); err == nil {
			t.Errorf("byte %d: accepted", n-at)
		}
		checkAnyFile(t, "a.npz", bad)
	}
	bad := bytes.Clone(whole)
	bad[at+128] ^= 1
	for name, data := range map[string][]byte{"": whole, "the CRC-32 of the array is not that in the archive, which is damaged; copy it again": bad} {
		s, err := openFileBytes("a.npz", data, format.Options{Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		slice := grid.NewBuffer(grid.SliceBytes(s))
		for _, z := range []int64{1, 1, 0, 1} {
			err = s.ReadSlab(slice, z, z+1)
		}
		if name == "" && err != nil || name != "" && (err == nil || err.Error() != name) {
			t.Errorf("slices out of order: %v, want %q", err, name)
		}
	}
	several := readFixture(t, "volumes.npz")
	zero := int64(0)
	if _, err := openFileBytes("a.npz", several, format.Options{Volume: &zero}); err != nil {
		t.Fatal(err)
	}
}

// The axes of an MRC file are reordered to x, y, z. Zeros mean the default.
func TestMrcAxes(t *testing.T) {
	good := readFixture(t, "i16_3d.rec") // 4x3x2
	put := func(at int, n ...uint32) []byte {
		data := bytes.Clone(good)
		for i, v := range n {
			binary.LittleEndian.PutUint32(data[at+4*i:], v)
		}
		return data
	}
	plain := linear(-3000, 251)
	checkFileImage(t, mustOpen(t, "a.mrc", put(64, 0, 0, 0)), "4x3x2", grid.Int16, plain)
	checkFileImage(t, mustOpen(t, "a.mrc", put(64, 2, 1, 3)), "3x4x2", grid.Int16, func(i int64) float64 { return plain(i/12*12 + i%3*4 + i/3%4) })
	checkFileImage(t, mustOpen(t, "a.mrc", put(64, 2, 3, 1)), "2x4x3", grid.Int16, func(i int64) float64 { return plain(i%2*12 + i/8*4 + i/2%4) })
	checkFileImage(t, mustOpen(t, "a.mrc", put(212, 0)), "4x3x2", grid.Int16, plain)
	checkRefusedCheaply(t, "a.mrc", put(212, 0)[:len(good)-1], format.Options{}, "machine stamp 0x0 0x0")
	big := readFixture(t, "u16_be_3d.mrc")
	copy(big[212:], "\x00\x00")
	checkFileImage(t, mustOpen(t, "a.mrc", big), "4x3x2", grid.Uint16, modulo(40000, 1001, 1<<16))
	// ISPG 0 and MZ 1 mean a stack of images.
	stack := put(36, 1)
	binary.LittleEndian.PutUint32(stack[88:], 0)
	checkRefusedCheaply(t, "a.mrc", stack, format.Options{}, "2 volumes of 4x3")
	binary.LittleEndian.PutUint32(stack[88:], 401)
	binary.LittleEndian.PutUint32(stack[36:], 3)
	checkRefusedCheaply(t, "a.mrc", stack, format.Options{}, "2 slices in volumes of 3")
}

// A non-spatial axis of an NRRD file counts images.
func TestNrrdKinds(t *testing.T) {
	header := func(kinds string) []byte {
		return writeNrrd("type: uchar\ndimension: 3\nsizes: 3 2 2\nencoding: raw\nkinds: "+kinds+"\n", []byte("abcdefghijkl"))
	}
	one := int64(1)
	for kinds, want := range map[string]struct {
		shape      string
		base, step float64
	}{
		"domain domain list": {"3x2", 'g', 1}, "domain space time": {"3x2", 'g', 1}, "space space none": {"3x2", 'g', 1},
		"??? none list": {"3x2", 'g', 1}, "time space space": {"2x2", 'b', 3}, "??? space space": {"2x2", 'b', 3},
		"none none ???": {"3x2x2", 'a', 1}, "space domain space": {"3x2x2", 'a', 1},
	} {
		o := format.Options{Volume: &one}
		if want.base == 'a' {
			o.Volume = nil
		} else {
			checkRefusedCheaply(t, "a.nrrd", header(kinds), format.Options{}, " volumes of "+want.shape+"; choose")
		}
		s, err := openFileBytes("a.nrrd", header(kinds), o)
		if err != nil {
			t.Errorf("%s: %v", kinds, err)
			continue
		}
		checkFileImage(t, s, want.shape, grid.Uint8, linear(want.base, want.step))
	}
	for kinds, want := range map[string]string{
		"domain vector domain": `an axis of "vector" among those of space`, "space time space": `an axis of "time" among those of space`,
		"none list time": "it is not known which of its axes", "list vector space": "want one such axis",
	} {
		checkRefusedCheaply(t, "a.nrrd", header(kinds), format.Options{}, want)
	}
	const four = "type: uchar\ndimension: 4\nsizes: 2 3 1 2\nencoding: raw\nkinds: "
	for kinds, want := range map[string]struct {
		shape      string
		base, step float64
	}{"time space space space": {"3x1x2", 'b', 2}, "domain domain domain domain": {"2x3", 'g', 1}} {
		s, err := openFileBytes("a.nrrd", writeNrrd(four+kinds+"\n", []byte("abcdefghijkl")), format.Options{Volume: &one})
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, s, want.shape, grid.Uint8, linear(want.base, want.step))
	}
}

// A Scanco ISQ file has a header, blocks that its last word counts, and int16 voxels.
func TestIsq(t *testing.T) {
	file := func(edit func(h []byte)) []byte {
		h := make([]byte, 3*isqBlock)
		copy(h, isqMagic)
		for at, n := range map[int]uint32{16: 3, 44: 4, 48: 3, 52: 2, 56: 400, 60: 300, 64: 200, 508: 2} {
			binary.LittleEndian.PutUint32(h[at:], n)
		}
		if edit != nil {
			edit(h)
		}
		for i := range 24 {
			h = binary.LittleEndian.AppendUint16(h, uint16(-3000+251*i))
		}
		return h
	}
	for _, name := range []string{"a.isq", "A0001.ISQ;1", "image"} {
		checkFileImage(t, mustOpen(t, name, file(nil)), "4x3x2", grid.Int16, linear(-3000, 251))
	}
	checkFileImage(t, mustOpen(t, "a.isq", append(file(nil), make([]byte, isqBlock-48)...)), "4x3x2", grid.Int16, linear(-3000, 251))
	checkAnyFile(t, "a.isq", file(nil))
	checkRefusedCheaply(t, "a.isq", append(file(nil), make([]byte, isqBlock)...), format.Options{}, "trailing data")
	checkRefusedCheaply(t, "a.isq", file(nil)[:1580], format.Options{}, "truncated")
	checkRefusedCheaply(t, "a.isq", file(nil)[:100], format.Options{}, "fewer than an ISQ header")
	checkRefusedCheaply(t, "a.isq", []byte("CTDATA-HEADER_V2"), format.Options{}, "not an ISQ file")
	checkRefusedCheaply(t, "a.isq", file(func(h []byte) { h[16] = 9 }), format.Options{}, "radiograph")
	checkRefusedCheaply(t, "a.isq", file(func(h []byte) { h[52] = 0 }), format.Options{}, "at least 1")
	checkRefusedCheaply(t, "a.isq", file(func(h []byte) { h[511] = 0x80 }), format.Options{}, "header is damaged")
	checkRefusedCheaply(t, "A0001.RSQ;1", file(nil), format.Options{}, "Scanco projections is not read")
	checkRefusedCheaply(t, "a.aim", []byte("AIMDATA_V030   "), format.Options{}, "Scanco AIM is not read; convert it first: itk.imwrite")
}
