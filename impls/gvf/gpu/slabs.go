package gpu

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// Slabs takes steps of a field that stays in the host's memory, on one device or on several. The
// field goes through a device in slabs, planes of a volume or rows of a flat image, with as many
// beyond either end as steps are taken of it at a time: at an end that is none of the image a step
// leaves a plane more wrong, and those are not brought back.
type Slabs struct {
	Open    resident.Opener
	several bool

	fault  Fault
	budget int64 // bytes of each device in place of what the option says, for tests
	force  *cut  // in place of the best one, for tests
}

// InSlabs takes steps in slabs on one device.
func InSlabs(open resident.Opener) Slabs { return Slabs{Open: open} }

// InSlabsOnDevices takes steps in slabs that several devices of one host share.
func InSlabsOnDevices(open resident.Opener) Slabs { return Slabs{Open: open, several: true} }

// Slips of who drives the slabs.
const (
	ShortHalo   Fault = "one plane less beyond the ends of a slab"
	OldHost     Fault = "the host's field before the last visit"
	LostSeam    Fault = "the last plane of a slab is not brought back"
	OwnExtent   Fault = "a device scales by what it has seen of the image alone"
	EarlyHalo   Fault = "a slab is fetched before those beside it are back"
	EarlyFetch  Fault = "a slab is fetched to where another one is at work"
	EarlyReturn Fault = "a slab is brought back before its steps are taken"
	EarlyWork   Fault = "a slab is worked on where another one is on its way back"
	EarlyStore  Fault = "a slab is brought back to where another device fetches from still"
)

// budgetOption is how much of a device's memory slabs may take: what is free, or so much of it.
var budgetOption = bench.Option{
	Key: "budget", Values: []string{"free", "16MiB", "64MiB", "256MiB", "1GiB", "2GiB", "4GiB", "8GiB", "16GiB", "32GiB", "64GiB"},
	Doc: "the most memory that slabs take on each device, free for what is free",
}

// About describes the method.
func (i Slabs) About() bench.About {
	a := bench.About{
		Name: "slabs-gpu", Where: "gpu",
		Method: "the field in the host's memory, slabs of it through the device as by blocked-gpu, copies both ways overlapped with kernels",
		Source: "doc/proofs/gvf.md", Scopes: []bench.Scope{bench.E2E, bench.File}, Options: []bench.Option{budgetOption},
	}
	if i.several {
		a.Name, a.Where, a.Method = "slabs-gpus", "gpus", "slabs-gpu on several devices of one host, which share the slabs out"
	}
	return a
}

// What a visit takes, for the choice of a cut: nanoseconds for each byte that is copied either
// way, and for each voxel and component of a step, of a start.
const (
	linkNS               = 1 / 50.0
	step3DNS, step2DNS   = 1 / 810.0, 1 / 1500.0
	gradientNS, launchUS = 1 / 100.0, 10
)

// A cut is how a field goes through devices: in slabs, each visited for some steps at a time.
type cut struct {
	planes  int64 // of the image: rows of a flat one
	slabs   int64
	steps   int64 // of a visit; the last one may have fewer
	all     int64 // steps
	fringe  int64 // planes more beyond the ends of a slab where its gradient is made, and the field is that
	devices int64
	short   int64 // planes that a halo is short of, for tests
}

func newCut(p *gvf.Problem, devices int64) cut {
	c := cut{planes: p.Shape().Slices(), all: p.Steps, fringe: 1, devices: devices}
	if hosted(p) && p.Steps > 0 {
		c.fringe = 0
	}
	return c
}

// visits is how often each slab goes through a device.
func (c cut) visits() int64 { return max(1, grid.CeilDiv(c.all, max(1, c.steps))) }

// stepsOf returns the number of steps of a visit.
func (c cut) stepsOf(visit int64) int64 { return min(c.steps, c.all-visit*c.steps) }

// inner is the planes that a slab brings back.
func (c cut) inner(k int64) (lo, hi int64) { return part(c.planes, c.slabs, k) }

// stays reports whether each device has one slab, which stays there: no more than halos are exchanged
// then between visits.
func (c cut) stays() bool { return c.turns() == 1 }

// outer is the planes that it needs for that: of a slab that stays, as many on each visit.
func (c cut) outer(k, visit int64) (lo, hi int64) {
	lo, hi = c.inner(k)
	halo := c.stepsOf(visit)
	switch {
	case c.stays():
		halo = c.reach()
	case visit == 0:
		halo += c.fringe
	}
	halo -= c.short
	return max(0, lo-halo), min(c.planes, hi+halo)
}

// reach is how far beyond its ends a slab is fetched, after the first visit, at most.
func (c cut) reach() int64 {
	if c.stays() {
		return c.steps + c.fringe
	}
	return c.steps
}

// A span is planes lo ≤ z < hi.
type span struct{ lo, hi int64 }

// halos are the planes that a slab needs beside its own.
func (c cut) halos(k, visit int64) []span {
	lo, hi := c.inner(k)
	first, end := c.outer(k, visit)
	return []span{{first, lo}, {hi, end}}
}

// returned are the planes of a slab that are brought back after a visit: those that others need,
// after the last one all.
func (c cut) returned(k, visit int64) []span {
	lo, hi := c.inner(k)
	if !c.stays() || visit == c.visits()-1 {
		return []span{{lo, hi}}
	}
	a, b := lo, hi
	if lo > 0 {
		a = min(hi, lo+c.reach())
	}
	if hi < c.planes {
		b = max(lo, hi-c.reach())
	}
	if a >= b {
		return []span{{lo, hi}}
	}
	return []span{{lo, a}, {b, hi}}
}

// nearSlabs returns the slabs that have some of the planes within so many of a slab: with as many as it is
// ever fetched with, of two slabs either is near the other or neither.
func (c cut) nearSlabs(k, within int64) (list []int64) {
	lo, hi := c.inner(k)
	for q := k; q >= 0; q-- {
		if _, end := c.inner(q); end <= lo-within {
			break
		}
		list = append(list, q)
	}
	for q := k + 1; q < c.slabs; q++ {
		if begin, _ := c.inner(q); begin >= hi+within {
			break
		}
		list = append(list, q)
	}
	return list
}

// longest is how many planes a slab needs at most.
func (c cut) longest() int64 {
	return min(c.planes, grid.CeilDiv(c.planes, c.slabs)+2*(c.steps+c.fringe))
}

// turns is how many slabs a device has, at most, and slots how many of them at a time.
func (c cut) turns() int64 { return grid.CeilDiv(c.slabs, c.devices) }
func (c cut) slots() int64 { return min(2, c.turns()) }

// owner is the device that has a slab.
func (c cut) owner(k int64) int64 {
	// The inverse of part: slab k is of device g where part(slabs, devices, g) has it.
	return ((k+1)*c.devices - 1) / c.slabs
}

// part is part k of so many of n.
func part(n, parts, k int64) (lo, hi int64) { return k * n / parts, (k + 1) * n / parts }

// voxelBytes is what a voxel of the image, or of the field that it starts from, takes.
func voxelBytes(p *gvf.Problem) int64 {
	if hosted(p) {
		return 4 * int64(p.Dim())
	}
	return p.Type().Size()
}

// bytes is what a cut takes of the memory of a device.
func (c cut) bytes(p *gvf.Problem) int64 {
	field := 4 * int64(p.Dim())
	voxel := c.slots()*(voxelBytes(p)+2*field) + 4
	if !hosted(p) {
		voxel += field // V0
	}
	return c.longest()*p.Shape().SliceVoxels()*voxel + c.slots()*extentBytes + 8
}

// cost is about how many nanoseconds a cut takes: of fetching slabs, work on them and bringing them
// back, the longest for each slab, and the others once for each visit.
func (c cut) cost(p *gvf.Problem) float64 {
	dim := float64(p.Dim())
	plane, from := float64(p.Shape().SliceVoxels()), float64(voxelBytes(p))
	step := step3DNS
	if p.Dim() == 2 {
		step = step2DNS
	}
	turns, whole := float64(c.turns()), grid.CeilDiv(c.planes, c.slabs)
	all := 0.0
	if !hosted(p) {
		all += turns * float64(whole) * plane * from * linkNS
	}
	visit := func(number int64) float64 {
		steps := float64(c.stepsOf(number))
		with := plane * float64(min(c.planes, whole+2*(c.stepsOf(number)+c.fringe)))
		fetched := from
		if number > 0 {
			fetched += 4 * dim
		}
		in, out := with*fetched*linkNS, plane*float64(whole)*4*dim*linkNS
		if halos := (with - plane*float64(whole)) * 4 * dim * linkNS; c.stays() {
			if number > 0 {
				in = halos
			}
			if number < c.visits()-1 {
				out = min(out, halos)
			}
		}
		work := with*(steps*dim*step+gradientNS) + launchUS*1000*(4+steps/float64(depths(p.Dim())[0]))
		longest := max(in, work, out)
		return turns*longest + in + work + out - longest
	}
	n := c.visits()
	all += visit(0)
	if n > 1 {
		all += visit(n - 1)
	}
	if n > 2 {
		all += float64(n-2) * visit(1)
	}
	return all
}

// mostVoxels is what kernels count of a slab.
const mostVoxels = math.MaxUint32

// bestCut is the cut of least cost whose slabs fit so many bytes on each of some devices.
func bestCut(p *gvf.Problem, devices, bytes int64) (best cut, err error) {
	c := newCut(p, devices)
	least := math.Inf(1)
	depth, plane := depths(p.Dim())[0], p.Shape().SliceVoxels()
	for steps := min(1, c.all); ; steps = min(c.all, grid.CeilDiv(steps*5/4+1, depth)*depth) {
		c.steps = steps
		for slabs := min(devices, c.planes); ; slabs = min(c.planes, grid.CeilDiv(slabs*5/4+1, devices)*devices) {
			c.slabs, c.devices = slabs, min(devices, slabs)
			if c.longest()*plane <= mostVoxels && c.bytes(p) <= bytes {
				if cost := c.cost(p); cost < least {
					best, least = c, cost
				}
			}
			if slabs == c.planes {
				break
			}
		}
		if steps >= min(c.all, max(depth, c.planes)) {
			break
		}
	}
	if math.IsInf(least, 1) {
		c.steps, c.slabs, c.devices = min(1, c.all), c.planes, min(devices, c.planes)
		if c.longest()*plane > mostVoxels {
			return best, fmt.Errorf("%v: slabs of %d planes have more voxels than the kernels count, %d", p.Shape(), c.longest(), int64(mostVoxels))
		}
		return best, fmt.Errorf("%v: slabs of %d planes, the fewest that take a step, need %s of device memory, %s may be taken; take one with more, or an image with smaller planes", p.Shape(), c.longest(), quantity.Bytes(c.bytes(p)), quantity.Bytes(bytes))
	}
	return best, nil
}

// devices opens those that are to be used.
func (i Slabs) devices(c bench.Conditions) ([]device.Device, error) {
	if i.several {
		return i.Open.Several(c.Devices)
	}
	d, err := i.Open(c.Device)
	return []device.Device{d}, err
}

// spare is the part of a device's free memory that is left to the kernels themselves.
const spare = 32

// cut is how a problem goes through devices, whose memory it may take as the conditions have it.
func (i Slabs) cut(p *gvf.Problem, c bench.Conditions, devices []device.Device) (cut, error) {
	if i.force != nil {
		return *i.force, nil
	}
	bytes := int64(math.MaxInt64)
	for _, d := range devices {
		free, _, err := d.Memory()
		if err != nil {
			return cut{}, err
		}
		bytes = min(bytes, free-free/spare)
	}
	if budget := c.Option(budgetOption.Key, "free"); budget != "free" {
		most, err := quantity.ParseBytes(budget)
		if err != nil {
			return cut{}, err
		}
		bytes = min(bytes, most)
	}
	if i.budget > 0 {
		bytes = min(bytes, i.budget)
	}
	return bestCut(p, int64(len(devices)), bytes)
}

// CanDo refuses what takes too long, and of what not one plane fits with those that it needs.
func (i Slabs) CanDo(p *gvf.Problem, c bench.Conditions) error {
	devices, err := i.devices(c)
	if err != nil {
		return err
	}
	if err := p.TakesSteps(); err != nil {
		return err
	}
	s := p.Shape()
	if s.W > math.MaxInt32/8 || s.H > math.MaxInt32/8 || s.D > math.MaxInt32/8 {
		return fmt.Errorf("%v: an axis is longer than the kernels count, %d", s, math.MaxInt32/8)
	}
	if p.Steps > math.MaxInt32 {
		return fmt.Errorf("%d steps: more than the kernels count, %d", p.Steps, math.MaxInt32)
	}
	for _, d := range devices {
		if err := recent(d); err != nil {
			return err
		}
	}
	cut, err := i.cut(p, c, devices)
	if err != nil {
		return err
	}
	const sure = 2 // of what is estimated
	if err := c.Allow(quantity.Seconds(sure*cut.cost(p)*1e-9), "%d visits of %d slabs for %d steps each", cut.visits(), cut.slabs, cut.steps); err != nil {
		return err
	}
	numbers := int64(p.Dim()) * min(2, cut.visits())
	if hosted(p) {
		numbers += int64(p.Dim()) + 2
	}
	staged := int64(0)
	if _, whole := p.Source.(*grid.Field); !whole { // which is pinned where it is, but for small ones
		staged = cut.slots() * cut.devices * cut.longest() * s.SliceVoxels() * voxelBytes(p)
	}
	return c.AllowMemory(4*s.Voxels()*numbers+staged, "%d numbers for each of %d voxels, and slabs on their way", numbers, s.Voxels())
}

// Setup loads the kernels, and allocates slabs on the devices and the field on the host.
func (i Slabs) Setup(p *gvf.Problem, c bench.Conditions) (bench.Job[gvf.Flow], error) {
	devices, err := i.devices(c)
	if err != nil {
		return nil, err
	}
	cut, err := i.cut(p, c, devices)
	if err != nil {
		return nil, err
	}
	if i.fault == ShortHalo {
		cut.short = 1
	}
	j := &slabJob{cut: cut, p: p, fault: i.fault, threads: max(1, c.Threads), plans: map[[2]int64][]pass{}}
	if i.several {
		var watches resident.Watches
		for _, d := range devices {
			watches = append(watches, resident.NewWatch(d))
		}
		j.watch = watches
	} else {
		j.watch = resident.NewWatch(devices[0])
	}
	if err := j.setup(devices[:cut.devices]); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// slabOf is a problem of so many planes of another: its shape is all that is asked of it.
func slabOf(p *gvf.Problem, planes int64) *gvf.Problem {
	return gvf.NewProblem(grid.Crop(p.Source, 0, planes), p.Mu, p.Steps, 0, p.Boundary)
}
