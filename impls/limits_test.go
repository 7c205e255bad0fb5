package impls_test

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"eccbench/impls"
	"eccbench/internal/bench"
)

var update = flag.Bool("update", false, "rewrite testdata/limits.txt")

// limits writes the least time and memory with which implementations on cores accept inputs. These
// show the estimates exactly, to the nanosecond and the byte.
func limits[In, Out any](t *testing.T, to io.Writer, w bench.Workload[In, Out], names ...string) {
	t.Helper()
	for _, name := range names {
		in, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, impl := range w.Impls {
			a := impl.About()
			if a.Where != "cpu" {
				continue
			}
			c := bench.Conditions{Setting: bench.Setting{Scope: a.Scopes[0], Threads: 3}}
			if slices.Contains(a.ISAs, "portable") { // which any machine has
				c.ISA = "portable"
			}
			if err := impl.CanDo(in, c); err != nil {
				fmt.Fprintf(to, "%s, %s: %v\n", name, a.Name, err)
				continue
			}
			least := func(with func(n int64) bench.Conditions) int64 {
				const most = math.MaxInt64 / 4
				return 1 + int64(sort.Search(most, func(n int) bool { return impl.CanDo(in, with(int64(n)+1)) == nil }))
			}
			ns := least(func(n int64) bench.Conditions { c := c; c.Time = time.Duration(n); return c })
			bytes := least(func(n int64) bench.Conditions { c := c; c.Memory = n; return c })
			fmt.Fprintf(to, "%s, %s: from %d ns and %d bytes on\n", name, a.Name, ns, bytes)
		}
		if c, ok := any(in).(io.Closer); ok {
			c.Close()
		}
	}
}

// The estimates and rejections of implementations do not change unintentionally. -update accepts a
// change.
func TestLimits(t *testing.T) {
	var b strings.Builder
	set := impls.All(nil)
	images := []string{"noise/shape=9x8x7/type=uint8/levels=5/seed=1", "noise/shape=170x130/type=float32/levels=90/seed=2", "noise/shape=40x33x70/type=uint16/levels=4000/seed=3"}
	limits(t, &b, set.Curve, images...)
	limits(t, &b, set.BettiCurves, images...)
	limits(t, &b, set.Pairs, images...)
	for _, image := range images {
		limits(t, &b, set.Betti, "betti/at=2/of="+image)
		limits(t, &b, soft, "softecc/m=4/lambda=8/alpha=100/dir=1/of="+image)
		limits(t, &b, set.Flow, "gvf/steps=3/mu=50/boundary=0/of="+image)
		limits(t, &b, set.Steady, "gvf-steady/tol=4/mu=50/boundary=0/of="+image)
		limits(t, &b, set.Voxels, "eigenmap/k=2/tol=4/sigma=10/floor=3/corners=0/plain=0/of="+image)
		limits(t, &b, set.Patches, "eigenmap-patch/k=2/tol=4/alpha=1/beta=1/side=3/of="+image)
		limits(t, &b, set.Lanczos, "eigenmap-lanczos/steps=5/alpha=1/beta=1/side=3/start=1/of="+image)
	}
	limits(t, &b, set.Homology, "kuhn/shape=7x6x5/drills=1/cavities=2", "rp2", "lens/p=5/q=2/over=Z", "torus/over=Q")
	const golden = "testdata/limits.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")
	for i := range max(len(was), len(is)) {
		line := func(list []string) string {
			if i < len(list) {
				return list[i]
			}
			return ""
		}
		if line(was) != line(is) {
			t.Fatalf("line %d of %s:\n%s\nis now\n%s", i+1, golden, line(was), line(is))
		}
	}
}
