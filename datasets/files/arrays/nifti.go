package arrays

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
)

// niftiHeaderSize is the length of a NIfTI-1 header, which is also the value of its first field.
// nifti2HeaderSize is that of a NIfTI-2 header.
const niftiHeaderSize, nifti2HeaderSize = 348, 540

// matchesNifti recognises NIfTI-1 and NIfTI-2.
func matchesNifti(head []byte) bool {
	if len(head) < niftiHeaderSize {
		return false
	}
	magic := string(head[344:347])
	return magic == "n+1" || magic == "ni1" || string(head[4:7]) == "n+2" || string(head[4:7]) == "ni2"
}

// openNifti reads the header of a NIfTI-1 or NIfTI-2 image (nifti1.h, nifti2.h). It is one file, or
// either file of a pair of .hdr and .img, each plain or gzipped. The first axis is the fastest.
// Values are raw·scl_slope + scl_inter as float32. They keep their stored type if the slope is 0 or
// not finite, or if the two are 1 and 0.
func openNifti(in format.Input) (*format.Body, error) {
	header, voxels, err := niftiPair(in)
	if err != nil {
		return nil, err
	}
	head, rest, err := niftiHead(header)
	if err != nil {
		return nil, err
	}
	b, err := parseNifti(head, in)
	if err != nil {
		return nil, err
	}
	if !b.pair {
		if voxels.ReaderAt != nil {
			return nil, errors.New("the .hdr file beside it is a NIfTI image of one file; rename that to .nii")
		}
		if rest != nil {
			b.Inflate, b.Packed, b.Ratio = rest, in.Size, storage.DeflateRatio
			b.Offset -= int64(len(head))
		}
		return &b.Body, nil
	}
	if voxels.ReaderAt == nil {
		stem, ok := in.Stem(".hdr", ".hdr.gz", ".nii", ".nii.gz")
		if !ok {
			return nil, errors.New("half of a NIfTI pair of .hdr and .img; name the file with its .img beside it")
		}
		if voxels, err = in.BesideFirst(stem, ".img", ".img.gz", ".IMG"); err != nil {
			return nil, err
		}
	}
	b.In = voxels
	start, err := voxels.Head(3)
	if err != nil {
		return nil, err
	}
	if string(start) != storage.GzipMagic+"\x08" { // its only method: voxels rarely start like this
		return &b.Body, nil
	}
	skip := b.Offset
	b.Offset = 0
	return &b.Body, b.Unpack(storage.Gzip, skip)
}

// niftiPair returns the file of the header, and the given file if it has the voxels of a pair.
func niftiPair(in format.Input) (header, voxels format.Input, err error) {
	stem, ok := in.Stem(".img", ".img.gz")
	if !ok {
		return in, voxels, nil
	}
	header, err = in.BesideFirst(stem, ".hdr", ".hdr.gz", ".HDR")
	return header, in, err
}

// niftiHead reads a possible header, and returns the rest of a gzipped file.
func niftiHead(in format.Input) (head []byte, rest io.Reader, err error) {
	start, err := in.Head(2)
	if err != nil {
		return nil, nil, err
	}
	if string(start) != storage.GzipMagic {
		head, err = in.Head(nifti2HeaderSize)
		return head, nil, err
	}
	r, err := storage.OpenGzip(io.NewSectionReader(in, 0, in.Size), in.Size)
	if err != nil {
		return nil, nil, fmt.Errorf("decompressing: %w; copy the file again", err)
	}
	head = make([]byte, niftiHeaderSize, nifti2HeaderSize)
	n, err := io.ReadFull(r, head)
	if _, size := niftiOrder(head); err == nil && size == nifti2HeaderSize {
		head = head[:nifti2HeaderSize]
		var more int
		more, err = io.ReadFull(r, head[n:])
		n += more
	}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil,
			fmt.Errorf("truncated: the compressed data end after %d bytes, inside a NIfTI header; copy the file again", n)
	case err != nil:
		return nil, nil, fmt.Errorf("decompressing the header: %w; copy the file again", storage.Cause(err))
	}
	return head, r, nil
}

// niftiOrder returns the byte order in which the first number is a valid header size, and that
// size.
func niftiOrder(h []byte) (binary.ByteOrder, uint32) {
	if size := binary.LittleEndian.Uint32(h); size <= 1<<16 {
		return binary.LittleEndian, size
	}
	return binary.BigEndian, binary.BigEndian.Uint32(h)
}

// niftiFields are the fields whose offsets differ between the two versions.
type niftiFields struct {
	pair                 bool              // the voxels are in a separate file
	size                 int64             // of the header
	dim                  func(i int) int64 // number of axes, then their lengths
	code                 uint16
	offset, slope, inter float64
}

func niftiFieldsOf(h []byte) (f niftiFields, order binary.ByteOrder, err error) {
	if len(h) < niftiHeaderSize {
		return f, nil, fmt.Errorf("truncated: %d bytes, fewer than a NIfTI header; copy the file again", len(h))
	}
	order, size := niftiOrder(h)
	single := func(at int) float64 { return float64(math.Float32frombits(order.Uint32(h[at:]))) }
	double := func(at int) float64 { return math.Float64frombits(order.Uint64(h[at:])) }
	switch size {
	case nifti2HeaderSize:
		if len(h) < nifti2HeaderSize {
			return f, nil, fmt.Errorf("truncated: %d bytes, fewer than a NIfTI-2 header; copy the file again", len(h))
		}
		magic := string(h[4:12])
		if magic != "n+2\x00\r\n\x1a\n" && magic != "ni2\x00\r\n\x1a\n" {
			return f, nil,
				fmt.Errorf("not a NIfTI-2 file: its magic is %q where \"n+2\\x00\\r\\n\\x1a\\n\" should be; save it again", magic)
		}
		return niftiFields{
			magic[1] == 'i', nifti2HeaderSize, func(i int) int64 { return int64(order.Uint64(h[16+8*i:])) },
			order.Uint16(h[12:]), float64(int64(order.Uint64(h[168:]))), double(176), double(184),
		}, order, nil
	case niftiHeaderSize:
	default:
		return f, nil, errors.New("not a NIfTI file: its first number is neither 348 nor 540; check the file")
	}
	magic := string(h[344:348])
	if magic == "\x00\x00\x00\x00" {
		return f, nil, errAnalyze
	}
	if magic != "n+1\x00" && magic != "ni1\x00" {
		return f, nil, fmt.Errorf("not a NIfTI-1 file: its magic is %q where \"n+1\\x00\" should be; save it as NIfTI-1",
			magic)
	}
	return niftiFields{
		magic[1] == 'i', niftiHeaderSize, func(i int) int64 { return int64(int16(order.Uint16(h[40+2*i:]))) },
		order.Uint16(h[70:]), single(108), single(112), single(116),
	}, order, nil
}

// A niftiBody is a body whose voxels may be in a separate file.
type niftiBody struct {
	format.Body
	pair bool
}

func parseNifti(h []byte, in format.Input) (*niftiBody, error) {
	f, order, err := niftiFieldsOf(h)
	if err != nil {
		return nil, err
	}
	b := &niftiBody{format.Body{Big: order == binary.BigEndian}, f.pair}
	f.size += 4 // the flags of extensions follow the header
	if b.pair {
		f.size = 0
	}
	if n := f.dim(0); n < 2 || n > 7 {
		return nil, fmt.Errorf("%d axes; want 2 or 3", n)
	}
	var axes []int64
	for i := range int(f.dim(0)) {
		axes = append(axes, f.dim(i+1))
	}
	slices.Reverse(axes)
	if err = b.Frame(axes, in, false); err != nil {
		return nil, err
	}
	if b.Stored = niftiTypes[f.code]; b.Stored == 0 {
		return nil, fmt.Errorf("data type %d (%s) is not an integer of 8 to 64 bits, float32 or float64; save it as one of them",
			f.code, cmp.Or(niftiOthers[f.code], "unknown"))
	}
	if !(f.offset >= float64(f.size) && f.offset < 1<<40) || f.offset != math.Trunc(f.offset) {
		return nil, fmt.Errorf("the header places the voxels at byte %v; want a whole number of at least %d",
			f.offset, f.size)
	}
	b.Offset = int64(f.offset)
	slope, inter := f.slope, f.inter
	if slope == 0 || math.IsNaN(slope) || math.IsInf(slope, 0) || (slope == 1 && inter == 0) {
		return b, nil
	}
	if math.IsNaN(inter) || math.IsInf(inter, 0) {
		return nil, fmt.Errorf("scl_slope is %v but scl_inter is %v; correct the header", slope, inter)
	}
	b.Scaled, b.Slope, b.Inter = true, slope, inter
	return b, nil
}

// niftiTypes are the supported data type codes of nifti1.h, and niftiOthers the names of the other
// codes.
var (
	niftiTypes = map[uint16]element.Type{
		2: element.Uint8, 256: element.Int8, 4: element.Int16, 512: element.Uint16, 8: element.Int32, 768: element.Uint32,
		1024: element.Int64, 1280: element.Uint64, 16: element.Float32, 64: element.Float64,
	}
	niftiOthers = map[uint16]string{
		1: "binary", 32: "complex64", 128: "rgb24", 1536: "float128", 1792: "complex128", 2048: "complex256", 2304: "rgba32",
	}
)

// errAnalyze is the error of a header of the format that NIfTI extends.
var errAnalyze = errors.New("an ANALYZE 7.5 header, which programs read in several ways; " +
	`convert it first: nibabel.save(nibabel.load(FILE), "image.nii")`)
