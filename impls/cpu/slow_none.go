//go:build !slow5 && !slow20

package cpu

// No slowdown is planted (slow.go).
func (j *job) again(*core, int64) {}

type waste struct{}
