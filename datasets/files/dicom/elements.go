package dicom

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/decimal"
)

const (
	dicomItem        = 0xfffee000
	dicomItemEnd     = 0xfffee00d
	dicomSequenceEnd = 0xfffee0dd
	dicomUnknown     = math.MaxUint32 // a length that is unknown; an end marker follows
	dicomMostText    = 1 << 20        // largest value of an element that can change the image, in bytes
	dicomMostNested  = 32
	dicomWindow      = 4 << 10 // bytes per read
)

// The sequences whose items are kept separately.
var dicomLists = []uint32{dicomIndices, dicomShared, dicomPerFrame}

// dicomMacros maps the sequences in the functional groups of frames to their elements that are kept
// for the frame.
var dicomMacros = map[uint32][]uint32{
	0x00209111: {dicomStack, dicomStackPosition, dicomTemporalIndex, dicomIndexValues}, // Frame Content
	0x00209113: {dicomPosition},                                                        // Plane Position
	0x00209116: {dicomOrientation},                                                     // Plane Orientation
	0x00289145: {dicomIntercept, dicomSlope},                                           // Pixel Value Transformation
}

// dicomHeader are the elements that are kept for the file.
var dicomHeader = []uint32{
	dicomSyntax, dicomMediaClass, dicomImageType, dicomClass, dicomContentTime,
	dicomEchoTime, dicomEcho, dicomTriggerTime, dicomFrameTime, dicomFrameTimes,
	dicomSeries, dicomAcquisition, dicomInstance, dicomPosition, dicomOrientation, dicomTemporal,
	dicomConcatenated, dicomOrganization, dicomSamples, dicomPhotometric, dicomFrames, dicomFramePointer,
	dicomRows, dicomColumns, dicomAllocated, dicomStored, dicomHighBit, dicomSigned,
	dicomIntercept, dicomSlope, dicomTable, dicomGridOffsets, dicomDoseScaling, dicomPerFrame,
}

// A dicomPart is the header of an element, and the offset of its data.
type dicomPart struct {
	tag          uint32
	kind         string // the value representation; "" if the file omits it
	length, data int64
}

// dicomValues are the values of elements by tag.
type dicomValues map[uint32][]byte

// A dicomFile is a parsed DICOM file.
type dicomFile struct {
	in        format.Input
	order     binary.ByteOrder
	implicit  bool // elements have no value representation
	values    dicomValues
	lists     map[uint32][]dicomValues // by the sequences of dicomLists
	pixels    dicomPart
	fragments []dicomFragment // the fragments of compressed pixels; nil for uncompressed ones

	window   []byte // of the file, from byte windowAt on
	windowAt int64
}

// parseDicom reads all elements of a file, and rejects one without pixels.
func parseDicom(in format.Input) (*dicomFile, error) {
	head, err := in.Head(dicomPreamble + 4)
	if err != nil {
		return nil, err
	}
	if !matchesDicom(head) {
		return nil, errors.New("not a DICOM file: DICM is not at byte 128; check the file")
	}
	d := &dicomFile{in: in, order: binary.LittleEndian, values: dicomValues{}, lists: map[uint32][]dicomValues{}}
	at, err := d.readMeta(dicomPreamble + 4)
	if err != nil {
		return nil, err
	}
	if _, err := d.readElements(at, d.in.Size, 0, d.values, 0); err != nil {
		return nil, err
	}
	if d.pixels.tag != 0 {
		return d, nil
	}
	for _, tag := range []uint32{dicomClass, dicomMediaClass} {
		if what := dicomClassName(d.values.text(tag)); what != "" {
			return nil, fmt.Errorf("%s, which has no pixels; name a DICOM file of an image", what)
		}
	}
	return nil, errors.New("truncated: the file has no pixels; copy it again, or export it with them")
}

// readMeta reads the file meta information. It returns the offset of the elements after it, which
// are in the transfer syntax that it names.
func (d *dicomFile) readMeta(at int64) (next int64, err error) {
	for at < d.in.Size {
		var group [2]byte
		if err := d.readAt(group[:min(2, d.in.Size-at)], at); err != nil {
			return 0, err
		}
		if binary.LittleEndian.Uint16(group[:]) != 2 {
			break
		}
		e, err := d.element(at)
		if err != nil {
			return 0, err
		}
		if at, err = d.keep(e, 0, d.values, d.in.Size); err != nil {
			return 0, err
		}
	}
	switch uid := d.values.text(dicomSyntax); uid {
	case dicomExplicitUID, dicomRLEUID:
	case dicomImplicitUID:
		d.implicit = true
	case dicomBigUID:
		d.order = binary.BigEndian
	case dicomDeflatedUID:
		at, err = 0, d.inflate(at)
	case "":
		return 0, errors.New("the file has no transfer syntax (0002,0010); save it again by a DICOM tool")
	default:
		return 0, fmt.Errorf("DICOM transfer syntax %.64q, which is compressed otherwise than by RLE or deflate, is not "+
			"read; %s",
			uid, dicomConvertWords)
	}
	return at, err
}

// inflate replaces the file by the decompressed elements.
func (d *dicomFile) inflate(at int64) error {
	packed := d.in.Size - at
	data, err := format.ReadAll(flate.NewReader(bufio.NewReader(io.NewSectionReader(d.in, at, packed))), packed,
		d.in.Memory)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("truncated: the deflated elements end too early; copy the file again")
	}
	if err != nil && !errors.As(err, new(format.NoRoom)) {
		err = fmt.Errorf("decompressing: %w; copy the file again", storage.Cause(err))
	}
	if err != nil {
		return err
	}
	d.window = nil
	d.in.ReaderAt, d.in.Size, d.in.Held = bytes.NewReader(data), int64(len(data)), data
	return nil
}

// readElements reads the elements from at up to end, or up to the end of an item of unknown length.
// It puts elements that can change the image into values, unless that is nil. parent is the enclosing
// sequence, 0 for the file itself. It returns the offset after them.
func (d *dicomFile) readElements(at, end int64, parent uint32, values dicomValues, depth int) (int64, error) {
	if depth > dicomMostNested {
		return 0, errors.New("the elements are nested too deeply; the file is damaged")
	}
	for at < end {
		e, err := d.element(at)
		switch {
		case err != nil && depth == 0 && d.pixels.tag != 0:
			if zero, zerr := d.zeros(at, end-at); zerr == nil && zero { // the file is padded
				return end, nil
			}
			return 0, err
		case err != nil:
			return 0, err
		case depth > 0 && (e.tag == dicomItemEnd || e.tag == dicomSequenceEnd):
			return e.data, nil
		case depth == 0 && (e.tag == dicomPixels || e.tag == dicomFloatPixels || e.tag == dicomDoublePixels):
			at, err = d.keepPixels(e)
		case e.tag == dicomItem:
			at, err = d.descend(e, end, parent, d.itemValues(parent, values, depth), depth)
		case e.length == dicomUnknown || e.kind == "SQ" || dicomNests(e.tag):
			var inner dicomValues
			if dicomMacros[e.tag] != nil && (parent == dicomShared || parent == dicomPerFrame) {
				inner = values
			}
			if depth == 0 && slices.Contains(dicomHeader, e.tag) {
				values[e.tag] = nil
			}
			at, err = d.descend(e, end, e.tag, inner, depth)
		default:
			at, err = d.keep(e, parent, values, end)
		}
		if err != nil {
			return 0, err
		}
	}
	return at, nil
}

// dicomNests reports whether an element without a value representation is a sequence of interest.
func dicomNests(tag uint32) bool {
	return dicomMacros[tag] != nil || slices.Contains(dicomLists, tag) || tag == dicomTable
}

// itemValues returns the map for the elements of an item.
func (d *dicomFile) itemValues(parent uint32, values dicomValues, depth int) dicomValues {
	switch {
	case depth == 0: // it is outside of sequences
		return nil
	case depth == 1 && slices.Contains(dicomLists, parent):
		item := dicomValues{}
		d.lists[parent] = append(d.lists[parent], item)
		return item
	}
	return values
}

// descend reads the elements of a sequence or an item.
func (d *dicomFile) descend(e dicomPart, end int64, parent uint32, values dicomValues, depth int) (int64, error) {
	known := e.length != dicomUnknown
	if known {
		if err := d.checkInside(e, end); err != nil {
			return 0, err
		}
		end = e.data + e.length
		if values == nil && !slices.Contains(dicomLists, e.tag) { // nothing in it is kept
			return end, nil
		}
	}
	was := d.implicit // elements inside an element of unknown type are implicit
	d.implicit = was || e.kind == "UN"
	at, err := d.readElements(e.data, end, parent, values, depth+1)
	d.implicit = was
	if known {
		at = end
	}
	return at, err
}

func (d *dicomFile) checkInside(e dicomPart, end int64) error {
	switch {
	case e.length <= end-e.data:
		return nil
	case end < d.in.Size:
		return fmt.Errorf("element %08x at byte %d is longer than what it is in; the file is damaged", e.tag, e.data)
	}
	return fmt.Errorf("truncated: element %08x has %d bytes at byte %d of a file of %d; copy the file again",
		e.tag, e.length, e.data, d.in.Size)
}

// keep puts the value of an element that can change the image into values.
func (d *dicomFile) keep(e dicomPart, parent uint32, values dicomValues, end int64) (next int64, err error) {
	if err := d.checkInside(e, end); err != nil {
		return 0, err
	}
	next = e.data + e.length
	switch {
	case values == nil:
		return next, nil
	case parent == 0:
		if !slices.Contains(dicomHeader, e.tag) && e.tag>>16 != dicomSliceVector>>16 {
			return next, nil
		}
	case parent == dicomIndices:
		if e.tag != dicomIndexPointer {
			return next, nil
		}
	case !slices.Contains(dicomMacros[parent], e.tag):
		return next, nil
	}
	if e.length > dicomMostText {
		return 0, fmt.Errorf("DICOM element %08x has %d bytes; the file is damaged", e.tag, e.length)
	}
	value := make([]byte, e.length)
	if err := d.readAt(value, e.data); err != nil {
		return 0, err
	}
	if other, twice := values[e.tag]; twice && string(other) != string(value) {
		return 0, fmt.Errorf("two values of element %08x; the file is damaged", e.tag)
	}
	values[e.tag] = value
	return next, nil
}

// keepPixels records the place of the pixels.
func (d *dicomFile) keepPixels(e dicomPart) (next int64, err error) {
	if e.length == dicomUnknown {
		if d.values.text(dicomSyntax) != dicomRLEUID || d.pixels.tag != 0 || e.tag != dicomPixels {
			return 0, fmt.Errorf("its pixels are compressed, which are not read; %s", dicomConvertWords)
		}
		d.pixels, d.fragments = e, []dicomFragment{}
		return d.encapsulated(e.data)
	}
	if d.pixels.tag != 0 {
		return 0, errors.New("two elements of pixels; the file is damaged")
	}
	d.pixels = e
	return e.data + e.length, d.checkInside(e, d.in.Size)
}

// readAt fills dst with the bytes of the file at an offset, partly from the buffered ones.
func (d *dicomFile) readAt(dst []byte, at int64) error {
	if from := at - d.windowAt; from < 0 || from+int64(len(dst)) > int64(len(d.window)) {
		if len(dst) > dicomWindow {
			return d.readFile(dst, at)
		}
		d.window, d.windowAt = slices.Grow(d.window[:0], dicomWindow)[:min(dicomWindow, d.in.Size-at)], at
		if err := d.readFile(d.window, at); err != nil {
			return err
		}
	}
	copy(dst, d.window[at-d.windowAt:])
	return nil
}

func (d *dicomFile) readFile(dst []byte, at int64) error {
	if _, err := d.in.ReadAt(dst, at); err != nil && err != io.EOF {
		return fmt.Errorf("reading the header: %w", storage.Cause(err))
	}
	return nil
}

// zeros reports whether all bytes of a part of the file are 0.
func (d *dicomFile) zeros(at, n int64) (bool, error) {
	buf := make([]byte, min(n, dicomWindow))
	for n > 0 {
		buf = buf[:min(n, int64(len(buf)))]
		if err := d.readFile(buf, at); err != nil {
			return false, err
		}
		if slices.ContainsFunc(buf, func(v byte) bool { return v != 0 }) {
			return false, nil
		}
		at, n = at+int64(len(buf)), n-int64(len(buf))
	}
	return true, nil
}

// The value representations with a 32-bit length.
var dicomLongKinds = []string{"OB", "OW", "OF", "OD", "OL", "OV", "SQ", "UC", "UR", "UT", "UN", "SV", "UV"}

// element reads the header of an element.
func (d *dicomFile) element(at int64) (e dicomPart, err error) {
	short := fmt.Errorf("truncated: the file ends inside an element at byte %d; copy it again", at)
	var h [12]byte
	n := min(12, d.in.Size-at)
	if n < 8 {
		return e, short
	}
	if err := d.readAt(h[:n], at); err != nil {
		return e, err
	}
	e.tag = uint32(d.order.Uint16(h[:]))<<16 | uint32(d.order.Uint16(h[2:]))
	// The file meta information is always explicit; item delimiters never are.
	if e.tag>>16 == 0xfffe || e.tag>>16 != 2 && d.implicit {
		e.length, e.data = int64(d.order.Uint32(h[4:])), at+8
		return e, nil
	}
	e.kind = string(h[4:6])
	switch {
	case h[4] < 'A' || h[4] > 'Z' || h[5] < 'A' || h[5] > 'Z':
		return e, fmt.Errorf("element %08x at byte %d has no type, where the transfer syntax has explicit ones; the file "+
			"is damaged",
			e.tag, at)
	case !slices.Contains(dicomLongKinds, e.kind):
		e.length, e.data = int64(d.order.Uint16(h[6:])), at+8
	case n < 12:
		return e, short
	default:
		e.length, e.data = int64(d.order.Uint32(h[8:])), at+12
	}
	return e, nil
}

// text returns the value of an element as text.
func (v dicomValues) text(tag uint32) string { return strings.Trim(string(v[tag]), " \x00") }

// numbers returns the n numbers in the text of an element, or all if n is 0. It returns nil for a
// missing or empty element.
func (v dicomValues) numbers(tag uint32, n int) ([]float64, error) {
	text := v.text(tag)
	if text == "" {
		return nil, nil
	}
	var list []float64
	for word := range strings.SplitSeq(text, `\`) {
		number, err := decimal.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
			return nil, fmt.Errorf("DICOM element %08x is %.80q; want finite numbers", tag, text)
		}
		list = append(list, number)
	}
	if n != 0 && len(list) != n {
		return nil, fmt.Errorf("DICOM element %08x is %.80q; want %d numbers", tag, text, n)
	}
	return list, nil
}

// number returns the value of a 16-bit whole number of the file.
func (d *dicomFile) number(tag uint32, missing int64) int64 {
	if list := d.shorts(d.values[tag]); len(list) == 1 {
		return list[0]
	}
	return missing
}

// shorts decodes 16-bit numbers.
func (d *dicomFile) shorts(value []byte) (list []int64) {
	for ; len(value) >= 2; value = value[2:] {
		list = append(list, int64(d.order.Uint16(value)))
	}
	return list
}

// longs decodes 32-bit numbers.
func (d *dicomFile) longs(value []byte) (list []int64) {
	for ; len(value) >= 4; value = value[4:] {
		list = append(list, int64(d.order.Uint32(value)))
	}
	return list
}

// tags decodes the element tags in a value.
func (d *dicomFile) tags(value []byte) (list []uint32) {
	for parts := d.shorts(value); len(parts) >= 2; parts = parts[2:] {
		list = append(list, uint32(parts[0]<<16|parts[1]))
	}
	return list
}

// dicomClassName returns the name of the class of an object that is no image; "" for any other.
func dicomClassName(uid string) string {
	const storage = "1.2.840.10008.5.1.4.1.1."
	for _, c := range []struct{ prefix, name string }{
		{"1.2.840.10008.1.3.10", "a DICOMDIR, the list of the files of a medium"},
		{storage + "481.3", "an RT structure set"},
		{storage + "481.5", "an RT plan"},
		{storage + "481.8", "an RT ion plan"},
		{storage + "481.", "an RT object"},
		{storage + "88.", "a structured report"},
		{storage + "9.", "a waveform"},
		{storage + "11.", "a presentation state"},
		{storage + "104.", "an encapsulated document"},
		{storage + "4.2", "an MR spectrum"},
		{storage + "66.1", "a spatial registration"},
		{storage + "66.2", "spatial fiducials"},
		{storage + "66.3", "a deformable registration"},
		{storage + "66.5", "a surface segmentation"},
		{storage + "66.6", "tractography"},
		{storage + "66", "raw data"},
		{storage + "67", "a real world value mapping"},
		{storage + "68.", "a surface scan"},
		{storage + "78.", "an ophthalmic measurement"},
		{storage + "79.", "an ophthalmic measurement"},
		{storage + "80.", "an ophthalmic measurement"},
		{storage + "131", "a basic structured display"},
		{"1.2.840.10008.5.1.4.38.", "a hanging protocol"},
		{"1.2.840.10008.5.1.4.39.", "a colour palette"},
	} {
		if uid == c.prefix || strings.HasSuffix(c.prefix, ".") && strings.HasPrefix(uid, c.prefix) {
			return c.name
		}
	}
	return ""
}
