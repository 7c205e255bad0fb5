package floors

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that doc/reliability.md names is in the named package.
func TestReliabilityNamesTests(t *testing.T) {
	text, err := os.ReadFile("../../doc/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	name, where, seen := regexp.MustCompile(`Test\w+`), regexp.MustCompile("^`([a-z/0-9]+)`: (.*)$"), 0
	for row := range strings.Lines(string(text)) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 {
			continue
		}
		for part := range strings.SplitSeq(cells[3], ";") {
			found := where.FindStringSubmatch(strings.TrimSpace(part))
			if found == nil {
				continue
			}
			files, err := filepath.Glob(filepath.Join("../..", found[1], "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Errorf("%s: no tests (%v)", found[1], err)
			}
			var code strings.Builder
			for _, file := range files {
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				code.Write(source)
			}
			for _, test := range name.FindAllString(found[2], -1) {
				if seen++; !strings.Contains(code.String(), "\nfunc "+test+"(") {
					t.Errorf("%s has no %s", found[1], test)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d tests are named, want 30 or more", seen)
	}
}
