package arrays

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

const nrrdMagic = "NRRD000"

// nrrdHeaderLimit is far above the size of any header with attached data.
const nrrdHeaderLimit = 1 << 20

// openNrrd reads the header of an NRRD file (teem.sourceforge.net/nrrd/format.html). Its data are
// attached or in other files: raw, text, or compressed by gzip or bzip2. The first size is the
// fastest axis. Fields that do not affect the voxels are ignored.
func openNrrd(in format.Input) (*format.Body, error) {
	fields, list, offset, err := nrrdFields(in)
	if err != nil {
		return nil, err
	}
	encoding := strings.ToLower(fields.Values["encoding"])
	b := &format.Body{In: in, Offset: offset}
	if b.Stored = nrrdTypes[strings.ToLower(fields.Values["type"])]; b.Stored == 0 {
		return nil, fmt.Errorf("NRRD type %q is not an integer of 8 to 64 bits, float or double; save it as one of them",
			fields.Values["type"])
	}
	switch endian := strings.ToLower(fields.Values["endian"]); {
	case endian == "big":
		b.Big = true
	case endian != "little" && b.Stored.Size() > 1 && encoding != "ascii" && encoding != "text" && encoding != "txt":
		return nil, fmt.Errorf("NRRD endian is %q; want little or big", endian)
	}
	axes, err := nrrdSizes(fields.Values["dimension"], fields.Values["sizes"])
	if err != nil {
		return nil, err
	}
	slices.Reverse(axes)
	outer, space, inner, err := format.SplitAxes(nrrdAxes(fields.Values["kinds"], axes))
	if err != nil {
		return nil, fmt.Errorf("NRRD kinds: %w", err)
	}
	switch {
	case len(inner) > 1:
		return nil, fmt.Errorf("NRRD kinds: axes %s count the values of a voxel; want one such axis", format.AxisNames(inner))
	case len(space) > 0:
		if len(inner) > 0 { // axes of length 1 have no effect
			outer = slices.DeleteFunc(outer, func(a format.Axis) bool { return a.Length == 1 })
		}
		err = b.Choose(format.Lengths(outer), format.Lengths(space), grid.Product(format.Lengths(inner)), in)
	default:
		err = b.FrameUnlabelled(axes, in)
	}
	if err != nil {
		return nil, err
	}
	return b, nrrdVoxels(b, fields, encoding, list)
}

// nrrdVoxels finds the voxels of a body of known shape.
func nrrdVoxels(b *format.Body, fields format.Fields, encoding string, list []string) error {
	lines, err := fields.Skip("line skip", 0)
	if err != nil {
		return err
	}
	skip, err := fields.Skip("byte skip", -1)
	if err != nil {
		return err
	}
	if field, ok := fields.Values["data file"]; ok {
		names, err := format.DataFiles(field, list)
		if err != nil {
			return err
		}
		if len(names) > 1 && (encoding != "raw" || lines > 0 || skip < 0) {
			return fmt.Errorf("%d data files of encoding %q, or with lines or a negative number of bytes to skip; save them "+
				"as one .nrrd file", len(names), encoding)
		}
		each := int64(0)
		if len(names) > 1 {
			each, skip = skip, 0
		}
		if b.In, err = b.In.Companions(each, names...); err != nil {
			return err
		}
		b.Offset = 0
	}
	if b.Offset, err = skipLines(b.In, b.Offset, lines); err != nil {
		return err
	}
	if skip < 0 && encoding != "raw" {
		return fmt.Errorf("NRRD field \"byte skip\" is %d of %s data; want 0 or more", skip, encoding)
	}
	pack := storage.Gzip
	switch encoding {
	case "raw":
		b.Offset, b.AtEnd = b.Offset+max(0, skip), skip < 0
		return nil
	case "ascii", "text", "txt":
		b.Offset += skip
		return b.ReadText()
	case "bzip2", "bz2":
		pack = storage.Bzip2
	case "gzip", "gz":
	default:
		return fmt.Errorf("NRRD encoding %q is not raw, ascii, gzip or bzip2; save it as one of them",
			fields.Values["encoding"])
	}
	return b.Unpack(pack, skip)
}

// nrrdAxes returns the axes, slowest first like their lengths, by their kinds; nil if the kinds do
// not list them.
func nrrdAxes(kinds string, lengths []int64) (axes []format.Axis) {
	words := strings.Fields(strings.ToLower(kinds))
	if len(words) != len(lengths) {
		return nil
	}
	slices.Reverse(words)
	for i, word := range words {
		kind := format.AxisKindOf(word)
		if kind != format.SpaceAxis && word != "none" && word != "???" {
			kind = format.OtherAxis
		}
		axes = append(axes, format.Axis{Name: word, Kind: kind, Length: lengths[i]})
	}
	return axes
}

// skipLines returns the offset of the byte after n lines.
func skipLines(in format.Input, offset, n int64) (int64, error) {
	if n == 0 {
		return offset, nil
	}
	r := bufio.NewReader(io.NewSectionReader(in, offset, max(0, in.Size-offset)))
	for range n {
		for more := true; more; {
			line, err := r.ReadSlice('\n')
			offset += int64(len(line))
			if more = err == bufio.ErrBufferFull; err != nil && !more {
				return 0, fmt.Errorf("truncated: the data end in the lines to be skipped: %w; correct the header",
					storage.Cause(err))
			}
		}
	}
	return offset, nil
}

// nrrdFields reads the header's fields, with names in lower case and in the longer spelling. It
// also returns the lines after a field that announces a list of files, and the offset after the
// blank line at the end. The blank line may be missing if the data are in other files.
func nrrdFields(in format.Input) (fields format.Fields, list []string, offset int64, err error) {
	h := in.HeaderLines(nrrdHeaderLimit)
	fields = format.Fields{Format: "NRRD", Values: map[string]string{}}
	for {
		line, end, err := h.Next()
		if err != nil {
			return fields, nil, 0, err
		}
		if h.N == 1 && (len(line) < 8 || !strings.HasPrefix(line, nrrdMagic)) {
			return fields, nil, 0, errors.New("not an NRRD file: its first line does not start with NRRD000; check the file")
		}
		data, detached := fields.Values["data file"]
		if end && h.Offset == nrrdHeaderLimit {
			return fields, nil, 0, fmt.Errorf("no blank line ends the header within %d bytes; check the file", nrrdHeaderLimit)
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" && (!end || detached) {
			return fields, list, h.Offset, nil
		}
		switch name, value, ok := strings.Cut(line, ":"); {
		case h.N == 1 || line == "" || line[0] == '#':
		case strings.HasPrefix(data, "LIST"):
			list = append(list, line)
		case !ok:
			return fields, nil, 0, fmt.Errorf("NRRD header line %d is neither a field nor a comment; check the file", h.N)
		case strings.HasPrefix(value, "="): // a key/value pair
		default:
			name = strings.ToLower(strings.TrimSpace(name))
			if longer, ok := nrrdAliases[name]; ok {
				name = longer
			}
			if err := fields.Put(name, strings.TrimSpace(value)); err != nil {
				return fields, nil, 0, err
			}
		}
		if _, detached := fields.Values["data file"]; end && detached {
			return fields, list, h.Offset, nil
		}
		if end {
			return fields, nil, 0, errors.New("no blank line ends the header; the file is truncated: copy it again")
		}
	}
}

var nrrdAliases = map[string]string{"datafile": "data file", "lineskip": "line skip", "byteskip": "byte skip"}

// nrrdTypes are the types by their names in the format.
var nrrdTypes = map[string]element.Type{
	"signed char": element.Int8, "int8": element.Int8, "int8_t": element.Int8,
	"uchar": element.Uint8, "unsigned char": element.Uint8, "uint8": element.Uint8, "uint8_t": element.Uint8,
	"short": element.Int16, "short int": element.Int16, "signed short": element.Int16,
	"signed short int": element.Int16, "int16": element.Int16, "int16_t": element.Int16,
	"ushort": element.Uint16, "unsigned short": element.Uint16, "unsigned short int": element.Uint16,
	"uint16": element.Uint16, "uint16_t": element.Uint16,
	"int": element.Int32, "signed int": element.Int32, "int32": element.Int32, "int32_t": element.Int32,
	"uint": element.Uint32, "unsigned int": element.Uint32, "uint32": element.Uint32, "uint32_t": element.Uint32,
	"longlong": element.Int64, "long long": element.Int64, "long long int": element.Int64,
	"signed long long": element.Int64, "signed long long int": element.Int64, "int64": element.Int64,
	"int64_t": element.Int64, "ulonglong": element.Uint64, "unsigned long long": element.Uint64,
	"unsigned long long int": element.Uint64, "uint64": element.Uint64, "uint64_t": element.Uint64,
	"float": element.Float32, "double": element.Float64,
}

// nrrdSizes reads the lengths of the axes, fastest first.
func nrrdSizes(dimension, sizes string) ([]int64, error) {
	n, err := strconv.Atoi(dimension)
	if err != nil || n < 2 || n > 16 { // NRRD's own limit is 16
		return nil, fmt.Errorf("NRRD dimension is %q; want 2 or 3", dimension)
	}
	if len(strings.Fields(sizes)) != n {
		return nil, fmt.Errorf("NRRD dimension is %d but sizes is %.80q; correct the header", n, sizes)
	}
	axes, err := format.WholeNumbers(sizes)
	if err != nil {
		return nil, fmt.Errorf("NRRD sizes: %w", err)
	}
	return axes, nil
}
