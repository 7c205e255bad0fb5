package verify

import (
	"errors"
	"fmt"
	"time"
)

// A Question is one answer to be checked, with what may be spent on it.
type Question[In, Out any] struct {
	Name    string         // the input's name
	In      In             // the input
	Out     Out            // the answer to check
	Others  []Witness[Out] // answers that others gave to the same input
	Ask     Ask[In, Out]   // answers derived questions
	PerCall time.Duration  // what one answer about In takes
	Budget  time.Duration  // what the laws may take together
	// Spare is what of the budget the laws may take that are tried although an independent
	// witness has confirmed the answer, those before them included; 0 for all of it.
	Spare time.Duration
	// Thorough tries every law that fits the budget. Without it the laws stop
	// at the first independent witness.
	Thorough bool
	// Now is the clock that the budget is of, nil for the machine's.
	Now func() time.Time
}

// A Witness is an answer that something else gave to the same input.
type Witness[Out any] struct {
	By  string // the implementation that gave it
	Out Out
	// Checked says that the answer was put to the laws before.
	Checked bool
}

// Check tries every witness the policy has on one answer: the closed form, the
// answers of others, then the laws in order while they fit the budget. It stops
// at the first contradiction. A law that works on the answer alone says of an
// answer that was checked before, as another's, what it said then.
func (p Policy[In, Out]) Check(q Question[In, Out]) []Evidence {
	var all []Evidence
	confirmed := false
	add := func(witness, note string, drawn, independent bool, d *Diff, m []Measure) bool {
		all = append(all, Evidence{Input: q.Name, Witness: witness, Independent: independent, Passed: d == nil, Diff: d, Measures: m, Note: note, Drawn: drawn})
		confirmed = confirmed || independent && d == nil
		return d == nil
	}
	if p.Known != nil {
		if want, ok := p.Known(q.Name, q.In); ok {
			if d, m := p.Compare(q.In, want, q.Out); !add("closed form", "", false, true, d, m) {
				return all
			}
		}
	}
	agreed := ""
	for _, o := range q.Others {
		if d, m := p.Compare(q.In, o.Out, q.Out); !add("agrees with "+o.By, "", false, true, d, m) {
			return all
		}
		if o.Checked {
			agreed = o.By
		}
	}
	left, spare, now := q.Budget, q.Spare, q.Now
	if spare == 0 {
		spare = q.Budget
	}
	if now == nil {
		now = time.Now
	}
	for _, law := range p.Laws {
		if confirmed && !q.Thorough {
			break
		}
		cost := law.cost(q.In, q.PerCall)
		note := func(format string, args ...any) {
			all = append(all, Evidence{Input: q.Name, Witness: law.Name, Independent: law.Independent, Note: fmt.Sprintf(format, args...)})
		}
		if agreed != "" && law.Work != nil && law.Calls == 0 {
			note("not tried again: it looks at the answer alone, which is that of %s", agreed)
			continue
		}
		may := left
		if confirmed {
			may = min(left, spare)
		}
		if cost > may {
			note("not tried: takes about %v and %v is left", cost.Round(time.Millisecond), may.Round(time.Millisecond))
			continue
		}
		start := now()
		d, m, err := law.Try(q.In, q.Out, q.Ask)
		// What a law took counts where that is more than its estimate.
		took := max(cost, now().Sub(start))
		left, spare = left-took, spare-took
		if errors.Is(err, ErrNotApplicable) {
			continue
		}
		if err != nil {
			note("not tried: %v", err)
			continue
		}
		if !add(law.Name, law.Note, law.Drawn, law.Independent, d, m) {
			return all
		}
	}
	return all
}

// cost is what a law takes, about.
func (l Law[In, Out]) cost(in In, perCall time.Duration) time.Duration {
	cost := time.Duration(l.Calls * float64(perCall))
	if l.Work != nil {
		cost += l.Work(in)
	}
	return cost
}

// Costs are what the cheapest independent law takes on an answer about an input, about, and
// what those laws take together that fit so much time, in their order; 0 where there are
// none.
func (p Policy[In, Out]) Costs(in In, perCall, spare time.Duration) (independent, fitting time.Duration) {
	for _, l := range p.Laws {
		cost := l.cost(in, perCall)
		if fitting+cost <= spare {
			fitting += cost
		}
		if l.Independent && (independent == 0 || cost < independent) {
			independent = cost
		}
	}
	return independent, fitting
}
