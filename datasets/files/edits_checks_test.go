package files

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// Each line of testdata/edits.txt describes an edited file. It has a hash of the result, the file,
// the replaced text or the bytes from offset @, and the replacement. A file alone means many
// damaged versions, and = an input string.
const editsFile = "testdata/edits.txt"

// editsShowTheSame checks that the result of each edit is unchanged, for each option: the image, or
// the reason of its rejection.
func editsShowTheSame(t *testing.T) {
	var names []string
	for _, p := range pairFixtures() {
		names = append(append(names, p.name), p.data...)
	}
	checkEdits(t, unpacked(t, names...), false)
}

// namesSayTheSame checks the hashes of input strings.
func namesSayTheSame(t *testing.T) {
	text, err := fixtures.ReadFile(editsFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if what, ok := strings.CutPrefix(what, "= "); ok {
			if got, seen := nameShown(what); got != want {
				t.Fatalf("%s: %s, want %s:\n%s", what, got, want, seen)
			}
		}
	}
}

// nameShown returns the hash of the properties of an input string, and the properties.
func nameShown(what string) (hash, seen string) {
	if name, err := Named.Canonical(what); err != nil {
		seen = err.Error()
	} else {
		variants, err := Named.Variants(what, 4)
		s, unopened := Named.Open(what)
		seen = fmt.Sprintln(name, variants, err, Named.StoredFile(what))
		if unopened == nil && s.Shape().Voxels() > 1<<12 {
			seen += fmt.Sprint(s.Shape(), s.Type(), s.Ladder().Key())
		} else {
			seen += shown(s, unopened)
		}
	}
	return hashOf(seen), seen
}

func hashOf(seen string) string { return fmt.Sprintf("%06x", grid.Hash([]byte(seen))>>40) }

// checkEdits checks the edits of files in a folder and of single files, or of Zarr hierarchies in a
// folder.
func checkEdits(t *testing.T, dir string, zarr bool) {
	text, err := fixtures.ReadFile(editsFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if what == "" || want == "#" || strings.HasPrefix(what, "= ") || zarr != strings.Contains(what, zarrExtension) {
			continue
		}
		if got, seen := edited(t, dir, what); got != want {
			t.Fatalf("%s: %s, want %s:\n%.2000s", what, got, want, seen)
		}
	}
}

// edited returns the hash of the result of reading an edited file, and the result.
func edited(t *testing.T, dir, what string) (hash, seen string) {
	var name, old, by string
	several := false
	switch n, err := fmt.Sscanf(what, "%s %q %q", &name, &old, &by); {
	case n == 1:
		several = true
	case err != nil:
		t.Fatalf("%s: %v", what, err)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil {
		path, data = "", fixture(t, name)
	}
	var b strings.Builder
	see := func(changed []byte, several bool) {
		open := func(o format.Options) (grid.Source, error) { return openFileBytes(name, changed, o) }
		if path != "" {
			if err := os.WriteFile(path, changed, 0o666); err != nil {
				t.Fatal(err)
			}
			image := path
			if i := strings.Index(path, zarrExtension+string(filepath.Separator)); i >= 0 {
				image = path[:i+len(zarrExtension)]
			}
			open = func(o format.Options) (grid.Source, error) { return Open(image, o) }
		}
		one := int64(1)
		options := []format.Options{{}, {Stream: true, Once: true, Every: true}, {Levels: 3}, {Stream: true}, {Volume: &one}, {Every: true}, {Every: true, Gaps: true}}
		if several {
			options = options[:1]
		} else if strings.Contains(name, zarrExtension) {
			options = options[:2]
		}
		for _, o := range options {
			fmt.Fprintln(&b, strings.ReplaceAll(shown(open(o)), dir, ""))
		}
	}
	if several {
		for changed := range damages(name, data) {
			see(changed, true)
		}
	} else {
		changed := bytes.Replace(data, []byte(old), []byte(by), 1)
		if place, ok := strings.CutPrefix(old, "@"); ok {
			at, err := strconv.Atoi(place)
			if err != nil {
				t.Fatal(err)
			}
			changed = append(append(bytes.Clone(data[:at]), by...), data[min(at+len(by), len(data)):]...)
		} else if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("%s: %q is nowhere", name, old)
		}
		see(changed, false)
	}
	if path != "" {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return hashOf(b.String()), b.String()
}

// ours returns an error without messages of other libraries, which may change.
func ours(err error) string {
	text := err.Error()
	for _, other := range []string{"zlib", "gzip", "flate", "zip:", "png", "bzip2", "lzw", "EOF", "magic number", "json", "invalid", "strconv", "cannot unmarshal"} {
		text, _, _ = strings.Cut(text, other)
	}
	return text
}

// shown describes a source, or its error.
func shown(s grid.Source, err error) string {
	if err != nil {
		return ours(err)
	}
	defer grid.Close(s)
	if grid.TotalBytes(s) > 1<<20 { // by the header
		return fmt.Sprint(s.Shape(), s.Type())
	}
	data := grid.NewBuffer(grid.TotalBytes(s))
	if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
		var read *format.ReadError
		if errors.As(err, &read) { // the path of a file is no message of other libraries
			err = read.Err
		}
		return ours(err)
	}
	labels := ""
	if l := grid.LabelsOf(s); l != nil {
		labels = l.String()
	}
	return fmt.Sprintf("%v %v %s %s %x", s.Shape(), s.Type(), s.Ladder().Key(), labels, grid.Hash(data))
}

// damages yields versions of a file. For some of its bytes, it has one byte with the next value,
// with the previous value, and a truncation there. Each line of the header is removed, and
// repeated.
func damages(name string, data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		const most = 256
		for n := 0; n < min(len(data), most); n++ {
			if b := data[n]; b == ' ' && n > 0 && data[n-1] == ' ' {
				continue
			}
			for _, by := range []byte{1, 255} {
				bad := bytes.Clone(data)
				bad[n] += by
				if !yield(bad) {
					return
				}
			}
			if n%4 == 0 && !yield(data[:n]) {
				return
			}
		}
		fits := strings.HasSuffix(name, ".fits")
		for at := 0; at < min(len(data), most); {
			end := at + bytes.IndexByte(data[at:], '\n') + 1
			if fits {
				end = at + fitsCard
			}
			if end <= at {
				return
			}
			without, twice := append(bytes.Clone(data[:at]), data[end:]...), append(bytes.Clone(data[:end]), data[at:]...)
			if fits { // the headers have whole blocks
				without = append(bytes.Clone(without[:fitsBlock-fitsCard]), append(bytes.Repeat([]byte(" "), fitsCard), without[fitsBlock-fitsCard:]...)...)
				twice = append(twice[:fitsBlock], data[fitsBlock:]...)
			}
			if !yield(without) || !yield(twice) {
				return
			}
			at = end
		}
	}
}
