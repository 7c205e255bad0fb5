package report

import (
	"encoding/base64"
	"fmt"
	"math"

	"eccbench/internal/quantity"
)

// A forest is a forest plot: ratios with their intervals, one per line, on a common logarithmic
// axis around 1.
type forest struct {
	Title, Header, Low, High string // Low and High describe the two sides of the axis
	Rows                     []forestRow
	Notes                    []string
}

type forestRow struct {
	Name, Input, Scope, Decision, Text string
	Drawing                            markup
	value, lo, hi, band                float64 // ratios; 1 means no change, 0 means missing
}

// The size of one line of the drawing in pixels.
const (
	forestWidth  = 260.0
	forestHeight = 22.0
)

// Sorted returns the ratio that orders the rows. Rows without a ratio are first.
func (r forestRow) Sorted() float64 { return r.value }

// draw draws all rows on one axis.
func (f *forest) draw() {
	reach := math.Log(1.1)
	for _, r := range f.Rows {
		for _, v := range []float64{r.value, r.lo, r.hi, r.band} {
			if v > 0 && !math.IsInf(v, 0) {
				reach = max(reach, math.Abs(math.Log(v)))
			}
		}
	}
	at := func(v float64) float64 {
		return forestWidth/2 + (forestWidth/2-8)*min(1, max(-1, math.Log(v)/reach))
	}
	for i, r := range f.Rows {
		s := fmt.Sprintf(`<svg class="forest" aria-hidden="true" width="%.0f" height="%.0f" viewBox="0 0 %[1]g %[2]g">`,
			forestWidth, forestHeight)
		if r.band > 0 {
			s += fmt.Sprintf(`<rect class="band" x="%.1f" y="0" width="%.1f" height="%g"/>`, at(1/r.band),
				at(r.band)-at(1/r.band), forestHeight)
		}
		s += fmt.Sprintf(`<line class="none" x1="%.1f" x2="%[1]g" y1="0" y2="%g"/>`, at(1), forestHeight)
		if r.lo > 0 && r.hi > 0 {
			s += fmt.Sprintf(`<line class="interval" x1="%.1f" x2="%.1f" y1="%g" y2="%[3]g"/>`, at(r.lo), at(r.hi),
				forestHeight/2)
		}
		if r.value > 0 {
			s += fmt.Sprintf(`<circle class="value" cx="%.1f" cy="%g" r="4"/>`, at(r.value), forestHeight/2)
		}
		f.Rows[i].Drawing = markup(s + "</svg>")
	}
}

// gateForest returns the plot of a gate's changes in time.
func gateForest(j Judgement) forest {
	f := forest{Title: "Gate: change in time of the candidate over the base", Header: "change in time, 90 % interval",
		Low: "faster", High: "slower"}
	for _, c := range j.Changes {
		r := forestRow{Name: c.Impl, Input: c.Input, Scope: c.Scope, Decision: c.Decision, Text: "—", band: 1 + c.Effect}
		if c.Change != nil {
			r.value, r.Text = 1+*c.Change, fmt.Sprintf("%+.1f %%", *c.Change*100)
		}
		if c.Lo != nil && c.Hi != nil {
			r.lo, r.hi = 1+*c.Lo, 1+*c.Hi
			r.Text += fmt.Sprintf(" [%.1f, %.1f]", *c.Lo*100, *c.Hi*100)
		}
		for _, n := range append([]string{c.Reason, c.Reproduce}, c.Notes...) {
			if n != "" {
				f.Notes = append(f.Notes, fmt.Sprintf("%s %s: %s: %s", c.Impl, c.Input, c.Decision, n))
			}
		}
		f.Rows = append(f.Rows, r)
	}
	f.draw()
	return f
}

// compareForest returns the plot of the ratios of the rates in two files.
func compareForest(a, b PageFile) forest {
	f := forest{
		Title: fmt.Sprintf("Comparison: rate of %s over that of %s",
			b.Name, a.Name), Header: "ratio of rates, interval", Low: "slower", High: "faster",
	}
	for _, c := range Compare(a.Records, b.Records) {
		if c.A == nil || c.B == nil {
			continue
		}
		r := forestRow{Name: c.Impl, Input: c.Input, Scope: string(c.Scope), Decision: c.Note, Text: c.ratio(),
			value: c.Ratio, lo: c.Lo, hi: c.Hi}
		f.Rows = append(f.Rows, r)
	}
	f.draw()
	return f
}

func newDownload(name, media string, data []byte) download {
	return download{
		Name: name, Size: quantity.Bytes(int64(len(data))),
		Href: "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data),
	}
}
