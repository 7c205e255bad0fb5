package verify

import (
	"errors"
	"fmt"
	"math"
	"time"

	"eccbench/internal/quantity"
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
	// AnswerMemory is the memory in bytes that one answer about In takes, and Free returns what a
	// law may take; nil for no limit.
	AnswerMemory int64
	Free         func() int64
}

// A Witness is an answer that something else gave to the same input.
type Witness[Out any] struct {
	By  string // the implementation that gave it
	Out Out
	// Checked says that the answer was put to the laws before.
	Checked bool
}

// Check tries the witnesses of the policy on one answer: the closed form, the answers of others,
// then the laws in order while they fit the budget. It stops at the first contradiction, and
// without Thorough at the first independent confirmation.
func (p Policy[In, Out]) Check(q Question[In, Out]) []Evidence {
	c := p.Begin(q)
	all := c.Confirm()
	if q.Thorough {
		all = append(all, c.Rest(nil)...)
	}
	return all
}

// A Checking is the check of one answer in two steps: Confirm, then Rest.
type Checking[In, Out any] struct {
	p Policy[In, Out]
	q Question[In, Out]

	next        int    // the law to try next
	agreed      string // an implementation with the same answer, whose answer passed the laws
	left, spare time.Duration
	confirmed   bool // by an independent witness
	stopped     bool // by a contradiction
}

// Begin begins a check.
func (p Policy[In, Out]) Begin(q Question[In, Out]) *Checking[In, Out] {
	if q.Spare == 0 {
		q.Spare = q.Budget
	}
	if q.Now == nil {
		q.Now = time.Now
	}
	return &Checking[In, Out]{p: p, q: q, left: q.Budget, spare: q.Spare}
}

// Confirm tries witnesses until an independent one confirms the answer or one contradicts it.
func (c *Checking[In, Out]) Confirm() (all []Evidence) {
	add := func(witness string, want Out) bool {
		d, m := c.p.Compare(c.q.In, want, c.q.Out)
		all = append(all, c.evidence(Law[In, Out]{Name: witness, Independent: true}, d, m))
		return !c.stopped
	}
	if c.p.Known != nil {
		if want, ok := c.p.Known(c.q.Name, c.q.In); ok && !add("closed form", want) {
			return all
		}
	}
	for _, o := range c.q.Others {
		if !add("agrees with "+o.By, o.Out) {
			return all
		}
		if o.Checked {
			c.agreed = o.By
		}
	}
	for !c.confirmed && !c.stopped && c.next < len(c.p.Laws) {
		all = append(all, c.try(nil)...)
	}
	return all
}

// Spend lowers the time that the laws may still take.
func (c *Checking[In, Out]) Spend(most time.Duration) { c.left = min(c.left, most) }

// Rest tries the laws that Confirm left, which need not be tried for a verdict. It calls
// trying, unless that is nil, with the name of each before it is tried, and with the evidence so far.
func (c *Checking[In, Out]) Rest(trying func(law string, before []Evidence)) (all []Evidence) {
	for !c.stopped && c.next < len(c.p.Laws) {
		all = append(all, c.try(func(law string) {
			if trying != nil {
				trying(law, all)
			}
		})...)
	}
	return all
}

// try tries the next law and returns its evidence: none where the law does not apply. A law that
// looks at the answer alone is not tried on an answer that passed it as another's.
func (c *Checking[In, Out]) try(trying func(law string)) []Evidence {
	law := c.p.Laws[c.next]
	c.next++
	note := func(format string, args ...any) []Evidence {
		return []Evidence{{Input: c.q.Name, Witness: law.Name, Independent: law.Independent, Note: fmt.Sprintf(format, args...)}}
	}
	if c.agreed != "" && law.Work != nil && law.Calls == 0 {
		return note("not tried again: it looks at the answer alone, which is that of %s", c.agreed)
	}
	may := c.left
	if c.confirmed {
		may = min(c.left, c.spare)
	}
	cost := law.cost(c.q.In, c.q.PerCall)
	if cost > may {
		return note("not tried: takes about %v and %v is left", cost.Round(time.Millisecond), may.Round(time.Millisecond))
	}
	if need := law.memory(c.q.In, c.q.AnswerMemory); need > 0 && c.q.Free != nil {
		if free := c.q.Free(); need > free {
			return note("not tried: needs about %s of memory, %s is free", quantity.Bytes(need), quantity.Bytes(max(0, free)))
		}
	}
	if trying != nil {
		trying(law.Name)
	}
	start := c.q.Now()
	d, m, err := law.Try(c.q.In, c.q.Out, c.q.Ask)
	// The time that a law took counts where it is longer than the estimate.
	took := max(cost, c.q.Now().Sub(start))
	c.left, c.spare = c.left-took, c.spare-took
	if errors.Is(err, ErrNotApplicable) {
		return nil
	}
	if errors.As(err, new(UndecidedError)) {
		return note("not decided: %v", err)
	}
	if err != nil {
		return note("not tried: %v", err)
	}
	return []Evidence{c.evidence(law, d, m)}
}

// evidence is the statement of a witness that was tried.
func (c *Checking[In, Out]) evidence(w Law[In, Out], d *Diff, m []Measure) Evidence {
	c.confirmed = c.confirmed || w.Independent && d == nil
	c.stopped = d != nil
	return Evidence{Input: c.q.Name, Witness: w.Name, Independent: w.Independent, Passed: d == nil, Diff: d, Measures: m, Note: w.Note, Drawn: w.Drawn}
}

// cost is what a law takes, about.
func (l Law[In, Out]) cost(in In, perCall time.Duration) time.Duration {
	cost := time.Duration(l.Calls * float64(perCall))
	if l.Work != nil {
		cost += l.Work(in)
	}
	return cost
}

// memory is an upper bound of the bytes that a law takes with the answers that it asks for.
func (l Law[In, Out]) memory(in In, answer int64) int64 {
	need := int64(math.Ceil(l.Calls)) * answer
	if l.Memory != nil {
		need += l.Memory(in)
	}
	return need
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
