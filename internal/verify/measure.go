package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Measure is the distance of an answer from its target in one respect: a largest error, a
// residual, an angle.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`          // the largest value of a right answer
	Unit  string  `json:"unit,omitempty"` // "" means none
	At    string  `json:"at,omitempty"`   // the place of the value
	// Aside means that only records contain the measure: tables and lines omit it.
	Aside bool `json:"aside,omitempty"`
}

// IsWithinLimit reports whether the value keeps the limit. NaN does not keep it.
func (m Measure) IsWithinLimit() bool { return m.Value <= m.Limit }

// Below reports whether a value exceeds the measure's value, or is NaN. A measure that is NaN is
// below no value, so that the first NaN is kept.
func (m Measure) Below(value float64) bool { return !math.IsNaN(m.Value) && !(value <= m.Value) }

// Share returns the value divided by its limit, or +Inf if that is undefined.
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

// String formats the measure with its limit: "largest error 1.2e-07 of at most 1e-06".
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

// MarshalJSON writes NaN and infinities as ±MaxFloat64, because JSON has neither. MaxFloat64 still
// exceeds every limit.
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

// Worst returns, for each name, the measure with the largest share of its limit. The names keep the
// order of their first appearance.
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

// firstViolation returns the first measure that exceeds its limit as a Diff, or nil.
func firstViolation(list []Measure) *Diff {
	for _, m := range list {
		if m.IsWithinLimit() {
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
