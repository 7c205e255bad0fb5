package definition

import (
	"eccbench/internal/sound"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/gvftest"
)

// Checks are of calls.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{gvftest.Calls(i, gvf.Name)}
}
