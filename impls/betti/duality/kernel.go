package duality

import "eccbench/internal/isa"

// A kernel implements the operations on rows of words with one instruction set.
type kernel struct {
	// pack sets the bits of bytes ≤ limit. Rows of bits are stride words apart.
	pack func(to []uint64, from []byte, w, stride, rows int64, limit uint8)
	// faces and corners grow the trunk of a window in row y of n planes, from the adjacent row and
	// plane: forwards from the first ones, or backwards (up) from the last ones.
	faces, corners func(w *window, y, n int64, up bool)
	// down grows the trunk to the starts of runs in the same rows.
	down func(w *window, y, n int64)
	// aloneFaces and aloneCorners process a plane; see aloneAtFaces.
	aloneFaces, aloneCorners func(w *window, z int64, keep bool) int64
	// characteristic is described at the portable function of this name.
	characteristic func(l layout, before, plane []uint64, rows int64) int64
}

func portable() kernel {
	return kernel{packPortably, growFaces, growCorners, growDown, aloneAtFaces, aloneAtCorners, characteristic}
}

// fastest is the kernel for the fastest instruction set of this machine.
var fastest = kernelOf(available()[0])

// available lists the instruction sets of this machine, the fastest first.
func available() []string { return isa.Available(assembled) }
