package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a writer of text that shows what a terminal would obey: control characters,
// but for line ends and tabs, those that turn the direction of text, and bytes that are no
// text. What people read has names and reasons in it that others wrote.
func Visible(w io.Writer) *VisibleWriter { return &VisibleWriter{w: w} }

// A VisibleWriter is the writer that Visible returns.
type VisibleWriter struct {
	// Columns is the greatest width of text tables, or 0 for any width.
	Columns int

	w    io.Writer
	part []byte // of a character that ends in the next write
	err  error
}

// Err returns the first error of a write, for printers that do not look at theirs.
func (v *VisibleWriter) Err() error { return v.err }

// Unwrap is the writer below.
func (v *VisibleWriter) Unwrap() io.Writer { return v.w }

func (v *VisibleWriter) Write(p []byte) (int, error) {
	text := append(v.part, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if c := text[len(text)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-back:]) {
				whole -= back
			}
			break
		}
	}
	v.part = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(v.w, VisibleText(string(text[:whole]))); err != nil {
		v.err = cmp.Or(v.err, err)
		return 0, err
	}
	return len(p), nil
}

// VisibleText is a text as Visible writes it.
func VisibleText(s string) string {
	odd := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}
	if !strings.ContainsFunc(s, odd) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		const pictures = '\u2400' // of the control characters
		switch {
		case !odd(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune(pictures + r)
		case r == '\x7f':
			b.WriteRune('\u2421')
		case unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&b, `\u%04x`, r) // has no picture, and is the same text in JSON
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// line is a text of others on one line.
func line(s string) string { return strings.ReplaceAll(s, "\n", "; ") }

// Prose is a text of others as part of a document: in Markdown it makes no HTML and no
// links.
func Prose(f Format, s string) string {
	s = line(s)
	if f != Markdown {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		next := byte(' ')
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch {
		case r == '<' && (next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z' || strings.IndexByte("/!?", next) >= 0):
			b.WriteString("&lt;")
		case r == '(' && i > 0 && s[i-1] == ']':
			b.WriteString(`\(`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// proses are texts as Prose makes them.
func proses(f Format, list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, Prose(f, s))
	}
	return out
}

// cell is a text as a cell of a table.
func cell(f Format, s string) string {
	s = Prose(f, s)
	if f == Markdown {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return s
}

// CSVCell is a text as a cell of CSV, before quotes: a spreadsheet would run one that begins as a
// formula does, so "'" stands before it, unless it is a number.
func CSVCell(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
