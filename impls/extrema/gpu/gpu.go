// Package gpu implements the method of package extrema (doc/proofs/extrema.md) on NVIDIA devices:
// on one device, on several devices of one host, and for batches of images.
package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/counting"
)

// OnDevice counts the extrema of a resident image (kernels/ecc/extrema_3d.h). The kernel depends on
// type, ladder and size; see kinds:
//
//   - Large 3D images of uint8, and of 16-bit types on consecutive levels (at most 1,024 or more
//     than 31,744), are compared 32 voxels at a time, as bits (kernels/ecc/extrema_sliced.h).
//   - Other images whose values are evenly spaced levels are compared by level: two at a time up to
//     31,744 levels, as pairs of halves, and singly for more. For 16-bit types the levels must be
//     consecutive; uint8 is compared in pairs on any ladder.
//   - Other images are compared as single float32, and a level is looked up where the curve
//     changes.
type OnDevice struct {
	Open resident.Opener
	// PTX returns the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)

	large bool // for tests: use the kernels for large images regardless of the size
}

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.OnDevice("extrema-gpu",
		"resident image, only the extrema of four minimum-filtered images count, two voxels per instruction or a "+
			"bit of 32", "doc/proofs/extrema.md")
}

// Sizes of the kernels' work.
const (
	columns    = 128 // per warp in 3D; half of that in 2D
	sliceLanes = 32  // voxels per lane of the sliced kernels
	// Rows that a warp of the sliced kernels reads. It counts the cells that begin in all but the
	// last.
	slicedRows = 16
	spare      = 32 // counters that belong to no level
	// With more levels, handing over by one block is slower than a copy.
	mostHandedOver = 8192
)

// A kind is a kind of kernels, by the values that they compare and the lanes that they use.
type kind struct {
	name    string
	infix   string // part of the names of the kernels and of their sources
	values  bool   // compares values; otherwise levels
	bits    bool   // a lane has 32 voxels as bits (kernels/ecc/extrema_sliced.h)
	large   bool   // only for large 3D images of integers
	bytes   bool   // counts uint8 by value, on any ladder
	threads int64  // per block
	voxels  int64  // per lane
	unit    int64  // difference between the patterns of consecutive levels
	levels  int64  // maximum number of levels
	shares  int64  // levels per 32-bit counter
	hands   bool   // can hand the curve over to the host (kernels/handover.h)
}

// The names of the kinds.
const (
	sliced = "sliced" // up to 8 bits of uint8, or 10 bits of levels
	pairs  = "pairs"  // two halves, each four times a level
	wide   = "wide"   // two halves, each a level
	deep   = "deep"   // up to 16 bits of levels; all lanes share the counters
	ranked = "ranked" // a float32, 16 times a level
	single = "single" // a float32, the value itself
)

// kinds lists all kinds, the fastest first.
func kinds() []kind {
	return []kind{
		{name: sliced, infix: "_sliced", bits: true, large: true, bytes: true, threads: 384, voxels: sliceLanes, unit: 1,
			levels: 1 << 10, shares: 1, hands: true},
		{name: pairs, bytes: true, threads: 128, voxels: 2, unit: 4, levels: 7900, shares: 1, hands: true},
		{name: wide, infix: "_wide", threads: 384, voxels: 2, unit: 1, levels: 31744, shares: 1},
		{name: deep, infix: "_deep", bits: true, large: true, threads: 384, voxels: sliceLanes, unit: 1, levels: 1 << 16,
			shares: 2},
		{name: ranked, infix: "_ranked", threads: 384, voxels: 1, unit: 16, levels: 1 << 18, shares: 2},
		{name: single, infix: "_single", values: true, threads: 128, voxels: 1, hands: true},
	}
}

// kindNamed returns the kind with a name.
func kindNamed(name string) kind {
	list := kinds()
	return list[slices.IndexFunc(list, func(k kind) bool { return k.name == name })]
}

// slicedShared returns the shared memory of a block of the sliced kernels in bytes: the counters,
// and three planes per warp (kernels/ecc/sliced_planes.h).
func (k kind) slicedShared(t grid.Type) int64 {
	const row, beyond, lanes = 128, 16, 32 // bytes of a row of a warp, and padding
	counters := k.levels * lanes
	switch {
	case k.shares > 1:
		counters = k.levels/k.shares + spare
	case t == grid.Uint8:
		counters = 1 << 8 * lanes
	}
	return 4*counters + k.threads/lanes*3*slicedRows*(row+beyond)
}

// counters returns the number of 32-bit counters of a block in shared memory.
func (k kind) counters(t grid.Type, l grid.Ladder) int64 {
	levels := l.Len()
	if k.bits {
		return k.slicedShared(t) / 4
	}
	if t == grid.Uint8 {
		levels = 1 << 8 // one per value
	}
	return (levels+k.shares-1)/k.shares + spare
}

// seamBytes returns the largest shared memory of a block without its counters: the seams.
func (k kind) seamBytes() int64 {
	if k.bits {
		return 64
	}
	return 4<<10 + k.threads*64
}

// CanDo rejects an image that does not fit the device, or exceeds the kernels' integers.
func (o OnDevice) CanDo(in grid.Source, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	return able(d, in)
}

// able rejects images that do not fit a device together, or exceed the kernels' integers.
func able(d device.Device, images ...grid.Source) error {
	var need int64
	for _, in := range images {
		if err := kernelsTake(d, in); err != nil {
			return err
		}
		need += 2*guard(in) + grid.TotalBytes(in) + 12*in.Ladder().Len()
	}
	return resident.Fits(d, need, "the resident image")
}

// kernelsTake rejects images that exceed the kernels' integers, and unsupported devices.
func kernelsTake(d device.Device, in grid.Source) error {
	if i := d.Info(); i.Major < 8 {
		return fmt.Errorf("%s has compute capability %d.%d, the kernels need 8.0 for the minimum of two halves", i.Name,
			i.Major, i.Minor)
	}
	if err := in.Ladder().CheckIndexed(); err != nil {
		return err
	}
	s := in.Shape()
	if n, h, w := cells.Stack(s); max(w, h, n) > math.MaxInt32/8 || n > math.MaxInt32/4 || w*h > math.MaxInt32 {
		return fmt.Errorf("%v: a slice exceeds the kernels' limit of %d voxels", s, math.MaxInt32)
	}
	return nil
}

// guard returns the number of bytes before and after the image that warps read without using them:
// sixteen rows and two warps' columns.
func guard(in grid.Source) int64 {
	const align = 256
	bytes := (slicedRows*in.Shape().W + 4*columns) * in.Type().Size()
	return (bytes + align - 1) / align * align
}

// A scaling converts values that equal levels into the patterns of a kind (kernels/ecc/extrema.h,
// extrema_wide.h and extrema_ranked.h).
type scaling struct {
	scale, offset float32
	bias          uint32
}

// scaling returns the scaling for a type and ladder, or false if the kind's patterns cannot
// distinguish the levels.
func (k kind) scaling(t grid.Type, l grid.Ladder) (s scaling, ok bool) {
	if t == grid.Uint8 {
		return s, k.bytes
	}
	lo, step, even := l.Affinity()
	if !even || l.Len() > k.levels {
		return s, false
	}
	const integers = 1<<23 + 1<<16 // around this number, float32 are integers
	if t != grid.Float32 {
		least := int64(lo)
		whole := float64(least) == lo
		if k.voxels == 1 {
			s.bias = uint32(k.unit * least)
			return s, step == 1 && whole
		}
		if t == grid.Int16 {
			least -= math.MinInt16
		}
		s.bias = uint32(k.unit*least) * 0x10001
		return s, step == 1 && whole
	}
	unit := float64(k.unit)
	s.scale, s.offset = float32(unit/step), float32(integers-unit*lo/step)
	for n := range l.Len() {
		at := math.FMA(float64(s.scale), float64(l.Value(n)), float64(s.offset))
		if at = math.Abs(at - integers - float64(k.unit*n)); !(at < 0.4) {
			return s, false
		}
	}
	return s, true
}

// fastest returns the first kind that can compare an image's levels on a device, or false.
func fastest(in grid.Source, shared int64, large3D bool) (k kind, s scaling, ok bool) {
	for _, k := range kinds() {
		if k.values || k.large && (!large3D || in.Type() == grid.Float32) {
			continue
		}
		if s, ok := k.scaling(in.Type(), in.Ladder()); ok && 4*k.counters(in.Type(), in.Ladder())+k.seamBytes() <= shared {
			return k, s, true
		}
	}
	return kind{}, scaling{}, false
}

// Setup loads the kernels and allocates the image. It also copies the image, unless the scope
// includes the copy.
func (o OnDevice) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	j, err := o.bind(d, in, in.Shape(), c, true)
	if err != nil {
		return nil, err // not j, which would be a non-nil interface
	}
	return j, nil
}

// bind makes the job for images of a shape on a device, which counts one of them at a time. If
// handsOver is set, kernels that can hand the curve over to the host do so.
func (o OnDevice) bind(d device.Device, in grid.Source, s grid.Shape, c bench.Conditions, handsOver bool) (*deviceJob,
	error) {
	j := &deviceJob{
		placed: place(d, in, c),
		shape:  s, small: s.Voxels() <= smallVoxels && !o.large, handsOver: handsOver && in.Ladder().Len() <= mostHandedOver,
	}
	if err := j.setup(o.PTX); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// kernel returns the kernel of a kind for images of a shape. There is a source for each type, and
// for each kind for many levels.
func (k kind) kernel(in grid.Source, s grid.Shape, ptx func(string) ([]byte, error)) counting.Kernel {
	kernel := counting.Kernel{
		Module: fmt.Sprintf("ecc_extrema_%v", in.Type()), Method: "extrema",
		PTX: ptx, Shape: s, Type: in.Type(), Ladder: in.Ladder(), Threads: k.threads,
	}
	kernel.Method += k.infix
	if k.values {
		kernel.Others = []string{strays(in.Type())}
		return kernel
	}
	kernel.Module = fmt.Sprintf("ecc_extrema%s_%v", k.infix, in.Type())
	switch row := s.W * in.Type().Size(); {
	case s.W%4 != 0 && !k.bits, row%4 != 0:
		kernel.Method += "_unaligned"
	case k.bits && row%16 != 0:
		kernel.Method += "_fours"
	}
	kernel.Counters = k.counters(in.Type(), in.Ladder())
	return kernel
}

// segment returns the number of slices that a warp processes. A segment reads two extra slices, so
// long segments are efficient. But blocks take segments in turn, and few of them may be busy in the
// last turn. A partial turn costs more than half of a full one, and nearly all of it with the
// sliced kernels, because a single warp is as slow. These costs and the tails were measured on an
// H200.
func (k kind) segment(s grid.Shape, t grid.Type, blocks int64) int64 {
	warps, voxels := k.threads/32, k.voxels
	n, h, w := cells.Stack(s)
	across := (w + columns - 1) / columns
	groups, rows := across*(((h+2*voxels)/(2*voxels)+warps-1)/warps), int64(1)
	tail, alone, more := 0.3, 0.5, 2.0
	switch {
	case k.bits: // one warp at a time, 128 bytes of a row
		wide := columns / t.Size()
		groups, blocks = (w+wide-1)/wide*((h+slicedRows-2)/(slicedRows-1)), blocks*warps
		tail, alone, more = 0, 0.85, 2.6
	case s.D == 1:
		groups, rows, tail = (across+2*warps-1)/(2*warps), voxels, 0.05
	}
	best, least := int64(1), math.Inf(1)
	for parts := int64(1); parts <= max(1, n/2); parts++ {
		length := ((n+parts-1)/parts + rows - 1) / rows
		items := groups * ((n + rows*length - 1) / (rows * length))
		turns := float64(items / blocks)
		if rest := items % blocks; rest > 0 {
			turns += alone + (1-alone)*float64(rest)/float64(blocks)
		}
		if cost := (turns + tail) * (float64(length) + more); cost < least {
			best, least = length, cost
		}
	}
	return best
}
