package gvf

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// Extensions are those of the files that a field is written to.
func Extensions() []string { return []string{".npy", ".nii", ".nii.gz", ".nrrd", ".mha"} }

// Extension is which of them a path ends with, or "".
func Extension(path string) string {
	i := slices.IndexFunc(Extensions(), func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) })
	if i < 0 {
		return ""
	}
	return Extensions()[i]
}

// Write writes a field of an image of a shape in the format of an extension: float32, its
// components x, y and z in this order. With 3 components the image is a volume, if only of one
// slice. The note is one line that formats with comments hold.
//
//	.npy           an array of shape (components, depth, height, width), in 2D without depth
//	.nii, .nii.gz  NIfTI-1, the components along the fifth axis (intent vector)
//	.nrrd          the components along the last axis (kind vector)
//	.mha           MetaImage, the components of a voxel side by side
func Write(w io.Writer, extension string, s grid.Shape, f Flow, note string) error {
	b := bufio.NewWriterSize(w, 1<<18)
	var err error
	switch extension {
	case ".npy":
		err = planar(b, npyHeader(s, len(f.V)), f)
	case ".nii":
		err = writeNifti(b, s, f, note)
	case ".nii.gz":
		z := gzip.NewWriter(b)
		if err = writeNifti(z, s, f, note); err == nil {
			err = z.Close()
		}
	case ".nrrd":
		err = planar(b, nrrdHeader(s, len(f.V), note), f)
	case ".mha":
		err = writeMeta(b, s, f, note)
	default:
		err = fmt.Errorf("no format has the extension %q", extension)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// planar writes a header and one component after the other.
func planar(w io.Writer, header []byte, f Flow) error {
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, list := range f.V {
		if err := WriteValues(w, list); err != nil {
			return err
		}
	}
	return nil
}

func npyHeader(s grid.Shape, components int) []byte {
	if components == 3 {
		return headers.Npy("f4", int64(components), s.D, s.H, s.W)
	}
	return headers.Npy("f4", int64(components), s.H, s.W)
}

func writeNifti(w io.Writer, s grid.Shape, f Flow, note string) error {
	header, err := headers.Nifti{Kind: "f4", Shape: []int64{s.W, s.H, s.D, 1, int64(len(f.V))}, Vector: true, Note: note, Name: "flow"}.Header()
	if err != nil {
		return err
	}
	return planar(w, header, f)
}

func nrrdHeader(s grid.Shape, components int, note string) []byte {
	sizes, kinds := fmt.Sprintf("%d %d", s.W, s.H), "domain domain"
	if components == 3 {
		sizes, kinds = fmt.Sprintf("%s %d", sizes, s.D), kinds+" domain"
	}
	return fmt.Appendf(nil, "NRRD0004\n# %s\ntype: float\ndimension: %d\nsizes: %s %d\nkinds: %s vector\nendian: little\nencoding: raw\n\n", note, components+1, sizes, components, kinds)
}

// writeMeta writes a MetaImage.
func writeMeta(w io.Writer, s grid.Shape, f Flow, note string) error {
	sizes, spacing := fmt.Sprintf("%d %d", s.W, s.H), "1 1"
	if len(f.V) == 3 {
		sizes, spacing = fmt.Sprintf("%s %d", sizes, s.D), "1 1 1"
	}
	_, err := fmt.Fprintf(w, "ObjectType = Image\nComment = %s\nNDims = %d\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\nElementSpacing = %s\nDimSize = %s\nElementNumberOfChannels = %d\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
		note, len(f.V), spacing, sizes, len(f.V))
	if err != nil {
		return err
	}
	side := make([]float32, 0, 3<<14)
	for i := range f.V[0] {
		for _, list := range f.V {
			side = append(side, list[i])
		}
		if len(side)+3 > cap(side) || i == len(f.V[0])-1 {
			if err := WriteValues(w, side); err != nil {
				return err
			}
			side = side[:0]
		}
	}
	return nil
}
