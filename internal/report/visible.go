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

// Visible returns a writer that escapes characters with an effect on a terminal: control characters
// except newlines and tabs, bidirectional controls, and invalid UTF-8. Output contains names and
// reasons of foreign origin.
func Visible(w io.Writer) *VisibleWriter { return &VisibleWriter{w: w} }

// A VisibleWriter is the writer that Visible returns.
type VisibleWriter struct {
	// Columns is the greatest width of text tables, or 0 for any width.
	Columns int

	w    io.Writer
	part []byte // the beginning of a character that the next write completes
	err  error
}

// Err returns the first write error, for printers that ignore errors.
func (v *VisibleWriter) Err() error { return v.err }

// Unwrap returns the wrapped writer.
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

// VisibleText escapes a text as Visible does.
func VisibleText(text string) string {
	odd := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}
	if !strings.ContainsFunc(text, odd) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		const pictures = '\u2400' // the Unicode symbols for control characters
		switch {
		case !odd(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune(pictures + r)
		case r == '\x7f':
			b.WriteRune('\u2421')
		case unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&b, `\u%04x`, r) // has no symbol; JSON reads it as the same character
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// line joins the lines of a foreign text.
func line(s string) string { return strings.ReplaceAll(s, "\n", "; ") }

// Prose escapes a foreign text for a document, so that it makes no HTML and no links in Markdown.
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

// proses escapes several texts as Prose does.
func proses(f Format, list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, Prose(f, s))
	}
	return out
}

// cell escapes a text for a table cell.
func cell(f Format, s string) string {
	s = Prose(f, s)
	if f == Markdown {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return s
}

// csvCell protects a text for a CSV cell, before quoting. A spreadsheet would execute a text that
// begins like a formula, so csvCell puts "'" before it. It does not change numbers.
func csvCell(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
