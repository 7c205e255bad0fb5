//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// Rows without a header equal those with one, and every written provenance has the SHA-256 of the values. Where the
// file does not have them in the order of the image, or a mask leaves some out, it has the digest of their ranks.
func TestRowsWithoutHeader(t *testing.T) {
	folder := t.TempDir()
	path, written := filepath.Join(folder, "image.npy"), filepath.Join(folder, "about.json")
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 4*5*6)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	values[7] = math.Copysign(0, -1)
	store := func(path, header string, b []byte) {
		if err := os.WriteFile(path, append([]byte(header), b...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store(path, string(headers.Npy("f8", 4, 5, 6)), grid.Bytes(values))
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(grid.Bytes(values)))
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
		if got := mustTell(t, append(args, "--no-header", "--provenance", written)...); got != want {
			t.Errorf("%s with a provenance: %q, want %q", line, got, want)
		}
		text, err := os.ReadFile(written)
		if err != nil {
			t.Fatal(err)
		}
		checkProvenance(t, line, text, "thresholds of float64", digest)
		if comment := mustTell(t, args...); !strings.Contains(comment, digest) {
			t.Errorf("%s: %q, want %s", line, comment, digest)
		}
	}
	for _, line := range []string{"betti --at 0 --format json", "curve --levels 5 --format json"} {
		text := mustTell(t, append(strings.Fields(line), path, "-q", "--no-header")...)
		checkProvenance(t, line, []byte(text), "thresholds of float64", digest)
	}
	// Swapped bytes are read as values.
	big, fortran, mask := filepath.Join(folder, "big.npy"), filepath.Join(folder, "f.npy"), filepath.Join(folder, "mask.npy")
	swapped := grid.Bytes(slices.Clone(values))
	format.SwapBytes(swapped, 8)
	store(big, strings.Replace(string(headers.Npy("f8", 4, 5, 6)), "<f8", ">f8", 1), swapped)
	store(fortran, strings.Replace(string(headers.Npy("f8", 6, 5, 4)), "False", "True ", 1), grid.Bytes(values))
	store(mask, string(headers.Npy("u1", 4, 5, 6)), slices.Repeat([]byte{1}, len(values)))
	about := func(args ...string) []byte {
		return []byte(mustTell(t, append(args, "--at", "0", "--format", "json", "-q")...))
	}
	checkProvenance(t, "big-endian", about("betti", big), "thresholds of float64", digest)
	for _, args := range [][]string{{fortran}, {path, "--mask", mask}, {"file/roll=1/path=" + path}} {
		checkProvenance(t, args[0], about(append([]string{"betti"}, args...)...), "120 distinct values of float64", "")
	}
}

// checkProvenance expects a digest of 32 hexadecimal digits if want is "".
func checkProvenance(t *testing.T, line string, text []byte, ladder, want string) {
	var p struct{ Type, Ladder, Digest string }
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.Type != "float64" || p.Digest != want && (want != "" || len(p.Digest) != 32) ||
		p.Ladder != ladder && !strings.HasPrefix(p.Ladder, "5 evenly spaced values") {
		t.Errorf("%s: %+v, want %s, %s", line, p, ladder, want)
	}
}
