package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"eccbench/internal/quantity"
)

// A Step is a step function: its value is Y[i] from X[i] on. Its name is in the
// legend where there is more than one.
type Step struct {
	Name string
	X, Y []float64
}

// Steps draws step functions as SVG.
func Steps(w io.Writer, title, xLabel, yLabel string, steps ...Step) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, xLabel, yLabel
	p.Add(plotter.NewGrid())
	for i, s := range steps {
		points := make(plotter.XYs, len(s.X))
		for k := range s.X {
			points[k] = plotter.XY{X: s.X[k], Y: s.Y[k]}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return fmt.Errorf("plotting: %w", err)
		}
		line.StepStyle = plotter.PostStep
		p.Add(line)
		if len(steps) > 1 {
			line.Color, line.Width = palette[i%len(palette)], vg.Points(1.25)
			p.Legend.Add(s.Name, line)
		}
	}
	p.Legend.Top = true
	canvas := vgsvg.New(18*vg.Centimeter, 11*vg.Centimeter)
	p.Draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}

// The size of a plot of rates, and of the strip on its right for the legend.
const (
	ratesWidth  = 24 * vg.Centimeter
	ratesHeight = 12 * vg.Centimeter
	legendWidth = 5 * vg.Centimeter
)

// palette is Okabe and Ito's, which colour-blind readers can tell apart, without
// yellow and black.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff},
}

// throughputSVG draws rates against sizes, both on logarithmic axes, with the
// interval of each rate as a bar.
func throughputSVG(w io.Writer, title, unit string, curves []curve) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "size", "G"+unit+"/s"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe0}, color.Gray{0xe0}
	p.Add(grid)
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(2)
	x, y := span{}, span{}
	var ticks []plot.Tick
	n, bounds := 0, 0
	for _, c := range curves {
		style := draw.GlyphStyle{Color: color.Gray{0x60}, Radius: vg.Points(3)}
		if !c.ceiling {
			style.Color = palette[n%len(palette)]
			n++
		}
		line, err := plotter.NewLine(c.rates())
		if err != nil {
			return err
		}
		line.Color, line.Width = style.Color, vg.Points(1.25)
		if c.ceiling {
			bounds++ // the second has shorter dashes, and so on
			line.Dashes = []vg.Length{vg.Points(6 / float64(bounds)), vg.Points(3)}
		} else if n > len(palette) {
			line.Dashes = []vg.Length{vg.Points(1), vg.Points(2)}
		}
		bars, err := plotter.NewYErrorBars(c.rates())
		if err != nil {
			return err
		}
		bars.Color = style.Color
		points, err := plotter.NewScatter(c.rates())
		if err != nil {
			return err
		}
		points.GlyphStyleFunc = func(i int) draw.GlyphStyle {
			s := style
			s.Shape = draw.CircleGlyph{}
			if !c.points[i].plain() {
				s.Shape = draw.RingGlyph{}
			}
			return s
		}
		p.Add(line, bars, points)
		thumb := *points
		thumb.GlyphStyleFunc, thumb.GlyphStyle = nil, style
		thumb.Shape = draw.CircleGlyph{}
		if !slices.ContainsFunc(c.points, Row.plain) {
			thumb.Shape = draw.RingGlyph{}
		}
		legend.Add(c.legend(), line, &thumb)
		for i, r := range c.points {
			x.add(float64(r.Items))
			y.add(r.Rate / 1e9)
			lo, hi := c.rates().YError(i)
			y.add(r.Rate/1e9 - lo)
			y.add(r.Rate/1e9 + hi)
			ticks = append(ticks, plot.Tick{Value: float64(r.Items), Label: short(r.Size)})
		}
	}
	p.X.Min, p.X.Max = x.widened(1.15)
	p.Y.Min, p.Y.Max = y.widened(1.3)
	room := float64((ratesWidth - legendWidth - 2*vg.Centimeter) / p.X.Tick.Label.Font.Size)
	p.X.Tick.Marker = plot.ConstantTicks(spaced(ticks, p.X.Min, p.X.Max, room))
	p.Y.Tick.Marker = plot.TickerFunc(decades)

	canvas := vgsvg.New(ratesWidth, ratesHeight)
	whole := draw.New(canvas)
	whole.SetColor(color.White) // behind the legend too, for readers on a dark page
	whole.Fill(whole.Rectangle.Path())
	p.Draw(draw.Crop(whole, vg.Points(4), -legendWidth, vg.Points(4), -vg.Points(4)))
	legend.Draw(draw.Crop(whole, ratesWidth-legendWidth+vg.Points(8), 0, 0, -vg.Points(24)))
	_, err := canvas.WriteTo(w)
	return err
}

// rates are a curve's points with their intervals, in units of 10⁹.
type rates []Row

func (c curve) rates() rates { return rates(c.points) }

// Len is the number of points.
func (r rates) Len() int { return len(r) }

// XY is a point's size in items and its rate.
func (r rates) XY(i int) (x, y float64) { return float64(r[i].Items), r[i].Rate / 1e9 }

// YError is how far the interval reaches below and above the rate, 0 where it
// has no such end.
func (r rates) YError(i int) (low, high float64) {
	p := r[i]
	if p.Lo > 0 && p.Lo < p.Rate {
		low = (p.Rate - p.Lo) / 1e9
	}
	if p.Hi > p.Rate && !math.IsInf(p.Hi, 0) {
		high = (p.Hi - p.Rate) / 1e9
	}
	return low, high
}

// A span is the range of values above 0.
type span struct{ lo, hi float64 }

func (s *span) add(v float64) {
	if s.lo == 0 || v < s.lo {
		s.lo = v
	}
	s.hi = max(s.hi, v)
}

// widened is the range with a margin, as a factor, on both sides.
func (s span) widened(by float64) (lo, hi float64) { return s.lo / by, s.hi * by }

// spaced keeps the labels of the ticks that do not run into one that was given
// before them; room is the length of the axis in letters' heights. Ticks at one
// place become one.
func spaced(ticks []plot.Tick, lo, hi, room float64) []plot.Tick {
	var kept []plot.Tick
	width := func(t plot.Tick) float64 { return 0.55 * float64(len([]rune(t.Label))) }
	for _, t := range ticks {
		if slices.ContainsFunc(kept, func(k plot.Tick) bool { return k.Value == t.Value }) {
			continue
		}
		for _, k := range kept {
			distance := math.Abs(math.Log(t.Value/k.Value)) / math.Log(hi/lo) * room
			if k.Label != "" && distance < (width(t)+width(k))/2+0.6 {
				t.Label = ""
				break
			}
		}
		kept = append(kept, t)
	}
	slices.SortFunc(kept, func(a, b plot.Tick) int { return int(math.Copysign(1, a.Value-b.Value)) })
	return kept
}

// decades puts ticks at 1 to 9 times the powers of ten: the powers have labels,
// and where there are few of them 2 and 5 have, too.
func decades(lo, hi float64) []plot.Tick {
	labelled := map[int]bool{1: true}
	switch width := math.Log10(hi / lo); {
	case width < 1:
		for k := range 10 {
			labelled[k] = true
		}
	case width < 3:
		labelled[2], labelled[5] = true, true
	}
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for k := 1; k <= 9; k++ {
			t := plot.Tick{Value: float64(k) * math.Pow10(e)}
			if t.Value < lo || t.Value > hi {
				continue
			}
			if labelled[k] {
				t.Label = quantity.Significant(t.Value, 1)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// short is a size as a power where its factors are equal: 512³ for 512x512x512.
func short(size string) string {
	factors := strings.Split(size, "x")
	power := map[int]string{2: "²", 3: "³"}[len(factors)]
	if power == "" || len(slices.Compact(slices.Clone(factors))) > 1 {
		return size
	}
	return factors[0] + power
}
