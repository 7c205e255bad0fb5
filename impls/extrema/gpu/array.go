package gpu

import (
	"fmt"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/counting"
)

// An ArrayKind describes arrays of other programs that one Arrays can count.
type ArrayKind struct {
	Shape grid.Shape
	Type  grid.Type
	// Ladder has the levels; the curve is requested for the first Rows of them. Values above the
	// last level count as the last level.
	Ladder grid.Ladder
	Rows   int64
	// Align is a number of bytes that divides the addresses.
	Align int64
	// OnLevels means that every value equals a level, as all values of integer types do on their
	// identity ladder. For float32 nothing checks this claim.
	OnLevels bool
	// PTX returns the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)

	large bool // for tests: use the kernels for large images regardless of the size
}

// Arrays counts images in memory that other programs allocated (kernels/ecc/extrema_arrays.h).
// Kernels read nothing outside the image, and write only to memory from the caller. So counts may
// be enqueued on several streams at once, and be captured in a graph.
type Arrays struct {
	kind    ArrayKind
	counter *counting.Counter
	scaling scaling
	share   func(blocks int64) smallShare // divides an image, if possible among at most blocks blocks
	blocks  int64                         // that run at once
	safe    int32
	memory  int64 // of an image
}

// stateBytes is the number of bytes before the table.
const stateBytes = 64

// outline is an image without data: only its shape, type and ladder are used.
type outline struct {
	grid.Source
	ArrayKind
}

func (o outline) Shape() grid.Shape   { return o.ArrayKind.Shape }
func (o outline) Type() grid.Type     { return o.ArrayKind.Type }
func (o outline) Ladder() grid.Ladder { return o.ArrayKind.Ladder }

// OpenArrays loads the kernel for arrays of one kind.
func OpenArrays(d device.Device, a ArrayKind) (*Arrays, error) {
	if err := kernelsTake(d, outline{ArrayKind: a}); err != nil {
		return nil, err
	}
	if a.Align%a.Type.Size() != 0 {
		return nil, fmt.Errorf("%v at an address that is no multiple of %d", a.Type, a.Type.Size())
	}
	in, s := outline{ArrayKind: a}, a.Shape
	o := &Arrays{kind: a, safe: safePlanes(s)}
	small := s.Voxels() <= smallVoxels && !a.large
	k := kindNamed(single)
	if a.Type == grid.Uint8 || a.OnLevels {
		var ok bool
		k, o.scaling, ok = fastest(in, d.Info().SharedOptIn, s.Dim() == 3 && !small)
		if every := a.Ladder.Key() == grid.Identity(a.Type).Key(); !ok || a.Type == grid.Float32 && k.name != pairs ||
			a.Type.Size() == 2 && !every {
			return nil, fmt.Errorf("%d levels of %v: the kernels for arrays on levels have %d at most", a.Ladder.Len(), a.Type,
				kindNamed(pairs).levels)
		}
	}
	kernel := k.kernel(in, s, a.PTX)
	kernel.Given = true
	kernel.Module = fmt.Sprintf("ecc_extrema_array_%v", a.Type)
	if k.bits {
		kernel.Module = fmt.Sprintf("ecc_extrema_array_large_%v", a.Type)
	}
	kernel.Method = "extrema_array" + k.infix + o.reading(k)
	kernel.Others = nil
	if k.name == pairs && small && s.W%4 == 0 && o.reading(k) == "" {
		kernel.Method = "extrema_array" + smallInfix(s)
		kernel.Blocks, kernel.Threads = int64(d.Info().SMs), 32*smallWarps
		o.share = func(blocks int64) smallShare { return shareSmall(s, blocks) }
	}
	var err error
	if o.counter, err = counting.Open(d, kernel); err != nil {
		return nil, err
	}
	o.blocks = o.counter.Blocks()
	if o.share == nil {
		o.share = func(blocks int64) smallShare {
			blocks = max(blocks, (s.Voxels()+counting.MostVoxels-1)/counting.MostVoxels)
			return smallShare{k.segment(s, a.Type, blocks), blocks, k.threads / 32}
		}
	}
	const each = 4 // levels that the kernel sums together
	o.memory = stateBytes + 8*((a.Ladder.Len()+each-1)/each*each)
	return o, nil
}

// reading returns the part of a kernel's name that describes how it reads rows.
func (o *Arrays) reading(k kind) string {
	size := o.kind.Type.Size()
	row := o.kind.Shape.W * size
	switch {
	case k.values:
		return ""
	case k.bits && row%16 == 0 && o.kind.Align%16 == 0:
		return ""
	case k.bits && row%4 == 0 && o.kind.Align%4 == 0:
		return "_fours"
	case !k.bits && o.kind.Shape.W%4 == 0 && o.kind.Align%(4*size) == 0:
		return ""
	}
	return "_unaligned"
}

// safePlanes returns the number of first planes after which the image has enough voxels that no
// warp reads beyond its end: sixteen rows and two warps' columns.
func safePlanes(s grid.Shape) int32 {
	n, h, w := cells.Stack(s)
	return int32(max(0, n-1-(slicedRows*w+4*columns)/(h*w)))
}

// Memory returns the number of bytes that Enqueue needs for each image, at an address that is a
// multiple of 16.
func (o *Arrays) Memory() int64 { return o.memory }

// MostArrays is the largest number of images that one call of Enqueue counts.
const MostArrays = 1<<16 - 1

// Enqueue enqueues the count of images that follow each other on a stream, as one launch. It writes
// χ of each requested level to chi, as int64, image after image. Nothing else may use memory until
// then.
func (o *Arrays) Enqueue(s device.Stream, images int64, image, chi, memory device.Buffer) error {
	voxels := o.kind.Shape.Voxels()
	bytes, curves, work := images*voxels*o.kind.Type.Size(), images*8*o.kind.Rows, images*o.memory
	if image.Bytes() < bytes || chi.Bytes() < curves || memory.Bytes() < work {
		return fmt.Errorf("%d images of %d bytes, %d for the curves, %d of memory: want %d, %d and %d",
			images, image.Bytes(), chi.Bytes(), memory.Bytes(), bytes, curves, work)
	}
	n, h, w := cells.Stack(o.kind.Shape)
	share := o.share(max(1, o.blocks/images))
	return o.counter.On.Do(func() error {
		if err := s.Fill32(memory, 0, work/4, 0); err != nil {
			return err
		}
		return o.counter.CountIn(s, share.blocks, images, 32*share.warps, memory,
			image, voxels, o.safe, int32(w), int32(h), int32(n), int32(share.segment),
			o.scaling.scale, o.scaling.offset, o.scaling.bias, chi, int32(o.kind.Rows))
	})
}

// Close frees the kernel. No count may still be running.
func (o *Arrays) Close() error { return o.counter.Close() }
