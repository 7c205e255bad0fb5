//go:build !slow5 && !slow20

package counting

import "eccbench/internal/device"

// slowdown is empty in normal builds (see slow.go).
type slowdown struct{}

func (slowdown) launch(c *Counter, s device.Stream, args ...any) error {
	return s.Launch(c.function, c.shape, args...)
}
