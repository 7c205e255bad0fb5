package kernels

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Entries lists the kernels of a module's PTX, in order.
func Entries(module string, ptx []byte) ([]string, error) {
	var names []string
	list, err := entries(module, ptx)
	for _, e := range list {
		names = append(names, e.name)
	}
	return names, err
}

// Extract returns a module's PTX with the named kernels only. A driver compiles all kernels that it
// receives, and a job uses one or two. The rest of the text stays on the same lines, so that the
// line numbers of a compiler's messages hold for the whole text.
func Extract(module string, ptx []byte, names ...string) ([]byte, error) {
	list, err := entries(module, ptx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(e entry) bool { return e.name == name }) {
			return nil, fmt.Errorf("kernels %s: no kernel called %s", module, name)
		}
	}
	var cut []byte
	end := 0
	for _, e := range list {
		if slices.Contains(names, e.name) {
			continue
		}
		cut = append(cut, ptx[end:e.from]...)
		cut = append(cut, bytes.Repeat([]byte("\n"), bytes.Count(ptx[e.from:e.to], []byte("\n")))...)
		end = e.to
	}
	return append(cut, ptx[end:]...), nil
}

// An entry is a kernel and its position, including its linkage and body.
type entry struct {
	name     string
	from, to int
}

// entries returns the kernels of a module.
func entries(module string, ptx []byte) ([]entry, error) {
	var list []entry
	var open *entry // the kernel whose body has not ended
	depth, linkage := 0, -1
	s := scanner{text: ptx}
	for {
		from, token := s.next(depth > 0)
		switch {
		case token == "":
			if open != nil {
				return nil, fmt.Errorf("kernels %s: the body of %s has no end", module, open.name)
			}
			return list, nil
		case token == "{":
			depth++
		case token == "}":
			if depth--; depth < 0 {
				return nil, fmt.Errorf("kernels %s: a body that never began ends at byte %d", module, from)
			}
			if depth == 0 && open != nil {
				open.to = s.at
				list, open = append(list, *open), nil
			}
		case depth > 0:
		case token == ".visible" || token == ".weak":
			linkage = from
			continue
		case token == ".entry":
			if linkage >= 0 {
				from = linkage
			}
			_, name := s.next(false)
			open = &entry{name: name, from: from}
		}
		linkage = -1
	}
}

// A scanner reads the tokens of PTX that delimit bodies: braces and names. It skips comments and
// strings.
type scanner struct {
	text []byte
	at   int // the end of the last token
}

// next returns the next token or the next brace with its offset, or "" at the end.
func (s *scanner) next(brace bool) (from int, token string) {
	for s.at < len(s.text) {
		if brace { // bodies are nearly all of the text
			n := bytes.IndexAny(s.text[s.at:], "{}\"/")
			if n < 0 {
				s.at = len(s.text)
				break
			}
			s.at += n
		}
		switch c := s.text[s.at]; {
		case c == '"':
			s.skip(s.at+1, `"`)
		case c == '/' && s.ahead("//"):
			s.skip(s.at, "\n")
		case c == '/' && s.ahead("/*"):
			s.skip(s.at+2, "*/")
		case c == '{' || c == '}':
			s.at++
			return s.at - 1, string(c)
		case named(c):
			from = s.at
			for s.at < len(s.text) && named(s.text[s.at]) {
				s.at++
			}
			return from, string(s.text[from:s.at])
		default:
			s.at++
		}
	}
	return s.at, ""
}

func (s *scanner) ahead(what string) bool {
	return strings.HasPrefix(string(s.text[s.at:min(len(s.text), s.at+len(what))]), what)
}

// skip moves behind the next occurrence of what, searched from a position on.
func (s *scanner) skip(from int, what string) {
	s.at = len(s.text)
	if n := bytes.Index(s.text[min(from, len(s.text)):], []byte(what)); n >= 0 {
		s.at = from + n + len(what)
	}
}

// named reports whether c can be a part of a name, a directive or a number.
func named(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' ||
		c == '.' || c == '%'
}
