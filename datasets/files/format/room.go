package format

import (
	"fmt"

	"eccbench/datasets/element"
	"eccbench/datasets/zarr"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// CheckMemory returns an error if an image in memory needs more than the limit. Its header determines the
// size of the stored voxels, and of their converted copies.
func (b *Body) CheckMemory(in Input) error {
	if in.Memory == 0 {
		return nil
	}
	n := b.Shape.Voxels()
	stored := b.Total()
	if _, chunks := in.ReaderAt.(*zarr.Array); chunks { // of one volume
		stored = b.Bytes()
	}
	parts := []struct {
		bytes int64
		what  string
	}{{stored, "as stored"}}
	add := func(each int64, what string) {
		parts = append(parts, struct {
			bytes int64
			what  string
		}{each * n, what})
	}
	if b.Stored == element.Int8 {
		add(2, "as int16")
	}
	if b.Native() == grid.Float32 && b.Stored != element.Float32 {
		add(4, "as float32")
	}
	if b.Ranked() {
		if b.Scaled {
			add(8, "scaled")
		}
		add(16, "while they are ranked")
	}
	if b.Fortran {
		add(b.Native().Size(), "in order")
	}
	if b.turned {
		add(b.Stored.Size(), "in order")
	}
	sum, text := int64(0), ""
	for i, p := range parts {
		if i > 0 {
			text += " + "
		}
		sum += p.bytes
		text += quantity.Bytes(p.bytes) + " " + p.what
	}
	if sum <= in.Memory {
		return nil
	}
	return fmt.Errorf("%v voxels take %s of memory (%s), %s are free; use a machine with more, a part of the image, or "+
		"save it as raw, npy, NIfTI or NRRD of a type that is read as it is: uint8, int16, uint16, float32",
		b.Shape, quantity.Bytes(sum), text, quantity.Bytes(in.Memory))
}
