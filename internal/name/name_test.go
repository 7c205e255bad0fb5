package name

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for s, want := range map[string][]Pair{
		"kind":                           nil,
		"kind/a=1/b=":                    {{"a", "1"}, {"b", ""}},
		"kind/a=1/path=/x/y=z/of=2":      {{"a", "1"}, {"path", "/x/y=z/of=2"}},
		"kind/n=3/of=other/a=1/path=b/c": {{"n", "3"}, {"of", "other/a=1/path=b/c"}},
	} {
		n, err := Parse(s)
		if err != nil || n.Kind != "kind" || len(n.Pairs) != len(want) || n.String() != s {
			t.Errorf("%s: %+v, %v", s, n, err)
			continue
		}
		for i, p := range want {
			if v, ok := n.Get(p.Key); n.Pairs[i] != p || !ok || v != p.Value {
				t.Errorf("%s: pair %d is %v, want %v", s, i, n.Pairs[i], p)
			}
		}
	}
	for _, bad := range []string{"kind/", "kind/a", "kind/=1", "kind/a=1/a=2", "kind/a=1//b=2", "kind/\na=1/\na=2"} {
		if _, err := Parse(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWith(t *testing.T) {
	n, err := Parse("kind/a=1/of=x/y=2")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{{"a", "7", "kind/a=7/of=x/y=2"}, {"a", "", "kind/of=x/y=2"}, {"b", "3", "kind/a=1/b=3/of=x/y=2"}, {"of", "z", "kind/a=1/of=z"}} {
		if got := n.With(c[0], c[1]).String(); got != c[2] {
			t.Errorf("with %s=%s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
	if n.String() != "kind/a=1/of=x/y=2" {
		t.Errorf("the name itself became %s", n)
	}
}

func TestForm(t *testing.T) {
	f := Form{"heap", []Key{{Key: "count", Min: 1, Max: 9, Default: 4}, {Key: "turns"}}}
	values, of, err := f.Parse("heap/count=3/turns=0/of=noise/seed=1")
	if err != nil || values["count"] != 3 || values["turns"] != 0 || of != "noise/seed=1" || f.Spell(values, of) != "heap/count=3/turns=0/of=noise/seed=1" {
		t.Errorf("%v of %s, %v", values, of, err)
	}
	if s := f.Spell(nil, "x"); s != "heap/count=4/turns=0/of=x" {
		t.Errorf("by default %s", s)
	}
	for _, bad := range []string{"heap", "heap/count=3/of=x", "heap/count=0/turns=0/of=x", "heap/count=10/turns=0/of=x", "heap/count=3/turns=-1/of=x",
		"heap/count=3/turns=0/of=", "heap/count=3/turns=0", "heap/count=3/turns=0/more=1/of=x", "pile/count=3/turns=0/of=x", "heap/count=x/turns=0/of=x"} {
		if _, _, err := f.Parse(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// An optional key is in a name only where it is not what is meant without it.
func TestOptional(t *testing.T) {
	f := Form{"heap", []Key{{Key: "count", Min: 1, Max: 9, Default: 4}, {Key: "turned", Max: 3, Default: 1, Optional: true}}}
	if f.String() != "heap/count=N[/turned=N]/of=IMAGE" {
		t.Error(f)
	}
	for s, want := range map[string]int64{"heap/count=3/of=x": 1, "heap/count=3/turned=0/of=x": 0, "heap/count=3/turned=3/of=x": 3} {
		values, of, err := f.Parse(s)
		if err != nil || values["turned"] != want || f.Spell(values, of) != s {
			t.Errorf("%s: %v, %v", s, values, err)
		}
	}
	for _, bad := range []string{"heap/count=3/turned=1/of=x", "heap/count=3/turned=4/of=x", "heap/turned=2/of=x", "heap/count=3/other=2/of=x"} {
		if _, _, err := f.Parse(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"noise/shape=4x4/seed=1", "batch/count=3/of=noise/shape=4x4/path=/tmp", "a/b=c/path=/=/of="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse(s)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		again, err := Parse(n.String())
		if err != nil || again.String() != n.String() || n.String() != s {
			t.Errorf("%q is spelled %q, and that %q: %v", s, n, again, err)
		}
	})
}
