package shard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func env(pairs string) func(string) string {
	set := map[string]string{}
	for _, p := range strings.Fields(pairs) {
		key, value, _ := strings.Cut(p, "=")
		set[key] = value
	}
	return func(key string) string { return set[key] }
}

// Several shards are in ranges, as eccbench merge --missing prints them.
func TestParseList(t *testing.T) {
	for _, c := range []struct{ text, env, want string }{
		{"3/8", "", "[3/8]"}, {"auto/8", "PBS_ARRAY_INDEX=8", "[8/8]"}, {"3,5-7/8", "", "[3/8 5/8 6/8 7/8]"}, {"1-2/2", "", "[1/2 2/2]"}, {"4-4/8", "", "[4/8]"},
		{"3,3/8", "", "each once"}, {"5-3/8", "", "ascending"}, {"5,3/8", "", "ascending"}, {"1-9/8", "", "i from 1 to n"}, {"0-2/8", "", "i from 1 to n"},
		{"1-2", "", "want i/n"}, {"1-/8", "", "want i/n"}, {",2/8", "", "want i/n"}, {"-1/8", "", "i from 1"}, {"1,auto/8", "PBS_ARRAY_INDEX=8", "without others"},
		{"1-2/x", "", "no number"}, {"auto", "", "no scheduler"}, {"1-2-3/8", "", "want i/n"},
	} {
		list, err := ParseList(c.text, env(c.env))
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%q in %q: %s, want %s", c.text, c.env, got, c.want)
		}
	}
	if list, err := ParseList("auto/4", env("")); len(list) != 1 || list[0].N != 4 || !errors.Is(err, ErrNoScheduler) {
		t.Errorf("auto/4 without a scheduler: %v, %v", list, err)
	}
}

func TestParse(t *testing.T) {
	const (
		slurm = "SLURM_ARRAY_TASK_ID=%d SLURM_ARRAY_TASK_MIN=%d SLURM_ARRAY_TASK_MAX=%d SLURM_ARRAY_TASK_COUNT=%d SLURM_ARRAY_TASK_STEP=%d"
		sge   = "SGE_TASK_ID=%d SGE_TASK_FIRST=%d SGE_TASK_LAST=%d SGE_TASK_STEPSIZE=%d"
	)
	for _, c := range []struct{ text, env, want string }{
		{"1/1", "", "1/1"}, {"3/8", "", "3/8"}, {"3/8", "SLURM_ARRAY_TASK_ID=5", "3/8"}, // the argument counts
		{"0/8", "", "i from 1 to n"}, {"9/8", "", "i from 1 to n"}, {"3", "", "want i/n"}, {"3/", "", "no number of shards"},
		{"", "", "want i/n"}, {"x/8", "", "want i/n"}, {"1/0", "", "no number"}, {"1/9999999", "", "no number"}, {"-1/3", "", "i from 1"},

		{"auto", fmt.Sprintf(slurm, 0, 0, 7, 8, 1), "1/8"},
		{"auto", fmt.Sprintf(slurm, 7, 0, 7, 8, 1), "8/8"},
		{"auto", fmt.Sprintf(slurm, 3, 1, 8, 8, 1), "3/8"},
		{"auto", fmt.Sprintf(slurm, 14, 2, 14, 4, 4), "4/4"},
		{"auto", fmt.Sprintf(slurm, 5, 3, 7, 3, 1), "has gaps"}, // --array=3,5,7
		{"auto", fmt.Sprintf(slurm, 9, 1, 8, 8, 1), "no task of"},
		{"auto", "SLURM_ARRAY_TASK_ID=4", "give auto/n"},
		{"auto", "SLURM_ARRAY_TASK_ID=x", "want a whole number"},
		{"auto/8", fmt.Sprintf(slurm, 5, 3, 7, 3, 1), "5/8"}, // a task that is done again
		{"auto/8", fmt.Sprintf(slurm, 0, 0, 7, 8, 1), "counted from 1 to 8"},
		{"auto/8", fmt.Sprintf(slurm, 9, 1, 9, 9, 1), "counted from 1 to 8"},

		{"auto/8", "PBS_ARRAY_INDEX=8", "8/8"}, {"auto", "PBS_ARRAY_INDEX=8", "PBS gives the number"}, {"auto/8", "PBS_ARRAY_INDEX=0", "counted from 1"},
		{"auto/8", "PBS_ARRAYID=2", "2/8"},

		{"auto", fmt.Sprintf(sge, 5, 1, 9, 4), "2/3"}, {"auto", fmt.Sprintf(sge, 9, 1, 9, 4), "3/3"}, {"auto", fmt.Sprintf(sge, 6, 1, 9, 4), "no task of"},
		{"auto/8", "SGE_TASK_ID=8", "8/8"},
		{"auto", "SGE_TASK_ID=undefined SGE_TASK_LAST=undefined", "no scheduler"}, // a job that is no array
		{"auto", "SGE_TASK_ID=undefined JOB_COMPLETION_INDEX=0", "Kubernetes gives the number"},

		{"auto/4", "JOB_COMPLETION_INDEX=0", "1/4"}, {"auto/4", "JOB_COMPLETION_INDEX=3", "4/4"}, {"auto/4", "JOB_COMPLETION_INDEX=4", "counted from 0 to 3"},
		{"auto", "", "no scheduler"}, {"auto/4", "", "no scheduler"}, {"auto/x", "", "no number"},
	} {
		s, err := Parse(c.text, env(c.env))
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%q in %q: %s, want %s", c.text, c.env, got, c.want)
		}
	}
	if s, err := Parse("auto/4", env("")); s.N != 4 || !errors.Is(err, ErrNoScheduler) {
		t.Errorf("auto/4 without a scheduler: %v, %v", s, err)
	}
}

// Shares of a list are all of it, each once.
func TestOf(t *testing.T) {
	list := []int{10, 20, 30, 40, 50}
	for n := int64(1); n < 8; n++ {
		var all []int
		for i := int64(1); i <= n; i++ {
			all = append(all, Select(Shard{i, n}, list)...)
		}
		if slices.Sort(all); !slices.Equal(all, list) {
			t.Errorf("in %d: %v", n, all)
		}
	}
	if got := Select(Shard{2, 2}, list); !slices.Equal(got, []int{20, 40}) {
		t.Errorf("2/2: %v", got)
	}
}

// With as many steps as shards or more, spans begin with a step. They contain all slices in order.
func TestSpanBy(t *testing.T) {
	for _, depth := range []int64{1, 5, 8, 127, 128, 129, 1000} {
		for _, step := range []int64{1, 2, 5, 64, 128} {
			for _, n := range []int64{1, 2, 3, 8, 100} {
				last, aligned := int64(0), (depth+step-1)/step >= n
				for i := int64(1); i <= n; i++ {
					s := Shard{i, n}.SpanBy(depth, min(step, depth))
					if s.Lo != last || s.Hi < s.Lo || aligned && (s.Lo%min(step, depth) != 0 || s.Len() == 0) {
						t.Fatalf("%d slices by %d, shard %d/%d: %v after %d", depth, step, i, n, s, last)
					}
					last = s.Hi
				}
				if last != depth {
					t.Errorf("%d slices by %d in %d: end at %d", depth, step, n, last)
				}
			}
		}
	}
}

// The spans of all shards are the slices, in order, and none has two more than another.
func TestSpan(t *testing.T) {
	for _, slices := range []int64{1, 2, 7, 8, 9, 100, 10_000, 1 << 50} {
		for _, n := range []int64{1, 2, 3, 7, 8, 1000, MaxShards} {
			last, least, most := int64(0), int64(1<<62), int64(0)
			for i := int64(1); i <= n; i++ {
				s := Shard{i, n}.Span(slices)
				if s.Lo != last || s.Hi < s.Lo {
					t.Fatalf("%d slices, shard %d/%d: %v after %d", slices, i, n, s, last)
				}
				last, least, most = s.Hi, min(least, s.Len()), max(most, s.Len())
			}
			if last != slices || most-least > 1 {
				t.Errorf("%d slices in %d: end at %d, %d to %d slices each", slices, n, last, least, most)
			}
		}
	}
}
