package gpu

import (
	"fmt"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/counting"
)

// An ArrayKind is what arrays of other programs have in common that one Arrays counts.
type ArrayKind struct {
	Shape grid.Shape
	Type  grid.Type
	// Ladder has the levels, of which the first Rows are asked for. What is above the last level
	// counts there.
	Ladder grid.Ladder
	Rows   int64
	// Align is a number of bytes that the addresses are multiples of.
	Align int64
	// OnLevels says that every value stands on a level, as those of uint8 and of 16-bit types do on
	// the ladder of all of them. Of float32 nobody looks whether it is true.
	OnLevels bool
	// PTX gives the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)

	large bool // whatever its size, an image is counted as a large one is: for tests
}

// Arrays counts images in memory that other programs allocated (kernels/ecc/extrema_arrays.h):
// nothing around them is read, and all that a count writes is in memory that it is given. So
// counts may be added to several streams at once, and be played back as part of a graph.
type Arrays struct {
	kind     ArrayKind
	counter  *counting.Counter
	scaling  scaling
	length   int32
	safe     int32
	memory   int64
	elements int64
}

// stateBytes are those before the table.
const stateBytes = 64

// outline is an image of which nobody reads anything.
type outline struct {
	grid.Source
	ArrayKind
}

func (o outline) Shape() grid.Shape   { return o.ArrayKind.Shape }
func (o outline) Type() grid.Type     { return o.ArrayKind.Type }
func (o outline) Ladder() grid.Ladder { return o.ArrayKind.Ladder }

// Align is what addresses of images are to be multiples of for the fastest kernels, in bytes.
const Align = 16

// OpenArrays loads the kernel for images alike.
func OpenArrays(d device.Device, a ArrayKind) (*Arrays, error) {
	if err := kernelsTake(d, outline{ArrayKind: a}); err != nil {
		return nil, err
	}
	if a.Align%a.Type.Size() != 0 {
		return nil, fmt.Errorf("%v at an address that is no multiple of %d", a.Type, a.Type.Size())
	}
	in, s := outline{ArrayKind: a}, a.Shape
	o := &Arrays{kind: a, safe: safePlanes(s), elements: s.Voxels()}
	small := s.Voxels() <= smallVoxels && !a.large
	k := kindNamed(single)
	if a.Type == grid.Uint8 || a.OnLevels {
		var ok bool
		k, o.scaling, ok = fastest(in, d.Info().SharedOptIn, s.Dim() == 3 && !small)
		if every := a.Ladder.Key() == grid.Identity(a.Type).Key(); !ok || a.Type == grid.Float32 && k.name != pairs || a.Type.Size() == 2 && !every {
			return nil, fmt.Errorf("%d levels of %v: the kernels for arrays on levels have %d at most", a.Ladder.Len(), a.Type, kindNamed(pairs).levels)
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
	var length int64
	if k.name == pairs && small && s.W%4 == 0 && o.reading(k) == "" {
		var share smallShare
		share, kernel.Method = shareSmall(s, int64(d.Info().SMs))
		kernel.Method = "extrema_array" + kernel.Method[len("extrema"):]
		length, kernel.Blocks, kernel.Threads = share.segment, share.blocks, 32*share.warps
	}
	var err error
	if o.counter, err = counting.Open(d, kernel); err != nil {
		return nil, err
	}
	if length == 0 {
		length = k.segment(s, a.Type, o.counter.Blocks())
	}
	o.length = int32(length)
	const each = 4 // levels that the kernel sums up at once
	o.memory = stateBytes + 8*((a.Ladder.Len()+each-1)/each*each)
	return o, nil
}

// reading is what the name of a kernel has for how it reads the rows.
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

// safePlanes is how many of the first planes are followed by so much of the image that nothing
// which a warp reads of them is outside: sixteen rows, and two warps' columns.
func safePlanes(s grid.Shape) int32 {
	n, h, w := ecc.Stack(s)
	return int32(max(0, n-1-(slicedRows*w+4*columns)/(h*w)))
}

// Memory is how many bytes Enqueue is to be given, at an address that is a multiple of 16.
func (o *Arrays) Memory() int64 { return o.memory }

// Enqueue adds to a stream the count of an image: χ of each of the levels that were asked for,
// int64, is written to chi. Memory must not be used by anything else until then.
func (o *Arrays) Enqueue(s device.Stream, image, chi, memory device.Buffer) error {
	if image.Bytes() < o.elements*o.kind.Type.Size() || chi.Bytes() < 8*o.kind.Rows || memory.Bytes() < o.memory {
		return fmt.Errorf("an image of %d bytes, %d for the curve, %d of memory: want %d, %d and %d",
			image.Bytes(), chi.Bytes(), memory.Bytes(), o.elements*o.kind.Type.Size(), 8*o.kind.Rows, o.memory)
	}
	n, h, w := ecc.Stack(o.kind.Shape)
	return o.counter.On.Do(func() error {
		if err := s.Fill32(memory, 0, o.memory/4, 0); err != nil {
			return err
		}
		return o.counter.CountIn(s, memory, image, o.elements, o.safe, int32(w), int32(h), int32(n), o.length,
			o.scaling.scale, o.scaling.offset, o.scaling.bias, chi, int32(o.kind.Rows))
	})
}

// Close frees the kernel. Nothing may run that uses it.
func (o *Arrays) Close() error { return o.counter.Close() }
