// Package headers writes array files that other programs read, and their headers.
package headers

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
)

// Npy returns the header of a little-endian NumPy array, version 1.0 of the format (NEP 1). The
// kind is "u1" or "f4"; the shape begins with the slowest axis.
func Npy(kind string, shape ...int64) []byte {
	list := ""
	for _, n := range shape {
		list += fmt.Sprintf("%d, ", n)
	}
	if len(shape) > 1 {
		list = strings.TrimSuffix(list, ", ")
	}
	order := "<"
	if kind == "u1" {
		order = "|"
	}
	const fixed = 10 // magic, version and length
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, kind, list)
	text += strings.Repeat(" ", (64-(fixed+len(text)+1)%64)%64) + "\n"
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text))), text...)
}

// A Nifti describes the numbers of a NIfTI-1 file.
type Nifti struct {
	Kind       string  // "u1" or "f4", as of Npy
	Shape      []int64 // the fastest axis first: x, y, z, time, components
	Vector     bool    // components form a vector
	Note, Name string
	Place      *Place // nil if unknown
}

// Codes of a NIfTI-1 header.
const (
	niftiSize, niftiOffset  = 348, 352
	niftiVector             = 1007 // the intent
	niftiBytes, niftiFloats = 2, 16
	niftiMillimetres        = 2
)

// A niftiHeader is the layout of a NIfTI-1 header in its file.
type niftiHeader struct {
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
	_, Sform    int16
	_           [6]float32
	Affine      [3][4]float32
	Name        [16]byte
	Magic       [4]byte
	_           [niftiOffset - niftiSize]byte
}

// Header returns the header before the numbers. Axes are at most 32,767 long.
func (n Nifti) Header() ([]byte, error) {
	h := niftiHeader{Size: niftiSize, Dim: [8]int16{int16(len(n.Shape)), 1, 1, 1, 1, 1, 1, 1}, Type: niftiFloats, Bits: 32,
		Pixdim: [8]float32{1, 1, 1, 1, 1, 1, 1, 1}, Offset: niftiOffset, Slope: 1,
		Magic: [4]byte{'n', '+', '1', 0}}
	for i, v := range n.Shape {
		if v > math.MaxInt16 {
			return nil, fmt.Errorf("a NIfTI file has axes of up to %d; write another format", math.MaxInt16)
		}
		h.Dim[i+1] = int16(v)
	}
	if n.Kind == "u1" {
		h.Type, h.Bits = niftiBytes, 8
	}
	if n.Vector {
		h.Intent = niftiVector
	}
	if n.Place != nil {
		h.Units = niftiMillimetres
		for c := range 3 {
			h.Pixdim[c+1] = float32(n.Place.spacing(c))
		}
	}
	if n.Place != nil && !n.Place.Unplaced {
		h.Sform = 1
		for r, row := range n.Place.Affine {
			for c, v := range row {
				h.Affine[r][c] = float32(v)
			}
		}
	}
	copy(h.Description[:len(h.Description)-1], n.Note)
	copy(h.Name[:], n.Name)
	var b bytes.Buffer
	err := binary.Write(&b, binary.LittleEndian, h)
	return b.Bytes(), err
}

// Extension returns the extension of a list that a path ends with, in any case, or "".
func Extension(path string, list []string) string {
	i := slices.IndexFunc(list, func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) })
	if i < 0 {
		return ""
	}
	return list[i]
}

// Write writes a header and the output of voxels, compressed if the extension ends in .gz.
func Write(w io.Writer, extension string, header []byte, voxels func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<18)
	to, end := io.Writer(b), b.Flush
	if strings.HasSuffix(extension, ".gz") {
		z := gzip.NewWriter(b)
		to, end = z, func() error {
			if err := z.Close(); err != nil {
				return err
			}
			return b.Flush()
		}
	}
	if _, err := to.Write(header); err != nil {
		return err
	}
	if err := voxels(to); err != nil {
		return err
	}
	return end()
}
