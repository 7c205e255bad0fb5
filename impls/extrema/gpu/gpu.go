// Package gpu counts only the local extrema of min-filtered rows, as package extrema does
// (doc/proofs/extrema.md), on NVIDIA devices: on one, on several of one host, and of batches.
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
	"eccbench/internal/workloads/ecc/counting"
)

// OnDevice counts extrema of a resident image (kernels/ecc/extrema_3d.h). Large 3D images of
// uint8, and of 16-bit types on at most 1,024 successive levels or on more than 31,744,
// are compared 32 voxels at a time, a bit of each (kernels/ecc/extrema_sliced.h). Of others,
// where the image's values stand on evenly spaced levels, those of 16-bit types on
// successive ones, their levels are compared: to 31,744 two at a time, as pairs of
// halves, and to as many as a block has counters of 16 bits for one at a time.
// Those of uint8 are pairs on any levels. Other images are compared a float32 at a
// time, and a level is looked up where the curve changes.
type OnDevice struct {
	Open resident.Opener
	// PTX gives the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)

	large bool // whatever its size, an image is counted as a large one is: for tests
}

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.About{
		Name:   "extrema-gpu",
		Where:  "gpu",
		Method: "resident image, only the extrema of four minimum-filtered images count, two voxels an instruction or a bit of 32",
		Source: "doc/proofs/extrema.md",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E, bench.File},
	}
}

// The shape of the kernels' work.
const (
	columns    = 128 // of a warp in 3D, half of those in 2D
	sliceLanes = 32  // voxels of a lane of the sliced kernels
	// Rows that a warp of those reads; it counts the cells that begin in all but the last.
	slicedRows = 16
	spare      = 32 // counters of no level
	// Of more levels one block brings the curve to the host more slowly than a copy.
	mostHandedOver = 8192
)

// A kind of kernels is what they compare, and in what lanes.
type kind struct {
	name    string
	infix   string // of the names of the kernels and of their sources
	values  bool   // compares values as such; the others levels
	bits    bool   // a lane is a bit of 32 voxels (kernels/ecc/extrema_sliced.h)
	large   bool   // is for large 3D images of integers alone
	bytes   bool   // counts uint8 by its values, on any ladder
	threads int64  // of a block
	voxels  int64  // of a lane
	unit    int64  // what the pattern of a level grows by to the next
	levels  int64  // that the patterns can tell apart
	shares  int64  // levels to a counter of 32 bits
	hands   bool   // the curve over to the host, if asked to (kernels/handover.h)
}

// The names of the kinds.
const (
	sliced = "sliced" // to 8 bits of uint8, to 10 of levels
	pairs  = "pairs"  // two halves, which are four times the levels
	wide   = "wide"   // two halves, which are the levels
	deep   = "deep"   // to 16 bits of levels, whose counters are shared by all lanes
	ranked = "ranked" // a float32, 16 times the level
	single = "single" // a float32, the value
)

// kinds are all kinds, the fastest first.
func kinds() []kind {
	return []kind{
		{name: sliced, infix: "_sliced", bits: true, large: true, bytes: true, threads: 384, voxels: sliceLanes, unit: 1, levels: 1 << 10, shares: 1, hands: true},
		{name: pairs, bytes: true, threads: 128, voxels: 2, unit: 4, levels: 7900, shares: 1, hands: true},
		{name: wide, infix: "_wide", threads: 384, voxels: 2, unit: 1, levels: 31744, shares: 1},
		{name: deep, infix: "_deep", bits: true, large: true, threads: 384, voxels: sliceLanes, unit: 1, levels: 1 << 16, shares: 2},
		{name: ranked, infix: "_ranked", threads: 384, voxels: 1, unit: 16, levels: 1 << 18, shares: 2},
		{name: single, infix: "_single", values: true, threads: 128, voxels: 1, hands: true},
	}
}

// kindNamed returns the kind with a name.
func kindNamed(name string) kind {
	list := kinds()
	return list[slices.IndexFunc(list, func(k kind) bool { return k.name == name })]
}

// slicedShared is what a block of the sliced kernels has in shared memory, in bytes:
// counters, and three planes of each warp (kernels/ecc/sliced_planes.h).
func (k kind) slicedShared(t grid.Type) int64 {
	const row, beyond, lanes = 128, 16, 32 // bytes of a warp's rows, and beyond
	counters := k.levels * lanes
	switch {
	case k.shares > 1:
		counters = k.levels/k.shares + spare
	case t == grid.Uint8:
		counters = 1 << 8 * lanes
	}
	return 4*counters + k.threads/lanes*3*slicedRows*(row+beyond)
}

// counters is how many of 32 bits a block has in shared memory.
func (k kind) counters(t grid.Type, l grid.Ladder) int64 {
	levels := l.Len()
	if k.bits {
		return k.slicedShared(t) / 4
	}
	if t == grid.Uint8 {
		levels = 1 << 8 // of values
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

// CanDo refuses what does not fit the device, or the kernels' integers.
func (o OnDevice) CanDo(in grid.Source, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	return able(d, in)
}

// able refuses images that do not fit a device together, or the kernels' integers.
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

// kernelsTake refuses what does not fit the kernels' integers, and devices that they are not for.
func kernelsTake(d device.Device, in grid.Source) error {
	if i := d.Info(); i.Major < 8 {
		return fmt.Errorf("%s has compute capability %d.%d, the kernels need 8.0 for the minimum of two halves", i.Name, i.Major, i.Minor)
	}
	if err := in.Ladder().CheckIndexed(); err != nil {
		return err
	}
	s := in.Shape()
	if n, h, w := ecc.Stack(s); max(w, h, n) > math.MaxInt32/8 || n > math.MaxInt32/4 || w*h > math.MaxInt32 {
		return fmt.Errorf("%v: a slice has more voxels than the kernels count, %d", s, math.MaxInt32)
	}
	return nil
}

// guard is the number of bytes before and after the image that warps read
// without using them: sixteen rows, and two warps' columns.
func guard(in grid.Source) int64 {
	const align = 256
	bytes := (slicedRows*in.Shape().W + 4*columns) * in.Type().Size()
	return (bytes + align - 1) / align * align
}

// A scaling turns values that stand on levels into the patterns of a kind
// (kernels/ecc/extrema.h, extrema_wide.h and extrema_ranked.h).
type scaling struct {
	scale, offset float32
	bias          uint32
}

// scaling is that of a type and ladder, and whether the kind's patterns tell the
// levels apart.
func (k kind) scaling(t grid.Type, l grid.Ladder) (s scaling, ok bool) {
	if t == grid.Uint8 {
		return s, k.bytes
	}
	lo, step, even := l.Affinity()
	if !even || l.Len() > k.levels {
		return s, false
	}
	const integers = 1<<23 + 1<<16 // around it float32 are the integers
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

// fastest is the first kind that compares an image's levels on a device, if any
// does.
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

// Setup loads the kernels and allocates the image, and copies it there unless the
// scope times the copy.
func (o OnDevice) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	j, err := o.bind(d, in, in.Shape(), c, true)
	if err != nil {
		return nil, err // and no job in the interface
	}
	return j, nil
}

// bind is the job of images of a shape on a device, which counts one of them at a
// time. Where its kernels can, they bring the curve to the host themselves, if that is
// wanted.
func (o OnDevice) bind(d device.Device, in grid.Source, s grid.Shape, c bench.Conditions, handsOver bool) (*deviceJob, error) {
	j := &deviceJob{
		placed: place(d, in, c),
		shape:  s, small: s.Voxels() <= smallVoxels && !o.large, handsOver: handsOver && in.Ladder().Len() <= mostHandedOver,
	}
	if err := j.setup(o.PTX); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// kernel is the kernel of a kind for images of a shape. There is a source for each type, and
// for each kind of many levels.
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

// segment is the number of slices that a warp marches through. It reads two more,
// so few long segments are cheap, but blocks take them in turn, and in the last turn
// few may have one: those take more than half the time that all together take, of the
// sliced kernels nearly all of it, for a warp alone is as slow. Measured on an H200, as
// the tails are.
func (k kind) segment(s grid.Shape, t grid.Type, blocks int64) int64 {
	warps, voxels := k.threads/32, k.voxels
	n, h, w := ecc.Stack(s)
	across := (w + columns - 1) / columns
	groups, rows := across*(((h+2*voxels)/(2*voxels)+warps-1)/warps), int64(1)
	tail, alone, more := 0.3, 0.5, 2.0
	switch {
	case k.bits: // a warp at a time, of 128 bytes of a row
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
