package binned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/softecc"
)

// OnDevice is the same method on an NVIDIA device (kernels/softecc/softecc.h). If Y is X and levels
// are evenly spaced, voxels are counted by level without approximation. If a value is on no level,
// or in other cases, they are put into bins with two moments (Batch).
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.About{
		Name: "binned-gpu", Where: "gpu",
		Method: "resident image, changes from local extrema, counted by level or with two moments in bins; one look-up a " +
			"voxel backward; few voxels directly at each threshold",
		Source: "doc/proofs/softecc.md",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E},
	}
}

// CanDo rejects problems that do not fit the device or the kernels' integers.
func (o OnDevice) CanDo(p *softecc.Problem, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	_, _, ok := byPlace(d, p)
	return canDo(d, p, 1, !ok, c)
}

// canDo rejects images that do not fit the device or the kernels' integers, and sigmoids too steep for bins.
func canDo(d device.Device, p *softecc.Problem, images int64, inBins bool, c bench.Conditions) error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Vertices {
		return errors.New("the kernels do not support voxels as vertices; use binned, on the CPU")
	}
	s := p.Shape()
	if err := countable(s, d.Info()); err != nil {
		return err
	}
	if inBins {
		if err := checkBins(d, p); err != nil {
			return err
		}
	}
	if err := c.AllowMemory(4*images*s.Voxels(), "4 bytes for each of %d voxels", images*s.Voxels()); err != nil {
		return err
	}
	bytes := images*(grid.TotalBytes(p)+words(s)*4+4*s.Voxels()) + 4*s.H*s.D
	return resident.Fits(d, bytes, "the resident image with its changes and gradient")
}

// countable rejects shapes that do not fit the kernels' integers.
func countable(s grid.Shape, d device.Info) error {
	if s.W > math.MaxInt32/8 || s.H > math.MaxInt32/8 || s.H*s.D > math.MaxInt32/8 {
		return fmt.Errorf("%v: want at most %d rows, and voxels per row", s, math.MaxInt32/8)
	}
	if d.Major < 8 {
		return fmt.Errorf("%s has compute capability %d.%d, the kernels need 8.0 for the minimum of two halves", d.Name,
			d.Major, d.Minor)
	}
	return nil
}

// byPlace returns the factor and the offset that map the levels to 0 to 1 in float32, and reports
// whether changes can be counted by level.
func byPlace(d device.Device, p *softecc.Problem) (scale, offset float32, ok bool) {
	l := p.Ladder()
	_, _, even := l.Affinity()
	if !even || p.Alpha != 0 || l.Len() > mostPlaces || 4*(l.Len()+spareCounts) > d.Info().SharedOptIn-1<<10 {
		return 0, 0, false
	}
	lo, last := float64(l.Value(0)), float64(l.Len()-1)
	if span := float64(l.Value(l.Len()-1)) - lo; span > 0 {
		scale, offset = float32(1/span), float32(-lo/span)
	}
	for k := range l.Len() {
		share := min(max(float32(math.FMA(float64(scale), float64(l.Value(k)), float64(offset))), 0), 1)
		if math.Abs(float64(share)*last-float64(k)) > 0.4 {
			return 0, 0, false
		}
	}
	return scale, offset, true
}

// words returns the number of words of four changes of an image.
func words(s grid.Shape) int64 { return (s.W + 3) / 4 * s.H * s.D }

// Setup loads the kernels and copies the image to the device.
func (o OnDevice) Setup(p *softecc.Problem, c bench.Conditions) (bench.Job[softecc.Answer], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	program, err := newProgram(d)
	if err != nil {
		return nil, err
	}
	upstream := func(int64) []float64 { return p.G }
	j := &deviceJob{Program: program, p: p, upstream: upstream, source: p, images: 1, mayPlace: true}
	return bench.Ready(j, j.setup(c))
}

var _ bench.DeviceJob = (*deviceJob)(nil)

type deviceJob struct {
	*resident.Program
	p        *softecc.Problem // of the first image
	upstream func(image int64) []float64
	source   grid.Source // all images, one after the other
	images   int64
	mayPlace bool // count by place if possible

	image, changes, dx device.Buffer
	tau, g             device.Buffer
	out                device.Buffer // χ, ∂τ and ∂λ of each threshold

	feed *resident.Feed // of whole calls, which copy the image to the device and the gradient back
	back device.Pinned  // the gradient

	by   *counter // used if possible, until a voxel is on no place
	bins *filled  // used otherwise
}

// A counter sums changes by place.
type counter struct {
	n                 int64 // places
	own               []any // last arguments of both kernels
	forward, backward device.Function
	forwards          device.Launch
	backwards         device.Launch
	middles           device.Buffer // float64
	counts            device.Buffer
	slopes            device.Buffer
	moments           device.Buffer // by block of backward
	result            device.Pinned // the last count, then the moments, then the curve
}

// Shape of the kernels' work (kernels/softecc/softecc.h).
const (
	deviceBlock = 256 // threads
	spareCounts = 32  // for voxels on no place
	warpColumns = 128
	slabPlanes  = 2     // of a slab; a warp has two slabs if it counts by place
	mostPlaces  = 31744 // place numbers are the bit patterns of finite halves
)

// between is the kernel that computes the curve and the table.
const between = "softecc_curve_and_table"

func newProgram(d device.Device) (*resident.Program, error) {
	return resident.NewProgram(d, "soft curve", "softecc_curve", between)
}

// setup makes the objects of a job.
func (j *deviceJob) setup(c bench.Conditions) error {
	j.image, j.feed = resident.NewImage(&j.Objects, j.Stream, j.source, c.Scope == bench.E2E, c.Threads)
	s := j.p.Shape()
	j.changes = j.NewBuffer("changes", 4*words(s)*j.images)
	j.dx, j.back = j.NewBuffer("gradient", 4*s.Voxels()*j.images), j.NewPinned("gradient on the host", 4*s.Voxels()*j.images)
	j.tau = resident.NewNumbers(&j.Objects, j.Stream, "thresholds", j.p.Tau)
	j.g = resident.NewNumbers(&j.Objects, j.Stream, "upstream gradient", j.p.G)
	j.out = j.NewBuffer("soft curve", 3*8*int64(len(j.p.Tau)))
	if ok, err := j.byPlaces(); ok || err != nil {
		return err
	}
	return j.inBins()
}

// byPlaces makes the counter if the levels are places, and reports whether they are.
func (j *deviceJob) byPlaces() (ok bool, err error) {
	scale, offset, ok := byPlace(j.On, j.p)
	if !ok || !j.mayPlace {
		return false, nil
	}
	l := j.p.Ladder()
	first, step, _ := l.Affinity()
	c := &counter{n: l.Len()}
	c.forwards.Shared, c.backwards.Shared = 4*(c.n+spareCounts), 4*c.n
	middles := make([]float64, c.n)
	for k := range middles {
		middles[k] = float64(l.Value(int64(k)))
	}
	c.middles = resident.NewNumbers(&j.Objects, j.Stream, "places", middles)
	c.counts, c.slopes = j.NewBuffer("counts of places", 8*(c.n+1)), j.NewBuffer("slopes of places", 4*c.n)
	c.own = []any{c.counts, int32(c.n), scale, offset, float32(step), float32(first)}
	forward, backward := passes("places", j.p.Shape(), j.p.Type(), j.p.Shape().W%4 == 0)
	kernels := j.NewModule(fmt.Sprintf("softecc_%v", j.p.Type()), forward, backward)
	c.forward, c.backward = j.Function(kernels, forward), j.Function(kernels, backward)
	if j.Err() != nil {
		return false, j.Err()
	}
	c.forwards.Block.X, c.backwards.Block.X = deviceBlock, deviceBlock
	if err := errors.Join(resident.FillDevice(j.On, c.forward, &c.forwards),
		resident.FillDevice(j.On, c.backward, &c.backwards)); err != nil {
		return false, err
	}
	bytes := 4 * 8 * c.backwards.Grid.X
	c.moments = j.NewBuffer("moments", bytes)
	c.result = j.NewPinned("soft curve on the host", 8+bytes+3*8*int64(len(j.p.Tau)))
	j.by = c
	return true, j.Err()
}

// passes returns the names of the kernels of both passes that count in places or bins.
func passes(in string, s grid.Shape, t grid.Type, aligned bool) (forward, backward string) {
	unaligned := "_unaligned"
	if aligned {
		unaligned = ""
	}
	forward = fmt.Sprintf("softecc_%s_%dd%s_%v", in, s.Dim(), unaligned, t)
	return forward, fmt.Sprintf("softecc_%s_backward%s_%v", in, unaligned, t)
}

// Do computes the answer on the device. A whole call copies the image from the host and the
// gradient back.
func (j *deviceJob) Do(*bench.Trace) error {
	if j.feed == nil {
		return j.count()
	}
	if err := j.feed.Add(j.Stream, j.image, 0); err != nil {
		return err
	}
	if err := j.count(); err != nil {
		return err
	}
	return j.bring()
}

// bring copies the gradient to the host.
func (j *deviceJob) bring() error {
	return errors.Join(j.Stream.Copy(j.back, 0, j.dx, 0, j.dx.Bytes()), j.Stream.Wait())
}

// count counts by place. From the first image with a voxel on no place on, it counts in bins.
func (j *deviceJob) count() error {
	if j.by != nil {
		if err := j.On.Do(func() error { return j.run(j.by) }); err != nil {
			return err
		}
		if strays := binary.LittleEndian.Uint64(j.by.result.Data()); strays == 0 {
			return nil
		}
		j.by = nil
	}
	if j.bins == nil {
		if err := j.inBins(); err != nil {
			return err
		}
	}
	return j.On.Do(j.runBins)
}

// length returns the number of rows per warp, chosen so that the last round of warps is nearly
// full. A warp also reads two neighbouring rows.
func (c *counter) length(s grid.Shape) int64 {
	const slabs = 2
	across, deep, rows := (s.W+warpColumns-1)/warpColumns, (s.D+slabs*slabPlanes-1)/(slabs*slabPlanes), s.H
	if s.Dim() == 2 {
		deep, rows = 1, (s.H+slabs-1)/slabs
	}
	const shortest, longest, turns = 8, 256, 64
	warps := c.forwards.Grid.X * deviceBlock / 32
	best, least := int64(0), int64(math.MaxInt64)
	for turn := range int64(turns) {
		pieces := max(1, (turn+1)*warps/(across*deep))
		length := min(max(shortest, (rows+pieces-1)/pieces), longest)
		items := across * deep * ((rows + length - 1) / length)
		if cost := (items + warps - 1) / warps * (length + 2); cost < least {
			best, least = length, cost
		}
	}
	return best
}

func (j *deviceJob) run(c *counter) error {
	s, m := j.p.Shape(), int64(len(j.p.Tau))
	image := []any{j.image, int64(0), int64(0), int32(s.W), int32(s.H), int32(s.D)}
	forward := append(append(image[:len(image):len(image)], j.changes, int32(c.length(s))), c.own...)
	backward := append(append(image[:len(image):len(image)], j.changes, c.slopes, j.dx, c.moments), c.own...)
	err := j.Timed(func() error {
		return errors.Join(
			j.Stream.Fill32(c.counts, 0, c.counts.Bytes()/4, 0),
			j.Stream.Launch(c.forward, c.forwards, forward...),
			j.Launch(between, m+min((c.n+15)/16, 1<<16), 512, 0,
				c.middles, c.counts, int32(c.n), j.p.Lambda, j.tau, j.g, int32(m), j.out, c.slopes),
			j.Stream.Launch(c.backward, c.backwards, backward...))
	})
	return errors.Join(err,
		j.Stream.Copy(c.result, 0, c.counts, c.counts.Bytes()-8, 8),
		j.Stream.Copy(c.result, 8, c.moments, 0, c.moments.Bytes()),
		j.Stream.Copy(c.result, 8+c.moments.Bytes(), j.out, 0, j.out.Bytes()),
		j.Stream.Wait())
}

// Poison overwrites the memory that Out reads, and the data that it is computed from.
func (j *deviceJob) Poison() {
	const poison = 0x5a
	list := []device.Buffer{j.changes, j.dx, j.out}
	if j.by != nil {
		list = append(list, j.by.counts, j.by.slopes, j.by.moments)
		resident.Overwrite(j.by.result.Data(), poison)
	}
	if j.bins != nil {
		list = append(list, j.bins.curve, j.bins.derivatives, j.bins.work, j.bins.moments)
		resident.Overwrite(j.bins.result.Data(), poison)
	}
	j.Fill(poison, list...)
	resident.Overwrite(j.back.Data(), poison)
}

// curve returns the last answer about an image without the numbers of voxels, and the moments.
func (j *deviceJob) curve(image int64) (a softecc.Answer, moments []float64, err error) {
	if j.by == nil {
		return j.bins.answer(j.upstream(image), image)
	}
	m := len(j.p.Tau)
	list := make([]float64, len(j.by.result.Data())/8-1)
	if _, err := binary.Decode(j.by.result.Data()[8:], binary.LittleEndian, list); err != nil {
		return a, nil, err
	}
	moments, curve := list[:len(list)-3*m], list[len(list)-3*m:]
	a = softecc.Answer{Chi: make([]float64, m), DTau: make([]float64, m)}
	for k := range m {
		a.Chi[k], a.DTau[k] = curve[3*k], curve[3*k+1]
		a.Lambda += curve[3*k+2]
	}
	return a, moments, nil
}

// Out returns the last answer and copies its gradient to the host.
func (j *deviceJob) Out() (a softecc.Answer, err error) {
	if j.feed == nil {
		err = j.bring()
	}
	if err == nil {
		a, err = j.answer(0)
	}
	return a, err
}

// answer returns the last answer about an image, whose gradient is on the host.
func (j *deviceJob) answer(image int64) (softecc.Answer, error) {
	a, moments, err := j.curve(image)
	if err != nil {
		return a, err
	}
	var sum float64
	var moment [3]float64
	for k := 0; k < len(moments); k += 4 {
		sum += moments[k]
		for i := range moment {
			moment[i] += moments[k+1+i]
		}
	}
	s := j.p.Shape()
	for i, n := range []int64{s.W, s.H, s.D} {
		moment[i] += sum * softecc.Place(0, n)
	}
	j.p.Direction(&a, moment)
	a.DX = make([]float32, s.Voxels())
	copy(a.DX, grid.Values[float32](j.back.Data())[image*s.Voxels():])
	return a, nil
}
