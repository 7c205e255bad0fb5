package assess

import (
	"fmt"
	"io"
	"strings"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// MapExtensions are the file extensions of the formats that WriteMap writes.
func MapExtensions() []string { return []string{".npy", ".nii", ".nii.gz", ".nrrd"} }

// MapExtension returns the extension of MapExtensions that a path ends with, or "".
func MapExtension(path string) string { return headers.Extension(path, MapExtensions()) }

// WriteMap writes a float32 map of an image with the given number of axes, in the format of an
// extension. The place is nil if unknown.
func WriteMap(w io.Writer, extension string, s grid.Shape, axes int, values []float32, place *headers.Place,
	note string) error {
	var header []byte
	var err error
	switch extension {
	case ".npy":
		header = headers.Npy("f4", s.D, s.H, s.W)
		if axes == 2 {
			header = headers.Npy("f4", s.H, s.W)
		}
	case ".nii", ".nii.gz":
		n := headers.Nifti{Kind: "f4", Shape: []int64{s.W, s.H, s.D}, Note: note, Name: "local chi", Place: place}
		header, err = n.Header()
	case ".nrrd":
		header = nrrd(s, axes, place, note)
	default:
		err = fmt.Errorf("no format has the extension %q", extension)
	}
	if err != nil {
		return err
	}
	return headers.Write(w, extension, header, func(w io.Writer) error {
		_, err := w.Write(grid.Bytes(values))
		return err
	})
}

// nrrd returns the header of an NRRD file.
func nrrd(s grid.Shape, axes int, place *headers.Place, note string) []byte {
	dimension, sizes := place.Axes(axes), fmt.Sprintf("%d %d", s.W, s.H)
	if dimension == 3 {
		sizes = fmt.Sprintf("%s %d", sizes, s.D)
	}
	return fmt.Appendf(nil, "NRRD0005\n# %s\ntype: float\ndimension: %d\nsizes: %s\n%sendian: little\nencoding: raw\n\n",
		strings.ReplaceAll(note, "\n", " "), dimension, sizes, place.Nrrd(axes, 0))
}
