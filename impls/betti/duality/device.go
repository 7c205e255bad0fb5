package duality

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// OnDevice does the same on an NVIDIA device (kernels/betti/duality.h): the bits of a tile
// are joined in shared memory, and then those of neighbouring tiles at their faces.
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.About{
		Name: "duality-gpu", Where: "gpu",
		Method: "resident image; nodes less successful unions of runs of bits, in tiles in shared memory and then at their faces, b1 by the Euler characteristic of the same bits",
		Source: "doc/betti.md, Delfinado and Edelsbrunner 1995",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E},
	}
}

// Shape of the kernels' work (kernels/betti/duality.h).
const (
	tileWords     = 1024 // of 64 voxels of a row
	packRows      = 8    // of a warp
	packBlock     = 256  // threads
	setBlock      = 256
	aroundBlock   = 512
	seamBlock     = 128
	queueBytes    = 256 // of a warp
	bundleNodes   = 32
	sumBytes      = 32 * 3 * 8
	shadow        = 4 // bytes of a node
	mostAxis      = math.MaxInt32 / 8
	flatPlanes    = 2 // of a tile of a flat image
	deepPlanes    = 32
	flatFaceNodes = 2*32 + 2*256
	deepFaceNodes = 2*32*16 + 2*32*16 + 2*256
	aroundNodes   = 2*32*32 + 2*32*32 + 2*1024
)

// tiling is how an image is cut into tiles.
type tiling struct {
	d, h, w    int64
	tz, ty, tx int64
	planes     int64 // of a tile
	hollow     bool  // whether there can be cavities
}

func tile(s grid.Shape) tiling {
	t := tiling{planes: deepPlanes}
	t.d, t.h, t.w = ecc.Stack(s)
	if t.h == 1 { // planes of one row are the rows of one plane
		t.d, t.h = 1, t.d
	}
	if t.d <= flatPlanes {
		t.planes = flatPlanes
	}
	rows := tileWords / t.planes
	t.tz, t.ty, t.tx = (t.d+t.planes-1)/t.planes, (t.h+rows-1)/rows, words(t.w)
	t.hollow = min(t.d, t.h, t.w) > 2
	return t
}

func (t tiling) tiles() int64 { return t.tz * t.ty * t.tx }

// faceNodes is how many nodes there are at the faces of a tile.
func (t tiling) faceNodes() int64 {
	switch {
	case t.hollow:
		return aroundNodes
	case t.planes == flatPlanes:
		return flatFaceNodes
	}
	return deepFaceNodes
}

func (t tiling) nodeBytes() int64 { return shadow * (1 + t.tiles()*t.faceNodes()) }

// CanDo refuses what does not fit the device or the kernels' integers.
func (o OnDevice) CanDo(in *betti.Image, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	s := in.Shape()
	t := tile(s)
	if max(t.d, t.h, t.w) > mostAxis {
		return fmt.Errorf("%v: an axis is longer than the kernels count, %d; take duality, on the cpu", s, mostAxis)
	}
	if nodes := t.tiles() * t.faceNodes(); nodes > math.MaxUint32-1 {
		return fmt.Errorf("%v: %d nodes at the faces of tiles, of which the kernels count %d; take duality, on the cpu", s, nodes, uint32(math.MaxUint32-1))
	}
	return resident.Fits(d, grid.TotalBytes(in)+t.tiles()*tileWords*8+t.nodeBytes()+sumBytes, "the resident image with its bits and the nodes of tiles")
}

// Setup loads the kernels and copies the image to the device.
func (o OnDevice) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	j := &deviceJob{Watch: resident.NewWatch(d), on: d, in: in, tiling: tile(in.Shape())}
	if err := j.setup(c); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

var _ bench.DeviceJob = (*deviceJob)(nil)

type deviceJob struct {
	*resident.Watch
	tiling
	on         device.Device
	in         *betti.Image
	stream     device.Stream
	start, end device.Event
	module     device.Module
	steps      []step

	image, bits, nodes, sums device.Buffer
	result                   device.Pinned
	feed                     *resident.Feed // of whole calls, which bring the image there
}

// A step is a launch of a kernel with its parameters.
type step struct {
	kernel device.Function
	shape  device.Launch
	args   []any
}

func (j *deviceJob) setup(c bench.Conditions) (err error) {
	if j.stream, err = j.on.NewStream("Betti numbers"); err != nil {
		return err
	}
	if j.start, err = j.on.NewEvent("start"); err != nil {
		return err
	}
	if j.end, err = j.on.NewEvent("end"); err != nil {
		return err
	}
	if c.Scope != bench.E2E {
		j.image, err = resident.Put(j.on, j.stream, j.in.Source)
	} else if j.image, err = j.on.Alloc("image", grid.TotalBytes(j.in)); err == nil {
		j.feed, err = resident.NewFeed(j.on, j.in.Source, 0, c.Threads)
	}
	if err != nil {
		return err
	}
	if j.bits, err = j.on.Alloc("bits", j.tiles()*tileWords*8); err != nil {
		return err
	}
	if j.nodes, err = j.on.Alloc("nodes of tiles", j.nodeBytes()); err != nil {
		return err
	}
	if j.sums, err = j.on.Alloc("sums", sumBytes); err != nil {
		return err
	}
	if j.result, err = j.on.AllocPinned("sums on the host", sumBytes); err != nil {
		return err
	}
	j.Poison()
	return j.load()
}

// load arranges the launches.
func (j *deviceJob) load() (err error) {
	flat := ""
	if j.planes == flatPlanes {
		flat = "_flat"
	}
	w, h, d := int32(j.w), int32(j.h), int32(j.d)
	parameters := []any{j.bits, w, h, d, j.nodes, j.sums}
	queues := func(threads int64) int64 { return threads / 32 * queueBytes }
	nodes := func(bundles int64) int64 { return (bundles*bundleNodes + 4) / 2 * 4 }
	type launch struct {
		name                   string
		blocks, threads, bytes int64
		args                   []any
	}
	rows := j.tz * j.planes * j.ty * (tileWords / j.planes / packRows) * j.tx
	list := []launch{
		{fmt.Sprintf("betti_pack%s_%v", flat, j.in.Type()), (rows*32 + packBlock - 1) / packBlock, packBlock, 0, []any{j.image, w, h, d, j.limit(), j.bits}},
		{"betti_foreground" + flat, j.tiles(), setBlock, nodes(tileWords/4) + queues(setBlock), parameters},
		{"betti_foreground_seams" + flat, j.tiles(), setBlock, 0, parameters},
	}
	if j.hollow {
		list = append(list,
			launch{"betti_background", j.tiles(), aroundBlock, nodes(tileWords) + queues(aroundBlock), parameters},
			launch{"betti_background_seams", j.tiles(), seamBlock, 0, parameters})
	}
	var names []string
	for _, l := range list {
		names = append(names, l.name)
	}
	if j.module, err = resident.Load(j.on, "betti_duality", names...); err != nil {
		return err
	}
	for _, l := range list {
		f, err := j.module.Function(l.name)
		if err != nil {
			return err
		}
		if l.bytes+f.Attributes().Shared > j.on.Info().Shared {
			if err := f.AllowShared(l.bytes); err != nil {
				return err
			}
		}
		j.steps = append(j.steps, step{f, device.Launch{Grid: device.Dim{X: l.blocks}, Block: device.Dim{X: l.threads}, Shared: l.bytes}, l.args})
	}
	return nil
}

// limit is the threshold as a value of the image's type, one less than the least where none
// is within it.
func (j *deviceJob) limit() any {
	t := j.in.Threshold
	within := func(limit int32, some bool, least int32) any {
		if !some {
			return least - 1
		}
		return limit
	}
	switch j.in.Type() {
	case grid.Uint8:
		limit, some := limitOf[uint16](t)
		return within(int32(limit), some, 0)
	case grid.Uint16:
		limit, some := limitOf[uint16](t)
		return within(int32(limit), some, 0)
	case grid.Int16:
		limit, some := limitOf[int16](t)
		return within(int32(limit), some, math.MinInt16)
	}
	return t
}

// Do counts on the device; a whole call brings the image there first.
func (j *deviceJob) Do(*bench.Trace) error {
	if j.feed != nil {
		if err := j.feed.Add(j.stream, j.image, 0); err != nil {
			return err
		}
	}
	return j.on.Do(j.count)
}

func (j *deviceJob) count() error {
	if err := errors.Join(j.stream.Record(j.start), j.stream.Fill32(j.sums, 0, sumBytes/4, 0)); err != nil {
		return err
	}
	for _, s := range j.steps {
		if err := j.stream.Launch(s.kernel, s.shape, s.args...); err != nil {
			return err
		}
	}
	return errors.Join(j.stream.Record(j.end), j.stream.Copy(j.result, 0, j.sums, 0, sumBytes), j.stream.Wait())
}

// Elapsed is what the last Do took on the device.
func (j *deviceJob) Elapsed() (time.Duration, error) { return j.end.Since(j.start) }

// Cool empties the device's second-level cache.
func (j *deviceJob) Cool() error {
	return errors.Join(j.on.FlushL2(j.stream), j.stream.Wait())
}

// Poison overwrites what Out reads, and what it is made of.
func (j *deviceJob) Poison() {
	const poison = 0x5a
	for _, b := range []device.Buffer{j.bits, j.nodes, j.sums} {
		// A device that cannot be written to fails at the next call, with the reason.
		_ = j.stream.Fill(b, 0, b.Bytes(), poison)
	}
	_ = j.stream.Wait()
	for i := range j.result.Data() {
		j.result.Data()[i] = 0
	}
	poisoned := int64(bench.Poison)
	for what := range 3 { // of which all numbers are made
		binary.LittleEndian.PutUint64(j.result.Data()[8*what:], uint64(poisoned))
	}
}

// Out is the numbers of the last sums.
func (j *deviceJob) Out() (betti.Numbers, error) {
	var sums [3]int64 // components, cavities and χ
	for i := range int64(sumBytes / 8) {
		sums[i%3] += int64(binary.LittleEndian.Uint64(j.result.Data()[8*i:]))
	}
	return betti.Numbers{B0: sums[0], B1: sums[0] + sums[1] - sums[2], B2: sums[1]}, nil
}

// Close frees the device's memory and kernels.
func (j *deviceJob) Close() error {
	var errs []error
	if j.stream != nil {
		errs = append(errs, j.stream.Wait())
	}
	if j.feed != nil {
		errs = append(errs, j.feed.Close())
	}
	errs = append(errs, resident.CloseAll(j.result, j.sums, j.nodes, j.bits, j.image, j.module, j.end, j.start), j.Watch.Close())
	if j.stream != nil {
		errs = append(errs, j.stream.Close())
	}
	return errors.Join(errs...)
}
