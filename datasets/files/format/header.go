package format

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"eccbench/datasets/storage"
)

// Lines reads the lines of a header in text.
type Lines struct {
	r      *bufio.Reader
	N      int   // of the byte after the last line
	Offset int64 // of the byte after it
}

// HeaderLines returns a reader of the lines in a file's first bytes.
func (in Input) HeaderLines(limit int64) *Lines {
	return &Lines{r: bufio.NewReader(io.NewSectionReader(in, 0, min(in.Size, limit)))}
}

// Next returns a line with its end. end reports that the file ends there, without a line end.
func (h *Lines) Next() (line string, end bool, err error) {
	line, err = h.r.ReadString('\n')
	h.N++
	h.Offset += int64(len(line))
	if err != nil && err != io.EOF {
		return "", false, fmt.Errorf("reading the header: %w", storage.Cause(err))
	}
	return line, err == io.EOF, nil
}

// Fields are the fields of a header by name.
type Fields struct {
	Format string
	Values map[string]string
}

// Put adds a field. A second field of the same name is an error.
func (f Fields) Put(name, value string) error {
	if _, twice := f.Values[name]; twice {
		return fmt.Errorf("%s field %.40q occurs twice; remove one", f.Format, name)
	}
	f.Values[name] = value
	return nil
}

// Skip returns the field with the number of bytes before the data, 0 if the header has none.
func (f Fields) Skip(name string, least int64) (int64, error) {
	v, ok := f.Values[name]
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > 1<<40 {
		return 0, fmt.Errorf("%s field %q is %.40q; want a whole number of at least %d", f.Format, name, v, least)
	}
	return n, nil
}

// Truth returns the value of a true or false field, and whether the header has the field.
func (f Fields) Truth(name string) (is, said bool, err error) {
	v, said := f.Values[name]
	switch strings.ToLower(v) {
	case "true", "t", "1":
		return true, true, nil
	case "false", "f", "0":
		return false, true, nil
	}
	if said {
		err = fmt.Errorf("%s field %s is %.40q; want True or False", f.Format, name, v)
	}
	return false, said, err
}
