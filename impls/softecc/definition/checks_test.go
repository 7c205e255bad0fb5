package definition

import (
	"eccbench/internal/sound"
	"eccbench/internal/workloads/softecc"
)

// Checks are of its jobs.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{{Name: "jobs", Of: func(t sound.T) { softecc.Answers(t, i) }}}
}
