package release

import (
	"runtime/debug"
	"strings"
	"testing"
)

// Builds are distinguished by their release or commit, and by their executables if those do not
// identify the source.
func TestVersions(t *testing.T) {
	hash := func() (string, error) { return strings.Repeat("0123456789abcdef", 4), nil }
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "5eed"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		release  string
		settings []debug.BuildSetting
		want     string
	}{
		{"v1.2.3", nil, "v1.2.3, "},
		{"v1.2.3", []debug.BuildSetting{commit}, "v1.2.3, commit 5eed, "},
		{"(devel)", []debug.BuildSetting{commit}, "development version, commit 5eed, "},
		{"(devel)", []debug.BuildSetting{commit, changed},
			"development version, commit 5eed+dirty, sha256 0123456789abcdef, "},
		{"(devel)", nil, "development version, sha256 0123456789abcdef, "},
		{"", nil, "development version, sha256 0123456789abcdef, "},
	} {
		info := &debug.BuildInfo{GoVersion: "go1", Main: debug.Module{Version: c.release}, Settings: c.settings}
		if got := version(info, hash); got != "eccbench "+c.want+"go1" {
			t.Errorf("%q %v: %q, want %q", c.release, c.settings, got, c.want)
		}
	}
	defer func() { stamp = "" }()
	stamp = "v1.2.3"
	if got := Version(hash); !strings.HasPrefix(got, "eccbench v1.2.3, go") {
		t.Errorf("stamped: %q", got)
	}
}
