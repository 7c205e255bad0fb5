package gvf

import (
	"fmt"
	"io"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// Extensions lists the file extensions that Write accepts.
func Extensions() []string { return []string{".npy", ".nii", ".nii.gz", ".nrrd", ".mha"} }

// Extension is which of them a path ends with, or "".
func Extension(path string) string { return headers.Extension(path, Extensions()) }

// Write writes a field of an image of a shape in the format of an extension: float32, its
// components x, y and z in this order. With 3 components the image is a volume, if only of one
// slice. The note is one line that formats with comments hold.
//
//	.npy           an array of shape (components, depth, height, width), in 2D without depth
//	.nii, .nii.gz  NIfTI-1, the components along the fifth axis (intent vector)
//	.nrrd          the components along the last axis (kind vector)
//	.mha           MetaImage, the components of a voxel side by side
func Write(w io.Writer, extension string, s grid.Shape, f Flow, note string) error {
	var header []byte
	var err error
	voxels := f.planar
	switch extension {
	case ".npy":
		header = npyHeader(s, len(f.V))
	case ".nii", ".nii.gz":
		shape := []int64{s.W, s.H, s.D, 1, int64(len(f.V))}
		header, err = headers.Nifti{Kind: "f4", Shape: shape, Vector: true, Note: note, Name: "flow"}.Header()
	case ".nrrd":
		header = nrrdHeader(s, len(f.V), note)
	case ".mha":
		header, voxels = metaHeader(s, len(f.V), note), f.sideBySide
	default:
		err = fmt.Errorf("no format has the extension %q", extension)
	}
	if err != nil {
		return err
	}
	return headers.Write(w, extension, header, voxels)
}

// planar writes one component after the other.
func (f Flow) planar(w io.Writer) error {
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

func nrrdHeader(s grid.Shape, components int, note string) []byte {
	sizes, kinds := fmt.Sprintf("%d %d", s.W, s.H), "domain domain"
	if components == 3 {
		sizes, kinds = fmt.Sprintf("%s %d", sizes, s.D), kinds+" domain"
	}
	return fmt.Appendf(nil, "NRRD0004\n# %s\ntype: float\ndimension: %d\nsizes: %s %d\nkinds: %s vector\nendian: little\nencoding: raw\n\n", note, components+1, sizes, components, kinds)
}

func metaHeader(s grid.Shape, components int, note string) []byte {
	sizes, spacing := fmt.Sprintf("%d %d", s.W, s.H), "1 1"
	if components == 3 {
		sizes, spacing = fmt.Sprintf("%s %d", sizes, s.D), "1 1 1"
	}
	return fmt.Appendf(nil, "ObjectType = Image\nComment = %s\nNDims = %d\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"+
		"CompressedData = False\nElementSpacing = %s\nDimSize = %s\nElementNumberOfChannels = %d\nElementType = MET_FLOAT\n"+
		"ElementDataFile = LOCAL\n", note, components, spacing, sizes, components)
}

// sideBySide writes the components of each voxel together.
func (f Flow) sideBySide(w io.Writer) error {
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
