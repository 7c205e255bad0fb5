package homologytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// Answered checks an implementation on complexes with groups known from their names. It must give
// them on any number of cores, repeatedly, and name the parts of a call on several cores. An empty
// complex has no groups, and many points have as many components.
func Answered(i Implementation, parts []string, names ...string) checktest.Check {
	return checktest.Check{Name: "answers of " + i.About().Name, Of: func(t *testing.T) {
		policy := homology.Workload().Policy
		for _, name := range names {
			p := problem(t, name)
			want, ok := policy.Known(name, p)
			if !ok {
				t.Fatalf("nothing follows from %s", name)
			}
			for threads := range 6 {
				c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}
				if err := i.CanDo(p, c); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				j, err := i.Setup(p, c)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for range 2 {
					j.Poison()
					if got, err := j.Out(); err == nil && policy.Agree(p, want, got) == nil {
						t.Errorf("%s, %d cores: %v after the output was overwritten", name, threads, got)
					}
					var trace bench.Trace
					if err := j.Do(&trace); err != nil {
						t.Fatalf("%s, %d cores: %v", name, threads, err)
					}
					if got, err := j.Out(); err != nil || policy.Agree(p, want, got) != nil {
						t.Errorf("%s, %d cores: %v, %v, want %v", name, threads, got, err, want)
					}
					if got := slices.Sorted(maps.Keys(trace.Spans())); threads > 1 && !slices.Equal(got, parts) {
						t.Errorf("%s: parts %q, want %q", name, got, parts)
					}
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		answersPoints(t, i)
	}}
}

// answersPoints checks an implementation on complexes of separate points.
func answersPoints(t *testing.T, i Implementation) {
	points := &simplicial.Complex{} // enough for several cores to number them, if there are several
	for v := range uint32(1 << 15) {
		points.Add(v)
	}
	for want, of := range map[string]*simplicial.Complex{"()": {Vertices: 2}, "(32768)": points} {
		for _, threads := range []int{0, 1, 3} {
			p, c := &homology.Problem{Complex: of, Over: 2}, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}
			if err := i.CanDo(p, c); err != nil {
				if !strings.HasSuffix(err.Error(), "; use reduced") {
					t.Errorf("%s: %v", want, err)
				}
				continue
			}
			j, err := i.Setup(p, c)
			if err == nil {
				err = errors.Join(j.Do(nil), j.Close())
			}
			if err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			if got, err := j.Out(); err != nil || got.String() != want || len(got.Torsion) != len(got.Betti) {
				t.Errorf("%d cores: %v, %v, want %s", threads, got, err, want)
			}
		}
	}
}

// A Limit is the least time and memory with which an implementation accepts a problem on some
// cores, or the reason why it never does.
type Limit struct {
	Of        string
	Threads   int
	NS, Bytes int64
	Never     string
}

// Limited checks the least time and memory with which an implementation accepts problems.
func Limited(i Implementation, limits ...Limit) checktest.Check {
	return checktest.Check{Name: "limits of " + i.About().Name, Of: func(t *testing.T) {
		for _, l := range limits {
			p := problem(t, l.Of)
			can := func(ns, bytes int64) error {
				return i.CanDo(p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: l.Threads}, Time: time.Duration(ns), Memory: bytes})
			}
			if l.Never != "" {
				if err := can(0, 0); err == nil || !strings.HasSuffix(err.Error(), l.Never+"; use reduced") {
					t.Errorf("%s: %v, want %q", l.Of, err, l.Never)
				}
				continue
			}
			ns := checktest.Least(func(n int64) bool { return can(n, 0) == nil })
			bytes := checktest.Least(func(n int64) bool { return can(0, n) == nil })
			if ns != l.NS || bytes != l.Bytes {
				t.Errorf("%s, %d cores: taken from %d ns and %d bytes on, want %d and %d", l.Of, l.Threads, ns, bytes, l.NS, l.Bytes)
			}
		}
	}}
}

// LongTorsion returns a complex with torsion of more than 64 bits: one group whose order is the
// product of the primes up to 53.
func LongTorsion(t *testing.T, over homology.Ring) *homology.Problem {
	t.Helper()
	name := "moore/n=2"
	for _, p := range []int{3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53} {
		name = fmt.Sprintf("wedge/with=moore,n=%d/of=%s", p, name)
	}
	name, err := homology.NameOf(name, over)
	if err != nil {
		t.Fatal(err)
	}
	return problem(t, name)
}

func problem(t *testing.T, name string) *homology.Problem {
	t.Helper()
	p, err := homology.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
