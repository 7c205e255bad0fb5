package reproduce

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/reports/paper"
)

// list prints the cells with their estimated costs, and runs nothing.
func (r *reproduction) list() error {
	var cells [][]string
	var total time.Duration
	var bytes int64
	var stored, free int64
	refusals := r.refusals()
	for i := range r.jobs {
		_, need, room, err := r.place(i, stored)
		if err != nil {
			return err
		}
		stored, free = stored+need, max(free, room)
		j := r.jobs[i]
		n := j.row.Bytes() * j.series.Files(j.row) * int64(r.rotate(j))
		for k, impl := range j.impls {
			about, _ := r.c.About(j.series.Workload, impl)
			took := r.estimate(j, about)
			what := "about " + quantity.Duration(took)
			if why := refusals[i][k]; why != "" {
				what, took = "SKIPPED: "+why, 0
			}
			cells = append(cells, []string{string(r.scope(j)), j.series.Workload, impl, j.row.Data, j.row.Label,
				fmt.Sprintf("%d × %s", r.rotate(j)*int(j.series.Files(j.row)), quantity.Bytes(j.row.Bytes())), what})
			total, bytes = total+took, max(bytes, n)
		}
	}
	if err := report.Table(r.c.Stdout, r.o.style,
		[]string{"scope", "workload", "implementation", "data", "size", "images", "time"}, cells); err != nil {
		return err
	}
	fmt.Fprintf(r.c.Stdout,
		"\n%d cells, about %s: each call at 0.08 Gvox/s a core or 2 Gvox/s on a device, %s of samples, and "+
			"as much again to make and verify; largest images together %s.\n",
		len(cells), quantity.Duration(total), quantity.Duration(r.o.sampling.MaxTime), quantity.Bytes(bytes))
	if stored > 0 {
		fmt.Fprintf(r.c.Stdout, "%s would be written to %s, which has %s free.\n", quantity.Bytes(stored), r.o.at.Store,
			quantity.Bytes(free))
	}
	if r.noDevice != "" {
		fmt.Fprintf(r.c.Stdout, "No cells on a device: %s.\n", r.noDevice)
	}
	return nil
}

// estimate estimates the time of a cell.
func (r *reproduction) estimate(j paperJob, a bench.About) time.Duration {
	rate := 0.08e9 * float64(r.o.limit.Threads)
	if a.Where == "gpu" {
		rate = 2e9
	}
	call := float64(j.row.Work(j.series.Workload)) / rate
	calls := call * float64(r.rotate(j))
	timed := max(calls, min(r.o.sampling.MaxTime.Seconds(), call*float64(r.o.sampling.MaxSamples)))
	return min(quantity.Seconds(timed+2*calls), 3*r.o.limit.Time)
}

// refusals returns the reasons why implementations on the host reject the jobs, by job and
// implementation. It is "" if one accepts, or cannot be asked without a device. Each input is
// opened once.
func (r *reproduction) refusals() [][]string {
	type input struct{ workload, name string }
	type cell struct{ job, impl int }
	asked := map[input][]cell{}
	refusals := make([][]string, len(r.jobs))
	for i, j := range r.jobs {
		refusals[i] = make([]string, len(j.impls))
		name, err := j.row.Input(j.series.Workload, bench.E2E, paper.Place{})
		for k, impl := range j.impls {
			switch why := r.slow[impl+j.input]; {
			case why != "":
				refusals[i][k] = strings.TrimPrefix(why, "SKIPPED: ")
			case j.series.Where == "gpu":
			case err != nil:
				refusals[i][k] = err.Error()
			default:
				in := input{j.series.Workload, name}
				asked[in] = append(asked[in], cell{i, k})
			}
		}
	}
	for in, cells := range asked {
		var names []string
		var conditions []bench.Conditions
		for _, c := range cells {
			j := r.jobs[c.job]
			names = append(names, j.impls[c.impl])
			conditions = append(conditions, bench.Conditions{
				Setting: bench.Setting{Scope: j.series.Scope, Threads: r.o.limit.Threads},
				Time:    r.o.limit.Time / time.Duration(r.rotate(j)), Memory: r.base.Memory,
			})
		}
		b, err := runner.Find(r.base.Benches, in.workload)
		errs := slices.Repeat([]error{err}, len(cells))
		if err == nil {
			errs = b.Refusals(in.name, names, conditions)
		}
		for n, c := range cells {
			if errs[n] != nil {
				refusals[c.job][c.impl] = errs[n].Error()
			}
		}
	}
	return refusals
}
