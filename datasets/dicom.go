package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"eccbench/internal/grid"
)

// dicomPreamble is what comes before the magic DICM of a file.
const dicomPreamble = 128

func matchesDicom(head []byte) bool {
	return len(head) >= dicomPreamble+4 && string(head[dicomPreamble:][:4]) == "DICM"
}

// The elements that bear on the voxels, group and element in one number.
const (
	dicomSyntax       = 0x00020010
	dicomSeries       = 0x0020000e
	dicomInstance     = 0x00200013
	dicomPosition     = 0x00200032
	dicomOrientation  = 0x00200037
	dicomSamples      = 0x00280002
	dicomFrames       = 0x00280008
	dicomRows         = 0x00280010
	dicomColumns      = 0x00280011
	dicomAllocated    = 0x00280100
	dicomStored       = 0x00280101
	dicomHighBit      = 0x00280102
	dicomSigned       = 0x00280103
	dicomIntercept    = 0x00281052
	dicomSlope        = 0x00281053
	dicomTable        = 0x00283000
	dicomShared       = 0x52009229
	dicomPerFrame     = 0x52009230
	dicomPixels       = 0x7fe00010
	dicomItem         = 0xfffee000
	dicomItemEnd      = 0xfffee00d
	dicomSequenceEnd  = 0xfffee0dd
	dicomUnknown      = math.MaxUint32 // a length that an end follows
	dicomMostText     = 1024           // of an element that bears on the voxels
	dicomMostNested   = 32
	dicomImplicitUID  = "1.2.840.10008.1.2"
	dicomExplicitUID  = "1.2.840.10008.1.2.1"
	dicomConvertWords = "convert it first: dcm2niix -z y FOLDER"
)

// openDicom reads the elements of a DICOM file (PS3.5, PS3.10) whose pixels are as they are,
// or compressed by RLE: grey, little-endian, one frame or several. Values are stored·RescaleSlope +
// RescaleIntercept as float32, unless the two are 1 and 0. Bits above those stored are left
// out. Photometric interpretations of grey are for display and change no value.
func openDicom(in fileInput) (*fileBody, error) {
	head, err := in.head(dicomPreamble + 4)
	if err != nil {
		return nil, err
	}
	if !matchesDicom(head) {
		return nil, errors.New("not a DICOM file: DICM is not at byte 128; check the file")
	}
	d := &dicomFile{in: in, values: map[uint32][]byte{}}
	if _, err := d.walk(dicomPreamble+4, 0); err != nil {
		return nil, err
	}
	if d.pixels == 0 && d.fragments == nil {
		return nil, errors.New("truncated: the file has no pixels; copy it again")
	}
	for tag, what := range map[uint32]string{dicomTable: "a table of values", dicomShared: "values by groups of frames", dicomPerFrame: "values by groups of frames"} {
		if _, ok := d.values[tag]; ok {
			return nil, fmt.Errorf("a DICOM file with %s, which are not read; %s", what, dicomConvertWords)
		}
	}
	if n := d.number(dicomSamples, 1); n != 1 {
		return nil, fmt.Errorf("%d samples in each pixel; save it as greyscale", n)
	}
	bits, used := d.number(dicomAllocated, 0), d.number(dicomStored, 0)
	b := &fileBody{in: in, offset: d.pixels}
	b.stored = map[[2]int64]storedType{
		{8, 0}: storedUint8, {8, 1}: storedInt8, {16, 0}: storedUint16, {16, 1}: storedInt16, {32, 0}: storedUint32, {32, 1}: storedInt32,
	}[[2]int64{bits, d.number(dicomSigned, 0)}]
	if b.stored == 0 || used < 1 || used > bits || d.number(dicomHighBit, used-1) != used-1 {
		return nil, fmt.Errorf("pixels of %d bits, of which %d are used up to bit %d; want 8, 16 or 32 bits, and the lowest of them; %s", bits, used, d.number(dicomHighBit, used-1), dicomConvertWords)
	}
	frames := int64(1)
	if text := d.text(dicomFrames); text != "" {
		if frames, err = strconv.ParseInt(text, 10, 32); err != nil {
			return nil, fmt.Errorf("DICOM number of frames is %.40q; want a whole number", text)
		}
	}
	if b.shape, err = fileShape([]int64{frames, d.number(dicomRows, 0), d.number(dicomColumns, 0)}); err != nil {
		return nil, err
	}
	if b.slope, b.inter, err = d.scale(); err != nil {
		return nil, err
	}
	b.scaled = b.slope != 1 || b.inter != 0
	if b.place, err = d.place(); err != nil {
		return nil, err
	}
	if used < bits {
		b.bits = int(used)
	}
	if d.fragments != nil {
		return b, d.unpackRLE(b)
	}
	// A byte fills an odd number up, and other elements may follow.
	if d.length != b.bytes()+b.bytes()%2 {
		return nil, fmt.Errorf("%d bytes of pixels, where the header says %d (%v, %d each); correct the header", d.length, b.bytes(), b.shape, b.stored.size())
	}
	b.in.size = d.pixels + b.bytes()
	return b, nil
}

// lowBits leaves so many bits of each element, with the sign of the highest of them.
func lowBits(data []byte, s storedType, bits int) {
	unused := 8*int(s.size()) - bits
	signed := s == storedInt8 || s == storedInt16 || s == storedInt32
	switch s.size() {
	case 1:
		for i, v := range data {
			if data[i] = v << unused >> unused; signed {
				data[i] = byte(int8(v<<unused) >> unused)
			}
		}
	case 2:
		values := grid.Values[uint16](data)
		for i, v := range values {
			if values[i] = v << unused >> unused; signed {
				values[i] = uint16(int16(v<<unused) >> unused)
			}
		}
	case 4:
		values := grid.Values[uint32](data)
		for i, v := range values {
			if values[i] = v << unused >> unused; signed {
				values[i] = uint32(int32(v<<unused) >> unused)
			}
		}
	}
}

// A dicomFile is what was read of a file's elements.
type dicomFile struct {
	in             fileInput
	implicit       bool // elements do not say their types
	values         map[uint32][]byte
	pixels, length int64
	fragments      []dicomFragment // that compressed pixels are in; nil where they are not
}

// walk reads the elements from a place on: those of the file, or where depth is not 0 those
// of an item up to its end. It returns the place after them.
func (d *dicomFile) walk(at int64, depth int) (int64, error) {
	if depth > dicomMostNested {
		return 0, errors.New("the elements are nested too deeply; the file is damaged")
	}
	for at < d.in.size {
		tag, kind, length, data, err := d.element(at)
		if err != nil {
			return 0, err
		}
		switch {
		case depth > 0 && (tag == dicomItemEnd || tag == dicomSequenceEnd):
			return data, nil
		case depth == 0 && tag == dicomPixels && length == dicomUnknown:
			if d.text(dicomSyntax) != dicomRLEUID || d.fragments != nil {
				return 0, fmt.Errorf("its pixels are compressed, which are not read; %s", dicomConvertWords)
			}
			d.fragments = []dicomFragment{}
			if at, err = d.encapsulated(data); err != nil {
				return 0, err
			}
			continue
		case length == dicomUnknown:
			// A sequence of items, or an item: elements, up to an end of their own. Those of
			// no type are always implicit.
			was := d.implicit
			d.implicit = was || kind == "UN"
			at, err = d.walk(data, depth+1)
			if d.implicit = was; err != nil {
				return 0, err
			}
			d.found(depth, tag, nil)
			continue
		case length > d.in.size-data:
			return 0, fmt.Errorf("truncated: element %08x has %d bytes at byte %d of a file of %d; copy the file again", tag, length, data, d.in.size)
		case depth == 0 && tag == dicomPixels && (d.pixels != 0 || d.fragments != nil):
			return 0, errors.New("two elements of pixels; the file is damaged")
		case depth == 0 && tag == dicomPixels:
			d.pixels, d.length = data, length
		case dicomBears(tag) && length <= dicomMostText:
			value := make([]byte, length)
			if _, err := d.in.ReadAt(value, data); err != nil && err != io.EOF {
				return 0, fmt.Errorf("reading the header: %w", pathCause(err))
			}
			d.found(depth, tag, value)
		}
		at = data + length
		if tag == dicomSyntax && depth == 0 {
			switch uid := d.text(dicomSyntax); uid {
			case dicomImplicitUID, dicomExplicitUID, dicomRLEUID:
			default:
				return 0, fmt.Errorf("DICOM transfer syntax %.64q, which is big-endian or compressed otherwise than by RLE, is not read; %s", uid, dicomConvertWords)
			}
		}
	}
	return at, nil
}

func dicomBears(tag uint32) bool {
	return slices.Contains([]uint32{
		dicomSyntax, dicomSeries, dicomInstance, dicomPosition, dicomOrientation, dicomSamples, dicomFrames, dicomRows, dicomColumns,
		dicomAllocated, dicomStored, dicomHighBit, dicomSigned, dicomIntercept, dicomSlope, dicomTable, dicomShared, dicomPerFrame,
	}, tag)
}

// found keeps a value of the file itself, the first of each.
func (d *dicomFile) found(depth int, tag uint32, value []byte) {
	if _, twice := d.values[tag]; depth == 0 && dicomBears(tag) && !twice {
		d.values[tag] = value
	}
}

// element reads what precedes an element's data, which start at the place that it returns.
func (d *dicomFile) element(at int64) (tag uint32, kind string, length, data int64, err error) {
	h := make([]byte, 12)
	n, err := d.in.ReadAt(h, at)
	if err != nil && err != io.EOF {
		return 0, "", 0, 0, fmt.Errorf("reading the header: %w", pathCause(err))
	}
	short := func() error {
		return fmt.Errorf("truncated: the file ends inside an element at byte %d; copy it again", at)
	}
	if n < 8 {
		return 0, "", 0, 0, short()
	}
	le := binary.LittleEndian
	group := uint32(le.Uint16(h))
	tag = group<<16 | uint32(le.Uint16(h[2:]))
	// The first group is always explicit; the ends of items never are.
	if group == 0xfffe || group != 2 && (d.implicit || d.text(dicomSyntax) == dicomImplicitUID) {
		return tag, "", int64(le.Uint32(h[4:])), at + 8, nil
	}
	kind = string(h[4:6])
	if !slices.Contains([]string{"OB", "OW", "OF", "OD", "OL", "OV", "SQ", "UC", "UR", "UT", "UN", "SV", "UV"}, kind) {
		return tag, kind, int64(le.Uint16(h[6:])), at + 8, nil
	}
	if n < 12 {
		return 0, "", 0, 0, short()
	}
	return tag, kind, int64(le.Uint32(h[8:])), at + 12, nil
}

// text is the value of an element that is text.
func (d *dicomFile) text(tag uint32) string { return strings.Trim(string(d.values[tag]), " \x00") }

// number is the value of an element that is a whole number of 16 bits.
func (d *dicomFile) number(tag uint32, missing int64) int64 {
	if v := d.values[tag]; len(v) >= 2 {
		return int64(binary.LittleEndian.Uint16(v))
	}
	return missing
}

// numbers are the values of an element that are n numbers in text; none where it is missing.
func (d *dicomFile) numbers(tag uint32, n int) ([]float64, error) {
	text := d.text(tag)
	if text == "" {
		return nil, nil
	}
	var list []float64
	for word := range strings.SplitSeq(text, `\`) {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("DICOM element %08x is %.80q; want finite numbers", tag, text)
		}
		list = append(list, v)
	}
	if len(list) != n {
		return nil, fmt.Errorf("DICOM element %08x is %.80q; want %d numbers", tag, text, n)
	}
	return list, nil
}

func (d *dicomFile) scale() (slope, inter float64, err error) {
	s, err := d.numbers(dicomSlope, 1)
	if err != nil {
		return 0, 0, err
	}
	i, err := d.numbers(dicomIntercept, 1)
	if err != nil {
		return 0, 0, err
	}
	slope, inter = append(s, 1)[0], append(i, 0)[0]
	if slope == 0 {
		return 0, 0, errors.New("DICOM rescale slope is 0, which makes all voxels one; correct the header")
	}
	return slope, inter, nil
}

// A slicePlace says where a slice is in its volume, by itself.
type slicePlace struct {
	volume string // those of one volume say the same
	along  float64
}

// place is along the normal of the slices, or the number of one where nothing says more.
func (d *dicomFile) place() (*slicePlace, error) {
	p := &slicePlace{volume: d.text(dicomSeries)}
	position, err := d.numbers(dicomPosition, 3)
	if err != nil {
		return nil, err
	}
	axes, err := d.numbers(dicomOrientation, 6)
	if err != nil {
		return nil, err
	}
	if position == nil || axes == nil {
		number, err := d.numbers(dicomInstance, 1)
		if err != nil || number == nil {
			return nil, err
		}
		p.along = number[0]
		return p, nil
	}
	p.volume += " " + d.text(dicomOrientation)
	x, y := axes[:3], axes[3:]
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		// The conversions keep the compiler from fusing operations.
		p.along += float64(position[i] * (float64(x[j]*y[k]) - float64(x[k]*y[j])))
	}
	return p, nil
}
