package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// Each unsupported format is recognised by its names, for any contents, and by its first bytes.
// None of them is a supported format.
func TestForeign(t *testing.T) {
	read := map[string]bool{}
	for _, f := range fileFormats() {
		for _, ext := range f.Extensions {
			read[ext] = true
		}
	}
	for _, f := range foreignFormats() {
		want := f.name + " is not read; convert it first: " + f.convert
		for _, ext := range f.extensions {
			if read[ext] {
				t.Errorf("%s of %s is read", ext, f.name)
			}
			for _, data := range []string{"some text", storage.GzipMagic + "and more"} {
				checkRefusedCheaply(t, "a"+strings.ToUpper(ext), []byte(data), format.Options{}, want)
			}
			read[ext] = true
			if IsImage("a" + ext) {
				t.Errorf("%s counts as an image", ext)
			}
			// The user's description of a raw file has precedence.
			if _, err := openFileBytes("a"+ext, []byte("123456"), format.Options{Shape: grid.Shape{D: 1, H: 2, W: 3}, Type: grid.Uint8}); err != nil {
				t.Errorf("raw: %v", err)
			}
		}
		for _, magic := range f.magics {
			if f.name == "netCDF" && magic[0] == '\x89' { // HDF5 without a name
				continue
			}
			checkRefusedCheaply(t, "image", []byte(magic+" and more of it"), format.Options{}, want)
		}
		if len(f.extensions)+len(f.magics) == 0 || strings.Contains(want, "\n") {
			t.Errorf("%q", want)
		}
	}
	const hdf5 = "\x89HDF\r\n\x1a\n"
	for _, c := range []struct{ name, head, want string }{
		{"a.nc", "CDF\x01", "netCDF"}, {"a.nc", "CDF\x02", "netCDF"}, {"a.nc4", "CDF\x05", "netCDF"}, {"a.nc", hdf5, "netCDF"},
		{"a.h5", "CDF\x01", "netCDF"}, {"a.hdf", hdf5, "HDF5"}, {"a.mnc", hdf5, "MINC"}, {"a.mnc", "CDF\x01", "MINC"}, {"a.ims", hdf5, "Imaris"},
	} {
		checkRefusedCheaply(t, c.name, []byte(c.head+" and more of it"), format.Options{}, c.want+" is not read; convert it first: ")
	}
	dir := filepath.Join(t.TempDir(), "brain.n5")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, format.Options{})
	checkFileError(t, "a folder", err, "N5 is not read")
	if err := Foreign(dir + "/"); err == nil || Foreign(t.TempDir()) != nil {
		t.Errorf("folders: %v", err)
	}
	checkRefusedCheaply(t, "image.hdr", readFixture(t, "analyze_3d.hdr"), format.Options{}, "ANALYZE 7.5")
}
