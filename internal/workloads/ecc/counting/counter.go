package counting

import (
	"errors"
	"fmt"
	"time"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// A Counter is a loaded kernel that adds the changes of an image to a table, with its buffers on
// the device. Kernels take the ladder's parameters after their own (kernels/ecc/voxel.h), and the
// histogram's parameters last (kernels/ecc/histogram.h).
type Counter struct {
	resident.Objects
	Stream device.Stream

	module     device.Module
	function   device.Function
	shape      device.Launch
	copies     int32 // number of copies of a block's histogram
	ladder     *Ladder
	total      device.Buffer      // int64 per level; in a batch int32 per level and image
	result     device.Pinned      // the same on the host
	over       *resident.Handover // replaces total and result if the kernel hands over
	prepared   func() error       // launches a kernel that hands over
	start, end device.Event       // nil unless the kernel is timed, or if over has them
	launches   int64
}

// A Kernel describes the kernel that counts, and its input.
type Kernel struct {
	Module string                            // kernels/ecc/<Module>.cu
	Method string                            // ecc_<Method>_<2d|3d>_<type>
	PTX    func(name string) ([]byte, error) // returns the code of a source; nil means package kernels
	Shape  grid.Shape
	Type   grid.Type
	Ladder grid.Ladder
	Images int64 // of a batch, each with a table of int32; 0 for a single image with a table of int64

	Others []string // other kernels of the module, for Run

	// Given means that each launch passes the memory for the table: use CountIn.
	Given bool
	// HandsOver means that the kernel itself copies its table to the host: use Prepare and HandOver
	// instead of Begin, Count and End.
	HandsOver bool
	// Timed enables Elapsed and At. Otherwise no events are recorded, which would take microseconds
	// of a call.
	Timed bool

	Threads  int64 // per block; 0 chooses a number that suits the counters
	Blocks   int64 // 0 means the number that run at once
	Counters int64 // per block, in shared memory; 0 means one per level, or none if they do not fit
}

// Open loads a kernel and prepares its tables. On an error it frees all that it allocated.
func Open(d device.Device, k Kernel) (*Counter, error) {
	c := &Counter{Objects: resident.NewObjects(d)}
	if err := c.open(k); err != nil {
		return c, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Counter) open(k Kernel) (err error) {
	c.Stream = c.NewStream("counting")
	if k.Timed && !k.HandsOver {
		c.start, c.end = c.NewEvent("start"), c.NewEvent("end")
	}
	name := fmt.Sprintf("ecc_%s_%dd_%v", k.Method, k.Shape.Dim(), k.Type)
	c.module = resident.Own(&c.Objects, func() (device.Module, error) { return k.load(c.On, name) })
	c.function = c.Function(c.module, name)
	if err := c.Err(); err != nil {
		return err
	}
	c.ladder = putLadder(&c.Objects, c.Stream, k)
	switch {
	case k.Given:
	case k.HandsOver:
		c.over = resident.NewHandover(&c.Objects, c.Stream, k.tables(), k.Timed)
	default:
		c.total, c.result = c.NewBuffer("changes", k.tables()), c.NewPinned("changes on the host", k.tables())
	}
	if err := c.Err(); err != nil {
		return err
	}
	return c.arrange(k)
}

// load loads the kernels of the module that will be launched.
func (k Kernel) load(d device.Device, name string) (device.Module, error) {
	names := append([]string{name}, k.Others...)
	if k.PTX == nil {
		return resident.Load(d, k.Module, names...)
	}
	ptx, err := k.PTX(k.Module)
	if err != nil {
		return nil, err
	}
	return resident.Compile(d, k.Module, ptx, names)
}

// tables returns the size of the changes in bytes.
func (k Kernel) tables() int64 {
	if k.Images > 0 {
		return 4 * k.Ladder.Len() * k.Images
	}
	return 8 * k.Ladder.Len()
}

// MostVoxels is the largest number of voxels per block: an int32 can count 7 changes of each, with a margin.
const MostVoxels = 1 << 27

// Limits for a block's histogram.
const (
	manyCopies  = 32 << 10 // shared memory for all copies together
	smallBlock  = 256      // threads per block, if several blocks share a multiprocessor
	largeBlock  = 1024     // threads per block, if it has a multiprocessor to itself
	singleBlock = 96 << 10 // shared memory above which a block has a multiprocessor to itself
)

// arrange chooses the number of blocks and of histogram copies. It launches the blocks that run at
// once. Each has several copies of the levels in shared memory if they need little of it, one copy
// if it fits, and otherwise none.
func (c *Counter) arrange(k Kernel) error {
	info := c.On.Info()
	bytes, voxels := 4*k.Ladder.Len(), k.Shape.Voxels()*max(1, k.Images)
	block := int64(smallBlock)
	switch {
	case k.Counters > 0:
		bytes, c.copies = 4*k.Counters, 1
	case bytes <= manyCopies:
		c.copies = int32(min(manyCopies/bytes, smallBlock/32))
	case bytes <= info.SharedOptIn-c.function.Attributes().Shared:
		c.copies = 1
		if bytes > singleBlock {
			block = largeBlock
		}
	}
	if k.Threads > 0 {
		block = k.Threads
	}
	c.shape = device.Launch{Block: device.Dim{X: block}, Shared: int64(c.copies) * bytes}
	if c.shape.Shared+c.function.Attributes().Shared > info.Shared {
		if err := c.function.AllowShared(c.shape.Shared); err != nil {
			return err
		}
	}
	atOnce, err := c.function.Occupancy(block, c.shape.Shared)
	if err != nil {
		return err
	}
	if atOnce == 0 {
		return tooLarge{fmt.Sprintf("kernel %s: no multiprocessor has room for a block of %d threads with "+
			"%d registers each and %d bytes of shared memory",
			c.function.Name(), block, c.function.Attributes().Registers, c.shape.Shared)}
	}
	blocks := int64(info.SMs) * int64(atOnce)
	c.shape.Grid.X = max(min(blocks, (voxels+block-1)/block), (voxels+MostVoxels-1)/MostVoxels)
	if k.Blocks > 0 {
		c.shape.Grid.X = k.Blocks
	}
	return nil
}

// tooLarge reports a kernel that cannot be launched (device.IsLaunchTooLarge).
type tooLarge struct{ why string }

func (t tooLarge) Error() string      { return t.why }
func (tooLarge) LaunchTooLarge() bool { return true }

// Start records the start time. Use Begin instead for kernels that add to the table, and Count
// between Begin and End.
func (c *Counter) Start() error { return c.record(c.start) }

// record records an event if the kernel is timed.
func (c *Counter) record(e device.Event) error {
	if e == nil {
		return nil
	}
	return c.Stream.Record(e)
}

// Begin records the start time and clears the table.
func (c *Counter) Begin() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Stream.Fill32(c.total, 0, c.total.Bytes()/4, 0)
}

// Blocks returns the number of blocks of a launch by Count.
func (c *Counter) Blocks() int64 { return c.shape.Grid.X }

// Run launches another kernel of the module, one of Kernel.Others, with as many blocks as Count.
// Its parameters are image, the ladder's, and last.
func (c *Counter) Run(kernel string, last any, image ...any) error {
	f, err := c.module.Function(kernel)
	if err != nil {
		return err
	}
	args := append(append(image, c.ladder.args()...), last)
	return c.Stream.Launch(f, device.Launch{Grid: c.shape.Grid, Block: c.shape.Block}, args...)
}

// Count launches the kernel on a stream. image lists the kernel's own parameters.
func (c *Counter) Count(s device.Stream, image ...any) error {
	c.launches++
	return s.Launch(c.function, c.shape, c.args(image)...)
}

// CountIn launches the kernel on a stream, with rows × blocks blocks of threads, and memory for its tables.
// image lists the kernel's own parameters. Several goroutines may call it concurrently.
func (c *Counter) CountIn(s device.Stream, blocks, rows, threads int64, memory device.Buffer, image ...any) error {
	shape := c.shape
	shape.Grid, shape.Block = device.Dim{X: blocks, Y: rows}, device.Dim{X: threads}
	return s.Launch(c.function, shape, append(append(image, c.ladder.args()...), memory, c.copies)...)
}

// args returns all parameters of the kernel, given its own.
func (c *Counter) args(image []any) []any {
	total := c.total
	if c.over != nil {
		total = c.over.Total()
	}
	return append(append(image, c.ladder.args()...), total, c.copies)
}

// Launches returns the number of launches so far.
func (c *Counter) Launches() int64 { return c.launches }

// End records the end time, copies the table to the host and waits for it.
func (c *Counter) End() error {
	if err := c.record(c.end); err != nil {
		return err
	}
	if err := c.Bring(); err != nil {
		return err
	}
	return c.Stream.Wait()
}

// Prepare sets the kernel's own parameters for HandOver.
func (c *Counter) Prepare(image ...any) {
	table, word := c.over.Parameters()
	args := c.args(append(image, table, word))
	c.prepared = func() error { return c.Stream.Launch(c.function, c.shape, args...) }
}

// HandsOver reports whether to call HandOver instead of Begin, Count and End.
func (c *Counter) HandsOver() bool { return c.over != nil }

// HandOver does the work of Begin, Count and End in one launch.
func (c *Counter) HandOver() error {
	c.launches++
	return c.over.Run(c.prepared)
}

// data returns the table on the host.
func (c *Counter) data() []byte {
	if c.over != nil {
		return c.over.Data()
	}
	return c.result.Data()
}

// Bring enqueues the copy of the table to the host.
func (c *Counter) Bring() error {
	return c.Stream.Copy(c.result, 0, c.total, 0, c.total.Bytes())
}

// Changes returns the change of each level after End. The next End overwrites them.
func (c *Counter) Changes() []int64 { return grid.Values[int64](c.data()) }

// Tables returns the changes of a batch after End, by image and level. The next End overwrites
// them.
func (c *Counter) Tables() []int32 { return grid.Values[int32](c.data()) }

// Poison overwrites the tables on the device and on the host.
func (c *Counter) Poison() {
	const poison = 0x5a
	if c.over != nil {
		c.over.Poison(poison)
		return
	}
	tables := c.result.Data()
	for i := range tables {
		tables[i] = poison
	}
	// Ignore errors: a broken device fails at the next call, with the reason.
	_ = c.Stream.Fill(c.total, 0, c.total.Bytes(), poison)
	_ = c.Stream.Wait()
}

// Cool flushes the device's L2 cache.
func (c *Counter) Cool() error {
	if err := c.On.FlushL2(c.Stream); err != nil {
		return err
	}
	return c.Stream.Wait()
}

// At returns the time of an event, counted from Begin.
func (c *Counter) At(e device.Event) (time.Duration, error) {
	if c.start == nil {
		return 0, resident.ErrUntimed
	}
	return e.Since(c.start)
}

// Elapsed returns the time on the device from Begin to End, or of the launch by HandOver.
func (c *Counter) Elapsed() (time.Duration, error) {
	switch {
	case c.over != nil:
		return c.over.Elapsed()
	case c.end == nil:
		return 0, resident.ErrUntimed
	}
	return c.end.Since(c.start)
}
