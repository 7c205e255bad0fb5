package verify

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

func TestMeasures(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		m      Measure
		within bool
		share  float64
		text   string
		data   string
	}{
		{Measure{Name: "error", Value: 1, Limit: 4}, true, 0.25, "error 1 of at most 4", `{"name":"error","value":1,"limit":4}`},
		{Measure{Name: "angle", Value: 3, Limit: 2, Unit: "degrees", At: "z 1"}, false, 1.5, "angle 3 degrees of at most 2 degrees", `{"name":"angle","value":3,"limit":2,"unit":"degrees","at":"z 1"}`},
		{Measure{Name: "e", Value: 2, Limit: 2}, true, 1, "e 2 of at most 2", `{"name":"e","value":2,"limit":2}`},
		{Measure{Name: "e"}, true, 0, "e 0 of at most 0", `{"name":"e","value":0,"limit":0}`},
		{Measure{Name: "e", Limit: 5}, true, 0, "e 0 of at most 5", `{"name":"e","value":0,"limit":5}`},
		{Measure{Name: "e", Value: 1}, false, inf, "e 1 of at most 0", `{"name":"e","value":1,"limit":0}`},
		{Measure{Name: "e", Value: nan, Limit: 1}, false, inf, "e NaN of at most 1", `{"name":"e","value":1.7976931348623157e+308,"limit":1}`},
		{Measure{Name: "e", Value: inf, Limit: 1}, false, inf, "e +Inf of at most 1", `{"name":"e","value":1.7976931348623157e+308,"limit":1}`},
		{Measure{Name: "e", Value: -inf, Limit: 1}, true, -inf, "e -Inf of at most 1", `{"name":"e","value":-1.7976931348623157e+308,"limit":1}`},
	} {
		data, err := json.Marshal(c.m)
		if c.m.Within() != c.within || c.m.Share() != c.share || c.m.String() != c.text || err != nil || string(data) != c.data {
			t.Errorf("%+v: within %v, share %v, %q, %s %v", c.m, c.m.Within(), c.m.Share(), c.m, data, err)
		}
	}
}

// Of two that are as far the first stays; the largest share counts, not the largest value.
func TestWorst(t *testing.T) {
	a, b := Measure{Name: "a", Value: 3, Limit: 6, At: "first"}, Measure{Name: "a", Value: 1, Limit: 2, At: "second"}
	near, far, other := Measure{Name: "a", Value: 5, Limit: 100}, Measure{Name: "a", Value: 2, Limit: 3}, Measure{Name: "b", Value: 1, Limit: 1}
	for _, c := range []struct{ of, want []Measure }{
		{[]Measure{a, b}, []Measure{a}}, {[]Measure{b, a}, []Measure{b}}, {[]Measure{near, a, other}, []Measure{a, other}},
		{[]Measure{a, other, far, near}, []Measure{far, other}}, {nil, nil},
	} {
		if got := Worst(c.of[:len(c.of)/2], c.of[len(c.of)/2:]); !slices.Equal(got, c.want) {
			t.Errorf("worst of %v: %v, want %v", c.of, got, c.want)
		}
	}
}

func TestBeyond(t *testing.T) {
	if d := beyond([]Measure{{Name: "a", Value: 1, Limit: 1}, {Name: "b", Limit: 1}}); d != nil {
		t.Errorf("all within: %v", d)
	}
	for _, c := range []struct {
		m    Measure
		want Diff
	}{
		{Measure{Name: "error", Value: 3, Limit: 2}, Diff{Where: "error", Want: "at most 2", Got: "3"}},
		{Measure{Name: "error", Value: 3, Limit: 2, Unit: "mm", At: "row 4"}, Diff{Where: "error, row 4", Want: "at most 2 mm", Got: "3 mm"}},
	} {
		if d := beyond([]Measure{{Name: "fine", Limit: 1}, c.m, {Name: "later", Value: 9}}); d == nil || *d != c.want {
			t.Errorf("%v: %+v, want %+v", c.m, d, c.want)
		}
	}
}

// A measure is told in four digits, with its unit.
func TestDigitsOfMeasures(t *testing.T) {
	m := Measure{Name: "largest error", Value: 1.23456e-7, Limit: 123456, Unit: "mm"}
	if got, want := m.String(), "largest error 1.235e-07 mm of at most 1.235e+05 mm"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
