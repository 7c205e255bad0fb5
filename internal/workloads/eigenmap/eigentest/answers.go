package eigentest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/bench/benchtest"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap"
)

// Calls returns a check of the calls of an implementation, which must have these parts. The calls
// must fail if the image is unreadable or a node has no neighbour.
func Calls(i Implementation, kind string, parts ...string) checktest.Check {
	return benchtest.Calls(i, func(t *testing.T) (*eigenmap.Problem, map[string]*eigenmap.Problem) {
		// One value is so far from the others that its weights are 0.
		s := grid.Shape{D: 1, H: 5, W: 5}
		apart, alike := make([]byte, s.Voxels()), make([]byte, s.Voxels())
		apart[14] = 255
		for k := range alike {
			alike[k] = byte(k * k % 7)
		}
		of := func(values []byte) (p *eigenmap.Problem) {
			switch f := gridtest.OfBytes(t, s, values...); kind {
			case eigenmap.Grid:
				p = eigenmap.OfVoxels(f, 2, 1e-6, 0.01, 0, false, false)
			case eigenmap.Patch:
				p = eigenmap.OfPatches(f, 2, 1e-6, 2, 5, 1)
			default:
				p = eigenmap.OfSteps(f, 2, 2, 1, 2, 5, 1)
			}
			return p
		}
		in := of(alike)
		if kind == eigenmap.Grid { // only one component
			in.Floor = 0.5
		}
		return in, map[string]*eigenmap.Problem{gridtest.ErrUnread.Error(): in.ForImage(gridtest.Unread{Source: in.Source}), "no neighbour": of(apart)}
	}, parts...)
}

// Answers returns a check of answers to small problems, on one core and on more cores than nodes.
// The laws accept all answers of the right implementation. For each fault they reject at least one
// answer.
func Answers(i Implementation, faulty map[string]Implementation, names ...string) checktest.Check {
	return checktest.Check{Name: "small answers", Of: func(t *testing.T) {
		judge := func(i Implementation, p *eigenmap.Problem, name string, threads int) verify.Verdict {
			ask := func(p *eigenmap.Problem) (eigenmap.Map, error) {
				return bench.Answer(i, p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}})
			}
			m, err := ask(p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			policy := eigenmap.OnGrid().Policy
			if p.Kind == eigenmap.Lanczos {
				policy = eigenmap.BySteps().Policy
			}
			return verify.Judge([]string{name}, policy.Check(verify.Question[*eigenmap.Problem, eigenmap.Map]{
				Name: name, In: p, Out: m, Ask: ask, PerCall: 1, Budget: 1 << 50, Thorough: true, Now: func() time.Time { return time.Time{} },
			}))
		}
		seen := map[string]bool{}
		for _, name := range names {
			p := open(t, name)
			if m, err := bench.Answer(i, p, bench.Conditions{}); err != nil || !slices.IsSorted(m.Values) {
				t.Errorf("%s: values %v, %v", name, m.Values, err)
			}
			for _, threads := range []int{1, 99} {
				if v := judge(i, p, name, threads); v.Status != verify.Verified {
					t.Errorf("%s, %d cores: %s: %s", name, threads, v.Status, v.Reason)
				}
			}
			for fault, i := range faulty {
				if !seen[fault] {
					seen[fault] = judge(i, p, name, 2).Status == verify.Wrong
				}
			}
		}
		for fault := range faulty {
			if !seen[fault] {
				t.Errorf("%s is not seen", fault)
			}
		}
	}}
}

// An Estimate is the computed cost of an answer: nanoseconds of a core, for all cores or the given ones,
// and bytes.
type Estimate struct {
	NS, Bytes int64
	OneCore   bool
}

// CheckEstimates returns a check of rejections: problems with less time or memory than they need, on some
// cores, and problems of other kinds.
func CheckEstimates(i Implementation, needs map[string]Estimate) checktest.Check {
	return checktest.Check{Name: "needs", Of: func(t *testing.T) {
		kinds := map[string]bool{}
		for name, need := range needs {
			p := open(t, name)
			kinds[p.Kind] = true
			for threads, cores := range map[int]int64{0: 1, 1: 1, 4: 4} {
				given := bench.Conditions{Setting: bench.Setting{Threads: threads}}
				if need.OneCore {
					cores = 1
				}
				for _, c := range []struct {
					ns, bytes int64
					want      string // part of the message
				}{{0, 0, ""}, {need.NS/cores + 1, need.Bytes, ""}, {need.NS/cores - 1, need.Bytes, "estimated "}, {need.NS/cores + 1, need.Bytes - 1, "the limit is"}} {
					given.Time, given.Memory = time.Duration(c.ns), c.bytes
					if err := i.CanDo(p, given); (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
						t.Errorf("%s, %d cores, of %+v given %d ns and %d bytes: %v", name, threads, need, c.ns, c.bytes, err)
					}
				}
			}
		}
		for kind, keys := range map[string]string{eigenmap.Grid: "k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0", eigenmap.Patch: "k=2/tol=6/alpha=40/beta=5/side=1", eigenmap.Lanczos: "steps=2/alpha=40/beta=5/side=1/start=1"} {
			if err := i.CanDo(open(t, kind+"/"+keys+"/of=noise/shape=3x3/type=uint8/seed=1"), bench.Conditions{}); (err == nil) != kinds[kind] {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}}
}

func open(t *testing.T, name string) *eigenmap.Problem {
	t.Helper()
	kind, _, _ := strings.Cut(name, "/")
	p, err := eigenmap.Inputs(kind).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
