package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"eccbench/internal/bench"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/runner"
)

// RecordFlags hold the flags of the results file of a command.
type RecordFlags struct {
	Out    string
	Resume bool
	Retry  bool
	Hash   bool // the program is identified by its hash without a file, too
}

// Add adds the flags.
func (r *RecordFlags) Add(f *pflag.FlagSet) {
	f.StringVarP(&r.Out, "out", "o", "", "write the records to this `FILE` (JSON lines)")
	f.BoolVar(&r.Resume, "resume", false, "continue the file of --out with the missing cells")
	f.BoolVar(&r.Retry, "retry", false, "with --resume: repeat cells that crashed or ran out of memory or time")
}

// Check returns an error for flags that exclude each other.
func (r *RecordFlags) Check() error {
	if r.Resume && r.Out == "" {
		return Usagef("--resume needs the file to continue: --out FILE")
	}
	if r.Retry && !r.Resume {
		return Usagef("--retry applies to a run that is continued: add --resume")
	}
	return nil
}

// A Recording holds the records of a results file, or of this run alone if no file is named.
type Recording struct {
	All  bench.Records // includes the earlier records of the file
	run  bench.RunRecord
	log  *bench.Log // nil without a file
	done map[bench.CellKey]bench.CellRecord
}

// Record starts or continues a recording. The caller closes it.
func (r *RecordFlags) Record(seed uint64, stderr io.Writer) (*Recording, error) {
	run, err := host.NewRunRecord(append([]string{"eccbench"}, os.Args[1:]...), seed, r.Hash || r.Out != "")
	if err != nil {
		return nil, err
	}
	rec := &Recording{run: run, done: map[bench.CellKey]bench.CellRecord{}}
	if r.Out != "" {
		if rec.log, rec.All, err = openLog(r.Out, r.Resume); err != nil {
			return nil, err
		}
		if rec.All.Cut > 0 {
			fmt.Fprintf(stderr, "eccbench: results %s: the last line was cut off after %d bytes: it is measured anew\n", r.Out,
				rec.All.Cut)
		}
	}
	// Cells of another program or machine do not count as done.
	stations, others, failed := rec.All.Stations(), 0, 0
	rec.All.Cells = slices.DeleteFunc(rec.All.Cells, func(cell bench.CellRecord) bool {
		if stations[cell.Run] != run.Station() {
			others++
			return false
		}
		if cell.Failed() {
			failed++
			if r.Retry {
				return true
			}
		}
		rec.done[cell.Key()] = cell
		return false
	})
	if others > 0 {
		fmt.Fprintf(stderr,
			"eccbench: %d cells of %s were measured by another program or on another machine: they are measured anew\n",
			others, r.Out)
	}
	if failed > 0 {
		about := "%d of which crashed or ran out of time; --retry measures these again"
		if r.Retry {
			about = "%d that crashed or ran out of time are measured again"
		}
		fmt.Fprintf(stderr, "eccbench: results %s: %d cells are kept, "+about+"\n", r.Out, len(rec.done), failed)
	}
	rec.All.Runs = append(rec.All.Runs, run)
	if err := rec.append(run); err != nil {
		return nil, errors.Join(err, rec.Close())
	}
	return rec, nil
}

// FinishedCell returns the finished record of a cell, if any.
func (r *Recording) FinishedCell(k bench.CellKey) (bench.CellRecord, bool) {
	cell, ok := r.done[k]
	return cell, ok
}

// Keep appends the record of a finished cell.
func (r *Recording) Keep(cell bench.CellRecord) error {
	cell.Run = r.run.ID
	r.All.Cells = append(r.All.Cells, cell)
	return r.append(cell)
}

func (r *Recording) append(record any) error {
	if r.log == nil {
		return nil
	}
	return r.log.Append(record)
}

// Close closes the file, if any.
func (r *Recording) Close() error {
	if r.log == nil {
		return nil
	}
	return r.log.Close()
}

// openLog starts or continues a results file. A path that cannot be written is a usage error.
func openLog(path string, resume bool) (*bench.Log, bench.Records, error) {
	if resume {
		log, records, err := bench.ResumeLog(path)
		if err != nil {
			err = Usage(err)
		}
		return log, records, err
	}
	log, err := bench.CreateLog(path)
	if err != nil {
		err = Usage(err)
	}
	return log, bench.Records{}, err
}

// Weigh checks every input before the run, so that a bad input costs no time. It returns the number
// of items of each input as the weight of its cells.
func Weigh(plans ...runner.Plan) (w Weights, err error) {
	items := map[string]int64{}
	for _, p := range plans {
		b, err := runner.Find(p.Benches, p.Workload)
		if err != nil {
			return w, err
		}
		for _, input := range p.Inputs {
			cost, _, err := b.Describe(input)
			if err != nil {
				return w, Usage(err)
			}
			items[input] = cost.Items
		}
	}
	return Weights{of: func(c runner.Cell) int64 { return items[c.Input] }}, nil
}

// Weights assign each cell its share of a run. With a forecast, weights are in nanoseconds.
type Weights struct {
	of       func(runner.Cell) int64
	foreseen bool
}

// Foresee forecasts the time of a plan and returns the forecast of each cell. interrupted reports
// that a signal ended the forecast.
func (c *Program) Foresee(p runner.Plan) (w Weights, interrupted bool, err error) {
	ctx, stop := Interruptible()
	defer stop()
	estimating := c.Following(false).Waiting("estimating the time")
	forecast, err := p.Forecast(ctx)
	estimating()
	if runner.Interrupted(err) {
		return w, true, nil
	}
	if err != nil {
		return w, false, err
	}
	fmt.Fprintf(c.Stderr, "eccbench: %d cells, about %s\n", len(forecast), quantity.Duration(forecast.Total()))
	return Weights{func(c runner.Cell) int64 { return int64(forecast[c]) }, true}, false, nil
}

// Conduct runs plans in order, shows their progress, and passes every finished cell to keep. After
// a signal, interrupted is true and keep has received all cells that were finished.
func (c *Program) Conduct(weights Weights, quiet bool, keep func(bench.CellRecord) error,
	plans ...runner.Plan) (interrupted bool, err error) {
	follow, err := newFollower(plans, weights, c.Stderr, quiet, keep)
	if err != nil {
		return false, err
	}
	defer follow.close()
	ctx, stop := Interruptible()
	defer stop()
	for _, p := range plans {
		if err := runner.Run(ctx, p, follow); err != nil {
			if runner.Interrupted(err) {
				return true, nil
			}
			return false, err
		}
	}
	return false, nil
}

// ResumeHint returns the hint how to continue an interrupted run, if it has a file.
func ResumeHint(file string) string {
	if file == "" {
		return ""
	}
	return "; the same command with --resume does the rest"
}
