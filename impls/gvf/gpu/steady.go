package gpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
)

// What kernels/gvf/gvf_steady.cu does, one thing after the other, in the order of its numbers.
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

// And what an entry has beside.
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
	fewCells  = 4096 // of a level that a block has for itself
	mostSteps = 100
)

// A ladder is the levels of an image for the device, and what is to be done with them.
type ladder struct {
	components int64
	blocks     int64     // all of which run at the same time
	threads    int       // of a block, as a power of two
	plan       []int64   // of each level ofLevel numbers
	tables     []float32 // of the axes
	arena      int64     // numbers of all lists
	tape       []entry
	once       int64 // how many entries are done once, before those that are repeated
}

// newLadder makes the levels for a device. An image has its rows along the third axis, so that
// threads go through them as through planes.
func newLadder(p *gvf.Problem, boundary gvf.Boundary, d device.Info) *ladder {
	s, mu := p.Shape(), float64(p.Mu)
	l := &ladder{components: int64(p.Dim()), blocks: int64(d.SMs), threads: bits.Len(uint(min(256, d.ThreadsPerBlock))) - 1}
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
		if p.Dim() == 3 && n[0] >= 4 { // threads have four cells of a row, which begins at a multiple of four
			stride, each = up(n[0], 4)*4, 4
		}
		across, rows, runs, length := l.tile([3]int64{up(n[0], each), n[1], n[2]}, few)
		l.plan = append(l.plan, n[0], n[1], n[2], across, rows, runs, length, stride, each)
		next := axes
		for a := range axes {
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

// tile is how the threads of a block lie in a level, as powers of two, and how many planes each
// goes through.
func (l *ladder) tile(n [3]int64, few bool) (across, rows, runs, length int64) {
	all, log := int64(l.threads), func(n int64) int64 { return int64(bits.Len64(uint64(n - 1))) }
	// As wide as rows are, for memory brings rows faster, unless more threads had nothing.
	items, atOnce := int64(math.MaxInt64), int64(1)
	for high := min(2, log(n[1])); high <= min(4, log(n[1])); high++ {
		wide := min(all-high, log(n[0]))
		if tiles := up(n[0], 1<<wide) * up(n[1], 1<<high) << (wide + high); tiles < items {
			items, across, rows = tiles, wide, high
		}
	}
	rows = min(all-across, log(n[1]))
	runs = all - across - rows
	items = up(n[0], 1<<across) * up(n[1], 1<<rows)
	if !few {
		items, atOnce = items*l.components, l.blocks
	}
	// A thread begins as often, and reads four planes at a time, as items take it; runs begin at even planes.
	least := int64(math.MaxInt64)
	for _, planes := range []int64{4, 2, 8, 12, 16, 20, 24, 28, 32} {
		if cost := up(items*up(up(n[2], planes), 1<<runs), atOnce) * (1 + up(planes, 4)); cost < least {
			least, length = cost, planes
		}
	}
	return across, rows, runs, length
}

// write makes the tape: full multigrid once, then steps of conjugate gradients.
func (l *ladder) write(levels, bottom int64) {
	add := func(e entry) {
		if e.level >= bottom && e.what != opSource && e.what != opCoarsen && e.what != opGiven && e.what != opTurn && e.what != opAdvance {
			e.flags |= alone
		}
		l.tape = append(l.tape, e)
	}
	flat := l.components == 2
	// cycle is one from 0, of what is given in inF; its end is added to a list.
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

// A solver is what a job keeps of a ladder on the device.
type solver struct {
	*ladder
	function                                        device.Function
	arena, tables, plan, tape, parts, met, verdicts device.Buffer
	tol                                             float64
	most                                            int64
	report                                          device.Pinned
}

// wide is numbers as a kernel reads them.
func wide(list []int64) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

const reportBytes = 8 * 7 // steps, and of each component the squares of what is left and of b·V0

// bytes is what a solver takes of a device, about.
func (l *ladder) bytes() int64 { return 4*l.arena + 1<<20 }

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
	s.ladder = newLadder(j.p, boundary, j.d.Info())
	functions, err := j.module("gvf_steady", "gvf_steady")
	if err != nil {
		return err
	}
	s.function = functions[0]
	var tape []int64
	for _, e := range s.ladder.tape {
		tape = append(tape, e.what, e.level, e.from, e.to, e.flags)
	}
	if err := j.alloc([]allocation{
		{&s.arena, "levels", 4 * s.ladder.arena, nil}, {&s.tables, "axes of levels", 0, grid.Bytes(s.ladder.tables)}, {&s.plan, "shapes of levels", 0, wide(s.ladder.plan)}, {&s.tape, "what is to be done", 0, wide(tape)},
		{&s.parts, "parts of sums", 2 * 8 * s.components * s.blocks, nil}, {&s.met, "blocks that came", 4, nil}, {&s.verdicts, "what is left", reportBytes, nil},
	}); err != nil {
		return err
	}
	// What is beyond the end of a row stays 0.
	if err := j.stream.Fill(s.arena, 0, 4*s.ladder.arena, 0); err != nil {
		return err
	}
	s.report, err = j.d.AllocPinned("what is left, on the host", reportBytes)
	return err
}

// add adds the launch, of what gradients made.
func (s *solver) add(j *job) error {
	omega := float32(6. / 7)
	if s.components == 2 {
		omega = 0.8
	}
	return errors.Join(j.stream.Fill(s.met, 0, 4, 0),
		j.stream.Launch(s.function, device.Launch{Grid: device.Dim{X: s.blocks}, Block: device.Dim{X: 1 << s.threads}}, j.v0, j.b, j.v[0], s.arena, s.tables, s.plan, int32(len(s.ladder.plan)/ofLevel), s.tape,
			int32(s.once), int32(len(s.ladder.tape)), s.parts, s.met, s.verdicts, int32(s.components), omega, s.tol*(1-1e-9), int32(s.most)))
}

// ended is nil, or why the field is not at rest.
func (s *solver) ended(st device.Stream) error {
	if err := errors.Join(st.Copy(s.report, 0, s.verdicts, 0, reportBytes), st.Wait()); err != nil {
		return err
	}
	report := grid.Values[float64](s.report.Data())
	for c := range s.components {
		if left, of := math.Sqrt(report[1+c]), math.Sqrt(report[4+c]); s.most > 0 && !(left <= s.tol*of) {
			return fmt.Errorf("component %s: in float32 %v steps leave %.3g of |b·V0|, not %.3g: ask for a larger tolerance", "xyz"[c:c+1], report[0], left/of, s.tol)
		}
	}
	return nil
}

func (s *solver) buffers() []device.Buffer {
	return []device.Buffer{s.arena, s.tables, s.plan, s.tape, s.parts, s.met, s.verdicts}
}

// steps is how many the last answer took.
func (s *solver) steps() float64 { return grid.Values[float64](s.report.Data())[0] }
