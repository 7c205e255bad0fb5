package page

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/drawing"
	"eccbench/internal/grid"
	"eccbench/internal/library"
	"eccbench/internal/release"
	"eccbench/internal/report"
	"eccbench/internal/report/svg"
	"eccbench/internal/workloads/ecc"
)

// conditions are the conditions of a page, whose workers have one core each.
var conditions = bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}}

// A curve is a confirmed curve.
type curve struct{ ask.CurveAnswer }

// A Curve describes a confirmed curve.
type Curve struct {
	Rows    int64  `json:"rows"` // levels at which χ changes
	By      string `json:"by"`
	Verdict string `json:"verdict"`
	Witness string `json:"witness"`
	Comment string `json:"comment"` // the provenance in one line
}

// findCurve finds the curve of an image.
func (s *Session) findCurve(r Request) (c Curve, err error) {
	s.curve = nil
	if r, _, err = r.ofVolume(); err != nil {
		return c, err
	}
	q := ask.Curve{By: bench.Workload[grid.Source, ecc.VCEC]{Impls: library.Implementations(), Policy: ecc.Policy()}}
	name, err := r.name()
	if err != nil {
		return c, err
	}
	q.Question = ask.Question{
		Options: r.Options, Input: name, Shown: r.Input, Named: named, Threads: 1, Budget: math.MaxInt64,
		Memory: s.Memory, Follow: follower{s},
	}
	a, err := q.Answer()
	if err != nil {
		return c, err
	}
	a.Provenance.Program = release.Version(func() (string, error) {
		return "", errors.New("a page has no file of its own")
	})
	s.curve = &curve{a}
	p := a.Provenance
	return Curve{a.Lines.Len(), p.Implementation, p.Verdict, p.Witness, p.Comment()}, nil
}

// named returns the name of an image in the spelling of the command.
func named(name string) string {
	return report.VisibleText(strings.ReplaceAll(strings.Replace(name, "/stream=once", "", 1), "\n", "\u240a"))
}

// answer answers a question about the curve.
func (c *curve) answer(r Request) (out any, file []byte, err error) {
	var b bytes.Buffer
	switch r.What {
	case "csv":
		err = c.Lines.Write(&b, ecc.CSV, c.Provenance, true)
	case "svg":
		err = drawing.Curve(&b, c.Name, c.Provenance, c.chunks)
	case "chi":
		out = c.Lines.At(r.At)
	case "plot":
		out, err = c.plot(r)
	case "rows":
		out = c.rows(r.Rows)
	default:
		err = fmt.Errorf("%q is no question", r.What)
	}
	return out, b.Bytes(), err
}

func (c *curve) chunks(yield func(ecc.Lines, error) bool) { yield(c.Lines, nil) }

// A Plot is a drawing with pixel positions on its axes, so that a page can mark a point.
type Plot struct {
	SVG   string  `json:"svg"`
	Left  float64 `json:"left"`  // of the least value of the image
	Right float64 `json:"right"` // of the greatest
	Zero  float64 `json:"zero"`  // of χ = 0
	One   float64 `json:"one"`   // of χ = 1
}

// plot draws the curve between the values of the image, without a title.
func (c *curve) plot(r Request) (p Plot, err error) {
	step, in, err := drawing.Step(c.chunks)
	if err != nil {
		return p, err
	}
	before := 0.0 // the first level
	if n := len(step.Y); in.Superlevel && n > 0 {
		before = step.Y[n-1]
	}
	step = drawing.Ascending(in, step)
	if len(step.X) == 0 || r.Least < step.X[0] {
		step.X, step.Y = slices.Insert(step.X, 0, r.Least), slices.Insert(step.Y, 0, before)
	}
	if n := len(step.X); r.Most > step.X[n-1] {
		step.X, step.Y = append(step.X, r.Most), append(step.Y, step.Y[n-1])
	}
	picture := svg.Plot{
		Width: math.Round(r.Width), Height: math.Round(min(380, max(290, r.Width*0.45))),
		X: svg.Axis{Label: "level t", Margin: 0.02}, Y: svg.Axis{Label: "χ", Margin: 0.04},
		Lines: []svg.Line{{Color: "#0072b2", X: step.X, Y: step.Y}},
	}
	var b bytes.Buffer
	if err := picture.Write(&b); err != nil {
		return p, err
	}
	p.SVG = b.String()
	if p.Left, p.Zero, err = picture.Place(r.Least, 0); err != nil {
		return p, err
	}
	p.Right, p.One, err = picture.Place(r.Most, 1)
	return p, err
}

// A Row is a level of the table.
type Row struct {
	Level  string `json:"level"`
	Change int64  `json:"change"`
	Chi    int64  `json:"chi"`
}

// rows returns the first levels of the curve.
func (c *curve) rows(most int64) []Row {
	rows := []Row{}
	c.Lines.Each(func(l ecc.Line) {
		if int64(len(rows)) < most {
			rows = append(rows, Row{string(c.Lines.Labels.Append(nil, l.Level)), l.Change, l.Chi})
		}
	})
	return rows
}

// A follower reports the progress of a question.
type follower struct{ *Session }

func (f follower) Waiting(what string) func() {
	f.Progress(what, 0)
	return func() {}
}

func (f follower) Reading(s grid.Source, times int64) (grid.Source, func()) {
	return &followed{Source: s, all: times * s.Shape().Slices(), progress: f.Progress}, func() {}
}

func (follower) Missing(_ string, s grid.Source) string { return grid.Missing(s) }

// ShowMemory does nothing: a page rejects an image that does not fit into its little memory.
func (follower) ShowMemory(string, int64, int64) {}

// Takes does nothing: a page shows the progress of reading.
func (follower) Takes(string, time.Duration) {}

// followed reports the progress of reading a source.
type followed struct {
	grid.Source
	read     atomic.Int64
	all      int64
	progress func(string, float64)
}

func (f *followed) ReadSlab(dst []byte, lo, hi int64) error {
	err := f.Source.ReadSlab(dst, lo, hi)
	f.progress("counting and checking the curve", min(1, float64(f.read.Add(hi-lo))/float64(f.all)))
	return err
}

// InBulk reports whether the source is read in bulk.
func (f *followed) InBulk() bool { return grid.InBulk(f.Source) }
