package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

const floorFile = "floor.json"

// A Floor is the sample for every change, with its required score. The score allows for mutants
// that answer like the program, about one in fourteen, which are not listed.
type Floor struct {
	Seed  string  `json:"seed"`
	Each  int     `json:"each"`
	Only  string  `json:"only"`
	Score float64 `json:"score"` // percent
}

func readFloor(name string) (f Floor, err error) { return f, readJSON(name, &f) }

func readJSON(name string, to any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Results hold the results of all mutants.
type Results struct {
	All    []*Result
	Broken []string // tests that failed without a mutant, and so noticed nothing

	targets []Target
	places  map[string]int // number of existing mutants by target
	took    time.Duration
	left    int                      // mutants of the sample without a result, for lack of time
	used    map[string]time.Duration // processor time by kind of stage, and "" for builds
}

// Print writes the table and the survivors. It returns the score: the percentage of noticed
// mutants.
func (r *Results) Print(w io.Writer) (score float64) {
	fmt.Fprint(w, "| code | changes | run | `verify` comes to | noticed by `verify` | by tests | by any | survive | score |\n|---|---|---|---|---|---|---|---|---|\n")
	var total, answers, device, aside counts
	for _, t := range r.targets {
		n := counts{places: r.places[t.Name]}
		for _, x := range r.All {
			if x.Target == t.Name {
				n.add(x)
				switch x.aside() {
				case "":
					answers.add(x)
				case onDevice:
					device.add(x)
				default:
					aside.add(x)
				}
			}
		}
		n.line(w, t.Name, t.verify != nil)
		for i := range n {
			total[i] += n[i]
		}
	}
	total.line(w, "all", true)
	if aside[run]+device[run] > 0 {
		fmt.Fprintf(w, "\nOf those that were run, `verify` notices %d of %d changes of what may compute or carry answers, and %d are noticed by any;\n"+
			"of planted faults, refusals, estimates, words and names of inputs %d of %d, and %d;\nof what drives a device %d of %d, and %d.\n",
			answers[noticedByVerify], answers[run], answers[noticedByAny],
			aside[noticedByVerify], aside[run], aside[noticedByAny],
			device[noticedByVerify], device[run], device[noticedByAny])
	}
	var lost []*Result
	for _, x := range r.All {
		if x.Verify == "" && x.Tests == "" {
			lost = append(lost, x)
		}
	}
	if len(lost) > 0 {
		fmt.Fprintf(w, "\nSurvivors:\n")
	}
	for _, x := range lost {
		never := ""
		if !x.Reached {
			never = " (never reached)"
		}
		fmt.Fprintf(w, "- %s%s\n", x.Mutant, never)
	}
	for _, b := range r.Broken {
		fmt.Fprintf(w, "\nLeft out: %s\n", b)
	}
	if r.left > 0 {
		fmt.Fprintf(w, "\nThere was no time for %d of the sample.\n", r.left)
	}
	fmt.Fprintf(w, "\n%.0f s. Of the processor %.0f s to build, %.0f s by `verify`, %.0f s by tests.\n",
		r.took.Seconds(), r.used[""].Seconds(), r.used[byVerify].Seconds(), r.used[byTests].Seconds())
	return total.score()
}

// counts are a line of the table: all mutants, the mutants that were run, the mutants in functions
// that verify reaches, and the stages that noticed them.
type counts [noticedByAny + 1]int

const (
	places = iota
	run
	verifyComesTo
	noticedByVerify
	noticedByTests
	noticedByAny
)

func (n *counts) add(x *Result) {
	n[run]++
	if x.ByVerify {
		n[verifyComesTo]++
	}
	if x.Verify != "" {
		n[noticedByVerify]++
	}
	if x.Tests != "" {
		n[noticedByTests]++
	}
	if x.Verify != "" || x.Tests != "" {
		n[noticedByAny]++
	}
}

func (n *counts) score() float64 {
	if n[run] == 0 {
		return 100
	}
	return 100 * float64(n[noticedByAny]) / float64(n[run])
}

func (n *counts) line(w io.Writer, name string, verify bool) {
	comes, byVerify := "—", "—"
	if verify {
		comes, byVerify = fmt.Sprint(n[verifyComesTo]), fmt.Sprint(n[noticedByVerify])
	}
	fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %d | %d | %d | %.0f %% |\n",
		name, n[places], n[run], comes, byVerify, n[noticedByTests], n[noticedByAny], n[run]-n[noticedByAny], n.score())
}

// write lists some of the mutants in a file.
func (r *Results) write(name string, which func(*Result) bool) error {
	list := []*Mutant{}
	for _, x := range r.All {
		if which(x) {
			m := *x.Mutant
			m.Line = 0
			list = append(list, &m)
		}
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o666)
}
