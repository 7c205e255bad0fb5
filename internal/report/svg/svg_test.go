package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rates is a plot of marks over logarithmic axes.
func rates() Plot {
	return Plot{
		Title: "rates <of> three", Width: 900, Height: 450,
		X: Axis{Label: "size", Log: true, Margin: 1.15, Ticks: []Tick{{1e3, "10³"}, {8e3, "20³"}, {8.2e3, "20x20x21"}, {64e3, "40³"}, {8e3, "again"}}},
		Y: Axis{Label: "G/s", Log: true, Margin: 1.3},
		Lines: []Line{
			{
				Name: "bound & all", Color: "#606060", Dashes: "8 4",
				X: []float64{1e3, 8e3, 64e3}, Y: []float64{4, 20, 90}, Marks: []Mark{{Lo: 3, Hi: 6}, {Lo: 20, Hi: 20}, {Lo: 80, Hi: 95}},
			},
			{
				Name: "hollow", Color: "#0072b2", Hollow: true,
				X: []float64{1e3, 8.2e3, 64e3}, Y: []float64{0.3, 0.7, 1.1}, Marks: []Mark{{Hollow: true, Lo: 0.3, Hi: 0.4}, {Hollow: true, Lo: 0.7, Hi: 0.7}, {Hollow: true, Lo: 0.9, Hi: 1.1}},
			},
			{Name: "alone", Color: "#d55e00", X: []float64{8e3}, Y: []float64{2}, Marks: []Mark{{Lo: 2, Hi: 2}}},
		},
	}
}

// steps is a plot of step functions.
func steps(lines ...Line) Plot {
	return Plot{Title: "steps", Width: 720, Height: 440, X: Axis{Label: "level", Margin: 0.02}, Y: Axis{Label: "χ", Margin: 0.04}, Lines: lines}
}

// random are n steps of a pseudorandom walk, with a low and a high place that are one
// step wide.
func random(n int) Line {
	l := Line{Color: "#0072b2"}
	state, y := uint64(1), 0.0
	for i := range n {
		state = state*6364136223846793005 + 1442695040888963407
		y += float64(state>>62) - 1.5
		l.X, l.Y = append(l.X, float64(i)), append(l.Y, y)
	}
	l.Y[n/3], l.Y[2*n/3] = -1e6, 1e6
	return l
}

func write(t *testing.T, p Plot) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("not XML: %v\n%s", err, b.String())
		}
	}
}

// Two plots, byte for byte.
func TestGolden(t *testing.T) {
	for name, p := range map[string]Plot{
		"rates.svg": rates(),
		"steps.svg": steps(
			Line{Name: "β₀", Color: "#0072b2", X: []float64{0, 10, 25, 100}, Y: []float64{1, 12, 7, 1}},
			Line{Name: "χ", Color: "#d55e00", X: []float64{0, 10, 25, 100}, Y: []float64{1, 5, -8, 1}}),
	} {
		got, path := write(t, p), filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
		}
		if again := write(t, p); again != got {
			t.Errorf("%s: a second time it is another plot", name)
		}
	}
}

var (
	circle = regexp.MustCompile(`<circle cx="([^"]+)" cy="([^"]+)"`)
	// path matches the path of a line, but not of an axis or the legend.
	path   = regexp.MustCompile(`<g stroke="[^"]+" stroke-width="1.5" stroke-linejoin="round">\n<path d="([^"]+)"`)
	number = regexp.MustCompile(`([MHV ])(-?[0-9.]+)`)
	words  = regexp.MustCompile(`<text x="([^"]+)" y="([^"]+)" text-anchor="([^"]+)"[^>]*>([^<]*)<`)
)

func parsed(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// corners are the x and the y of all corners of the lines.
func corners(t *testing.T, svg string) (x, y []float64) {
	t.Helper()
	for _, m := range path.FindAllStringSubmatch(svg, -1) {
		horizontal := true // the next number of a pair is x
		for _, n := range number.FindAllStringSubmatch(m[1], -1) {
			v := parsed(t, n[2])
			switch {
			case n[1] == "H":
				x = append(x, v)
			case n[1] == "V":
				y = append(y, v)
			case horizontal:
				x, horizontal = append(x, v), false
			default:
				y, horizontal = append(y, v), true
			}
		}
	}
	return x, y
}

// All lines, bars and marks lie between the axes, and texts within the paper. Labels of one axis do
// not overlap.
func TestNothingIsCutOff(t *testing.T) {
	long := rates()
	long.Title = strings.Repeat("a long title ", 30)
	long.Lines[1].Name = strings.Repeat("wide", 30)
	for i := range 40 {
		long.Lines = append(long.Lines, Line{Name: fmt.Sprint(i), Color: "#000000", X: []float64{1}, Y: []float64{1e-4}, Marks: []Mark{{Lo: 1e-5, Hi: 1e6}}})
	}
	narrow := rates()
	narrow.X.Ticks, narrow.Lines = nil, []Line{{Color: "#000000", X: []float64{1.23e9}, Y: []float64{1.1}, Marks: []Mark{{Lo: 1.09, Hi: 1.1}}}}
	wide := rates()
	wide.X.Ticks, wide.Lines[0].Y[0], wide.Lines[0].X[2] = nil, 5e-7, 1e11
	wide.Lines[0].Marks[0].Lo = 5e-8
	for name, p := range map[string]Plot{
		"rates": rates(), "long": long, "narrow": narrow, "wide": wide,
		"one":      steps(Line{X: []float64{7}, Y: []float64{1}}),
		"constant": steps(Line{X: []float64{-3, 8}, Y: []float64{-2, -2}}),
		"huge":     steps(Line{X: []float64{-3.4e38, 0, 3.4e38}, Y: []float64{-9e18, 3, 9e18}}),
		"tiny":     steps(Line{X: []float64{1e-45, 3e-45}, Y: []float64{0, 1e-300}}),
		"far":      steps(Line{X: []float64{1e15, 1e15 + 1}, Y: []float64{123456789, 123456790}}),
		"random":   steps(random(5000)),
		"empty":    steps(Line{}, Line{X: []float64{1}, Y: []float64{1}}),
	} {
		svg := write(t, p)
		if err := p.layout(); err != nil {
			t.Fatal(err)
		}
		const within = 0.011 // of a pixel, for rounding
		inX := func(v float64) bool { return v >= p.X.from-within && v <= p.X.to+within }
		inY := func(v float64) bool { return v <= p.Y.from+within && v >= p.Y.to-within }
		x, y := corners(t, svg)
		dots := 0
		for _, l := range p.Lines {
			dots += len(l.Marks)
			for _, m := range l.Marks {
				y = append(y, p.Y.pixelOf(m.Lo), p.Y.pixelOf(m.Hi))
			}
		}
		for i, m := range circle.FindAllStringSubmatch(svg, -1) {
			if i < dots { // the legend's come last
				x, y = append(x, parsed(t, m[1])), append(y, parsed(t, m[2]))
			}
		}
		for _, v := range x {
			if !inX(v) {
				t.Fatalf("%s: x = %g, the axis is from %g to %g", name, v, p.X.from, p.X.to)
			}
		}
		for _, v := range y {
			if !inY(v) {
				t.Fatalf("%s: y = %g, the axis is from %g to %g", name, v, p.Y.from, p.Y.to)
			}
		}
		for _, m := range words.FindAllStringSubmatch(svg, -1) {
			if strings.Contains(m[0], "rotate") {
				continue
			}
			left, w := parsed(t, m[1]), width(html.UnescapeString(m[4]))
			switch m[3] {
			case "middle":
				left -= w / 2
			case "end":
				left -= w
			}
			if left < 0 || left+w > p.Width || parsed(t, m[2]) < font || parsed(t, m[2]) > p.Height-4 {
				t.Errorf("%s: %q from %g to %g, at height %s of %g x %g", name, m[4], left, left+w, m[2], p.Width, p.Height)
			}
		}
		for which, a := range map[string]Axis{"x": p.X, "y": p.Y} {
			n := 0
			for i, k := range a.Ticks {
				if k.Label == "" {
					continue
				}
				n++
				for _, o := range a.Ticks[:i] {
					need := font
					if which == "x" {
						need = (width(k.Label) + width(o.Label)) / 2
					}
					if o.Label != "" && math.Abs(a.pixelOf(k.At)-a.pixelOf(o.At)) < need {
						t.Errorf("%s: %q runs into %q", name, k.Label, o.Label)
					}
				}
			}
			if n < 2 {
				t.Errorf("%s: %d labels of %s, want two at least: %v from %g to %g", name, n, which, a.Ticks, a.lo, a.hi)
			}
		}
	}
}

// With any number of steps the file is small. Its line reaches as high and as low as the steps do,
// wherever the extremes are, also in single steps.
func TestDecimation(t *testing.T) {
	for _, n := range []int{3, 100, 10_000, 1_000_000} {
		p := steps(random(n), random(n/2+2), random(n/3+2))
		svg := write(t, p)
		if len(svg) > 200_000 {
			t.Errorf("%d steps are %d bytes", n, len(svg))
		}
		if err := p.layout(); err != nil {
			t.Fatal(err)
		}
		_, y := corners(t, svg)
		for _, extreme := range []float64{-1e6, 1e6} {
			at, seen := parsed(t, num(p.Y.pixelOf(extreme))), 0
			for _, v := range y {
				if v == at {
					seen++
				}
			}
			if seen != 3 {
				t.Errorf("%d steps: %d lines reach %g, want 3", n, seen, extreme)
			}
		}
	}
}

// In each column of pixels the first, least, greatest and last value are drawn. If the columns hold
// no more than that, all are.
func TestDecimationByColumn(t *testing.T) {
	p := steps(random(20_000))
	if err := p.layout(); err != nil {
		t.Fatal(err)
	}
	l := p.Lines[0]
	drawn := map[string]bool{}
	d := string(p.steps(l))
	for _, m := range regexp.MustCompile(`[MH]([0-9.]+)[ V]([0-9.]+)`).FindAllStringSubmatch(d, -1) {
		drawn[m[1]+" "+m[2]] = true
	}
	columns := map[float64][]int{}
	for i, v := range l.X {
		c := math.Floor(p.X.pixelOf(v))
		columns[c] = append(columns[c], i)
	}
	if len(drawn) > 4*len(columns) {
		t.Errorf("%d points in %d columns", len(drawn), len(columns))
	}
	for c, of := range columns {
		low, high := of[0], of[0]
		for _, i := range of {
			if l.Y[i] < l.Y[low] {
				low = i
			}
			if l.Y[i] > l.Y[high] {
				high = i
			}
		}
		for _, i := range []int{of[0], low, high, of[len(of)-1]} {
			if !drawn[num(p.X.pixelOf(l.X[i]))+" "+num(p.Y.pixelOf(l.Y[i]))] {
				t.Fatalf("column %g lacks step %d", c, i)
			}
		}
	}
	few := steps(Line{X: []float64{0, 1, 2}, Y: []float64{5, 6, 7}})
	if err := few.layout(); err != nil {
		t.Fatal(err)
	}
	if d := string(few.steps(few.Lines[0])); strings.Count(d, "V") != 2 || !strings.HasSuffix(d, "H"+num(few.X.to)) {
		t.Errorf("three steps are %s", d)
	}
}

// There is a line at 0 where the values are on both sides of it, or reach it.
func TestZeroLine(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   bool
	}{{-1, 1, true}, {0, 5, true}, {-5, 0, true}, {3, 5, false}, {-5, -3, false}} {
		if got := strings.Contains(write(t, steps(Line{X: []float64{0, 1}, Y: []float64{c.lo, c.hi}})), `class="zero"`); got != c.want {
			t.Errorf("from %g to %g: %v", c.lo, c.hi, got)
		}
	}
	if strings.Contains(write(t, rates()), `class="zero"`) {
		t.Error("a logarithmic axis has a 0")
	}
}

// At the ends of float64 there is no room for a margin.
func TestWidest(t *testing.T) {
	for _, x := range [][]float64{{-math.MaxFloat64, 0}, {0, math.MaxFloat64}, {-math.MaxFloat64 / 2, math.MaxFloat64 / 2}} {
		var b bytes.Buffer
		if err := steps(Line{X: x, Y: []float64{1, 2}}).Write(&b); err != nil || strings.Contains(b.String(), "NaN") {
			t.Errorf("%g: %v", x, err)
		}
	}
}

func TestRefused(t *testing.T) {
	log := rates()
	log.Lines[0].Marks[0].Lo = 0
	ragged := rates()
	ragged.Lines[0].Marks = ragged.Lines[0].Marks[:2]
	for name, p := range map[string]Plot{
		"nothing": steps(), "log of 0": log, "marks": ragged, "lengths": steps(Line{X: []float64{1, 2}, Y: []float64{1}}),
		"NaN": steps(Line{X: []float64{1, 2, 3}, Y: []float64{1, math.NaN(), 3}}), "infinite": steps(Line{X: []float64{1, math.Inf(1)}, Y: []float64{1, 2}}),
	} {
		var b bytes.Buffer
		if err := p.Write(&b); err == nil || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", name, err, b.Len())
		}
	}
}

// Labels of ticks, in order of priority.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    Axis
		want string
	}{
		{Axis{lo: 400, hi: 10000, to: 500, Log: true, Ticks: []Tick{{1000, "10³"}, {8000, "20³"}, {8100, "20x20x21"}, {8000, "again"}, {500, "5x10x10"}}}, "10³,20³,,5x10x10"},
		{Axis{lo: 0.3, hi: 40, to: 500, Log: true}, "1,10,2,20,,,,,,,0.5,5,,,,,,,,"},
		{Axis{lo: 2e-3, hi: 1e9, to: 500, Log: true}, ""},
		{Axis{lo: 1.1, hi: 1.9, to: 500, Log: true}, "1.2,1.4,1.6,1.8"},
		{Axis{lo: -3, hi: 260, to: 600}, "0,50,100,150,200,250"},
		{Axis{lo: -0.21, hi: 0.19, to: 500}, "−0.2,−0.1,0,0.1"},
		{Axis{lo: -3.4e38, hi: 3.4e38, to: 500}, "−2e+38,0,2e+38"},
		{Axis{lo: 1e6, hi: 1e6 + 1e-3, to: 500}, ""},
	} {
		c.a.tick(90, func(s string) float64 { return width(s) + gap })
		var got []string
		for _, k := range c.a.Ticks {
			got = append(got, k.Label)
			if k.At < c.a.lo || k.At > c.a.hi {
				t.Errorf("from %g to %g: a tick at %g", c.a.lo, c.a.hi, k.At)
			}
		}
		if s := strings.Join(got, ","); c.want != "" && s != c.want || len(got) < 2 {
			t.Errorf("from %g to %g: %s, want %s", c.a.lo, c.a.hi, s, c.want)
		}
	}
}

func TestLog2(t *testing.T) {
	for _, v := range []float64{1, 2, 1024, 0.5, 1.0000001, 3, 10, 1e-300, 5e-324, 1e300, 0.9999, math.Pi} {
		if got, want := log2(v), math.Log2(v); math.Abs(got-want) > 1e-8*max(1, math.Abs(want)) {
			t.Errorf("of %g: %.12f, want %.12f", v, got, want)
		}
	}
}
