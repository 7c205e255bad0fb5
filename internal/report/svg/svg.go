// Package svg draws lines over two axes, in a few kilobytes, with the reader's fonts. Equal plots
// are equal bytes on every machine: lengths are rounded to hundredths of a pixel, no product is
// fused with a sum, and logarithms are computed by squaring.
package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Plot is lines over two axes. It becomes wider and higher than requested if its legend needs the
// room.
type Plot struct {
	Title         string
	Note          string  // a smaller line below the title, "" for none
	Width, Height float64 // in whole pixels
	X, Y          Axis
	Lines         []Line

	legend float64 // width of the legend
}

// An Axis is the range of one coordinate of all lines.
type Axis struct {
	Label string
	// Log makes the axis logarithmic, for values above 0.
	Log bool
	// Margin is the free space at both ends: a fraction of the range, or a factor on a logarithmic
	// axis.
	Margin float64
	// Ticks have labels, except a label that would overlap an earlier one in the list. Without any,
	// there are ticks at round numbers.
	Ticks []Tick

	lo, hi   float64
	from, to float64 // the pixels of lo and hi
}

// A Tick is a value of an axis, with its name or "".
type Tick struct {
	At    float64
	Label string
}

// A Line joins its points, in their order.
type Line struct {
	Name   string // in the legend, if any line has a name
	Color  string
	Dashes string // lengths in pixels, dash and gap in turn, "" for none
	Hollow bool   // mark in the legend
	X, Y   []float64
	// Marks are dots on the points, one for each. A line without marks is a step function: Y[i]
	// from X[i] on, with X ascending.
	Marks []Mark
}

// A Mark is the dot on a point, and the ends of the bar through it. Without a bar both are the
// point's Y.
type Mark struct {
	Hollow bool
	Lo, Hi float64
}

// Sizes of the parts around the lines, in pixels.
const (
	font      = 12.0
	gap       = 10.0
	long      = 6.0 // a tick that has a label
	row       = 18.0
	sample    = 34.0 // a line in the legend
	leastArea = 300.0
)

const (
	ink     = "#202020"
	grid    = "#e4e4e4"
	zeroInk = "#808080"
)

// Write writes the plot.
func (p Plot) Write(w io.Writer) error {
	if err := p.layout(); err != nil {
		return err
	}
	var b bytes.Buffer
	c := canvas{&b}
	c.printf(`<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" font-family="sans-serif" font-size="%s" fill="none">`+"\n",
		num(p.Width), num(p.Height), num(font))
	c.printf("<title>%s</title>\n<rect width=\"%s\" height=\"%s\" fill=\"#ffffff\"/>\n", escaped(p.Title), num(p.Width),
		num(p.Height))
	c.axes(&p)
	for _, l := range p.Lines {
		c.line(&p, l)
	}
	if p.legend > 0 {
		for i, l := range p.Lines {
			c.entry(l, p.X.to+gap, p.Y.to+row*(float64(i)+0.5))
		}
	}
	c.printf("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// Place returns the pixels of a point within the drawing: from its left side and from its top.
func (p Plot) Place(x, y float64) (left, top float64, err error) {
	if err := p.layout(); err != nil {
		return 0, 0, err
	}
	return p.X.pixelOf(x), p.Y.pixelOf(y), nil
}

// layout computes the ranges of the axes, their ticks, and the places of all parts.
func (p *Plot) layout() error {
	p.X.lo, p.X.hi, p.Y.lo, p.Y.hi = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range p.Lines {
		if len(l.X) != len(l.Y) || l.Marks != nil && len(l.Marks) != len(l.X) {
			return fmt.Errorf("%d places, %d values and %d marks of one line", len(l.X), len(l.Y), len(l.Marks))
		}
		p.X.span(l.X...)
		p.Y.span(l.Y...)
		for _, m := range l.Marks {
			p.Y.span(m.Lo, m.Hi)
		}
		if l.Name != "" {
			p.legend = max(p.legend, gap+sample+width(l.Name))
		}
	}
	for _, a := range []*Axis{&p.X, &p.Y} {
		if err := a.widen(); err != nil {
			return err
		}
	}
	if p.legend > 0 {
		p.Height = max(p.Height, float64(len(p.Lines))*row+4*gap+5*font)
	}
	p.Y.from, p.Y.to = p.Height-2*gap-long-2*font, gap+2*font
	if p.Note != "" {
		p.Y.to += font
	}
	p.Y.tick(40, func(string) float64 { return font })
	half := 40.0 // of a label of X at an end of the axis
	for _, t := range p.X.Ticks {
		half = max(half, width(t.Label)/2)
	}
	left, right := 0.0, max(half, p.legend)+gap
	for _, t := range p.Y.Ticks {
		left = max(left, width(t.Label))
	}
	left = max(half, left+long+gap+2*font)
	p.Width = max(p.Width, left+leastArea+right)
	p.X.from, p.X.to = left, p.Width-right
	p.X.tick(90, func(s string) float64 { return width(s) + gap })
	return nil
}

// span makes the axis hold the values.
func (a *Axis) span(values ...float64) {
	for _, v := range values {
		a.lo, a.hi = min(a.lo, v), max(a.hi, v) // NaN if one is
	}
}

// widen adds the margins, and a range around a single value.
func (a *Axis) widen() error {
	switch {
	case a.lo > a.hi:
		return errors.New("nothing to plot")
	case math.IsInf(a.hi-a.lo, 0) || math.IsNaN(a.hi-a.lo) || a.Log && a.lo <= 0:
		return fmt.Errorf("from %g to %g is no range of an axis", a.lo, a.hi)
	case a.Log:
		m := max(a.Margin, 1.01) // a single value needs some
		a.lo, a.hi = a.lo/m, a.hi*m
	default:
		if least := 1e-9 * max(-a.lo, a.hi); a.hi-a.lo <= least {
			least = max(least, 0.5)
			a.lo, a.hi = a.lo-least, a.hi+least
		}
		m := float64(a.Margin * (a.hi - a.lo))
		if lo, hi := a.lo-m, a.hi+m; !math.IsInf(hi-lo, 0) { // no margin at the ends of float64
			a.lo, a.hi = lo, hi
		}
	}
	return nil
}

// pixelOf returns the pixel of a value.
func (a *Axis) pixelOf(v float64) float64 {
	share := (v - a.lo) / (a.hi - a.lo)
	if a.Log {
		share = log2(v/a.lo) / log2(a.hi/a.lo)
	}
	return a.from + float64(share*(a.to-a.from))
}

// log2 returns the binary logarithm to 30 bits, by operations that round equally on every machine.
func log2(v float64) float64 {
	m, e := math.Frexp(v)
	log := float64(e - 1)
	m *= 2
	for bit := 0.5; bit > 0x1p-31; bit /= 2 {
		if m = float64(m * m); m >= 2 {
			m /= 2
			log += bit
		}
	}
	return log
}

// tick adds the ticks of the axis, at round numbers about apart pixels from each other unless they
// are given. It drops labels that overlap; extent returns the length of a label.
func (a *Axis) tick(apart float64, extent func(string) float64) {
	ticks := a.Ticks
	switch {
	case len(ticks) > 0:
	case a.Log && a.hi > 4*a.lo:
		ticks = decades(a.lo, a.hi)
	default:
		ticks = rounds(a.lo, a.hi, math.Floor(math.Abs(a.to-a.from)/apart))
	}
	a.Ticks = nil
	for _, t := range ticks {
		if slices.ContainsFunc(a.Ticks, func(k Tick) bool { return k.At == t.At }) {
			continue
		}
		if slices.ContainsFunc(a.Ticks, func(k Tick) bool {
			return k.Label != "" && math.Abs(a.pixelOf(k.At)-a.pixelOf(t.At)) < (extent(k.Label)+extent(t.Label))/2
		}) {
			t.Label = ""
		}
		a.Ticks = append(a.Ticks, t)
	}
}

// decades returns ticks at 1 to 9 times the powers of ten. The powers have labels; with few powers
// 2 and 5, or all, have labels too.
func decades(lo, hi float64) []Tick {
	labelled := "1"
	if hi < 10*lo {
		labelled = "123456789"
	} else if hi < 1000*lo {
		labelled = "125"
	}
	var ticks []Tick
	for k := 1.0; k <= 9; k++ { // the powers first: their labels go before the others
		for e := exponent(lo); math.Pow10(e) <= hi; e++ {
			t := Tick{At: scaled(k, e)}
			if strings.Contains(labelled, num(k)) {
				t.Label = label(t.At, e)
			}
			if lo <= t.At && t.At <= hi {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// rounds has about n ticks at multiples of 1, 2 or 5 times a power of ten.
func rounds(lo, hi, n float64) []Tick {
	step := (hi - lo) / max(n, 2)
	e, k := exponent(step), 1.0
	switch {
	case step > scaled(5, e):
		e++
	case step > scaled(2, e):
		k = 5
	case step > scaled(1, e):
		k = 2
	}
	var ticks []Tick
	for i := math.Ceil(lo / scaled(k, e)); scaled(i*k, e) <= hi; i++ {
		at := scaled(i*k, e)
		ticks = append(ticks, Tick{at, label(at, e)})
	}
	return ticks
}

// exponent returns the exponent of the greatest power of ten that is at most v.
func exponent(v float64) int {
	e := 0
	for math.Pow10(e) > v {
		e--
	}
	for math.Pow10(e+1) <= v {
		e++
	}
	return e
}

// scaled returns v·10ᵉ, rounded once: its shortest decimal is that of v, shifted.
func scaled(v float64, e int) float64 {
	if e < 0 {
		return v / math.Pow10(-e)
	}
	return v * math.Pow10(e)
}

// label prints a multiple of 10ᵉ.
func label(v float64, e int) string {
	if v == 0 { // and not −0
		return "0"
	}
	s := strconv.FormatFloat(v, 'f', max(0, -e), 64)
	if len(s) > 9 {
		s = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Replace(s, "-", "−", 1)
}

// width estimates the length of a text; few fonts have wider letters.
func width(s string) float64 { return math.Ceil(float64(len([]rune(s))) * 0.6 * font) }

// num prints a length with at most two decimals.
func num(v float64) string {
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

// A canvas prints elements.
type canvas struct{ b *bytes.Buffer }

func (c canvas) printf(format string, args ...any) { fmt.Fprintf(c.b, format, args...) }

// text is centred on x, or ends or begins there. y is the middle of its height.
func (c canvas) text(x, y float64, anchor, attributes, s string) {
	c.printf("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" fill=\"%s\"%s>%s</text>\n", num(x), num(y+4), anchor, ink,
		attributes, escaped(s))
}

// axes draws all but the lines and the legend.
func (c canvas) axes(p *Plot) {
	var lines, ticks strings.Builder
	for _, t := range p.X.Ticks {
		length, x := long/2, num(p.X.pixelOf(t.At))
		if t.Label != "" {
			length = long
			fmt.Fprintf(&lines, "M%s %sV%s", x, num(p.Y.from), num(p.Y.to))
			c.text(p.X.pixelOf(t.At), p.Y.from+long+gap, "middle", "", t.Label)
		}
		fmt.Fprintf(&ticks, "M%s %sv%s", x, num(p.Y.from), num(length))
	}
	for _, t := range p.Y.Ticks {
		length, y := long/2, num(p.Y.pixelOf(t.At))
		if t.Label != "" {
			length = long
			fmt.Fprintf(&lines, "M%s %sH%s", num(p.X.from), y, num(p.X.to))
			c.text(p.X.from-long-4, p.Y.pixelOf(t.At), "end", "", t.Label)
		}
		fmt.Fprintf(&ticks, "M%s %sh-%s", num(p.X.from), y, num(length))
	}
	middle, height := (p.X.from+p.X.to)/2, (p.Y.from+p.Y.to)/2
	c.printf("<path d=\"%s\" stroke=\"%s\"/>\n", lines.String(), grid)
	if !p.Y.Log && p.Y.lo <= 0 && p.Y.hi >= 0 {
		c.printf("<path class=\"zero\" d=\"M%s %sH%s\" stroke=\"%s\"/>\n", num(p.X.from), num(p.Y.pixelOf(0)), num(p.X.to),
			zeroInk)
	}
	c.printf("<path d=\"M%s %sV%sH%s%s\" stroke=\"%s\"/>\n", num(p.X.from), num(p.Y.to), num(p.Y.from), num(p.X.to),
		ticks.String(), ink)
	c.text(middle, p.Y.from+long+gap+font+8, "middle", "", p.X.Label)
	c.text(font, height, "middle", fmt.Sprintf(" transform=\"rotate(-90 %s %s)\"", num(font), num(height)), p.Y.Label)
	c.heading(p, p.Title, gap+font/2, font+2)
	if p.Note != "" {
		c.heading(p, p.Note, gap+2*font, font-1)
	}
}

// heading writes a text centred over the drawing, and cuts out its middle if it is too long.
func (c canvas) heading(p *Plot, s string, y, size float64) {
	text := []rune(s)
	if room := int(p.Width / (0.6 * size)); len(text) > room {
		text = slices.Concat(text[:room/2-1], []rune("…"), text[len(text)-room/2+1:])
	}
	c.text(p.Width/2, y, "middle", fmt.Sprintf(" font-size=\"%s\"", num(size)), string(text))
}

// line draws a line with its bars and marks.
func (c canvas) line(p *Plot, l Line) {
	if len(l.X) == 0 {
		return
	}
	c.printf("<g stroke=\"%s\" stroke-width=\"1.5\" stroke-linejoin=\"round\">\n", l.Color)
	if l.Marks == nil {
		c.path(p.steps(l), l)
	} else {
		points := make([]string, len(l.X))
		for i := range l.X {
			points[i] = num(p.X.pixelOf(l.X[i])) + " " + num(p.Y.pixelOf(l.Y[i]))
		}
		c.path([]byte("M"+strings.Join(points, " ")), l)
	}
	for i, m := range l.Marks {
		x, y := p.X.pixelOf(l.X[i]), num(p.Y.pixelOf(l.Y[i]))
		if m.Lo < l.Y[i] || m.Hi > l.Y[i] {
			lo, hi, left := num(p.Y.pixelOf(m.Lo)), num(p.Y.pixelOf(m.Hi)), num(x-3.5)
			c.printf("<path d=\"M%s %sV%sM%s %[2]sh7M%[4]s %[3]sh7\" stroke-width=\"1\"/>\n", num(x), lo, hi, left)
		}
		c.dot(num(x), y, m.Hollow, l.Color)
	}
	c.printf("</g>\n")
}

func (c canvas) path(d []byte, l Line) {
	dashes := ""
	if l.Dashes != "" {
		dashes = fmt.Sprintf(" stroke-dasharray=\"%s\"", l.Dashes)
	}
	c.printf("<path d=\"%s\"%s/>\n", d, dashes)
}

func (c canvas) dot(x, y string, hollow bool, color string) {
	if hollow {
		color = "#ffffff"
	}
	c.printf("<circle cx=\"%s\" cy=\"%s\" r=\"3.5\" fill=\"%s\"/>\n", x, y, color)
}

// steps returns the path of a step function, to the end of the axis. In each column of pixels it
// passes through the first, least, greatest and last point only. So it looks like the whole path,
// and its length is bounded by the width.
func (p *Plot) steps(l Line) []byte {
	var d []byte
	first, low, high := 0, 0, 0
	for i := range l.X {
		if l.Y[i] < l.Y[low] {
			low = i
		}
		if l.Y[i] > l.Y[high] {
			high = i
		}
		if i+1 < len(l.X) && math.Floor(p.X.pixelOf(l.X[i+1])) == math.Floor(p.X.pixelOf(l.X[i])) {
			continue
		}
		kept := []int{first, low, high, i}
		slices.Sort(kept)
		for _, k := range slices.Compact(kept) {
			x, y := num(p.X.pixelOf(l.X[k])), num(p.Y.pixelOf(l.Y[k]))
			if d == nil {
				d = append(d, "M"+x+" "+y...)
			} else {
				d = append(d, "H"+x+"V"+y...)
			}
		}
		first, low, high = i+1, min(i+1, len(l.X)-1), min(i+1, len(l.X)-1)
	}
	return append(d, "H"+num(p.X.to)...)
}

// entry is a line's sample and name in the legend.
func (c canvas) entry(l Line, x, y float64) {
	c.printf("<g stroke=\"%s\" stroke-width=\"1.5\">\n", l.Color)
	c.path(fmt.Appendf(nil, "M%s %sh%s", num(x), num(y), num(sample-8)), l)
	if l.Marks != nil {
		c.dot(num(x+(sample-8)/2), num(y), l.Hollow, l.Color)
	}
	c.printf("</g>\n")
	c.text(x+sample, y, "start", "", l.Name)
}
