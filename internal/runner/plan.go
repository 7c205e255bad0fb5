package runner

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
)

// A Plan says what to run and under which limits.
type Plan struct {
	// Command starts a worker: the program and its arguments.
	Command []string
	Benches []Bench
	// Workload is the question and Impls who answers it, in this order except
	// that the reference comes first.
	Workload string
	Impls    []string
	Inputs   []string
	// Ceiling names the workload whose implementations are the ceilings of the
	// others, each of those in the same place and scope; "" for none.
	Ceiling string
	Scope   bench.Scope // "" for e2e where the inputs fit in memory, else file
	Threads int
	Device  string // which accelerator, "" for the first
	Devices string // which accelerators for what runs on several, "" for none
	ISA     string // which instruction set, of implementations that have several; "" for the fastest
	Hot     bool   // leave the caches of a device as they are between calls
	// Options are the values of methods' own options by key; each is a row of its own, of the
	// implementations that have the option.
	Options   map[string][]string
	Processes int           // how often each cell is run, each time by a new process
	Rotate    int           // inputs that rotate through a timed cell
	Time      time.Duration // for each phase of a cell
	Memory    int64         // for the inputs shared in memory, and again for each worker's own
	Budget    time.Duration // for the verification of a cell
	Grow      bool          // cells of large inputs have more of both: see allow
	Sampling  *Sampling     // nil: verify only
	// Done returns the record that a cell has already, if any.
	Done func(bench.CellKey) (bench.CellRecord, bool)
	// Reproduce is the command that shows a failure on an input again.
	Reproduce func(impl, input string) string

	Clock Clock // of the limits; what workers time, they time by their own

	shrunk map[string]bool // implementations whose failure has been shrunk
}

// A cell is one cell of a plan: one implementation on one input in one process.
type cell struct {
	bench   Bench
	about   bench.About
	input   string
	options string // of the Setting
	process int
}

// cells lists the cells of one input: the ceiling, the reference, then the
// others in order.
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
	found, err := Find(p.Benches, p.Workload)
	if err != nil {
		return nil, err
	}
	main := asked{found}
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
			// A disk is read on the host, even for devices.
			if !slices.Contains(places, a.Where) && p.Scope != bench.File {
				continue
			}
			if slices.Contains(a.Scopes, p.Scope) || p.Scope == "" && slices.Contains(a.Scopes, bench.E2E) {
				if err := add(b, a.Name, main.reads(input)); err != nil {
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

// groups are the cells of an input, in order, by what they read: the ceilings may be of
// another input, whose reading moves the same bytes.
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

// An asked bench is the one of a plan.
type asked struct{ Bench }

// reads is the input whose reading moves the bytes of a named one.
func (a asked) reads(input string) string {
	if reads := a.Question().Reads; reads != nil {
		return reads(input)
	}
	return input
}

// choices are the Options of the rows of an implementation: every combination of the
// values that were asked for of options that it has.
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

// usual is the number of items up to which cells have the time and budget of the plan.
const usual = 1 << 30

// allow is the time and the budget of the cells of an input: where they grow, as many
// times those of the plan as the root of how much larger than usual the input is.
func (p Plan) allow(c bench.Cost) (limit, budget time.Duration) {
	times := 1.0
	if p.Grow {
		times = math.Sqrt(max(1, float64(c.Items)/usual))
	}
	grown := func(d time.Duration) time.Duration { return time.Duration(float64(d) * times) }
	return grown(p.Time), grown(p.Budget)
}

// referenceTime is how long the reference may take for one of n answers: a third of its share of
// the budget, and a sixth of that where numbers are the point.
func referenceTime(budget time.Duration, n int, s *Sampling) time.Duration {
	if s != nil {
		budget /= 6
	}
	return budget / time.Duration(3*n)
}

// places is where the plan's implementations compute.
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

// A Cell is what a plan runs: one implementation on one input in one process.
type Cell struct {
	Workload, Impl, Where, Input, Options string
	Process                               int
}

func (c cell) public() Cell {
	return Cell{c.bench.Name(), c.about.Name, c.about.Where, c.input, c.options, c.process}
}

// Cells lists what the plan runs, in order.
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

// scopeOf is the scope an input is run in: what was asked for, or e2e where its
// variants fit in memory together, with the reason when they do not.
func (p Plan) scopeOf(size int64, variants int) (bench.Scope, error) {
	need := size * int64(variants)
	fits := p.Memory <= 0 || need <= p.Memory
	switch {
	case p.Scope == bench.File:
		return bench.File, nil
	case fits && p.Scope == "":
		return bench.E2E, nil
	case p.Scope == "":
		return bench.File, nil
	case !fits:
		return p.Scope, fmt.Errorf("its %d inputs take %s in memory (%s each), the limit is %s; --scope file streams them",
			variants, quantity.Bytes(need), quantity.Bytes(size), quantity.Bytes(p.Memory))
	}
	return p.Scope, nil
}
