package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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

// shuffle orders mutants by a hash of the seed and their change. A change elsewhere in the program
// does not affect their order, so that a sample remains the same except for changed code.
func shuffle(mutants []*Mutant, seed string) {
	count := map[string]int{}
	key := map[*Mutant]string{}
	for _, m := range mutants {
		content := strings.Join([]string{seed, m.File, m.Func, m.Operator, m.Before, m.After}, "\x00")
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", content, count[content]))
		count[content]++
		key[m] = hex.EncodeToString(sum[:])
	}
	slices.SortFunc(mutants, func(a, b *Mutant) int { return strings.Compare(key[a], key[b]) })
}
