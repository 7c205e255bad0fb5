package answering

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/files"
)

func TestPatternOf(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"ct/s1.tif ct/s2.tif ct/s10.tif", "ct/s*.tif"}, {"a b", "*"}, {"aba ababa", "aba*"}, {"aa aaa", "aa*"},
		{"a[1].tif a[2].tif", `a\[*].tif`},
	} {
		names := strings.Fields(c.names)
		got := patternOf(names)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.names, got, c.want)
		}
		for _, n := range names {
			if ok, err := filepath.Match(got, n); !ok || err != nil {
				t.Errorf("%s does not match %s: %v", got, n, err)
			}
		}
	}
}

func TestNaturalOrder(t *testing.T) {
	want := []string{"", "a", "a01", "a1", "a2", "a2b", "a10", "a10b1", "a10b2",
		"a99999999999999999999", "a100000000000000000000", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, files.Natural)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
