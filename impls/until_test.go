package impls_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"eccbench/datasets/element"
	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// soon is a context that ends after a number of calls of Err.
type soon struct {
	context.Context
	left *atomic.Int64
}

func newSoon(n int64) soon {
	left := new(atomic.Int64)
	left.Store(n)
	return soon{context.Background(), left}
}

func (s soon) Err() error {
	if s.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Implementations on the host and the fingerprint stop soon after their context ends: in memory,
// streamed, and in a view. Before that it has no effect.
func TestUntil(t *testing.T) {
	for _, name := range []string{"noise/shape=40x30x60/type=uint8/seed=1", "noise/shape=40x30x60/type=float32/seed=2", "noise/shape=300x900/type=int16/seed=3", "noise/shape=9x30x60/type=uint8/seed=1/repeat=7"} {
		streamed, whole := ecctest.Open(t, name)
		every, err := element.Voxels(t.Context(), 2, whole.Shape(), whole.Type().String(), whole.Data(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []grid.Source{streamed, whole, every} {
			for _, c := range ecctest.Conventions() {
				w := ecc.InConvention(bench.Workload[grid.Source, ecc.VCEC]{Impls: impls.List(nil)}, c)
				for _, impl := range w.Impls {
					if a := impl.About(); a.Where != "cpu" || a.Name == "naive" {
						continue
					}
					conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
					if impl.CanDo(in, conditions) != nil {
						continue
					}
					want, err := bench.Answer(impl, in, conditions)
					if err != nil {
						t.Fatal(err)
					}
					never := newSoon(1 << 40)
					got, err := bench.Answer(impl, grid.WithContext(never, in), conditions)
					if err != nil || len(got) != len(want) {
						t.Errorf("%s of %s %+v: %d steps and %v, want %d", impl.About().Name, name, c, len(got), err, len(want))
					}
					asked := 1<<40 - never.left.Load()
					if asked < 1 {
						t.Fatalf("%s of %s %T %+v never asks", impl.About().Name, name, in, c)
					}
					ends := newSoon(asked / 2)
					if _, err := bench.Answer(impl, grid.WithContext(ends, in), conditions); !errors.Is(err, context.Canceled) {
						t.Errorf("%s of %s %T %+v: %v, want %v", impl.About().Name, name, in, c, err, context.Canceled)
					}
					if more := -ends.left.Load(); more > 2+asked/2 {
						t.Errorf("%s of %s %+v asks %d times more", impl.About().Name, name, c, more)
					}
				}
				if _, err := fingerprint.Compute(grid.WithContext(newSoon(1), in), fingerprint.Draw(1).WithConvention(c), 2); !errors.Is(err, context.Canceled) {
					t.Errorf("the fingerprint of %s %T %+v: %v, want %v", name, in, c, err, context.Canceled)
				}
			}
		}
	}
}
