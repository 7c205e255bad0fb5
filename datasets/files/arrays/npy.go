package arrays

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
)

const npyMagic = "\x93NUMPY"

// npyHeaderLimit is far above the size of any header of a plain array.
const npyHeaderLimit = 64 << 10

// openNpy reads the header of a NumPy file, versions 1 to 3 of the format
// (numpy.lib.format). Booleans become 0 and 1 of uint8; one axis is one row.
func openNpy(in format.Input) (*format.Body, error) {
	head, err := in.Head(npyHeaderLimit)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(head), npyMagic) || len(head) < 10 {
		return nil, errors.New("not an npy file: its first bytes are not \\x93NUMPY")
	}
	start, length := int64(10), int64(binary.LittleEndian.Uint16(head[8:]))
	switch version := binary.BigEndian.Uint16(head[6:]); version {
	case 0x100:
	case 0x200, 0x300:
		if len(head) < 12 {
			return nil, errors.New("truncated: the header is cut off; copy the file again")
		}
		start, length = 12, int64(binary.LittleEndian.Uint32(head[8:]))
	default:
		return nil, fmt.Errorf("npy version %d.%d; want 1.0, 2.0 or 3.0", head[6], head[7])
	}
	if start+length > int64(len(head)) {
		return nil, fmt.Errorf("truncated: a header of %d bytes in a file of %d; copy the file again",
			length, in.Size)
	}
	h, err := parseNpyHeader(string(head[start : start+length]))
	if err != nil {
		return nil, fmt.Errorf("npy header: %w", err)
	}
	b := &format.Body{Fortran: h.fortran, Offset: start + length}
	if b.Stored, b.Big, err = element.ParseNumPy(h.descr); err != nil {
		return nil, err
	}
	b.Truth = element.IsNumPyBool(h.descr)
	if len(h.shape) == 0 {
		return nil, errors.New("the array is a single number without axes; save an array of 1 to 3")
	}
	if err := b.FrameUnlabelled(h.shape, in); err != nil {
		return nil, fmt.Errorf("array of shape %v: %w", h.shape, err)
	}
	return b, nil
}

type npyHeader struct {
	descr   string
	fortran bool
	shape   []int64
}

// parseNpyHeader parses the Python dictionary that describes the array. It accepts the three keys
// of the format, each once, and nothing else.
func parseNpyHeader(s string) (npyHeader, error) {
	var h npyHeader
	var seen []string
	p := &npyScanner{text: s}
	p.expect('{')
	for p.err == nil && !p.accept('}') {
		key := p.quoted()
		p.expect(':')
		if slices.Contains(seen, key) {
			p.fail("key %q twice", key)
		}
		seen = append(seen, key)
		switch key {
		case "descr":
			if p.peek() == '[' || p.peek() == '(' {
				p.fail("the dtype is structured; save one of its fields as an array of its own")
			}
			h.descr = p.quoted()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.shape = p.tuple()
		default:
			p.fail("unknown key %q", key)
		}
		if !p.accept(',') && p.peek() != '}' {
			p.fail("no comma at byte %d", p.at)
		}
	}
	if p.peek() != 0 || p.at < len(s) {
		p.fail("more text at byte %d", p.at)
	}
	if len(seen) != 3 {
		p.fail("%d of the 3 keys descr, fortran_order, shape", len(seen))
	}
	return h, p.err
}

// An npyScanner reads the tokens of Python in npy headers. It keeps its first error, and then moves
// to the end.
type npyScanner struct {
	text string
	at   int
	err  error
}

func (p *npyScanner) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
		p.at = len(p.text)
	}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (p *npyScanner) peek() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n\f", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *npyScanner) accept(c byte) bool {
	if p.at < len(p.text) && p.peek() == c && p.at < len(p.text) {
		p.at++
		return true
	}
	return false
}

func (p *npyScanner) expect(c byte) {
	if !p.accept(c) {
		p.fail("no %q at byte %d", c, p.at)
	}
}

// quoted reads a string in single or double quotes; the format needs no escapes.
func (p *npyScanner) quoted() string {
	q := p.peek()
	if q != '\'' && q != '"' {
		p.fail("no string at byte %d", p.at)
		return ""
	}
	s, _, ok := strings.Cut(p.text[p.at+1:], string(q))
	if !ok || strings.ContainsAny(s, "\\\n") {
		p.fail("no plain string at byte %d", p.at)
		return ""
	}
	p.at += len(s) + 2
	return s
}

func (p *npyScanner) boolean() bool {
	p.peek()
	for word, v := range map[string]bool{"True": true, "False": false} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return v
		}
	}
	p.fail("neither True nor False at byte %d", p.at)
	return false
}

// tuple reads "()", "(1,)" or "(1, 2)" of whole numbers.
func (p *npyScanner) tuple() []int64 {
	var v []int64
	comma := true
	p.expect('(')
	for p.err == nil && !p.accept(')') {
		if !comma {
			p.fail("no comma at byte %d", p.at)
		}
		p.peek()
		end := p.at
		for end < len(p.text) && '0' <= p.text[end] && p.text[end] <= '9' {
			end++
		}
		digits := p.text[p.at:end]
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > 0 && digits[0] == '0' { // octal in Python 2, an error in Python 3
			p.fail("no whole number at byte %d", p.at)
			break
		}
		v, p.at = append(v, n), end
		p.accept('L') // the end of long integers in Python 2
		comma = p.accept(',')
	}
	if len(v) == 1 && !comma {
		p.fail("a number in parentheses where a tuple should be")
	}
	return v
}
