//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// told runs the program, and returns its output and exit code.
func told(args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	c := programWith(same)
	c.Stdout, c.Stderr = &out, &err
	code = eccbench(c, args)
	return out.String(), err.String(), code
}

// mustTell runs the program, requires success, and returns its output.
func mustTell(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := told(args...)
	if code != 0 {
		t.Fatalf("eccbench %q: exit code %d: %s", args, code, errs)
	}
	return out
}

var keys = regexp.MustCompile(`\(key [0-9a-f]{32}\)`)

// anyKey replaces the random key of a fingerprint in a text, so that texts compare equal.
func anyKey(text string) string {
	head := min(len(text), 4096)
	return keys.ReplaceAllString(text[:head], "(key K)") + text[head:]
}

// raws writes images as raw files and returns the flags that describe them.
func raws(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	write := func(name string, data []byte, flags ...string) []string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return append([]string{path}, flags...)
	}
	bytesOf := func(n int, value func(int) uint8) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = value(i)
		}
		return b
	}
	floats := func(n int, value func(int) float32) (b []byte) {
		for i := range n {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(value(i)))
		}
		return b
	}
	few := func(int) uint8 { return uint8(rng.IntN(4)) }
	normal := func(int) float32 { return float32(rng.NormFloat64()) }
	list := map[string][]string{
		"8 bits":      write("u8.raw", bytesOf(5*4*9, few), "--shape", "5x4x9", "--type", "uint8"),
		"2D":          write("flat.raw", bytesOf(7*9, few), "--shape", "7x9", "--type", "uint8"),
		"16 bits":     write("i16.raw", bytesOf(2*5*4*9, func(int) uint8 { return uint8(rng.Uint32()) }), "--shape", "5x4x9", "--type", "int16"),
		"float32":     write("f32.raw", floats(5*4*9, normal), "--shape", "5x4x9", "--type", "float32"),
		"2D float32":  write("flat32.raw", floats(7*9, normal), "--shape", "7x9", "--type", "float32"),
		"zeros":       write("zeros.raw", floats(3*3*4, func(i int) float32 { return float32(math.Copysign(float64(i%3/2), float64(1-2*(i%2)))) }), "--shape", "3x3x4", "--type", "float32"),
		"nothing":     write("nothing.raw", floats(3*3*4, func(int) float32 { return float32(math.NaN()) }), "--shape", "3x3x4", "--type", "float32", "--nan", "mask"),
		"two planes":  write("two.raw", bytesOf(5*4*2, few), "--shape", "5x4x2", "--type", "uint8"),
		"generated":   {"noise/shape=6x5x9/type=uint16/levels=50/seed=3"},
		"turned":      {"noise/shape=6x5x9/type=uint8/levels=9/seed=3/roll=4/repeat=3"},
		"even levels": {"grf/shape=9x9x9/smooth=2/seed=1/levels=30"},
		"gaps": write("nan.raw", floats(5*4*9, func(i int) float32 {
			if i%7 == 3 {
				return float32(math.NaN())
			}
			return normal(i)
		}), "--shape", "5x4x9", "--type", "float32", "--nan", "mask"),
	}
	packed := bytes.NewBufferString("NRRD0004\ntype: uint8\ndimension: 3\nsizes: 5 4 9\nencoding: gzip\n\n")
	z := gzip.NewWriter(packed)
	z.Write(bytesOf(5*4*9, few)) // to memory
	z.Close()
	list["compressed"] = []string{"file/stream=once/path=" + write("packed.nrrd", packed.Bytes())[0]}
	if err := os.Mkdir(filepath.Join(dir, "stack"), 0o777); err != nil {
		t.Fatal(err)
	}
	for z := range 9 {
		write(fmt.Sprintf("stack/%d.raw", z), bytesOf(5*4, few))
	}
	list["stack"] = []string{filepath.Join(dir, "stack"), "--stack", "--shape", "5x4", "--type", "uint8"}
	list["masked"] = []string{"file/shape=5x4x9/type=uint8/path=" + list["8 bits"][0]}
	list["masked float32"] = []string{"file/shape=5x4x9/type=float32/levels=every/path=" + list["float32"][0]}
	return list
}

// sharded are the parts of a curve in a folder, by name in reverse order.
func sharded(t *testing.T, n int, args ...string) (files []string) {
	t.Helper()
	return shardedBy(t, "curve", n, args...)
}

// shardedBy are the parts that a subcommand makes.
func shardedBy(t *testing.T, subcommand string, n int, args ...string) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		mustTell(t, append([]string{subcommand, "--quiet", "--shard", fmt.Sprintf("%d/%d", i+1, n), "--out", dir}, args...)...)
		files = append(files, filepath.Join(dir, fmt.Sprintf("%d-of-%d.part", i+1, n)))
	}
	slices.Reverse(files)
	return files
}

// The parts of an image are its curve to the byte, in every convention, however many there are
// and in whatever order.
func TestPartsAreTheCurve(t *testing.T) {
	conventions := [][]string{
		nil, {"--superlevel"}, {"--construction", "V"}, {"--construction", "V", "--superlevel"},
		{"--periodic", "x,y"}, {"--periodic", "y", "--superlevel"},
	}
	solid := [][]string{{"--periodic", "z"}, {"--periodic", "x,y,z", "--construction", "V"}, {"--periodic", "z", "--superlevel"}}
	for name, image := range raws(t) {
		t.Run(name, func(t *testing.T) {
			list := slices.Clone(conventions)
			if !strings.Contains(name, "2D") {
				list = append(list, solid...)
			}
			if name == "masked" || name == "masked float32" {
				for i := range list {
					list[i] = append([]string{"--mask", "checkerboard/shape=5x4x9/type=uint8/roll=1"}, list[i]...)
				}
			}
			for i, c := range list {
				args := append(slices.Clone(image), c...)
				want := anyKey(mustTell(t, append([]string{"curve", "--quiet"}, args...)...))
				counts := [][]int{{1, 3}, {2}, {7}}[i%3]
				if i == 0 {
					counts = []int{2, 12} // more than there are slices
				}
				for _, n := range counts {
					got := mustTell(t, append([]string{"merge", "--quiet"}, sharded(t, n, args...)...)...)
					if name == "turned" { // its whole has another witness
						_, want, _ := strings.Cut(want, "VERIFIED by ")
						_, got, _ := strings.Cut(got, "VERIFIED by ")
						_, want, _ = strings.Cut(want, "\n")
						if _, got, _ = strings.Cut(got, "\n"); got == want && got != "" {
							continue
						}
					}
					if anyKey(got) != want {
						t.Errorf("%q in %d parts:\n%.600s\nwant\n%.600s", c, n, got, want)
					}
				}
			}
		})
	}
}

// The parts of Betti numbers merge to the numbers of the image: in every convention, for any number of
// parts in any order, to the byte except for the witness.
func TestBettiPartsAreTheNumbers(t *testing.T) {
	rows := func(text string) string {
		head, _, _ := strings.Cut(text, "VERIFIED by ")
		_, rest, _ := strings.Cut(text, "\n")
		return head + "\n" + rest
	}
	for name, image := range raws(t) {
		if slices.Contains(image, "--nan") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for i, c := range [][]string{nil, {"--superlevel"}, {"--construction", "V"}, {"--construction", "V", "--superlevel", "--format", "json"}} {
				args := append(slices.Clone(image), c...)
				args[0] = strings.Replace(args[0], "/stream=once", "", 1) // it is read several times
				more := []string{"--at", "1,0.25,2.5,1,-9e9"}
				var format []string
				if at := slices.Index(args, "--format"); at > 0 {
					args, format = slices.Clip(args[:at]), args[at:]
				}
				want := mustTell(t, slices.Concat([]string{"betti", "--quiet"}, args, more, format)...)
				for _, n := range [][]int{{1, 12}, {2}, {3, 9}, {7}}[i] {
					got := mustTell(t, slices.Concat([]string{"merge", "--quiet"}, shardedBy(t, "betti", n, append(args, more...)...), format)...)
					if name == "turned" { // its whole has a digest
						_, got, _ = strings.Cut(got, "\n")
						_, want, _ := strings.Cut(want, "\n")
						if got == want || format != nil {
							continue
						}
					}
					if format != nil {
						_, got, _ = strings.Cut(got, `"betti"`)
						_, want, _ = strings.Cut(want, `"betti"`)
					}
					if rows(got) != rows(want) || got == "" {
						t.Errorf("%q in %d parts:\n%.900s\nwant\n%.900s", c, n, got, want)
					}
				}
			}
		})
	}
}

// merge writes the output of curve, in every format and for any rows.
func TestMergedRows(t *testing.T) {
	images := raws(t)
	for _, name := range []string{"8 bits", "float32", "nothing"} {
		for _, c := range [][]string{nil, {"--superlevel"}} {
			files := sharded(t, 3, append(slices.Clone(images[name]), c...)...)
			for _, rows := range [][]string{
				{"--format", "csv"}, {"--format", "json"}, {"--format", "jsonl"}, {"--format", "npy"}, {"--format", "euler"}, {"--format", "socg"}, {"--no-header"},
				{"--all"}, {"--all", "--format", "json"}, {"--at", "-1,0,0.5,2,9"}, {"--range", "0.5,2"}, {"--range", "1,1", "--format", "npy"}, {"--range", "1,2", "--all", "--format", "json"}, {"--range", "-9,-8", "--format", "json"},
			} {
				args := append(slices.Concat([]string{"curve", "--quiet"}, images[name], c), rows...)
				merge := append(append([]string{"merge", "--quiet"}, files...), rows...)
				if every := slices.Contains(rows, "--all") || slices.Contains(rows, "euler"); every && name != "8 bits" {
					if _, errs, code := told(merge...); code != 64 || !strings.Contains(errs, "too many rows") {
						t.Errorf("%q: %d %s", rows, code, errs)
					}
					continue
				}
				if got, want := anyKey(mustTell(t, merge...)), anyKey(mustTell(t, args...)); got != want {
					t.Errorf("%s %q %q:\n%.500q\nwant\n%.500q", name, c, rows, got, want)
				}
			}
			if name == "nothing" { // is not drawn
				continue
			}
			svg := func(args ...string) string {
				path := filepath.Join(t.TempDir(), "a.svg")
				mustTell(t, append(args, "--quiet", "--plot", path)...)
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				return anyKey(string(b))
			}
			if got, want := svg(append([]string{"merge"}, files...)...), svg(slices.Concat([]string{"curve"}, images[name], c)...); got != want {
				t.Errorf("%s %q: another plot", name, c)
			}
		}
	}
}
