package gpu

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// watch is the part of a DeviceJob that does not depend on the computation.
type watch interface {
	Device() string
	UUIDs() []string
	DeviceMemory() int64
	bench.Flagged
	Sensors() []string
	io.Closer
}

type slabJob struct {
	watch
	cut
	p       *gvf.Problem
	fault   Fault
	threads int

	lanes   []*lane
	slabs   []*slab
	from    *held           // the given start field, or nil
	place   *resident.Place // the image, if it is pinned in place
	field   [2]*held        // the field after the last visit, and after the visit before it
	seen    device.Pinned   // the extents found by the blocks of each slab
	extent  device.Pinned   // of the whole image
	plans   map[[2]int64][]pass
	out     gvf.Output // copy of a field in memory of the devices' driver
	counted []int64    // number of blocks that have read each slab
}

// A lane is a device and the slabs that pass through it. One stream copies slabs to the device, one
// computes, and one copies them back.
type lane struct {
	resident.Objects
	in, work, out device.Stream
	start, end    device.Event // of all slabs
	slots         []*slot
	v0, b, extent device.Buffer
	functions     map[string]device.Function
	next          int // number of slabs so far
}

// A slot is device memory for a slab.
type slot struct {
	image      device.Buffer    // or the given start field
	v          [2]device.Buffer // the field before and after a pass
	last       int              // index of the field that contains the last slab's result
	parts      device.Buffer
	stage      device.Pinned // host memory for an image that is not pinned
	came       device.Event  // the last copy to the device is complete
	made, sent device.Event  // the steps are computed; the copy back is complete
}

// A slab is a part of the field that one device processes.
type slab struct {
	lane *lane
	sent [2]device.Event // the copy back is complete, for even and odd visits
}

func (j *slabJob) setup(devices []device.Device) error {
	for _, d := range devices {
		l := &lane{Objects: resident.NewObjects(d), functions: map[string]device.Function{}}
		j.lanes = append(j.lanes, l)
		if err := j.open(l); err != nil {
			return err
		}
	}
	first, n, dim := &j.lanes[0].Objects, j.p.Shape().Voxels(), j.p.Dim()
	if hosted(j.p) {
		start, err := j.p.Start(j.threads)
		if err != nil {
			return err
		}
		j.from = resident.Own(first, func() (*held, error) { return hold(first.On, start.V0) })
	} else {
		j.place = resident.Own(first, func() (*resident.Place, error) {
			return resident.Pin(first.On, j.p.Source, grid.SliceBytes(j.p))
		})
	}
	for i := range min(2, j.visits()) {
		j.field[i] = resident.Own(first, func() (*held, error) { return holdNew(first.On, dim, n) })
	}
	j.seen = first.NewPinned("extents on the host", j.cut.slabs*extentBytes)
	j.extent = first.NewPinned("extent on the host", 8)
	j.counted = make([]int64, j.cut.slabs)
	for k := range j.cut.slabs {
		s := &slab{lane: j.lanes[j.owner(k)]}
		j.slabs = append(j.slabs, s)
		for i := range s.sent {
			s.sent[i] = s.lane.NewEvent("a slab is back")
		}
	}
	for _, l := range j.lanes {
		j.allocate(l)
		if l.Err() != nil {
			return l.Err()
		}
	}
	return nil
}

// open makes the streams of a device and loads its kernels.
func (j *slabJob) open(l *lane) error {
	for name, s := range map[string]*device.Stream{"fetching slabs": &l.in, "steps of slabs": &l.work,
		"slabs on their way back": &l.out} {
		*s = l.NewStream(fmt.Sprintf("%s, device %d", name, l.On.Info().Index))
	}
	l.start, l.end = l.NewEvent("start of all slabs"), l.NewEvent("end of all slabs")
	return j.load(l)
}

// allocate makes the memory of a device.
func (j *slabJob) allocate(l *lane) {
	voxels := j.longest() * j.p.Shape().SliceVoxels()
	field := 4 * int64(j.p.Dim()) * voxels
	l.b = l.NewBuffer("squares of the gradient's lengths of a slab", 4*voxels)
	l.extent = l.NewBuffer("extent of the image", 8)
	if j.from == nil {
		l.v0 = l.NewBuffer("gradient of a slab", field)
	}
	for range j.slots() {
		s := &slot{
			image: l.NewBuffer("slab", voxels*voxelBytes(j.p)), parts: l.NewBuffer("extents of a slab", extentBytes),
			v:    [2]device.Buffer{l.NewBuffer("field of a slab", field), l.NewBuffer("other field of a slab", field)},
			came: l.NewEvent("a slab has come"), made: l.NewEvent("a slab is made"), sent: l.NewEvent("a slab is back"),
		}
		if j.from == nil && j.place == nil {
			s.stage = l.NewPinned("slab on the host", voxels*voxelBytes(j.p))
		}
		l.slots = append(l.slots, s)
	}
}

// load loads the kernels of a device.
func (j *slabJob) load(l *lane) error {
	module := func(name string, kernels ...string) {
		for i, f := range l.NewFunctions(name, kernels...) {
			l.functions[kernels[i]] = f
		}
	}
	t := j.p.Type()
	module("gvf_start", fmt.Sprintf("gvf_extent_%v", t), fmt.Sprintf("gvf_scale_%v", t), "gvf_gradient", "gvf_magnitude")
	passes := append(planPasses(j.p, l.On.Info(), j.stepsOf(0)), planPasses(j.p, l.On.Info(), j.stepsOf(j.visits()-1))...)
	names, shared := []string{}, map[string]int64{}
	for _, p := range passes {
		if shared[p.kernel] == 0 {
			names = append(names, p.kernel)
		}
		shared[p.kernel] = p.launch.Shared
	}
	if len(names) > 0 {
		module(passes[0].module, names...)
	}
	if l.Err() != nil {
		return l.Err()
	}
	for _, name := range names {
		if f := l.functions[name]; shared[name]+f.Attributes().Shared > l.On.Info().Shared {
			if err := f.AllowShared(shared[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Do computes all steps of all slabs.
func (j *slabJob) Do(trace *bench.Trace) (err error) {
	defer func() {
		if err != nil {
			_ = j.wait() // the first error is the reason
		}
	}()
	if err := j.begin(trace); err != nil {
		return err
	}
	defer trace.Span("visits")()
	for visit := range j.visits() {
		if err := j.eachSlab(func(k int64) error { return j.visit(k, visit) }); err != nil {
			return err
		}
	}
	first, last := j.lanes[0], (j.visits()-1)%2
	for _, s := range j.slabs {
		if err := first.out.WaitFor(s.sent[last]); err != nil {
			return err
		}
	}
	return errors.Join(first.out.Record(first.end), j.wait())
}

// begin records the start time and computes the extent of the image. For that the whole image
// passes through the devices once.
func (j *slabJob) begin(trace *bench.Trace) error {
	defer trace.Span("extent of the image")()
	for _, l := range j.lanes {
		l.next = 0
		if err := l.in.Record(l.start); err != nil {
			return err
		}
	}
	if j.from != nil {
		return nil
	}
	if err := errors.Join(j.eachSlab(j.look), j.wait()); err != nil {
		return err
	}
	j.merge()
	for _, l := range j.lanes {
		if err := l.in.Copy(l.extent, 0, j.extent, 0, j.extent.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// merge computes the extent of the image from the extents of its blocks.
func (j *slabJob) merge() {
	at := func(k, i int64) int32 {
		return int32(binary.LittleEndian.Uint32(j.seen.Data()[k*extentBytes+4*i:]))
	}
	least, greatest := at(0, 0), at(0, 1)
	for k, blocks := range j.counted {
		if j.fault == OwnExtent && j.owner(int64(k)) > 0 {
			continue
		}
		for i := range blocks {
			least, greatest = min(least, at(int64(k), 2*i)), max(greatest, at(int64(k), 2*i+1))
		}
	}
	data := j.extent.Data()
	binary.LittleEndian.PutUint32(data, uint32(least))
	binary.LittleEndian.PutUint32(data[4:], uint32(greatest))
}

// eachSlab calls f for all slabs, alternating between the devices.
func (j *slabJob) eachSlab(f func(k int64) error) error {
	for turn := range j.turns() {
		for g := range j.devices {
			lo, hi := part(j.cut.slabs, j.devices, g)
			if lo+turn >= hi {
				continue
			}
			if err := f(lo + turn); err != nil {
				return err
			}
		}
	}
	return nil
}

// take returns the slot for the next slab of a device.
func (l *lane) take() *slot {
	s := l.slots[l.next%len(l.slots)]
	l.next++
	return s
}

// look computes the extent of a slab's planes on its device.
func (j *slabJob) look(k int64) error {
	l := j.slabs[k].lane
	s := l.take()
	lo, hi := j.inner(k)
	if err := j.stageImage(s, lo, hi); err != nil {
		return err
	}
	if err := errors.Join(l.in.WaitFor(s.made), j.fetchImage(l, s, lo, hi), l.in.Record(s.came)); err != nil {
		return err
	}
	n := (hi - lo) * j.p.Shape().SliceVoxels()
	shape := l.all(n)
	shape.Grid.X = min(shape.Grid.X, extentParts)
	j.counted[k] = shape.Grid.X
	return errors.Join(
		l.work.WaitFor(s.came), l.work.WaitFor(s.sent),
		l.work.Launch(l.functions[fmt.Sprintf("gvf_extent_%v", j.p.Type())], shape, s.image, n, s.parts),
		l.work.Record(s.made),
		l.out.WaitFor(s.made), l.out.Copy(j.seen, k*extentBytes, s.parts, 0, 8*shape.Grid.X), l.out.Record(s.sent))
}

// all returns a launch for kernels that iterate over n voxels.
func (l *lane) all(n int64) device.Launch {
	return launch(max(1, min(grid.CeilDiv(n, 32*startWarps), int64(l.On.Info().SMs)*startBlocks)), startWarps, 0)
}

// stageImage copies planes of an image that is not pinned to a slot's host memory.
func (j *slabJob) stageImage(s *slot, lo, hi int64) error {
	if s.stage == nil {
		return nil
	}
	if err := s.came.Wait(); err != nil { // the previous content is on the device
		return err
	}
	size := grid.SliceBytes(j.p)
	return resident.Each(j.threads, func(i int) error {
		from, to := part(hi-lo, int64(j.threads), int64(i))
		if from == to {
			return nil
		}
		return j.p.ReadSlab(s.stage.Data()[from*size:to*size], lo+from, lo+to)
	})
}

// fetchImage enqueues the copy of planes of the image to a slot.
func (j *slabJob) fetchImage(l *lane, s *slot, lo, hi int64) error {
	size := grid.SliceBytes(j.p)
	if s.stage != nil {
		return l.in.Copy(s.image, 0, s.stage, 0, (hi-lo)*size)
	}
	return j.place.Each(lo*size, (hi-lo)*size, func(from device.Memory, at, done, n int64) error {
		return l.in.Copy(s.image, done, from, at, n)
	})
}

// visit enqueues one visit: the slab passes through its device for some steps.
func (j *slabJob) visit(k, visit int64) error {
	me := j.slabs[k]
	s := me.lane.take()
	if visit == 0 || !j.stays() {
		lo, hi := j.outer(k, visit)
		if err := j.stageImage(s, lo, hi); err != nil {
			return err
		}
	}
	return me.lane.On.Do(func() error {
		return errors.Join(j.fetch(k, visit, s), j.workOn(k, visit, s), j.bring(k, visit, s))
	})
}

// fetched returns the index of the slot's field that a slab is copied to. The other field may still
// be on its way back, unless the slab stays on the device.
func (j *slabJob) fetched(s *slot) int {
	if j.stays() {
		return s.last
	}
	return 1 - s.last
}

// fetch enqueues the copies of a slab to the device.
func (j *slabJob) fetch(k, visit int64, s *slot) error {
	l := j.slabs[k].lane
	lo, hi := j.outer(k, visit)
	var errs []error
	if j.fault != EarlyFetch {
		errs = append(errs, l.in.WaitFor(s.made))
	}
	switch {
	case visit > 0 && j.stays():
	case j.from == nil:
		errs = append(errs, j.fetchImage(l, s, lo, hi))
	default:
		errs = append(errs, j.copies(j.from, span{lo, hi}, lo, hi,
			func(m device.Memory, at, there, n int64) error { return l.in.Copy(s.image, there, m, at, n) }))
	}
	if visit > 0 {
		// When the near slabs are back, their copies to a device are complete as well. So none of
		// them still reads the host memory that this slab will be copied back to.
		near := j.nearSlabs(k, j.reach())
		switch j.fault {
		case EarlyHalo:
			near = nil
		case EarlyStore:
			near = j.nearSlabs(k, j.stepsOf(visit))
		}
		for _, q := range near {
			errs = append(errs, l.in.WaitFor(j.slabs[q].sent[(visit-1)%2]))
		}
		spans, to := []span{{lo, hi}}, s.v[j.fetched(s)]
		if j.stays() {
			spans = j.halos(k, visit)
		}
		for _, of := range spans {
			errs = append(errs, j.copies(j.field[(j.visits()-visit)%2], of, lo, hi,
				func(m device.Memory, at, there, n int64) error { return l.in.Copy(to, there, m, at, n) }))
		}
	}
	return errors.Join(append(errs, l.in.Record(s.came))...)
}

// copies calls f for the planes of each component: with their place on the host, and in a slab of
// planes first ≤ z < end.
func (j *slabJob) copies(h *held, of span, first, end int64, f func(m device.Memory, at, there, n int64) error) error {
	plane := 4 * j.p.Shape().SliceVoxels()
	for c, m := range h.pinned {
		if err := f(m, of.lo*plane, (int64(c)*(end-first)+of.lo-first)*plane, (of.hi-of.lo)*plane); err != nil {
			return err
		}
	}
	return nil
}

// workOn enqueues the launches of a slab.
func (j *slabJob) workOn(k, visit int64, s *slot) error {
	l := j.slabs[k].lane
	lo, hi := j.outer(k, visit)
	shape := j.p.Shape().WithSlices(hi - lo)
	errs := []error{l.work.WaitFor(s.came)}
	if j.fault != EarlyWork {
		errs = append(errs, l.work.WaitFor(s.sent))
	}
	n := shape.Voxels()
	axes := []any{int32(shape.W), int32(shape.H), int32(shape.D)}
	from, to := s.v[j.fetched(s)], 1-j.fetched(s)
	v0 := l.v0
	if j.from != nil {
		v0 = s.image
	}
	switch f := s.v[to]; {
	case visit > 0 && j.stays(): // V0 and b are already there
	case j.from != nil:
		errs = append(errs, l.work.Launch(l.functions["gvf_magnitude"], l.all(n), append([]any{v0, l.b}, axes...)...))
	default:
		errs = append(errs,
			l.work.Launch(l.functions[fmt.Sprintf("gvf_scale_%v", j.p.Type())], l.all(n), s.image, n, l.extent, int32(1), f),
			l.work.Launch(l.functions["gvf_gradient"], l.all(n), append([]any{f, v0, l.b}, axes...)...))
	}
	if visit == 0 {
		from = v0
	}
	for _, one := range j.plan(l, hi-lo, j.stepsOf(visit)) {
		for range one.count {
			args := append([]any{from, v0, l.b, s.v[to]}, axes...)
			errs = append(errs, l.work.Launch(l.functions[one.kernel], one.launch,
				append(args, int32(j.p.Boundary), j.p.Mu, int32(one.length))...))
			from, to = s.v[to], 1-to
		}
	}
	if j.all == 0 {
		errs = append(errs, l.work.Copy(s.v[to], 0, v0, 0, 4*int64(j.p.Dim())*n))
		to = 1 - to
	}
	s.last = 1 - to
	return errors.Join(append(errs, l.work.Record(s.made))...)
}

// plan returns the passes for a slab of the given number of planes.
func (j *slabJob) plan(l *lane, planes, steps int64) []pass {
	key := [2]int64{planes, steps}
	if list, ok := j.plans[key]; ok {
		return list
	}
	j.plans[key] = planPasses(slabOf(j.p, planes), l.On.Info(), steps)
	return j.plans[key]
}

// bring enqueues the copies of a slab to the host.
func (j *slabJob) bring(k, visit int64, s *slot) error {
	l := j.slabs[k].lane
	first, end := j.outer(k, visit)
	var errs []error
	if j.fault != EarlyReturn {
		errs = append(errs, l.out.WaitFor(s.made))
	}
	for _, of := range j.returned(k, visit) {
		if _, hi := j.inner(k); j.fault == LostSeam && of.hi == hi && hi < j.planes {
			of.hi--
		}
		errs = append(errs, j.copies(j.field[(j.visits()-1-visit)%2], of, first, end,
			func(m device.Memory, at, there, n int64) error {
				return l.out.Copy(m, at, s.v[s.last], there, n)
			}))
	}
	return errors.Join(append(errs, l.out.Record(s.sent), l.out.Record(j.slabs[k].sent[visit%2]))...)
}

// wait waits for all enqueued work.
func (j *slabJob) wait() error {
	var errs []error
	for _, l := range j.lanes {
		for _, s := range []device.Stream{l.in, l.work, l.out} {
			if s != nil {
				errs = append(errs, s.Wait())
			}
		}
	}
	return errors.Join(errs...)
}

// Elapsed returns the time of the last Do on the first device, from the first copy to the last.
func (j *slabJob) Elapsed() (time.Duration, error) {
	first := j.lanes[0]
	return first.end.Since(first.start)
}

// Cool flushes the devices' L2 caches.
func (j *slabJob) Cool() error {
	var errs []error
	for _, l := range j.lanes {
		errs = append(errs, l.On.FlushL2(l.work), l.work.Wait())
	}
	return errors.Join(errs...)
}

// Poison overwrites the memory that Out reads, and that from which it is computed.
func (j *slabJob) Poison() {
	const poison = 0x5a
	for _, l := range j.lanes {
		list := []device.Buffer{l.v0, l.b}
		for _, s := range l.slots {
			list = append(list, s.image, s.v[0], s.v[1])
		}
		for _, b := range list {
			if b != nil {
				// Ignore errors: a broken device fails at the next call, with the reason.
				_ = l.work.Fill(b, 0, b.Bytes(), poison)
			}
		}
	}
	_ = j.wait()
	for _, f := range j.field {
		if f != nil {
			gvf.Output{Flow: gvf.Flow{V: f.lists}}.Poison()
		}
	}
}

// Out returns the last answer, which the next one overwrites.
func (j *slabJob) Out() (gvf.Flow, error) {
	f := j.field[0]
	if j.fault == OldHost {
		f = cmp.Or(j.field[1], f)
	}
	if !f.lent {
		return gvf.Flow{V: f.lists}, nil
	}
	if j.out.V == nil {
		j.out = gvf.NewOutput(j.p)
	}
	for c, list := range f.lists {
		copy(j.out.V[c], list)
	}
	return j.out.Out()
}

// Close frees memory and kernels. The first device owns the memory of the host, and is last.
func (j *slabJob) Close() error {
	errs := []error{j.wait()}
	for _, l := range slices.Backward(j.lanes) {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, j.watch.Close())...)
}

var _ bench.DeviceJob = (*slabJob)(nil)

// held is lists of numbers in pinned host memory.
type held struct {
	lists  [][]float32
	pinned []device.Pinned // one per list
	lent   bool            // the memory belongs to the devices' driver, and is invalid after Close
}

// hold pins lists in place, or copies them to pinned memory.
func hold(d device.Device, lists [][]float32) (h *held, err error) {
	h = &held{lists: lists}
	for _, list := range lists {
		mem := grid.Bytes(list)
		if !resident.Pinnable(mem) {
			break
		}
		p, err := d.Register("field on the host", mem)
		if device.IsRegistered(err) && !device.IsSticky(err) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
		h.pinned = append(h.pinned, p)
	}
	if len(h.pinned) == len(lists) {
		return h, nil
	}
	if err := h.Close(); err != nil {
		return nil, err
	}
	h, err = lend(d, len(lists), int64(len(lists[0])))
	if err == nil {
		for c, list := range lists {
			copy(h.lists[c], list)
		}
	}
	return h, err
}

// holdNew allocates lists of numbers. It uses Go memory if that can be pinned.
func holdNew(d device.Device, dim int, n int64) (*held, error) {
	const page = 1 << 20 // the least size that Pinnable accepts
	if 4*n < page {
		return lend(d, dim, n)
	}
	lists := make([][]float32, dim)
	for c := range lists {
		lists[c] = grid.NewValues[float32](n)
	}
	return hold(d, lists)
}

// lend allocates lists in memory of the driver.
func lend(d device.Device, dim int, n int64) (h *held, err error) {
	h = &held{lent: true}
	for range dim {
		p, err := d.AllocPinned("field on the host", 4*n)
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
		h.pinned, h.lists = append(h.pinned, p), append(h.lists, grid.Values[float32](p.Data()))
	}
	return h, nil
}

// Close unpins or frees the memory.
func (h *held) Close() error {
	var errs []error
	for _, p := range h.pinned {
		errs = append(errs, p.Close())
	}
	h.pinned = nil
	return errors.Join(errs...)
}
