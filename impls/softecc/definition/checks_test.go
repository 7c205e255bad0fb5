package definition

import (
	"eccbench/internal/sound"
	"eccbench/internal/workloads/softecc/softtest"
)

// Checks are of its jobs.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{{Name: "jobs", Of: func(t sound.T) { softtest.Answers(t, i) }}}
}
