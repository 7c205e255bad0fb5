package reproduce

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"eccbench/datasets"
	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/runner"
	"eccbench/reports/paper"
)

// A reproduction is the cells of a paper's tables on this machine.
type reproduction struct {
	c        *cli.Program
	o        paperFlags
	base     runner.Plan
	noDevice string            // why there is no device, "" when there is one
	missing  map[string]string // why the cells of an input cannot run
	slow     map[string]string // why an implementation takes too long for one, by both
	told     map[string]bool   // messages about real images that were printed
	jobs     []paperJob
}

// A paperJob is a plan's cells of one input.
type paperJob struct {
	table  string // the command's arguments for it
	series paper.Series
	row    paper.Row
	input  string
	impls  []string
}

func newReproduction(c *cli.Program, o paperFlags) (*reproduction, error) {
	r := &reproduction{c: c, o: o, missing: map[string]string{}, slow: map[string]string{}, told: map[string]bool{}}
	everything := o.limit
	everything.Impl = []string{"*"}
	var all []bench.About
	for _, b := range c.Benches {
		all = append(all, b.Abouts()...)
	}
	if _, err := cli.Choose(o.limit.Impl, all); err != nil {
		return nil, err
	}
	var err error
	if r.base, err = everything.Plan(c, impls.ECC, nil); err != nil {
		return nil, err
	}
	if r.base.Budget = o.check; o.check == 0 {
		r.base.Budget = o.limit.Time / 2 // a stand-in's number rests on verification alone
	}
	if r.noDevice, err = probe(c, r.base); err != nil {
		return nil, err
	}
	r.base.Sampling, r.base.Hot = &o.sampling, o.hot
	for what, dir := range map[string]string{"--store": o.at.Store, "--data": o.at.Data} {
		if dir == "" {
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, cli.Usagef("%s %s: want a folder that is there", what, dir)
		}
	}
	// Names of inputs hold the folders, and must mean the same in every process.
	for _, dir := range []*string{&r.o.at.Store, &r.o.at.Data} {
		if *dir != "" {
			if *dir, err = filepath.Abs(*dir); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// add adds the cells of a table that this program and machine have. A missing real image costs only
// its own cells, and is reported once.
func (r *reproduction) add(p paper.Paper, t paper.Table) error {
	for _, s := range p.Series(t.N) {
		for _, row := range t.Rows {
			input, err := row.Input(s.Workload, s.Scope, r.o.at)
			if err != nil {
				return err
			}
			if r.o.most > 0 && row.Bytes()*s.Files(row) > r.o.most {
				r.missing[input] = "larger than --max-bytes"
				continue
			}
			if why := r.lacks(row); why != "" {
				if !r.told[why] {
					fmt.Fprintln(r.c.Stderr, "eccbench:", why)
				}
				r.told[why], r.missing[input] = true, why
				continue
			}
			var names []string
			for _, impl := range s.Impls {
				if a, ok := r.c.About(s.Workload, impl); ok && (a.Where != "gpu" || r.noDevice == "") && r.chosen(impl) {
					names = append(names, impl)
				}
			}
			j := paperJob{fmt.Sprintf("%s --table %d", p.ID, t.N), s, row, input, names}
			r.weighTime(j, input)
			if len(names) > 0 {
				r.jobs = append(r.jobs, j)
			}
		}
	}
	return nil
}

// chosen reports whether --impl names an implementation, by patterns that were checked before.
func (r *reproduction) chosen(impl string) bool {
	return slices.ContainsFunc(r.o.limit.Impl, func(pattern string) bool {
		ok, err := path.Match(pattern, impl)
		return ok && err == nil
	})
}

// lacks returns the fault of a row's real image, or "".
func (r *reproduction) lacks(row paper.Row) string {
	if row.Path != "" {
		if _, err := os.Stat(row.Path); err != nil {
			return fmt.Sprintf("%s: no such file; install the package %s", row.Path, row.Data)
		}
		return ""
	}
	file, ok := row.File()
	if !ok || r.o.at.Data == "" {
		return ""
	}
	real := filepath.Join(r.o.at.Data, file)
	want := fmt.Sprintf("want %d bytes, %s of %s with at most %d values, row-major",
		row.Bytes(), row.Shape, row.Type, row.Levels)
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: no such file; %s", real, want)
	case info.Size() != row.Bytes():
		return fmt.Sprintf("%s: has %d bytes; %s", real, info.Size(), want)
	}
	input, err := row.Input(paper.ECC, bench.E2E, r.o.at)
	if err != nil {
		return err.Error()
	}
	s, err := datasets.Open(input)
	if err != nil {
		return fmt.Sprintf("%v; %s", err, want)
	}
	defer grid.Close(s)
	if row.Type == grid.Float32.String() && s.Ladder().Len() > row.Levels {
		return fmt.Sprintf("%s: has %d values; %s", real, s.Ladder().Len(), want)
	}
	return ""
}

// absent returns the reason why a cell has no record.
func (r *reproduction) absent(s paper.Series, row paper.Row, impl string) string {
	input, err := row.Input(s.Workload, s.Scope, r.o.at)
	switch {
	case err == nil && r.missing[input] != "":
		return r.missing[input]
	case s.Where == "gpu" && r.noDevice != "":
		return "no device"
	case err == nil && r.slow[impl+input] != "":
		return r.slow[impl+input]
	}
	return "not run"
}

// largeImages is the size from which one image has to do where others rotate.
const largeImages = 16 << 30

// scope returns the timed scope of a job. Images that would be generated during reading are
// generated before, if all rotating images fit in memory. No disk is involved in either case.
func (r *reproduction) scope(j paperJob) bench.Scope {
	if j.series.Workload == paper.ECC && r.isGenerated(j) && j.row.Bytes()*int64(r.rotate(j)) <= r.base.Memory {
		return bench.E2E
	}
	return j.series.Scope
}

// isGenerated reports whether a job's images are generated as they are read.
func (r *reproduction) isGenerated(j paperJob) bool {
	return j.series.Scope == bench.File && paper.Source(j.input) == "generated"
}

// The time in nanoseconds to generate a voxel of an image on one core.
const (
	noiseNS = 5
	fieldNS = 40 // of a Gaussian random field
)

// countNS is the time in nanoseconds to count a voxel on one core, by implementation on the host.
var countNS = map[string]int64{"cpu": 25, "extrema": 2}

// tooLong returns the reason why an implementation takes too long for the images that a job
// generates during reading, or "".
func (r *reproduction) tooLong(j paperJob, impl string) string {
	if !r.isGenerated(j) || r.scope(j) != bench.File {
		return ""
	}
	ns := int64(noiseNS)
	if j.row.Data != "uniform noise" {
		ns = fieldNS
	}
	ns += countNS[impl]
	n := j.row.Voxels() * j.series.Files(j.row) * int64(r.rotate(j))
	took := quantity.Seconds(float64(n*ns) * 1e-9 / float64(r.o.limit.Threads))
	if took <= r.o.limit.Time {
		return ""
	}
	why := fmt.Sprintf("SKIPPED: needs about %s to make and count (%d voxels × %d ns on %d cores), the limit is %s",
		quantity.Duration(took), n, ns, r.o.limit.Threads, quantity.Duration(r.o.limit.Time))
	if r.o.at.Store == "" {
		why += "; --store reads them"
	}
	return why
}

// weighTime records why a job with an input takes too long.
func (r *reproduction) weighTime(j paperJob, input string) {
	for _, impl := range j.impls {
		if why := r.tooLong(j, impl); why != "" {
			r.slow[impl+j.input], r.slow[impl+input] = why, why
		}
	}
}

// rotate returns the number of images that rotate through the cells of a job.
func (r *reproduction) rotate(j paperJob) int {
	if j.row.Bytes()*j.series.Files(j.row)*int64(r.o.rotate) >= largeImages ||
		j.series.Workload != paper.ECC && j.row.Times() > 100 {
		return 1
	}
	return r.o.rotate
}

// plans groups the jobs: one plan for each workload, scope and way to run it.
// Ceilings are measured only where reading the images fits the time limit.
func (r *reproduction) plans() []runner.Plan {
	var plans []runner.Plan
	for _, j := range r.jobs {
		names := slices.DeleteFunc(slices.Clone(j.impls), func(impl string) bool { return r.slow[impl+j.input] != "" })
		if r.missing[j.input] != "" || len(names) == 0 {
			continue
		}
		p := r.base
		p.Impls = nil
		p.Workload, p.Scope, p.Rotate, p.Inputs = j.series.Workload, r.scope(j), r.rotate(j), []string{j.input}
		if j.series.Workload != paper.ECC { // verify computes the curves of single images
			p.Reproduce = func(impl, input string) string {
				return fmt.Sprintf("eccbench paper %s --impl %s (%s fails, too)", j.table, impl, input)
			}
		}
		streamed := r.isGenerated(j) && p.Scope == bench.File // whose rate is its generator's
		if j.series.Workload == paper.ECC && !streamed && r.reading(j) < r.o.limit.Time {
			p.Ceiling = impls.Ceiling
		}
		if j.series.Workload == paper.Batch && paper.Source(j.input) == "stored" {
			p.Ceiling = impls.BatchCeiling
		}
		i := slices.IndexFunc(plans, func(q runner.Plan) bool {
			return q.Workload == p.Workload && q.Scope == p.Scope && q.Inputs[0] == j.input
		})
		if i < 0 {
			plans, i = append(plans, p), len(plans)
		}
		for _, impl := range names {
			if !slices.Contains(plans[i].Impls, impl) {
				plans[i].Impls = append(plans[i].Impls, impl)
			}
		}
	}
	return append(r.bandwidths(), plans...)
}

// bandwidths read the images of pipelines on a device, which have no ceiling among
// their own implementations.
func (r *reproduction) bandwidths() []runner.Plan {
	impl, ok := ceilingOnDevice(r.base.Benches)
	var plans []runner.Plan
	for _, j := range r.jobs {
		name, err := j.row.Generated()
		if j.series.Workload != paper.Smooth || j.series.Where != "gpu" || err != nil || !ok ||
			slices.ContainsFunc(plans, func(q runner.Plan) bool { return q.Inputs[0] == name }) {
			continue
		}
		p := r.base
		p.Workload, p.Impls, p.Inputs, p.Scope, p.Rotate = impls.Ceiling, []string{impl}, []string{name},
			bench.Kernel, r.o.rotate
		plans = append(plans, p)
	}
	return plans
}

// reading estimates how long the images of a job take to read, at 0.5 GB/s.
func (r *reproduction) reading(j paperJob) time.Duration {
	return quantity.Seconds(float64(int64(r.rotate(j))*j.row.Bytes()) / 0.5e9)
}
