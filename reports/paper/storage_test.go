package paper

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/report"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/gvf"
)

func flowing(t *testing.T, steps int64) *gvf.Problem {
	t.Helper()
	s, err := datasets.Open("tubes/shape=48x40/type=uint8/n=3/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	return gvf.NewProblem(s, 0.05, steps, 0, gvf.Replicate)
}

// 16 bits cause only a rounding error at step 0, and then at most half a unit for each step and for
// V0.
func TestStorage(t *testing.T) {
	const unit = 1.0 / 32767
	for _, steps := range []int64{0, 1, 40} {
		s, err := measureStorage(flowing(t, steps))
		if err != nil {
			t.Fatal(err)
		}
		most := math.Sqrt2 * unit * (0.51*float64(steps) + 2.5)
		if m := s.Magnitude; m.Maximum == 0 || m.Maximum > most || m.Average > m.Maximum || m.Minimum > m.Average || m.Variance > m.Maximum*m.Maximum {
			t.Errorf("after %d steps: %+v, want at most %g", steps, s, most)
		}
		if a := s.Angle; a.Maximum == 0 || a.Maximum > math.Pi || a.Minimum != 0 {
			t.Errorf("after %d steps: %+v", steps, a)
		}
	}
	for v, want := range map[float32]float32{0: 0, 1: 1, -2: -1, 0.5 / 32767: 0, 0.75 / 32767: 1.0 / 32767} {
		if got := gvf.Snorm16.Round(v); got != want {
			t.Errorf("%v is stored as %v, want %v", v, got, want)
		}
	}
	p, err := Find("smistad2012")
	if err != nil {
		t.Fatal(err)
	}
	table := p.Tables[2]
	table.Rows[0].Count = 3
	var b bytes.Buffer
	if err := PrintStorage(&b, report.Markdown, table, flowing(t, 0).Source); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| difference of magnitudes ", "| 8.92e-10 ", "here, mu 0.05", "more than 0.1 off"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// The checks of Smistad et al. on published numbers, and on numbers of our own.
func TestSmistadClaims(t *testing.T) {
	p, err := Find("smistad2012")
	if err != nil {
		t.Fatal(err)
	}
	var cells []bench.CellRecord
	for _, c := range []struct {
		table       int
		impl, where string
		seconds     float64
	}{{1, "blocked", "cpu", 0.1}, {1, "texture", "gpu", 0.002}, {1, "global", "gpu", 0.001}} {
		r := p.Tables[c.table-1].Rows[0]
		scope := bench.E2E
		if c.where == "gpu" {
			scope = bench.Kernel
		}
		one := cell(r, c.impl, c.where, scope, Place{}, verify.Verified, c.seconds)
		one.Workload = Flow
		if one.Input, err = r.Input(Flow, scope, Place{}); err != nil {
			t.Fatal(err)
		}
		cells = append(cells, one)
	}
	lines := map[int][]Line{}
	for _, tab := range p.Tables {
		lines[tab.N] = p.Lines(tab, cells, "memread", func(_, impl string) bool { return impl == "cpu" || impl == "blocked" }, func(Series, Row, string) string { return "not run" })
	}
	absent := 0
	for _, l := range lines[2] {
		if l.Impl == "texture" && l.Note == "not in this program" && l.Published.V > 0 {
			absent++
		}
	}
	if absent != 4 {
		t.Errorf("%d cells say that what they need is absent, want 4", absent)
	}
	var b bytes.Buffer
	if err := p.PrintClaims(&b, report.Markdown, lines); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"36 bytes of a voxel, and 18 .* published .* holds .* 4.5 and 2.25 GiB",
		"one step times their number .* published .* does not hold .* 0.966 to 1.56",
		"GPUs are much faster .* published .* holds ", "textures are faster than buffers .* texture here .* does not hold .* 2.00 of its time",
		"shared memory makes a step slower, of buffers .* here .* not measured", "in a few seconds .* published .* does not hold .* 1.12 to 27.2 s",
		"real time .* published .* holds .* texture here .* 0.00200 s",
	} {
		found := false
		for _, line := range strings.Split(strings.ReplaceAll(b.String(), "\n|", "\n#|"), "\n") {
			found = found || match(t, want, line)
		}
		if !found && !match(t, "(?s)"+want, b.String()) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func match(t *testing.T, pattern, text string) bool {
	t.Helper()
	ok, err := regexp.MatchString(pattern, text)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}
