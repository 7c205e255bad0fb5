// Package verify decides whether an answer is right. A Policy lists the witnesses of a question:
// closed forms, agreement with another implementation, and laws that need no reference. Check tries
// them on an answer, and Judge turns their evidence into a Verdict. It knows no workload: those
// define the policies.
package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Status is the outcome of one cell of a run.
type Status string

// The statuses. Only Verified is printed as a plain number.
const (
	Verified    Status = "VERIFIED"    // an independent witness confirmed the timed answers
	Wrong       Status = "WRONG"       // a witness contradicts an answer
	Unverified  Status = "UNVERIFIED"  // no affordable independent witness
	Mistrusted  Status = "MISTRUSTED"  // confirmed, but the data would let a wrong program pass
	Implausible Status = "IMPLAUSIBLE" // faster than the measured ceiling
	Noisy       Status = "NOISY"       // confirmed, but the interval is too wide to quote
	Skipped     Status = "SKIPPED"     // not run, with the reason
	Crashed     Status = "CRASHED"     // the worker died or failed
	Timeout     Status = "TIMEOUT"     // the worker was stopped at the time limit
)

// WidestQuoted is the largest half-width of a median's interval, relative to the median. A wider
// interval makes the cell NOISY.
const WidestQuoted = 0.10

// Statuses lists every status.
func Statuses() []Status {
	return []Status{Verified, Wrong, Unverified, Mistrusted, Implausible, Noisy, Skipped, Crashed, Timeout}
}

// A Diff is the first disagreement between the expected and the given answer.
type Diff struct {
	Where   string `json:"where"`             // the place, such as "level 17 (value 17)"
	Want    string `json:"want"`              // the value by the witness
	Got     string `json:"got"`               // the value of the implementation
	Context string `json:"context,omitempty"` // the input near the place
}

// String formats the diff on one line, without its context.
func (d *Diff) String() string {
	return fmt.Sprintf("%s: want %s, got %s", d.Where, d.Want, d.Got)
}

// Ask runs the implementation under test on an input derived from the original one.
type Ask[In, Out any] func(In) (Out, error)

// A Law is a property that every right answer has.
type Law[In, Out any] struct {
	Name string
	// Note is added to the evidence of the law, such as the seed of its random numbers.
	Note string
	// Drawn means that the note contains a random number, which is not part of a result.
	Drawn bool
	// Independent means that the law derives the answer from its input by another method, so that
	// it can serve as a witness. A law that a constant answer satisfies is not independent.
	Independent bool
	// Alternative means that an answer needs the law only if no alternative before it has confirmed the answer.
	Alternative bool
	// Applies means that the law applies to at least one adversarial input, for every
	// implementation. If it then applies to none, the law is broken.
	Applies bool
	// Calls is the number of answers that the law requests, in units of one answer about the input
	// itself. Work estimates the law's own time; 0 means that the law does not apply.
	Calls float64
	Work  func(In) time.Duration
	// Memory returns an upper bound of the law's own bytes, without the answers that it requests.
	// It is nil if SlabMemory is enough.
	Memory func(In) int64
	// Check returns the first violation, or nil if the law holds. Its error is ErrNotApplicable if
	// the law does not apply to the input; another error means that it could not be tried.
	Check func(in In, out Out, ask Ask[In, Out]) (*Diff, error)
	// Measure replaces Check for a law that holds within limits. The first measure above its limit
	// is the violation.
	Measure func(in In, out Out, ask Ask[In, Out]) ([]Measure, error)
}

// Bounded sets the memory bound of the laws that have none.
func Bounded[In, Out any](laws []Law[In, Out], memory func(In) int64) []Law[In, Out] {
	for i := range laws {
		if laws[i].Memory == nil {
			laws[i].Memory = memory
		}
	}
	return laws
}

// Invariant returns the check of a law that a changed input has the same answer.
func Invariant[In, Out any](
	change func(In) (In, error), agree func(in In, want, got Out) *Diff,
) func(In, Out, Ask[In, Out]) (*Diff, error) {
	return func(in In, out Out, ask Ask[In, Out]) (*Diff, error) {
		changed, err := change(in)
		if err != nil {
			return nil, err
		}
		got, err := ask(changed)
		if err != nil {
			return nil, err
		}
		return agree(in, got, out), nil
	}
}

// SlabMemory bounds the memory of a law without its own bound, in bytes.
const SlabMemory = 128 << 20

// Try checks the law on an answer. It returns the first violation, or nil, and the measures.
func (l Law[In, Out]) Try(in In, out Out, ask Ask[In, Out]) (*Diff, []Measure, error) {
	if l.Measure == nil {
		d, err := l.Check(in, out, ask)
		return d, nil, err
	}
	list, err := l.Measure(in, out, ask)
	return firstViolation(list), list, err
}

// ErrNotApplicable reports that a law does not apply to an input.
var ErrNotApplicable = errors.New("law does not apply")

// An UndecidedError is the reason why a law neither confirms nor contradicts an answer.
type UndecidedError struct{ why string }

// Undecided makes an UndecidedError.
func Undecided(format string, args ...any) error { return UndecidedError{fmt.Sprintf(format, args...)} }

// Error returns the reason.
func (e UndecidedError) Error() string { return e.why }

// A Policy defines when an answer is right.
type Policy[In, Out any] struct {
	// Agree returns the first disagreement between two answers, or nil if they are equal. Answers
	// that agree encode to the same bytes.
	Agree func(in In, want, got Out) *Diff
	// Distance replaces Agree if right answers may differ within limits. It measures the distance
	// of got from want, which is right or more accurate. The first measure above its limit is the
	// disagreement. An answer accepted this way is no reference for the next one, and two answers
	// with different bytes may both be right.
	Distance func(in In, want, got Out) []Measure
	// Known returns the answer that follows from the input's name alone (a closed form).
	Known func(name string, in In) (Out, bool)
	// Laws are tried in order.
	Laws []Law[In, Out]
	// Weak returns why a right answer to this input proves little, or "".
	Weak func(in In, out Out) string
}

// Witnesses returns the policy with its independent laws alone, in their order.
func (p Policy[In, Out]) Witnesses() Policy[In, Out] {
	p.Laws = slices.DeleteFunc(slices.Clone(p.Laws), func(l Law[In, Out]) bool { return !l.Independent })
	return p
}

// Exact reports whether right answers are always equal, so that comparing digests is enough.
func (p Policy[In, Out]) Exact() bool { return p.Distance == nil }

// Compare compares an answer with a reference. It returns the first disagreement, or nil, and the
// measures.
func (p Policy[In, Out]) Compare(in In, want, got Out) (*Diff, []Measure) {
	if p.Exact() {
		return p.Agree(in, want, got), nil
	}
	list := p.Distance(in, want, got)
	return firstViolation(list), list
}

// Evidence is the result of one witness on one input.
type Evidence struct {
	Input   string `json:"input"`
	Witness string `json:"witness"` // "closed form", "agrees with naive", or a law's name
	Passed  bool   `json:"passed"`
	// Independent means that the witness derives the answer from the input by another method.
	Independent bool  `json:"independent"`
	Diff        *Diff `json:"diff,omitempty"`
	// Measures lists the measured distances, if the witness allows a distance.
	Measures []Measure `json:"measures,omitempty"`
	Drawn    bool      `json:"-"`              // Law.Drawn
	Note     string    `json:"note,omitempty"` // the reason if the witness was not tried; else the law's own
}

// A Verdict is a status with its evidence.
type Verdict struct {
	Status    Status     `json:"status"`
	Reason    string     `json:"reason,omitempty"`
	Evidence  []Evidence `json:"evidence,omitempty"`
	Reproduce string     `json:"reproduce,omitempty"` // the command that reproduces a failure
	// Measures lists the worst measure of each name in the evidence.
	Measures []Measure `json:"measures,omitempty"`
}

// Judge weighs the evidence about the inputs of one cell. The verdict is WRONG if a witness
// contradicts, VERIFIED if an independent witness confirms every input, else UNVERIFIED.
func Judge(inputs []string, evidence []Evidence) Verdict {
	v := Verdict{Evidence: evidence}
	confirmed := map[string]bool{}
	for _, e := range evidence {
		v.Measures = Worst(v.Measures, e.Measures)
		if e.Diff != nil && v.Status != Wrong {
			v.Status, v.Reason = Wrong, fmt.Sprintf("%s: %s: %v", e.Input, e.Witness, e.Diff)
		}
		if e.Passed && e.Independent {
			confirmed[e.Input] = true
		}
	}
	if v.Status == Wrong {
		return v
	}
	var open []string
	for _, in := range inputs {
		if !confirmed[in] {
			open = append(open, in)
		}
	}
	v.Status = Verified
	if len(inputs) == 0 || len(open) > 0 {
		v.Status, v.Reason = Unverified, "no affordable witness for "+strings.Join(open, ", ")
		for _, e := range evidence {
			if len(open) > 0 && e.Input == open[0] && e.Independent && e.Note != "" {
				v.Reason += " (" + e.Witness + ": " + e.Note + ")"
				break
			}
		}
	}
	return v
}

// String formats the evidence on one line.
func (e Evidence) String() string {
	witness := e.Witness
	if e.Note != "" {
		witness += " (" + e.Note + ")"
	}
	for i, m := range e.Measures {
		witness += map[bool]string{true: ": ", false: ", "}[i == 0] + m.String()
	}
	switch {
	case e.Passed && e.Independent:
		return "confirmed by an independent witness: " + witness
	case e.Passed:
		return "keeps the law: " + witness
	case e.Diff != nil:
		return "contradicted: " + witness + ": " + e.Diff.String()
	}
	return e.Witness + ": " + e.Note
}
