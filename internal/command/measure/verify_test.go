package measure

import (
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// A law is silent if it has no evidence in any cell, whether it passed or was too expensive.
// Without cells no law is silent.
func TestSilentLaws(t *testing.T) {
	cell := func(status verify.Status, witnesses ...string) (c bench.CellRecord) {
		c.Status = status
		for _, w := range witnesses {
			c.Evidence = append(c.Evidence, verify.Evidence{Witness: w})
		}
		return c
	}
	laws := []string{"a", "b", "c"}
	for _, x := range []struct {
		cells []bench.CellRecord
		want  []string
	}{
		{nil, nil},
		{[]bench.CellRecord{cell(verify.Skipped)}, nil},
		{[]bench.CellRecord{cell(verify.Crashed, "a")}, nil},
		{[]bench.CellRecord{cell(verify.Verified, "a"), cell(verify.Verified, "c", "closed form")}, []string{"b"}},
		{[]bench.CellRecord{cell(verify.Verified, "a", "b"), cell(verify.Verified, "c")}, nil},
	} {
		if got := silentLaws(laws, x.cells); !slices.Equal(got, x.want) {
			t.Errorf("%v: %q, want %q", x.cells, got, x.want)
		}
	}
}

// answersNone names a CPU implementation without any answer, but not one without any cell.
func TestAnswersNone(t *testing.T) {
	cell := func(impl string, status verify.Status, reason string) (c bench.CellRecord) {
		c.Impl, c.Status, c.Reason = impl, status, reason
		return c
	}
	abouts := []bench.About{{Name: "fast", Where: "gpu"}, {Name: "plain", Where: "cpu"}, {Name: "other", Where: "cpu"}}
	for _, x := range []struct {
		cells []bench.CellRecord
		want  string
	}{
		{nil, ""},
		{[]bench.CellRecord{cell("fast", verify.Skipped, "no device"), cell("plain", verify.Verified, "")}, ""},
		{[]bench.CellRecord{cell("plain", verify.Skipped, "too large"), cell("plain", verify.Verified, "")}, ""},
		{[]bench.CellRecord{cell("plain", verify.Skipped, "too slow"), cell("plain", verify.Skipped, "too large"),
			cell("other", verify.Verified, "")}, "plain: too slow"},
		{[]bench.CellRecord{cell("plain", verify.Verified, ""), cell("other", verify.Skipped, "no")}, "other: no"},
		{[]bench.CellRecord{cell("plain", verify.Crashed, "")}, ""},
	} {
		got, why := answersNone(abouts, x.cells)
		if why != "" {
			got += ": " + why
		}
		if got != x.want {
			t.Errorf("%v: %q, want %q", x.cells, got, x.want)
		}
	}
}
