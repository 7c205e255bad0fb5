package files

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"eccbench/datasets/storage"
)

// headerLines reads the lines of a header in text.
type headerLines struct {
	r      *bufio.Reader
	n      int   // of the byte after the last line
	offset int64 // of the byte after it
}

// headerLines returns a reader of the lines in a file's first bytes.
func (in fileInput) headerLines(limit int64) *headerLines {
	return &headerLines{r: bufio.NewReader(io.NewSectionReader(in, 0, min(in.size, limit)))}
}

// next returns a line with its end. end reports that the file ends there, without a line end.
func (h *headerLines) next() (line string, end bool, err error) {
	line, err = h.r.ReadString('\n')
	h.n++
	h.offset += int64(len(line))
	if err != nil && err != io.EOF {
		return "", false, fmt.Errorf("reading the header: %w", storage.Cause(err))
	}
	return line, err == io.EOF, nil
}

// headerFields are the fields of a header by name.
type headerFields struct {
	format string
	values map[string]string
}

// put adds a field. A second field of the same name is an error.
func (f headerFields) put(name, value string) error {
	if _, twice := f.values[name]; twice {
		return fmt.Errorf("%s field %.40q occurs twice; remove one", f.format, name)
	}
	f.values[name] = value
	return nil
}

// skip returns the field with the number of bytes before the data, 0 if the header has none.
func (f headerFields) skip(name string, least int64) (int64, error) {
	v, ok := f.values[name]
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > 1<<40 {
		return 0, fmt.Errorf("%s field %q is %.40q; want a whole number of at least %d", f.format, name, v, least)
	}
	return n, nil
}

// truth returns the value of a true or false field, and whether the header has the field.
func (f headerFields) truth(name string) (is, said bool, err error) {
	v, said := f.values[name]
	switch strings.ToLower(v) {
	case "true", "t", "1":
		return true, true, nil
	case "false", "f", "0":
		return false, true, nil
	}
	if said {
		err = fmt.Errorf("%s field %s is %.40q; want True or False", f.format, name, v)
	}
	return false, said, err
}
