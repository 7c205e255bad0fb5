package gpu

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
)

// Operations of kernels/gvf/gvf_steady.cu, in the order of its numbers.
const (
	opSource = iota
	opCoarsen
	opGiven
	opRestricts
	opSolve
	opDown
	opUp
	opSmooth
	opRemain
	opTurn
	opAdvance
	opDescend
	opAscend
)

// Flags of an entry.
const (
	alone = 1 << iota
	ofCycle
	meets
	sumsUp
	finestX
)

// The lists of a level.
const (
	inF = iota
	inZ
	inT
	inP
	inX
	lists
)

type entry struct{ what, level, from, to, flags int64 }

const (
	ofLevel   = 14
	fewCells  = 4096    // a level that one block can process alone
	manyCells = 1 << 17 // above this, each pass over a level is a launch with as many blocks as memory speed needs
	mostSteps = 100
	atOnce    = 4       // steps that are launched before the host tests for convergence
	mostParts = 1 << 13 // maximum number of blocks of such a launch
)

// launches lists, for passes that are launches: the kernel, the number of a row's cells per thread,
// and whether there is a kernel for uniform cells.
var launches = map[int64]struct {
	kernel string
	cells  int64
	alike  bool
}{
	opSource: {"source", 4, false}, opCoarsen: {"coarsen", 2, false}, opGiven: {"given", 4, false},
	opRestricts: {"restricts", 2, false}, opDown: {"down", 4, true}, opUp: {"up", 4, false},
	opSmooth: {"smooth", 4, true}, opRemain: {"remain", 4, true}, opTurn: {"turn", 4, true},
	opAdvance: {"advance", 4, true},
}

const alike = "_alike"

// A ladder is the levels of an image on the device, and the operations on them.
type ladder struct {
	components int64
	blocks     int64     // number of blocks; all run at the same time
	many       int64     // number of levels with many cells
	alike      []bool    // per level: its cells are uniform, and its rows are multiples of four
	threads    int       // per block, as a binary logarithm
	plan       []int64   // ofLevel numbers per level
	tables     []float32 // data of the axes
	arena      int64     // total size of all lists, in numbers
	tape       []entry
	once       int64 // number of initial entries; the rest is repeated
}

// newLadder makes the levels for a device. A 2D image has its rows along the third axis, so that
// threads process them like planes.
func newLadder(p *gvf.Problem, boundary gvf.Boundary, d device.Info, manyCells int64) *ladder {
	s, mu := p.Shape(), float64(p.Mu)
	l := &ladder{components: int64(p.Dim()), blocks: int64(d.SMs),
		threads: bits.Len(uint(min(256, d.ThreadsPerBlock))) - 1}
	n := [3]int64{s.W, s.H, s.D}
	if p.Dim() == 2 {
		n = [3]int64{s.W, 1, s.H}
	}
	var axes [3]gvf.Axis
	for a := range axes {
		axes[a] = gvf.FinestAxis(n[a], mu, boundary)
	}
	levels, bottom := int64(0), int64(-1)
	for {
		cells := n[0] * n[1] * n[2]
		few := cells <= fewCells
		if few && bottom < 0 {
			bottom = levels
		}
		levels++
		stride, each := n[0], int64(1)
		if p.Dim() == 3 && n[0] >= 4 { // threads have four cells of a row, which starts at a multiple of four
			stride, each = grid.CeilDiv(n[0], 4)*4, 4
		}
		if each == 4 && cells > manyCells && cells > fewCells {
			l.many++
		}
		across, rows, runs, length := l.tile([3]int64{grid.CeilDiv(n[0], each), n[1], n[2]}, few, l.many == levels)
		l.plan = append(l.plan, n[0], n[1], n[2], across, rows, runs, length, stride, each)
		next, same := axes, n[0]%4 == 0
		for a := range axes {
			same = same && uniform(axes[a])
			l.plan = append(l.plan, int64(len(l.tables)))
			near, far := make([]float64, n[a]), make([]float64, n[a])
			if cells > 1 {
				next[a], near, far = axes[a].Coarser(mu)
			}
			for _, list := range [][]float64{axes[a].Width, axes[a].Link, near, far} {
				table := make([]float32, n[a]+4)
				for i, v := range list {
					table[i] = float32(v)
				}
				l.tables = append(l.tables, table...)
			}
		}
		l.alike = append(l.alike, same)
		room := stride * n[1] * n[2]
		l.plan = append(l.plan, l.arena, l.arena+lists*l.components*room)
		l.arena += (lists*l.components + 1) * room
		if cells == 1 {
			break
		}
		axes = next
		for a := range n {
			n[a] = (n[a] + 1) / 2
		}
	}
	l.write(levels, bottom)
	return l
}

// uniform reports whether an axis has two or more cells of one width and with one link.
func uniform(a gvf.Axis) bool {
	for i, w := range a.Width {
		if w != a.Width[0] || i > 0 && a.Link[i] != a.Link[1] {
			return false
		}
	}
	return len(a.Width) > 1
}

// tile returns the arrangement of a block's threads in a level, as binary logarithms, and the
// number of planes that each processes.
func (l *ladder) tile(n [3]int64, few, many bool) (across, rows, runs, length int64) {
	all, log := int64(l.threads), func(n int64) int64 { return int64(bits.Len64(uint64(n - 1))) }
	// Prefer the width of the rows, because memory is faster then, unless more threads would be
	// idle.
	items := int64(math.MaxInt64)
	for high := min(2, log(n[1])); high <= min(4, log(n[1])); high++ {
		wide := min(all-high, log(n[0]))
		if tiles := grid.CeilDiv(n[0], 1<<wide) * grid.CeilDiv(n[1], 1<<high) << (wide + high); tiles < items {
			items, across, rows = tiles, wide, high
		}
	}
	rows = min(all-across, log(n[1]))
	runs = all - across - rows
	items = grid.CeilDiv(n[0], 1<<across) * grid.CeilDiv(n[1], 1<<rows)
	// The blocks run in rounds. A thread's start costs as much as some planes. It reads four planes
	// at a time or, if a multiprocessor has two blocks, at the speed of memory. Runs start at even
	// planes.
	together, cost := l.blocks, func(planes int64) int64 { return 1 + grid.CeilDiv(planes, 4) }
	if many {
		together, cost = 2*l.blocks, func(planes int64) int64 { return planes + 6 }
	}
	if few {
		together = 1
	} else {
		items *= l.components
	}
	least := int64(math.MaxInt64)
	for _, planes := range []int64{4, 2, 8, 12, 16, 20, 24, 28, 32, 48, 64} {
		if c := grid.CeilDiv(items*grid.CeilDiv(grid.CeilDiv(n[2], planes), 1<<runs), together) * cost(planes); c < least {
			least, length = c, planes
		}
	}
	return across, rows, runs, length
}

// write writes the operations: full multigrid once, then steps of conjugate gradients.
func (l *ladder) write(levels, bottom int64) {
	add := func(e entry) {
		if e.level >= bottom && e.what != opSource && e.what != opCoarsen && e.what != opGiven && e.what != opTurn &&
			e.what != opAdvance {
			e.flags |= alone
		}
		l.tape = append(l.tape, e)
	}
	flat := l.components == 2
	// cycle writes a V-cycle from 0 for the right side in inF. Its result is added to the list to.
	cycle := func(from, to, flags int64) {
		for k := from; k < levels-1; k++ {
			if flat {
				add(entry{what: opDescend, level: k, flags: ofCycle})
				continue
			}
			add(entry{what: opDown, level: k, flags: ofCycle})
			add(entry{what: opRestricts, level: k, from: inT, to: inF, flags: ofCycle})
		}
		add(entry{what: opSolve, level: levels - 1, from: inF, to: inZ, flags: ofCycle})
		for k := levels - 2; k >= from; k-- {
			e := entry{what: opAscend, level: k, to: inZ, flags: ofCycle}
			if !flat {
				add(entry{what: opUp, level: k, from: inZ, to: inT, flags: ofCycle})
				e.what = opSmooth
			}
			if k == from {
				e.to, e.flags = to, e.flags|flags
			}
			add(e)
		}
	}
	add(entry{what: opSource, flags: sumsUp})
	for k := range levels - 1 {
		add(entry{what: opCoarsen, level: k})
	}
	add(entry{what: opGiven, to: inF})
	for k, from := int64(0), int64(inF); k < levels-1; k, from = k+1, inP {
		add(entry{what: opRestricts, level: k, from: from, to: inP})
	}
	if levels > 1 {
		add(entry{what: opSolve, level: levels - 1, from: inP, to: inX})
		for k := levels - 2; k > 0; k-- {
			add(entry{what: opUp, level: k, from: inX, to: inX})
			add(entry{what: opRemain, level: k, from: inX, to: inP})
			cycle(k, inX, 0)
		}
		add(entry{what: opUp, from: inX, to: inX, flags: finestX})
	}
	l.once = int64(len(l.tape))
	add(entry{what: opAdvance, flags: sumsUp})
	cycle(0, inZ, sumsUp)
	add(entry{what: opTurn, flags: sumsUp})
	l.setMeetings()
}

// setMeetings marks the operations after which all blocks meet, unless one block alone runs it and the next one.
func (l *ladder) setMeetings() {
	for i := range l.tape {
		next := i + 1
		if next == len(l.tape) {
			next = int(l.once)
		}
		if l.tape[i].flags&alone == 0 || l.tape[next].flags&alone == 0 {
			l.tape[i].flags |= meets
		}
	}
}

// A leg is a range of entries in one launch: entries that all blocks process together, or a single
// pass.
type leg struct {
	from, to int64
	launch   device.Launch
	function device.Function
	meetings int64
}

// legs divides a range of entries into legs. It is a single leg if no level has many cells.
func (l *ladder) legs(from, to int64, kernels map[string]device.Function) (list []leg) {
	block := device.Dim{X: 1 << l.threads}
	for i := from; i < to; i++ {
		e := l.tape[i]
		if e.level < l.many {
			kernel := launches[e.what].kernel
			if launches[e.what].alike && l.alike[e.level] {
				kernel += alike
			}
			list = append(list, leg{i, i + 1, device.Launch{Grid: device.Dim{X: min(l.items(e), mostParts)}, Block: block},
				kernels[kernel], 0})
			continue
		}
		if n := len(list); n == 0 || list[n-1].to != i || l.tape[i-1].level < l.many {
			list = append(list, leg{i, i, device.Launch{Grid: device.Dim{X: l.blocks}, Block: block}, kernels[""], 0})
		}
		last := &list[len(list)-1]
		if last.to > last.from && l.tape[i-1].flags&meets != 0 {
			last.meetings++
		}
		last.to++
	}
	return list
}

// items returns the number of blocks that have work in an entry's level.
func (l *ladder) items(e entry) int64 {
	level := e.level
	if e.what == opCoarsen || e.what == opRestricts {
		level++
	}
	p := l.plan[ofLevel*level:]
	return grid.CeilDiv(grid.CeilDiv(p[0], launches[e.what].cells), 1<<p[3]) * grid.CeilDiv(p[1],
		1<<p[4]) * grid.CeilDiv(grid.CeilDiv(p[2], p[6]), 1<<p[5]) * l.components
}

// A solver is the state of a ladder on the device.
type solver struct {
	*ladder
	// by pass; "" is the combined one
	kernels                                                      map[string]device.Function
	first, step                                                  []leg
	arena, tables, plan, tape, parts, met, done, state, verdicts device.Buffer
	tol                                                          float64
	most                                                         int64
	report                                                       device.Pinned
}

const (
	reportBytes = 8 * 7 // number of steps; per component the squared norms of the residual and of b·V0
	stateBytes  = 256   // shared state of the blocks; it begins with the end flag
)

// bytes returns the approximate device memory of a solver.
func (l *ladder) bytes() int64 { return 4*l.arena + 1<<21 }

func (j *job) newSolver() error {
	s := &solver{tol: j.p.Tol, most: mostSteps}
	j.solver = s
	boundary := j.p.Boundary
	switch j.fault {
	case BorderOff:
		boundary = gvf.Third - boundary
	case Early:
		s.most = 0
	}
	s.ladder = newLadder(j.p, boundary, j.On.Info(), j.many)
	if j.solverKernels(); j.Err() != nil {
		return j.Err()
	}
	parts := s.blocks
	if s.many > 0 {
		parts = max(parts, mostParts)
	}
	if err := j.alloc([]allocation{
		{&s.arena, "levels", 4 * s.ladder.arena, nil}, {&s.tables, "axes of levels", 0, grid.Bytes(s.ladder.tables)},
		{&s.plan, "shapes of levels", 0, s.shapes()}, {&s.tape, "what is to be done", 0, s.entries()},
		{&s.parts, "parts of sums", 2 * 8 * s.components * parts, nil}, {&s.met, "blocks that came", 4, nil},
		{&s.done, "blocks that are done", 4, make([]byte, 4)}, {&s.state, "what is known", 0, make([]byte, stateBytes)},
		{&s.verdicts, "what is left", 0, make([]byte, reportBytes)},
	}); err != nil {
		return err
	}
	s.walk()
	// Padding after the end of a row stays 0.
	if err := j.stream.Fill(s.arena, 0, 4*s.ladder.arena, 0); err != nil {
		return err
	}
	s.report = j.NewPinned("what is left, on the host", reportBytes)
	return j.Err()
}

// solverKernels loads the kernels that the ladder needs.
func (j *job) solverKernels() {
	names := []string{""}
	if j.solver.many > 0 {
		names = append(names, "finish")
		for _, a := range launches {
			names = append(names, a.kernel)
			if a.alike {
				names = append(names, a.kernel+alike)
			}
		}
	}
	full := slices.Clone(names)
	for i, n := range names {
		full[i] = strings.TrimSuffix("gvf_steady_"+n, "_")
	}
	functions := j.NewFunctions("gvf_steady", full...)
	j.solver.kernels = map[string]device.Function{}
	for i, n := range names {
		j.solver.kernels[n] = functions[i]
	}
}

// walk divides the tape into legs.
func (s *solver) walk() {
	s.first, s.step = s.legs(0, s.once, s.kernels), s.legs(s.once, int64(len(s.ladder.tape)), s.kernels)
}

// shapes encodes the levels for the kernel: twelve int32 and two int64 each.
func (l *ladder) shapes() (b []byte) {
	for i, v := range l.plan {
		if i%ofLevel < 12 {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		} else {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

// entries encodes the tape for the kernel.
func (l *ladder) entries() (b []byte) {
	for _, e := range l.tape {
		for _, v := range []int64{e.what, e.level, e.from, e.to, e.flags} {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	return b
}

// add enqueues the launches after the gradient. It waits for them, unless there is a single launch.
func (s *solver) add(j *job) error {
	omega := float32(6. / 7)
	if s.components == 2 {
		omega = 0.8
	}
	ofAll := []any{j.v0, j.b, s.arena, s.tables, s.plan, s.parts, int32(s.components), omega, s.tol * (1 - 1e-9),
		int32(s.most)}
	levels, turns := int32(len(s.ladder.plan)/ofLevel), int64(0)
	if err := j.stream.Fill(s.met, 0, 4, 0); err != nil {
		return err
	}
	together := func(launch device.Launch, from, back, to int64) error {
		return j.stream.Launch(s.kernels[""], launch, append(slices.Clip(ofAll), s.state, s.tape, int32(from), int32(back),
			int32(to), s.met, int32(turns), levels, j.v[0], s.verdicts)...)
	}
	if s.many == 0 {
		return together(s.first[0].launch, 0, s.once, int64(len(s.ladder.tape)))
	}
	walk := func(legs []leg) error {
		for _, l := range legs {
			e := s.ladder.tape[l.from]
			if e.level >= s.many {
				if err := together(l.launch, l.from, -1, l.to); err != nil {
					return err
				}
				turns += l.meetings * s.blocks
				continue
			}
			if err := j.stream.Launch(l.function, l.launch,
				append(slices.Clip(ofAll), s.state, s.done, int32(e.level), int32(e.from), int32(e.to),
					int32(e.flags))...); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(s.first); err != nil {
		return err
	}
	for n := int64(0); n <= s.most; n += atOnce {
		for range atOnce {
			if err := walk(s.step); err != nil {
				return err
			}
		}
		if err := errors.Join(j.stream.Copy(s.report, 0, s.state, 0, 8), j.stream.Wait()); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(s.report.Data()) != 0 {
			break
		}
	}
	return j.stream.Launch(s.kernels["finish"], device.Launch{Grid: device.Dim{X: s.blocks * 8},
		Block: s.first[0].launch.Block}, append(slices.Clip(ofAll), s.state, j.v[0], s.verdicts)...)
}

// ended returns an error if the field is not in the steady state.
func (s *solver) ended(st device.Stream) error {
	if err := errors.Join(st.Copy(s.report, 0, s.verdicts, 0, reportBytes), st.Wait()); err != nil {
		return err
	}
	report := grid.Values[float64](s.report.Data())
	for c := range s.components {
		if left, of := math.Sqrt(report[1+c]), math.Sqrt(report[4+c]); s.most > 0 && !(left <= s.tol*of) {
			return bench.Limitf("component %s: in float32 %v steps leave %.3g of |b·V0|, not %.3g: ask for a larger tolerance",
				"xyz"[c:c+1], report[0], left/of, s.tol)
		}
	}
	return nil
}
