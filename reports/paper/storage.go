package paper

import (
	"fmt"
	"io"
	"math"

	"eccbench/internal/grid"
	"eccbench/internal/report"
	"eccbench/internal/workloads/gvf"
)

// A Storage is the error of a field that is stored in 16 bits. It has the differences of magnitudes
// and the angles between vectors, over all pixels.
type Storage struct {
	Magnitude, Angle Statistics
	// Far is the largest magnitude in 32 bits of a vector that is more than 0.1 off.
	Far float64
}

// Statistics summarise one number per pixel.
type Statistics struct{ Average, Variance, Maximum, Minimum float64 }

// measureStorage runs the steps of a problem by the plain loop twice: with fields of float32, and
// with fields rounded to 16 bits after each step.
func measureStorage(p *gvf.Problem) (Storage, error) {
	want, err := gvf.Define(p, 0)
	if err != nil {
		return Storage{}, err
	}
	first, err := gvf.Define(p.Flowing(p.V0, 0), 0)
	if err != nil {
		return Storage{}, err
	}
	v0 := make([][]float32, len(first.V))
	for c, list := range first.V {
		v0[c] = make([]float32, len(list))
		for i, v := range list {
			v0[c][i] = gvf.Snorm16.Round(v)
		}
	}
	got, err := gvf.Stored(p.Flowing(v0, p.Steps), gvf.Snorm16.Round)
	if err != nil {
		return Storage{}, err
	}
	n := len(v0[0])
	magnitudes, angles := make([]float64, n), make([]float64, n)
	var s Storage
	for i := range n {
		var one, other, product float64
		for c := range v0 {
			a, b := float64(want.V[c][i]), float64(got.V[c][i])
			one, other, product = one+a*a, other+b*b, product+a*b
		}
		one, other = math.Sqrt(one), math.Sqrt(other)
		magnitudes[i] = math.Abs(other - one)
		if angles[i] = math.Pi / 2; one == 0 && other == 0 {
			angles[i] = 0
		} else if one > 0 && other > 0 {
			angles[i] = math.Acos(max(-1, min(1, product/(one*other))))
		}
		if angles[i] > 0.1 {
			s.Far = max(s.Far, one)
		}
	}
	s.Magnitude, s.Angle = statistics(magnitudes), statistics(angles)
	return s, nil
}

func statistics(list []float64) Statistics {
	s := Statistics{Minimum: math.Inf(1)}
	for _, v := range list {
		s.Average += v / float64(len(list))
		s.Maximum, s.Minimum = max(s.Maximum, v), min(s.Minimum, v)
	}
	for _, v := range list {
		s.Variance += (v - s.Average) * (v - s.Average) / float64(len(list))
	}
	return s
}

// PrintStorage prints table 3 of Smistad et al. next to the errors of the plain loops on an image.
func PrintStorage(w io.Writer, f report.Format, t Table, s grid.Source) error {
	const mu = 0.05
	here, err := measureStorage(gvf.NewProblem(s, mu, t.Rows[0].Times(), 0, gvf.Replicate))
	if err != nil {
		return err
	}
	var cells [][]string
	for _, c := range t.Columns {
		for _, r := range t.Rows {
			v, _ := t.Value(r, c.Key)
			of := here.Magnitude
			if c.Key == "angle" {
				of = here.Angle
			}
			number := map[string]float64{"average": of.Average, "variance": of.Variance, "maximum": of.Maximum,
				"minimum": of.Minimum}[r.Label]
			cells = append(cells, []string{c.What, r.Label, v.Printed, fmt.Sprintf("%.3g", number)})
		}
	}
	cells = append(cells, []string{"magnitude of vectors that are more than 0.1 off", "maximum", "9.15e-4",
		fmt.Sprintf("%.3g", here.Far)})
	fmt.Fprintln(w)
	return report.Table(w, f, []string{"what", "of", "published", fmt.Sprintf("here, mu %v", mu)}, cells)
}
