package bench

import (
	"io"
	"os"

	"eccbench/internal/verify"
)

// Untyped returns the workload with inputs and answers of type any. Code for such workloads is
// compiled once, and generic code again for each pair of types: here it is closures alone, as methods
// of generic types are compiled several times. An untyped workload stays as it is.
func Untyped[In, Out any](w Workload[In, Out]) Workload[any, any] {
	if u, is := any(w).(Workload[any, any]); is {
		return u
	}
	encode, decode := w.Encode, w.Decode
	u := Workload[any, any]{
		Name: w.Name, Question: w.Question, Inputs: untypeInputs(w.Inputs), Reference: w.Reference,
		Policy: verify.Untyped(&w.Policy),
		Encode: func(to io.Writer, out any) error { return encode(to, out.(Out)) },
		Decode: func(data []byte) (any, error) { return decode(data) },
	}
	for _, i := range w.Impls {
		u.Impls = append(u.Impls, &untyped{
			described: i,
			canDo:     func(in any, c Conditions) error { return i.CanDo(in.(In), c) },
			setup: func(in any, c Conditions) (Job[any], error) {
				job, err := i.Setup(in.(In), c)
				if err != nil {
					return nil, err
				}
				u := &untypedJob{work: job, out: func() (any, error) { return job.Out() }}
				if r, ok := job.(Renewable[In]); ok {
					u.renews, u.renew = r.Renews, func(in any) error { return r.Renew(in.(In)) }
				}
				return u, nil
			},
		})
	}
	return u
}

// As returns a job or inputs as one of the interfaces that only some have, also of an untyped
// workload.
func As[T any](of any) (T, bool) {
	if u, ok := of.(interface{ typed() any }); ok {
		of = u.typed()
	}
	t, ok := of.(T)
	return t, ok
}

// named are the methods of inputs without types.
type named interface {
	Variants(name string, n int) ([]string, error)
	Smaller(name string) []string
}

type untypedInputs struct {
	named
	open     func(name string) (any, error)
	cost     func(name string, in any) Cost
	size     func(in any) int64
	share    func(in any, f *os.File) error
	attach   func(mapped []byte) (any, error)
	attachIn func(home *os.File, mapped []byte) (any, error)
	extent   func(in any) (from, size int64, err error)
	sketch   func(name string) (any, bool)
}

func untypeInputs[In any](i Inputs[In]) *untypedInputs {
	u := &untypedInputs{
		named:    i,
		open:     func(name string) (any, error) { return i.Open(name) },
		cost:     func(name string, in any) Cost { return i.Cost(name, in.(In)) },
		size:     func(in any) int64 { return i.Size(in.(In)) },
		share:    func(in any, f *os.File) error { return i.Share(in.(In), f) },
		attach:   func(mapped []byte) (any, error) { return i.Attach(mapped) },
		attachIn: func(_ *os.File, mapped []byte) (any, error) { return i.Attach(mapped) },
		extent:   func(any) (from, size int64, err error) { return 0, 0, nil },
		sketch:   func(string) (any, bool) { return nil, false },
	}
	if h, ok := i.(Housed[In]); ok {
		u.attachIn = func(home *os.File, mapped []byte) (any, error) { return h.AttachIn(home, mapped) }
	}
	if r, ok := i.(Repeating[In]); ok {
		u.extent = func(in any) (from, size int64, err error) { return r.Extent(in.(In)) }
	}
	if s, ok := i.(Sketched[In]); ok {
		u.sketch = func(name string) (any, bool) { return s.Sketch(name) }
	}
	return u
}

func (u *untypedInputs) typed() any                                  { return u.named }
func (u *untypedInputs) Open(name string) (any, error)               { return u.open(name) }
func (u *untypedInputs) Cost(name string, in any) Cost               { return u.cost(name, in) }
func (u *untypedInputs) Size(in any) int64                           { return u.size(in) }
func (u *untypedInputs) Share(in any, f *os.File) error              { return u.share(in, f) }
func (u *untypedInputs) Attach(mapped []byte) (any, error)           { return u.attach(mapped) }
func (u *untypedInputs) Extent(in any) (from, size int64, err error) { return u.extent(in) }
func (u *untypedInputs) Sketch(name string) (any, bool)              { return u.sketch(name) }

func (u *untypedInputs) AttachIn(home *os.File, mapped []byte) (any, error) {
	return u.attachIn(home, mapped)
}

type described interface{ About() About }

type untyped struct {
	described
	canDo func(in any, c Conditions) error
	setup func(in any, c Conditions) (Job[any], error)
}

func (u *untyped) CanDo(in any, c Conditions) error             { return u.canDo(in, c) }
func (u *untyped) Setup(in any, c Conditions) (Job[any], error) { return u.setup(in, c) }

// work are the methods of a job without types.
type work interface {
	Do(*Trace) error
	Poison()
	Close() error
}

type untypedJob struct {
	work
	out    func() (any, error)
	renews func() bool // nil if it takes no other input
	renew  func(in any) error
}

func (j *untypedJob) typed() any        { return j.work }
func (j *untypedJob) Out() (any, error) { return j.out() }
func (j *untypedJob) Renews() bool      { return j.renews != nil && j.renews() }

func (j *untypedJob) Renew(in any) error {
	if j.renew == nil {
		return nil
	}
	return j.renew(in)
}
