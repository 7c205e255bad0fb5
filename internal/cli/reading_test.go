package cli

import (
	"bytes"
	"testing"
	"time"
)

func TestFollowingTakes(t *testing.T) {
	for _, c := range []struct {
		estimate time.Duration
		quiet    bool
		want     string
	}{
		{90 * time.Minute, false, "eccbench: scan.nii: the answer and its check take about 90.0 min, on an idle machine less\n"},
		{30 * time.Second, false, "eccbench: scan.nii: the answer and its check take about 30.0 s, on an idle machine less\n"},
		{30*time.Second - 1, false, ""},
		{90 * time.Minute, true, ""},
	} {
		var stderr bytes.Buffer
		p := &Program{Stderr: &stderr}
		p.Following(c.quiet).Takes("scan.nii", c.estimate)
		if stderr.String() != c.want {
			t.Errorf("%v, quiet %v: %q, want %q", c.estimate, c.quiet, &stderr, c.want)
		}
	}
}
