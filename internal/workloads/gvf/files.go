package gvf

import (
	"fmt"
	"io"
	"strings"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// Extensions lists the file extensions that Write accepts.
func Extensions() []string { return []string{".npy", ".nii", ".nii.gz", ".nrrd", ".mha"} }

// Extension is which of them a path ends with, or "".
func Extension(path string) string { return headers.Extension(path, Extensions()) }

// Write writes a field of an image of a shape in the format of an extension: float32, its
// components x, y and z in this order. With 3 components the image is a volume, if only of one
// slice. The place of the image, which may be nil, and the note, one line, go into headers. A 2D image
// outside the plane z = 0 is a volume of one slice in .nrrd and .mha files.
//
//	.npy           an array of shape (components, depth, height, width), in 2D without depth
//	.nii, .nii.gz  NIfTI-1, the components along the fifth axis (intent vector)
//	.nrrd          the components along the last axis (kind vector)
//	.mha           MetaImage, the components of a voxel side by side
func Write(w io.Writer, extension string, s grid.Shape, f Flow, place *headers.Place, note string) error {
	var header []byte
	var err error
	voxels := f.planar
	switch extension {
	case ".npy":
		header = npyHeader(s, len(f.V))
	case ".nii", ".nii.gz":
		shape := []int64{s.W, s.H, s.D, 1, int64(len(f.V))}
		header, err = headers.Nifti{Kind: "f4", Shape: shape, Vector: true, Place: place, Note: note, Name: "flow"}.Header()
	case ".nrrd":
		header = nrrdHeader(s, len(f.V), place, note)
	case ".mha":
		header, voxels = metaHeader(s, len(f.V), place, note), f.sideBySide
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

func nrrdHeader(s grid.Shape, components int, place *headers.Place, note string) []byte {
	axes, sizes := place.Axes(components), fmt.Sprintf("%d %d", s.W, s.H)
	if axes == 3 {
		sizes = fmt.Sprintf("%s %d", sizes, s.D)
	}
	return fmt.Appendf(nil, "NRRD0004\n# %s\ntype: float\ndimension: %d\nsizes: %s %d\nkinds:%s vector\n%s"+
		"endian: little\nencoding: raw\n\n", note, axes+1, sizes, components, strings.Repeat(" domain", axes),
		place.Nrrd(components, 1))
}

func metaHeader(s grid.Shape, components int, place *headers.Place, note string) []byte {
	axes, sizes := place.Axes(components), fmt.Sprintf("%d %d", s.W, s.H)
	if axes == 3 {
		sizes = fmt.Sprintf("%s %d", sizes, s.D)
	}
	return fmt.Appendf(nil, "ObjectType = Image\nComment = %s\nNDims = %d\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"+
		"CompressedData = False\n%sDimSize = %s\nElementNumberOfChannels = %d\nElementType = MET_FLOAT\n"+
		"ElementDataFile = LOCAL\n", note, axes, place.MetaImage(components), sizes, components)
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
