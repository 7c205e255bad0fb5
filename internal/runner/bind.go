package runner

import (
	"fmt"
	"io"
	"os"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/worker"
)

// A Bench is a workload without its type parameters, so that one run can mix workloads.
type Bench interface {
	// Name returns the workload's name.
	Name() string
	// Question describes the workload to users.
	Question() bench.Question
	// Abouts describes the implementations in order.
	Abouts() []bench.About
	// Reference names the implementation that follows the definition.
	Reference() string
	// Describe returns the cost of an input and the bytes that sharing it needs.
	Describe(input string) (bench.Cost, int64, error)
	// Files lists the files of an input, or none for a generated input.
	Files(input string) []string
	// CanDo returns the reason why an implementation rejects an input, or nil.
	CanDo(impl, input string, c bench.Conditions) error
	// Refusals returns CanDo for several implementations, each with its conditions. It opens the
	// input once.
	Refusals(input string, impls []string, cs []bench.Conditions) []error
	// Laws names the laws that apply to at least one adversarial input.
	Laws() []string
	// Exact reports whether right answers are always equal.
	Exact() bool

	estimate(impl, input string, c bench.Conditions) (time.Duration, bool)
	laws(input string, perCall, spare time.Duration) (independent, fitting time.Duration)
	variants(input string, n int) ([]string, error)
	smaller(input string) []string
	share(input string, f *os.File) (memfile.Extent, error)
	work(clock worker.Clock, t worker.Task, files worker.Files, tell worker.Teller) (bench.CellRecord, error)
}

// Bind hides the types of a workload.
func Bind[In, Out any](w bench.Workload[In, Out]) Bench { return &bound[any, any]{bench.Untyped(w)} }

// Find returns the bench with a name.
func Find(benches []Bench, name string) (Bench, error) {
	for _, b := range benches {
		if b.Name() == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("no workload %q", name)
}

type bound[In, Out any] struct{ w bench.Workload[In, Out] }

func (b *bound[In, Out]) Name() string             { return b.w.Name }
func (b *bound[In, Out]) Question() bench.Question { return b.w.Question }
func (b *bound[In, Out]) Reference() string        { return b.w.Reference }

func (b *bound[In, Out]) Abouts() []bench.About {
	var abouts []bench.About
	for _, i := range b.w.Impls {
		abouts = append(abouts, i.About())
	}
	return abouts
}

func (b *bound[In, Out]) Describe(input string) (bench.Cost, int64, error) {
	in, end, err := b.open(input, true)
	if err != nil {
		return bench.Cost{}, 0, err
	}
	defer end()
	return b.w.Inputs.Cost(input, in), b.w.Inputs.Size(in), nil
}

// open opens an input. If only its size matters, a sketch is enough where there is one.
func (b *bound[In, Out]) open(input string, size bool) (in In, end func(), err error) {
	if s, ok := b.w.Inputs.(bench.Sketched[In]); ok && size {
		if in, ok := s.Sketch(input); ok {
			return in, func() {}, nil
		}
	}
	if in, err = b.w.Inputs.Open(input); err != nil {
		return in, nil, err
	}
	return in, func() { closeInput(in) }, nil
}

func (b *bound[In, Out]) Files(input string) []string {
	if s, ok := bench.As[bench.Stored](b.w.Inputs); ok {
		return s.Files(input)
	}
	return nil
}

func (b *bound[In, Out]) CanDo(impl, input string, c bench.Conditions) error {
	return b.Refusals(input, []string{impl}, []bench.Conditions{c})[0]
}

func (b *bound[In, Out]) Refusals(input string, impls []string, cs []bench.Conditions) []error {
	refusals, found := make([]error, len(impls)), make([]bench.Implementation[In, Out], len(impls))
	host := true
	for k, impl := range impls {
		found[k], refusals[k] = b.find(impl)
		host = host && refusals[k] == nil && found[k].About().Where == "cpu"
	}
	in, end, err := b.open(input, host)
	if err == nil {
		defer end()
	}
	for k, i := range found {
		switch {
		case refusals[k] != nil:
		case err != nil:
			refusals[k] = err
		default:
			refusals[k] = i.CanDo(in, cs[k])
		}
	}
	return refusals
}

func (b *bound[In, Out]) Laws() []string {
	var names []string
	for _, l := range b.w.Policy.Laws {
		if l.Applies {
			names = append(names, l.Name)
		}
	}
	return names
}

func (b *bound[In, Out]) Exact() bool { return b.w.Policy.Exact() }

func (b *bound[In, Out]) variants(input string, n int) ([]string, error) {
	return b.w.Inputs.Variants(input, n)
}

func (b *bound[In, Out]) smaller(input string) []string { return b.w.Inputs.Smaller(input) }

func (b *bound[In, Out]) share(input string, f *os.File) (e memfile.Extent, err error) {
	in, err := b.w.Inputs.Open(input)
	if err != nil {
		return e, err
	}
	defer closeInput(in)
	if err := memfile.Enlarge(f, b.w.Inputs.Size(in)); err != nil {
		return e, err
	}
	if err := b.w.Inputs.Share(in, f); err != nil {
		return e, err
	}
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return e, err
	}
	if r, ok := b.w.Inputs.(bench.Repeating[In]); ok {
		if e.From, e.Size, err = r.Extent(in); err != nil {
			return e, err
		}
	}
	return e, f.Truncate(end) // Size is an upper bound
}

func (b *bound[In, Out]) find(impl string) (bench.Implementation[In, Out], error) {
	for _, i := range b.w.Impls {
		if i.About().Name == impl {
			return i, nil
		}
	}
	return nil, fmt.Errorf("workload %s has no implementation %q", b.w.Name, impl)
}

// closeInput closes an input if it can be closed, such as a file.
func closeInput(in any) {
	if c, ok := in.(interface{ Close() error }); ok {
		c.Close() // read only: nothing can be lost
	}
}
