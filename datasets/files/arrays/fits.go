package arrays

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/decimal"
)

const fitsMagic = "SIMPLE  ="

// fitsBlock is the block size of a FITS file, and fitsCard that of a header line.
const fitsBlock, fitsCard = 2880, 80

// openFits reads the header of the first image in a FITS file (FITS standard 4.0), which is the
// primary one or an extension. The first axis is the fastest. Values are stored·BSCALE + BZERO as
// float32. If the scaling only changes the sign of an integer type, they have that type.
func openFits(in format.Input) (*format.Body, error) {
	for at := int64(0); at < in.Size; {
		h, data, err := fitsHeader(in, at)
		if err != nil {
			return nil, err
		}
		bits, axes, err := h.axes()
		if err != nil {
			return nil, err
		}
		image := at == 0 && h["GROUPS"] != "T" || h["XTENSION"] == "IMAGE"
		if h["ZIMAGE"] == "T" {
			return nil, errors.New("its image is compressed in a table, which is not read; decompress it with funpack")
		}
		if image && len(axes) > 0 {
			return h.body(in, bits, axes, data)
		}
		size, err := h.size(bits, axes)
		if err != nil {
			return nil, err
		}
		if size > in.Size-data {
			return nil, fmt.Errorf("truncated: %d bytes follow a header that states %d; copy the file again", in.Size-data, size)
		}
		at = data + (size+fitsBlock-1)/fitsBlock*fitsBlock
	}
	return nil, errors.New("the FITS file has no image, neither first nor in an extension; save one")
}

// A fitsFields is the values of the keywords that affect the voxels.
type fitsFields map[string]string

// fitsHeader reads the header at an offset, and returns the offset of the data after it.
func fitsHeader(in format.Input, at int64) (fitsFields, int64, error) {
	h := fitsFields{}
	block := make([]byte, fitsBlock)
	for first := true; ; first = false {
		if n, err := in.ReadAt(block, at); n < fitsBlock {
			if err == io.EOF {
				return nil, 0, errors.New("truncated: no card END ends a FITS header; copy the file again")
			}
			return nil, 0, fmt.Errorf("reading the header: %w", storage.Cause(err))
		}
		if key := string(block[:8]); first && (at == 0 && key != "SIMPLE  " || at > 0 && key != "XTENSION") {
			return nil, 0, fmt.Errorf("not a FITS header at byte %d: it starts with %q; check the file", at, key)
		}
		at += fitsBlock
		for card := range slices.Chunk(block, fitsCard) {
			key := strings.TrimRight(string(card[:8]), " ")
			if key == "END" {
				return h, at, nil
			}
			if string(card[8:10]) != "= " || !fitsBears(key) {
				continue
			}
			if _, twice := h[key]; twice {
				return nil, 0, fmt.Errorf("FITS keyword %s occurs twice; remove one", key)
			}
			value := strings.TrimSpace(string(card[10:]))
			if text, quoted := strings.CutPrefix(value, "'"); quoted {
				value, _, _ = strings.Cut(text, "'")
			} else {
				value, _, _ = strings.Cut(value, "/")
			}
			h[key] = strings.TrimSpace(value)
		}
	}
}

func fitsBears(key string) bool {
	return strings.HasPrefix(key, "NAXIS") || slices.Contains([]string{
		"XTENSION", "BITPIX", "BSCALE", "BZERO", "BLANK", "PCOUNT", "GCOUNT", "GROUPS", "ZIMAGE",
	}, key)
}

// integer returns the value of a keyword that is a whole number.
func (h fitsFields) integer(key string, missing int64) (int64, error) {
	v, ok := h[key]
	if !ok {
		return missing, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("FITS keyword %s is %.40q; want a whole number", key, v)
	}
	return n, nil
}

// axes returns the lengths of the axes, fastest first, and the bits of an element.
func (h fitsFields) axes() (bits int64, axes []int64, err error) {
	if bits, err = h.integer("BITPIX", 0); err != nil {
		return 0, nil, err
	}
	n, err := h.integer("NAXIS", -1)
	if err != nil {
		return 0, nil, err
	}
	if n < 0 || n > 999 || !slices.Contains([]int64{8, 16, 32, 64, -32, -64}, bits) {
		return 0, nil,
			fmt.Errorf("FITS keywords BITPIX %d and NAXIS %d; want 8, 16, 32, 64, -32 or -64, and a number of axes", bits, n)
	}
	for i := range n {
		length, err := h.integer(fmt.Sprintf("NAXIS%d", i+1), -1)
		if err != nil {
			return 0, nil, err
		}
		if length < 0 {
			return 0, nil, fmt.Errorf("FITS keyword NAXIS%d is missing or negative; correct the header", i+1)
		}
		axes = append(axes, length)
	}
	return bits, axes, nil
}

// size returns the number of bytes of an extension that is no image.
func (h fitsFields) size(bits int64, axes []int64) (int64, error) {
	parameters, err := h.integer("PCOUNT", 0)
	if err != nil {
		return 0, err
	}
	groups, err := h.integer("GCOUNT", 1)
	if err != nil || len(axes) == 0 {
		return 0, err
	}
	if h["GROUPS"] == "T" && axes[0] == 0 {
		axes = axes[1:]
	}
	size := int64(1)
	multiply := func(n int64) bool {
		fits := n >= 0 && (n == 0 || size <= math.MaxInt64/16/n)
		size *= n
		return fits
	}
	for _, n := range axes {
		if !multiply(n) {
			return 0, fmt.Errorf("axes %v have more elements than can be counted; the header is damaged", axes)
		}
	}
	if parameters < 0 || parameters > math.MaxInt64/16-size {
		return 0, fmt.Errorf("FITS keyword PCOUNT is %d; the header is damaged", parameters)
	}
	size += parameters
	if !multiply(groups) || !multiply(max(bits, -bits)/8) {
		return 0, fmt.Errorf("FITS keyword GCOUNT is %d; the header is damaged", groups)
	}
	return size, nil
}

// body describes the image with its data at an offset.
func (h fitsFields) body(in format.Input, bits int64, axes []int64, data int64) (*format.Body, error) {
	parameters, err := h.integer("PCOUNT", 0)
	if err != nil {
		return nil, err
	}
	if groups, err := h.integer("GCOUNT", 1); err != nil || groups != 1 || parameters != 0 {
		return nil, fmt.Errorf("FITS keywords PCOUNT %d and GCOUNT %q of an image; want 0 and 1", parameters, h["GCOUNT"])
	}
	b := &format.Body{In: in, Big: true, Offset: data, Slope: 1}
	b.Stored = map[int64]element.Type{8: element.Uint8, 16: element.Int16, 32: element.Int32, 64: element.Int64,
		-32: element.Float32, -64: element.Float64}[bits]
	for key, v := range map[string]*float64{"BSCALE": &b.Slope, "BZERO": &b.Inter} {
		text, ok := h[key]
		if !ok {
			continue
		}
		var err error
		if *v, err = decimal.ParseFloat(strings.Replace(strings.ToUpper(text), "D", "E", 1), 64); err != nil ||
			math.IsInf(*v, 0) || math.IsNaN(*v) {
			return nil, fmt.Errorf("FITS keyword %s is %.40q; want a finite number", key, text)
		}
	}
	other := map[int64]element.Type{8: element.Int8, 16: element.Uint16, 32: element.Uint32, 64: element.Uint64}
	middle := map[int64]float64{8: -128, 16: 1 << 15, 32: 1 << 31, 64: 1 << 63}
	switch {
	case b.Slope == 0:
		return nil, errors.New("FITS keyword BSCALE is 0, which makes all voxels one; correct the header")
	case b.Slope == 1 && b.Inter == 0:
	case b.Slope == 1 && bits > 0 && b.Inter == middle[bits]:
		b.Stored, b.OtherSign = other[bits], true
	default:
		b.Scaled = true
	}
	slices.Reverse(axes)
	if err := b.Frame(axes, in, false); err != nil {
		return nil, err
	}
	// Other headers and padding may follow.
	if b.Total() <= in.Size-data {
		b.In.Size = data + b.Total()
	}
	if _, said := h["BLANK"]; said && bits > 0 {
		err = fitsBlank(b, h, bits)
	}
	return b, err
}

// fitsBlank sets the stored value of undefined voxels, before scaling. A value outside the voxel's
// type is ignored.
func fitsBlank(b *format.Body, h fitsFields, bits int64) error {
	blank, err := h.integer("BLANK", 0)
	least, most := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if bits == 8 {
		least, most = 0, 255
	}
	if err == nil && least <= blank && blank <= most {
		b.Blank = format.Blank{Name: "FITS keyword BLANK", Bits: []uint64{uint64(blank)}}
	}
	return err
}
