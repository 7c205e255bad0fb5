package ecc

import (
	"errors"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// A remiss adder does not reset at Begin, adds all pieces once, or always adds the first one.
type remiss struct {
	bench.Implementation[grid.Source, VCEC]
	fault string
}

type remissJob struct {
	*sumJob
	fault string
	in    grid.Source
	said  *int
}

func (r remiss) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	job, err := r.Implementation.Setup(in, c)
	if err != nil {
		return nil, err
	}
	first, err := grid.Load(in) // which is overwritten
	return remissJob{job.(*sumJob), r.fault, first, new(int)}, err
}

func (j remissJob) Begin() {
	if j.fault != "remembers" || *j.said == 0 {
		j.sumJob.Begin()
	}
}

func (j remissJob) Add(in grid.Source, times int64) error {
	*j.said++
	switch {
	case j.fault == "once":
		times = 1
	case j.fault == "first":
		in = j.in
	case j.fault == "fails" && *j.said == 3:
		return errors.New("it fails")
	}
	return j.sumJob.Add(in, times)
}

// The law calls jobs that are Adders, and rejects wrong ones. It does not call others.
func TestAddersAreAsked(t *testing.T) {
	for _, name := range []string{"noise/shape=7x9x13/type=uint8/levels=9/seed=1", "noise/shape=9x13/type=float32/levels=70000/seed=1", "noise/shape=9x1/type=uint8/seed=1"} {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		counts := bench.FromFunc(func(in grid.Source) (VCEC, error) {
			f, err := grid.Load(in)
			if err != nil {
				return nil, err
			}
			return Enumerate(f), nil
		})
		adds := summing(counts, grid.Whole)
		for _, c := range []struct {
			what string
			impl bench.Implementation[grid.Source, VCEC]
			want string
		}{
			{"one that counts images whole", counts, "not applicable"}, {"one that adds up", adds, "right"},
			{"one that remembers", remiss{adds, "remembers"}, "wrong"},
			{"one that adds what it should take off", remiss{adds, "once"}, "wrong"}, {"one that adds the first", remiss{adds, "first"}, "wrong"},
			{"one that fails", remiss{adds, "fails"}, "it fails"},
		} {
			if _, ok := c.impl.(remiss); ok && f.Shape().Slices() < 3 {
				continue // there is one piece
			}
			d, err := addedUp(f, Enumerate(f), func(in grid.Source) (VCEC, error) { return bench.Answer(c.impl, in, bench.Conditions{}) })
			got := map[bool]string{true: "right", false: "wrong"}[d == nil]
			if errors.Is(err, verify.ErrNotApplicable) {
				got = "not applicable"
			} else if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s, %s: %s (%v), want %s", name, c.what, got, d, c.want)
			}
		}
	}
}

// A remissJoiner counts a piece without its shared slice, or forgets to, or fails.
type remissJoiner struct {
	bench.Implementation[grid.Source, VCEC]
	fault string
}

type remissJoinJob struct {
	*sumJob
	fault string
}

func (j remissJoiner) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	job, err := j.Implementation.Setup(in, c)
	if err != nil {
		return nil, err
	}
	return remissJoinJob{job.(*sumJob), j.fault}, nil
}

func (j remissJoinJob) AddJoined(p grid.Piece) error {
	if j.fault == "fails" && p.Shared != nil {
		return errors.New("it fails")
	}
	if err := j.Add(p.Field, p.Times); err != nil || p.Shared == nil || j.fault == "forgets" {
		return err
	}
	return j.Add(p.Shared, -p.Times)
}

// The law calls jobs that are Joiners, and rejects wrong ones. It calls no others, and none for a
// 2D image.
func TestJoinersAreAsked(t *testing.T) {
	for _, name := range []string{"noise/shape=7x9x13/type=uint8/levels=9/seed=1", "noise/shape=9x13/type=uint8/seed=1"} {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		adds := summing(bench.FromFunc(func(in grid.Source) (VCEC, error) {
			f, err := grid.Load(in)
			if err != nil {
				return nil, err
			}
			return Enumerate(f), nil
		}), grid.Whole)
		for _, c := range []struct {
			what string
			impl bench.Implementation[grid.Source, VCEC]
			want string
		}{
			{"one that adds up alone", adds, "not applicable"}, {"one that joins", remissJoiner{adds, ""}, "right"},
			{"one that counts what is shared twice", remissJoiner{adds, "forgets"}, "wrong"}, {"one that fails", remissJoiner{adds, "fails"}, "it fails"},
		} {
			asked := 0
			d, err := joinedUp(f, Enumerate(f), func(in grid.Source) (VCEC, error) {
				asked++
				return bench.Answer(c.impl, in, bench.Conditions{})
			})
			got := map[bool]string{true: "right", false: "wrong"}[d == nil]
			if errors.Is(err, verify.ErrNotApplicable) {
				got = "not applicable"
			} else if err != nil {
				got = err.Error()
			}
			if f.Shape().Dim() == 2 {
				if got != "not applicable" || asked > 0 {
					t.Errorf("%s, %s: %s, asked %d times", name, c.what, got, asked)
				}
				continue
			}
			if got != c.want || asked != 1 {
				t.Errorf("%s, %s: %s (%v), want %s", name, c.what, got, d, c.want)
			}
		}
	}
}
