package gpu

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// Slabs computes steps of a field that stays in host memory, on one or several devices. The field
// passes through a device in slabs: planes of a volume, rows of a 2D image. A slab has an extra
// plane at either end for each step of a visit, because each step invalidates one plane at an inner
// end. Invalid planes are not copied back.
type Slabs struct {
	Open    resident.Opener
	several bool

	fault  Fault
	budget int64 // replaces the option's number of bytes per device in tests
	force  *cut  // replaces the best cut in tests
}

// InSlabs computes steps in slabs on one device.
func InSlabs(open resident.Opener) Slabs { return Slabs{Open: open} }

// InSlabsOnDevices computes steps in slabs on several devices of one host.
func InSlabsOnDevices(open resident.Opener) Slabs { return Slabs{Open: open, several: true} }

// Faults of the code that drives the slabs.
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

// budgetOption limits the device memory of slabs: all free memory, or a given amount.
var budgetOption = bench.Option{
	Key: "budget", Values: []string{"free", "16MiB", "64MiB", "256MiB", "1GiB", "2GiB", "4GiB", "8GiB", "16GiB", "32GiB",
		"64GiB"},
	Doc: "the most memory that slabs take on each device, free for what is free",
}

// About describes the method.
func (i Slabs) About() bench.About {
	a := bench.About{
		Name: "slabs-gpu", Where: "gpu",
		Method: "the field in the host's memory, slabs of it through the device as by blocked-gpu, copies both ways " +
			"overlapped with kernels",
		Source: "doc/proofs/gvf.md", Scopes: []bench.Scope{bench.E2E, bench.File}, Options: []bench.Option{budgetOption},
	}
	if i.several {
		a.Name, a.Where, a.Method = "slabs-gpus", "gpus",
			"slabs-gpu on several devices of one host, which share the slabs out"
	}
	return a
}

// Estimated nanoseconds, for the choice of a cut: per byte of a copy in either direction, per voxel
// and component of a step, and per voxel of the start.
const (
	linkNS               = 1 / 50.0
	step3DNS, step2DNS   = 1 / 810.0, 1 / 1500.0
	gradientNS, launchUS = 1 / 100.0, 10
)

// A cut divides a field into slabs, each visited for some steps at a time.
type cut struct {
	planes  int64 // of the image; rows of a 2D image
	slabs   int64
	steps   int64 // per visit; the last one may have fewer
	all     int64 // total steps
	fringe  int64 // extra planes of a slab's first visit, which computes the gradient
	devices int64
	short   int64 // a fault for tests: missing planes of a halo
}

func newCut(p *gvf.Problem, devices int64) cut {
	c := cut{planes: p.Shape().Slices(), all: p.Steps, fringe: 1, devices: devices}
	if hosted(p) && p.Steps > 0 {
		c.fringe = 0
	}
	return c
}

// visits returns the number of visits of each slab.
func (c cut) visits() int64 { return max(1, grid.CeilDiv(c.all, max(1, c.steps))) }

// stepsOf returns the number of steps of a visit.
func (c cut) stepsOf(visit int64) int64 { return min(c.steps, c.all-visit*c.steps) }

// inner returns the planes that a slab computes.
func (c cut) inner(k int64) (lo, hi int64) { return part(c.planes, c.slabs, k) }

// stays reports whether each device has a single slab, which stays there: only halos are exchanged
// between visits.
func (c cut) stays() bool { return c.turns() == 1 }

// outer returns the planes that a slab needs. A slab that stays on its device needs the same planes
// on each visit.
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

// reach returns the maximum number of extra planes at an end of a slab after the first visit.
func (c cut) reach() int64 {
	if c.stays() {
		return c.steps + c.fringe
	}
	return c.steps
}

// A span is planes lo ≤ z < hi.
type span struct{ lo, hi int64 }

// halos returns the extra planes of a slab.
func (c cut) halos(k, visit int64) []span {
	lo, hi := c.inner(k)
	first, end := c.outer(k, visit)
	return []span{{first, lo}, {hi, end}}
}

// returned lists the planes of a slab that are copied back after a visit: those in halos of other
// slabs, and after the last visit all.
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

// nearSlabs lists the slabs with planes at most within planes away from a slab. With the largest
// halo as distance, the relation is symmetric.
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

// longest returns the maximum number of planes of a slab.
func (c cut) longest() int64 {
	return min(c.planes, grid.CeilDiv(c.planes, c.slabs)+2*(c.steps+c.fringe))
}

// turns returns the maximum number of slabs per device, and slots the number of them at a time.
func (c cut) turns() int64 { return grid.CeilDiv(c.slabs, c.devices) }
func (c cut) slots() int64 { return min(2, c.turns()) }

// owner returns the device of a slab.
func (c cut) owner(k int64) int64 {
	// The inverse of part.
	return ((k+1)*c.devices - 1) / c.slabs
}

// part returns part k of n items.
func part(n, parts, k int64) (lo, hi int64) { return k * n / parts, (k + 1) * n / parts }

// voxelBytes returns the number of bytes per voxel of the image or of the start field.
func voxelBytes(p *gvf.Problem) int64 {
	if hosted(p) {
		return 4 * int64(p.Dim())
	}
	return p.Type().Size()
}

// bytes returns the device memory that a cut needs.
func (c cut) bytes(p *gvf.Problem) int64 {
	field := 4 * int64(p.Dim())
	voxel := c.slots()*(voxelBytes(p)+2*field) + 4
	if !hosted(p) {
		voxel += field // V0
	}
	return c.longest()*p.Shape().SliceVoxels()*voxel + c.slots()*extentBytes + 8
}

// cost estimates the time of a cut in nanoseconds. Copying in, computing and copying back overlap:
// each slab costs the longest of the three, and each visit adds the other two once.
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

// mostVoxels is the maximum number of voxels of a slab for the kernels.
const mostVoxels = math.MaxUint32

// bestCut returns the cheapest cut whose slabs fit the given number of bytes per device.
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
			return best, fmt.Errorf("%v: slabs of %d planes exceed the kernels' limit of %d voxels", p.Shape(), c.longest(),
				int64(mostVoxels))
		}
		return best, fmt.Errorf("%v: slabs of %d planes, the fewest that take a step, need %s of device memory, %s may be "+
			"taken; take one with more, or an image with smaller planes", p.Shape(), c.longest(), quantity.Bytes(c.bytes(p)),
			quantity.Bytes(bytes))
	}
	return best, nil
}

// devices opens the devices of the conditions.
func (i Slabs) devices(c bench.Conditions) ([]device.Device, error) {
	if i.several {
		return i.Open.OpenAll(c.Devices)
	}
	d, err := i.Open(c.Device)
	return []device.Device{d}, err
}

// spare is the inverse of the part of free memory that is left to the kernels.
const spare = 32

// cut returns the cut for a problem, within the memory of the devices and the conditions.
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

// CanDo rejects a problem that takes too long, or for which not even slabs of one plane fit.
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
		return fmt.Errorf("%v: an axis exceeds the kernels' limit of %d", s, math.MaxInt32/8)
	}
	if p.Steps > math.MaxInt32 {
		return fmt.Errorf("%d steps: want at most %d", p.Steps, math.MaxInt32)
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
	const sure = 2 // safety factor for the estimate
	if err := c.Allow(quantity.Seconds(sure*cut.cost(p)*1e-9), "%d visits of %d slabs for %d steps each", cut.visits(),
		cut.slabs, cut.steps); err != nil {
		return err
	}
	numbers := int64(p.Dim()) * min(2, cut.visits())
	if hosted(p) {
		numbers += int64(p.Dim()) + 2
	}
	staged := int64(0)
	if _, whole := p.Source.(*grid.Field); !whole { // a Field is pinned in place, except for small ones
		staged = cut.slots() * cut.devices * cut.longest() * s.SliceVoxels() * voxelBytes(p)
	}
	return c.AllowMemory(4*s.Voxels()*numbers+staged, "%d numbers for each of %d voxels, and slabs on their way", numbers,
		s.Voxels())
}

// Setup loads the kernels, and allocates the slabs on the devices and the field on the host.
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

// slabOf returns a problem with the shape of a slab, for planPasses.
func slabOf(p *gvf.Problem, planes int64) *gvf.Problem {
	return gvf.NewProblem(views.Crop(p.Source, 0, planes), p.Mu, p.Steps, 0, p.Boundary)
}
