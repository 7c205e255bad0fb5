package cli

import "testing"

func TestClosest(t *testing.T) {
	names := []string{"curve", "betti", "levels", "level", "merge", "at", "gvf"}
	for word, want := range map[string]string{
		"curv": "curve", "cruve": "curve", "Curve": "curve", "bettii": "betti", "levls": "levels", "a": "", "q": "", "threshold": "", "gfv": "gvf", "merg": "merge", "": "",
	} {
		if got := Closest(word, names); got != want {
			t.Errorf("%q is close to %q, want %q", word, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}} {
		if d := distance(c.a, c.b); d != c.want {
			t.Errorf("%q and %q are %d apart, want %d", c.a, c.b, d, c.want)
		}
	}
}
