package counting

import (
	"errors"
	"fmt"
	"time"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// A Counter is a kernel that adds the changes of an image to a table, with all
// it needs on the device but the image. Kernels take a histogram's parameters
// last (kernels/ecc/histogram.h) and a ladder's before them (kernels/ecc/voxel.h).
type Counter struct {
	On     device.Device
	Stream device.Stream

	module     device.Module
	function   device.Function
	shape      device.Launch
	copies     int32 // of a block's histogram
	ladder     *Ladder
	total      device.Buffer      // int64 for each level; of a batch int32 for each level of each image
	result     device.Pinned      // the same on the host
	over       *resident.Handover // in place of both, where the kernel hands over
	prepared   func() error       // the launch of a kernel that hands over, with its parameters
	start, end device.Event       // nil unless they are asked for, or kept by over
	*resident.Watch
	launches int64
	slowdown
}

// A Kernel says which kernel counts, and how much it has to do.
type Kernel struct {
	Module string                            // kernels/ecc/<Module>.cu
	Method string                            // ecc_<Method>_<2d|3d>_<type>
	PTX    func(name string) ([]byte, error) // of a source; nil means package kernels
	Shape  grid.Shape
	Type   grid.Type
	Ladder grid.Ladder
	Images int64 // of a batch, each with a table of int32; 0 for one image, with a table of int64

	Others []string // kernels of the module that Run launches

	// Given says that the kernel has its table in memory that each launch is given, by CountIn.
	Given bool
	// HandsOver says that the kernel can hand its table over, and HandOver is called
	// after Prepare, not Begin, Count and End.
	HandsOver bool
	// Timed says that Elapsed or At is asked for. Without it no events are recorded,
	// which would take microseconds of a call.
	Timed bool

	Threads  int64 // of a block; 0 for as many as suit the counters
	Blocks   int64 // 0 for as many as run at once
	Counters int64 // of a block, in shared memory; 0 for one for each level, or none where they do not fit
}

// Open loads a kernel and prepares its tables. What has been made is freed when
// something fails.
func Open(d device.Device, k Kernel) (c *Counter, err error) {
	c = &Counter{On: d, Watch: resident.NewWatch(d)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.Stream, err = d.NewStream("counting"); err != nil {
		return c, err
	}
	if k.Timed && !k.HandsOver {
		if c.start, err = d.NewEvent("start"); err != nil {
			return c, err
		}
		if c.end, err = d.NewEvent("end"); err != nil {
			return c, err
		}
	}
	if c.module, c.function, err = k.load(d); err != nil {
		return c, err
	}
	if c.ladder, err = putLadder(d, c.Stream, k); err != nil {
		return c, err
	}
	if k.Given {
		return c, c.arrange(k)
	}
	if k.HandsOver {
		if c.over, err = resident.NewHandover(d, c.Stream, k.tables(), k.Timed); err != nil {
			return c, err
		}
		return c, c.arrange(k)
	}
	if c.total, err = d.Alloc("changes", k.tables()); err != nil {
		return c, err
	}
	if c.result, err = d.AllocPinned("changes on the host", k.tables()); err != nil {
		return c, err
	}
	return c, c.arrange(k)
}

// load loads of the kernel's module what will be launched.
func (k Kernel) load(d device.Device) (m device.Module, f device.Function, err error) {
	name := fmt.Sprintf("ecc_%s_%dd_%v", k.Method, k.Shape.Dim(), k.Type)
	names := append([]string{name}, k.Others...)
	if k.PTX == nil {
		m, err = resident.Load(d, k.Module, names...)
	} else {
		var ptx []byte
		if ptx, err = k.PTX(k.Module); err == nil {
			m, err = resident.Compile(d, k.Module, ptx, names)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	f, err = m.Function(name)
	return m, f, err
}

// tables is the number of bytes of the changes.
func (k Kernel) tables() int64 {
	if k.Images > 0 {
		return 4 * k.Ladder.Len() * k.Images
	}
	return 8 * k.Ladder.Len()
}

// Limits of a block's histogram.
const (
	manyCopies  = 32 << 10 // shared memory that copies may take together
	smallBlock  = 256      // threads, while several blocks share a multiprocessor
	largeBlock  = 1024     // threads of the only block there
	mostVoxels  = 1 << 27  // of a block: an int32 holds 7 changes of each, with room
	singleBlock = 96 << 10 // shared memory from which one block is alone
)

// arrange chooses the blocks: as many as run at once, each with as many copies
// of the levels in shared memory as fit a small share of it, one where one fits,
// and none where the levels exceed what a block may have.
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
		return tooLarge{fmt.Sprintf("kernel %s: no multiprocessor has room for a block of %d threads with %d registers each and %d bytes of shared memory",
			c.function.Name(), block, c.function.Attributes().Registers, c.shape.Shared)}
	}
	blocks := int64(info.SMs) * int64(atOnce)
	c.shape.Grid.X = max(min(blocks, (voxels+block-1)/block), (voxels+mostVoxels-1)/mostVoxels)
	if k.Blocks > 0 {
		c.shape.Grid.X = k.Blocks
	}
	return nil
}

// tooLarge is why a kernel cannot be launched (device.IsLaunchTooLarge).
type tooLarge struct{ why string }

func (t tooLarge) Error() string      { return t.why }
func (tooLarge) LaunchTooLarge() bool { return true }

// Start notes the time, where the kernel is timed; Begin clears the table, too. End
// notes the time again and brings the table back. The work between them is added by
// Count.
func (c *Counter) Start() error { return c.record(c.start) }

// record notes the time, where that is asked for.
func (c *Counter) record(e device.Event) error {
	if e == nil {
		return nil
	}
	return c.Stream.Record(e)
}

// Begin is Start for kernels that add to the table.
func (c *Counter) Begin() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Stream.Fill32(c.total, 0, c.total.Bytes()/4, 0)
}

// Blocks is how many blocks Count launches.
func (c *Counter) Blocks() int64 { return c.shape.Grid.X }

// Run launches another kernel of the module, one of Kernel.Others, in as many blocks as
// Count, with the kernel's own parameters, the ladder's and a last one.
func (c *Counter) Run(kernel string, last any, image ...any) error {
	f, err := c.module.Function(kernel)
	if err != nil {
		return err
	}
	args := append(append(image, c.ladder.args()...), last)
	return c.Stream.Launch(f, device.Launch{Grid: c.shape.Grid, Block: c.shape.Block}, args...)
}

// Count launches the kernel on a stream, with the kernel's own parameters.
func (c *Counter) Count(s device.Stream, image ...any) error {
	c.launches++
	return c.launch(s, c.args(image)...)
}

// CountIn adds the kernel to a stream, with its own parameters and the memory that it has its
// table in. It may be called from several goroutines at once.
func (c *Counter) CountIn(s device.Stream, memory device.Buffer, image ...any) error {
	return c.launch(s, append(append(image, c.ladder.args()...), memory, c.copies)...)
}

// args are all parameters of the kernel, given its own.
func (c *Counter) args(image []any) []any {
	total := c.total
	if c.over != nil {
		total = c.over.Total()
	}
	return append(append(image, c.ladder.args()...), total, c.copies)
}

// Launches is how many kernels Count has launched so far.
func (c *Counter) Launches() int64 { return c.launches }

// End waits for the table.
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
	c.prepared = func() error { return c.launch(c.Stream, args...) }
}

// HandsOver reports whether HandOver is to be called.
func (c *Counter) HandsOver() bool { return c.over != nil }

// HandOver is Begin, Count and End by one launch.
func (c *Counter) HandOver() error {
	c.launches++
	return c.over.Run(c.prepared)
}

// data is the table on the host.
func (c *Counter) data() []byte {
	if c.over != nil {
		return c.over.Data()
	}
	return c.result.Data()
}

// Bring adds the copy of the table to the host.
func (c *Counter) Bring() error {
	return c.Stream.Copy(c.result, 0, c.total, 0, c.total.Bytes())
}

// Changes are what End brought back, one for each level. They are overwritten by
// the next End.
func (c *Counter) Changes() []int64 { return view[int64](c.data()) }

// Tables are what End brought back of a batch: one change for each level of each
// image. They are overwritten by the next End.
func (c *Counter) Tables() []int32 { return view[int32](c.data()) }

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
	// A device that cannot be written to fails at the next call, with the reason.
	_ = c.Stream.Fill(c.total, 0, c.total.Bytes(), poison)
	_ = c.Stream.Wait()
}

// Cool empties the device's second-level cache.
func (c *Counter) Cool() error {
	if err := c.On.FlushL2(c.Stream); err != nil {
		return err
	}
	return c.Stream.Wait()
}

// At is when the device reached an event, from Begin on.
func (c *Counter) At(e device.Event) (time.Duration, error) {
	if c.start == nil {
		return 0, resident.ErrUntimed
	}
	return e.Since(c.start)
}

// Elapsed is the time from Begin to End on the device, or of a HandOver's launch.
func (c *Counter) Elapsed() (time.Duration, error) {
	switch {
	case c.over != nil:
		return c.over.Elapsed()
	case c.end == nil:
		return 0, resident.ErrUntimed
	}
	return c.end.Since(c.start)
}

// Close frees all that Open made.
func (c *Counter) Close() error {
	errs := []error{c.Watch.Close()}
	if c.Stream != nil {
		errs = append(errs, c.Stream.Wait())
	}
	if c.over != nil {
		errs = append(errs, c.over.Close())
	}
	errs = append(errs, c.slowdown.close(), resident.CloseAll(c.result, c.total))
	if c.ladder != nil {
		errs = append(errs, c.ladder.close())
	}
	return errors.Join(append(errs, resident.CloseAll(c.module, c.end, c.start, c.Stream))...)
}
