package reductions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/homology"
)

// RaceOnDevice is Race on an NVIDIA device (kernels/homology/homology_race.cu), as in the paper.
type RaceOnDevice struct{ Open resident.Opener }

// About describes the method.
func (RaceOnDevice) About() bench.About {
	return bench.About{
		Name: "race-gpu", Where: "gpu", Method: "as race, resident; a thread, a warp or a block for each cell",
		Source: "Murty 2013, section 5, algorithms 2 to 4; Nasre, Burtscher and Pingali 2013",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E, bench.File}, Options: margins(),
	}
}

// Sizes of the kernels' work (kernels/homology).
const (
	warp       = 32
	block      = 256
	someBlocks = 8 // per multiprocessor, if only the device knows the amount of work
	sortTile   = 2048
	sortShared = 4 * 8 * 256
	scanTile   = 4096
	scanShared = 4 * 8
	digitBits  = 8
	digits     = 1 << digitBits
)

// The counters of a dimension, and of each round.
const (
	pooled = iota
	longest
	full
	left
	counted
)
const (
	cheapness = iota // never below the least cost; 0 if nothing remains to be reduced
	tried
	won
	asked
	ofRound
)

// Rounds are launched in groups, in small ones if there are few cells.
const (
	atOnce, fewAtOnce = 16, 2
	fewCells          = 1 << 12
	listBytes         = 16
	poolTimes         = 6 // size of the pool relative to the initial lists
	leastPool         = 1 << 10
)

// A plan is the memory that a complex needs, by its largest dimensions.
type plan struct {
	cells, vertices int64 // of a dimension, and the total number of their vertices
	records         int64 // faces of cells plus given simplices
	pool            int64 // size of the pool in numbers
}

func planned(p *homology.Problem) (l plan) {
	counts := p.Counts()
	for d, n := range counts {
		l.cells, l.vertices = max(l.cells, n), max(l.vertices, n*int64(d+1))
		records := int64(len(p.Tops[d]) / (d + 1))
		if d+1 < len(counts) {
			records += counts[d+1] * int64(d+2)
		}
		l.records = max(l.records, records)
	}
	l.pool = min(max(leastPool, 2*poolTimes*l.records), math.MaxUint32)
	return l
}

// counters returns the maximum number of digit counters.
func (l plan) counters() int64 { return digits * ((l.records + sortTile - 1) / sortTile) }

// parts returns the maximum number of partial sums of a scan, plus one.
func (l plan) parts() int64 { return max(l.records, l.counters())/scanTile + 2 }

// buffers lists the buffers of a job, except buffers of the given simplices.
func (j *raceOnDevice) buffers() []allocation {
	l := j.plan
	return []allocation{
		{&j.cells[0], "cells", 4 * l.vertices}, {&j.cells[1], "other cells", 4 * l.vertices},
		{&j.order[0], "order", 4 * l.records}, {&j.order[1], "other order", 4 * l.records},
		{&j.number, "numbers", 4 * l.records}, {&j.digits, "digits", 4 * l.counters()}, {&j.parts, "sums", 4 * l.parts()},
		{&j.pool, "lists", 4 * l.pool},
		{&j.cell, "boundaries", listBytes * l.cells}, {&j.face, "coboundaries", listBytes * l.cells},
		{&j.cost, "costs", 4 * l.cells}, {&j.with, "cheapest faces", 4 * l.cells},
		{&j.lock, "locks", 8 * l.cells}, {&j.gone, "reduced cells", 8 * l.cells}, {&j.tried, "cells that race", 4 * l.cells},
		{&j.won, "cells that won", 4 * l.cells},
		{&j.counted, "counts", 4 * counted}, {&j.rounds, "rounds", 4 * ofRound * atOnce},
	}
}

type allocation struct {
	to    *device.Buffer
	name  string
	bytes int64
}

// CanDo rejects other rings, and a complex that does not fit the device or exceeds the kernels'
// integers.
func (r RaceOnDevice) CanDo(p *homology.Problem, c bench.Conditions) error {
	if p.Over != 2 {
		return fmt.Errorf("reductions of Murty 2013 are over 2, not over %v; use reduced", p.Over)
	}
	d, err := r.Open(c.Device)
	if err != nil {
		return err
	}
	if p.Dim() < 0 {
		return errors.New("the complex is empty; use reduced")
	}
	l := planned(p)
	if 2*l.records >= math.MaxUint32 {
		return fmt.Errorf("%d faces of cells, which together with the cells around them the kernels count up to %d; use "+
			"reduced", l.records, uint32(math.MaxUint32))
	}
	need := p.Bytes()
	for _, b := range (&raceOnDevice{in: p, plan: l}).buffers() {
		need += b.bytes
	}
	return resident.Fits(d, need, "the complex with its lists")
}

// Setup loads the kernels and copies the given simplices to the device.
func (r RaceOnDevice) Setup(p *homology.Problem, c bench.Conditions) (bench.Job[homology.Groups], error) {
	d, err := r.Open(c.Device)
	if err != nil {
		return nil, err
	}
	margin, err := strconv.ParseUint(c.Option(marginKey, marginFree), 10, 32)
	if err != nil {
		return nil, err
	}
	kernels := []string{"ascend", "digits", "place", "scan_parts", "scan_tops", "scan_ends", "heads", "lists", "cells",
		"costs", "cheap", "race", "check", "own", "reduce", "tell", "left", "next"}
	for i := range kernels {
		kernels[i] = "homology_race_" + kernels[i]
	}
	program, err := resident.NewProgram(d, "race", "homology_race", kernels...)
	if err != nil {
		return nil, err
	}
	j := &raceOnDevice{
		Program: program, in: p, plan: planned(p), margin: uint32(margin), whole: c.Scope == bench.E2E ||
			c.Scope == bench.File,
		bits: bits.Len(uint(max(1, p.Vertices-1))),
		some: someBlocks * int64(d.Info().SMs), Output: bench.PoisonedBy(homology.Poisoned()),
	}
	return bench.Ready(j, j.setup())
}

// A raceOnDevice has resident simplices, or copies them in each Do.
type raceOnDevice struct {
	*resident.Program
	in     *homology.Problem
	plan   plan
	margin uint32
	whole  bool
	bits   int   // bits of a vertex number
	some   int64 // blocks
	bench.Output[homology.Groups]
	raced int // rounds
	long  int64

	given                 []device.Buffer  // by dimension
	cells, order          [2]device.Buffer // before and after a step
	number, digits, parts device.Buffer
	pool, cell, face      device.Buffer
	cost, with            device.Buffer // per cell
	lock, gone            device.Buffer // per cell, then per face
	tried, won            device.Buffer // lists of cells of a round
	counted, rounds       device.Buffer
	result                device.Pinned
}

var _ bench.DeviceJob = &raceOnDevice{}

func (j *raceOnDevice) setup() error {
	for _, b := range j.buffers() {
		*b.to = j.Alloc(b.name, b.bytes)
	}
	j.given = make([]device.Buffer, len(j.in.Tops))
	for d, tops := range j.in.Tops {
		j.given[d] = j.Alloc(fmt.Sprintf("given simplices of dimension %d", d), 4*int64(len(tops)))
	}
	j.result = j.NewPinned("counts on the host", 4*max(counted, ofRound*atOnce))
	if j.Err() != nil || j.whole {
		return j.Err()
	}
	return j.bring()
}

// bring copies the given simplices to the device.
func (j *raceOnDevice) bring() error {
	for d, tops := range j.in.Tops {
		if len(tops) == 0 {
			continue
		}
		if err := j.Stream.Upload(j.given[d], 0, grid.Bytes(tops)); err != nil {
			return err
		}
	}
	return nil
}

// Flags reports the device's flags, the longest boundary of a cell, and the number of rounds.
func (j *raceOnDevice) Flags() []string {
	return append(j.Program.Flags(), fmt.Sprintf("longest boundary of a cell: %d faces", j.long),
		fmt.Sprintf("%d rounds", j.raced))
}

func (j *raceOnDevice) Do(*bench.Trace) error {
	if j.whole {
		if err := j.bring(); err != nil {
			return err
		}
	}
	out := homology.NewGroups(len(j.in.Tops))
	j.raced, j.long = 0, 0
	err := j.Timed(func() error {
		cells := int64(0) // of the dimension above
		for d := len(j.in.Tops) - 1; d >= 0; d-- {
			l := level{raceOnDevice: j, d: d, cells: cells, records: cells*int64(d+2) + int64(len(j.in.Tops[d])/(d+1)),
				from: (d + 1) % 2}
			next, reduced, err := l.do()
			if err != nil {
				return err
			}
			if d+1 < len(out.Betti) {
				out.Betti[d+1] = reduced
			}
			cells = next
		}
		out.Betti[0] = cells
		return nil
	})
	if err == nil {
		err = j.Stream.Wait()
	}
	if err == nil {
		j.Last = out
	}
	return err
}

// A level is the cells of dimension d+1 with their faces of dimension d.
type level struct {
	*raceOnDevice
	d, from        int // index of the buffer that contains its cells
	cells, records int64
}

// run launches a kernel with one thread per item.
func (j *raceOnDevice) run(kernel string, n int64, args ...any) error {
	if n == 0 {
		return nil
	}
	threads := min(block, (n+warp-1)/warp*warp)
	return j.Launch("homology_race_"+kernel, (n+threads-1)/threads, threads, 0, args...)
}

// do finds the faces, reduces cells with them, and copies the remaining faces to the next level. It
// returns the numbers of remaining faces and cells.
func (l level) do() (next, irreducible int64, err error) {
	k, n, faces := uint32(l.d+1), uint32(l.records), uint32(l.cells*int64(l.d+2))
	cells, to, given := l.raceOnDevice.cells[l.from], l.raceOnDevice.cells[1-l.from], l.given[l.d]
	if err := l.run("ascend", l.records-int64(faces), given, n-faces, k); err != nil {
		return 0, 0, err
	}
	order, err := l.sort(cells, given, faces, k)
	if err != nil {
		return 0, 0, err
	}
	if err := l.run("heads", l.records, cells, given, faces, k, order, n, l.number); err != nil {
		return 0, 0, err
	}
	found, err := l.scan(l.number, l.records)
	if err != nil {
		return 0, 0, err
	}
	m := uint32(found)
	err = errors.Join(
		l.run("lists", l.records, order, l.number, n, m, faces, k, l.pool, l.face),
		l.run("cells", l.cells, l.pool, l.cell, uint32(l.cells), k+1),
		l.Stream.Fill(l.gone, 0, 4*(l.cells+found), 0), l.Stream.Fill(l.counted, 0, 4*counted, 0),
	)
	if err != nil {
		return 0, 0, err
	}
	if l.cells > 0 {
		if err := l.reduce(faces + n); err != nil {
			return 0, 0, err
		}
	}
	if err := l.Launch("homology_race_left", min(l.some, (max(l.cells, found)+block-1)/block), block, 4, l.gone,
		uint32(l.cells), m, l.number, l.counted); err != nil {
		return 0, 0, err
	}
	if next, err = l.scan(l.number, found); err != nil {
		return 0, 0, err
	}
	if err := l.run("next", found, cells, given, faces, k, order, l.face, l.number, m, uint32(l.cells), l.gone,
		to); err != nil {
		return 0, 0, err
	}
	if err := l.bringCounts(l.counted, 0, counted); err != nil {
		return 0, 0, err
	}
	if n := l.count(full); n > 0 {
		return 0, 0, fmt.Errorf("the device's memory of %d numbers is too small for this reduction; use race, on the CPU",
			l.plan.pool)
	}
	l.long = max(l.long, l.count(longest))
	return next, l.count(left), nil
}

// sort sorts the records by their vertices, equal ones by their numbers.
func (l level) sort(cells, given device.Buffer, faces, k uint32) (order device.Buffer, err error) {
	ordered, n := int32(0), uint32(l.records)
	tiles := (l.records + sortTile - 1) / sortTile
	in, out := l.order[0], l.order[1]
	for column := int(k) - 1; column >= 0; column-- {
		for shift := 0; shift < l.bits; shift += digitBits {
			if err := l.Launch("homology_race_digits", tiles, block, 4*digits, cells, given, faces, k, in, ordered, n,
				uint32(column), uint32(shift), l.digits); err != nil {
				return nil, err
			}
			if err := l.scanned(l.digits, digits*tiles); err != nil {
				return nil, err
			}
			if err := l.Launch("homology_race_place", tiles, block, sortShared, cells, given, faces, k, in, ordered, n,
				uint32(column), uint32(shift), l.digits, out); err != nil {
				return nil, err
			}
			in, out, ordered = out, in, 1
		}
	}
	return in, nil
}

// scanned replaces n numbers by their exclusive prefix sums.
func (j *raceOnDevice) scanned(list device.Buffer, n int64) error {
	parts := (n + scanTile - 1) / scanTile
	return errors.Join(
		j.Launch("homology_race_scan_parts", parts, block, scanShared, list, uint32(n), j.parts),
		j.Launch("homology_race_scan_tops", 1, block, scanShared, j.parts, uint32(parts)),
		j.Launch("homology_race_scan_ends", parts, block, scanShared, list, uint32(n), j.parts),
	)
}

// scan does the same and returns the total.
func (j *raceOnDevice) scan(list device.Buffer, n int64) (int64, error) {
	if err := j.scanned(list, n); err != nil {
		return 0, err
	}
	if err := j.bringCounts(j.parts, (n+scanTile-1)/scanTile, 1); err != nil {
		return 0, err
	}
	return j.count(0), nil
}

// bringCounts copies n counts to the host.
func (j *raceOnDevice) bringCounts(from device.Buffer, at, n int64) error {
	return errors.Join(j.Stream.Copy(j.result, 0, from, 4*at, 4*n), j.Stream.Wait())
}

// count returns one of the copied counts.
func (j *raceOnDevice) count(i int) int64 {
	return int64(binary.LittleEndian.Uint32(j.result.Data()[4*i:]))
}

// reduce runs rounds until no cell can be reduced. used is the number of used entries of the pool.
func (l level) reduce(used uint32) error {
	n, rounds := uint32(l.cells), atOnce
	if l.cells < fewCells {
		rounds = fewAtOnce
	}
	if err := errors.Join(l.Stream.Fill32(l.counted, 4*pooled, 1, used),
		l.Stream.Fill(l.cost, 0, 4*l.cells, 0)); err != nil {
		return err
	}
	launch := func(kernel string, args ...any) error {
		return l.run(kernel, min(warp*l.cells, l.some*block), args...)
	}
	for before := l.raced; ; {
		if err := l.Stream.Fill(l.rounds, 0, int64(4*ofRound*rounds), 0); err != nil {
			return err
		}
		for slot := range uint32(rounds) {
			err := errors.Join(
				launch("costs", n, l.gone, l.cost, l.won, slot, l.rounds),
				launch("cheap", l.pool, l.cell, l.face, l.won, l.cost, l.with, slot, l.rounds),
				launch("race", l.pool, l.cell, l.face, n, l.cost, l.with, l.margin, l.lock, l.tried, slot, l.rounds),
				launch("check", l.pool, l.cell, l.face, n, l.cost, l.with, uint32(l.raced)+slot, l.lock, l.tried, slot, l.rounds),
				launch("own", l.pool, l.cell, l.face, n, l.with, l.lock, l.tried, l.won, slot, l.rounds),
				launch("reduce", l.pool, uint32(l.plan.pool), l.cell, l.face, n, l.with, l.won, l.gone, l.counted, slot, l.rounds),
				launch("tell", l.pool, l.cell, l.face, l.cost, l.with, l.won, slot, l.rounds),
			)
			if err != nil {
				return err
			}
		}
		if err := l.bringCounts(l.rounds, 0, int64(ofRound*rounds)); err != nil {
			return err
		}
		wins := int64(0)
		for slot := range rounds {
			if l.count(ofRound*slot+cheapness) == 0 {
				return nil
			}
			wins += l.count(ofRound*slot + won)
			l.raced++
		}
		// Unreachable, because the first of the racing cells wins and is reduced.
		if wins == 0 || int64(l.raced-before) > l.cells {
			return fmt.Errorf("%d cells won in the last %d of %d rounds of %d cells of dimension %d", wins, rounds,
				l.raced-before, l.cells, l.d+1)
		}
	}
}

func (j *raceOnDevice) Poison() {
	j.Last = homology.Poisoned()
	var all []device.Buffer
	for _, b := range j.buffers() {
		all = append(all, *b.to)
	}
	j.Fill(0x5a, all...)
}

// Close frees the device's memory and kernels. That of bench.Output, which is embedded less deep, does nothing.
func (j *raceOnDevice) Close() error { return j.Program.Close() }
