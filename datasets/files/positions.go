package files

import (
	"strings"

	"eccbench/datasets/storage"
)

// GeometryOf reads the geometry of a NIfTI, NRRD or MetaImage file; nil if the file has none or
// another format.
func GeometryOf(path string) (*Geometry, error) {
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
		if known.geometry != nil && known.has(strings.ToLower(path)) {
			return known.geometry(fileInput{ReaderAt: f, size: size, files: files})
		}
	}
	return nil, nil
}
