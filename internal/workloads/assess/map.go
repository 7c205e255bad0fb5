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
// extension. affine maps (x, y, z, 1) to millimetres right, anterior and superior; nil if unknown.
func WriteMap(w io.Writer, extension string, s grid.Shape, axes int, values []float32, affine *[3][4]float64,
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
		n := headers.Nifti{Kind: "f4", Shape: []int64{s.W, s.H, s.D}, Note: note, Name: "local chi", Affine: affine}
		header, err = n.Header()
	case ".nrrd":
		header = nrrd(s, axes, affine, note)
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
func nrrd(s grid.Shape, axes int, affine *[3][4]float64, note string) []byte {
	var h strings.Builder
	sizes := fmt.Sprintf("%d %d %d", s.W, s.H, s.D)
	dimension := 3
	if axes == 2 && affine == nil {
		sizes, dimension = fmt.Sprintf("%d %d", s.W, s.H), 2
	}
	fmt.Fprintf(&h, "NRRD0005\n# %s\ntype: float\ndimension: %d\nsizes: %s\nendian: little\nencoding: raw\n",
		strings.ReplaceAll(note, "\n", " "), dimension, sizes)
	if affine != nil {
		fmt.Fprint(&h, "space: right-anterior-superior\nspace directions:")
		for c := range 3 {
			fmt.Fprintf(&h, " (%g,%g,%g)", affine[0][c], affine[1][c], affine[2][c])
		}
		fmt.Fprintf(&h, "\nspace origin: (%g,%g,%g)\n", affine[0][3], affine[1][3], affine[2][3])
	}
	return []byte(h.String() + "\n")
}
