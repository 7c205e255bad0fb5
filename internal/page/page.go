// Package page answers the page that computes in a browser. It opens an image, cuts slices to draw,
// and computes its verified curve and the Betti numbers of a set. Requests and replies are JSON,
// and each worker of the browser has one session.
package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"eccbench/datasets"
	"eccbench/datasets/files"
	"eccbench/datasets/files/format"
	"eccbench/internal/ask"
	"eccbench/internal/grid"
	"eccbench/internal/library"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
)

// A Request is a question of the page. The field What has its kind: open, slice, set, curve, chi,
// plot, csv, svg or rows.
type Request struct {
	What  string `json:"what"`
	Input string `json:"input"` // a file, a folder of slices, or an input string
	ask.Options
	Stack  bool   `json:"stack"`  // the input is a folder of slices
	Volume string `json:"volume"` // number of the volume in a file with several

	Axis  int         `json:"axis"`  // of a slice: 0 for z, 1 for y, 2 for x
	Index int64       `json:"index"` // of a slice
	At    grid.Number `json:"at"`    // value of a set or of χ
	Width float64     `json:"width"` // of a plot, in pixels
	Least float64     `json:"least"` // the range of the image's values, for the x axis of a plot
	Most  float64     `json:"most"`
	Rows  int64       `json:"rows"` // maximum number of rows
}

// name returns the name of the input in the spelling of the command.
func (r Request) name() (datasets.Name, error) {
	name, is, err := datasets.GivenName(r.Input)
	if is {
		return name, err
	}
	if r.Stack {
		name = datasets.StackName(r.Input)
	}
	return name.With("volume", r.Volume), nil
}

// ofVolume returns the request with the first volume selected, if a file has several and the
// request selects none. It also returns their number.
func (r Request) ofVolume() (Request, int64, error) {
	if r.Stack || datasets.IsName(r.Input) {
		return r, 1, nil
	}
	n, err := files.Volumes(r.Input, format.Options{})
	if n > 1 && r.Volume == "" {
		r.Volume = "0"
	}
	return r, n, err
}

// A Session holds the image and the curve of a worker of the browser. Its zero value has none.
type Session struct {
	// Progress is called with the current step, and its progress from 0 to 1.
	Progress func(what string, done float64)
	Memory   func() int64 // free memory, in bytes

	image *grid.Field
	curve *curve
}

// A Fault is the reply to a question that has no answer.
type Fault struct {
	Error string `json:"error"`
	NaN   bool   `json:"nan"`   // a value is not finite, and a mask can exclude it
	Wrong bool   `json:"wrong"` // the witness refutes the answer
}

// Reply answers a question in JSON; more has the bytes of a slice or a file. The reply to an error
// is a Fault.
func (s *Session) Reply(question []byte) (reply, more []byte) {
	var r Request
	out, err := library.Caught(func() (out any, err error) {
		if err = json.Unmarshal(question, &r); err == nil {
			err = r.Check()
		}
		if err == nil {
			out, more, err = s.answer(r)
		}
		return out, err
	})
	if err != nil {
		verdict := ask.VerdictError{}
		out = Fault{
			Error: strings.ReplaceAll(err.Error(), "\n", "; "),
			NaN:   errors.As(err, new(*grid.NotFiniteError)),
			Wrong: errors.As(err, &verdict) && verdict.Status == verify.Wrong,
		}
	}
	if reply, err = json.Marshal(out); err != nil {
		reply, _ = json.Marshal(Fault{Error: err.Error()}) // a struct of strings cannot fail
	}
	return reply, more
}

func (s *Session) answer(r Request) (out any, more []byte, err error) {
	switch r.What {
	case "open":
		out, err = s.open(r)
		return out, nil, err
	case "curve":
		out, err = s.findCurve(r)
		return out, nil, err
	case "slice", "set":
		if s.image == nil {
			return nil, nil, errors.New("no image is open")
		}
		if r.What == "set" {
			out, err = s.set(r)
			return out, nil, err
		}
		return s.slice(r)
	}
	if s.curve == nil {
		return nil, nil, errors.New("no curve is known")
	}
	return s.curve.answer(r)
}

// An About describes an image.
type About struct {
	Name   string   `json:"name"`  // canonical
	Shape  [3]int64 `json:"shape"` // z, y, x
	Axes   int      `json:"axes"`  // 2 or 3
	Extent string   `json:"extent"`
	Type   string   `json:"type"`
	Whole  bool     `json:"whole"` // its values are whole numbers
	Wide   bool     `json:"wide"`  // its slices are float64 in place of float32
	Least  float64  `json:"least"`
	Most   float64  `json:"most"`
	// Range are Least and Most as text, with the fewest digits that the type needs.
	Range   [2]string `json:"range"`
	Missing string    `json:"missing"` // description of missing parts of the file
	Volumes int64     `json:"volumes"` // number of volumes in the file
}

// open reads an image whole.
func (s *Session) open(r Request) (a About, err error) {
	s.image = nil
	if r, a.Volumes, err = r.ofVolume(); err != nil {
		return a, err
	}
	name, err := r.name()
	if err != nil {
		return a, err
	}
	name = ask.Opening{Every: true, Gaps: r.NaN == ask.NaNMask}.Of(name)
	src, err := name.Open(s.Memory())
	if err != nil {
		return a, err
	}
	a.Name = name.String()
	defer grid.Close(src)
	if need, free := grid.TotalBytes(src), s.Memory(); need > free {
		return a, fmt.Errorf("%s takes %s of memory, and a page has %s left; use the command eccbench",
			grid.Extent(src), quantity.Bytes(need), quantity.Bytes(free))
	}
	f, err := grid.Load(src)
	if err == nil {
		err = grid.Unchanged(src)
	}
	if err != nil {
		return a, err
	}
	least, most, err := ask.RangeWithin(f)
	if err != nil {
		return a, err
	}
	labels := grid.LabelsOf(f)
	a.Shape, a.Axes, a.Extent = [3]int64{f.Shape().D, f.Shape().H, f.Shape().W}, f.Dim(), grid.Extent(f)
	a.Type, a.Missing, a.Wide = f.Type().String(), grid.Missing(src), labels != nil
	if a.Wide {
		a.Type = labels.Type()
	}
	a.Whole = !strings.HasPrefix(a.Type, "float")
	a.Least, a.Most = labels.Float64(least), labels.Float64(most)
	a.Range = [2]string{string(labels.Append(nil, least)), string(labels.Append(nil, most))}
	s.image = f
	return a, nil
}

// A Plane is the size of a slice. Its values are returned separately: float32, or float64 for a
// wide image.
type Plane struct {
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}

// slice cuts a slice across an axis. Its rows follow each other along y, or along z if it is across
// y or x.
func (s *Session) slice(r Request) (p Plane, values []byte, err error) {
	shape := s.image.Shape()
	across := []int64{shape.D, shape.H, shape.W}
	stride := []int64{shape.H * shape.W, shape.W, 1}
	if r.Axis < 0 || r.Axis > 2 || r.Index < 0 || r.Index >= across[r.Axis] {
		return p, nil, fmt.Errorf("there is no slice %d across axis %d of %v", r.Index, r.Axis, shape)
	}
	row, column := [3]int{1, 0, 0}[r.Axis], [3]int{2, 2, 1}[r.Axis]
	p = Plane{across[column], across[row]}
	cut := cutter[s.image.Type()]
	return p, cut(s.image, r.Index*stride[r.Axis], p, stride[row], stride[column]), nil
}

// cutter maps each type to the function that cuts a plane.
var cutter = map[grid.Type]func(f *grid.Field, at int64, p Plane, row, column int64) []byte{
	grid.Uint8: cut[uint8], grid.Int16: cut[int16], grid.Uint16: cut[uint16], grid.Float32: cut[float32],
}

// cut returns the values of a plane from a voxel on, as bytes of the type in About.
func cut[T grid.Element](f *grid.Field, at int64, p Plane, row, column int64) []byte {
	from, labels := grid.Values[T](f.Data()), grid.LabelsOf(f)
	narrow, wide := make([]float32, 0, p.Width*p.Height), []float64(nil)
	for y := range p.Height {
		for x := range p.Width {
			if v := float32(from[at+y*row+x*column]); labels == nil {
				narrow = append(narrow, v)
			} else {
				wide = append(wide, labels.Float64(v))
			}
		}
	}
	if labels == nil {
		return grid.Bytes(narrow)
	}
	return grid.Bytes(wide)
}

// A Set is the Betti numbers of a set.
type Set struct {
	B0      int64  `json:"b0"`
	B1      int64  `json:"b1"`
	B2      int64  `json:"b2"`
	Chi     int64  `json:"chi"` // b0 − b1 + b2
	By      string `json:"by"`
	Witness string `json:"witness"`
}

// set finds the Betti numbers of the set at a value.
func (s *Session) set(r Request) (a Set, err error) {
	c, err := r.Convention(r.Gaps(s.image.Type()))
	if err != nil {
		return a, err
	}
	s.Progress("counting components, tunnels and cavities", 0)
	in := &betti.Image{Source: s.image, Threshold: betti.Threshold(s.image, r.At, c.Superlevel)}
	found, verdict, err := ask.First(library.BettiAt(c), in, conditions, true)
	if err == nil && verdict != verify.Verified {
		err = fmt.Errorf("the Betti numbers are %s: %s", verdict, found.Evidence)
	}
	if err != nil {
		return a, err
	}
	n := found.Out
	return Set{n.B0, n.B1, n.B2, n.Euler(), found.By, found.Evidence}, nil
}
