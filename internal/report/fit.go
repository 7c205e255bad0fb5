package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// minColumn is the width to which a column of a table may shrink.
const minColumn = 10

// shortHeaders are the names of columns in tables of a limited width.
var shortHeaders = map[string]string{"implementation": "method", "% of ceiling": "ceiling", "× best CPU": "× CPU"}

// columnsOf returns the greatest width of text tables on a writer, or 0 for any width.
func columnsOf(w io.Writer) int {
	if v, ok := w.(*VisibleWriter); ok {
		return v.Columns
	}
	return 0
}

// fit shortens headers and breaks long cells, so that lines have at most limit columns if no word
// must be broken. It does not break the first column, nor columns of at most minColumn characters.
func fit(header []string, cells [][]string, limit int) ([]string, [][]string) {
	table := append([][]string{slices.Clone(header)}, cells...)
	for i, name := range header {
		if short := shortHeaders[name]; short != "" {
			table[0][i] = short
		}
	}
	widths, least := make([]int, len(header)), make([]int, len(header))
	total := 0
	for i := range widths {
		least[i] = minColumn
		for _, row := range table {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
			for word := range strings.SplitSeq(strings.ReplaceAll(row[i], "/", "/ "), " ") {
				least[i] = max(least[i], utf8.RuneCountInString(word))
			}
		}
		if i == 0 {
			least[i] = widths[i]
		}
		total += widths[i] + 2
	}
	for ; total > limit; total-- {
		widest := -1
		for i, n := range widths {
			if n > least[i] && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for r, row := range table {
		table[r] = slices.Clone(row)
		for i := range row {
			table[r][i] = fold(row[i], widths[i])
		}
	}
	return table[0], table[1:]
}

// fold breaks a text into lines of at most n characters, if possible after a space or a slash.
func fold(s string, n int) string {
	var lines []string
	runes := []rune(s)
	for len(runes) > n {
		cut := n
		for i := n; i > 0; i-- {
			if runes[i-1] == ' ' || runes[i-1] == '/' {
				cut = i
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(runes[:cut]), " "))
		runes = runes[cut:]
	}
	return strings.Join(append(lines, string(runes)), "\n")
}
