package files

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// copied copies the files of a fixture to a folder, and returns the paths of its header and data.
func (f pairFixture) copied(t *testing.T) (header string, data []string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append([]string{f.name}, f.data...) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, readFixture(t, name), 0o666); err != nil {
			t.Fatal(err)
		}
		data = append(data, path)
	}
	return data[0], data[1:]
}

func TestPairFixtures(t *testing.T) {
	for _, f := range pairFixtures() {
		t.Run(f.name, func(t *testing.T) {
			header := filepath.Join(fixtureDir, f.name)
			whole, err := Open(header, format.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkFileImage(t, whole, f.shape, f.typ, f.value)
			s, err := Open(header, format.Options{Stream: true})
			packed := strings.HasSuffix(f.data[0], ".gz") || strings.HasSuffix(f.data[0], ".bz2") || strings.HasSuffix(f.data[0], ".zraw")
			if packed {
				checkFileError(t, f.name, err, "cannot be streamed because ")
			} else if err != nil {
				t.Fatal(err)
			} else {
				checkFileImage(t, s, f.shape, f.typ, f.value)
				if got := len(s.(*format.Stream).Files.Files); got != 1+len(f.data) {
					t.Errorf("%d open files are put out of the page cache and closed, want %d", got, 1+len(f.data))
				}
				if err := grid.Close(s); err != nil {
					t.Error(err)
				}
			}
			want := []string{header}
			for _, name := range f.data {
				want = append(want, filepath.Join(fixtureDir, name))
			}
			if got := Named.Files("file/path=" + header); !slices.Equal(got, want) {
				t.Errorf("files %q, want %q", got, want)
			}
			_, err = openFileBytes(f.name, readFixture(t, f.name), format.Options{})
			checkFileError(t, "bytes without a folder", err, "; ")
		})
	}
}

// The data of a header may be missing, too short, too long, or no regular file.
func TestPairDamaged(t *testing.T) {
	for _, f := range pairFixtures() {
		t.Run(f.name, func(t *testing.T) {
			header, data := f.copied(t)
			last := data[len(data)-1]
			whole := readFixture(t, filepath.Base(last))
			set := func(b []byte) {
				t.Helper()
				if err := os.WriteFile(last, b, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			open := func(what string, accept bool) {
				t.Helper()
				for _, stream := range []bool{false, true} {
					s, err := Open(header, format.Options{Stream: stream})
					if err == nil && !accept {
						t.Errorf("%s: accepted", what)
					}
					if err == nil {
						fileValues(t, s)
						grid.Close(s)
					} else if strings.Contains(err.Error(), "\n") {
						t.Errorf("%s: error of several lines: %q", what, err)
					}
				}
			}
			fromEnd := strings.Contains(f.name, "_end_")
			for n := range whole {
				set(whole[:n])
				open("cut short", fromEnd && len(whole)-n <= 7) // the rest of the end has the same length
			}
			set(append(bytes.Clone(whole), 1))
			open("longer", fromEnd)
			set(whole)
			good := readFixture(t, f.name)
			for n := range good {
				bad := bytes.Clone(good)
				bad[n] ^= 0x15
				if err := os.WriteFile(header, bad, 0o666); err != nil {
					t.Fatal(err)
				}
				open("damaged header", true)
			}
			if err := os.WriteFile(header, good, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(last); err != nil {
				t.Fatal(err)
			}
			open("missing", false)
			_, err := Open(header, format.Options{})
			checkFileError(t, "missing", err, filepath.Base(last)[:4])
			if err := os.Mkdir(last, 0o777); err != nil {
				t.Fatal(err)
			}
			_, err = Open(header, format.Options{})
			checkFileError(t, "a folder", err, "is a directory")
		})
	}
}

// An image is read again if its data change but its header does not.
func TestPairSurveys(t *testing.T) {
	var f pairFixture
	for _, f = range pairFixtures() {
		if f.name == "f32_detached_3d.nhdr" {
			break
		}
	}
	header, data := f.copied(t)
	var surveys format.Surveys
	levels := func() int64 {
		t.Helper()
		s, err := Named.OpenWith(&surveys, "file/path="+header)
		if err != nil {
			t.Fatal(err)
		}
		defer grid.Close(s)
		return s.Ladder().Len()
	}
	if first, again := levels(), levels(); first != 24 || again != 24 || surveyed(&surveys) != 1 {
		t.Errorf("%d and %d levels by %d surveys, want 24 by one", first, again, surveyed(&surveys))
	}
	if err := os.WriteFile(data[0], make([]byte, 2*96)[:96], 0o666); err != nil {
		t.Fatal(err)
	}
	if got := levels(); got != 1 {
		t.Errorf("%d levels of an image of zeros", got)
	}
}

// surveyed returns the number of kept surveys.
func surveyed(s *format.Surveys) int { return reflect.ValueOf(s).Elem().FieldByName("list").Len() }
