package name

import (
	"maps"
	"math"
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
	if err != nil || values["count"] != 3 || values["turns"] != 0 || of != "noise/seed=1" || f.NameOf(values, of) != "heap/count=3/turns=0/of=noise/seed=1" {
		t.Errorf("%v of %s, %v", values, of, err)
	}
	if s := f.NameOf(nil, "x"); s != "heap/count=4/turns=0/of=x" {
		t.Errorf("by default %s", s)
	}
	for _, bad := range []string{"heap", "heap/count=3/of=x", "heap/count=0/turns=0/of=x", "heap/count=10/turns=0/of=x", "heap/count=3/turns=-1/of=x",
		"heap/count=3/turns=0/of=", "heap/count=3/turns=0", "heap/count=3/turns=0/more=1/of=x", "pile/count=3/turns=0/of=x", "heap/count=x/turns=0/of=x"} {
		if _, _, err := f.Parse(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// An optional key is in a name only if it differs from the default.
func TestOptional(t *testing.T) {
	f := Form{"heap", []Key{{Key: "count", Min: 1, Max: 9, Default: 4}, {Key: "turned", Max: 3, Default: 1, Optional: true}}}
	if f.String() != "heap/count=N[/turned=N]/of=IMAGE" {
		t.Error(f)
	}
	for s, want := range map[string]float64{"heap/count=3/of=x": 1, "heap/count=3/turned=0/of=x": 0, "heap/count=3/turned=3/of=x": 3} {
		values, of, err := f.Parse(s)
		if err != nil || values["turned"] != want || f.NameOf(values, of) != s {
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

func TestDecimal(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", 1000: "1000", 1 << 40: "1099511627776", 0.05: "0.05", 0.0625: "0.0625", 1e-3: "0.001",
		1e-4: "1e-4", 1.25e-7: "1.25e-7", 1e-12: "1e-12", -0.5: "-0.5", -1e-5: "-1e-5", 1e-300: "1e-300", 1.0 / 3: "0.3333333333333333",
	} {
		got := Decimal(v)
		if back, err := parseDecimal(got); got != want || back != v || err != nil {
			t.Errorf("%v is %s, want %s, and reads as %v, %v", v, got, want, back, err)
		}
	}
	if got := Decimal(math.NaN()); got != "NaN" {
		t.Errorf("NaN is %s", got)
	}
	for _, bad := range []string{"", "x", "NaN", "Inf", "1e999", "0x1p-2", "1_0", "0,5"} {
		if v, err := parseDecimal(bad); err == nil {
			t.Errorf("%s reads as %v", bad, v)
		}
	}
}

// Names from before parameters were decimals convert to the current spelling.
func TestCurrent(t *testing.T) {
	for old, want := range map[string]string{
		"gvf/steps=256/mu=50/boundary=0/of=noise/shape=8x8":                         "gvf/steps=256/mu=0.05/boundary=0/of=noise/shape=8x8",
		"gvf-float16/steps=256/mu=1/boundary=0/of=x":                                "gvf-float16/steps=256/mu=0.001/boundary=0/of=x",
		"gvf-steady/tol=4/mu=1000/boundary=0/of=x":                                  "gvf-steady/tol=1e-4/mu=1.0/boundary=0/of=x",
		"gvf-steady/tol=3/mu=187/boundary=0/of=x":                                   "gvf-steady/tol=0.001/mu=0.187/boundary=0/of=x",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/radius=5/of=x":   "eigenmap/k=4/tol=1e-6/sigma=0.1/floor=0.001/corners=0/plain=0/radius=5/of=x",
		"eigenmap/k=4/tol=12/sigma=2000/floor=3/corners=0/plain=0/of=x":             "eigenmap/k=4/tol=1e-12/sigma=2.0/floor=3e-6/corners=0/plain=0/of=x",
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=x":                      "eigenmap-patch/k=2/tol=1e-8/alpha=40/beta=5/side=4/of=x",
		"eigenmap-lanczos/steps=250/alpha=40/beta=5/side=4/start=1/of=x":            "eigenmap-lanczos/steps=250/alpha=40/beta=5/side=4/start=1/of=x",
		"softecc/m=64/lambda=100/alpha=100/dir=1/of=x":                              "softecc/m=64/lambda=100/alpha=0.1/dir=1/of=x",
		"softecc/m=64/lambda=100/alpha=0/dir=1/vertices=1/of=gvf/mu=50":             "softecc/m=64/lambda=100/alpha=0/dir=1/vertices=1/of=gvf/mu=50",
		"gvf-float16/storage=float16/steps=9/mu=70/boundary=third/gen=noise/type=x": "gvf-float16/storage=float16/steps=9/mu=0.07/boundary=third/gen=noise/type=x",
		"noise/shape=8x8/mu=50/tol=4":                                               "noise/shape=8x8/mu=50/tol=4",
		"gvf/no name":                                                               "gvf/no name",
	} {
		if got := Current(old); got != want || Current(got) != got {
			t.Errorf("%s is %s now and then %s, want %s", old, got, Current(got), want)
		}
	}
}

// A decimal is spelled so that it is never read as the whole number that it was before.
func TestPointed(t *testing.T) {
	f := Form{"softecc", []Key{{Key: "lambda", Min: 0.5, Max: 1000, Real: true}, {Key: "alpha", Max: 10, Real: true}}}
	for s, want := range map[string]map[string]float64{
		"softecc/lambda=100/alpha=2.0/of=x": {"lambda": 100, "alpha": 2}, "softecc/lambda=0.5/alpha=0/of=x": {"lambda": 0.5, "alpha": 0},
		"softecc/lambda=1/alpha=1e-4/of=x": {"lambda": 1, "alpha": 1e-4},
	} {
		values, of, err := f.Parse(s)
		if err != nil || !maps.Equal(values, want) || f.NameOf(values, of) != s {
			t.Errorf("%s: %v, %v, spelled %s", s, values, err, f.NameOf(values, of))
		}
	}
	if values, of, err := f.Parse("softecc/lambda=7.0/alpha=250/of=x"); err != nil || f.NameOf(values, of) != "softecc/lambda=7/alpha=0.25/of=x" {
		t.Errorf("%v, %v", values, err)
	}
	if f.String() != "softecc/lambda=X/alpha=X/of=IMAGE" {
		t.Error(f)
	}
}

func TestKindOf(t *testing.T) {
	for s, want := range map[string]string{
		"noise": "", "noise/": "", "noise/scan.npy": "", "noise/a=b/scan.npy": "", "noise/a=b/": "", "/noise/a=b": "",
		"noise/a=b": "noise", "noise/a=b/a=c": "noise", "file/path=x/y": "file", "roll/a=b/of=x/y": "roll",
	} {
		if got := KindOf(s); got != want {
			t.Errorf("KindOf(%q) is %q, want %q", s, got, want)
		}
	}
}
