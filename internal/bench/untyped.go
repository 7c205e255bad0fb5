package bench

import (
	"io"
	"os"

	"eccbench/internal/verify"
)

// Untyped returns the workload with inputs and answers of type any. Code for such workloads is
// compiled once, and generic code again for each pair of types. An untyped workload stays as it is.
func Untyped[In, Out any](w Workload[In, Out]) Workload[any, any] {
	if u, is := any(w).(Workload[any, any]); is {
		return u
	}
	u := Workload[any, any]{
		Name: w.Name, Question: w.Question, Inputs: untypedInputs[In]{w.Inputs}, Reference: w.Reference,
		Policy: verify.Untyped(w.Policy),
		Encode: func(to io.Writer, out any) error { return w.Encode(to, out.(Out)) },
		Decode: func(data []byte) (any, error) { return w.Decode(data) },
	}
	for _, i := range w.Impls {
		u.Impls = append(u.Impls, untyped[In, Out]{i})
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

type untypedInputs[In any] struct{ Inputs[In] }

func (u untypedInputs[In]) typed() any                               { return u.Inputs }
func (u untypedInputs[In]) Open(name string) (any, error)            { return u.Inputs.Open(name) }
func (u untypedInputs[In]) Cost(name string, in any) Cost            { return u.Inputs.Cost(name, in.(In)) }
func (u untypedInputs[In]) Size(in any) int64                        { return u.Inputs.Size(in.(In)) }
func (u untypedInputs[In]) Share(in any, f *os.File) error           { return u.Inputs.Share(in.(In), f) }
func (u untypedInputs[In]) Attach(mapped []byte) (in any, err error) { return u.Inputs.Attach(mapped) }

func (u untypedInputs[In]) AttachIn(home *os.File, mapped []byte) (any, error) {
	if h, ok := u.Inputs.(Housed[In]); ok {
		return h.AttachIn(home, mapped)
	}
	return u.Inputs.Attach(mapped)
}

func (u untypedInputs[In]) Extent(in any) (from, size int64, err error) {
	if r, ok := u.Inputs.(Repeating[In]); ok {
		return r.Extent(in.(In))
	}
	return 0, 0, nil
}

func (u untypedInputs[In]) Sketch(name string) (any, bool) {
	if s, ok := u.Inputs.(Sketched[In]); ok {
		return s.Sketch(name)
	}
	return nil, false
}

type untyped[In, Out any] struct{ Implementation[In, Out] }

func (u untyped[In, Out]) CanDo(in any, c Conditions) error {
	return u.Implementation.CanDo(in.(In), c)
}

func (u untyped[In, Out]) Setup(in any, c Conditions) (Job[any], error) {
	job, err := u.Implementation.Setup(in.(In), c)
	if err != nil {
		return nil, err
	}
	if j, ok := job.(Renewable[In]); ok {
		return untypedRenewable[In, Out]{untypedJob[Out]{job}, j}, nil
	}
	return untypedJob[Out]{job}, nil
}

type untypedJob[Out any] struct{ Job[Out] }

func (j untypedJob[Out]) typed() any        { return j.Job }
func (j untypedJob[Out]) Out() (any, error) { return j.Job.Out() }

type untypedRenewable[In, Out any] struct {
	untypedJob[Out]
	renewable Renewable[In]
}

func (j untypedRenewable[In, Out]) Renews() bool       { return j.renewable.Renews() }
func (j untypedRenewable[In, Out]) Renew(in any) error { return j.renewable.Renew(in.(In)) }
