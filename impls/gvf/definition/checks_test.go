package definition

import (
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/gvftest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover the parts of calls.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{gvftest.Calls(i, gvf.Name)}
}
