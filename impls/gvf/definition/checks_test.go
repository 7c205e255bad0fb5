package definition

import (
	"eccbench/internal/sound"
	"eccbench/internal/workloads/gvf"
)

// Checks are of calls.
func (i Implementation) Checks(string) []sound.Check { return []sound.Check{gvf.Calls(i, gvf.Name)} }
