package datasets

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const metaMagic = "ObjectType = Image"

// metaHeaderLimit is far above any header with local data.
const metaHeaderLimit = 1 << 16

// openMeta reads the header of a MetaImage file, as ITK writes it
// (itk.org/Wiki/ITK/MetaIO/Documentation), with its data in it or in files beside it, as they are,
// in text or compressed. The first size is the fastest axis. Fields that do not bear on the voxels are
// ignored.
func openMeta(in fileInput) (*fileBody, error) {
	fields, list, offset, err := metaFields(in)
	if err != nil {
		return nil, err
	}
	b := &fileBody{in: in, offset: offset}
	if b.stored = metaTypes[fields.values["ElementType"]]; b.stored == 0 {
		return nil, fmt.Errorf("MetaImage type %.40q is not an integer of 8 to 64 bits, MET_FLOAT or MET_DOUBLE; save it as one of them", fields.values["ElementType"])
	}
	b.big = fields.values["BinaryDataByteOrderMSB"] == "True" || fields.values["ElementByteOrderMSB"] == "True"
	axes, err := wholeNumbers(fields.values["DimSize"])
	if err != nil {
		return nil, fmt.Errorf("MetaImage field DimSize: %w", err)
	}
	if n := fields.values["NDims"]; n != strconv.Itoa(len(axes)) || len(axes) < 2 {
		return nil, fmt.Errorf("MetaImage field NDims is %.20q but DimSize has %d sizes; want 2 or 3", n, len(axes))
	}
	slices.Reverse(axes)
	channels := fields.values["ElementNumberOfChannels"]
	if channels != "" {
		n, err := wholeNumbers(channels)
		if err != nil || len(n) != 1 {
			return nil, fmt.Errorf("MetaImage field ElementNumberOfChannels is %.20q; want a whole number", channels)
		}
		axes = append(axes, n...)
	}
	if err = b.frame(axes, in, channels != ""); err != nil {
		return nil, err
	}
	skip, err := fields.skip("HeaderSize", -1)
	if err != nil {
		return nil, err
	}
	packed := fields.values["CompressedData"] == "True"
	if field := fields.values["ElementDataFile"]; strings.EqualFold(field, "LOCAL") {
		if skip > 0 {
			return nil, fmt.Errorf("MetaImage field HeaderSize is %d of a file with its data in it; save the file without it", skip)
		}
	} else {
		names, err := dataFiles(field, list)
		if err != nil {
			return nil, err
		}
		if len(names) > 1 && (packed || skip < 0) {
			return nil, fmt.Errorf("%d data files that are compressed, or of HeaderSize -1; save them as one .mha file", len(names))
		}
		if b.in, err = in.beside(max(0, skip), names...); err != nil {
			return nil, err
		}
		b.offset = 0
	}
	if text := fields.values["BinaryData"] == "False"; text && !packed && skip <= 0 {
		return b, b.text()
	} else if text {
		return nil, errors.New("its voxels are text that is compressed, or has a header; save them as binary data")
	}
	if !packed {
		b.atEnd = skip < 0
		return b, nil
	}
	if skip < 0 {
		return nil, errors.New("MetaImage field HeaderSize is -1 of compressed data; save the file without it")
	}
	if said, is := fields.values["CompressedDataSize"], b.in.size-b.offset; said != "" && said != strconv.FormatInt(is, 10) {
		return nil, fmt.Errorf("%d bytes of compressed voxels, where the header says %.40s; copy the file again", is, said)
	}
	return b, b.unpack(zlibbed, 0)
}

var metaTypes = map[string]storedType{
	"MET_UCHAR": storedUint8, "MET_CHAR": storedInt8, "MET_SHORT": storedInt16, "MET_USHORT": storedUint16,
	"MET_INT": storedInt32, "MET_UINT": storedUint32, "MET_LONG_LONG": storedInt64, "MET_ULONG_LONG": storedUint64,
	"MET_FLOAT": storedFloat32, "MET_DOUBLE": storedFloat64,
}

// metaFields reads the header's fields, the last of which says where the data are, the offset
// of the byte after it, and the lines after it where it says that a list of files follows.
func metaFields(in fileInput) (fields headerFields, list []string, offset int64, err error) {
	h := in.headerLines(metaHeaderLimit)
	fields = headerFields{format: "MetaImage", values: map[string]string{}}
	for {
		line, end, err := h.next()
		if err != nil {
			return fields, nil, 0, err
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		// The last line may have no end where no data follow it.
		if value = strings.TrimSpace(value); end && (key != "ElementDataFile" || value == "" || value == "LOCAL") {
			return fields, nil, 0, errors.New("truncated: no field ElementDataFile ends the MetaImage header; check the file")
		}
		if !ok {
			return fields, nil, 0, fmt.Errorf("MetaImage header line %d is no field; check the file", h.n)
		}
		if err := fields.put(key, value); err != nil {
			return fields, nil, 0, err
		}
		if key != "ElementDataFile" {
			continue
		}
		if strings.HasPrefix(value, "LIST") {
			rest := make([]byte, min(in.size-h.offset, metaHeaderLimit))
			if _, err := in.ReadAt(rest, h.offset); err != nil && err != io.EOF {
				return fields, nil, 0, fmt.Errorf("reading the header: %w", pathCause(err))
			}
			for line := range strings.Lines(string(rest)) {
				if line = strings.TrimSpace(line); line != "" {
					list = append(list, line)
				}
			}
		}
		return fields, list, h.offset, nil
	}
}
