package main

import (
	"slices"
	"testing"
)

func TestNaturalOrder(t *testing.T) {
	want := []string{"", "a", "a01", "a1", "a2", "a2b", "a10", "a10b1", "a10b2", "a99999999999999999999", "a100000000000000000000", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, natural)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
