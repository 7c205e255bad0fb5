// Package shard determines the share of a task of one of several independent processes: shard i of
// n, from an argument or from the environment variables of a scheduler.
package shard

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"eccbench/internal/grid"
)

// A Shard is number I of N, counted from 1. I is 0 if unknown.
type Shard struct{ I, N int64 }

// MaxShards is the greatest number of shards.
const MaxShards = 1 << 20

// String is "i/n".
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// Span returns the slices of a shard. Shards differ by at most one slice; with more shards than
// slices some have none.
func (s Shard) Span(slices int64) grid.Span {
	at := func(i int64) int64 { // slices·i/N, which need not fit
		hi, lo := bits.Mul64(uint64(slices), uint64(i))
		q, _ := bits.Div64(hi, lo, uint64(s.N))
		return int64(q)
	}
	return grid.Span{Lo: at(s.I - 1), Hi: at(s.I)}
}

// SpanBy is Span for slices that are read step at a time. Shards divide a step only if there are
// more shards than steps.
func (s Shard) SpanBy(slices, step int64) grid.Span {
	steps := (slices + step - 1) / step
	if steps < s.N {
		return s.Span(slices)
	}
	of := s.Span(steps)
	return grid.Span{Lo: min(of.Lo*step, slices), Hi: min(of.Hi*step, slices)}
}

// Select returns a shard's share of a list: every N-th element from the I-th on. Costs that grow along
// the list are so divided evenly.
func Select[T any](s Shard, list []T) []T {
	var mine []T
	for i := s.I - 1; i < int64(len(list)); i += s.N {
		mine = append(mine, list[i])
	}
	return mine
}

// Auto selects the shard from the environment.
const Auto = "auto"

// Parse parses "i/n", or takes the shard from the environment for "auto" or "auto/n". Without a
// scheduler in the environment the error is an ErrNoScheduler, returned with n.
func Parse(text string, getenv func(string) string) (Shard, error) {
	i, n, both := strings.Cut(text, "/")
	s := Shard{}
	var err error
	if both {
		if s.N, err = strconv.ParseInt(n, 10, 64); err != nil || s.N < 1 || s.N > MaxShards {
			return Shard{}, fmt.Errorf("%q: %q is no number of shards; want i/n, %s or %s/n, n from 1 to %d", text, n, Auto,
				Auto, MaxShards)
		}
	}
	if i == Auto {
		return fromEnvironment(s.N, getenv)
	}
	if s.I, err = strconv.ParseInt(i, 10, 64); err != nil || !both || s.I < 1 || s.I > s.N {
		return Shard{}, fmt.Errorf("%q: want i/n, %s or %s/n, with i from 1 to n", text, Auto, Auto)
	}
	return s, nil
}

// ParseList parses the text of Parse, or several shards of n with ranges as in Slurm: "3,5-7/16".
func ParseList(text string, getenv func(string) string) ([]Shard, error) {
	which, n, _ := strings.Cut(text, "/")
	if !strings.ContainsAny(strings.TrimPrefix(which, "-"), ",-") {
		s, err := Parse(text, getenv)
		return []Shard{s}, err
	}
	var list []Shard
	for part := range strings.SplitSeq(which, ",") {
		first, last, is := strings.Cut(part, "-")
		if !is {
			last = first
		}
		if first == Auto || last == Auto {
			return nil, fmt.Errorf("%q: %s is one shard, without others", text, Auto)
		}
		lo, err := Parse(first+"/"+n, getenv)
		if err != nil {
			return nil, err
		}
		hi, err := Parse(last+"/"+n, getenv)
		if err != nil {
			return nil, err
		}
		if lo.I > hi.I || len(list) > 0 && lo.I <= list[len(list)-1].I {
			return nil, fmt.Errorf("%q: want shards in ascending order, each once", text)
		}
		for i := lo.I; i <= hi.I; i++ {
			list = append(list, Shard{i, hi.N})
		}
	}
	return list, nil
}

// ErrNoScheduler means that no task of a job array is in the environment.
var ErrNoScheduler = errors.New("no scheduler gives the shard: none of SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, " +
	"PBS_ARRAYID, SGE_TASK_ID and JOB_COMPLETION_INDEX is set")

// A scheduler names its environment variables for a task of an array: its number and, if available,
// the first and the last one, the step, and the number of tasks.
type scheduler struct {
	name, id, first, last, step, count string
	from                               int64 // that tasks are counted from where n is given
	none                               string
}

// schedulers lists the supported schedulers in the order of the search.
var schedulers = []scheduler{
	{name: "Slurm", id: "SLURM_ARRAY_TASK_ID", first: "SLURM_ARRAY_TASK_MIN", last: "SLURM_ARRAY_TASK_MAX",
		step: "SLURM_ARRAY_TASK_STEP", count: "SLURM_ARRAY_TASK_COUNT", from: 1},
	{name: "PBS", id: "PBS_ARRAY_INDEX", from: 1},
	{name: "Torque", id: "PBS_ARRAYID", from: 1},
	{name: "SGE", id: "SGE_TASK_ID", first: "SGE_TASK_FIRST", last: "SGE_TASK_LAST", step: "SGE_TASK_STEPSIZE", from: 1,
		none: "undefined"},
	{name: "Kubernetes", id: "JOB_COMPLETION_INDEX"},
}

// fromEnvironment is the shard of an array's task. With n the task's number is i, so that an
// array of some of the tasks does the same shares as one of all. Without, it is the task's
// place in the array, which must have no gaps.
func fromEnvironment(n int64, getenv func(string) string) (Shard, error) {
	for _, s := range schedulers {
		text := getenv(s.id)
		if text == "" || text == s.none {
			continue
		}
		id, err := number(s.id, text)
		if err != nil {
			return Shard{}, err
		}
		if n > 0 {
			if i := id - s.from + 1; i >= 1 && i <= n {
				return Shard{i, n}, nil
			}
			return Shard{}, fmt.Errorf("%s=%d: with %s/%d tasks are counted from %d to %d", s.id, id, Auto, n, s.from,
				s.from+n-1)
		}
		if s.last == "" || getenv(s.last) == "" {
			return Shard{}, fmt.Errorf("%s gives the number of this task and not how many there are: give %s/n", s.name, Auto)
		}
		return s.place(id, getenv)
	}
	return Shard{N: n}, ErrNoScheduler
}

// place is the shard of a task by its place in an array without gaps.
func (s scheduler) place(id int64, getenv func(string) string) (Shard, error) {
	value := map[string]int64{}
	for _, v := range []struct{ key, otherwise string }{{s.first, "1"}, {s.last, ""}, {s.step, "1"}, {s.count, "0"}} {
		text := v.otherwise
		if v.key != "" && getenv(v.key) != "" && getenv(v.key) != s.none {
			text = getenv(v.key)
		}
		var err error
		if value[v.key], err = number(v.key, text); err != nil {
			return Shard{}, err
		}
	}
	first, last, step := value[s.first], value[s.last], max(1, value[s.step])
	n := (last-first)/step + 1
	if id < first || id > last || (id-first)%step != 0 || n > MaxShards {
		return Shard{}, fmt.Errorf("%s=%d: no task of an array from %d to %d in steps of %d", s.id, id, first, last, step)
	}
	if count := value[s.count]; s.count != "" && count > 0 && count != n {
		return Shard{}, fmt.Errorf("an array of %d tasks from %d to %d has gaps, so the number of shards is "+
			"unknown: give %s/n", count, first, last, Auto)
	}
	return Shard{(id-first)/step + 1, n}, nil
}

func number(key, text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 || v > 1<<40 {
		return 0, fmt.Errorf("%s=%s: want a whole number", key, text)
	}
	return v, nil
}
