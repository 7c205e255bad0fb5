package batch

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	names, err := Inputs{}.Variants("batch/count=3/of=noise/shape=8x8/levels=4/type=uint8/seed=1", 2)
	if err != nil || len(names) != 2 || names[1] != "batch/count=3/of=noise/shape=8x8/levels=4/type=uint8/seed=4" {
		t.Error(names, err)
	}
	for _, bad := range []string{"batch/count=0/of=noise/shape=8x8", "batch/of=noise/shape=8x8", "batch/count=2/of=constant/shape=4x4", "batch/count=2", "noise/shape=8x8",
		"batch/count=300/of=noise/shape=8x8/levels=4/type=uint8/seed=1/path=/nowhere"} {
		if _, err := (Inputs{}).Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
