package files

import (
	"bytes"
	"fmt"
	"strconv"
	"unsafe"

	"eccbench/internal/decimal"
)

// words reads the words of a text, line by line. Its errors contain the line number.
type words struct {
	data []byte
	at   int
	line int
	hash bool // a # starts a comment, up to the end of the line
	wrap bool // a backslash at the end of a line continues it on the next
}

// next returns the next word of the text, "" at its end.
func (w *words) next() string {
	for {
		if word, ok := w.here(); ok {
			return word
		}
		if !w.newline() {
			return ""
		}
	}
}

// here returns the next word of the line, and whether there is one.
func (w *words) here() (string, bool) {
	for w.at < len(w.data) && (isBlank(w.data[w.at]) || w.wraps()) {
		if w.data[w.at] == '\\' {
			w.at += max(bytes.IndexByte(w.data[w.at:], '\n'), 0)
			w.line++
		}
		w.at++
	}
	if w.at >= len(w.data) || w.data[w.at] == '\n' || w.hash && w.data[w.at] == '#' {
		return "", false
	}
	from := w.at
	for w.at < len(w.data) && !isBlank(w.data[w.at]) && w.data[w.at] != '\n' && !w.wraps() {
		w.at++
	}
	return unsafe.String(&w.data[from], w.at-from), true
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == ',' }

// wraps reports whether the next character is a backslash at the end of a line.
func (w *words) wraps() bool {
	if !w.wrap || w.data[w.at] != '\\' {
		return false
	}
	rest := w.data[w.at+1:]
	return len(rest) == 0 || rest[0] == '\n' || rest[0] == '\r'
}

// end returns an error if a word follows the last of the elements that a header counts.
func (w *words) end(n int64, what string) error {
	if word := w.next(); word != "" {
		return w.errorf("%.40q follows %d %s, as many as the header states; correct the header or cut off the rest",
			word, n, what)
	}
	return nil
}

// newline goes to the next line, and reports whether there is one.
func (w *words) newline() bool {
	if w.at < len(w.data) && w.data[w.at] == '\n' {
		w.at++
		w.line++
		return w.at < len(w.data)
	}
	for wrapped := true; wrapped; w.line++ {
		end := bytes.IndexByte(w.data[w.at:], '\n')
		if end < 0 {
			w.at = len(w.data)
			return false
		}
		wrapped = w.wrap && bytes.HasSuffix(bytes.TrimSuffix(w.data[w.at:w.at+end], []byte("\r")), []byte("\\"))
		w.at += end + 1
	}
	return w.at < len(w.data)
}

func (w *words) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", w.line+1, fmt.Errorf(format, args...))
}

// int reads the next word as a whole number of at least least.
func (w *words) int(what string, least int64) (int64, error) {
	from := w.at
	if v, ok := w.digits(); ok && v >= least {
		return v, nil
	}
	w.at = from
	return w.number(w.next(), what, least)
}

// digits returns the number that follows on the line, if it is up to 18 digits before a blank:
// most numbers of most files, in a fraction of the time.
func (w *words) digits() (v int64, ok bool) {
	at := w.at
	for at < len(w.data) && isBlank(w.data[at]) {
		at++
	}
	from := at
	for at < len(w.data) && w.data[at]-'0' <= 9 {
		v = 10*v + int64(w.data[at]-'0')
		at++
	}
	if n := at - from; n == 0 || n > 18 || at == len(w.data) || !isBlank(w.data[at]) && w.data[at] != '\n' {
		return 0, false
	}
	w.at = at
	return v, true
}

func (w *words) number(word, what string, least int64) (int64, error) {
	if word == "" {
		return 0, fmt.Errorf("%s is missing: the file ends too early", what)
	}
	v, err := strconv.ParseInt(word, 10, 64)
	if err != nil || v < least {
		return 0, w.errorf("%s is %.40q: want a whole number from %d on", what, word, least)
	}
	return v, nil
}

func (w *words) float(what string) (float64, error) {
	if v, ok := w.digits(); ok {
		return float64(v), nil
	}
	word := w.next()
	if word == "" {
		return 0, fmt.Errorf("%s is missing: the file ends too early", what)
	}
	v, err := decimal.ParseFloat(word, 64)
	if err != nil {
		return 0, w.errorf("%s is %.40q: want a number", what, word)
	}
	return v, nil
}

// count reads a number of things. It rejects numbers whose things, of bytesEach bytes or more with
// separators, do not fit in the rest.
func (w *words) count(what string, bytesEach int64) (int64, error) {
	word := w.next()
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 0 {
		return w.number(word, "the number of "+what, 0)
	}
	if n > int64(len(w.data)-w.at)/bytesEach {
		return 0, w.errorf("%d %s are more than the rest of the file can hold", n, what)
	}
	return n, nil
}

// points reads three coordinates of each of n vertices, each after its number if numbered. Other
// words on a line are skipped.
func (w *words) points(n int64, dim int, numbered bool) (points []float64, ids []int64, err error) {
	points = make([]float64, 0, 3*n)
	if numbered {
		ids = make([]int64, 0, n)
	}
	for range n {
		if numbered {
			id, err := w.int("the number of a vertex", 0)
			if err != nil {
				return nil, nil, err
			}
			ids = append(ids, id)
		}
		for k := range 3 {
			v := 0.0
			if k < dim {
				if v, err = w.float("a coordinate"); err != nil {
					return nil, nil, err
				}
			}
			points = append(points, v)
		}
		w.newline()
	}
	return points, ids, nil
}
