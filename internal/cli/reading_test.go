package cli

import (
	"bytes"
	"testing"
	"time"
)

func TestFollowingChecks(t *testing.T) {
	for _, c := range []struct {
		estimate time.Duration
		quiet    bool
		want     string
	}{
		{90 * time.Minute, false, "eccbench: scan.nii: checking the answer takes about 90.0 min\n"},
		{time.Minute, false, "eccbench: scan.nii: checking the answer takes about 60.0 s\n"},
		{time.Minute - 1, false, ""},
		{90 * time.Minute, true, ""},
	} {
		var stderr bytes.Buffer
		p := &Program{Stderr: &stderr}
		p.Following(c.quiet).Checks("scan.nii", c.estimate)
		if stderr.String() != c.want {
			t.Errorf("%v, quiet %v: %q, want %q", c.estimate, c.quiet, &stderr, c.want)
		}
	}
}
