package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"eccbench/internal/bench"
	"eccbench/internal/runner"
)

// recordFlags say which results file a command writes.
type recordFlags struct {
	out    string
	resume bool
}

func (r *recordFlags) add(f *pflag.FlagSet) {
	f.StringVarP(&r.out, "out", "o", "", "write the records to this file (JSON lines)")
	f.BoolVar(&r.resume, "resume", false, "continue the file of --out: run only the cells it lacks")
}

func (r *recordFlags) check() error {
	if r.resume && r.out == "" {
		return usagef("--resume needs the file to continue: --out FILE")
	}
	return nil
}

// A recording is the records of a results file, or of this run alone where none
// was named.
type recording struct {
	all  bench.Records // those that the file had before, too
	run  bench.RunRecord
	log  *bench.Log // nil for no file
	done map[bench.CellKey]bench.CellRecord
}

// record starts or continues a recording. Close it.
func (r *recordFlags) record(seed uint64, stderr io.Writer) (*recording, error) {
	run, err := runner.NewRunRecord(append([]string{"eccbench"}, os.Args[1:]...), seed)
	if err != nil {
		return nil, err
	}
	rec := &recording{run: run, done: map[bench.CellKey]bench.CellRecord{}}
	if r.out != "" {
		if rec.log, rec.all, err = openLog(r.out, r.resume); err != nil {
			return nil, err
		}
	}
	// What another program measured, or another machine, is not done.
	stations, others := rec.all.Stations(), 0
	for _, cell := range rec.all.Cells {
		if stations[cell.Run] == run.Station() {
			rec.done[cell.Key()] = cell
		} else {
			others++
		}
	}
	if others > 0 {
		fmt.Fprintf(stderr, "eccbench: %d cells of %s were measured by another program or on another machine: they are measured anew\n", others, r.out)
	}
	rec.all.Runs = append(rec.all.Runs, run)
	if err := rec.append(run); err != nil {
		return nil, errors.Join(err, rec.close())
	}
	return rec, nil
}

// was is the record that a cell has already, if any.
func (r *recording) was(k bench.CellKey) (bench.CellRecord, bool) {
	cell, ok := r.done[k]
	return cell, ok
}

// keep adds a cell that ended.
func (r *recording) keep(cell bench.CellRecord) error {
	cell.Run = r.run.ID
	r.all.Cells = append(r.all.Cells, cell)
	return r.append(cell)
}

func (r *recording) append(record any) error {
	if r.log == nil {
		return nil
	}
	return r.log.Append(record)
}

func (r *recording) close() error {
	if r.log == nil {
		return nil
	}
	return r.log.Close()
}

// openLog starts or continues a results file; a path that cannot be written is
// the user's to mend.
func openLog(path string, resume bool) (*bench.Log, bench.Records, error) {
	if resume {
		log, records, err := bench.ResumeLog(path)
		if err != nil {
			err = usageError{err}
		}
		return log, records, err
	}
	log, err := bench.CreateLog(path)
	if err != nil {
		err = usageError{err}
	}
	return log, bench.Records{}, err
}

// weigh looks at every input before anything runs, so that a bad one costs
// nothing, and returns the size of each in items.
func weigh(plans ...runner.Plan) (map[string]int64, error) {
	weights := map[string]int64{}
	for _, p := range plans {
		b, err := runner.Find(p.Benches, p.Workload)
		if err != nil {
			return nil, err
		}
		for _, input := range p.Inputs {
			cost, _, err := b.Describe(input)
			if err != nil {
				return nil, usageError{err}
			}
			weights[input] = cost.Items
		}
	}
	return weights, nil
}

// conduct runs plans one after the other, shows how far they are, and hands
// every cell that ends to keep. It is interrupted when a signal ended it: what
// had ended by then has been handed over.
func (c *command) conduct(weights map[string]int64, quiet bool, keep func(bench.CellRecord) error, plans ...runner.Plan) (interrupted bool, err error) {
	follow, err := newFollower(plans, weights, c.stderr, quiet, keep)
	if err != nil {
		return false, err
	}
	defer follow.close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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

func resumeHint(file string) string {
	if file == "" {
		return ""
	}
	return "; the same command with --resume does the rest"
}
