package duality

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting"
)

// OnDevices runs duality-gpu on several devices of one host, each with a slab of the image.
// Neighbouring slabs share a slice. Each device reports the component of each run in it, or the
// outside (kernels/betti/cut.h). The host's cores join the components of all slabs at these runs,
// and subtract χ of the shared slices once. A 2D image is divided along its rows.
type OnDevices struct{ Open resident.Opener }

// About describes the method.
func (OnDevices) About() bench.About {
	return bench.About{
		Name: "duality-gpus", Where: "gpus",
		Method: "duality-gpu on several devices of one host, one slab each; cores join components at shared slices",
		Source: "doc/proofs/betti.md",
		Scopes: []bench.Scope{bench.Device, bench.E2E, bench.File}, // the clock includes the join
	}
}

// A portion is slices lo ≤ i < hi of an image for one device, with its tiles.
type portion struct {
	lo, hi int64
	tiles  tiling
}

// portions divides an image among at most the given number of devices. Each slab except the last
// ends with a whole tile, because the kernels have nodes for all runs there. Neighbouring slabs
// share a slice.
func portions(s grid.Shape, devices int) (list []portion) {
	whole := tile(s)
	n, each := s.Slices(), whole.planes
	if whole.rows {
		each = tileWords / whole.planes
	}
	// Tile k begins at slice k·each minus the number of earlier cuts, because each cut shares a
	// slice.
	tiles := grid.CeilDiv(n, each)
	parts := max(1, min(int64(devices), tiles))
	if !whole.rows && whole.planes == flatPlanes { // two planes at most
		parts = 1
	}
	lo := int64(0)
	for k := range parts {
		hi := lo + each*((k+1)*tiles/parts-k*tiles/parts)
		if k == parts-1 || hi >= n {
			hi = n
		}
		p := portion{lo: lo, hi: hi, tiles: whole}
		p.tiles.first, p.tiles.last = lo > 0, hi < n
		if whole.rows {
			p.tiles.h = hi - lo
		} else {
			p.tiles.d = hi - lo
		}
		p.tiles = p.tiles.cut()
		if list = append(list, p); hi == n {
			break
		}
		lo = hi - 1
	}
	return list
}

// view returns this portion of an image.
func (p portion) view(in *betti.Image) *betti.Image {
	if p.tiles.shared() == 0 {
		return in
	}
	return &betti.Image{Source: views.Crop(in.Source, p.lo, p.hi), Threshold: in.Threshold}
}

// counts are the results of one slab.
type counts struct{ components, cavities, characteristic int64 }

// counter returns the method that counts a slab on a device.
func (p portion) counter(d device.Device) counting.Method[*betti.Image, counts] {
	return counting.Method[*betti.Image, counts]{
		Open: func(string) (device.Device, error) { return d, nil },
		Plan: p.tiles.plan,
		Read: func(_ *betti.Image, sums []int64) (c counts) {
			c.components, c.cavities, c.characteristic = counting.Sums(sums)
			return c
		},
	}
}

func (p portion) wrap(d device.Device, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("slices %d to %d on device %d: %w", p.lo, p.hi-1, d.Info().Index, err)
}

// CanDo rejects an image if one of the devices rejects its slab.
func (o OnDevices) CanDo(in *betti.Image, c bench.Conditions) error {
	devices, err := o.Open.OpenAll(c.Devices)
	if err != nil {
		return err
	}
	for k, p := range portions(in.Shape(), len(devices)) {
		if err := p.counter(devices[k]).CanDo(p.view(in), c); err != nil {
			return p.wrap(devices[k], err)
		}
	}
	return nil
}

// Setup copies the slabs to their devices in parallel, unless the scope includes the copies.
func (o OnDevices) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	devices, err := o.Open.OpenAll(c.Devices)
	if err != nil {
		return nil, err
	}
	list := portions(in.Shape(), len(devices))
	j := &devicesJob{cores: max(1, c.Threads), parts: make([]counting.Part[counts], len(list)),
		portions: list, out: betti.Poisoned}
	err = resident.Each(len(list), func(k int) error {
		job, err := list[k].counter(devices[k]).Setup(list[k].view(in), c)
		if err != nil {
			return list[k].wrap(devices[k], err)
		}
		j.parts[k] = job.(counting.Part[counts])
		return nil
	})
	for _, d := range devices[:len(list)] {
		j.Watches = append(j.Watches, resident.NewWatch(d))
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	for _, around := range []bool{false, true} {
		b := bound{around: around, from: make([]uint32, len(list))}
		n := int64(1)
		for k, p := range list {
			b.from[k] = uint32(n - 1)
			n += p.tiles.places(around)
		}
		if n > 1 && (!around || list[0].tiles.hollow) {
			b.parents = make(crew.Parents, n)
			j.bounds = append(j.bounds, b)
		}
	}
	return j, nil
}

// A bound is the state of a join, for the set or for the background. Its nodes are the outside, 0,
// and one for each place of a run in a shared slice, slab after slab.
type bound struct {
	around  bool
	from    []uint32
	parents crew.Parents
}

type devicesJob struct {
	resident.Watches
	cores    int
	portions []portion
	parts    []counting.Part[counts]
	bounds   []bound
	out      betti.Numbers
}

var _ bench.DeviceJob = (*devicesJob)(nil)

// Do counts all slabs in parallel and joins them.
func (j *devicesJob) Do(trace *bench.Trace) error {
	counted := trace.Span("count")
	if err := resident.Each(len(j.parts), func(k int) error { return j.parts[k].Do(nil) }); err != nil {
		return err
	}
	counted()
	defer trace.Span("join")()
	var all counts
	for _, p := range j.parts {
		c, err := p.Out()
		if err != nil {
			return err
		}
		all.components += c.components
		all.cavities += c.cavities
		all.characteristic += c.characteristic
	}
	for _, b := range j.bounds {
		n, err := j.join(b)
		if err != nil {
			return err
		}
		if b.around {
			all.cavities -= n
		} else {
			all.components -= n
		}
	}
	j.out = betti.NewNumbers(all.components, all.cavities, all.characteristic)
	return nil
}

// runs returns the runs of a shared slice of a slab, its first or its last. Each place contains 0
// for the outside, 1 + the place of the run that represents the component, or noRun.
func (j *devicesJob) runs(k int, around, last bool) []uint32 {
	which := 0
	if around {
		which = 1
	}
	list := grid.Values[uint32](j.parts[k].ScratchOnHost()[which])
	t := j.portions[k].tiles
	if n := int64(len(list)) / t.shared(); last && t.first {
		return list[n:]
	} else {
		return list[:n]
	}
}

// noRun marks a place where no run begins.
const noRun = ^uint32(0)

// errSlice reports that two devices have packed a shared slice differently.
var errSlice = errors.New("two devices see different runs in the slice that they share")

// join unites the components of neighbouring slabs at the runs of their shared slice. It returns
// the number of successful unions.
func (j *devicesJob) join(b bound) (int64, error) {
	j.share(len(b.parents), func(lo, hi int) {
		for i := range b.parents[lo:hi] {
			b.parents[lo+i] = uint32(lo + i)
		}
	})
	var joined atomic.Int64
	var differ atomic.Bool
	for k := range len(j.parts) - 1 {
		before, after := j.runs(k, b.around, true), j.runs(k+1, b.around, false)
		j.share(len(before), func(lo, hi int) {
			some, ok := b.unite(k, before[lo:hi], after[lo:hi])
			if joined.Add(some); !ok {
				differ.Store(true)
			}
		})
	}
	if differ.Load() {
		return 0, errSlice
	}
	return joined.Load(), nil
}

// share divides n items among all cores.
func (j *devicesJob) share(n int, f func(lo, hi int)) {
	var g crew.Group
	for core := range j.cores {
		g.Go(func() { f(core*n/j.cores, (core+1)*n/j.cores) })
	}
	g.Wait()
}

// unite unites components at some runs of the slice that slab k shares with the next one. It also
// reports whether both slabs have the same runs.
func (b bound) unite(k int, before, after []uint32) (joined int64, same bool) {
	same = true
	var lastA, lastB uint32 // the last union, which the next runs mostly repeat
	for i, p := range before {
		q := after[i]
		if p == noRun || q == noRun {
			same = same && p == q
			continue
		}
		if p > 0 {
			p += b.from[k]
		}
		if q > 0 {
			q += b.from[k+1]
		}
		if p == lastA && q == lastB {
			continue
		}
		lastA, lastB = p, q
		if b.parents.Unite(p, q) {
			joined++
		}
	}
	return joined, same
}

// Elapsed returns the time of the slowest device, without the join.
func (j *devicesJob) Elapsed() (most time.Duration, err error) {
	for _, p := range j.parts {
		took, err := p.Elapsed()
		if err != nil {
			return 0, err
		}
		most = max(most, took)
	}
	return most, nil
}

// Cool flushes the caches of all devices.
func (j *devicesJob) Cool() error {
	return resident.Each(len(j.parts), func(k int) error { return j.parts[k].Cool() })
}

func (j *devicesJob) Poison() {
	j.out = betti.Poisoned
	for _, p := range j.parts {
		p.Poison()
	}
	for _, b := range j.bounds {
		clear(b.parents)
	}
}

func (j *devicesJob) Out() (betti.Numbers, error) { return j.out, nil }

func (j *devicesJob) Close() error {
	return errors.Join(j.Watches.Close(), resident.CloseEach(j.parts))
}
