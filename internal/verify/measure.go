package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Measure is how far an answer is from what it is held to, in one respect: its
// largest error, a residual, an angle.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`          // the most that a right answer may have
	Unit  string  `json:"unit,omitempty"` // "" for none
	At    string  `json:"at,omitempty"`   // where the value was found
	// Aside says that the measure is for records: tables and lines go without it.
	Aside bool `json:"aside,omitempty"`
}

// Within reports whether the value keeps the limit. NaN does not.
func (m Measure) Within() bool { return m.Value <= m.Limit }

// Below reports whether a value is beyond the measure's, as one that is no number is: such a one
// stays, and is below none.
func (m Measure) Below(value float64) bool { return !math.IsNaN(m.Value) && !(value <= m.Value) }

// Share is the value as a share of its limit, +Inf where it cannot be said.
func (m Measure) Share() float64 {
	share := m.Value / m.Limit
	switch {
	case m.Value == 0 && m.Limit == 0:
		return 0
	case math.IsNaN(share):
		return math.Inf(1)
	}
	return share
}

// String is the measure with its limit: "largest error 1.2e-07 of at most 1e-06".
func (m Measure) String() string {
	return fmt.Sprintf("%s %s of at most %s", m.Name, m.number(m.Value), m.number(m.Limit))
}

func (m Measure) number(v float64) string {
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if m.Unit != "" {
		s += " " + m.Unit
	}
	return s
}

// MarshalJSON writes a value or limit that is no number as the largest there is: JSON
// has none, and neither is within any limit.
func (m Measure) MarshalJSON() ([]byte, error) {
	type plain Measure // without this method
	finite := func(v float64) float64 {
		switch {
		case math.IsNaN(v) || v > math.MaxFloat64:
			v = math.MaxFloat64
		case v < -math.MaxFloat64:
			v = -math.MaxFloat64
		}
		return v
	}
	m.Value, m.Limit = finite(m.Value), finite(m.Limit)
	return json.Marshal(plain(m))
}

// Worst is of each name the measure that is the largest share of its limit, in the
// order in which the names first came.
func Worst(lists ...[]Measure) []Measure {
	var worst []Measure
	for _, list := range lists {
		for _, m := range list {
			i := slices.IndexFunc(worst, func(w Measure) bool { return w.Name == m.Name })
			if i < 0 {
				worst = append(worst, m)
			} else if m.Share() > worst[i].Share() {
				worst[i] = m
			}
		}
	}
	return worst
}

// firstViolation returns the first measure that does not keep its limit, as a disagreement; nil when
// all do.
func firstViolation(list []Measure) *Diff {
	for _, m := range list {
		if m.Within() {
			continue
		}
		where := m.Name
		if m.At != "" {
			where += ", " + m.At
		}
		return &Diff{Where: where, Want: "at most " + m.number(m.Limit), Got: m.number(m.Value)}
	}
	return nil
}
