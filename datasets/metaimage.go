package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zlib"
)

const metaMagic = "ObjectType = Image"

// metaHeaderLimit is far above any header with local data.
const metaHeaderLimit = 1 << 16

// openMeta reads the header of a MetaImage file with its data in it, as ITK writes it
// (itk.org/Wiki/ITK/MetaIO/Documentation), plain or compressed. The first size is the
// fastest axis. Fields that do not bear on the voxels are ignored.
func openMeta(in fileInput) (*fileBody, error) {
	fields, offset, err := metaFields(in)
	if err != nil {
		return nil, err
	}
	b := &fileBody{offset: offset}
	if data := fields["ElementDataFile"]; data != "LOCAL" {
		return nil, fmt.Errorf("the header's data are in another file, %.80q, which is not read; save them as one .mha file", data)
	}
	if n := fields["ElementNumberOfChannels"]; n != "" && n != "1" {
		return nil, fmt.Errorf("%.20s channels; save one of them alone", n)
	}
	if fields["BinaryData"] == "False" {
		return nil, errors.New("its voxels are text; save them as binary data")
	}
	if skip := fields["HeaderSize"]; skip != "" && skip != "0" {
		return nil, fmt.Errorf("MetaImage field HeaderSize is %.20q, which is not read; save the file without it", skip)
	}
	if b.stored = metaTypes[fields["ElementType"]]; b.stored == 0 {
		return nil, fmt.Errorf("MetaImage type %.40q is not an integer of 8 to 64 bits, MET_FLOAT or MET_DOUBLE; save it as one of them", fields["ElementType"])
	}
	b.big = fields["BinaryDataByteOrderMSB"] == "True" || fields["ElementByteOrderMSB"] == "True"
	var axes []int64
	for _, text := range strings.Fields(fields["DimSize"]) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("MetaImage field DimSize has %.40q; want whole numbers", text)
		}
		axes = append(axes, n)
	}
	if n := fields["NDims"]; n != strconv.Itoa(len(axes)) || len(axes) < 2 {
		return nil, fmt.Errorf("MetaImage field NDims is %.20q but DimSize has %d sizes; want 2 or 3", n, len(axes))
	}
	slices.Reverse(axes)
	if b.shape, err = fileShape(axes); err != nil {
		return nil, err
	}
	if fields["CompressedData"] != "True" {
		return b, nil
	}
	b.packed = in.size - offset
	if said := fields["CompressedDataSize"]; said != "" && said != strconv.FormatInt(b.packed, 10) {
		return nil, fmt.Errorf("%d bytes follow the header, which says %.40s; copy the file again", b.packed, said)
	}
	if b.inflate, err = zlib.NewReader(bufio.NewReader(io.NewSectionReader(in, offset, b.packed))); err != nil {
		return nil, fmt.Errorf("decompressing: %w; copy the file again", pathCause(err))
	}
	return b, nil
}

var metaTypes = map[string]storedType{
	"MET_UCHAR": storedUint8, "MET_CHAR": storedInt8, "MET_SHORT": storedInt16, "MET_USHORT": storedUint16,
	"MET_INT": storedInt32, "MET_UINT": storedUint32, "MET_LONG_LONG": storedInt64, "MET_ULONG_LONG": storedUint64,
	"MET_FLOAT": storedFloat32, "MET_DOUBLE": storedFloat64,
}

// metaFields reads the header's fields and the offset of the byte after the last of them,
// which says where the data are.
func metaFields(in fileInput) (map[string]string, int64, error) {
	r := bufio.NewReader(io.NewSectionReader(in, 0, min(in.size, metaHeaderLimit)))
	fields := map[string]string{}
	offset := int64(0)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		offset += int64(len(line))
		if err == io.EOF {
			return nil, 0, errors.New("truncated: no field ElementDataFile ends the MetaImage header; check the file")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("reading the header: %w", pathCause(err))
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, 0, fmt.Errorf("MetaImage header line %d is no field; check the file", n)
		}
		key = strings.TrimSpace(key)
		if _, twice := fields[key]; twice {
			return nil, 0, fmt.Errorf("MetaImage field %.40q stands twice; remove one", key)
		}
		fields[key] = strings.TrimSpace(value)
		if key == "ElementDataFile" {
			return fields, offset, nil
		}
	}
}
