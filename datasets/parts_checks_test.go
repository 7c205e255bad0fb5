package datasets

import (
	"testing"
)

// A name with another value has the defaults that depend on it.
func namesWithOthers(t *testing.T) {
	n, err := ParseName("noise/shape=8x8")
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Get("levels"); got != "1024" {
		t.Errorf("levels %q, want the default 1024", got)
	}
	if got, want := n.With("type", "uint8").String(), "noise/shape=8x8/levels=256/type=uint8/seed=1"; got != want {
		t.Errorf("with another type %q, want %q", got, want)
	}
	if got, want := n.With("levels", "9").With("levels", "").String(), n.String(); got != want {
		t.Errorf("with levels set and taken out %q, want %q", got, want)
	}
	if got, want := n.With("shape", "none").String(), "noise/shape=none"; got != want {
		t.Errorf("made impossible %q, want it as given, %q", got, want)
	}
	if got := n.Get("shape"); got != "8x8" {
		t.Errorf("shape %q after With: it changed its receiver", got)
	}
	f := Name{Generator: "file"}.With("path", "/a/b").With("roll", "2")
	if got, want := f.String(), "file/roll=2/path=/a/b"; got != want {
		t.Errorf("file %q, want %q", got, want)
	}
}
