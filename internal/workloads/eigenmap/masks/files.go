// Package masks compares segmentations, and writes them and vectors of an image to files: pictures,
// arrays and volumes.
package masks

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// Extensions lists the extensions of the output files.
func Extensions() []string { return []string{".png", ".npy", ".nii", ".nii.gz"} }

// Extension returns the extension of a path, or "" if it is unknown.
func Extension(path string) string { return headers.Extension(path, Extensions()) }

// apart is the distance in pixels between pictures in a row.
const apart = 4

// picture writes images of one shape side by side. The slices of a volume are below each other.
func picture(w io.Writer, s grid.Shape, list [][]uint8) error {
	width := int64(len(list))*(s.W+apart) - apart
	if height := s.H * s.D; width > 1<<16 || height > 1<<16 {
		return fmt.Errorf("a picture of %d × %d pixels; write another format", width, height)
	}
	img := image.NewGray(image.Rect(0, 0, int(width), int(s.H*s.D)))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for k, pixels := range list {
		for i, v := range pixels {
			img.SetGray(k*int(s.W+apart)+i%int(s.W), i/int(s.W), color.Gray{Y: v})
		}
	}
	return png.Encode(w, img)
}

// WriteMask writes a mask in the format of an extension, as uint8. Inside is 255 in a PNG, with the
// slices of a volume below each other, and 1 in other formats. The place, which may be nil, and the
// note, one line, go into NIfTI files.
func WriteMask(w io.Writer, extension string, in grid.Source, mask []bool, place *headers.Place, note string) error {
	one := uint8(1)
	if extension == ".png" {
		one = 255
	}
	values := make([]uint8, len(mask))
	for i, in := range mask {
		if in {
			values[i] = one
		}
	}
	if extension == ".png" {
		return picture(w, in.Shape(), [][]uint8{values})
	}
	h := headers.Nifti{Kind: "u1", Place: place, Note: note, Name: "mask"}
	return write(w, extension, in, 1, h, func(w io.Writer) error {
		_, err := w.Write(values)
		return err
	})
}

// WriteVectors writes vectors with a number for each voxel as float32, in order along the slowest
// axis. A PNG has them side by side, from black over grey, which is 0, to white.
func WriteVectors(
	w io.Writer, extension string, in grid.Source, vectors [][]float64, place *headers.Place, note string,
) error {
	if extension == ".png" {
		list := make([][]uint8, len(vectors))
		for k, x := range vectors {
			top := 0.0
			for _, v := range x {
				top = max(top, math.Abs(v))
			}
			list[k] = make([]uint8, len(x))
			for i, v := range x {
				list[k][i] = uint8(math.Round(127.5 + 127.5*v/max(top, 1e-300)))
			}
		}
		return picture(w, in.Shape(), list)
	}
	h := headers.Nifti{Kind: "f4", Place: place, Note: note, Name: "eigenvectors"}
	return write(w, extension, in, int64(len(vectors)), h, func(w io.Writer) error {
		var number [4]byte
		for _, x := range vectors {
			for _, v := range x {
				binary.LittleEndian.PutUint32(number[:], math.Float32bits(float32(v)))
				if _, err := w.Write(number[:]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// write writes a header and the numbers of one or several images.
func write(
	w io.Writer, extension string, in grid.Source, images int64, h headers.Nifti, numbers func(io.Writer) error,
) error {
	s := in.Shape()
	var header []byte
	var err error
	switch extension {
	case ".npy":
		shape := []int64{s.H, s.W}
		if grid.Dim(in) == 3 {
			shape = []int64{s.D, s.H, s.W}
		}
		if h.Kind == "f4" {
			shape = append([]int64{images}, shape...)
		}
		header = headers.Npy(h.Kind, shape...)
	case ".nii.gz", ".nii":
		h.Shape = []int64{s.W, s.H, s.D}
		if h.Kind == "f4" {
			h.Shape = append(h.Shape, images)
		}
		if header, err = h.Header(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("no format has the extension %q", extension)
	}
	return headers.Write(w, extension, header, numbers)
}
