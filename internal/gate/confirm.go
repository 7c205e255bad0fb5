package gate

import (
	"encoding/json"
	"fmt"
	"io"
)

// ReadResult reads the result file of a gate.
func ReadResult(r io.Reader) (*Result, error) {
	var result Result
	if err := json.NewDecoder(r).Decode(&result); err != nil {
		return nil, fmt.Errorf("not a gate's result: %w", err)
	}
	if result.Schema != Schema {
		return nil, fmt.Errorf("schema %q, want %q", result.Schema, Schema)
	}
	return &result, nil
}

// Flagged returns the cells with a statistical flag, which another machine can confirm.
func (r *Result) Flagged() []Cell {
	var list []Cell
	for _, i := range r.flagged() {
		list = append(list, r.Cells[i].Cell)
	}
	return list
}

// Confirm compares a result with an earlier one whose flags it measured again. A flag that does not
// return leaves no decision. Exact findings and open cells of the earlier result remain.
func (r *Result) Confirm(before *Result) {
	r.Confirms = before.Fingerprint
	for i := range r.Cells {
		c := &r.Cells[i]
		for _, old := range before.Cells {
			if old.Cell == c.Cell && (c.Decision == Same || c.Decision == Improved || c.Decision == Regression &&
				c.Reason == "") && c.Decision != old.Decision {
				c.Reason = fmt.Sprintf("%s on the machine %s, %s here", old.Decision, before.Fingerprint, c.Decision)
				c.Decision = Inconclusive
			}
		}
	}
	r.conclude(false)
	left, exactly := 0, 0
	for _, c := range before.Cells {
		if c.Decision == Inconclusive || c.Decision == NotRun {
			left++
		} else if c.Decision == Regression && c.Reason != "" {
			exactly++
		}
	}
	stands := func(v Verdict, why string) {
		r.Verdict, r.Exit, r.Reason = v, v.Exit(), fmt.Sprintf("on the machine %s %s; here: %s, %s", before.Fingerprint, why,
			r.Verdict, r.Reason)
	}
	switch {
	case r.Verdict == IsWrong:
	case before.Verdict == IsWrong || before.Verdict == IsFailed && r.Verdict != IsFailed:
		stands(before.Verdict, before.Reason)
	case exactly > 0 && r.Verdict != IsFailed && r.Verdict != IsRegression:
		stands(IsRegression, cellsAre(exactly, len(before.Cells))+" allocating more bytes or launching more kernels")
	case r.Verdict == Pass && (left > 0 || before.Interrupted):
		stands(IsInconclusive, before.Reason)
	}
}
