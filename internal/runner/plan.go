package runner

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/worker"
)

// A Plan lists what to run, and the limits.
type Plan struct {
	// Command starts a worker: the program and its arguments.
	Command []string
	Benches []Bench
	// Workload is the question. Impls lists the implementations in order, except that the reference
	// runs first.
	Workload string
	Impls    []string
	Inputs   []string
	// Ceiling names the workload whose implementations are the ceilings: each applies to the cells
	// on the same kind of device and in the same scope. "" means none.
	Ceiling string
	Scope   bench.Scope // "" selects e2e if the inputs fit in memory, else file
	Threads int
	Device  string // the accelerator; "" means the first
	Devices string // the accelerators for multi-device implementations; "" means none
	ISA     string // the instruction set, for implementations that have several; "" means the fastest
	Hot     bool   // do not flush a device's caches between calls
	// Options are the values of the methods' own options by key. Each value is a row, for
	// implementations that have the option.
	Options   map[string][]string
	Processes int              // number of processes that repeat each cell
	Rotate    int              // number of inputs that take turns in a timed cell
	Time      time.Duration    // for each phase of a cell
	Memory    int64            // for the inputs shared in memory, and again for each worker's own
	Budget    time.Duration    // for the verification of a cell
	Grow      bool             // extend Time and Budget for large inputs (see allow)
	Sampling  *worker.Sampling // nil means verify only
	// Done returns an existing record of a cell, if any.
	Done func(bench.CellKey) (bench.CellRecord, bool)
	// Outside returns the process that answers a workload with an implementation, in scope e2e, or nil
	// if it runs in the worker that judges it. nil for none.
	Outside func(workload, impl string) *peers.Peer
	// Reproduce returns the command that reproduces a failure on an input.
	Reproduce func(impl, input string) string

	Clock worker.Clock // for limits; workers measure with their own clock

	shrunk map[string]bool // implementations whose failing input was already reduced
	idle   *worker.Idle
}

// A cell is one cell of a plan: one implementation on one input in one process.
type cell struct {
	bench   Bench
	about   bench.About
	input   string
	options string // of the Setting
	process int
}

// cells lists the cells of one input: first the ceiling, then the reference, then the others in
// order.
func (p Plan) cells(input string) ([]cell, error) {
	var cells []cell
	add := func(b Bench, impl, input string) error {
		for _, a := range b.Abouts() {
			if a.Name == impl {
				choices, err := p.choices(a)
				if err != nil {
					return err
				}
				for _, options := range choices {
					for process := range max(1, p.Processes) {
						cells = append(cells, cell{b, a, input, options, process})
					}
				}
				return nil
			}
		}
		return fmt.Errorf("workload %s has no implementation %q", b.Name(), impl)
	}
	main, err := Find(p.Benches, p.Workload)
	if err != nil {
		return nil, err
	}
	if p.Ceiling != "" {
		b, err := Find(p.Benches, p.Ceiling)
		if err != nil {
			return nil, err
		}
		places, err := p.places()
		if err != nil {
			return nil, err
		}
		for _, a := range b.Abouts() {
			// The host reads the disk, also for devices.
			if !slices.Contains(places, a.Where) && p.Scope != bench.File {
				continue
			}
			if slices.Contains(a.Scopes, p.Scope) || p.Scope == "" && slices.Contains(a.Scopes, bench.E2E) {
				if err := add(b, a.Name, inputRead(main, input)); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, first := range []bool{true, false} {
		for _, impl := range p.Impls {
			if (impl == main.Reference()) != first {
				continue
			}
			if err := add(main, impl, input); err != nil {
				return nil, err
			}
		}
	}
	return cells, nil
}

// groups splits the cells of an input by the input that they read. Ceilings may read another input
// of the same number of bytes.
func (p Plan) groups(input string) ([][]cell, error) {
	cells, err := p.cells(input)
	if err != nil {
		return nil, err
	}
	var groups [][]cell
	for len(cells) > 0 {
		n := slices.IndexFunc(cells, func(c cell) bool { return c.input != cells[0].input })
		if n < 0 {
			n = len(cells)
		}
		groups, cells = append(groups, cells[:n]), cells[n:]
	}
	return groups, nil
}

// inputRead returns the input that the ceilings of a workload read in place of a named input.
func inputRead(b Bench, input string) string {
	if reads := b.Question().Reads; reads != nil {
		return reads(input)
	}
	return input
}

// choices returns the Options of each row of an implementation: every combination of the requested
// values, for the options that it has.
func (p Plan) choices(a bench.About) ([]string, error) {
	chosen := []map[string]string{{}}
	for _, o := range a.Options {
		var next []map[string]string
		for _, before := range chosen {
			for _, v := range p.Options[o.Key] {
				with := maps.Clone(before)
				with[o.Key] = v
				next = append(next, with)
			}
		}
		if len(next) > 0 {
			chosen = next
		}
	}
	var list []string
	for _, c := range chosen {
		options, err := a.Choose(c)
		if err != nil {
			return nil, err
		}
		list = append(list, options)
	}
	return list, nil
}

// usual is the number of items up to which the plan's time and budget apply.
const usual = 1 << 30

// allow returns the time limit and the budget for the cells of an input. With Grow, they grow with
// the square root of the number of items above usual.
func (p Plan) allow(c bench.Cost) (limit, budget time.Duration) {
	times := 1.0
	if p.Grow {
		times = math.Sqrt(max(1, float64(c.Items)/usual))
	}
	grown := func(d time.Duration) time.Duration { return time.Duration(float64(d) * times) }
	return grown(p.Time), grown(p.Budget)
}

// referenceTime returns the time limit of the reference for one of n answers. It is a third of its
// share of the budget, and a sixth of that in a run.
func referenceTime(budget time.Duration, n int, s *worker.Sampling) time.Duration {
	if s != nil {
		budget /= 6
	}
	return budget / time.Duration(3*n)
}

// places lists the kinds of devices of the plan's implementations ("cpu", "gpu", …).
func (p Plan) places() ([]string, error) {
	b, err := Find(p.Benches, p.Workload)
	if err != nil {
		return nil, err
	}
	var places []string
	for _, a := range b.Abouts() {
		if slices.Contains(p.Impls, a.Name) {
			places = append(places, a.Where)
		}
	}
	return places, nil
}

// A Cell is an entry of a plan: one implementation on one input in one process.
type Cell struct {
	Workload, Impl, Where, Input, Options string
	Process                               int
}

func (c cell) public() Cell {
	return Cell{c.bench.Name(), c.about.Name, c.about.Where, c.input, c.options, c.process}
}

// Cells lists the cells of the plan, in order.
func (p Plan) Cells() ([]Cell, error) {
	var list []Cell
	for _, input := range p.Inputs {
		cells, err := p.cells(input)
		if err != nil {
			return nil, err
		}
		for _, c := range cells {
			list = append(list, c.public())
		}
	}
	return list, nil
}

// scopeOf returns the scope for an input: the requested one, or e2e if its variants fit in memory
// together, else file. It returns an error if a requested scope needs more memory than the limit.
func (p Plan) scopeOf(size int64, variants int) (bench.Scope, error) {
	need := size * int64(variants)
	switch fits := p.Memory <= 0 || need <= p.Memory; {
	case fits:
		return cmp.Or(p.Scope, bench.E2E), nil
	case p.Scope == "" || p.Scope == bench.File:
		return bench.File, nil
	}
	return p.Scope, fmt.Errorf("its %d inputs take %s in memory (%s each), the limit is %s; --scope file streams them",
		variants, quantity.Bytes(need), quantity.Bytes(size), quantity.Bytes(p.Memory))
}
