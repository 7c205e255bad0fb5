package impls_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/impls"
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

// everywhere is the shape of the images that are tested with all types in all conventions.
var everywhere = grid.Shape{D: 3, H: 4, W: 5}

// conventional are images of all types and dimensions, with the least and the greatest
// values at their edges and without.
func conventional(t *testing.T) (list []*grid.Field) {
	t.Helper()
	for i, shape := range []grid.Shape{
		{D: 1, H: 1, W: 1}, {D: 1, H: 1, W: 5}, {D: 1, H: 6, W: 1}, {D: 1, H: 5, W: 7}, {D: 2, H: 1, W: 1}, everywhere, {D: 2, H: 3, W: 70}, {D: 5, H: 2, W: 33},
	} {
		for _, typ := range grid.Types() {
			ladder := grid.Ladder{}
			if typ != grid.Float32 {
				ladder = grid.Identity(typ)
			} else {
				table, err := grid.Table([]float32{-2.5, -1, 0, 1e-40, 3, 100})
				if err != nil {
					t.Fatal(err)
				}
				ladder = table
			}
			switch {
			case race.Enabled && (ladder.Len() == 1<<16 || shape.W != 5):
				continue // the goroutines are the same ones
			case testing.Short() && ladder.Len() == 1<<16 && shape.W != 5:
				continue // large tables take most of the time
			}
			for _, few := range []int64{2, 6} {
				if few == 2 && ladder.Len() == 1<<16 && shape != everywhere {
					continue // the least value and the greatest are in others, too
				}
				rng := rand.New(rand.NewPCG(uint64(i), uint64(few)))
				list = append(list, gridtest.Image(t, shape, typ, ladder, func(int64) float64 {
					k := rng.Int64N(min(few, ladder.Len()))
					if k%2 == 1 {
						k = ladder.Len() - 1 - k/2
					}
					return float64(ladder.Value(k))
				}))
			}
		}
	}
	return list
}

// conventionsOf are all conventions, and of many images of 65,536 levels those without rings.
func conventionsOf(f *grid.Field) []ecc.Convention {
	if f.Ladder().Len() == 1<<16 && f.Shape() != everywhere {
		return ecctest.Conventions()
	}
	return slices.Concat(ecctest.Conventions(), ecctest.Periodic(f.Shape()))
}

// Every implementation on the host, in memory and streamed, and the fingerprint alone agree with
// the definition in every convention.
func TestConventions(t *testing.T) {
	for _, f := range conventional(t) {
		for _, c := range conventionsOf(f) {
			checkConvention(t, f, c)
		}
	}
}

func checkConvention(t *testing.T, f *grid.Field, c ecc.Convention) {
	t.Helper()
	want := ecctest.EnumerateIn(f, c)
	what := fmt.Sprintf("%v %v, %+v", f.Shape(), f.Type(), c)
	for _, impl := range ecc.InConvention(bench.Workload[grid.Source, ecc.VCEC]{Impls: impls.List(nil)}, c).Impls {
		if impl.About().Where != "cpu" || impl.About().Name == "naive" && f.Ladder().Len() > 1<<8 {
			continue
		}
		for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
			got, err := bench.Answer(impl, in, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
			if refused := (bench.Refusal{}); c.Masked && impl.About().Name != "extrema" {
				if !errors.As(err, &refused) {
					t.Errorf("%s: %s takes a mask (%v)", what, impl.About().Name, err)
				}
				continue
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v (%v)", what, impl.About().Name, got, want, err)
			}
		}
	}
	k := fingerprint.Draw(2).WithConvention(c)
	for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
		if d, err := ecc.HoldToFingerprint(in, want, k, 2); d != nil || err != nil {
			t.Errorf("%s: the fingerprint says %v (%v)", what, d, err)
		}
	}
	var wrong ecc.VCEC
	if len(want) > 0 {
		wrong = append(wrong, want...)
		wrong[0].Change++
	} else {
		wrong = ecc.VCEC{{Level: 0, Change: 1}}
	}
	if d, err := ecc.HoldToFingerprint(f, wrong, k, 2); d == nil || err != nil {
		t.Errorf("%s: the fingerprint takes a change of %+d at level %d (%v)", what, wrong[0].Change, wrong[0].Level, err)
	}
	for _, other := range ecctest.Conventions() {
		other.Periodic, other.Masked = c.Periodic, c.Masked
		if theirs := ecctest.EnumerateIn(f, other); !slices.Equal(theirs, want) {
			if d, err := ecc.HoldToFingerprint(f, theirs, k, 2); d == nil || err != nil {
				t.Errorf("%s: the fingerprint takes the curve of %+v for this (%v)", what, other, err)
			}
		}
	}
}

// On the ladder of every float32 the curve in a convention equals that on the ladder of the image's
// values.
func TestConventionsOnEveryFloat32(t *testing.T) {
	for _, f := range conventional(t) {
		if f.Type() == grid.Float32 {
			for _, c := range ecctest.Conventions() {
				checkOnEvery(t, f, c)
			}
		}
	}
}

func checkOnEvery(t *testing.T, f *grid.Field, c ecc.Convention) {
	t.Helper()
	every := grid.Identity(grid.Float32)
	want := ecctest.EnumerateIn(f, c)
	for i, s := range want {
		want[i].Level = every.Level(f.Ladder().Value(s.Level))
	}
	g, err := grid.Trusted(f.Shape(), f.Type(), f.Data(), every)
	if err != nil {
		t.Fatal(err)
	}
	host := bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}}}
	got, err := bench.Answer(ecc.InConvention(host, c).Impls[0], grid.Source(g), bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v: %v, want %v (%v)", c, f.Shape(), got, want, err)
	}
	if d, err := ecc.HoldToFingerprint(g, want, fingerprint.Draw(1).WithConvention(c), 2); d != nil || err != nil {
		t.Errorf("%+v, %v: the fingerprint says %v (%v)", c, f.Shape(), d, err)
	}
}

// Masked voxels are outside the image. Every implementation on the host and the fingerprint agree
// with the definition in every convention, and so does an image that is read once.
func TestMasked(t *testing.T) {
	for i, f := range conventional(t) {
		if f.Ladder().Len() == 1<<16 && f.Shape() != everywhere {
			continue
		}
		rng := rand.New(rand.NewPCG(7, uint64(i)))
		mask := gridtest.Image(t, f.Shape(), grid.Int16, grid.Identity(grid.Int16), func(int64) float64 { return float64(rng.IntN(3) - 1) })
		view, err := views.Mask(f, mask)
		if err != nil {
			t.Fatal(err)
		}
		masked, err := grid.Load(view)
		if err != nil {
			t.Fatal(err)
		}
		all := grid.Axes{X: true, Y: true, Z: f.Shape().D > 1}
		for _, c := range conventionsOf(f) {
			if c.Periodic != (grid.Axes{}) && c.Periodic != all {
				continue
			}
			c.Masked = true
			if f.Type() == grid.Float32 {
				checkOnEvery(t, masked, c)
			}
			checkConvention(t, masked, c)
			want := ecctest.EnumerateIn(masked, c)
			got, verdict, err := inOnePass(extrema.Implementation{}, masked, c, 2)
			if err != nil || !slices.Equal(got, want) || verdict.Status != verify.Verified && len(want) > 1 {
				t.Errorf("%v %v, %+v: %v, want %v; %v (%v)", f.Shape(), f.Type(), c, got, want, verdict, err)
			}
		}
	}
}
