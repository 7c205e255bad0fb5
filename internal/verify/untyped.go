package verify

import "time"

// Untyped returns the policy for inputs and answers of type any.
func Untyped[In, Out any](p *Policy[In, Out]) Policy[any, any] {
	u := Policy[any, any]{Agree: func(in, want, got any) *Diff { return p.Agree(in.(In), want.(Out), got.(Out)) }}
	if p.Distance != nil {
		u.Distance = func(in, want, got any) []Measure { return p.Distance(in.(In), want.(Out), got.(Out)) }
	}
	if p.Known != nil {
		u.Known = func(name string, in any) (any, bool) { return p.Known(name, in.(In)) }
	}
	if p.Weak != nil {
		u.Weak = func(in, out any) string { return p.Weak(in.(In), out.(Out)) }
	}
	for i := range p.Laws {
		u.Laws = append(u.Laws, untyped(&p.Laws[i]))
	}
	return u
}

func untyped[In, Out any](l *Law[In, Out]) Law[any, any] {
	u := Law[any, any]{
		Name: l.Name, Note: l.Note, Drawn: l.Drawn, Independent: l.Independent, Applies: l.Applies, Calls: l.Calls,
	}
	if l.Work != nil {
		u.Work = func(in any) time.Duration { return l.Work(in.(In)) }
	}
	if l.Memory != nil {
		u.Memory = func(in any) int64 { return l.Memory(in.(In)) }
	}
	typed := func(ask Ask[any, any]) Ask[In, Out] {
		return func(in In) (out Out, err error) {
			answer, err := ask(in)
			if err == nil {
				out = answer.(Out)
			}
			return out, err
		}
	}
	if l.Check != nil {
		u.Check = func(in, out any, ask Ask[any, any]) (*Diff, error) { return l.Check(in.(In), out.(Out), typed(ask)) }
	}
	if l.Measure != nil {
		u.Measure = func(in, out any, ask Ask[any, any]) ([]Measure, error) {
			return l.Measure(in.(In), out.(Out), typed(ask))
		}
	}
	return u
}
