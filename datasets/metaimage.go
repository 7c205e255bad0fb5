package datasets

import (
	"bufio"
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
	if b.stored = metaTypes[fields["ElementType"]]; b.stored == 0 {
		return nil, fmt.Errorf("MetaImage type %.40q is not an integer of 8 to 64 bits, MET_FLOAT or MET_DOUBLE; save it as one of them", fields["ElementType"])
	}
	b.big = fields["BinaryDataByteOrderMSB"] == "True" || fields["ElementByteOrderMSB"] == "True"
	axes, err := wholeNumbers(fields["DimSize"])
	if err != nil {
		return nil, fmt.Errorf("MetaImage field DimSize: %w", err)
	}
	if n := fields["NDims"]; n != strconv.Itoa(len(axes)) || len(axes) < 2 {
		return nil, fmt.Errorf("MetaImage field NDims is %.20q but DimSize has %d sizes; want 2 or 3", n, len(axes))
	}
	slices.Reverse(axes)
	channels := fields["ElementNumberOfChannels"]
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
	skip := int64(0)
	if text := fields["HeaderSize"]; text != "" {
		if skip, err = strconv.ParseInt(text, 10, 64); err != nil || skip < -1 || skip > 1<<40 {
			return nil, fmt.Errorf("MetaImage field HeaderSize is %.20q; want a number of bytes, or -1", text)
		}
	}
	packed := fields["CompressedData"] == "True"
	if field := fields["ElementDataFile"]; strings.EqualFold(field, "LOCAL") {
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
	if text := fields["BinaryData"] == "False"; text && !packed && skip <= 0 {
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
	if said, is := fields["CompressedDataSize"], b.in.size-b.offset; said != "" && said != strconv.FormatInt(is, 10) {
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
func metaFields(in fileInput) (fields map[string]string, list []string, offset int64, err error) {
	r := bufio.NewReader(io.NewSectionReader(in, 0, min(in.size, metaHeaderLimit)))
	fields = map[string]string{}
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		offset += int64(len(line))
		if err != nil && err != io.EOF {
			return nil, nil, 0, fmt.Errorf("reading the header: %w", pathCause(err))
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		// The last line may have no end where no data follow it.
		if value = strings.TrimSpace(value); err == io.EOF && (key != "ElementDataFile" || value == "" || value == "LOCAL") {
			return nil, nil, 0, errors.New("truncated: no field ElementDataFile ends the MetaImage header; check the file")
		}
		if !ok {
			return nil, nil, 0, fmt.Errorf("MetaImage header line %d is no field; check the file", n)
		}
		if _, twice := fields[key]; twice {
			return nil, nil, 0, fmt.Errorf("MetaImage field %.40q stands twice; remove one", key)
		}
		fields[key] = value
		if key != "ElementDataFile" {
			continue
		}
		if strings.HasPrefix(value, "LIST") {
			rest := make([]byte, min(in.size-offset, metaHeaderLimit))
			if _, err := in.ReadAt(rest, offset); err != nil && err != io.EOF {
				return nil, nil, 0, fmt.Errorf("reading the header: %w", pathCause(err))
			}
			for line := range strings.Lines(string(rest)) {
				if line = strings.TrimSpace(line); line != "" {
					list = append(list, line)
				}
			}
		}
		return fields, list, offset, nil
	}
}
