package paper

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"eccbench/internal/report"
	"eccbench/internal/workloads/softecc"
)

// The paper's own tables decide its claims.
func TestClaimsOfPublishedNumbers(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // of all rows
		"4 to 6 times":   "true 4.15 to 6.85 times",
		"below about 16": "true 0.250 to 0.917 times",
		"waits for the":  "true 75.3 to 100.0 %",
		"start of the":   "true 0.942 to 2.29 %",
		"no bottleneck":  "true 0.103 to 2.43 times the Gaussian's time",
		"30 times a":     "true 40.2 Hz and 223 Hz",
		"dimension":      "false 2D 9.360 to 10.10 Gvox/s, 3D 6.030 to 6.430, 1.55 and 1.57 times",
	}
	for _, c := range p.Claims() {
		f := c.check(numbers{p: p})
		got, ok := fmt.Sprint(f.holds, " ", f.numbers()), f.have == f.of
		found := false
		for part, w := range want {
			if strings.Contains(c.Says, part) {
				found = true
				if !ok || got != w {
					t.Errorf("%s: %q, %v, want %q", c.Says, got, ok, w)
				}
			}
		}
		if !found {
			t.Errorf("%s: no expectation, got %q", c.Says, got)
		}
	}
}

// Measured numbers decide too, both ways, and none leaves the claim open.
func TestClaimsOfMeasuredNumbers(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	kernel := func(two, three float64) func(Row) []Line {
		return func(r Row) []Line {
			v := three
			if r.Dim() == 2 {
				v = two
			}
			return []Line{{Series: Series{Column: "kernel_rate"}, Row: r, Impl: "tiled", Measured: v}}
		}
	}
	smooth := func(ecc, gaussian float64) func(Row) []Line {
		return func(r Row) []Line {
			return []Line{
				{Series: Series{Column: "ecc"}, Row: r, Impl: "smooth-gpu", Measured: ecc},
				{Series: Series{Column: "gaussian"}, Row: r, Impl: "smooth-gpu", Measured: gaussian},
				{Row: r, Impl: "smooth", Parts: map[string]float64{"ecc": ecc, "gaussian": gaussian}, Why: "the paper has no CPU here"},
			}
		}
	}
	for _, c := range []struct {
		claim, whose, want string
		table              int
		lines              func(Row) []Line
	}{
		{"dimension", "tiled here", "holds", 1, kernel(50e9, 49e9)},
		{"dimension", "tiled here", "does not hold", 1, kernel(80e9, 40e9)},
		{"bottleneck", "smooth-gpu here", "holds", 2, smooth(2.5, 1)},
		{"bottleneck", "smooth-gpu here", "does not hold", 2, smooth(2.6, 1)},
		{"bottleneck", "smooth here", "holds", 2, smooth(2.5, 1)},
		{"bottleneck", "smooth here", "does not hold", 2, smooth(2.6, 1)},
		{"bottleneck", "| here", "not measured", 2, smooth(0, 0)},
	} {
		var lines []Line
		for _, r := range p.Tables[c.table-1].Rows {
			lines = append(lines, c.lines(r)...)
		}
		var b bytes.Buffer
		if err := p.PrintClaims(&b, report.Markdown, map[int][]Line{c.table: lines}); err != nil {
			t.Fatal(err)
		}
		found := false
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, c.claim) && strings.Contains(line, c.whose) {
				found = strings.Contains(line, "| "+c.want+" ")
			}
		}
		if !found {
			t.Errorf("%s %s %s:\n%s", c.claim, c.whose, c.want, b.String())
		}
	}
}

// holdClaims compares a paper's claims, found by parts of their text, with the expected verdict and
// numbers. An ellipsis at the end means a prefix.
func holdClaims(t *testing.T, p Paper, want map[string]string) {
	t.Helper()
	for _, c := range p.Claims() {
		var f finding
		if c.compute != nil {
			var err error
			if f, err = c.compute(); err != nil {
				t.Fatal(err)
			}
		} else {
			f = c.check(numbers{p: p})
		}
		got := fmt.Sprint(f.holds, " ", f.numbers())
		for part, w := range want {
			if strings.Contains(c.Says, part) {
				begin, open := strings.CutSuffix(w, "…")
				if open && !strings.HasPrefix(got, begin) || !open && got != w || f.have != f.of {
					t.Errorf("%s: %q, want %q", c.Says, got, w)
				}
				delete(want, part)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("no such claims: %v", want)
	}
}

// Saxena's claims about the layer are computed; those about its speed are checked on the paper's
// numbers.
func TestClaimsOfLayer(t *testing.T) {
	p, err := Find("saxena2025")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"16 to 2000 times": "true 16.5 to 2031 times",
		"c(p) is −1":       "false -6 to 4",
		"equation 5":       "true wrong at 0 of 576 levels, by up to 0",
		"equation 6":       "false wrong at 173 of 576 levels, by up to 3",
	}
	holdClaims(t, p, want)
	// c(p) of Y, with the same direction, is right.
	if f, err := hardCurves(softecc.Problem{Alpha: 0.05, V: [3]float64{0.6, 0.8}}, false); err != nil || !f.holds {
		t.Errorf("%+v, %v", f, err)
	}
}

// The claims of Cheng et al. about times are checked on their numbers; those about steps are
// computed.
func TestClaimsOfEigenmaps(t *testing.T) {
	p, err := Find("cheng2014")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"14 times":             "true 0.490 to 14.1 times",
		"the larger the gain":  "true 0.490 to 14.1 times",
		"about 1.43 s":         "true 1.45 to 18.9 s",
		"some 100 times":       "true 68.8 to 117 times",
		"28 times as slow":     "false 22.0 to 23.7 times",
		"8 % more":             "true 1.48 to 4.04 %",
		"do not overlap":       "true 0 off",
		"second vector is":     "false 0.0…",
		"vessels well preserv": "false 0.2…",
	}
	holdClaims(t, p, want)
	// Measured times decide, too.
	gpu := p.Tables[0].Series[1]
	for _, c := range []struct {
		gpu, share float64 // of the CPU's time, and of the eigensolver
		holds      bool
	}{{0.05, 0.84, true}, {0.1, 0.7, false}} {
		var lines []Line
		for _, r := range p.Tables[0].Rows {
			lines = append(lines,
				Line{Series: Series{Column: "cpu", Workload: Steps}, Row: r, Impl: "lanczos", Measured: 1},
				Line{Series: Series{Column: "gpu", Workload: Steps}, Row: r, Impl: gpu.Impls[0], Measured: c.gpu, Parts: map[string]float64{"lanczos": c.share * c.gpu}})
		}
		decided := 0
		for _, claim := range p.Claims() {
			if strings.Contains(claim.Says, "14 times") || strings.Contains(claim.Says, "84 %") && claim.check != nil {
				if f := claim.check(numbers{p: p, of: map[int][]Line{1: lines}, impl: gpu.Impls[0]}); f.holds != c.holds || f.have != f.of {
					t.Errorf("%s: %+v", claim.Says, f)
				}
				decided++
			}
		}
		if decided != 2 {
			t.Errorf("%d claims decided", decided)
		}
	}
}
