package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// A Mutant is a program that differs from the real one in one place.
type Mutant struct {
	ID       int    `json:"-"` // the number that selects it in a program of many mutants, 0 in none
	Target   string `json:"-"` // the target that counts it
	File     string `json:"file"`
	Func     string `json:"func"`
	Line     int    `json:"line,omitempty"`
	Operator string `json:"operator"`
	Before   string `json:"before"` // the lines that change, with single spaces
	After    string `json:"after"`

	edit     edit
	function *function
	estimate bool // it changes an estimate of a duration
}

func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d %s, %s: %q -> %q", m.File, m.Line, m.Func, m.Operator, m.Before, m.After)
}

// same reports whether two mutants make the same change, at any place in the file.
func (m *Mutant) same(n *Mutant) bool {
	return m.File == n.File && m.Func == n.Func && m.Operator == n.Operator && m.Before == n.Before && m.After == n.After
}

// An edit replaces the bytes from start to end of a text.
type edit struct {
	start, end int
	text       string
}

// apply makes edits that do not overlap, in any order.
func apply(text string, edits ...edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// newMutant describes an edit of a text by its whole lines.
func newMutant(text, file, function, operator string, e edit) *Mutant {
	from := strings.LastIndexByte(text[:e.start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[e.end:], '\n'); i >= 0 {
		to = e.end + i
	}
	return &Mutant{
		File: file, Func: function, Operator: operator, Line: strings.Count(text[:e.start], "\n") + 1,
		Before: squeeze(text[from:to]), After: squeeze(text[from:e.start] + e.text + text[e.end:to]), edit: e,
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// content returns a text that identifies a mutant, independent of its line number.
func (m *Mutant) content() string {
	return strings.Join([]string{m.File, m.Func, m.Operator, m.Before, m.After}, "\x00")
}

// seedFlag defines the flag of a sample's seed, which is a new one each time unless given.
func seedFlag(f *flag.FlagSet) *string {
	return f.String("seed", rand.Text()[:8], "seed of the sample; another one each time unless given")
}

// shuffle orders a list by a hash of the seed and the content of each element. A change elsewhere in the
// program does not affect the order, so that a sample remains the same except for changed code.
func shuffle[T comparable](list []T, seed string, content func(T) string) {
	count := map[string]int{}
	key := map[T]string{}
	for _, v := range list {
		content := seed + "\x00" + content(v)
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", content, count[content]))
		count[content]++
		key[v] = hex.EncodeToString(sum[:])
	}
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(key[a], key[b]) })
}
