package kernels

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Entries lists the kernels of a module's PTX, in its order.
func Entries(module string, ptx []byte) ([]string, error) {
	var names []string
	list, err := entries(module, ptx)
	for _, e := range list {
		names = append(names, e.name)
	}
	return names, err
}

// Only is a module's PTX with the named kernels and no others: a driver compiles all
// that it is given, and a job uses one or two. All else stays, and on the lines that
// it was on, so that what a compiler says of a line is true of the whole text.
func Only(module string, ptx []byte, names ...string) ([]byte, error) {
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

// An entry is a kernel and where it stands, its linkage and body included.
type entry struct {
	name     string
	from, to int
}

// entries finds the kernels of a module.
func entries(module string, ptx []byte) ([]entry, error) {
	var list []entry
	var open *entry // whose body has not ended
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

// A scanner reads the tokens of PTX that matter to where a body begins and ends:
// braces by themselves, and names. Comments and strings have none.
type scanner struct {
	text []byte
	at   int // behind the last token
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

// skip goes behind the next place of what, from a place on.
func (s *scanner) skip(from int, what string) {
	s.at = len(s.text)
	if n := bytes.Index(s.text[min(from, len(s.text)):], []byte(what)); n >= 0 {
		s.at = from + n + len(what)
	}
}

// named reports whether names, directives and numbers have the letter.
func named(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '.' || c == '%'
}
