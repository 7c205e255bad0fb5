//go:build unix && !linux

package runner

// anonymousRSS is 0: memory limits of workers are enforced on Linux only.
func anonymousRSS(int) int64 { return 0 }
