// Package terse writes PTX in fewer bytes. Compilers number registers through a whole kernel, so
// the same lines of an unrolled loop differ by their numbers, and a compressor finds no repetition.
// Here a register is named by how many others were met since its last use, so repeated lines are
// equal.
//
// Drivers get plain PTX: without comments and needless space, with registers and labels numbered as
// they occur. Short is the compressed form, and Long restores the plain text.
package terse

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// label begins the names of labels in a plain text, and compiled those that clang gives them.
const (
	label    = "$L"
	compiled = "$L__BB"
)

// Plain is the text that compilers wrote, its first line as it is.
func Plain(ptx []byte) ([]byte, error) {
	first, rest, _ := bytes.Cut(ptx, []byte("\n"))
	text := append(bytes.Clone(first), '\n')
	for line := range bytes.Lines(rest) {
		code, _, comment := bytes.Cut(line, []byte("//"))
		if bytes.Contains(code, []byte("/*")) || comment && bytes.IndexByte(code, '"') >= 0 {
			return nil, fmt.Errorf("a comment that is not at the end of a line: %s", line)
		}
		n := len(text)
		for _, word := range bytes.Fields(code) {
			if len(text) > n && !closed(text[len(text)-1]) && !closed(word[0]) {
				text = append(text, ' ')
			}
			text = append(text, word...)
		}
		if len(text) > n {
			text = append(text, '\n')
		}
	}
	met := map[string]*numbers{label: {ids: map[string]int{}}}
	var bad error
	return walk(text, func(out, name []byte, declared bool) []byte {
		prefix, number := split(name)
		of := met[string(prefix)]
		switch {
		case declared:
			met[string(prefix)] = &numbers{ids: map[string]int{}}
			return append(out, name...)
		case bytes.HasPrefix(name, []byte(compiled)):
			prefix, number, of = []byte(label), name, met[label]
		case of == nil:
			return append(out, name...)
		case len(number) == 0 || string(prefix) == label:
			bad = fmt.Errorf("the name %s, which would be taken for another", name)
			return append(out, name...)
		}
		id, ok := of.ids[string(number)]
		if !ok {
			id = of.next
			of.ids[string(number)], of.next = id, id+1
		}
		return strconv.AppendInt(append(out, prefix...), int64(id), 10)
	}), bad
}

// closed reports whether a letter of PTX needs no space beside it.
func closed(c byte) bool { return strings.IndexByte(",;:{}()[]", c) >= 0 }

// Short returns a plain text with shorter names. A register or label is the number of others of its kind
// since its last use. A new one has no number.
func Short(plain []byte) []byte {
	return relative(plain, func(out []byte, of *numbers, number []byte) []byte {
		id := value(number)
		if id == of.next {
			of.next++
			return out
		}
		return strconv.AppendInt(out, int64(of.next-1-id), 10)
	})
}

// Long returns the plain text of a text in short form.
func Long(short []byte) []byte {
	return relative(short, func(out []byte, of *numbers, number []byte) []byte {
		if len(number) == 0 {
			of.next++
			return strconv.AppendInt(out, int64(of.next-1), 10)
		}
		return strconv.AppendInt(out, int64(of.next-1-value(number)), 10)
	})
}

// relative rewrites the numbers of a text. What rewrites counts the names that are new.
func relative(text []byte, rewritten func(out []byte, of *numbers, number []byte) []byte) []byte {
	met := map[string]*numbers{label: {}}
	return walk(text, func(out, name []byte, declared bool) []byte {
		prefix, number := split(name)
		if declared {
			met[string(prefix)] = &numbers{}
			return append(out, name...)
		}
		of := met[string(prefix)]
		if of == nil {
			return append(out, name...)
		}
		return rewritten(append(out, prefix...), of, number)
	})
}

// value is that of digits.
func value(digits []byte) (v int) {
	for _, d := range digits {
		v = v*10 + int(d-'0')
	}
	return v
}

// numbers are those of the registers of one kind in a kernel, or of the labels of a module.
type numbers struct {
	next int            // of what is met next
	ids  map[string]int // of what was met, by its number in another text
}

// walk copies a text but for names that begin with % or $, which are rewritten onto what was
// copied. A name is declared where a number of registers is behind it: %r<8>.
func walk(text []byte, rewritten func(out, name []byte, declared bool) []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/4)
	for {
		at := 0
		for at < len(text) && text[at] != '%' && text[at] != '$' {
			at++
		}
		out = append(out, text[:at]...)
		if at == len(text) {
			return out
		}
		end := at + 1
		for end < len(text) && named(text[end]) {
			end++
		}
		if at > 0 && named(text[at-1]) { // a part of a name
			out = append(out, text[at:end]...)
		} else {
			out = rewritten(out, text[at:end], end < len(text) && text[end] == '<')
		}
		text = text[end:]
	}
}

func named(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// split is a name without the digits at its end, and these.
func split(name []byte) (prefix, number []byte) {
	at := len(name)
	for at > 0 && name[at-1] >= '0' && name[at-1] <= '9' {
		at--
	}
	return name[:at], name[at:]
}
