package binned

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// A BatchKind describes the images of a batch, which share it. With Vertices the images are negated
// and have a border of −∞. The border is a sphere, whose χ is subtracted.
type BatchKind struct {
	Shape      grid.Shape
	Type       grid.Type
	Images     int64
	Thresholds int64
	Axes       int32 // of an image: 1 to 3
	Align      int64 // addresses of images and gradients are multiples of this number of bytes
	Steep      bool  // use as many bins as fit a block, at the cost of time in volumes
	Vertices   bool
	Directed   bool // there is a direction
	InBins     bool // counts few voxels in bins, too
}

// A Batch computes the soft curves of images in one pass and their gradients in another. The number
// of launches does not grow with the number of images: at most three forward and one backward. The
// caller allocates all memory, and may compute the parameters on the device. Small batches are
// evaluated directly at each threshold; others are counted in bins.
type Batch struct {
	BatchKind
	on                          device.Device
	kernels, others             device.Module
	forward, backward, lay, sum device.Function
	forwards, backwards         device.Launch
	parts, length, most         int64   // blocks per image, rows per warp, bins
	unit                        float32 // of the moments
	direct                      bool
}

// Numbers are the parameters of a soft curve on the device. Each is float64 if its bit of Doubles
// is set, else float32.
type Numbers struct {
	Tau, Lambda, Alpha, Direction device.Buffer // the last axis of the direction is x; nil without a direction
	Doubles                       int32         // 1 for Tau, 2 for Lambda, 4 for Alpha, 8 for Direction
}

// BatchMemory is the memory that both passes share.
type BatchMemory struct {
	Image   device.Buffer
	Changes device.Buffer // Changes() bytes: one per voxel, rows padded to multiples of four
	Laid    device.Buffer // Laid() bytes written by Lay: the positions of the bins and thresholds
	// Lay writes the terms of a direction: float32 per voxel of a row, and per row. Nil without a
	// direction.
	Along, OfRow device.Buffer
}

// Shape of the kernels' work (kernels/softecc/softecc.h).
const (
	batchBlock = 512         // threads
	stack      = 11          // warps of the forward pass of a volume with two planes each; one more is before them
	stackBytes = 1<<10 + 960 // that a warp of them hands to the next one, and its queue
	solidShare = 128 << 10   // bytes of its shared memory, unless sigmoids are steep; the rest is cache
	mostVoxels = 1 << 20     // per block: its moments are 32-bit integers
	laidBytes  = 40          // plus 8 per threshold
	binShared  = 12          // bytes per bin
	binSpare   = 32          // counters of changes outside the bins, one for each lane

	directBlock      = 256     // threads
	directThresholds = 64      // at most
	directVoxels     = 1 << 12 // at most, for each multiprocessor and round of blocks
	directImage      = 1 << 16 // voxels at most: rounding errors of direct sums grow with them
)

// OpenBatch loads the kernels for images of one kind.
func OpenBatch(d device.Device, k BatchKind) (*Batch, error) {
	s := k.Shape
	if err := errors.Join(s.Check(), countable(s, d.Info())); err != nil {
		return nil, err
	}
	if k.Thresholds < 1 || k.Images < 1 || k.Thresholds*k.Images > math.MaxInt32 {
		return nil, fmt.Errorf("%d thresholds of %d images: want 1 or more, and at most %d in all",
			k.Thresholds, k.Images, math.MaxInt32)
	}
	b := &Batch{BatchKind: k, on: d, most: mostBins(d.Info(), s.Dim())}
	b.direct = b.evaluatesDirectly()
	if s.Dim() == 3 && !k.Steep {
		b.most = min(b.most, solidShare/binShared-binSpare)
	}
	b.share()
	if err := b.load(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// evaluatesDirectly reports whether a sigmoid for each voxel and threshold takes less time than
// bins, whose cost hardly falls with fewer voxels. All images have at most 4096·SMs·⌈images/SMs⌉
// voxels then, and each at most 2¹⁶.
func (b *Batch) evaluatesDirectly() bool {
	sms, voxels := int64(b.on.Info().SMs), b.Shape.Voxels()
	rounds := (b.Images + sms - 1) / sms
	return !b.InBins && b.Type == grid.Float32 && b.Thresholds <= directThresholds && voxels <= directImage &&
		b.Images <= directVoxels*sms*rounds/voxels
}

// mostBins returns the number of bins that fit in the shared memory of a block, for images of dim
// dimensions.
func mostBins(d device.Info, dim int) int64 {
	bytes := max(d.Shared, d.SharedOptIn) - 1<<10
	if dim == 3 {
		bytes -= (stack + 1) * stackBytes
	}
	return bytes/binShared - binSpare
}

// load loads the kernels. Those before and after the forward kernel are in the module of direct evaluation.
func (b *Batch) load() (err error) {
	const direct = "softecc_direct"
	of := map[string]*device.Function{}
	if !b.direct || b.Directed {
		of["softecc_lay"] = &b.lay
	}
	if !b.direct || b.parts > 1 {
		of["softecc_sum"] = &b.sum
	}
	if b.direct {
		of[fmt.Sprintf("%s_%dd", direct, b.Shape.Dim())], of[direct+"_backward"] = &b.forward, &b.backward
		b.kernels, err = loadFunctions(b.on, direct, of)
		return err
	}
	if b.others, err = loadFunctions(b.on, direct, of); err != nil {
		return err
	}
	aligned := b.Shape.W%4 == 0 && b.Align%(4*b.Type.Size()) == 0
	forward, backward := passes("bins", b.Shape, b.Type, aligned)
	b.kernels, err = loadFunctions(b.on, fmt.Sprintf("softecc_%v", b.Type),
		map[string]*device.Function{forward: &b.forward, backward: &b.backward})
	if err != nil {
		return err
	}
	return errors.Join(b.forward.AllowShared(b.forwards.Shared), b.backward.AllowShared(b.backwards.Shared))
}

// loadFunctions loads a module with the named kernels.
func loadFunctions(d device.Device, module string, of map[string]*device.Function) (device.Module, error) {
	m, err := resident.Load(d, module, slices.Sorted(maps.Keys(of))...)
	if err != nil {
		return nil, err
	}
	for name, to := range of {
		if *to, err = m.Function(name); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	return m, nil
}

// share divides the images among blocks, and sets the launches of both passes.
func (b *Batch) share() {
	if b.direct {
		b.shareDirect()
	} else {
		b.shareBins()
	}
	b.forwards.Grid.X = b.parts * b.Images
	b.backwards.Grid.X = b.forwards.Grid.X
}

// shareDirect gives a multiprocessor some blocks. Images that are enough for all of them have one block each, because
// the sums of several need a launch.
func (b *Batch) shareDirect() {
	const blocks = 3
	b.forwards.Block.X, b.backwards.Block.X, b.parts = directBlock, directBlock, 1
	if sms := int64(b.on.Info().SMs); b.Images < sms {
		b.parts = min((b.Shape.Voxels()+directBlock-1)/directBlock, blocks*sms/b.Images)
	}
}

// shareBins gives each multiprocessor a block, if there are enough rows.
func (b *Batch) shareBins() {
	s := b.Shape
	b.forwards.Block.X, b.forwards.Shared = batchBlock, 8+binShared*(b.most+binSpare)
	if b.backwards = b.forwards; s.Dim() == 3 {
		b.forwards.Block.X = 32 * (stack + 1)
	}
	// Rows of 128 columns are shared out: rows of a flat image to warps, rows of planes to blocks.
	across, deep, warps, planes := (s.W+warpColumns-1)/warpColumns, int64(1), b.forwards.Block.X/32, int64(1)
	if s.Dim() == 3 {
		warps, planes = 1, slabPlanes*stack
		deep = (s.D + planes - 1) / planes
	}
	const shortest, longest = 4, 256
	items := func(length int64) int64 { return across * deep * ((s.H + length - 1) / length) }
	least := (s.Voxels() + mostVoxels - 1) / mostVoxels
	b.parts = max(least, min(int64(b.on.Info().SMs)/b.Images, (items(shortest)+warps-1)/warps), 1)
	// Each warp also reads the two rows next to its own. The best length nearly fills the last round.
	best := int64(math.MaxInt64)
	for length := int64(shortest); length <= max(shortest, min(longest, s.H)); length++ {
		if cost := (items(length) + b.parts*warps - 1) / (b.parts * warps) * (length + 2); cost <= best {
			best, b.length = cost, length
		}
	}
	// A change is at most eight and at most half a width from the middle of a bin: no moment overflows.
	turns := (items(b.length) + b.parts*warps - 1) / (b.parts * warps)
	voxels := min(turns*warps*warpColumns*b.length*planes, s.Voxels())
	b.unit = float32(math.Ldexp(1, min(16, 29-bits.Len64(uint64(voxels-1)))))
}

// Blocks returns the number of moments that Backward writes, image after image.
func (b *Batch) Blocks() int64 { return b.forwards.Grid.X }

// Changes returns the size of the changes of all images in bytes.
func (b *Batch) Changes() int64 { return 4 * words(b.Shape) * b.Images }

// Laid returns the size of the positions of the bins and thresholds in bytes.
func (b *Batch) Laid() int64 { return laidBytes + 8*b.Thresholds }

// Terms returns the sizes of the terms of a direction along x and of rows in bytes, 0 without a direction.
func (b *Batch) Terms() (along, ofRow int64) {
	if b.Directed {
		along, ofRow = 4*b.Shape.W, 4*b.Shape.H*b.Shape.D
	}
	return along, ofRow
}

// Work returns the size of Forward's working memory in bytes, which may be 0.
func (b *Batch) Work(derivatives bool) int64 {
	switch {
	case b.direct && b.parts == 1:
		return 0
	case derivatives:
		return 3 * 8 * b.Blocks() * b.Thresholds
	}
	return 8 * b.Blocks() * b.Thresholds
}

// image returns the first parameters of both passes.
func (b *Batch) image(m BatchMemory) []any {
	s := b.Shape
	return []any{m.Image, orNull(m.Along), orNull(m.OfRow), int32(s.W), int32(s.H), int32(s.D), m.Changes}
}

// orNull returns a buffer as a kernel argument: the null pointer for nil.
func orNull(b device.Buffer) any {
	if b == nil {
		return int64(0)
	}
	return b
}

// turn returns the factor of the numbers of counted images.
func (b *Batch) turn() float64 {
	if b.Vertices {
		return -1
	}
	return 1
}

// Lay adds to a stream the kernel that places the bins and the thresholds, and computes the terms of the direction.
func (b *Batch) Lay(s device.Stream, n Numbers, m BatchMemory) error {
	shape, blocks := b.Shape, int64(1)
	if b.lay == nil {
		return nil
	}
	if m.OfRow != nil {
		blocks = min(64, (shape.H*shape.D+255)/256)
	}
	return s.Launch(b.lay, device.Launch{Grid: device.Dim{X: blocks}, Block: device.Dim{X: 256}},
		n.Tau, n.Lambda, orNull(n.Alpha), orNull(n.Direction), n.Doubles, int32(b.Thresholds), int32(b.most), b.turn(),
		b.Axes, int32(shape.W), int32(shape.H), int32(shape.D), m.Laid, orNull(m.Along), orNull(m.OfRow))
}

// dual returns the relation of χ to χ' of the counted images, χ = start + sign·χ', and the factor
// of the derivatives by the thresholds.
func (b *Batch) dual() (start, sign, turn float32) {
	switch {
	case !b.Vertices:
		return 0, 1, 1
	case b.Axes%2 == 0:
		return 1, -1, 1
	}
	return -1, 1, -1
}

// Forward adds to a stream the kernels of the changes and the curves, after Lay. Curves are
// float32. Derivatives are nil or float64: by the thresholds of all images, then by λ.
func (b *Batch) Forward(s device.Stream, n Numbers, m BatchMemory, work, curves, derivatives device.Buffer) error {
	start, sign, turn := b.dual()
	const warps = 4
	parts, thresholds, total := int32(b.parts), int32(b.Thresholds), b.Images*b.Thresholds
	var rest []any
	if b.direct {
		rest = []any{parts, n.Tau, n.Lambda, n.Doubles, thresholds, float32(b.turn()), m.Laid, start, sign,
			orNull(work), int32(total), curves, orNull(derivatives)}
	} else {
		wanted := int32(0)
		if derivatives != nil {
			wanted = 1
		}
		rest = []any{int32(b.length), parts, m.Laid, thresholds, b.unit, work, wanted}
	}
	if err := s.Launch(b.forward, b.forwards, append(b.image(m), rest...)...); err != nil || b.sum == nil {
		return err
	}
	sums := device.Launch{Grid: device.Dim{X: (total + warps - 1) / warps}, Block: device.Dim{X: 32 * warps}}
	return s.Launch(b.sum, sums, work, parts, thresholds, int32(total), start, sign, turn, curves, orNull(derivatives))
}

// Backward adds to a stream the kernel of the gradient by the images, with Vertices also by their
// border. If moments is not nil, each block writes four: the sums of c·G' and of c·G' times x, y
// and z. The upstream gradient is float32, image after image.
func (b *Batch) Backward(s device.Stream, m BatchMemory, upstream, gradient, moments device.Buffer) error {
	_, _, turn := b.dual()
	return s.Launch(b.backward, b.backwards, append(b.image(m),
		gradient, orNull(moments), int32(b.parts), m.Laid, int32(b.Thresholds), upstream, turn)...)
}

// Close frees the kernels. Nothing may run that uses them.
func (b *Batch) Close() error { return resident.CloseAll(b.kernels, b.others) }
