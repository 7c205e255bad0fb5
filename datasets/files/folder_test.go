package files

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/internal/grid"
)

// writeAll writes files to a folder. Their names are the keys.
func writeAll(t *testing.T, dir string, contents map[string]string) {
	t.Helper()
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// moveFile renames a file, which it compresses if the new name is that of a gzip file.
func moveFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(to, ".gz") {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(data)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = packed.Bytes()
	}
	if err := os.Remove(from); err != nil {
		t.Fatal(err)
	}
	writeAll(t, filepath.Dir(to), map[string]string{filepath.Base(to): string(data)})
}

// reversedSeries writes four slices of DICOM in the order opposite to that of their names.
func reversedSeries(t *testing.T) (dir string) {
	at := func(z string) dicomCase { return dicomCase{dicomPosition: ds(`0\0\` + z)} }
	return writeSeries(t, axial, at("3"), at("2"), at("1"), at("0"))
}

// hasSlices checks that a stack of 3x2 slices has one value in each slice, and skips some files.
func hasSlices(t *testing.T, dir, skipped string, values ...float64) {
	t.Helper()
	var want []float64
	for _, v := range values {
		want = append(want, v, v, v, v, v, v)
	}
	for _, stream := range []string{"", "/stream=true", "/stream=once"} {
		s, err := Named.Open("stack" + stream + "/path=" + dir)
		if err != nil {
			t.Errorf("%s: %v", stream, err)
			continue
		}
		checkValues(t, stream, s, fmt.Sprintf("3x2x%d", len(values)), want)
		if got := grid.Missing(s); got != skipped {
			t.Errorf("%s: missing %q, want %q", stream, got, skipped)
		}
	}
}

// Slices that are compressed as files are sorted by position too.
func TestDicomSeriesIsCompressed(t *testing.T) {
	for name, packed := range map[string][]int{"all": {1, 2, 3, 4}, "the first": {1}, "one": {3}} {
		for _, suffix := range []string{"", ".dcm"} {
			t.Run(name+suffix, func(t *testing.T) {
				dir := reversedSeries(t)
				for k := range 4 {
					old := filepath.Join(dir, fmt.Sprintf("IM%d", k+1))
					moveFile(t, old, old+suffix)
				}
				for _, k := range packed {
					old := filepath.Join(dir, fmt.Sprintf("IM%d", k)+suffix)
					moveFile(t, old, old+".gz")
				}
				hasSlices(t, dir, "", 4, 3, 2, 1)
			})
		}
	}
}

// A damaged file of a DICOM series is an error. Texts, indices and files of other programs are skipped.
func TestDicomSeriesOfFolder(t *testing.T) {
	for _, suffix := range []string{"", ".MR", ".dcm"} {
		for name, c := range map[string]struct{ file, text, want string }{
			"empty":  {"IM5", "", "slice DIR/IM5: no DICOM file"},
			"zeroed": {"IM5", strings.Repeat("\x00", 600), "slice DIR/IM5: no DICOM file"},
			"junk":   {"IM5", "not found", "slice DIR/IM5: no DICOM file"},
			"number": {"1.2.840.5", "not found", "slice DIR/1.2.840.5: no DICOM file"},
			"suffix": {"IM0" + suffix, "", "slice DIR/IM0" + suffix + ": "},
		} {
			dir := reversedSeries(t)
			for k := range 4 {
				old := filepath.Join(dir, fmt.Sprintf("IM%d", k+1))
				moveFile(t, old, old+suffix)
			}
			writeAll(t, dir, map[string]string{"README": "of the series", "DICOMDIR": "", ".DS_Store": "", "Thumbs.db": "",
				"scan.json": "{}"})
			hasSlices(t, dir, `skipped 2 in the folder: "README", "scan.json"`, 4, 3, 2, 1)
			writeAll(t, dir, map[string]string{c.file: c.text})
			for _, stream := range []string{"", "/stream=true"} {
				_, err := Named.Open("stack" + stream + "/path=" + dir)
				checkFileError(t, name+suffix, err, dir+": "+strings.Replace(c.want, "DIR", dir, 1))
			}
		}
	}
}

// Links are slices, as in the folders of git-annex, unless they lead to folders.
func TestDicomSeriesOfLinks(t *testing.T) {
	dir, links := reversedSeries(t), t.TempDir()
	for k := range 4 {
		name := fmt.Sprintf("IM%d", k+1)
		if err := os.Symlink(filepath.Join(dir, name), filepath.Join(links, name)); err != nil {
			t.Skip(err)
		}
	}
	hasSlices(t, links, "", 4, 3, 2, 1)
	if err := os.Symlink(dir, filepath.Join(links, "other")); err != nil {
		t.Fatal(err)
	}
	hasSlices(t, links, `skipped 1 in the folder: "other"`, 4, 3, 2, 1)
}

// Skipped files of a folder are reported, but not the data file of a slice.
func TestStackReportsSkippedFiles(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{"._s1.npy": "of macOS", "s3.jpg": "", "s4": "", "s5.npy_": "", "s6.webp": ""})
	if err := os.Mkdir(filepath.Join(dir, "more.png"), 0o777); err != nil {
		t.Fatal(err)
	}
	writeSlices(t, dir, ".npy", "|u1", element.Uint8, 2, func(int64) float64 { return 7 })
	hasSlices(t, dir, `skipped 5 in the folder: "more.png", "s3.jpg" (JPEG is not read), "s4", "s5.npy_", `+
		`"s6.webp" (WebP is not read)`, 7, 7)

	dir = t.TempDir()
	for _, k := range []string{"1", "2"} {
		writeAll(t, dir, map[string]string{k + ".raw": "aaaaaa",
			k + ".mhd": "NDims = 2\nDimSize = 3 2\nElementType = MET_UCHAR\nElementDataFile = " + k + ".raw\n"})
	}
	hasSlices(t, dir, "", 'a', 'a')
	writeAll(t, dir, map[string]string{"3.raw": "aaaaaa"})
	hasSlices(t, dir, `skipped 1 in the folder: "3.raw"`, 'a', 'a')
}

// The slices of a stack have one format, and all or none of them have a position.
func TestStackIsOfOneKind(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{"1.png": string(fixture(t, "u8_2d.png")), "2.tif": string(fixture(t, "u8_2d.tif"))})
	for _, stream := range []string{"", "/stream=true"} {
		s, err := Named.Open("stack" + stream + "/path=" + dir)
		if err == nil {
			err = s.ReadSlab(grid.NewBuffer(2*grid.SliceBytes(s)), 0, 2)
		}
		checkFileError(t, "two formats", err, "2.tif: a TIFF file, where the first slice is a PNG file; want slices of one format")
	}
	dir = writeSeries(t, axial, dicomCase{}, dicomCase{dicomPosition: ds(`0\0\1`)})
	_, err := Named.Open("stack/path=" + dir)
	checkFileError(t, "no position of the first", err, "IM2: it has a position, unlike the first slice")
}
