package files

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// A dicomCase is the elements of a file by tag, of explicit types.
type dicomCase map[uint32]dicomValue

// A dicomValue is text, bytes, numbers, or a sequence of items.
type dicomValue struct {
	kind  string
	value any
}

func us(v ...uint16) dicomValue        { return dicomValue{"US", v} }
func ul(v ...uint32) dicomValue        { return dicomValue{"UL", v} }
func ds(text string) dicomValue        { return dicomValue{"DS", text} }
func sq(items ...dicomCase) dicomValue { return dicomValue{"SQ", items} }

// baseCase returns a file of frames of 3x2 voxels of uint8.
func baseCase(pixels ...byte) dicomCase {
	c := dicomCase{
		dicomClass: {"UI", "1.2.840.10008.5.1.4.1.1.2"}, dicomSeries: {"UI", "1.2.3"}, dicomSamples: us(1), dicomPhotometric: {"CS", "MONOCHROME2"},
		dicomRows: us(2), dicomColumns: us(3), dicomAllocated: us(8), dicomStored: us(8), dicomHighBit: us(7), dicomSigned: us(0),
		dicomPixels: {"OB", pixels},
	}
	if len(pixels) > 6 {
		c[dicomFrames] = dicomValue{"IS", fmt.Sprint(len(pixels) / 6)}
	}
	return c
}

// with returns the case with other elements. An element without a kind is removed.
func (c dicomCase) with(edit dicomCase) dicomCase {
	c = maps.Clone(c)
	maps.Copy(c, edit)
	maps.DeleteFunc(c, func(_ uint32, v dicomValue) bool { return v.kind == "" })
	return c
}

// encode returns the bytes of the elements.
func (c dicomCase) encode(order binary.AppendByteOrder, explicit bool) (out []byte) {
	for _, tag := range slices.Sorted(maps.Keys(c)) {
		e := c[tag]
		var value []byte
		switch v := e.value.(type) {
		case string:
			value = []byte(v + strings.Repeat(" ", len(v)%2))
		case []byte:
			value = v
		case []uint16:
			for _, n := range v {
				value = order.AppendUint16(value, n)
			}
		case []uint32:
			for _, n := range v {
				value = order.AppendUint32(value, n)
			}
		case []dicomCase:
			for _, item := range v {
				body := item.encode(order, explicit)
				value = order.AppendUint32(order.AppendUint16(order.AppendUint16(value, 0xfffe), 0xe000), uint32(len(body)))
				value = append(value, body...)
			}
		}
		out = order.AppendUint16(order.AppendUint16(out, uint16(tag>>16)), uint16(tag))
		switch {
		case !explicit:
			out = order.AppendUint32(out, uint32(len(value)))
		case slices.Contains([]string{"OB", "OW", "OF", "OD", "OL", "OV", "SQ", "UC", "UR", "UT", "UN", "SV", "UV"}, e.kind):
			out = order.AppendUint32(append(out, e.kind[0], e.kind[1], 0, 0), uint32(len(value)))
		default:
			out = order.AppendUint16(append(out, e.kind...), uint16(len(value)))
		}
		out = append(out, value...)
	}
	return out
}

// fileOf returns a file of the case in a transfer syntax.
func (c dicomCase) fileOf(syntax string) []byte {
	order := binary.AppendByteOrder(binary.LittleEndian)
	if syntax == dicomBigUID {
		order = binary.BigEndian
	}
	body := c.encode(order, syntax != dicomImplicitUID)
	if syntax == dicomDeflatedUID {
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, 9)
		w.Write(body)
		w.Close()
		body = packed.Bytes()
	}
	meta := dicomCase{dicomSyntax: {"UI", syntax}}.encode(binary.LittleEndian, true)
	return slices.Concat(make([]byte, dicomPreamble), []byte("DICM"), meta, body)
}

func (c dicomCase) file() []byte { return c.fileOf(dicomExplicitUID) }

// checkDicom reads a file and compares its values, or the error.
func checkDicom(t *testing.T, what string, data []byte, o format.Options, shape, wrong string, want ...float64) {
	t.Helper()
	s, err := openFileBytes("image.dcm", data, o)
	if wrong != "" {
		checkFileError(t, what, err, wrong)
		return
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	checkValues(t, what, s, shape, want)
}

// checkValues compares the values of an image, ranked or not.
func checkValues(t *testing.T, what string, s grid.Source, shape string, want []float64) {
	t.Helper()
	if s.Shape().String() != shape {
		t.Errorf("%s: %v, want %s", what, s.Shape(), shape)
		return
	}
	var got []float64
	labels := grid.LabelsOf(s)
	buf := grid.NewBuffer(grid.TotalBytes(s))
	if err := s.ReadSlab(buf, 0, s.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	for i := range int(s.Shape().Voxels()) {
		switch s.Type() {
		case grid.Uint8:
			got = append(got, float64(buf[i]))
		case grid.Uint16:
			got = append(got, float64(grid.Values[uint16](buf)[i]))
		case grid.Int16:
			got = append(got, float64(grid.Values[int16](buf)[i]))
		default:
			stored := grid.Values[float32](buf)[i]
			v := float64(stored)
			if labels != nil {
				v = labels.Float64(stored)
			}
			got = append(got, v)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

var six = []float64{1, 2, 3, 4, 5, 6}

func TestDicomSyntaxes(t *testing.T) {
	words := baseCase().with(dicomCase{dicomAllocated: us(16), dicomStored: us(16), dicomHighBit: us(15), dicomPixels: {"OW", []uint16{1, 2, 3, 4, 5, 600}}})
	for _, syntax := range []string{dicomExplicitUID, dicomImplicitUID, dicomBigUID, dicomDeflatedUID} {
		checkDicom(t, syntax, words.fileOf(syntax), format.Options{}, "3x2", "", 1, 2, 3, 4, 5, 600)
		checkDicom(t, syntax, baseCase(1, 2, 3, 4, 5, 6).fileOf(syntax), format.Options{}, "3x2", "", six...)
	}
	bytes := baseCase(1, 2, 3, 4, 5, 6).with(dicomCase{dicomPixels: {"OW", []byte{2, 1, 4, 3, 6, 5}}})
	checkDicom(t, "big-endian words of bytes", bytes.fileOf(dicomBigUID), format.Options{}, "", "8 bits in big-endian words")
	checkDicom(t, "JPEG", words.fileOf("1.2.840.10008.1.2.4.90"), format.Options{}, "", "transfer syntax \"1.2.840.10008.1.2.4.90\"")
	checkDicom(t, "none", words.fileOf(""), format.Options{}, "", "no transfer syntax (0002,0010)")
	deflated := words.fileOf(dicomDeflatedUID)
	checkDicom(t, "cut", deflated[:len(deflated)-9], format.Options{}, "", "the deflated elements end too early")
	mixed := append(dicomCase{}.file(), words.encode(binary.LittleEndian, false)...)
	checkDicom(t, "implicit after all", mixed, format.Options{}, "", "has no type, where the transfer syntax has explicit ones")
}

func TestDicomPhotometric(t *testing.T) {
	for name, wrong := range map[string]string{
		"MONOCHROME2": "", "MONOCHROME1": "MONOCHROME1: the lowest value is white, which tools read in two ways; save it as MONOCHROME2",
		"PALETTE COLOR": `"PALETTE COLOR" is not grey`, "RGB": `"RGB" is not grey`, "YBR_FULL_422": `"YBR_FULL_422" is not grey`,
	} {
		checkDicom(t, name, baseCase(1, 2, 3, 4, 5, 6).with(dicomCase{dicomPhotometric: {"CS", name}}).file(), format.Options{}, "3x2", wrong, six...)
	}
}

func TestDicomPadding(t *testing.T) {
	good := baseCase(1, 2, 3, 4, 5, 6)
	pad := func(pixels ...byte) dicomCase { return good.with(dicomCase{dicomPixels: {"OB", pixels}}) }
	checkDicom(t, "zeros", pad(1, 2, 3, 4, 5, 6, 0, 0, 0, 0).file(), format.Options{}, "3x2", "", six...)
	checkDicom(t, "more rows", pad(1, 2, 3, 4, 5, 6, 0, 0, 7).file(), format.Options{}, "", "9 bytes of pixels, where the header states 6")
	checkDicom(t, "a frame", pad(1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0).file(), format.Options{}, "", "12 bytes of pixels, where the header states 6")
	odd := dicomCase{dicomRows: us(1), dicomColumns: us(5), dicomPixels: {"OB", []byte{1, 2, 3, 4, 5}}}
	checkDicom(t, "odd", good.with(odd).file(), format.Options{}, "5x1", "", six[:5]...)
	checkDicom(t, "odd, then padding", good.with(odd).with(dicomCase{0xfffcfffc: {"OB", make([]byte, 20)}}).file(), format.Options{}, "5x1", "", six[:5]...)
	for _, n := range []int{1, 7, 8, 12, 5000} {
		for _, syntax := range []string{dicomExplicitUID, dicomImplicitUID} {
			checkDicom(t, fmt.Sprint(n, " zeros at the end"), append(good.fileOf(syntax), make([]byte, n)...), format.Options{}, "3x2", "", six...)
		}
	}
	checkDicom(t, "text at the end", append(good.file(), "END"...), format.Options{}, "", "the file ends inside an element")
}

func TestDicomPixelTypes(t *testing.T) {
	floats := baseCase().with(dicomCase{dicomPixels: {}, dicomStored: {}, dicomHighBit: {}, dicomSigned: {}})
	var single []uint32
	var double []byte
	for _, v := range six {
		single = append(single, math.Float32bits(float32(v)/8))
		double = binary.LittleEndian.AppendUint64(double, math.Float64bits(v/10))
	}
	checkDicom(t, "float", floats.with(dicomCase{dicomAllocated: us(32), dicomFloatPixels: {"OF", single}}).file(), format.Options{}, "3x2", "",
		0.125, 0.25, 0.375, 0.5, 0.625, 0.75)
	checkDicom(t, "double", floats.with(dicomCase{dicomAllocated: us(64), dicomDoublePixels: {"OD", double}}).file(), format.Options{}, "3x2", "",
		0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
	checkDicom(t, "float of 16 bits", floats.with(dicomCase{dicomAllocated: us(16), dicomFloatPixels: {"OF", single}}).file(), format.Options{}, "", "float32 pixels of 16 bits")
	// The highest of five bits is the sign, and an overlay is above them.
	five := baseCase(0x1f, 0xf0, 0x0f, 0xe1, 0x01, 0x10).with(dicomCase{dicomStored: us(5), dicomHighBit: us(4)})
	checkDicom(t, "signed", five.with(dicomCase{dicomSigned: us(1)}).file(), format.Options{}, "3x2", "", -1, -16, 15, 1, 1, -16)
	checkDicom(t, "unsigned", five.file(), format.Options{}, "3x2", "", 31, 16, 15, 1, 1, 16)
	long := make([]byte, 48)
	long[0], long[8], long[9], long[15] = 0x1f, 0x10, 0x22, 0xff
	long64 := dicomCase{dicomAllocated: us(64), dicomSigned: us(1), dicomPixels: {"OV", long}}
	checkDicom(t, "64 bits", five.with(long64).file(), format.Options{}, "3x2", "", -1, -16, 0, 0, 0, 0)
	checkDicom(t, "no sign", five.with(dicomCase{dicomSigned: {}}).file(), format.Options{}, "", "neither signed nor unsigned")
	checkDicom(t, "high bits", five.with(dicomCase{dicomHighBit: us(7)}).file(), format.Options{}, "", "of which 5 are used up to bit 7")
	checkDicom(t, "one bit", five.with(dicomCase{dicomAllocated: us(1), dicomStored: us(1), dicomHighBit: us(0)}).file(), format.Options{}, "", "pixels of 1 bits")
	checkDicom(t, "two numbers", five.with(dicomCase{dicomRows: us(2, 2)}).file(), format.Options{}, "", "element 00280010 has 4 bytes")
	checkDicom(t, "twice", append(five.file(), dicomCase{dicomRows: us(3)}.encode(binary.LittleEndian, true)...), format.Options{}, "", "two values of element 00280010")
	table := make([]byte, 5000)
	checkDicom(t, "table", five.with(dicomCase{dicomTable: sq(dicomCase{0x00283006: {"OW", table}})}).file(), format.Options{}, "", "a table of values (Modality LUT)")
}

func TestDicomWithoutPixels(t *testing.T) {
	for uid, want := range map[string]string{
		"1.2.840.10008.5.1.4.1.1.481.5": "an RT plan, which has no pixels", "1.2.840.10008.5.1.4.1.1.481.3": "an RT structure set",
		"1.2.840.10008.5.1.4.1.1.88.22": "a structured report", "1.2.840.10008.5.1.4.1.1.9.1.1": "a waveform",
		"1.2.840.10008.1.3.10": "a DICOMDIR", "1.2.840.10008.5.1.4.1.1.2": "truncated: the file has no pixels",
	} {
		checkDicom(t, uid, dicomCase{dicomClass: {"UI", uid}}.file(), format.Options{}, "", want)
	}
}

// A frameCase returns the functional groups of a frame.
func frameCase(position, slope string, time uint32) dicomCase {
	c := dicomCase{0x00209111: sq(dicomCase{dicomTemporalIndex: ul(time), dicomIndexValues: ul(time, 1)})}
	if position != "" {
		c[0x00209113] = sq(dicomCase{dicomPosition: ds(position)})
	}
	if slope != "" {
		c[0x00289145] = sq(dicomCase{dicomSlope: ds(slope), dicomIntercept: ds("0")})
	}
	return c
}

// frames returns four frames of two voxels, with values 1, 1; 2, 2; 3, 3; 4, 4.
func frames(edit dicomCase, groups ...dicomCase) dicomCase {
	c := baseCase(1, 1, 2, 2, 3, 3, 4, 4).with(dicomCase{dicomRows: us(1), dicomColumns: us(2), dicomFrames: {"IS", "4"}})
	if groups != nil {
		c[dicomShared] = sq(dicomCase{0x00209116: sq(dicomCase{dicomOrientation: ds(`1\0\0\0\1\0`)})})
		c[dicomPerFrame] = sq(groups...)
	}
	return c.with(edit)
}

func TestDicomFunctionalGroups(t *testing.T) {
	at := func(z string) dicomCase { return frameCase(`0\0\`+z, "", 1) }
	checkDicom(t, "ordered", frames(nil, at("0"), at("1"), at("2"), at("3")).file(), format.Options{}, "2x1x4", "", 1, 1, 2, 2, 3, 3, 4, 4)
	checkDicom(t, "shuffled", frames(nil, at("2"), at("0"), at("3"), at("1")).file(), format.Options{}, "2x1x4", "", 2, 2, 4, 4, 1, 1, 3, 3)
	checkDicom(t, "streamed", frames(nil, at("2"), at("0"), at("3"), at("1")).file(), format.Options{Stream: true}, "2x1x4", "", 2, 2, 4, 4, 1, 1, 3, 3)
	checkDicom(t, "gap", frames(nil, at("0"), at("1"), at("2"), at("9")).file(), format.Options{}, "", "frame 3: 7 after frame 2, where most slices are 1 apart")
	checkDicom(t, "same place", frames(nil, at("0"), at("1"), at("1"), at("2")).file(), format.Options{}, "", "frame 2: at the place of frame 1")
	checkDicom(t, "one without", frames(nil, at("0"), at("1"), frameCase("", "", 1), at("2")).file(), format.Options{}, "", "some frames have places and others none")
	checkDicom(t, "three groups", frames(nil, at("0"), at("1"), at("2")).file(), format.Options{}, "", "values by groups of frames for 3 frames of 4")
	scaled := []dicomCase{frameCase(`0\0\0`, "1", 1), frameCase(`0\0\1`, "0.1", 1), frameCase(`0\0\2`, "10", 1), frameCase(`0\0\3`, "1", 1)}
	checkDicom(t, "scaled", frames(nil, scaled...).file(), format.Options{}, "2x1x4", "", 1, 1, 0.2, 0.2, 30, 30, 4, 4)
	_, err := openFileBytes("image.dcm", frames(nil, scaled...).file(), format.Options{Stream: true})
	checkFileError(t, "scaled, streamed", err, "cannot be streamed")
	shared := dicomCase{dicomShared: sq(dicomCase{0x00289145: sq(dicomCase{dicomSlope: ds("2"), dicomIntercept: ds("1")})})}
	checkDicom(t, "scaled alike", frames(shared, dicomCase{}, dicomCase{}, dicomCase{}, dicomCase{}).file(), format.Options{}, "2x1x4", "", 3, 3, 5, 5, 7, 7, 9, 9)
	checkDicom(t, "concatenation", frames(dicomCase{dicomConcatenated: us(3)}).file(), format.Options{}, "", "one of 3 files that a volume is split into")
	// Elements with the same tags elsewhere in the groups belong to other images.
	source := dicomCase{0x00089124: sq(dicomCase{dicomSlope: ds("7"), dicomPosition: ds(`0\0\5`)}), dicomSlope: ds("9")}
	checkDicom(t, "source images", frames(nil, source, source, source, source).file(), format.Options{}, "2x1x4", "", 1, 1, 2, 2, 3, 3, 4, 4)
}

func TestDicomVolumes(t *testing.T) {
	volume := func(n int64) format.Options { return format.Options{Volume: &n} }
	times := []dicomCase{frameCase(`0\0\1`, "", 1), frameCase(`0\0\1`, "", 2), frameCase(`0\0\0`, "", 1), frameCase(`0\0\0`, "", 2)}
	dimensions := dicomCase{dicomIndices: sq(dicomCase{dicomIndexPointer: {"AT", []uint16{0x18, 0x9082}}}, dicomCase{dicomIndexPointer: {"AT", []uint16{0x20, 0x32}}})}
	for what, edit := range map[string]dicomCase{"times": nil, "dimensions": dimensions} {
		checkDicom(t, what, frames(edit, times...).file(), format.Options{}, "", "2 volumes of 2x1x2; choose one of 0..1")
		checkDicom(t, what, frames(edit, times...).file(), volume(0), "2x1x2", "", 3, 3, 1, 1)
		checkDicom(t, what, frames(edit, times...).file(), volume(1), "2x1x2", "", 4, 4, 2, 2)
		checkDicom(t, what, frames(edit, times...).file(), volume(2), "", "there is no volume 2 of 2")
	}
	checkDicom(t, "uneven", frames(nil, append(times[:3:3], frameCase(`0\0\2`, "", 1))...).file(), format.Options{}, "", "volumes of 3 and 1 frames")
	cine := dicomCase{dicomFramePointer: {"AT", []uint16{0x18, 0x1063}}, dicomFrameTime: ds("40")}
	checkDicom(t, "cine", frames(cine).file(), format.Options{}, "", "4 volumes of 2x1")
	checkDicom(t, "cine", frames(cine).file(), volume(2), "2x1", "", 3, 3)
	checkDicom(t, "cine of no pointer", frames(dicomCase{dicomFrameTime: ds("40")}).file(), volume(2), "2x1", "", 3, 3)
	vector := dicomCase{dicomFramePointer: {"AT", []uint16{0x54, 0x80, 0x54, 0x10}}, dicomSliceVector: us(2, 1, 2, 1), 0x00540010: us(1, 1, 2, 2)}
	checkDicom(t, "energies", frames(vector).file(), volume(1), "2x1x2", "", 4, 4, 3, 3)
	checkDicom(t, "short vector", frames(vector.with(dicomCase{dicomSliceVector: us(2, 1)})).file(), volume(1), "", "element 00540080 has 2 numbers for 4 frames")
	checkDicom(t, "other", frames(dicomCase{dicomFramePointer: {"AT", []uint16{0x18, 0x1060}}}).file(), format.Options{}, "", "its frames differ by element 00181060")
	dose := dicomCase{dicomGridOffsets: ds(`0\2\4\6`), dicomDoseScaling: ds("0.5")}
	checkDicom(t, "dose", frames(dose).file(), format.Options{}, "2x1x4", "", 0.5, 0.5, 1, 1, 1.5, 1.5, 2, 2)
	checkDicom(t, "uneven dose", frames(dose.with(dicomCase{dicomGridOffsets: ds(`0\2\4\9`)})).file(), format.Options{}, "", "frame 3: 5 after frame 2")
	checkDicom(t, "mosaic", frames(dicomCase{dicomImageType: {"CS", `ORIGINAL\PRIMARY\M\MOSAIC`}}).file(), format.Options{}, "", "a Siemens mosaic")
	checkDicom(t, "tiles", frames(dicomCase{dicomOrganization: {"CS", "TILED_FULL"}}).file(), format.Options{}, "", "its frames are tiles of one image")
	checkDicom(t, "one volume", frames(nil).file(), volume(0), "", "has one volume")
}

// writeSeries writes a folder of 3x2 slices with values 1, 2, 3 and so on, in the given places.
func writeSeries(t *testing.T, orientation string, edits ...dicomCase) string {
	t.Helper()
	dir := t.TempDir()
	for k, edit := range edits {
		c := baseCase(bytes.Repeat([]byte{byte(k + 1)}, 6)...)
		if orientation != "" {
			c[dicomOrientation] = ds(orientation)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("IM%d", k+1)), c.with(edit).file(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const axial = `1\0\0\0\1\0`

func TestDicomSeries(t *testing.T) {
	at := func(p string) dicomCase { return dicomCase{dicomPosition: ds(p)} }
	number := func(n string) dicomCase { return dicomCase{dicomInstance: {"IS", n}} }
	echo := func(z, time string) dicomCase {
		return dicomCase{dicomPosition: ds(`0\0\` + z), dicomEchoTime: ds(time)}
	}
	turned := func(p, orientation string) dicomCase {
		return dicomCase{dicomPosition: ds(p), dicomOrientation: ds(orientation)}
	}
	for _, c := range []struct {
		what        string
		orientation string
		edits       []dicomCase
		wrong       string
		order       []float64
	}{
		{"even", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`), at(`0\0\2`), at(`0\0\3`)}, "", []float64{1, 2, 3, 4}},
		{"reversed", axial, []dicomCase{at(`0\0\3`), at(`0\0\2`), at(`0\0\1`), at(`0\0\0`)}, "", []float64{4, 3, 2, 1}},
		{"gap", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`), at(`0\0\2`), at(`0\0\9`)}, "/IM4: 7 after DIR/IM3, where most slices are 1 apart (±25 %): one is missing", nil},
		{"one missing of four", axial, []dicomCase{at(`0\0\0`), at(`0\0\2`), at(`0\0\3`)}, "/IM2: 2 after DIR/IM1, where most slices are 1 apart", nil},
		{"within the tolerance", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`), at(`0\0\2.2`), at(`0\0\3`)}, "", []float64{1, 2, 3, 4}},
		{"beyond the tolerance", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`), at(`0\0\2.3`), at(`0\0\3.3`)}, "/IM3: 1.3 after", nil},
		{"rounded", axial, []dicomCase{at(`0\0\0.6`), at(`0\0\1.2`), at(`0\0\1.9`), at(`0\0\2.5`)}, "", []float64{1, 2, 3, 4}},
		{"tilted gantry", axial, []dicomCase{at(`0\0\0`), at(`0\.4\1`), at(`0\.8\2`), at(`0\1.2\3`)}, "", []float64{1, 2, 3, 4}},
		{"shifted", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`), at(`0\9\2`), at(`0\9\3`)}, "/IM3: shifted by 9 in its plane against DIR/IM2", nil},
		{"the same place", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`), at(`0\0\1`)}, "/IM3: at the place of DIR/IM2; name the files of one volume", nil},
		{"nearly the same", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`), at(`0\0\1.001`), at(`0\0\2`)}, "/IM3: at the place of DIR/IM2", nil},
		{"two echoes", axial, []dicomCase{echo("0", "10"), echo("1", "10"), echo("0", "20"), echo("1", "20")},
			`/IM3: at the place of DIR/IM1 and of another echo time ("20" and "10"); name the files of one volume, by a folder or a pattern, or convert them: dcm2niix`, nil},
		{"text of the orientation", "", []dicomCase{turned(`0\0\0`, axial), turned(`0\0\1`, `1.0\0.0\0.0\0\1.000000\0`), turned(`0\0\2`, `0.9999999\1e-7\0\0\1\-0`)}, "", []float64{1, 2, 3}},
		{"another direction", "", []dicomCase{turned(`0\0\0`, axial), turned(`0\0\1`, `0\1\0\1\0\0`)}, "/IM2: of another series or direction than DIR/IM1", nil},
		{"no right angle", `1\0\0\1\0\0`, []dicomCase{at(`0\0\0`), at(`0\0\1`)}, "/IM1: its rows and columns (ImageOrientationPatient) are not at right angles", nil},
		{"numbers", "", []dicomCase{number("3"), number("1"), number("2")}, "", []float64{2, 3, 1}},
		{"a number is missing", "", []dicomCase{number("1"), number("2"), number("4")}, "/IM3: 2 after DIR/IM2, where most slices are 1 apart", nil},
		{"a report", axial, []dicomCase{at(`0\0\0`), {dicomClass: {"UI", "1.2.840.10008.5.1.4.1.1.88.22"}, dicomPixels: {}}}, "/IM2: a structured report, which has no pixels", nil},
		{"another shape", axial, []dicomCase{at(`0\0\0`), at(`0\0\1`).with(dicomCase{dicomRows: us(3), dicomColumns: us(2)})}, "/IM2: 2x3 of uint8, where the first slice is 3x2", nil},
	} {
		dir := writeSeries(t, c.orientation, c.edits...)
		for _, stream := range []string{"", "/stream=true"} {
			s, err := Named.Open("stack" + stream + "/path=" + dir)
			if c.wrong != "" {
				checkFileError(t, c.what, err, dir+strings.ReplaceAll(c.wrong, "DIR", dir))
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
				continue
			}
			var want []float64
			for _, v := range c.order {
				want = append(want, v, v, v, v, v, v)
			}
			checkValues(t, c.what, s, fmt.Sprintf("3x2x%d", len(c.order)), want)
		}
	}
}

// Each slice of PET has its own slope.
func TestDicomSlopes(t *testing.T) {
	scaled := func(z, slope string) dicomCase {
		return dicomCase{dicomPosition: ds(`0\0\` + z), dicomSlope: ds(slope), dicomIntercept: ds("0")}
	}
	for _, c := range []struct {
		slopes [3]string
		want   [3]float64
	}{
		{[3]string{"1", "1.5", "2"}, [3]float64{1, 3, 6}},
		{[3]string{"0.1", "0.2", "1"}, [3]float64{0.1, 0.4, 3}},
		{[3]string{"16777216", "8388609", "1"}, [3]float64{16777216, 16777218, 3}},
	} {
		dir := writeSeries(t, axial, scaled("0", c.slopes[0]), scaled("1", c.slopes[1]), scaled("2", c.slopes[2]))
		for _, stream := range []string{"", "/stream=true", "/levels=every/stream=true"} {
			s, err := Named.Open("stack" + stream + "/path=" + dir)
			if err != nil {
				t.Fatal(err)
			}
			var want []float64
			for _, v := range c.want {
				want = append(want, v, v, v, v, v, v)
			}
			checkValues(t, fmt.Sprint(c.slopes), s, "3x2x3", want)
		}
	}
}

// A fault in a slice that is read during counting is reported as a fault of the input.
func TestStackReadError(t *testing.T) {
	dir := t.TempDir()
	for k := range 3 {
		text := writeNpy(npyHeaderText("|u1", "False", "(2, 3)"), []byte{1, 2, 3, 4, 5, 6})
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.npy", k)), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Named.Open("stack/stream=true/path=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "2.npy"), []byte("none"), 0o666); err != nil {
		t.Fatal(err)
	}
	var read *format.ReadError
	if err := s.ReadSlab(grid.NewBuffer(18), 0, 3); !errors.As(err, &read) || read.Path != filepath.Join(dir, "2.npy") {
		t.Error(err)
	}
	_, err = Named.Open("stack/path=" + dir)
	checkFileError(t, "damaged", err, "2.npy: ")
}
