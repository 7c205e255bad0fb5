// Command mutate measures the sensitivity of eccbench verify and the tests: it changes the program
// in one place at a time, in Go, in assembly and in the kernels, and counts the changes that make
// one of them fail.
//
// All changes of Go and assembly are in one build, made with an overlay of the changed files. A
// changed function starts with a switch that selects the copy that ECCMUT names. Nothing is written
// to the source tree.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "faults" {
		return commandFaults(ctx, args[1:])
	}
	f := flag.NewFlagSet("mutate", flag.ContinueOnError)
	root := f.String("root", "../..", "the folder of the program")
	seed := seedFlag(f)
	each := f.Int("n", 8, "mutants of a package")
	all := f.Bool("all", false, "all mutants, which takes hours")
	only := f.String("only", "", "packages of the report to look at, as a comma list of patterns such as 'impls/*'")
	jobs := f.Int("jobs", runtime.NumCPU(), "mutants that run at once")
	check := f.Bool("check", false, "fail where the score of the committed sample is less than the committed one")
	survivors := f.String("survivors", "", "a file for the survivors, as JSON, such as -list takes")
	missed := f.String("missed", "", "a file for what verify does not notice, in the same form")
	list := f.String("list", "", "a file in the same form: these are run, and nothing is drawn")
	lazy := f.Bool("lazy", false, "run the tests on what verify does not notice alone, or verify on what the tests of what neither computes nor carries answers do not: less to wait for, and the other number is less")
	quick := f.Bool("quick", false, "run the tests of a mutant's own package first, and nothing else on what they notice: the number by any alone, for less to wait for")
	limit := f.Duration("limit", 0, "after so long no mutant is begun any more, and the report is of those that ended soon after")
	verbose := f.Bool("v", false, "a line for each mutant")
	if err := f.Parse(args); err != nil {
		return err
	}
	abs, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	here := filepath.Join(abs, "internal/mutate")
	p := Project{root: abs, command: "cmd/eccbench", targets: targets, inputs: inputs,
		seed: *seed, each: *each, jobs: *jobs, log: os.Stderr, verbose: *verbose,
		lazy: *lazy || *quick, quick: *quick, limit: *limit}
	if *list != "" {
		if err := readJSON(*list, &p.list); err != nil {
			return err
		}
		p.each = 0
	}
	var floor Floor
	if *check {
		if floor, err = readFloor(filepath.Join(here, floorFile)); err != nil {
			return err
		}
		p.seed, p.each, p.lazy, p.quick = floor.Seed, floor.Each, true, true
		*only = floor.Only
	}
	if *all {
		p.each = 0
	}
	if *only != "" {
		p.targets = nil
		for _, t := range targets {
			for _, pattern := range strings.Split(*only, ",") {
				if ok, err := path.Match(pattern, t.Name); err != nil {
					return err
				} else if ok {
					p.targets = append(p.targets, t)
					break
				}
			}
		}
	}
	fmt.Fprintf(os.Stderr, "mutate: seed %s\n", p.seed)
	results, err := p.Run(ctx)
	if err != nil {
		return err
	}
	score := results.Print(os.Stdout)
	if *survivors != "" {
		if err := results.write(*survivors, func(x *Result) bool { return x.Verify == "" && x.Tests == "" }); err != nil {
			return err
		}
	}
	if *missed != "" {
		if err := results.write(*missed, func(x *Result) bool { return x.Verify == "" && x.asked }); err != nil {
			return err
		}
	}
	if len(results.Broken) > 0 {
		return fmt.Errorf("%d of what notices mutants fail without one", len(results.Broken))
	}
	if *check {
		if score < floor.Score {
			return fmt.Errorf("the score is %.1f %%, less than the %.1f %% in %s", score, floor.Score, floorFile)
		}
	}
	return nil
}
