// Package verify decides whether an answer is right. A Policy holds the witnesses of a question:
// closed forms, agreement with another implementation, and laws that need no reference. A Verdict
// carries their results.
package verify

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Status is what became of one cell of a run.
type Status string

// The statuses. Only Verified earns a plain number.
const (
	Verified    Status = "VERIFIED"    // an independent witness confirmed the timed answers
	Wrong       Status = "WRONG"       // a witness contradicts an answer
	Unverified  Status = "UNVERIFIED"  // no affordable witness
	Mistrusted  Status = "MISTRUSTED"  // confirmed, but the data would let a wrong program pass
	Implausible Status = "IMPLAUSIBLE" // faster than the measured ceiling
	Noisy       Status = "NOISY"       // confirmed, but the interval is too wide to quote
	Skipped     Status = "SKIPPED"     // not run, with the reason
	Crashed     Status = "CRASHED"     // the worker died or failed
	Timeout     Status = "TIMEOUT"     // the worker was stopped at the time limit
)

// WidestQuoted is the half-width of the interval of a median, as a share of it, from
// which a number is NOISY.
const WidestQuoted = 0.10

// Statuses lists every status.
func Statuses() []Status {
	return []Status{Verified, Wrong, Unverified, Mistrusted, Implausible, Noisy, Skipped, Crashed, Timeout}
}

// A Diff is the first disagreement between the answer that was expected and the
// one that was given.
type Diff struct {
	Where   string `json:"where"`             // the place, such as "level 17 (value 17)"
	Want    string `json:"want"`              // what the witness says
	Got     string `json:"got"`               // what the implementation answered
	Context string `json:"context,omitempty"` // the input around the place
}

// String is the diff on one line, without its context.
func (d *Diff) String() string {
	return fmt.Sprintf("%s: want %s, got %s", d.Where, d.Want, d.Got)
}

// Ask answers a question about an input derived from the one under test, by the
// implementation under test.
type Ask[In, Out any] func(In) (Out, error)

// A Law is a relation that every right answer keeps.
type Law[In, Out any] struct {
	Name string
	// Note is what the evidence says of the law when it was tried, such as the seed
	// of what it draws.
	Note string
	// Drawn says that the note has a number that is drawn anew each time, which is no part of a result.
	Drawn bool
	// Independent says that the law ties the answer to its input by means of
	// its own, so that it may stand as the witness of an answer. A law that a
	// constant would keep is not.
	Independent bool
	// Applies means that the law applies to at least one adversarial input, for every implementation:
	// a law that applies to none is broken.
	Applies bool
	// Calls is how many answers the law asks for, in units of one answer about
	// the input itself; Work estimates what the law computes on its own.
	Calls float64
	Work  func(In) time.Duration
	// Memory is an upper bound of the bytes that the law takes on its own, without the answers
	// that it asks for; nil where it takes some slabs and tables, SlabMemory at most.
	Memory func(In) int64
	// Check returns the first violation, nil when the law holds, and an error
	// when it could not be tried: ErrNotApplicable when the input has no such
	// relation.
	Check func(in In, out Out, ask Ask[In, Out]) (*Diff, error)
	// Measure takes the place of Check where the law holds within limits: it is
	// violated by the first measure beyond its own.
	Measure func(in In, out Out, ask Ask[In, Out]) ([]Measure, error)
}

// Bounded states the memory of the laws that state none.
func Bounded[In, Out any](laws []Law[In, Out], memory func(In) int64) []Law[In, Out] {
	for i := range laws {
		if laws[i].Memory == nil {
			laws[i].Memory = memory
		}
	}
	return laws
}

// SlabMemory bounds the memory in bytes of a law that states none.
const SlabMemory = 128 << 20

// Try is where an answer is not what the law says, nil for nowhere, and what was measured.
func (l Law[In, Out]) Try(in In, out Out, ask Ask[In, Out]) (*Diff, []Measure, error) {
	if l.Measure == nil {
		d, err := l.Check(in, out, ask)
		return d, nil, err
	}
	list, err := l.Measure(in, out, ask)
	return firstViolation(list), list, err
}

// ErrNotApplicable says that a law has nothing to say about an input.
var ErrNotApplicable = errors.New("law does not apply")

// An UndecidedError is why a law neither confirms nor contradicts an answer.
type UndecidedError struct{ why string }

// Undecided makes an UndecidedError.
func Undecided(format string, args ...any) error { return UndecidedError{fmt.Sprintf(format, args...)} }

// Error returns the reason.
func (e UndecidedError) Error() string { return e.why }

// A Policy says when an answer is right.
type Policy[In, Out any] struct {
	// Agree returns the first disagreement between two answers, nil when they
	// are the same. Answers that agree are written as the same bytes.
	Agree func(in In, want, got Out) *Diff
	// Distance takes the place of Agree where answers may differ within limits: how far
	// the second is from the first, which is right or nearer to it. They disagree by the
	// first measure beyond its limit. An answer that was accepted so is no yardstick for
	// the next, and two answers of other bytes may both be right.
	Distance func(in In, want, got Out) []Measure
	// Known gives the answer that follows from the input's name alone.
	Known func(name string, in In) (Out, bool)
	// Laws are tried in order.
	Laws []Law[In, Out]
	// Weak returns why a right answer to this input proves little, or "".
	Weak func(in In, out Out) string
}

// Exact reports whether two right answers are always the same, so that their digests
// tell whether they agree.
func (p Policy[In, Out]) Exact() bool { return p.Distance == nil }

// Compare holds an answer to another one: the first disagreement, nil for none, and
// what was measured.
func (p Policy[In, Out]) Compare(in In, want, got Out) (*Diff, []Measure) {
	if p.Exact() {
		return p.Agree(in, want, got), nil
	}
	list := p.Distance(in, want, got)
	return firstViolation(list), list
}

// Evidence is one witness's statement about one input.
type Evidence struct {
	Input   string `json:"input"`
	Witness string `json:"witness"` // "closed form", "agrees with naive", or a law's name
	Passed  bool   `json:"passed"`
	// Independent witnesses tie the answer to the input by means of their own.
	Independent bool  `json:"independent"`
	Diff        *Diff `json:"diff,omitempty"`
	// Measures are what was measured, where the witness allows a distance.
	Measures []Measure `json:"measures,omitempty"`
	Drawn    bool      `json:"-"`              // Law.Drawn
	Note     string    `json:"note,omitempty"` // why it was not tried, when Passed is false and Diff nil; else the law's own
}

// A Verdict is a status with what it rests on.
type Verdict struct {
	Status    Status     `json:"status"`
	Reason    string     `json:"reason,omitempty"`
	Evidence  []Evidence `json:"evidence,omitempty"`
	Reproduce string     `json:"reproduce,omitempty"` // the command that shows a failure again
	// Measures are the worst of the evidence's, by name.
	Measures []Measure `json:"measures,omitempty"`
}

// Judge weighs the evidence about the inputs of one cell: WRONG when a witness
// contradicts, VERIFIED when every input has an independent witness that
// confirms, else UNVERIFIED.
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

// String is the statement on one line.
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
