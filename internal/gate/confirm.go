package gate

import (
	"encoding/json"
	"fmt"
	"io"
)

// ReadResult reads what a gate wrote.
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

// Flagged are the cells that statistics flagged, which another machine can
// confirm.
func (r *Result) Flagged() []Cell {
	var list []Cell
	for _, i := range r.flagged() {
		list = append(list, r.Cells[i].Cell)
	}
	return list
}

// Confirm holds a result against the one whose flags it measured again: a flag
// that does not come back leaves both without a decision.
func (r *Result) Confirm(before *Result) {
	r.Confirms = before.Fingerprint
	for i := range r.Cells {
		c := &r.Cells[i]
		for _, old := range before.Cells {
			if old.Cell == c.Cell && (c.Decision == Same || c.Decision == Improved || c.Decision == Regression && c.Reason == "") && c.Decision != old.Decision {
				c.Reason = fmt.Sprintf("%s on the machine %s, %s here", old.Decision, before.Fingerprint, c.Decision)
				c.Decision = Inconclusive
			}
		}
	}
	r.conclude(false)
}
