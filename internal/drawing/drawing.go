// Package drawing draws the curve and the Betti numbers of an image, as the command and the page show them.
package drawing

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"eccbench/datasets"
	"eccbench/internal/report"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// Step returns χ at the levels of some lines, and the convention of the curve.
func Step(chunks ecc.Chunks) (s report.Step, in ecc.Convention, err error) {
	for l, err := range chunks {
		if err != nil {
			return s, in, err
		}
		in = l.In
		l.Each(func(line ecc.Line) { s.X, s.Y = append(s.X, l.Value(line)), append(s.Y, float64(line.Chi)) })
	}
	return s, in, nil
}

// Curve plots the lines of an image's curve to w.
func Curve(w io.Writer, name string, p ecc.Provenance, chunks ecc.Chunks) error {
	step, in, err := Step(chunks)
	if err != nil {
		return err
	}
	more := ""
	if axes := in.Periodic.String(); axes != "" {
		more = ", periodic along " + axes
	}
	return sets(w, name, p, in, "χ", more, step)
}

// Betti plots the Betti numbers of an image at every level to w.
func Betti(w io.Writer, name string, p ecc.Provenance, in ecc.Convention, lines betti.Lines) error {
	steps := []report.Step{{Name: "b0"}, {Name: "b1"}, {Name: "b2"}}
	lines.Each(func(level float32, n betti.Numbers) {
		for i, v := range []int64{n.B0, n.B1, n.B2} {
			steps[i].X, steps[i].Y = append(steps[i].X, lines.Labels.Float64(level)), append(steps[i].Y, float64(v))
		}
	})
	return sets(w, name, p, in, "Betti numbers", "", steps...)
}

// Ascending returns the steps of a curve by ascending levels. A superlevel set keeps its value from a level down to
// the next one below, so its steps go up.
func Ascending(in ecc.Convention, s report.Step) report.Step {
	if in.Superlevel {
		slices.Reverse(s.X)
		slices.Reverse(s.Y)
		s.Y = append(s.Y[min(1, len(s.Y)):], 0)
	}
	return s
}

// sets plots numbers of an image's sets at their levels, in the order in which the sets grow.
func sets(
	w io.Writer, name string, p ecc.Provenance, in ecc.Convention, what, more string, steps ...report.Step,
) error {
	title, file, _ := strings.Cut(name, "/path=")
	if n, err := datasets.ParseName(name); err == nil && n.FromFiles() {
		title = filepath.Base(file)
	}
	set := what + " of the sublevel set"
	if in.Superlevel {
		set = what + " of the superlevel set"
	}
	for i, s := range steps {
		steps[i] = Ascending(in, s)
	}
	if in.Vertices {
		set += ", voxels as vertices"
	}
	set += more
	note := fmt.Sprintf("%s %s; counted by %s, %s by %s", p.Shape, p.Type, p.Implementation, p.Verdict, p.Witness)
	if !slices.ContainsFunc(steps, func(s report.Step) bool { return len(s.X) > 0 }) {
		// A line at 0 needs two levels, whichever they are.
		steps = []report.Step{{X: []float64{0, 1}, Y: []float64{0, 0}}}
		note += "; 0 at every level"
	}
	return report.Steps(report.Visible(w), title, note, "level t", set, steps...)
}
