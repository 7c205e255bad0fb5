package gvf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"eccbench/internal/grid"
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
// components x, y and z in this order. The note is one line that formats with comments hold.
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

// npyHeader is of version 1.0 of the format (NEP 1).
func npyHeader(s grid.Shape, components int) []byte {
	shape := fmt.Sprintf("%d, %d, %d", components, s.H, s.W)
	if s.D > 1 {
		shape = fmt.Sprintf("%d, %d, %d, %d", components, s.D, s.H, s.W)
	}
	const fixed = 10 // magic, version and length
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape)
	text += strings.Repeat(" ", (64-(fixed+len(text)+1)%64)%64) + "\n"
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text))), text...)
}

// writeNifti writes a field as NIfTI-1, whose axes are of 32,767 at most.
func writeNifti(w io.Writer, s grid.Shape, f Flow, note string) error {
	if max(s.W, s.H, s.D) > math.MaxInt16 {
		return fmt.Errorf("a NIfTI file has axes of up to %d; write another format", math.MaxInt16)
	}
	const (
		size, offset = 348, 352
		vector       = 1007 // the intent
		float        = 16   // the type
		millimetres  = 2
	)
	h := struct {
		Size        int32
		_           [36]byte
		Dim         [8]int16
		_           [3]float32
		Intent      int16
		Type, Bits  int16
		_           int16
		Pixdim      [8]float32
		Offset      float32
		Slope, Zero float32
		_           [3]byte
		Units       byte
		_           [24]byte
		Description [80]byte
		_           [24]byte
		_           [4]byte
		_           [72]byte
		Name        [16]byte
		Magic       [4]byte
		_           [offset - size]byte
	}{Size: size, Dim: [8]int16{5, int16(s.W), int16(s.H), int16(s.D), 1, int16(len(f.V)), 1, 1}, Intent: vector, Type: float, Bits: 32,
		Pixdim: [8]float32{1, 1, 1, 1, 1, 1, 1, 1}, Offset: offset, Slope: 1, Units: millimetres, Magic: [4]byte{'n', '+', '1', 0}}
	copy(h.Description[:len(h.Description)-1], note)
	copy(h.Name[:], "flow")
	var header bytes.Buffer
	if err := binary.Write(&header, binary.LittleEndian, h); err != nil {
		return err
	}
	return planar(w, header.Bytes(), f)
}

func nrrdHeader(s grid.Shape, components int, note string) []byte {
	sizes, kinds := fmt.Sprintf("%d %d", s.W, s.H), "domain domain"
	if s.D > 1 {
		sizes, kinds = fmt.Sprintf("%s %d", sizes, s.D), kinds+" domain"
	}
	return fmt.Appendf(nil, "NRRD0004\n# %s\ntype: float\ndimension: %d\nsizes: %s %d\nkinds: %s vector\nendian: little\nencoding: raw\n\n", note, s.Dim()+1, sizes, components, kinds)
}

// writeMeta writes a MetaImage.
func writeMeta(w io.Writer, s grid.Shape, f Flow, note string) error {
	sizes, spacing := fmt.Sprintf("%d %d", s.W, s.H), "1 1"
	if s.D > 1 {
		sizes, spacing = fmt.Sprintf("%s %d", sizes, s.D), "1 1 1"
	}
	_, err := fmt.Fprintf(w, "ObjectType = Image\nComment = %s\nNDims = %d\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\nElementSpacing = %s\nDimSize = %s\nElementNumberOfChannels = %d\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
		note, s.Dim(), spacing, sizes, len(f.V))
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
