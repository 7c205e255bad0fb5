package definition

import (
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/workloads/softecc/softtest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test its jobs.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{{Name: "jobs", Of: func(t *testing.T) { softtest.Answers(t, i) }}}
}
