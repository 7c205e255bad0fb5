package report

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Steps draws a step function as SVG: its value is y[i] from x[i] on.
func Steps(w io.Writer, title, xLabel, yLabel string, x, y []float64) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, xLabel, yLabel
	points := make(plotter.XYs, len(x))
	for i := range x {
		points[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("plotting: %w", err)
	}
	line.StepStyle = plotter.PostStep
	p.Add(plotter.NewGrid(), line)
	canvas := vgsvg.New(18*vg.Centimeter, 11*vg.Centimeter)
	p.Draw(draw.New(canvas))
	_, err = canvas.WriteTo(w)
	return err
}
