package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/gating"
	"eccbench/internal/quantity"
	"eccbench/internal/regular"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
)

// Check returns the command check.
func Check() cli.Subcommand {
	return cli.Subcommand{
		Name: "check", Args: "FILE...", Brief: "check results files that others submit",
		Examples: []string{"eccbench check r.jsonl", "eccbench check r.jsonl --answers"},
		Run:      doCheck,
	}
}

func doCheck(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	answers := f.Bool("answers", false, "also answer the inputs again, and compare the digests of the answers")
	limit := f.Duration("time-limit", time.Minute, "time limit of an answer")
	if err := parse(); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return cli.Usagef("check needs the results files to check")
	}
	faults, unchecked, empty := 0, 0, []string(nil)
	for _, path := range f.Args() {
		file, _, err := regular.Open(path)
		if err != nil {
			return cli.Usagef("results %w", err)
		}
		records, found, err := bench.Check(file)
		file.Close() // only read from
		if err != nil {
			return cli.Usagef("results %s: %w", path, err)
		}
		found = append(found, workloadFaults(c, records.Cells)...)
		if *answers {
			again, without, err := answerAgain(c, records.Cells, *limit)
			if err != nil {
				return err
			}
			found, unchecked = append(found, again...), unchecked+len(without)
			for _, why := range without {
				fmt.Fprintf(c.Stdout, "%s: %v\n", path, why)
			}
		}
		for _, fault := range found {
			fmt.Fprintf(c.Stdout, "%s: %v\n", path, fault)
		}
		runs, cells := len(records.Runs), len(records.Cells)
		if cells == 0 {
			empty = append(empty, path)
		}
		if records.Unsummed > 0 {
			fmt.Fprintf(c.Stdout, "%s: no line has a sum: an old program wrote it, or the sums were removed\n", path)
		}
		fmt.Fprintf(c.Stdout, "%s: %s, %s, %s\n", path, quantity.Count(runs, "run"), quantity.Count(cells, "cell"),
			quantity.Count(len(found), "fault"))
		faults += len(found)
	}
	if faults > 0 {
		return cli.VerdictError{Code: cli.ExitWrong, Why: fmt.Sprintf("check: %d faults", faults)}
	}
	if len(empty) > 0 {
		return cli.Usagef("results %s: no cells in it; leave it out, or measure with `eccbench run --out %s --resume`",
			strings.Join(empty, ", "), empty[0])
	}
	if unchecked > 0 {
		return cli.VerdictError{Code: cli.ExitInconclusive,
			Why: fmt.Sprintf("check: %s not computed again", quantity.Count(unchecked, "answer"))}
	}
	return nil
}

// workloadFaults returns the faults of cells that contradict their workload: a tolerance for exact
// answers, or the wrong cost of an input. It opens no input from files.
func workloadFaults(c *cli.Program, cells []bench.CellRecord) (faults []error) {
	for _, cell := range cells {
		b, err := runner.Find(c.Benches, cell.Workload)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s on %s: %w", cell.Impl, cell.Input, err))
			continue
		}
		if cell.Tolerant && b.Exact() {
			faults = append(faults, fmt.Errorf("%s on %s: tolerant, but right answers to %s are equal",
				cell.Impl, cell.Input, cell.Workload))
		}
		made := maker(c.Benches, b, cell)
		if len(made.Files(cell.Input)) > 0 {
			continue
		}
		cost, _, err := made.Describe(cell.Input)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("%s on %s: %w", cell.Impl, cell.Input, err))
		case cost != cell.Cost:
			faults = append(faults, fmt.Errorf("%s on %s: its size is %s, that of the input %s",
				cell.Impl, cell.Input, sizeOf(cell.Cost), sizeOf(cost)))
		}
	}
	return faults
}

// sizeOf describes the size of an input.
func sizeOf(c bench.Cost) string {
	return fmt.Sprintf("%d %s, %d bytes, %s of %s", c.Items, c.Unit, c.Bytes, c.Size, c.Class)
}

// maker returns the workload that made the input of a cell: that of the cell, unless it was the ceiling of another one
// whose inputs have names of their own.
func maker(benches []runner.Bench, of runner.Bench, cell bench.CellRecord) runner.Bench {
	for _, b := range benches {
		q := b.Question()
		if q.Ceiling != nil && q.Ceiling(cell.Scope) == of.Name() && q.Form.Kind != "" &&
			strings.HasPrefix(cell.Input, q.Form.Kind+"/") {
			return b
		}
	}
	return of
}

// answerAgain runs an implementation of this program on the inputs of cells, and returns a fault for
// each answer with another digest. It skips answers that are WRONG or have a tolerance, and ceilings on
// inputs that another workload made. A generated input that cannot be made is a fault. without lists the
// inputs that have no second answer, with the reason: files that cannot be read here, and answers that took
// too long or too much memory.
func answerAgain(c *cli.Program, cells []bench.CellRecord, limit time.Duration) (faults, without []error, err error) {
	cells = slices.DeleteFunc(slices.Clone(cells), func(cell bench.CellRecord) bool {
		b, err := runner.Find(c.Benches, cell.Workload)
		return cell.Tolerant || cell.Status == verify.Wrong || err == nil && maker(c.Benches, b, cell) != b
	})
	inputs := map[string][]string{} // by workload
	for _, cell := range cells {
		n := min(len(cell.Inputs), len(cell.Digests))
		inputs[cell.Workload] = append(inputs[cell.Workload], cell.Inputs[:n]...)
	}
	if err := c.CheckWorkers("check --answers"); err != nil {
		return nil, nil, err
	}
	ours := map[string]bench.CellRecord{} // by workload and input
	for _, workload := range slices.Sorted(maps.Keys(inputs)) {
		b, err := runner.Find(c.Benches, workload)
		if err != nil {
			continue // a fault already
		}
		list := inputs[workload]
		slices.Sort(list)
		list = slices.DeleteFunc(slices.Compact(list), func(input string) bool {
			_, _, err := b.Describe(input)
			if err != nil {
				to := &faults
				if len(b.Files(input)) > 0 {
					to = &without
				}
				*to = append(*to, fmt.Errorf("input %s of %s: not answered again: %w", input, workload, err))
			}
			return err != nil
		})
		plan := runner.Plan{
			Command: c.Worker, Clock: c.Clock, Benches: c.Benches, Workload: workload,
			Impls: []string{gating.OnHost(b)}, Inputs: list, Scope: bench.E2E, Threads: 1, Time: limit, Budget: limit,
		}
		err = runner.Run(context.Background(), plan, observer(func(cell bench.CellRecord) error {
			if cell.Status == verify.Verified || cell.Status == verify.Mistrusted { // confirmed, perhaps on a weak input
				ours[workload+" "+cell.Input] = cell
			} else {
				without = append(without, fmt.Errorf("input %s of %s: not answered again: %s is %s: %s", cell.Input,
					workload, cell.Impl, cell.Status, cell.Reason))
			}
			return nil
		}))
		if err != nil {
			return nil, nil, cli.Usage(err)
		}
	}
	for _, cell := range cells {
		for i := range min(len(cell.Inputs), len(cell.Digests)) {
			own := ours[cell.Workload+" "+cell.Inputs[i]]
			if len(own.Digests) > 0 && own.Digests[0] != cell.Digests[i] {
				faults = append(faults, fmt.Errorf("%s on %s is %s: the digest of its answer is %s, that of %s is %s",
					cell.Impl, cell.Inputs[i], cell.Status, cell.Digests[i], own.Impl, own.Digests[0]))
			}
		}
	}
	return faults, without, nil
}
