package extrema

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/ecc"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// OnDevice counts extrema of a resident image (kernels/extrema_3d.h). Up to
// 7900 levels are compared two at a time, as pairs of halves, where the image's
// values stand on them: those of float32 on evenly spaced levels, of 16-bit types
// on successive ones, of uint8 on any. Other images are compared a float32 at a
// time, and a level is looked up where the curve changes.
type OnDevice struct {
	Open resident.Opener
	// PTX gives the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)
}

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.About{
		Name:   "extrema-gpu",
		Where:  "gpu",
		Method: "resident image, only the extrema of four minimum-filtered images count, two voxels an instruction",
		Source: "doc/extrema.md",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E, bench.File},
	}
}

// The shape of the kernels' work.
const (
	threads    = 128
	columns    = 128 // of a warp in 3D, half of those in 2D
	pairLevels = 7900
	spare      = 32 // counters of no level
)

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
	if i := d.Info(); i.Major < 8 {
		return fmt.Errorf("%s has compute capability %d.%d, the kernels need 8.0 for the minimum of two halves", i.Name, i.Major, i.Minor)
	}
	var need int64
	for _, in := range images {
		s := in.Shape()
		if n, h, w := ecc.Stack(s); max(w, h, n) > math.MaxInt32/8 || n > math.MaxInt32/4 || w*h > math.MaxInt32 {
			return fmt.Errorf("%v: a slice has more voxels than the kernels count, %d", s, math.MaxInt32)
		}
		need += 2*guard(in) + grid.TotalBytes(in) + 12*in.Ladder().Len()
	}
	return resident.Fits(d, need, "the resident image")
}

// guard is the number of bytes before and after the image that warps read
// without using them: five rows, and two warps' columns.
func guard(in grid.Source) int64 {
	const align = 256
	bytes := (5*in.Shape().W + 4*columns) * in.Type().Size()
	return (bytes + align - 1) / align * align
}

// A scaling turns values that stand on levels into 4 times the level
// (kernels/extrema.h).
type scaling struct {
	scale, offset float32
	bias          uint32
}

// pairs is the scaling of a type and ladder, and whether pairs hold its levels.
func pairs(t grid.Type, l grid.Ladder) (s scaling, ok bool) {
	if t == grid.Uint8 {
		return s, true
	}
	lo, step, even := l.Affinity()
	if !even || l.Len() > pairLevels {
		return s, false
	}
	if t != grid.Float32 {
		least := int64(lo)
		if t == grid.Int16 {
			least -= math.MinInt16
		}
		s.bias = uint32(4 * least * 0x10001)
		return s, step == 1 && float64(int64(lo)) == lo
	}
	const integers = 1<<23 + 1<<16 // around it float32 are the integers
	s.scale, s.offset = float32(4/step), float32(integers-4*lo/step)
	for k := range l.Len() {
		at := math.FMA(float64(s.scale), float64(l.Value(k)), float64(s.offset))
		if at = math.Abs(at - integers - float64(4*k)); !(at < 0.4) {
			return s, false
		}
	}
	return s, true
}

// Setup loads the kernels and allocates the image, and copies it there unless the
// scope times the copy.
func (o OnDevice) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	j, err := bind(d, in, c, o.PTX)
	if err != nil {
		return nil, err // and no job in the interface
	}
	return j, nil
}

// bind is the job of an image on a device.
func bind(d device.Device, in grid.Source, c bench.Conditions, ptx func(string) ([]byte, error)) (*deviceJob, error) {
	j := &deviceJob{d: d, in: in, upload: c.Scope == bench.E2E || c.Scope == bench.File}
	if err := j.setup(ptx); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// module is the source of the kernels for an image: one for each type, so that the
// driver compiles no others.
func module(in grid.Source) string { return fmt.Sprintf("ecc_extrema_%v", in.Type()) }

// kernel is the kernel for an image, in pairs or not.
func kernel(in grid.Source, ptx func(string) ([]byte, error), pairs bool) resident.Kernel {
	k := resident.Kernel{
		Module: module(in), Method: "extrema", PTX: ptx, Shape: in.Shape(), Type: in.Type(), Ladder: in.Ladder(), Threads: threads,
	}
	switch {
	case !pairs:
		k.Method = "extrema_single"
	case in.Shape().W%4 != 0:
		k.Method = "extrema_unaligned"
	}
	if pairs {
		k.Counters = in.Ladder().Len() + spare
		if in.Type() == grid.Uint8 {
			k.Counters = 1<<8 + spare
		}
	}
	return k
}

func (j *deviceJob) image() uint64 { return j.memory.Address() + uint64(guard(j.in)) }

// segment is the number of slices that a warp marches through. It reads two more,
// so few long segments are cheap, but blocks take them in turn, and in the last turn
// few may have one: those take more than half the time that all together take.
// Measured on an H200, as the tails are.
func segment(s grid.Shape, blocks int64, voxels int64) int64 {
	const warps = threads / 32
	n, h, w := ecc.Stack(s)
	across := (w + columns - 1) / columns
	groups, rows, tail := across*(((h+2*voxels)/(2*voxels)+warps-1)/warps), int64(1), 0.3
	if s.D == 1 {
		groups, rows, tail = (across+2*warps-1)/(2*warps), voxels, 0.05
	}
	best, least := int64(1), math.Inf(1)
	for parts := int64(1); parts <= max(1, n/2); parts++ {
		length := ((n+parts-1)/parts + rows - 1) / rows
		items := groups * ((n + rows*length - 1) / (rows * length))
		turns := float64(items / blocks)
		if rest := items % blocks; rest > 0 {
			turns += 0.5 + 0.5*float64(rest)/float64(blocks)
		}
		if cost := (turns + tail) * float64(length+2); cost < least {
			best, least = length, cost
		}
	}
	return best
}
