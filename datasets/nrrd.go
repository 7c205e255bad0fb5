package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const nrrdMagic = "NRRD000"

// nrrdHeaderLimit is far above any header with attached data.
const nrrdHeaderLimit = 1 << 20

// openNrrd reads the header of an NRRD file with its data attached
// (teem.sourceforge.net/nrrd/format.html), encoding raw or gzip. The first size
// is the fastest axis. Fields that do not bear on the voxels are ignored.
func openNrrd(in fileInput) (*fileBody, error) {
	fields, offset, err := nrrdFields(in)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"data file", "datafile"} {
		if _, ok := fields[name]; ok {
			return nil, errors.New("the header's data are in another file, which is not read; save them as one .nrrd file")
		}
	}
	for _, name := range []string{"byte skip", "byteskip", "line skip", "lineskip"} {
		if v, ok := fields[name]; ok && v != "0" {
			return nil, fmt.Errorf("NRRD field %q is %q, which is not read; save the file without it", name, v)
		}
	}
	b := &fileBody{offset: offset}
	var ok bool
	if b.stored, ok = nrrdType(fields["type"]); !ok {
		return nil, fmt.Errorf("NRRD type %q is not an integer of 8 to 64 bits, float or double; save it as one of them", fields["type"])
	}
	switch endian := fields["endian"]; {
	case endian == "big":
		b.big = true
	case endian != "little" && b.stored.size() > 1:
		return nil, fmt.Errorf("NRRD endian is %q; want little or big", endian)
	}
	axes, err := nrrdSizes(fields["dimension"], fields["sizes"])
	if err != nil {
		return nil, err
	}
	slices.Reverse(axes)
	if b.shape, err = fileShape(axes); err != nil {
		return nil, err
	}
	switch encoding := fields["encoding"]; encoding {
	case "raw":
		return b, nil
	case "gzip", "gz":
	default:
		return nil, fmt.Errorf("NRRD encoding %q is not raw or gzip; save it as one of them", encoding)
	}
	b.packed = in.size - offset
	b.inflate, err = gzip.NewReader(bufio.NewReader(io.NewSectionReader(in, offset, b.packed)))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, errors.New("truncated: no gzip data follow the header; copy the file again")
	}
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w; copy the file again", pathCause(err))
	}
	return b, nil
}

// nrrdFields reads the header's fields, names and values in lower case, and the
// offset of the byte after the blank line that ends it.
func nrrdFields(in fileInput) (map[string]string, int64, error) {
	r := bufio.NewReader(io.NewSectionReader(in, 0, min(in.size, nrrdHeaderLimit)))
	fields := map[string]string{}
	offset := int64(0)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		offset += int64(len(line))
		if err != nil && err != io.EOF {
			return nil, 0, fmt.Errorf("reading the header: %w", pathCause(err))
		}
		if n == 1 && (len(line) < 8 || !strings.HasPrefix(line, nrrdMagic)) {
			return nil, 0, errors.New("not an NRRD file: its first line does not start with NRRD000; check the file")
		}
		if err == io.EOF {
			if offset == nrrdHeaderLimit {
				return nil, 0, fmt.Errorf("no blank line ends the header within %d bytes; check the file", nrrdHeaderLimit)
			}
			return nil, 0, errors.New("no blank line ends the header; the file is truncated, or its data are elsewhere: save them as one .nrrd file")
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" {
			return fields, offset, nil
		}
		if n == 1 || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, 0, fmt.Errorf("NRRD header line %d is neither a field nor a comment; check the file", n)
		}
		if strings.HasPrefix(value, "=") {
			continue // a key/value pair
		}
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := fields[name]; twice {
			return nil, 0, fmt.Errorf("NRRD field %q stands twice; remove one", name)
		}
		fields[name] = strings.ToLower(strings.TrimSpace(value))
	}
}

// nrrdType maps the format's names of types.
func nrrdType(name string) (storedType, bool) {
	switch name {
	case "signed char", "int8", "int8_t":
		return storedInt8, true
	case "uchar", "unsigned char", "uint8", "uint8_t":
		return storedUint8, true
	case "short", "short int", "signed short", "signed short int", "int16", "int16_t":
		return storedInt16, true
	case "ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t":
		return storedUint16, true
	case "int", "signed int", "int32", "int32_t":
		return storedInt32, true
	case "uint", "unsigned int", "uint32", "uint32_t":
		return storedUint32, true
	case "longlong", "long long", "long long int", "signed long long", "signed long long int", "int64", "int64_t":
		return storedInt64, true
	case "ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t":
		return storedUint64, true
	case "float":
		return storedFloat32, true
	case "double":
		return storedFloat64, true
	}
	return 0, false
}

// nrrdSizes reads the lengths of the axes, fastest first.
func nrrdSizes(dimension, sizes string) ([]int64, error) {
	n, err := strconv.Atoi(dimension)
	if err != nil || n < 2 || n > 16 { // NRRD's own limit is 16
		return nil, fmt.Errorf("NRRD dimension is %q; want 2 or 3", dimension)
	}
	parts := strings.Fields(sizes)
	if len(parts) != n {
		return nil, fmt.Errorf("NRRD dimension is %d but sizes is %.80q; correct the header", n, sizes)
	}
	var axes []int64
	for _, p := range parts {
		v, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("NRRD sizes has %.80q, not a whole number; correct the header", p)
		}
		axes = append(axes, v)
	}
	return axes, nil
}
