// Package dicom reads DICOM files: single images, and volumes of several frames. It knows no other format.
package dicom

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
)

// Name is the name of the format.
const Name = "DICOM"

// dicomPreamble is the number of bytes before the magic DICM of a file.
const dicomPreamble = 128

// Formats returns the format of this package.
func Formats() []format.Format {
	return []format.Format{
		{Name: Name, Extensions: []string{".dcm", ".dicom", ".ima"}, Matches: matchesDicom, Open: openDicom},
	}
}

func matchesDicom(head []byte) bool {
	return len(head) >= dicomPreamble+4 && string(head[dicomPreamble:][:4]) == "DICM"
}

// The elements that can change the image, group and element in one number. doc/formats/dicom.md
// describes the effect of each.
const (
	dicomSyntax        = 0x00020010
	dicomMediaClass    = 0x00020002
	dicomImageType     = 0x00080008
	dicomClass         = 0x00080016
	dicomContentTime   = 0x00080033
	dicomEchoTime      = 0x00180081
	dicomEcho          = 0x00180086
	dicomTriggerTime   = 0x00181060
	dicomFrameTime     = 0x00181063
	dicomFrameTimes    = 0x00181065
	dicomSeries        = 0x0020000e
	dicomAcquisition   = 0x00200012
	dicomInstance      = 0x00200013
	dicomPosition      = 0x00200032
	dicomOrientation   = 0x00200037
	dicomTemporal      = 0x00200100
	dicomStack         = 0x00209056
	dicomStackPosition = 0x00209057
	dicomTemporalIndex = 0x00209128
	dicomIndexValues   = 0x00209157
	dicomIndexPointer  = 0x00209165
	dicomConcatenated  = 0x00209163
	dicomIndices       = 0x00209222
	dicomOrganization  = 0x00209311
	dicomSamples       = 0x00280002
	dicomPhotometric   = 0x00280004
	dicomFrames        = 0x00280008
	dicomFramePointer  = 0x00280009
	dicomRows          = 0x00280010
	dicomColumns       = 0x00280011
	dicomAllocated     = 0x00280100
	dicomStored        = 0x00280101
	dicomHighBit       = 0x00280102
	dicomSigned        = 0x00280103
	dicomIntercept     = 0x00281052
	dicomSlope         = 0x00281053
	dicomTable         = 0x00283000
	dicomSliceVector   = 0x00540080
	dicomGridOffsets   = 0x3004000c
	dicomDoseScaling   = 0x3004000e
	dicomShared        = 0x52009229
	dicomPerFrame      = 0x52009230
	dicomFloatPixels   = 0x7fe00008
	dicomDoublePixels  = 0x7fe00009
	dicomPixels        = 0x7fe00010
	dicomConvertWords  = "convert it first: dcm2niix -z y FOLDER"
	dicomImplicitUID   = "1.2.840.10008.1.2"
	dicomExplicitUID   = "1.2.840.10008.1.2.1"
	dicomDeflatedUID   = "1.2.840.10008.1.2.1.99"
	dicomBigUID        = "1.2.840.10008.1.2.2"
)

// openDicom reads a DICOM file (PS3.5, PS3.10): grey, one frame or several, uncompressed or
// compressed by RLE or deflate. Values are stored·RescaleSlope + RescaleIntercept, with two numbers
// per slice. Bits above BitsStored are ignored.
func openDicom(in format.Input) (*format.Body, error) {
	d, err := parseDicom(in)
	if err != nil {
		return nil, err
	}
	b := &format.Body{In: d.in, Big: d.order == binary.BigEndian}
	if err := cmp.Or(d.checkGrey(), d.describePixels(b)); err != nil {
		return nil, err
	}
	n := int64(1)
	if text := d.values.text(dicomFrames); text != "" {
		if n, err = strconv.ParseInt(text, 10, 32); err != nil {
			return nil, fmt.Errorf("DICOM number of frames is %.40q; want a whole number", text)
		}
	}
	if b.Shape, err = format.ShapeOf([]int64{n, d.number(dicomRows, 0), d.number(dicomColumns, 0)}); err != nil {
		return nil, err
	}
	if d.fragments != nil {
		if err := d.checkFragments(n); err != nil {
			return nil, err
		}
	} else if err := d.checkLength(b); err != nil {
		return nil, err
	}
	return b, d.arrange(b)
}

// dicomShorts are the elements that consist of one 16-bit number.
var dicomShorts = []uint32{
	dicomSamples, dicomRows, dicomColumns, dicomAllocated, dicomStored, dicomHighBit, dicomSigned, dicomConcatenated,
}

// checkGrey rejects pixels that are not the plain grey values of an image or volume.
func (d *dicomFile) checkGrey() error {
	for _, tag := range dicomShorts {
		if n := len(d.values[tag]); n != 0 && n != 2 {
			return fmt.Errorf("DICOM element %08x has %d bytes; want a number of 16 bits", tag, n)
		}
	}
	if _, ok := d.values[dicomTable]; ok {
		return fmt.Errorf("a DICOM file with a table of values (Modality LUT), which is not read; %s", dicomConvertWords)
	}
	if n := d.number(dicomConcatenated, 1); n > 1 {
		return fmt.Errorf("one of %d files that a volume is split into (a concatenation), which are not read; %s",
			n, dicomConvertWords)
	}
	if slices.Contains(strings.Split(d.values.text(dicomImageType), `\`), "MOSAIC") {
		return fmt.Errorf("a Siemens mosaic, whose slices are tiles of one image; %s", dicomConvertWords)
	}
	if strings.HasPrefix(d.values.text(dicomOrganization), "TILED") {
		return errors.New("its frames are tiles of one image (whole slide microscopy), which are not read; " +
			"convert it first: bfconvert FILE image.ome.tif")
	}
	n := d.number(dicomSamples, 1)
	switch p := d.values.text(dicomPhotometric); {
	case p == "MONOCHROME1":
		return errors.New("photometric interpretation MONOCHROME1: the lowest value is white, which tools read in two " +
			"ways; " +
			"save it as MONOCHROME2, with the values as they are or inverted")
	case p != "" && p != "MONOCHROME2":
		return fmt.Errorf("photometric interpretation %.40q is not grey; save it as greyscale, MONOCHROME2", p)
	case n != 1:
		return fmt.Errorf("%d samples in each pixel; save it as greyscale", n)
	}
	return nil
}

// describePixels sets the stored type of the pixels.
func (d *dicomFile) describePixels(b *format.Body) error {
	bits := d.number(dicomAllocated, 0)
	if d.pixels.tag != dicomPixels {
		b.Stored = map[uint32]element.Type{dicomFloatPixels: element.Float32,
			dicomDoublePixels: element.Float64}[d.pixels.tag]
		if bits != 8*b.Stored.Size() {
			return fmt.Errorf("%v pixels of %d bits; correct the header", b.Stored, bits)
		}
		return nil
	}
	used := d.number(dicomStored, 0)
	b.Stored = map[[2]int64]element.Type{
		{8, 0}: element.Uint8, {8, 1}: element.Int8, {16, 0}: element.Uint16, {16, 1}: element.Int16,
		{32, 0}: element.Uint32, {32, 1}: element.Int32, {64, 0}: element.Uint64, {64, 1}: element.Int64,
	}[[2]int64{bits, d.number(dicomSigned, -1)}]
	if high := d.number(dicomHighBit, used-1); b.Stored == 0 || used < 1 || used > bits || high != used-1 {
		sign := map[int64]string{0: "unsigned", 1: "signed"}[d.number(dicomSigned, -1)]
		return fmt.Errorf("pixels of %d bits, %s, of which %d are used up to bit %d; "+
			"want 8, 16, 32 or 64 bits, signed or unsigned, and the lowest of them; %s",
			bits, cmp.Or(sign, "neither signed nor unsigned"), used, high, dicomConvertWords)
	}
	if used < bits {
		b.Bits = int(used)
	}
	if b.Big && bits == 8 && d.pixels.kind == "OW" {
		return fmt.Errorf("pixels of 8 bits in big-endian words, which are not read; %s", dicomConvertWords)
	}
	return nil
}

// checkLength compares the length of uncompressed pixels with the header. Zeros may follow the
// pixels (PS3.5, 8.1.1). A whole frame of zeros is rejected, because the header may have omitted
// it.
func (d *dicomFile) checkLength(b *format.Body) error {
	extra := d.pixels.length - b.Bytes()
	wrong := fmt.Errorf("%d bytes of pixels, where the header states %d (%v, %d each); correct the header",
		d.pixels.length, b.Bytes(), b.Shape, b.Stored.Size())
	switch {
	case extra == 0 || extra == 1 && b.Bytes()%2 == 1:
		return nil
	case extra < 0 || extra >= b.Shape.H*b.Shape.W*b.Stored.Size():
		return wrong
	}
	zero, err := d.zeros(d.pixels.data+b.Bytes(), extra)
	if err == nil && !zero {
		err = wrong
	}
	return err
}
