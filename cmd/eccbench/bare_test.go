//go:build unix

package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// Rows without a header equal those with one, and every written provenance has the ladder and the
// digest of all values.
func TestRowsWithoutHeader(t *testing.T) {
	folder := t.TempDir()
	path, about := filepath.Join(folder, "image.npy"), filepath.Join(folder, "about.json")
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 4*5*6)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	if err := os.WriteFile(path, append(headers.Npy("f8", 4, 5, 6), grid.Bytes(values)...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"curve --at 0,0.1,-9,9", "curve --levels 5", "curve --levels 5 --superlevel --format jsonl",
		"betti --at 0,0.1", "betti --levels 5", "curve --at 0 --each-slice"} {
		args := append(strings.Fields(line), path, "-q")
		_, want, _ := strings.Cut(mustTell(t, args...), "\n")
		if !strings.Contains(line, "jsonl") {
			_, want, _ = strings.Cut(want, "\n")
		}
		if got := mustTell(t, append(args, "--no-header")...); got != want || want == "" {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
		if got := mustTell(t, append(args, "--no-header", "--provenance", about)...); got != want {
			t.Errorf("%s with a provenance: %q, want %q", line, got, want)
		}
		text, err := os.ReadFile(about)
		if err != nil {
			t.Fatal(err)
		}
		checkProvenance(t, line, text)
	}
	for _, line := range []string{"betti --at 0 --format json", "curve --levels 5 --format json"} {
		checkProvenance(t, line, []byte(mustTell(t, append(strings.Fields(line), path, "-q", "--no-header")...)))
	}
}

func checkProvenance(t *testing.T, line string, text []byte) {
	var p struct{ Type, Ladder, Digest string }
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if want := "120 distinct values of float64"; p.Type != "float64" || p.Digest == "" ||
		p.Ladder != want && !strings.HasPrefix(p.Ladder, "5 evenly spaced values") {
		t.Errorf("%s: %+v, want %s", line, p, want)
	}
}
