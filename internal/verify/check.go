package verify

import (
	"errors"
	"fmt"
	"math"
	"time"

	"eccbench/internal/quantity"
)

// A Question is one answer to check, with the budget for the check.
type Question[In, Out any] struct {
	Name    string         // the input's name
	In      In             // the input
	Out     Out            // the answer to check
	Others  []Witness[Out] // answers of other implementations to the same input
	Ask     Ask[In, Out]   // answers derived questions
	PerCall time.Duration  // the time of one answer about In
	Budget  time.Duration  // the time for all laws together
	// Spare is the part of the budget for laws that run after an independent witness has confirmed
	// the answer. Laws that ran before count against it. 0 means the whole budget.
	Spare time.Duration
	// Thorough tries every law that fits the budget. Otherwise the check stops at the first
	// independent witness.
	Thorough bool
	// Now is the clock that measures the budget; nil means the machine's clock.
	Now func() time.Time
	// AnswerMemory is the number of bytes that one answer about In takes. Free returns the bytes
	// that a law may allocate; nil means no limit.
	AnswerMemory int64
	Free         func() int64
}

// A Witness is an answer of another implementation to the same input.
type Witness[Out any] struct {
	By  string // the implementation
	Out Out
	// Checked means that the laws were already tried on this answer.
	Checked bool
}

// Check tries the witnesses of the policy on one answer: the closed form, the answers of other
// implementations, then the laws in order while they fit the budget. It stops at the first
// contradiction. Unless Thorough is set, it also stops at the first independent confirmation.
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
	agreed      string // an implementation with the same answer, which already passed the laws
	left, spare time.Duration
	confirmed   bool // by an independent witness
	proven      bool // by an alternative law
	stopped     bool // by a contradiction
}

// Begin starts a check.
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

// Spend lowers the time that is left for the laws.
func (c *Checking[In, Out]) Spend(most time.Duration) { c.left = min(c.left, most) }

// Rest tries the laws that Confirm left; the verdict does not depend on them. Before each law it
// calls trying, unless that is nil, with the law's name and the evidence so far.
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

// try tries the next law and returns its evidence, or none if the law does not apply. It skips a
// law that examines only the answer if the same answer already passed it for another
// implementation, and an alternative one after another.
func (c *Checking[In, Out]) try(trying func(law string)) []Evidence {
	law := c.p.Laws[c.next]
	c.next++
	note := func(format string, args ...any) []Evidence {
		return []Evidence{{Input: c.q.Name, Witness: law.Name, Independent: law.Independent,
			Note: fmt.Sprintf(format, args...)}}
	}
	if law.Alternative && c.proven {
		return note("not tried: its alternative confirms the answer")
	}
	if c.agreed != "" && law.Work != nil && law.Calls == 0 {
		return note("not tried again: it looks at the answer alone, which is that of %s", c.agreed)
	}
	may := c.left
	if c.confirmed {
		may = min(c.left, c.spare)
	}
	cost := law.cost(c.q.In, c.q.PerCall)
	if why := law.unaffordable(c.q, cost, may); why != "" {
		return note("%s", why)
	}
	if trying != nil {
		trying(law.Name)
	}
	var asked time.Duration
	start := c.q.Now()
	d, m, err := law.Try(c.q.In, c.q.Out, func(in In) (Out, error) {
		start := c.q.Now()
		defer func() { asked += c.q.Now().Sub(start) }()
		return c.q.Ask(in)
	})
	took := c.q.Now().Sub(start)
	c.left, c.spare = c.left-took, c.spare-took
	// The estimate may be of a first call, which loads libraries. Calls is rounded up.
	if asked > 0 && err == nil {
		c.q.PerCall = min(c.q.PerCall, time.Duration(callsRounding*float64(asked)/law.Calls))
	}
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

// callsRounding is the largest ratio of a law's Calls to the size of the inputs that it asks about.
const callsRounding = 1.5

// evidence records the result of a witness.
func (c *Checking[In, Out]) evidence(w Law[In, Out], d *Diff, m []Measure) Evidence {
	c.confirmed = c.confirmed || w.Independent && d == nil
	c.proven = c.proven || w.Independent && w.Alternative && d == nil
	c.stopped = d != nil
	return Evidence{Input: c.q.Name, Witness: w.Name, Independent: w.Independent, Passed: d == nil, Diff: d, Measures: m,
		Note: w.Note, Drawn: w.Drawn}
}

// unaffordable returns why a law of the given cost does not fit into a time or the free memory, or "" if it fits.
func (l Law[In, Out]) unaffordable(q Question[In, Out], cost, may time.Duration) string {
	if cost > may {
		return fmt.Sprintf("not tried: takes about %v and %v is left",
			cost.Round(time.Millisecond), max(0, may.Round(time.Millisecond)))
	}
	if need := l.memory(q.In, q.AnswerMemory); need > 0 && q.Free != nil {
		if free := q.Free(); need > free {
			return fmt.Sprintf("not tried: needs about %s of memory, %s is free",
				quantity.Bytes(need), quantity.Bytes(max(0, free)))
		}
	}
	return ""
}

// cost estimates the time of a law.
func (l Law[In, Out]) cost(in In, perCall time.Duration) time.Duration {
	cost := time.Duration(l.Calls * float64(perCall))
	if l.Work != nil {
		cost += l.Work(in)
	}
	return cost
}

// memory returns an upper bound of the bytes that a law allocates, its derived answers included.
func (l Law[In, Out]) memory(in In, answer int64) int64 {
	need := int64(math.Ceil(l.Calls)) * answer
	if l.Memory != nil {
		need += l.Memory(in)
	}
	return need
}

// Unaffordable returns a note on each independent law that applies if none of them fits the budget
// and the memory of a question without an answer. Use it to reject a question before a long
// computation.
func (p Policy[In, Out]) Unaffordable(q Question[In, Out]) (notes []Evidence) {
	for _, l := range p.Laws {
		if !l.Independent || l.Work != nil && l.Work(q.In) == 0 {
			continue
		}
		why := l.unaffordable(q, l.cost(q.In, q.PerCall), q.Budget)
		if why == "" {
			return nil
		}
		notes = append(notes, Evidence{Input: q.Name, Witness: l.Name, Independent: true, Note: why})
	}
	if p.Known == nil || len(notes) == 0 {
		return notes
	}
	if _, known := p.Known(q.Name, q.In); known {
		return nil
	}
	return notes
}

// Costs estimates two times for an answer about an input: that of the cheapest independent law, and
// the total of the laws that fit, in order, into the spare time. Either is 0 if there is no such
// law.
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

// Memory returns an upper bound of the bytes of the cheapest independent law, or 0 if there is none.
func (p Policy[In, Out]) Memory(in In) (need int64) {
	least := time.Duration(0)
	for _, l := range p.Laws {
		if cost := l.cost(in, 0); l.Independent && cost > 0 && (least == 0 || cost < least) {
			least, need = cost, l.memory(in, 0)
		}
	}
	return need
}
