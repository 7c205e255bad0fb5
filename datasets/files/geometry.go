package files

import (
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
)

// GeometryOf reads the geometry of a NIfTI, NRRD or MetaImage file; nil if the file has none or
// another format.
func GeometryOf(path string) (*format.Geometry, error) {
	if IsZarr(path) || isZarrName(path) {
		return nil, nil
	}
	files := &storage.Set{}
	defer files.Close() // only the header is read
	f, size, err := files.Open(path)
	if err != nil || !IsImage(path) {
		return nil, err
	}
	for _, known := range fileFormats() {
		if known.Geometry != nil && known.HasExtension(strings.ToLower(path)) {
			return known.Geometry(format.Input{ReaderAt: f, Size: size, Files: files})
		}
	}
	return nil, nil
}
