package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/race"
)

var update = flag.Bool("update", false, "rewrite testdata/digests.txt")

// TestDigests compares images with testdata/digests.txt. A line has a digest, an input string, and
// an optional range of slices. The bytes of a generated image never change; run with -update only
// to add names.
func TestDigests(t *testing.T) {
	const path = "testdata/digests.txt"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for line := range strings.Lines(string(old)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			fmt.Fprintln(&text, line)
			continue
		}
		want, what, _ := strings.Cut(line, " ")
		if large := strings.Contains(what, "x4096x4096"); large && (race.Enabled || testing.Short()) {
			fmt.Fprintln(&text, line)
			continue
		}
		got := digestOf(t, what)
		fmt.Fprintln(&text, got, what)
		if got != want && !*update {
			t.Errorf("%s: digest %s, want %s", what, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// digestOf returns the digest of "NAME", or of the slices in "NAME LO HI" as a separate image.
func digestOf(t *testing.T, what string) string {
	t.Helper()
	name, slab, partial := strings.Cut(what, " ")
	s := openNamed(t, name)
	if got, err := Canonical(name); err != nil || got != name {
		t.Errorf("%s is not canonical: %s, %v", name, got, err)
	}
	if partial {
		var lo, hi int64
		if _, err := fmt.Sscan(slab, &lo, &hi); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		data := grid.NewBuffer((hi - lo) * grid.SliceBytes(s))
		if err := s.ReadSlab(data, lo, hi); err != nil {
			t.Fatal(err)
		}
		f, err := grid.Trusted(s.Shape().WithSlices(hi-lo), s.Type(), data, s.Ladder())
		if err != nil {
			t.Fatal(err)
		}
		s = f
	}
	d, err := gridtest.Digest(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
