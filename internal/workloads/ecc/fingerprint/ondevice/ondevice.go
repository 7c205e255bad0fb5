// Package ondevice computes the fingerprints of images (doc/proofs/fingerprint.md) on a device. The
// sums equal sums of the processor; the kernels share no code with the kernels that count.
package ondevice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Looker computes the fingerprints of images of one shape, type and ladder in the device's
// memory.
type Looker struct {
	resident.Objects
	shape     grid.Shape
	rings     int32
	vertices  bool // the voxels are
	stream    device.Stream
	functions []*function
	way       string        // the source of weights, part of the names of kernels
	values    device.Buffer // of the levels of float32; nil where none are needed
	host      device.Pinned // their sums
	even      int32
	lo        float32
	inverse   float32
	step      float32
}

// A function is one of a key's.
type function struct {
	fingerprint.Table
	kernel  device.Function
	weights device.Buffer // or factors
	entries int64         // of the ladder and the outside
	least   int64         // the value of the first one, of 16 bits
	top     int64         // the entry of the greatest value
	sum     device.Buffer
	launch  device.Launch
	copies  int32 // log₂ of those in shared memory
}

// tableBytes returns the shared memory of a table, which has the weight of the outside twice.
func (f *function) tableBytes() int64 { return 8 * int64(len(f.Weights)+1) }

// The shape of the kernels' work (kernels/fingerprint/fingerprint.h).
const (
	mostThreads = 512
	columns     = 128 // of a warp
	// mostShared bounds the copies of a table together, which leaves the rest to the cache. A
	// single table may be larger.
	mostShared  = 144 << 10
	mostCopies  = 4                       // log₂: the lanes of half a warp have one each
	factorBytes = 257<<8 + 4096           // of factors, copied for the lanes of half a warp
	heldBytes   = (5 + 1) * (5*8*32 + 16) // that a warp holds a plane's weights in
	reserve     = 1 << 10                 // of shared memory, for the driver
	mostSegment = 8192                    // planes: a thread's sum of shifted weights has 63 bits
	startCost   = 1.5                     // planes that a segment's beginning takes as long as
	mostEven    = 1 << 20                 // levels whose numbers come out of four roundings to float32
)

// countable reports whether kernels count along an image's axes, and in a slice, by int32.
func countable(s grid.Shape) bool {
	return max(s.W, s.H, s.D) <= math.MaxInt32/8 && s.W*s.H <= math.MaxInt32
}

// Open loads the kernels and the tables of weights for images like one.
func Open(d device.Device, like grid.Source, k fingerprint.Key) (*Looker, error) {
	return open(d, fingerprint.Prepare(like.Type(), like.Ladder(), k), like, k.Convention())
}

func open(d device.Device, p *fingerprint.Prepared, like grid.Source,
	in fingerprint.Convention) (o *Looker, err error) {
	t, s, l := like.Type(), like.Shape(), like.Ladder()
	if !countable(s) {
		return nil, fmt.Errorf("fingerprint: %v: an axis or a slice exceeds the kernels' limits", s)
	}
	tables, err := p.Tables()
	if err != nil {
		return nil, err
	}
	o = &Looker{Objects: resident.NewObjects(d), shape: s, vertices: in.Vertices}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
			o = nil
		}
	}()
	for i, ring := range []bool{in.Periodic.X, in.Periodic.Y, in.Periodic.Z} {
		if ring {
			o.rings |= 1 << i
		}
	}
	o.stream = o.NewStream("fingerprint")
	if t == grid.Float32 && l.Indexed() {
		o.levels(l)
	}
	if err := o.Err(); err != nil {
		return o, err
	}
	for _, table := range tables {
		o.functions = append(o.functions, &function{Table: table})
	}
	if err := o.room(1); err != nil {
		return o, err
	}
	if err := o.choose(l); err != nil {
		return o, err
	}
	for _, f := range o.functions {
		numbers := f.Weights
		if o.way == "products" || o.way == "every" {
			numbers = f.Factors
		}
		f.weights = resident.NewNumbers(&o.Objects, o.stream, "weights", numbers)
	}
	return o, o.load(t)
}

// hasRoom reports whether a device has shared memory for the factors and for the planes of a warp.
func hasRoom(d device.Device) bool { return factorBytes+heldBytes <= d.Info().SharedOptIn-reserve }

// choose selects the source of the weights: a table in shared memory, factors, or a table in global
// memory if neither fits.
func (o *Looker) choose(l grid.Ladder) error {
	room := o.On.Info().SharedOptIn - reserve
	if !l.Indexed() {
		if !hasRoom(o.On) {
			return fmt.Errorf("fingerprint: the device's multiprocessors have %d bytes of shared memory, and "+
				"the weights of every float32 take %d", room, factorBytes+heldBytes)
		}
		o.way = "every"
		for _, f := range o.functions {
			f.setEntries(l.Len() + 1)
		}
		return nil
	}
	table := o.functions[0].tableBytes()
	if o.values != nil {
		table += o.values.Bytes()
	}
	products := o.functions[0].Factors != nil && hasRoom(o.On)
	switch {
	case products:
		o.way = "products"
	case table <= room:
		o.way = "places"
	default:
		o.way = "beside"
	}
	for _, f := range o.functions {
		f.least = f.Least
		if products {
			f.setEntries(l.Len() + 1)
			f.least, f.Shift = f.First, 0
		} else {
			f.setEntries(int64(len(f.Weights)))
		}
	}
	return nil
}

// setEntries sets the number of entries of the ladder, with the outside.
func (f *function) setEntries(n int64) {
	f.entries, f.top = n, n-2
	if f.Beyond {
		f.top++
	}
}

// rows returns the number of rows that a warp handles at a time: more if it stores weights.
func (o *Looker) rows() int64 {
	if o.way == "places" {
		return 4
	}
	return 5
}

// load loads the kernel.
func (o *Looker) load(t grid.Type) error {
	kernel := "fingerprint"
	if o.shape.Dim() == 2 {
		kernel += "_flat"
	}
	if o.functions[0].Under {
		kernel += "_under"
	}
	name := fmt.Sprintf("%s_%s_%v", kernel, o.way, t)
	m := o.NewModule(fmt.Sprintf("fingerprint_%v", t), name)
	for _, f := range o.functions {
		if f.kernel = o.Function(m, name); o.Err() == nil {
			o.Fail(o.arrange(f))
		}
	}
	return o.Err()
}

// levels prepares the conversion of float32 values to levels: by float32 arithmetic if that gives
// each level, else by their values.
func (o *Looker) levels(l grid.Ladder) {
	lo, step, even := l.Affinity()
	if even && l.Len() <= mostEven {
		o.even, o.lo, o.step = 1, float32(lo), float32(step)
		if l.Len() > 1 {
			o.inverse = float32(1 / (step * float64(l.Len()-1)))
		}
		if l.InFloat32() {
			return
		}
	}
	values := make([]float32, l.Len())
	for i := range values {
		values[i] = l.Value(int64(i))
	}
	o.values = resident.NewNumbers(&o.Objects, o.stream, "values of the levels", values)
}

// arrange chooses the copies of a table in a block's shared memory, and the warps of a block. It
// launches as many blocks as can run at once.
func (o *Looker) arrange(f *function) error {
	info := o.On.Info()
	threads, held := int64(mostThreads), int64(0)
	if o.way != "places" && o.shape.Dim() == 3 {
		held = heldBytes
	}
	switch o.way {
	case "products", "every":
		f.launch.Shared = factorBytes
	case "places":
		values := int64(0)
		if o.values != nil {
			values = o.values.Bytes()
		}
		for f.copies < mostCopies && f.tableBytes()<<(f.copies+1)+values <= mostShared {
			f.copies++
		}
		f.launch.Shared = f.tableBytes()<<f.copies + values
	}
	for threads > 32 && f.launch.Shared+held*threads/32 > info.SharedOptIn-reserve {
		threads -= 32
	}
	f.launch.Block.X = threads
	f.launch.Shared += held * threads / 32
	return resident.FillDevice(o.On, f.kernel, &f.launch)
}

// segment returns the number of planes (rows in 2D) that a warp marches through. A warp reads one
// more, so few long segments are cheap, but the last turn of all warps should be full.
func segment(s grid.Shape, rows, positions, warps int64) int64 {
	items := marches(s, rows)
	best, least := int64(1), math.Inf(1)
	for parts := int64(1); parts <= positions; parts++ {
		// No more segments cost less than this, whatever their last turn.
		if float64(items)/float64(warps)*(float64(positions)+startCost*float64(parts)) >= least {
			break
		}
		length := (positions + parts - 1) / parts
		if length > mostSegment {
			continue
		}
		if cost := planesOf(items, length, positions, warps); cost < least {
			best, least = length, cost
		}
	}
	return best
}

// marches returns the number of blocks of columns and rows that warps march along.
func marches(s grid.Shape, rows int64) int64 {
	n := (s.W + columns - 1) / columns
	if s.Dim() == 3 {
		n *= (s.H + rows) / rows
	}
	return n
}

// planesOf are the planes that all turns of warps take as long as, by segments of a length.
func planesOf(items, length, positions, warps int64) float64 {
	all := items * ((positions + length - 1) / length)
	return float64((all+warps-1)/warps) * (float64(length) + startCost)
}

// room allocates memory for the sums of some images, unless there is enough.
func (o *Looker) room(images int64) (err error) {
	bytes := 8 * images
	if o.host != nil && o.host.Bytes() >= bytes*int64(len(o.functions)) {
		return nil
	}
	if err := o.freeSums(); err != nil {
		return err
	}
	if o.host, err = o.On.AllocPinned("fingerprints on the host", bytes*int64(len(o.functions))); err != nil {
		return err
	}
	for _, f := range o.functions {
		if f.sum, err = o.On.Alloc("fingerprints", bytes); err != nil {
			return err
		}
	}
	return nil
}

// freeSums frees the memory for sums.
func (o *Looker) freeSums() error {
	errs := []error{resident.CloseAll(o.host)}
	o.host = nil
	for _, f := range o.functions {
		errs = append(errs, resident.CloseAll(f.sum))
		f.sum = nil
	}
	return errors.Join(errs...)
}

// Compute returns the sum over the cells of an image, given as a buffer or as the address of its first
// voxel.
func (o *Looker) Compute(image any) (fingerprint.Sum, error) {
	sums, err := o.OfEach(image, 1)
	if err != nil {
		return nil, err
	}
	return sums[0], nil
}

// MostImages is the largest number of images for one call of OfEach.
const MostImages = 1<<16 - 1

// OfEach returns the sums of consecutive images by one launch.
func (o *Looker) OfEach(image any, images int64) ([]fingerprint.Sum, error) {
	if err := o.room(images); err != nil {
		return nil, err
	}
	err := o.On.Do(func() error {
		return errors.Join(o.begin(), o.add(image, images), o.end())
	})
	if err := errors.Join(err, o.stream.Wait()); err != nil {
		return nil, err
	}
	sums := make([]fingerprint.Sum, images)
	for i := range sums {
		if sums[i] = o.sum(i); o.vertices && o.shape.Dim() == 3 {
			sums[i] = negative(sums[i])
		}
	}
	return sums, nil
}

func negative(s fingerprint.Sum) (sum fingerprint.Sum) {
	sum.Add(s, -1)
	return sum
}

// sum reads the result of an image of the last run, with the signs of top cells, from the host's copy.
func (o *Looker) sum(image int) fingerprint.Sum {
	sum := make(fingerprint.Sum, len(o.functions))
	for i, f := range o.functions {
		sum[i] = binary.LittleEndian.Uint64(o.host.Data()[i*int(f.sum.Bytes())+8*image:])
	}
	return sum
}

// begin adds to the stream that there are no cells yet.
func (o *Looker) begin() error {
	var errs []error
	for _, f := range o.functions {
		errs = append(errs, o.stream.Fill(f.sum, 0, f.sum.Bytes(), 0))
	}
	return errors.Join(errs...)
}

// add appends to the stream the kernels for some images. A kernel adds the cells between slices z and z+1 for positions
// from ≤ z < to, here for all. Memory begins at slice first.
func (o *Looker) add(image any, images int64) error {
	var values any = uint64(0) // none
	if o.values != nil {
		values = o.values
	}
	const first, from = 0, -1
	s := o.shape
	to := s.D
	if s.Dim() == 2 {
		to = s.H
	}
	for _, f := range o.functions {
		launch := f.launch
		launch.Grid = device.Dim{X: grid.CeilDiv(launch.Grid.X, images), Y: images}
		length := segment(s, o.rows(), to-from, launch.Grid.X*launch.Block.X/32)
		if err := o.stream.Launch(f.kernel, launch, image, int32(s.W), int32(s.H), int32(s.D), int32(first), o.rings,
			int32(from), int32(to), int32(length), f.weights, int32(f.entries), f.copies, int32(f.least), int32(f.top), values,
			o.even, o.lo, o.inverse, o.step, device.Flag(f.Reversed), int32(f.Bits)-32, int32(f.Shift), f.sum); err != nil {
			return err
		}
	}
	return nil
}

// end adds the copies of the sums to the host.
func (o *Looker) end() error {
	var errs []error
	for i, f := range o.functions {
		errs = append(errs, o.stream.Copy(o.host, int64(i)*f.sum.Bytes(), f.sum, 0, f.sum.Bytes()))
	}
	return errors.Join(errs...)
}

// Close frees the device's memory and kernels.
func (o *Looker) Close() error { return errors.Join(o.Objects.Close(), o.freeSums()) }
