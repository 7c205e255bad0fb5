package arrays

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/decimal"
)

const metaMagic = "ObjectType"

// metaHeaderLimit is far above the size of any header with local data.
const metaHeaderLimit = 1 << 16

// matchesMeta reports whether the first field declares an image.
func matchesMeta(head []byte) bool {
	rest, ok := strings.CutPrefix(string(head), metaMagic)
	rest = strings.TrimLeft(rest, " \t=:")
	return ok && len(rest) >= 5 && strings.EqualFold(rest[:5], "image")
}

// metaKeys are the fields that affect the voxels.
var metaKeys = []string{
	"ObjectType", "NDims", "DimSize", "ElementType", "ElementNumberOfChannels", "BinaryData", "BinaryDataByteOrderMSB",
	"ElementByteOrderMSB", "CompressedData", "CompressedDataSize", "HeaderSize", "ElementDataFile",
	"ElementToIntensityFunctionSlope", "ElementToIntensityFunctionOffset",
}

// openMeta reads the header of a MetaImage file (itk.org/Wiki/ITK/MetaIO/Documentation) with the
// latitude of MetaIO, which is ITK's reader. The voxels are in this file or in other files: binary,
// text or compressed. The first size is the fastest axis. Fields that do not affect the voxels are
// ignored.
func openMeta(in format.Input) (*format.Body, error) {
	fields, list, offset, err := metaFields(in)
	if err != nil {
		return nil, err
	}
	b := &format.Body{In: in, Offset: offset}
	if b.Stored = metaTypes[fields.Values["ElementType"]]; b.Stored == 0 {
		return nil, fmt.Errorf("MetaImage type %.40q is not an integer of 8 to 64 bits, MET_FLOAT or MET_DOUBLE; save it "+
			"as one of them", fields.Values["ElementType"])
	}
	if err := metaPlain(fields); err != nil {
		return nil, err
	}
	if b.Big, err = metaOrder(fields); err != nil {
		return nil, err
	}
	axes, channels, err := metaAxes(fields)
	if err != nil {
		return nil, err
	}
	if err = b.Frame(axes, in, channels); err != nil {
		return nil, err
	}
	return b, metaVoxels(b, fields, list)
}

// metaPlain returns an error if the voxels differ from the stored values.
func metaPlain(f format.Fields) error {
	if kind, ok := f.Values["ObjectType"]; ok && !strings.EqualFold(kind, "image") {
		return fmt.Errorf("MetaImage field ObjectType is %.40q; want Image", kind)
	}
	for name, plain := range map[string]float64{"ElementToIntensityFunctionSlope": 1,
		"ElementToIntensityFunctionOffset": 0} {
		text, ok := f.Values[name]
		if v, err := decimal.ParseFloat(text, 64); ok && (err != nil || v != plain) {
			return fmt.Errorf("MetaImage field %s is %.40q, which programs apply or ignore; apply it, and save the image "+
				"without it", name, text)
		}
	}
	return nil
}

// metaOrder reports whether the voxels are big-endian, by either of two fields.
func metaOrder(f format.Fields) (big bool, err error) {
	binary, said, err := f.Truth("BinaryDataByteOrderMSB")
	if err != nil {
		return false, err
	}
	element, also, err := f.Truth("ElementByteOrderMSB")
	if err == nil && said && also && binary != element {
		err = errors.New("MetaImage fields BinaryDataByteOrderMSB and ElementByteOrderMSB differ; remove the wrong one")
	}
	return binary || element, err
}

// metaAxes returns the lengths of the axes, slowest first. channels reports whether the last axis
// is the values of a voxel.
func metaAxes(f format.Fields) (axes []int64, channels bool, err error) {
	if axes, err = format.WholeNumbers(f.Values["DimSize"]); err != nil {
		return nil, false, fmt.Errorf("MetaImage field DimSize: %w", err)
	}
	if n, err := format.WholeNumbers(f.Values["NDims"]); err != nil || len(n) != 1 || n[0] != int64(len(axes)) ||
		len(axes) < 2 {
		return nil, false, fmt.Errorf("MetaImage field NDims is %.20q but DimSize has %d sizes; want 2 or 3",
			f.Values["NDims"], len(axes))
	}
	slices.Reverse(axes)
	text, channels := f.Values["ElementNumberOfChannels"]
	if channels {
		n, err := format.WholeNumbers(text)
		if err != nil || len(n) != 1 {
			return nil, false, fmt.Errorf("MetaImage field ElementNumberOfChannels is %.20q; want a whole number", text)
		}
		axes = append(axes, n...)
	}
	return axes, channels, nil
}

// metaVoxels finds the voxels of a body of known shape.
func metaVoxels(b *format.Body, fields format.Fields, list []string) error {
	packed, _, err := fields.Truth("CompressedData")
	if err != nil {
		return err
	}
	binary, said, err := fields.Truth("BinaryData")
	if err != nil {
		return err
	}
	text := said && !binary
	skip, err := fields.Skip("HeaderSize", -1)
	if err != nil {
		return err
	}
	if text && (packed || skip != 0) {
		return errors.New("its voxels are text that is compressed, or has a header; save them as binary data")
	}
	if packed && skip < 0 {
		return errors.New("MetaImage field HeaderSize is -1 of compressed data; save the file without it")
	}
	if field := fields.Values["ElementDataFile"]; !strings.EqualFold(field, "LOCAL") {
		names, err := format.DataFiles(field, list)
		if err != nil {
			return err
		}
		if len(names) > 1 && (packed || text || skip < 0) {
			return fmt.Errorf("%d data files that are text, compressed, or of HeaderSize -1; save them as one .mha file",
				len(names))
		}
		if b.In, err = b.In.Companions(max(0, skip), names...); err != nil {
			return err
		}
		b.Offset = 0
	} else if skip > 0 {
		return fmt.Errorf("MetaImage field HeaderSize is %d of a file with its data in it; save the file without it", skip)
	}
	switch {
	case text:
		return b.ReadText()
	case packed:
		return metaPacked(b, fields)
	}
	b.AtEnd = skip < 0
	return nil
}

// metaPacked decompresses zlib data, or gzip data, as MetaIO does.
func metaPacked(b *format.Body, fields format.Fields) error {
	said, is := fields.Values["CompressedDataSize"], b.In.Size-b.Offset
	if n, err := decimal.ParseFloat(said, 64); said != "" && (err != nil || n != float64(is)) {
		return fmt.Errorf("%d bytes of compressed voxels, where the header states %.40s; copy the file again", is, said)
	}
	start := make([]byte, 2)
	if _, err := b.In.ReadAt(start, b.Offset); err != nil && err != io.EOF {
		return fmt.Errorf("reading the voxels: %w", storage.Cause(err))
	}
	if string(start) == storage.GzipMagic {
		return b.Unpack(storage.Gzip, 0)
	}
	alone := storage.Zlib
	alone.Open = storage.OpenZlib
	return b.Unpack(alone, 0)
}

var metaTypes = map[string]element.Type{
	"MET_UCHAR": element.Uint8, "MET_CHAR": element.Int8, "MET_SHORT": element.Int16, "MET_USHORT": element.Uint16,
	"MET_INT": element.Int32, "MET_UINT": element.Uint32, "MET_LONG": element.Int32, "MET_ULONG": element.Uint32,
	"MET_LONG_LONG": element.Int64, "MET_ULONG_LONG": element.Uint64,
	"MET_FLOAT": element.Float32, "MET_DOUBLE": element.Float64,
}

// metaFields reads the header's fields, up to the one with the place of the data, and the offset of
// the byte after it. If that field announces a list of files, it also returns the lines of the
// list.
func metaFields(in format.Input) (fields format.Fields, list []string, offset int64, err error) {
	h := in.HeaderLines(metaHeaderLimit)
	fields = format.Fields{Format: "MetaImage", Values: map[string]string{}}
	for {
		line, end, err := h.Next()
		if err != nil {
			return fields, nil, 0, err
		}
		line = strings.TrimSpace(line)
		at := strings.IndexAny(line, "=:")
		key, value := strings.TrimSpace(line[:max(0, at)]), strings.TrimLeft(line[at+1:], "=: \t")
		last := key == "ElementDataFile"
		// The last line may lack a line end if no data follow it.
		if end && (!last || value == "" || strings.EqualFold(value, "LOCAL")) {
			return fields, nil, 0, errors.New("truncated: no field ElementDataFile ends the MetaImage header; check the file")
		}
		if line == "" {
			continue
		}
		if at < 0 {
			return fields, nil, 0, fmt.Errorf("MetaImage header line %d is no field; check the file", h.N)
		}
		if known := slices.IndexFunc(metaKeys, func(k string) bool { return strings.EqualFold(k, key) }); known < 0 {
			fields.Values[key] = value // may repeat
			continue
		} else if metaKeys[known] != key {
			return fields, nil, 0,
				fmt.Errorf("MetaImage field %s is spelled %.40q, which other programs ignore; correct the header", metaKeys[known],
					key)
		}
		if err := fields.Put(key, value); err != nil {
			return fields, nil, 0, err
		}
		if !last {
			continue
		}
		if words := strings.Fields(value); len(words) > 0 && words[0] == "LIST" {
			if list, err = metaList(in, h.Offset); err != nil {
				return fields, nil, 0, err
			}
		}
		return fields, list, h.Offset, nil
	}
}

// metaList returns the names of files from an offset on, one per line.
func metaList(in format.Input, offset int64) (list []string, err error) {
	rest := make([]byte, min(in.Size-offset, metaHeaderLimit))
	if _, err := in.ReadAt(rest, offset); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the header: %w", storage.Cause(err))
	}
	for line := range strings.Lines(string(rest)) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list, nil
}
