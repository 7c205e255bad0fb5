package files

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/edits.txt")

// TestEdits rewrites testdata/edits.txt with -update, and prints the result of each edited file
// with -v.
func TestEdits(t *testing.T) {
	if !*update && !testing.Verbose() {
		t.Skip("it is one of the checks")
	}
	old, err := os.ReadFile(editsFile)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, zarrFixtureFiles(t)); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairFixtures() {
		for _, name := range append([]string{p.name}, p.data...) {
			if err := os.WriteFile(filepath.Join(dir, name), fixture(t, name), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	var text bytes.Buffer
	for line := range strings.Lines(string(old)) {
		hash, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if what != "" && hash != "#" {
			var seen string
			if name, ok := strings.CutPrefix(what, "= "); ok {
				hash, seen = nameShown(name)
			} else {
				hash, seen = edited(t, dir, what)
			}
			t.Logf("%s\n%.2000s", what, seen)
		}
		fmt.Fprintln(&text, strings.TrimSpace(hash+" "+what))
	}
	if *update {
		if err := os.WriteFile(editsFile, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
