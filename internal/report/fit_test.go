package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTableOfLimitedWidth(t *testing.T) {
	var b bytes.Buffer
	w := Visible(&b)
	w.Columns = 80
	input := "noise/shape=1024x1024x1024/levels=1024/type=float32/seed=1"
	cells := [][]string{{"extrema-gpu-batch", input, "e2e", "826.0 ±0.31%", "77.5 %", "slower"}}
	header := []string{"implementation", "input", "scope", "Gvox/s", "% of ceiling", "note"}
	if err := Table(w, Text, header, cells); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	for _, whole := range []string{"extrema-gpu-batch", "826.0 ±0.31%", "77.5 %", "method", "levels=1024/", "seed=1"} {
		if !strings.Contains(b.String(), whole) {
			t.Errorf("no %q in\n%s", whole, b.String())
		}
	}
	if got := fold("ab cd/efghij", 6); got != "ab cd/\nefghij" {
		t.Errorf("folded %q", got)
	}
	if cells[0][1] != input {
		t.Errorf("the caller's cells changed: %q", cells[0][1])
	}
}
