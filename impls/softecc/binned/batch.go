package binned

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// A BatchKind is what the images of a batch have in common.
type BatchKind struct {
	Shape      grid.Shape
	Type       grid.Type
	Images     int64
	Thresholds int64
	Axes       int   // of an image: 1 to 3
	Align      int64 // bytes that the addresses of images and gradients are multiples of
	Steep      bool  // as many bins as a block can have, at the cost of time in volumes
}

// A Batch finds the soft curves of images in one pass, and their gradients in another, each a launch for all of
// them. All that is read and written is memory of its caller's, who may have made the numbers on the device.
type Batch struct {
	kind                        BatchKind
	on                          device.Device
	kernels, others             device.Module
	forward, backward, lay, sum device.Function
	forwards, backwards         device.Launch
	parts, length, most         int64   // blocks of an image, rows that a warp marches through, bins
	unit                        float32 // of the moments
}

// Numbers are the parameters of a soft curve on the device, float64 or, where their bit of Doubles is not set, float32.
type Numbers struct {
	Tau, Lambda, Alpha, Direction device.Buffer // the last axis of the direction is x
	Axes                          int32         // of the direction, 0 for none
	Doubles                       int32         // 1 for Tau, 2 for Lambda, 4 for Alpha, 8 for Direction
}

// A BatchMemory is what the passes share.
type BatchMemory struct {
	Image   device.Buffer
	Changes device.Buffer // Changes() bytes: one for each voxel, each row filled up to four
	Laid    device.Buffer // Laid() bytes, which Lay writes: how bins lie
	// What Lay writes that is added to X along a direction, float32: of each voxel of a row, and of each row. Nil where Y is X.
	Along, OfRow device.Buffer
}

// Shape of the kernels' work (kernels/softecc/softecc.h).
const (
	batchBlock = 512       // threads
	solidBlock = 384       // of the forward pass of a volume, which takes more registers
	solidShare = 128 << 10 // bytes of shared memory that it takes, unless sigmoids are steep: the rest is its cache
	mostVoxels = 1 << 19   // of a block, whose moments are integers of 32 bits
	laidBytes  = 32        // and 8 for each threshold
	binShared  = 12        // bytes
)

// OpenBatch loads the kernels for images alike.
func OpenBatch(d device.Device, k BatchKind) (*Batch, error) {
	s := k.Shape
	if err := errors.Join(s.Check(), countable(s, d.Info())); err != nil {
		return nil, err
	}
	if k.Thresholds < 1 || k.Images < 1 || k.Thresholds*k.Images > math.MaxInt32 {
		return nil, fmt.Errorf("%d thresholds of %d images: want 1 or more, and at most %d in all", k.Thresholds, k.Images, math.MaxInt32)
	}
	b := &Batch{kind: k, on: d, most: mostBins(d.Info())}
	if s.Dim() == 3 && !k.Steep {
		b.most = min(b.most, solidShare/binShared)
	}
	if err := b.load(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.share()
	return b, nil
}

// mostBins is how many bins the shared memory of a block has.
func mostBins(d device.Info) int64 { return (max(d.Shared, d.SharedOptIn) - 1<<10) / binShared }

func (b *Batch) load() (err error) {
	unaligned := "_unaligned"
	if b.kind.Shape.W%4 == 0 && b.kind.Align%(4*b.kind.Type.Size()) == 0 {
		unaligned = ""
	}
	forward := fmt.Sprintf("softecc_bins_%dd%s_%v", b.kind.Shape.Dim(), unaligned, b.kind.Type)
	backward := fmt.Sprintf("softecc_bins_backward%s_%v", unaligned, b.kind.Type)
	if b.kernels, err = resident.Load(b.on, fmt.Sprintf("softecc_%v", b.kind.Type), forward, backward); err != nil {
		return err
	}
	if b.others, err = resident.Load(b.on, "softecc_curve", "softecc_lay", "softecc_sum"); err != nil {
		return err
	}
	for _, f := range []struct {
		to   *device.Function
		in   device.Module
		name string
	}{{&b.forward, b.kernels, forward}, {&b.backward, b.kernels, backward}, {&b.lay, b.others, "softecc_lay"}, {&b.sum, b.others, "softecc_sum"}} {
		if *f.to, err = f.in.Function(f.name); err != nil {
			return err
		}
	}
	b.forwards.Block.X, b.forwards.Shared = batchBlock, 8+binShared*b.most
	if b.backwards = b.forwards; b.kind.Shape.Dim() == 3 {
		b.forwards.Block.X = solidBlock
	}
	return errors.Join(b.forward.AllowShared(b.forwards.Shared), b.backward.AllowShared(b.backwards.Shared))
}

// share shares the images out: to all multiprocessors, a block each, if there are enough rows.
func (b *Batch) share() {
	s, flat := b.kind.Shape, b.kind.Shape.Dim() == 2
	across, deep := (s.W+warpColumns-1)/warpColumns, (s.D+slabPlanes-1)/slabPlanes
	if flat {
		deep = 1
	}
	const shortest, longest = 4, 256
	warps := b.forwards.Block.X / 32
	items := func(length int64) int64 { return across * deep * ((s.H + length - 1) / length) }
	least := (s.Voxels() + mostVoxels - 1) / mostVoxels
	b.parts = max(least, min(int64(b.on.Info().SMs)/b.kind.Images, (items(shortest)+warps-1)/warps), 1)
	// So many rows that the last turn of the warps is nearly as full as the others, for each reads two rows beside its own.
	best := int64(math.MaxInt64)
	for length := int64(shortest); length <= max(shortest, min(longest, s.H)); length++ {
		if cost := (items(length) + b.parts*warps - 1) / (b.parts * warps) * (length + 2); cost <= best {
			best, b.length = cost, length
		}
	}
	// A voxel's change is eight at most, and half a width from the middle of a bin: no moment overflows.
	turns := (items(b.length) + b.parts*warps - 1) / (b.parts * warps)
	voxels := min(turns*warps*warpColumns*b.length*slabPlanes, s.Voxels())
	b.unit = float32(math.Ldexp(1, min(16, 29-bits.Len64(uint64(voxels-1)))))
	b.forwards.Grid.X = b.parts * b.kind.Images
	b.backwards.Grid.X = b.forwards.Grid.X
}

// Blocks is how many moments Backward writes, those of an image after the other.
func (b *Batch) Blocks() int64 { return b.forwards.Grid.X }

// Changes is how many bytes the changes of all images take.
func (b *Batch) Changes() int64 { return 4 * words(b.kind.Shape) * b.kind.Images }

// Laid is how many bytes it takes to say how bins lie.
func (b *Batch) Laid() int64 { return laidBytes + 8*b.kind.Thresholds }

// Work is how many bytes Forward works in.
func (b *Batch) Work(derivatives bool) int64 {
	if derivatives {
		return 3 * 8 * b.Blocks() * b.kind.Thresholds
	}
	return 8 * b.Blocks() * b.kind.Thresholds
}

// image are the first parameters of both passes.
func (b *Batch) image(m BatchMemory) []any {
	s := b.kind.Shape
	return []any{m.Image, orNull(m.Along), orNull(m.OfRow), int32(s.W), int32(s.H), int32(s.D), m.Changes}
}

// orNull is memory as kernels take it where there may be none.
func orNull(b device.Buffer) any {
	if b == nil {
		return int64(0)
	}
	return b
}

// Lay adds to a stream what says how bins lie.
func (b *Batch) Lay(s device.Stream, n Numbers, m BatchMemory, vertices bool) error {
	turn, shape, blocks := 1.0, b.kind.Shape, int64(1)
	if vertices {
		turn = -1
	}
	if m.OfRow != nil {
		blocks = min(64, (shape.H*shape.D+255)/256)
	}
	return s.Launch(b.lay, device.Launch{Grid: device.Dim{X: blocks}, Block: device.Dim{X: 256}},
		n.Tau, n.Lambda, orNull(n.Alpha), orNull(n.Direction), n.Doubles, int32(b.kind.Thresholds), int32(b.most), turn, n.Axes,
		int32(shape.W), int32(shape.H), int32(shape.D), m.Laid, orNull(m.Along), orNull(m.OfRow))
}

// Forward adds the changes and the curves to a stream, where bins are laid. Curves are float32. Derivatives are nil, or float64: those by the
// thresholds of all images, then those by λ. Vertices are counted turned over, with a voxel less than all around, and what is found is turned back.
func (b *Batch) Forward(s device.Stream, m BatchMemory, work, curves, derivatives device.Buffer, vertices bool) error {
	wanted := int32(0)
	if derivatives != nil {
		wanted = 1
	}
	start, sign, turn := float32(0), float32(1), float32(1)
	if vertices { // those that are less than all are a sphere
		start, sign, turn = -1, 1, -1
		if b.kind.Axes%2 == 0 { // of an even dimension
			start, sign, turn = 1, -1, 1
		}
	}
	const warps = 4
	total := b.kind.Images * b.kind.Thresholds
	return errors.Join(
		s.Launch(b.forward, b.forwards, append(b.image(m), int32(b.length), int32(b.parts), m.Laid, int32(b.kind.Thresholds), b.unit, work, wanted)...),
		s.Launch(b.sum, device.Launch{Grid: device.Dim{X: (total + warps - 1) / warps}, Block: device.Dim{X: 32 * warps}},
			work, int32(b.parts), int32(b.kind.Thresholds), int32(total), start, sign, turn, curves, orNull(derivatives)))
}

// Backward adds the gradient by the images that are counted to a stream, and of each block the moments, unless that is nil: sums of c·G' and of
// that times x, y and z. The upstream gradient is float32, that of an image after the other, and is multiplied by turn.
func (b *Batch) Backward(s device.Stream, m BatchMemory, upstream, gradient, moments device.Buffer, turn float32) error {
	return s.Launch(b.backward, b.backwards, append(b.image(m), gradient, orNull(moments), int32(b.parts), m.Laid, int32(b.kind.Thresholds), upstream, turn)...)
}

// Close frees the kernels. Nothing may run that uses them.
func (b *Batch) Close() error {
	var errs []error
	for _, m := range []device.Module{b.kernels, b.others} {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}
