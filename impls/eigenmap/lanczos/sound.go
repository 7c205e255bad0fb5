package lanczos

import (
	"eccbench/internal/sound"
	"eccbench/internal/workloads/eigenmap"
)

// Checks are of calls.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{eigenmap.Calls(i, eigenmap.Lanczos, "lanczos", "laplacian", "pairweight", "patches", "vectors")}
}
