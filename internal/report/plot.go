package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"eccbench/internal/report/svg"
)

// A Step is a step function with the value Y[i] from X[i] on; X is ascending. The legend shows its
// name if a plot has several.
type Step struct {
	Name string
	X, Y []float64
}

// Steps draws step functions as SVG. The size of the file is bounded for any number of steps. A
// note appears below the title unless it is "".
func Steps(w io.Writer, title, note, xLabel, yLabel string, steps ...Step) error {
	p := svg.Plot{
		Title: title, Note: note, Width: 720, Height: 440,
		X: svg.Axis{Label: xLabel, Margin: 0.02}, Y: svg.Axis{Label: yLabel, Margin: 0.04},
	}
	for i, s := range steps {
		l := svg.Line{Color: palette[i%len(palette)], X: s.X, Y: s.Y}
		if len(steps) > 1 {
			l.Name = s.Name
		}
		p.Lines = append(p.Lines, l)
	}
	if err := p.Write(w); err != nil {
		return fmt.Errorf("plotting: %w", err)
	}
	return nil
}

// palette is the palette of Okabe and Ito, which colour-blind readers can distinguish, without
// yellow and black.
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// boundColor is the colour of the ceilings.
const boundColor = "#606060"

// dashes distinguish lines of one colour.
var dashes = []string{"", "1.5 2.5", "8 3 1.5 3"}

// throughputSVG draws rates against sizes on logarithmic axes, with the interval of each rate as a
// bar.
func throughputSVG(w io.Writer, title string, rows []Row, curves []curve) error {
	in := scale(rows)
	p := svg.Plot{
		Title: title, Width: 900, Height: 450,
		X: svg.Axis{Label: "size", Log: true, Margin: 1.15},
		Y: svg.Axis{Label: in.Prefix + rows[0].Unit, Log: true, Margin: 1.3},
	}
	n, bounds := 0, 0
	for _, c := range curves {
		l := svg.Line{Name: c.legend(), Hollow: !slices.ContainsFunc(c.points, Row.plain)}
		if c.ceiling {
			bounds++ // each further ceiling has other dashes
			l.Color, l.Dashes = boundColor, fmt.Sprintf("%.1f 4", 8/float64(bounds))
		} else {
			l.Color, l.Dashes = palette[n%len(palette)], dashes[n/len(palette)%len(dashes)]
			n++
		}
		for _, r := range c.points {
			m := svg.Mark{Hollow: !r.plain(), Lo: r.Rate / in.By, Hi: r.Rate / in.By}
			if r.Lo > 0 && r.Lo < r.Rate {
				m.Lo = r.Lo / in.By
			}
			if r.Hi > r.Rate && !math.IsInf(r.Hi, 0) {
				m.Hi = r.Hi / in.By
			}
			l.X, l.Y, l.Marks = append(l.X, float64(r.Items)), append(l.Y, r.Rate/in.By), append(l.Marks, m)
			p.X.Ticks = append(p.X.Ticks, svg.Tick{At: float64(r.Items), Label: short(r.Size)})
		}
		p.Lines = append(p.Lines, l)
	}
	return p.Write(w)
}

// short formats a size with equal factors as a power: 512³ for 512x512x512.
func short(size string) string {
	factors := strings.Split(size, "x")
	power := map[int]string{2: "²", 3: "³"}[len(factors)]
	if power == "" || len(slices.Compact(slices.Clone(factors))) > 1 {
		return size
	}
	return factors[0] + power
}
