// Package ondevice has the shared parts of device implementations of eigenmaps: the patches of an
// image in device memory, and Lanczos' method with its vectors there (kernels/eigenmap).
package ondevice

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/device"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/eigenmap"
)

// Chunk divides the length of vectors, which are padded with 0.
const Chunk = 128

// Rows returns the padded length of a vector on the device.
func Rows(p *eigenmap.Problem) int64 { return (p.Nodes().Voxels() + Chunk - 1) / Chunk * Chunk }

// inRegisters is the number of words of features that registers hold.
const inRegisters = 4

// mostAxis keeps squares of distances within 32 bits.
const mostAxis = 1 << 15

// checkPatches returns the reason why the kernels reject the patches, or nil.
func checkPatches(p *eigenmap.Problem) error {
	if s := p.Nodes(); max(s.W, s.H, s.D) > mostAxis {
		return fmt.Errorf("%v patches: an axis exceeds the kernels' limit of %d", s, mostAxis)
	}
	return nil
}

// words returns the number of words of four grey values of a patch.
func words(p *eigenmap.Problem) int64 {
	if m := p.Features(); m > 4*inRegisters {
		return (m + 3) / 4
	}
	return inRegisters
}

// Suffix returns the suffix of the kernel names for the number of words.
func Suffix(p *eigenmap.Problem) string {
	if words(p) == inRegisters {
		return "_four"
	}
	return ""
}

// patchBytes returns the device memory of patches.
func patchBytes(p *eigenmap.Problem) int64 { return Rows(p) * (words(p) + 4) * 4 }

// Patches are the patches of an image on a device: features, four grey values per word; their
// squared lengths; and positions, all x, then y and z.
type Patches struct {
	p                         *eigenmap.Problem
	Features, Squares, Places device.Buffer
	Words                     int32
	// ByFeature and ByPlace are the factors of the squared distances in the exponent.
	ByFeature, ByPlace float64
}

// newPatches allocates patches.
func newPatches(on *resident.Program, p *eigenmap.Problem) *Patches {
	rows := Rows(p)
	return &Patches{p: p, Words: int32(words(p)), ByFeature: 1 / (float64(p.Features()) * p.Alpha * p.Alpha),
		ByPlace: 1 / (2 * p.Beta * p.Beta), Features: on.NewBuffer("features", 4*words(p)*rows),
		Squares: on.NewBuffer("squares of features", 4*rows), Places: on.NewBuffer("places of patches", 4*3*rows)}
}

// Bring makes the patches of the image and copies them to the device.
func (q *Patches) Bring(s device.Stream) error {
	features, err := q.p.Patches()
	if err != nil {
		return err
	}
	rows, m, words := int(Rows(q.p)), int(q.p.Features()), int(q.Words)
	packed, squares, places := make([]uint32, rows*words), make([]int32, rows), make([]int32, 3*rows)
	for i := range int(q.p.Nodes().Voxels()) {
		for k, v := range features[i*m:][:m] {
			packed[i*words+k/4] |= uint32(v) << (8 * (k % 4))
			squares[i] += v * v
		}
		z, y, x := q.p.Nodes().Coordinates(int64(i))
		places[i], places[rows+i], places[2*rows+i] = int32(x), int32(y), int32(z)
	}
	return errors.Join(resident.Write(s, q.Features, 0, packed), resident.Write(s, q.Squares, 0, squares),
		resident.Write(s, q.Places, 0, places))
}

// Isolated returns an error for the first patch with a degree not above 0, or nil.
func Isolated(degrees []float64) error {
	for i, d := range degrees {
		if !(d > 0) {
			return fmt.Errorf("patch %d has no neighbour, because all its weights are 0; want a larger alpha or beta", i)
		}
	}
	return nil
}

// Ones returns a one for each patch, padded with zeros.
func (q *Patches) Ones() []float64 {
	list := make([]float64, Rows(q.p))
	for i := range q.p.Nodes().Voxels() {
		list[i] = 1
	}
	return list
}

// Binary converts an exponent of e to an exponent of 2, in float32.
func Binary(exponent float64) float32 { return float32(exponent * math.Log2E) }
