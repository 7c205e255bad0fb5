package impls_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"eccbench/impls/cpu"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
	"eccbench/internal/race"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// inOnePass answers about an image that is read once, and judges the answer.
func inOnePass(impl bench.Implementation[grid.Source, ecc.VCEC], f *grid.Field, c ecc.Convention, slabSlices int64) (ecc.VCEC, verify.Verdict, error) {
	w := ecc.InOnePass(bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{impl}}, c, slabSlices)
	digester := grid.NewDigester(struct{ grid.Source }{f})
	out, err := bench.Answer(w.Impls[0], grid.Source(digester), bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
	if err != nil {
		return nil, verify.Verdict{}, err
	}
	if _, err := digester.Sum(); err != nil {
		return nil, verify.Verdict{}, err
	}
	q := verify.Question[grid.Source, ecc.VCEC]{Name: "image", In: digester, Out: out, Budget: time.Hour}
	return out, verify.Judge([]string{"image"}, w.Policy.Check(q)), nil
}

// An image that is read once has its curve, by pieces of any height, in every convention.
func TestOnePass(t *testing.T) {
	for _, f := range conventional(t) {
		for _, c := range conventionsOf(f) {
			want := ecctest.EnumerateIn(f, c)
			for _, slabSlices := range []int64{0, 2, 3} {
				got, verdict, err := inOnePass(extrema.Implementation{}, f, c, slabSlices)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v %v, %+v by %d: %v, want %v (%v)", f.Shape(), f.Type(), c, slabSlices, got, want, err)
				}
				if verdict.Status != verify.Verified && len(want) > 1 {
					t.Errorf("%v %v, %+v by %d: %v, %s", f.Shape(), f.Type(), c, slabSlices, verdict.Status, verdict.Reason)
				}
			}
			// An implementation of whole images counts each piece as an image.
			if f.Type() != grid.Uint8 {
				continue
			}
			got, verdict, err := inOnePass(cpu.Implementation{}, f, c, 2)
			if errors.As(err, new(bench.Refusal)) && c.Masked {
				continue
			}
			if err != nil || !slices.Equal(got, want) || verdict.Status != verify.Verified && len(want) > 1 {
				t.Errorf("%v %v, %+v by cpu: %v, want %v; %v (%v)", f.Shape(), f.Type(), c, got, want, verdict.Status, err)
			}
		}
	}
}

// So it is on ladders whose changes are gathered, and whose table all cores share.
func TestOnePassOfManyLevels(t *testing.T) {
	affine, err := grid.Affine(-1, 0x1p-19, 1<<20+2)
	if err != nil {
		t.Fatal(err)
	}
	for _, ladder := range []grid.Ladder{grid.Identity(grid.Float32), affine} {
		if (race.Enabled || testing.Short()) && ladder.Indexed() {
			continue
		}
		for _, shape := range []grid.Shape{{D: 1, H: 31, W: 40}, {D: 7, H: 12, W: 11}} {
			f := gridtest.Image(t, shape, grid.Float32, ladder, func(i int64) float64 { return float64(float32(i*7919%1009-512) / 1024) })
			for _, c := range ecctest.Conventions() {
				host := ecc.InConvention(bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}}}, c).Impls[0]
				want, err := bench.Answer(host, grid.Source(f), bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
				if err != nil {
					t.Fatal(err)
				}
				got, verdict, err := inOnePass(extrema.Implementation{}, f, c, 3)
				if err != nil || verdict.Status != verify.Verified || !slices.Equal(got, want) {
					t.Errorf("%v on %v, %+v: %d steps, want %d; %v (%v)", shape, ladder, c, len(got), len(want), verdict.Status, err)
				}
			}
		}
	}
}

// The spilled steps and the remaining ones add up to the answer in memory, in every convention.
// Each spill has its own fingerprint.
func TestSpilled(t *testing.T) {
	f := gridtest.Image(t, grid.Shape{D: 11, H: 5, W: 7}, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return float64(float32(i*7919%1009-512) / 1024) })
	ask := func(impl extrema.Implementation, c ecc.Convention, by ecc.PieceHooks) (ecc.VCEC, *verify.Diff) {
		t.Helper()
		w, _ := ecc.InShare(bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{impl}}, c, grid.Span{Lo: 2, Hi: 11}, fingerprint.Derived("a"), by)
		out, err := bench.Answer(w.Impls[0], grid.Source(f), bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := w.Policy.Laws[0].Check(f, out, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out, d
	}
	for _, c := range conventionsOf(f) {
		want, _ := ask(extrema.Implementation{}, c, ecc.PieceHooks{})
		sum, spills := map[int64]int64{}, 0
		add := func(v ecc.VCEC) error {
			for _, s := range v {
				sum[s.Level] += s.Change
			}
			spills++
			return nil
		}
		rest, d := ask(extrema.Implementation{}, c, ecc.PieceHooks{Spill: add, Voxels: 80})
		if d != nil || spills < 3 {
			t.Errorf("%+v: %d spills, %v", c, spills, d)
		}
		if err := add(rest); err != nil {
			t.Fatal(err)
		}
		for _, s := range want {
			sum[s.Level] -= s.Change
		}
		for level, change := range sum {
			if change != 0 {
				t.Errorf("%+v: level %d differs by %d", c, level, change)
			}
		}
	}
	// A fault is found even if all wrong steps were spilled.
	seen := 0
	for _, fault := range extrema.Faults() {
		if _, d := ask(extrema.Faulty(fault), ecc.Convention{}, ecc.PieceHooks{Spill: func(ecc.VCEC) error { return nil }, Voxels: 1}); d != nil {
			seen++
		}
	}
	if seen == 0 {
		t.Error("no fault is seen in what was spilled")
	}
}

// No wrong answer by pieces is accepted, whatever the fault; each fault gives some.
func TestOnePassCatches(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes a fault of a microsecond one of a second")
	}
	for _, fault := range extrema.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			caught := 0
			for _, f := range conventional(t) {
				for _, c := range ecctest.Conventions() {
					want := ecctest.EnumerateIn(f, c)
					got, verdict, err := inOnePass(extrema.Faulty(fault), f, c, 2)
					if err != nil {
						t.Fatal(err)
					}
					if slices.Equal(got, want) {
						continue
					}
					if caught++; verdict.Status != verify.Wrong {
						t.Errorf("%v %v, %+v: %v in place of %v is %v", f.Shape(), f.Type(), c, got, want, verdict.Status)
					}
				}
			}
			if caught == 0 {
				t.Error("every answer is right")
			}
		})
	}
}

// The sum of a job over pieces starts anew at each Begin, whether the pieces are added with their shared slices or
// joined.
func TestSumsBeginAnew(t *testing.T) {
	f := gridtest.Image(t, grid.Shape{D: 11, H: 5, W: 7}, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64(i * 7919 % 251) })
	const height = 3
	first, want := views.Crop(f, 0, height), ecctest.EnumerateIn(f, ecc.Convention{})
	job := ecctest.SetUp(t, extrema.Implementation{}, first, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
	sum := job.(bench.Adder[grid.Source])
	for what, add := range map[string]func() error{
		"added": func() error {
			return eachApart(f, grid.Whole(f), height, false, func(p *grid.Field, times int64) error { return sum.Add(p, times) })
		},
		"joined": func() error { return grid.EachJoined(f, grid.Whole(f), height, false, job.(ecc.Joiner).AddJoined) },
	} {
		sum.Begin()
		if err := sum.Add(first, 1); err != nil { // which the next Begin forgets
			t.Fatal(err)
		}
		sum.Begin()
		if err := add(); err != nil {
			t.Fatal(err)
		}
		if got, err := job.Out(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v (%v)", what, got, want, err)
		}
	}
}

// eachApart calls f for each slab and for each shared slice of EachJoined.
func eachApart(s grid.Source, of grid.Span, slices int64, closed bool, f func(piece *grid.Field, times int64) error) error {
	return grid.EachJoined(s, of, slices, closed, func(p grid.Piece) error {
		if err := f(p.Field, p.Times); err != nil || p.Shared == nil {
			return err
		}
		return f(p.Shared, -p.Times)
	})
}
