// Package gpu finds eigenmaps of voxels as package multigrid does, on a GPU.
package gpu

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"eccbench/impls/eigenmap/multigrid"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/ondevice"
)

// OnDevice runs the method on an NVIDIA device (kernels/eigenmap/eigenmap_grid.cu).
type OnDevice struct {
	Open resident.Opener
	most int // iterations on the finest level; 0 means mostIterations
}

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.OnDevice("multigrid-gpu",
		"LOBPCG with vectors in float64 and directions in float32, without a matrix, and a multigrid "+
			"cycle as its preconditioner", "doc/proofs/eigenmap.md; Knyazev 2001; Lottes 2023",
		bench.Kernel, bench.Device, bench.E2E)
}

const (
	deviceVoxelNS = 20 // estimated time per voxel for each four pairs
	deviceLinkNS  = 4  // … and per link that is not between faces
	mostQuads     = 3  // maximum for one combine kernel
	mostCells     = 1 << 30
	startCells    = 512 // minimum size of the level on which the search for pairs begins
)

// deviceQuads returns the number of quads of vectors for which memory is allocated: the CPU's
// maximum.
func deviceQuads(p *eigenmap.Problem) int { return multigrid.Quads(p.K) + 1 }

// CanDo rejects graphs that the kernels do not support, and problems that take too long or do not
// fit.
func (o OnDevice) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	if err := p.CheckKind(eigenmap.Grid); err != nil {
		return err
	}
	n, q := p.Nodes().Voxels(), int64(deviceQuads(p))
	switch {
	case p.Floor == 0:
		return errors.New("a floor of 0 may leave the graph disconnected, which is not supported; want a floor above 0")
	case n > mostCells:
		return fmt.Errorf("%d voxels; the kernels support at most %d", n, mostCells)
	case q > mostQuads:
		return fmt.Errorf("finds up to %d pairs", multigrid.Lanes*(mostQuads-1))
	case n < 4*multigrid.Lanes*(q+1):
		return fmt.Errorf("%d voxels are too few for a basis; want at least %d", n, 4*multigrid.Lanes*(q+1))
	}
	j := newDeviceJob(p)
	ns := deviceVoxelNS + deviceLinkNS*int64(len(j.offsets)/offsetNumbers)
	if err := c.Allow(quantity.Seconds(float64(n*q*q*ns)*1e-9), "%d voxels × %d² × %d ns", n, q, ns); err != nil {
		return err
	}
	if err := c.AllowMemory(8*n*int64(p.K+2), "the image and %d vectors of %d numbers", p.K, n); err != nil {
		return err
	}
	var bytes int64
	for _, b := range j.buffers() {
		bytes += b.Bytes
	}
	return resident.Fits(d, bytes, fmt.Sprintf("%d vectors of %d numbers", multigrid.Lanes*q, n))
}

// The kernels; gram and combine are followed by a number.
const (
	gridLinks, gridReady, gridSums, gridRandom, gridResidual, gridAnswer = "eigenmap_grid_links",
		"eigenmap_grid_ready", "eigenmap_grid_sums", "eigenmap_grid_random", "eigenmap_grid_residual", "eigenmap_grid_answer"
	gridGram, gridCombine                           = "eigenmap_grid_gram_", "eigenmap_grid_combine_"
	gridBeside, gridMasses, gridSupport, withBeside = "eigenmap_grid_beside",
		"eigenmap_grid_masses", "eigenmap_grid_support", "_beside"
	gridStart, gridSweep, gridRemain = "eigenmap_grid_start",
		"eigenmap_grid_sweep", "eigenmap_grid_remain"
	gridShares, gridCoarsen, gridRestricts, gridInterpolate, gridGuess, gridTail = "eigenmap_grid_shares",
		"eigenmap_grid_coarsen", "eigenmap_grid_restricts", "eigenmap_grid_interpolate", "eigenmap_grid_guess",
		"eigenmap_grid_tail"

	gridBlock, gramBlock = 256, 224
	tailBlock, tailCells = 1024, 4096 // size of levels whose cycle a single block runs, because launches would take longer
	tailKnown, tailWork  = 7, 3       // per cell: numbers of float32, and quads of them
	offsetNumbers        = 4
	gramNumbers          = 13 * 16 // per launch of gram: 13 products of quads, the last of them sums
)

// Setup loads the kernels, prepares the levels, and copies the resident data to the device.
func (o OnDevice) Setup(p *eigenmap.Problem, c bench.Conditions) (_ bench.Job[eigenmap.Map], err error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	kernels := []string{gridBeside, gridMasses, gridSupport, gridResidual + withBeside, gridLinks, gridReady,
		gridSums, gridRandom, gridResidual, gridAnswer, gridStart, gridSweep, gridRemain, gridShares, gridCoarsen,
		gridRestricts, gridInterpolate, gridGuess, gridTail}
	for k := range 4 {
		if kernels = append(kernels, fmt.Sprint(gridGram, k), fmt.Sprint(gridGram, k, withBeside)); k > 0 {
			kernels = append(kernels, fmt.Sprint(gridCombine, k))
		}
	}
	on, err := resident.NewProgram(d, p.Kind, "eigenmap_grid", kernels...)
	if err != nil {
		return nil, err
	}
	j := newDeviceJob(p)
	j.Program, j.Output, j.whole = on, eigenmap.NewOutput(p), c.Scope == bench.E2E
	if j.most = multigrid.MostIterations; o.most > 0 {
		j.most = o.most
	}
	for _, b := range j.buffers() {
		*b.To = j.Alloc(b.Name, b.Bytes)
	}
	if err = j.Err(); err == nil && len(j.offsets) > 0 {
		err = j.Stream.Upload(j.far, 0, grid.Bytes(j.offsets))
	}
	if err == nil && !j.whole {
		err = j.bring()
	}
	if err != nil {
		return nil, errors.Join(err, on.Close())
	}
	return j, nil
}

var _ bench.DeviceJob = (*deviceJob)(nil)

type deviceJob struct {
	*resident.Program
	eigenmap.Output
	p      *eigenmap.Problem
	most   int // iterations
	whole  bool
	levels []*deviceLevel
	// For neighbours without a common face: their offsets (four numbers each), and the same on the
	// device. Then the links to them, and the face links that support them in the cycle.
	offsets                []int32
	far, others, supported device.Buffer

	tail int // the first of the levels whose cycle a single block runs

	image, parts, totals, coefficients, answer device.Buffer
	known, work                                device.Buffer // data of the tail, level by level
	masses                                     float64       // sum over all cells
	iterations                                 int           // on the finest level
}

// A deviceLevel is a level on a device. Lists of quads of vectors are stored one after the other.
type deviceLevel struct {
	nx, ny, nz            int64
	before                int64         // cells of the earlier levels of the tail
	links, mass           device.Buffer // in float64
	narrow, inv, shares   device.Buffer
	f, u                  device.Buffer   // of the cycle; it ends in w
	x, w, p               []device.Buffer // by quads
	quads                 int
	values, residuals     []float64
	gramShape, marchShape shape
}

// A shape is the division of a level into blocks.
type shape struct{ across, length, blocks, threads int64 }

func (l *deviceLevel) cells() int64 { return l.nx * l.ny * l.nz }

// threadsAcross returns the binary logarithm of the number of threads along x.
func (l *deviceLevel) threadsAcross() (n int64) {
	for n < 5 && 1<<n < l.nx {
		n++
	}
	return n
}

// marching returns the shape for kernels that step through the planes, without more threads than
// columns.
func (l *deviceLevel) marching() shape {
	rows := l.ny
	if rows == 1 {
		rows = l.nz
	}
	return l.shapeOf(upTo(gridBlock, rows<<l.threadsAcross()))
}

// upTo returns the number of threads of a block for some items: whole warps, and at most the given
// maximum.
func upTo(most, some int64) int64 {
	const warp = 32
	return min(most, warp*grid.CeilDiv(some, warp))
}

// enoughBlocks is the number of blocks that keeps a device busy.
const enoughBlocks = 1024

// shapeOf gives each block a run of planes. Runs are short enough to give many blocks.
func (l *deviceLevel) shapeOf(threads int64) shape {
	s := shape{across: l.threadsAcross(), threads: threads}
	columns, deep := grid.CeilDiv(l.nx, 1<<s.across)*grid.CeilDiv(l.ny, threads>>s.across), int64(1)
	if l.ny == 1 {
		deep = threads >> s.across
	}
	for s.length = 32; s.length > 1 && columns*grid.CeilDiv(l.nz, deep*s.length) < enoughBlocks; {
		s.length /= 2
	}
	s.blocks = columns * grid.CeilDiv(l.nz, deep*s.length)
	return s
}

func (l *deviceLevel) space(s shape) []any {
	return []any{int32(l.nx), int32(l.ny), int32(l.nz), int32(s.across), int32(s.length)}
}

func (l *deviceLevel) size() []any { return []any{int32(l.nx), int32(l.ny), int32(l.nz)} }

// newDeviceJob makes a job with its levels, but without memory.
func newDeviceJob(p *eigenmap.Problem) *deviceJob {
	j, s, room := &deviceJob{p: p, offsets: deviceOffsets(p)}, p.Shape(), deviceQuads(p)
	n := [3]int64{s.W, s.H, s.D}
	if s.D == 1 { // rows are processed like planes
		n = [3]int64{s.W, 1, s.H}
	}
	for {
		l := &deviceLevel{nx: n[0], ny: n[1], nz: n[2], x: make([]device.Buffer, room), w: make([]device.Buffer, room),
			p: make([]device.Buffer, room)}
		l.gramShape, l.marchShape = l.shapeOf(gramBlock), l.marching()
		if j.levels = append(j.levels, l); l.cells() == 1 {
			break
		}
		for a := range n {
			n[a] = grid.CeilDiv(n[a], 2)
		}
	}
	j.tail = slices.IndexFunc(j.levels, func(l *deviceLevel) bool { return l.cells() <= tailCells })
	before := int64(0)
	for _, l := range j.levels[j.tail:] {
		l.before = before
		before += l.cells()
	}
	return j
}

// buffers lists all buffers of a job.
func (j *deviceJob) buffers() (list []ondevice.Buffer) {
	add := func(to *device.Buffer, name string, bytes int64) {
		list = append(list, ondevice.Buffer{To: to, Name: name, Bytes: bytes})
	}
	room, parts := deviceQuads(j.p), int64(1)
	for _, l := range j.levels {
		c := l.cells()
		parts = max(parts, gramNumbers*l.gramShape.blocks, multigrid.Lanes*l.marchShape.blocks, grid.CeilDiv(c, gridBlock))
		add(&l.links, "links", 8*3*c)
		add(&l.mass, "masses", 8*c)
		add(&l.narrow, "links in float32", 4*3*c)
		add(&l.inv, "diagonal", 4*c)
		add(&l.shares, "shares", 4*3*c)
		add(&l.f, "right side", 4*multigrid.Lanes*c)
		add(&l.u, "values", 4*multigrid.Lanes*c)
		for q := range room {
			add(&l.x[q], "vectors", 8*multigrid.Lanes*c)
			add(&l.w[q], "directions", 4*multigrid.Lanes*c)
			add(&l.p[q], "last changes", 4*multigrid.Lanes*c)
		}
	}
	last := j.levels[len(j.levels)-1]
	few := last.before + last.cells()
	add(&j.known, "levels of few cells", 4*tailKnown*few)
	add(&j.work, "values of few cells", 4*multigrid.Lanes*tailWork*few)
	c, n := j.levels[0].cells(), int64(len(j.offsets)/offsetNumbers)
	add(&j.far, "offsets of neighbours", 4*offsetNumbers*n)
	add(&j.others, "links to them", 8*n*c)
	add(&j.supported, "links for them", 8*3*c*min(n, 1))
	add(&j.image, "image", 8*c)
	add(&j.parts, "parts of sums", 8*parts)
	add(&j.totals, "sums", 8*gramNumbers*int64(len(triples(3*room))))
	add(&j.coefficients, "coefficients", 8*int64(multigrid.Lanes*room)*int64(3*multigrid.Lanes*room+2))
	add(&j.answer, "vectors of the answer", 8*c*int64(j.p.K))
	return list
}

// deviceOffsets lists the offsets of a voxel's later neighbours without a common face, along the
// axes of the device, with their distance in memory.
func deviceOffsets(p *eigenmap.Problem) (list []int32) {
	s := p.Shape()
	for _, o := range multigrid.Farther(p) {
		x, y, z := int64(o[0]), int64(o[1]), int64(o[2])
		by := int32((z*s.H+y)*s.W + x)
		if s.D == 1 { // rows are processed like planes
			y, z = z, y
		}
		list = append(list, int32(x), int32(y), int32(z), by)
	}
	return list
}

// cornerArguments returns the kernel arguments of the links that are not between faces.
func (j *deviceJob) cornerArguments() []any {
	return []any{j.far, int32(len(j.offsets) / offsetNumbers), j.others}
}

// kernelFor returns a kernel's name on a level and its last arguments: all links, if some are not
// between faces.
func (j *deviceJob) kernelFor(l *deviceLevel, kernel string) (string, []any) {
	if l != j.levels[0] || len(j.offsets) == 0 {
		return kernel, nil
	}
	return kernel + withBeside, j.cornerArguments()
}

// bring scales the image to numbers from 0 to 1 and copies it to the device.
func (j *deviceJob) bring() error {
	values, err := j.p.Numbers()
	if err != nil {
		return err
	}
	multigrid.FromZeroToOne(values, runtime.GOMAXPROCS(0))
	return j.Stream.Upload(j.image, 0, grid.Bytes(values))
}

// Do computes the answer on the device and copies the vectors to the host. If the scope includes
// it, Do first copies the image to the device.
func (j *deviceJob) Do(trace *bench.Trace) error {
	if j.whole {
		if err := trace.Do("image", j.bring); err != nil {
			return err
		}
	}
	if err := errors.Join(j.Timed(func() error { return j.solve(trace) }), j.Stream.Wait()); err != nil {
		return err
	}
	defer trace.Span("vectors")()
	n := j.levels[0].cells()
	for k, x := range j.Vectors {
		if err := j.Stream.Download(grid.Bytes(x), j.answer, 8*n*int64(k)); err != nil {
			return err
		}
	}
	return nil
}

// Poison overwrites the buffers that Out reads, and those from which they are computed.
func (j *deviceJob) Poison() {
	const poison = 0x5a
	j.Output.Poison()
	all := []device.Buffer{j.parts, j.totals, j.coefficients, j.answer, j.known, j.work, j.others, j.supported}
	for _, l := range j.levels {
		all = append(append(append(append(all, l.links, l.mass, l.narrow, l.inv, l.shares, l.f, l.u), l.x...), l.w...),
			l.p...)
	}
	j.Fill(poison, all...)
}

// Close frees the device's memory and kernels. That of bench.Output, which is embedded less deep, does nothing.
func (j *deviceJob) Close() error { return j.Program.Close() }

// each launches a kernel with one thread per cell.
func (j *deviceJob) each(kernel string, cells int64, args ...any) error {
	return j.Launch(kernel, grid.CeilDiv(cells, gridBlock), upTo(gridBlock, cells), 0, args...)
}

// march launches a kernel that steps through the planes of a level.
func (j *deviceJob) march(kernel string, l *deviceLevel, args ...any) error {
	s := l.marchShape
	return j.Launch(kernel, s.blocks, s.threads, 0, append(l.space(s), args...)...)
}

// addUp sums the parts of several numbers and stores the sums in the totals, from an index on.
func (j *deviceJob) addUp(numbers int, each int64, at int) error {
	return j.Launch(gridSums, int64(numbers), upTo(gridBlock, each), 0, j.parts, int32(each), j.totals, int32(at))
}

// read waits for the totals.
func (j *deviceJob) read(numbers int) ([]float64, error) {
	list := make([]float64, numbers)
	return list, j.Stream.Download(grid.Bytes(list), j.totals, 0)
}

// build computes the links of all levels.
func (j *deviceJob) build() error {
	l := j.levels[0]
	floor, over, links := j.p.Floor, -1/(j.p.Sigma*j.p.Sigma), l.links
	err := j.each(gridLinks, l.cells(), append(append([]any{j.image}, l.space(l.marchShape)...), over, floor, l.links)...)
	if len(j.offsets) > 0 {
		links = j.supported
		err = errors.Join(err,
			j.each(gridBeside, l.cells(), append(append(append([]any{j.image}, l.space(l.marchShape)...), over, floor),
				j.cornerArguments()...)...),
			j.each(gridSupport, l.cells(), append(append([]any{l.links}, l.space(l.marchShape)...),
				append(j.cornerArguments(), links)...)...))
	}
	err = errors.Join(err,
		j.each(gridMasses, l.cells(), append(append(append([]any{l.links}, l.space(l.marchShape)...), j.cornerArguments()...),
			l.mass, device.Flag(j.p.Plain), j.parts)...),
		j.addUp(1, grid.CeilDiv(l.cells(), gridBlock), 0))
	if err != nil {
		return err
	}
	all, err := j.read(1)
	if err != nil {
		return err
	}
	j.masses = all[0]
	for k, l := range j.levels {
		if err := j.each(gridReady, l.cells(), append(append([]any{links}, l.space(l.marchShape)...), l.narrow,
			l.inv)...); err != nil {
			return err
		}
		if k+1 == len(j.levels) {
			break
		}
		c := j.levels[k+1]
		if err := errors.Join(
			j.each(gridShares, l.cells(), append(l.size(), links, l.shares)...),
			j.each(gridCoarsen, c.cells(), append(l.size(), links, l.shares, l.mass, c.links, c.mass)...)); err != nil {
			return err
		}
		links = c.links
	}
	for _, l := range j.levels[j.tail:] {
		at, n := 4*tailKnown*l.before, 4*l.cells()
		if err := errors.Join(
			j.Stream.Copy(j.known, at, l.narrow, 0, 3*n),
			j.Stream.Copy(j.known, at+3*n, l.inv, 0, n),
			j.Stream.Copy(j.known, at+4*n, l.shares, 0, 3*n)); err != nil {
			return err
		}
	}
	return nil
}

// Numbers of smoothing sweeps per direction of a cycle, which must be odd. The finest level uses
// more after a few iterations, because sweeps cost a device less than the products of another
// iteration.
const sweeps, oftenSweeps = 3, 11

// cycle sets end to an approximate solution for the right side f of a level.
func (j *deviceJob) cycle(k, often int, end device.Buffer) error {
	l := j.levels[k]
	if k >= j.tail {
		return j.Launch(gridTail, 1, upTo(tailBlock, l.cells()), 0,
			append(l.size(), j.known, int32(l.before), l.f, j.work, end)...)
	}
	if k == len(j.levels)-1 {
		return j.Stream.Fill(end, 0, end.Bytes(), 0) // a single cell: any constant is a solution
	}
	c := j.levels[k+1]
	from, to := end, l.u
	sweep := func(number int, anew int32) error {
		err := j.march(gridSweep, l, l.narrow, l.inv, l.f, from, to, int32(number), anew)
		from, to = to, from
		return err
	}
	err := errors.Join(j.march(gridStart, l, l.narrow, l.inv, l.f, end), sweep(3, 1))
	for number := 4; number <= often; number++ {
		err = errors.Join(err, sweep(number, 0))
	}
	err = errors.Join(err,
		j.march(gridRemain, l, l.narrow, l.f, l.u, end),
		j.restrict(l, c, end),
		j.cycle(k+1, sweeps, c.w[0]),
		j.interpolate(l, c))
	for number := 1; number <= often; number++ {
		err = errors.Join(err, sweep(number, 0))
	}
	return err
}

// restrict sets the right side of the next level to the residual.
func (j *deviceJob) restrict(l, c *deviceLevel, rest device.Buffer) error {
	return j.each(gridRestricts, c.cells(), append(l.size(), l.shares, rest, c.f)...)
}

// interpolate adds the result of the next level's cycle.
func (j *deviceJob) interpolate(l, c *deviceLevel) error {
	return j.each(gridInterpolate, l.cells(), append(l.size(), l.shares, c.w[0], l.u)...)
}

// triples lists triples of n numbers such that every pair is in one of them.
func triples(n int) (list [][3]int) {
	if n == 1 {
		return [][3]int{{}}
	}
	covered := map[[2]int]bool{}
	for a := range n {
		for b := a + 1; b < n; b++ {
			if covered[[2]int{a, b}] {
				continue
			}
			third, most := b, 0
			for c := range n {
				gain := 0
				for _, o := range []int{a, b} {
					if c != o && !covered[[2]int{min(o, c), max(o, c)}] {
						gain++
					}
				}
				if c != a && c != b && gain > most {
					third, most = c, gain
				}
			}
			t := [3]int{a, b, third}
			slices.Sort(t[:])
			covered[[2]int{t[0], t[1]}], covered[[2]int{t[0], t[2]}], covered[[2]int{t[1], t[2]}] = true, true, true
			list = append(list, t)
		}
	}
	return list
}

// A basis is a list of quads of vectors. The first ones are x, in float64.
type basis struct {
	lists []device.Buffer
	wide  int
}

func (l *deviceLevel) basis(withW, withP bool) basis {
	b := basis{slices.Clone(l.x[:l.quads]), l.quads}
	if withW {
		b.lists = append(b.lists, l.w[:l.quads]...)
	}
	if withP {
		b.lists = append(b.lists, l.p[:l.quads]...)
	}
	return b
}

// products returns the inner products of all vectors of a basis without their kernel components: by
// mass, and by A. It also returns the kernel component of each vector.
func (j *deviceJob) products(l *deviceLevel, b basis) (gram2, energy *mat.SymDense, kernel []float64, err error) {
	list := triples(len(b.lists))
	for at, t := range list {
		wide := 0
		for _, i := range t {
			if i < b.wide {
				wide++
			}
		}
		args := append([]any{b.lists[t[0]], b.lists[t[1]], b.lists[t[2]]}, l.space(l.gramShape)...)
		kernel, others := j.kernelFor(l, fmt.Sprint(gridGram, wide))
		if err := errors.Join(
			j.Launch(kernel, l.gramShape.blocks, gramBlock, 0, append(append(args, l.links, l.mass, j.parts), others...)...),
			j.addUp(gramNumbers, l.gramShape.blocks, at*gramNumbers)); err != nil {
			return nil, nil, nil, err
		}
	}
	all, err := j.read(len(list) * gramNumbers)
	if err != nil {
		return nil, nil, nil, err
	}
	n := multigrid.Lanes * len(b.lists)
	gram2, energy, kernel = mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), make([]float64, n)
	const pairs, each = 6, multigrid.Lanes * multigrid.Lanes
	for at, t := range list {
		numbers := all[at*gramNumbers:][:gramNumbers]
		for i, of := range t {
			copy(kernel[multigrid.Lanes*of:], numbers[2*pairs*each+multigrid.Lanes*i:][:multigrid.Lanes])
		}
		for k, pair := range [pairs][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}} {
			one, other := multigrid.Lanes*t[pair[0]], multigrid.Lanes*t[pair[1]]
			for r := range multigrid.Lanes {
				for c := range multigrid.Lanes {
					if one != other || c >= r {
						gram2.SetSym(one+r, other+c, numbers[k*each+multigrid.Lanes*r+c])
						energy.SetSym(one+r, other+c, numbers[(pairs+k)*each+multigrid.Lanes*r+c])
					}
				}
			}
		}
	}
	for r := range n {
		for c := r; c < n; c++ {
			gram2.SetSym(r, c, gram2.At(r, c)-kernel[r]*kernel[c]/j.masses)
		}
	}
	return gram2, energy, kernel, nil
}

// combine sets x and p to linear combinations of a basis, without their kernel components.
func (j *deviceJob) combine(l *deviceLevel, c *mat.Dense, kernel []float64) error {
	n := multigrid.Lanes * l.quads
	rows, _ := c.Dims()
	all := make([]float64, 3*n*n+2*n)
	for r := range rows {
		for k := range n {
			v := c.At(r, k)
			all[r*n+k] = v
			shift := &all[3*n*n+k] // for x; for p it follows
			if r >= n {
				shift = &all[3*n*n+n+k]
			}
			*shift += v * kernel[r] / j.masses
		}
	}
	if err := j.Stream.Upload(j.coefficients, 0, grid.Bytes(all)); err != nil {
		return err
	}
	var args []any
	for _, list := range [][]device.Buffer{l.x, l.w, l.p} {
		for _, b := range list[:l.quads] {
			args = append(args, b)
		}
	}
	return j.each(fmt.Sprint(gridCombine, l.quads), l.cells(),
		append(args, int32(l.cells()), j.coefficients, device.Flag(rows > n), device.Flag(rows > 2*n))...)
}

// begin makes the current vectors an orthonormal approximation of the level's pairs.
func (j *deviceJob) begin(l *deviceLevel) error { return j.improve(l, l.basis(false, false)) }

// improve replaces the vectors by the lowest pairs of a basis.
func (j *deviceJob) improve(l *deviceLevel, b basis) error {
	gram2, energy, kernel, err := j.products(l, b)
	if err != nil {
		return err
	}
	values, c, err := multigrid.Ritz(gram2, energy, multigrid.Lanes*l.quads)
	if err != nil {
		return err
	}
	l.values = values
	return j.combine(l, c, kernel)
}

// seed sets the quads of x from an index on to smoothed random vectors.
func (j *deviceJob) seed(k, from int) error {
	l := j.levels[k]
	c := mat.NewDense(2*multigrid.Lanes*l.quads, multigrid.Lanes*l.quads, nil)
	for q := range l.quads {
		row := q * multigrid.Lanes
		if q >= from {
			row += l.quads * multigrid.Lanes
		}
		for i := range multigrid.Lanes {
			c.Set(row+i, q*multigrid.Lanes+i, 1)
		}
		if q < from {
			continue
		}
		if err := errors.Join(
			j.Stream.Fill(l.x[q], 0, l.x[q].Bytes(), 0),
			j.each(gridRandom, l.cells(), int32(l.cells()), int64(q), l.f),
			j.cycle(k, sweeps, l.w[q])); err != nil {
			return err
		}
	}
	for q := range from {
		if err := j.Stream.Fill(l.w[q], 0, l.w[q].Bytes(), 0); err != nil {
			return err
		}
	}
	return j.combine(l, c, make([]float64, 2*multigrid.Lanes*l.quads))
}

// setResidual sets the f of a level to the residuals of a quad of vectors.
func (j *deviceJob) setResidual(l *deviceLevel, q int) error {
	v := l.values[multigrid.Lanes*q:]
	kernel, others := j.kernelFor(l, gridResidual)
	return errors.Join(
		j.march(kernel, l, append([]any{l.x[q], l.links, l.mass, v[0], v[1], v[2], v[3], l.f, j.parts}, others...)...),
		j.addUp(multigrid.Lanes, l.marchShape.blocks, multigrid.Lanes*q))
}

// remainders computes the norms of all residuals. Afterwards f has the residuals of the last quad.
func (j *deviceJob) remainders(l *deviceLevel) error {
	for q := range l.quads {
		if err := j.setResidual(l, q); err != nil {
			return err
		}
	}
	squares, err := j.read(multigrid.Lanes * l.quads)
	if err != nil {
		return err
	}
	l.residuals = l.residuals[:0]
	for _, v := range squares {
		l.residuals = append(l.residuals, multigrid.Root(v))
	}
	return nil
}

// iterate runs LOBPCG until the residuals of the wanted pairs are small enough.
func (j *deviceJob) iterate(k, wanted, most int, enough func(value, residual float64) bool) error {
	l, withP := j.levels[k], false
	for range most {
		if err := j.remainders(l); err != nil {
			return err
		}
		done := true
		for i := range wanted {
			done = done && enough(l.values[i], l.residuals[i])
		}
		if done {
			return nil
		}
		if k == 0 {
			j.iterations++
		}
		often := sweeps
		if k == 0 && j.iterations > multigrid.Soon && len(j.offsets) == 0 {
			often = oftenSweeps
		}
		for q := l.quads - 1; q >= 0; q-- {
			if q < l.quads-1 {
				if err := j.setResidual(l, q); err != nil {
					return err
				}
			}
			if err := j.cycle(k, often, l.w[q]); err != nil {
				return err
			}
		}
		if err := j.improve(l, l.basis(true, withP)); err != nil {
			return err
		}
		withP = true
	}
	return multigrid.ErrUnfinished
}

// guess computes a first guess for the finest level. It starts on a coarse level, where pairs are
// found quickly.
func (j *deviceJob) guess(wanted int) error {
	n := multigrid.Quads(wanted + 1)
	first := 0
	for first+1 < len(j.levels) && j.levels[first+1].cells() >= startCells {
		first++
	}
	roughly := func(value, residual float64) bool { return residual < 0.05*value }
	for k := first; k > 0; k-- {
		l, most := j.levels[k], 6
		if l.quads = n; k == first {
			l.quads, most = n+1, 2*multigrid.Patience
			if err := j.seed(k, 0); err != nil {
				return err
			}
		}
		if err := j.begin(l); err != nil {
			return err
		}
		vectors := multigrid.Lanes*l.quads - multigrid.Lanes/2
		if err := j.iterate(k, vectors, most, roughly); err != nil && !errors.Is(err, multigrid.ErrUnfinished) {
			return err
		}
		if k == first {
			if next, last := l.values[multigrid.Lanes*n], l.values[wanted-1]; next-last < multigrid.EnoughGap*next {
				n++
			}
		}
		finer := j.levels[k-1]
		for q := range n {
			if err := j.each(gridGuess, finer.cells(), append(finer.size(), finer.shares, l.x[q], finer.x[q])...); err != nil {
				return err
			}
		}
	}
	j.levels[0].quads = n
	if first == 0 {
		return j.seed(0, 0)
	}
	return nil
}

// solve computes the values, and the vectors on the device.
func (j *deviceJob) solve(trace *bench.Trace) error {
	if err := trace.Do("levels", j.build); err != nil {
		return err
	}
	l, wanted := j.levels[0], j.p.K-1
	j.Values[0], j.iterations = 0, 0
	if l.quads = 0; wanted > 0 {
		if err := trace.Do("guess", func() error { return j.guess(wanted) }); err != nil {
			return err
		}
	}
	defer trace.Span("solve")()
	if wanted > 0 {
		if err := j.pairs(wanted); err != nil {
			return err
		}
	}
	for k := range wanted {
		j.Values[1+k] = l.values[k]
	}
	kernel := 1 / math.Sqrt(j.masses)
	for q := range max(1, l.quads) {
		if err := j.each(gridAnswer, l.cells(), l.x[q], int32(l.cells()), l.mass, kernel, int32(0),
			int32(wanted-multigrid.Lanes*q), int32(multigrid.Lanes*q+1), j.answer); err != nil {
			return err
		}
		kernel = 0
	}
	return nil
}

// pairs computes the given number of pairs on the finest level from a first guess.
func (j *deviceJob) pairs(found int) error {
	l, wanted := j.levels[0], j.p.K-1
	tol := j.p.Tol * 0.9 // margin for rounding
	for range 3 {
		if err := j.begin(l); err != nil {
			return err
		}
		enough := func(value, residual float64) bool { return residual <= multigrid.Limit(tol, value) }
		err := j.iterate(0, found, min(multigrid.Patience, j.most), enough)
		if errors.Is(err, multigrid.ErrUnfinished) && j.most > multigrid.Patience {
			if l.quads <= multigrid.Quads(wanted+1) {
				l.quads++
				if err := errors.Join(j.seed(0, l.quads-1), j.begin(l)); err != nil {
					return err
				}
			}
			err = j.iterate(0, found, j.most, enough)
		}
		if errors.Is(err, multigrid.ErrUnfinished) {
			return bench.Limitf("%d iterations leave residuals up to %.3g, not %.3g: ask for a larger tolerance",
				j.iterations, multigrid.Largest(l.residuals[:found]), j.p.Tol)
		}
		if err != nil {
			return err
		}
		// Rounding accumulates, so make the pairs orthonormal once more.
		if err := errors.Join(j.begin(l), j.remainders(l)); err != nil {
			return err
		}
		if multigrid.Largest(l.residuals[:found]) <= j.p.Tol {
			return nil
		}
		tol /= 2
	}
	return bench.Limitf("residuals stay at %.3g, not %.3g: ask for a larger tolerance",
		multigrid.Largest(l.residuals[:found]), j.p.Tol)
}
